"""Score a model: a shipped GGUF file (its Q8_0 weights, dequantised) or a checkpoint.

    python3 evaluate.py MODEL.gguf [--show] [--json OUT]
    python3 evaluate.py MODEL.gguf --ask "a question"

An answer counts when, lower-cased, it holds every "all", one of "any" if there are any,
and none of "none". Greedy decoding, as the file's metadata ask for.
"""
import argparse
import collections
import json
import os
import sys

import torch

import bpe
import export
import model

HERE = os.path.dirname(os.path.abspath(__file__))
SETS = {"held-out": "heldout.jsonl", "free": "free.jsonl"}


def load(path, tokenizer):
    if path.endswith(".gguf"):
        return export.load_gguf(path)
    state = torch.load(path)
    tok = bpe.Tokenizer.load(tokenizer)
    return state["cfg"], model.named_weights(state["cfg"], state["master"]), tok


def answers(net, conversations, batch=96):
    """Greedy answers; conversations of like length go together."""
    cfg, w, tok = net
    prompts = [tok.chat(c, ask=True)[0] for c in conversations]
    order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
    out = [""] * len(prompts)
    for at in range(0, len(order), batch):
        rows = order[at:at + batch]
        for i, ids in zip(rows, model.generate(cfg, w, [prompts[i] for i in rows], bpe.IM_END)):
            out[i] = tok.decode(ids)
    return out


def right(item, answer):
    a = answer.lower()
    return (all(k.lower() in a for k in item.get("all", []))
            and (not item.get("any") or any(k.lower() in a for k in item["any"]))
            and not any(k.lower() in a for k in item.get("none", [])))


def read(name):
    with open(os.path.join(HERE, "eval", SETS[name])) as f:
        return [json.loads(s) for s in f if s.strip()]


def score(net, name, show=False, every=1):
    """{category: (right, asked)} of a test set."""
    items = read(name)[::every]
    convs = [[(t["role"], t["content"]) for t in it["turns"]] if "turns" in it else [("user", it["q"])]
             for it in items]
    got, table = answers(net, convs), collections.defaultdict(lambda: [0, 0])
    for it, a, c in zip(items, got, convs):
        ok = right(it, a)
        for key in (it.get("cat", "quince"), "all"):
            table[key][0] += ok
            table[key][1] += 1
        if show and not ok:
            print(f"  {it.get('cat', '')}/{it.get('intent', '')}: {c[-1][1]!r} -> {a!r}")
    return {k: tuple(v) for k, v in table.items()}


def line(name, table):
    cells = "  ".join(f"{k} {100 * a / n:.1f}% ({a}/{n})" for k, (a, n) in table.items() if k != "all")
    a, n = table["all"]
    return f"{name}: {100 * a / n:.1f}% ({a}/{n})" + (f"   [{cells}]" if len(table) > 2 else "")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("model")
    ap.add_argument("--tokenizer", default=os.path.join(HERE, "tokenizer.json"))
    ap.add_argument("--show", action="store_true", help="print the held-out questions it gets wrong")
    ap.add_argument("--ask", action="append", help="print the answer to this question instead")
    ap.add_argument("--json", help="write the figures to this file")
    a = ap.parse_args()
    if not os.path.exists(a.model):
        sys.exit(f"evaluate.py: no file {a.model}")
    net = load(a.model, a.tokenizer)
    if a.ask:
        for q, s in zip(a.ask, answers(net, [[("user", q)] for q in a.ask])):
            print(f"> {q}\n{s}")
        return
    figures = {}
    for name in SETS:
        # The free questions are only ever counted: nobody who writes text looks at them.
        figures[name] = score(net, name, show=a.show and name == "held-out")
        print(line(name, figures[name]))
    if a.json:
        with open(a.json, "w") as f:
            json.dump(figures, f, indent=1)


if __name__ == "__main__":
    main()
