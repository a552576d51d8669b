"""Score a model: a shipped GGUF file (its Q8_0 weights, dequantised) or a checkpoint.

    python3 evaluate.py MODEL.gguf [--show] [--json OUT] [--build BUILD] [--only SET]
    python3 evaluate.py MODEL.gguf --ask "a question"

An answer counts when, lower-cased, it holds every "all", one of "any" if there are any,
and none of "none". An answer to one of the questions of tests/http counts when it holds the keys
of one of the facts that the question is about; with --build, what those answers deny or invent is
listed (claims.py), and what they say wrong about deleting. Greedy decoding, as the file's metadata ask for.
"""
import argparse
import collections
import json
import os
import sys

import torch

import bpe
import claims
import export
import model
from text import known

HERE = os.path.dirname(os.path.abspath(__file__))
BARS = {"held-out": 0.85, "free": 0.80, "questions": 0.85}  # shares of right answers that a model to ship must reach
SETS = {"held-out": "eval/heldout.jsonl", "free": "eval/free.jsonl", "questions": "../../../tests/http/starter_questions.jsonl"}


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
    if item.get("ways"):
        return any(all(k.lower() in a for k in keys) for keys in item["ways"])
    return (all(k.lower() in a for k in item.get("all", []))
            and (not item.get("any") or any(k.lower() in a for k in item["any"]))
            and not any(k.lower() in a for k in item.get("none", [])))


def read(name):
    with open(os.path.join(HERE, SETS[name])) as f:
        items = [json.loads(s) for s in f if s.strip()]
    facts = known.read()
    for it in items:
        it["ways"] = [facts[n]["keys"] for n in it.get("facts", [])]
    return items


def score(net, name, show=False, every=1, product=None):
    """{category: (right, asked)} of a test set. product: what the answers must not contradict, or None: then
    table["wrong claims"] counts, of all answers, those that deny, invent or wrongly advise to delete."""
    items = read(name)[::every]
    convs = [[(t["role"], t["content"]) for t in it["turns"]] if "turns" in it else [("user", it["q"])]
             for it in items]
    got, table = answers(net, convs), collections.defaultdict(lambda: [0, 0])
    for it, a, c in zip(items, got, convs):
        ok = right(it, a)
        for key in (it.get("cat", "quince"), "all"):
            table[key][0] += ok
            table[key][1] += 1
        if product:
            errors = claims.answer_errors(product, it, a, ok)
            table["wrong claims"][0] += bool(errors)
            table["wrong claims"][1] += 1
            for e in errors:
                print(f"  {c[-1][1]!r} -> {a!r}: {e}")
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
    ap.add_argument("--show", action="store_true", help="print the questions it gets wrong, but of the free ones")
    ap.add_argument("--build", help="a build folder: check what the answers name against its programs")
    ap.add_argument("--only", choices=list(SETS), action="append", help="these sets")
    ap.add_argument("--ask", action="append", help="print the answer to this question instead")
    ap.add_argument("--json", help="write the figures to this file")
    ap.add_argument("--bars", action="store_true", help="fail when the model is not good enough to ship; needs --build")
    a = ap.parse_args()
    if not os.path.exists(a.model):
        sys.exit(f"evaluate.py: no file {a.model}")
    if a.bars and (a.only or not a.build):
        ap.error("--bars looks at all sets and needs --build")
    net = load(a.model, a.tokenizer)
    if a.ask:
        for q, s in zip(a.ask, answers(net, [[("user", q)] for q in a.ask])):
            print(f"> {q}\n{s}")
        return
    figures = {}
    product = claims.Product(a.build) if a.build else None
    for name in a.only or SETS:
        # The free questions are only ever counted: nobody who writes text looks at them.
        figures[name] = score(net, name, show=a.show and name != "free", product=product if name == "questions" else None)
        print(line(name, figures[name]), flush=True)
    if a.json:
        with open(a.json, "w") as f:
            json.dump(figures, f, indent=1)
    if a.bars:
        low = [f"{n}: below {100 * bar:.0f} %" for n, bar in BARS.items() if figures[n]["all"][0] < bar * figures[n]["all"][1]]
        if figures["questions"]["wrong claims"][0]:
            low.append("questions: an answer denies, invents or wrongly advises to delete")
        if low:
            sys.exit("evaluate.py: not good enough to ship: " + "; ".join(low))


if __name__ == "__main__":
    main()
