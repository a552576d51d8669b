"""Byte-level BPE as Qwen2 uses it: the GPT-2 byte alphabet, every digit on its own, a
word may swallow one leading blank or sign.

    python3 bpe.py OUT.json [--vocab 3072] [--samples 60000]   trains on the generator
"""
import argparse
import collections
import json
import random
import re
import sys
import unicodedata

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
END_OF_TEXT, IM_START, IM_END = range(3)


def _classes():
    """Character classes of \\p{L} and \\p{N}; Python's re has neither."""
    found = {"L": [], "N": []}
    for code in range(sys.maxunicode + 1):
        kind = unicodedata.category(chr(code))[0]
        if kind in found:
            runs = found[kind]
            if runs and runs[-1][1] == code - 1:
                runs[-1][1] = code
            else:
                runs.append([code, code])
    text = lambda runs: "".join(f"\\U{a:08x}-\\U{b:08x}" for a, b in runs)
    return text(found["L"]), text(found["N"])


_L, _N = _classes()
# The Qwen2 pre-tokenizer (tokenizer.ggml.pre = qwen2), with the classes written out.
SPLIT = re.compile(
    r"'(?:[sS]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD])"
    rf"|[^\r\n{_L}{_N}]?[{_L}]+|[{_N}]| ?[^\s{_L}{_N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def _byte_alphabet():
    """GPT-2's printable stand-ins for the 256 bytes."""
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table, extra = {b: chr(b) for b in keep}, 0
    for b in range(256):
        if b not in table:
            table[b] = chr(256 + extra)
            extra += 1
    return table


BYTE = _byte_alphabet()
UNBYTE = {c: b for b, c in BYTE.items()}


def train(counts, size):
    """counts: {pre-token: how often}. Returns (tokens, merges)."""
    words = [([BYTE[b] for b in w.encode()], c) for w, c in sorted(counts.items())]
    tokens = SPECIAL + [BYTE[b] for b in range(256)]
    known = set(tokens)
    merges, pairs, where = [], collections.Counter(), collections.defaultdict(set)
    for i, (w, c) in enumerate(words):
        for p in zip(w, w[1:]):
            pairs[p] += c
            where[p].add(i)
    while len(tokens) < size:
        best, count = max(pairs.items(), key=lambda x: (x[1], x[0]))
        if count < 2:
            break
        merges.append(best)
        if best[0] + best[1] not in known:  # two merges may spell the same token
            known.add(best[0] + best[1])
            tokens.append(best[0] + best[1])
        for i in list(where[best]):
            w, c = words[i]
            for q in zip(w, w[1:]):
                pairs[q] -= c
                where[q].discard(i)
            merged, j = [], 0
            while j < len(w):
                if j + 1 < len(w) and (w[j], w[j + 1]) == best:
                    merged.append(w[j] + w[j + 1])
                    j += 2
                else:
                    merged.append(w[j])
                    j += 1
            words[i] = (merged, c)
            for q in zip(merged, merged[1:]):
                pairs[q] += c
                where[q].add(i)
        pairs.pop(best, None)
    # Rows of the embedding must fill whole blocks; an unused token costs nothing.
    while len(tokens) < size:
        tokens.append(f"<|unused{len(tokens)}|>")
    return tokens, merges


class Tokenizer:
    def __init__(self, tokens, merges):
        self.tokens = tokens
        self.merges = [tuple(m) for m in merges]
        self.id = {t: i for i, t in enumerate(tokens)}
        self.rank = {m: i for i, m in enumerate(self.merges)}
        self.cache = {}

    @classmethod
    def load(cls, path):
        with open(path) as f:
            d = json.load(f)
        return cls(d["tokens"], d["merges"])

    def word(self, w):
        got = self.cache.get(w)
        if got is None:
            parts = [BYTE[b] for b in w.encode()]
            while len(parts) > 1:
                rank, j = min((self.rank.get(p, 1 << 30), j)
                              for j, p in enumerate(zip(parts, parts[1:])))
                if rank == 1 << 30:
                    break
                parts[j:j + 2] = [parts[j] + parts[j + 1]]
            got = [self.id[p] for p in parts]
            if len(self.cache) < 300000:
                self.cache[w] = got
        return got

    def encode(self, text):
        return [i for w in SPLIT.findall(text) for i in self.word(w)]

    def decode(self, ids):
        raw = bytes(UNBYTE[c] for i in ids if i >= len(SPECIAL) for c in self.tokens[i]
                    if c in UNBYTE)
        return raw.decode("utf-8", "replace")

    def chat(self, turns, ask=False):
        """ChatML. Returns the ids and a mask: 1 for what the model must learn to say. The
        line feed after <|im_end|> belongs to the next turn and is never predicted."""
        ids, mask = [], []
        for role, text in turns:
            head, body = [IM_START] + self.encode(role + "\n"), self.encode(text) + [IM_END]
            tail = self.encode("\n")
            ids += head + body + tail
            mask += [0] * len(head) + [int(role == "assistant")] * len(body) + [0] * len(tail)
        if ask:
            head = [IM_START] + self.encode("assistant\n")
            ids += head
            mask += [0] * len(head)
        return ids, mask


def main():
    ap = argparse.ArgumentParser(description="train the tokenizer on generated text")
    ap.add_argument("out")
    ap.add_argument("--vocab", type=int, default=3072)
    ap.add_argument("--samples", type=int, default=60000)
    ap.add_argument("--seed", type=int, default=5)
    ap.add_argument("--file", help="train on this text file instead of generated text")
    a = ap.parse_args()
    counts, rng = collections.Counter(), random.Random(a.seed)
    if a.file:
        with open(a.file) as f:
            texts = [f.read()]
    else:
        import generate
        gen = generate.Generator(a.seed)
        texts = [t for _ in range(a.samples) for _, t in gen.conversation()]
    for t in texts + ["system\n", "user\n", "assistant\n"] * 1000:
        counts.update(SPLIT.findall(t))
    tokens, merges = train(counts, a.vocab)
    with open(a.out, "w") as f:
        json.dump(dict(tokens=tokens, merges=merges), f, ensure_ascii=False, indent=0)
        f.write("\n")
    tok, chars, n = Tokenizer(tokens, merges), 0, 0
    for t in rng.sample(texts, min(5000, len(texts))):
        ids = tok.encode(t)
        if tok.decode(ids) != t:
            sys.exit(f"bpe.py: does not survive a round trip: {t!r}")
        chars, n = chars + len(t), n + len(ids)
    print(f"{len(counts)} distinct words, {len(tokens)} tokens, {chars / n:.2f} characters per token")


if __name__ == "__main__":
    main()
