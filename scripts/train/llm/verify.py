"""Write prompts, their tokens and this model's answers for verify.mjs to compare.

    python3 verify.py MODEL.gguf OUT.jsonl [--count 200]
"""
import argparse
import json
import random

import evaluate

ODD = ["Grüße, 你好 - l'été's 100% I'VE  two  blanks\n\n and\ttabs", "x=3.14; y=[1,2]; // don't", "½ ² Ⅷ ٣ 🙂🙂",
       "  leading", "trailing  ", "a\n\n\nb", "HELLO WORLD's", "http://localhost:13305/v1", "~/.local/share/quince",
       "quince run user.X \"prompt\"", "naïve café", "12345 67,89"]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("model")
    ap.add_argument("out")
    ap.add_argument("--count", type=int, default=200)
    a = ap.parse_args()
    net = evaluate.load(a.model, None)
    items = evaluate.read("held-out")
    random.Random(3).shuffle(items)
    convs = [[(t["role"], t["content"]) for t in it["turns"]] for it in items[:a.count]]
    convs += [[("user", s)] for s in ODD]
    with open(a.out, "w") as f:
        for c, answer in zip(convs, evaluate.answers(net, convs)):
            prompt = "".join(f"<|im_start|>{r}\n{t}<|im_end|>\n" for r, t in c) + "<|im_start|>assistant\n"
            ids = net[2].chat(c, ask=True)[0]
            f.write(json.dumps(dict(prompt=prompt, ids=ids, answer=answer)) + "\n")


if __name__ == "__main__":
    main()
