#!/usr/bin/python3
"""Write a random low-rank adapter (LoRA) for a model file as GGUF.

  make_random_adapter.py --rank 8 --type f16 MODEL.gguf OUT.gguf

By default every matrix gets a pair NAME.lora_a [rank, cols], NAME.lora_b [rows, rank]; for the embedding
they are [vocab, rank] and [dim, rank], as converters write them. --only and --but choose by regular
expression. --std says how much is added: 1 makes an output as large as its inputs."""
import argparse
import os
import re
import sys
import zlib

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import quants
from container import F32, STR, Reader, Writer

# No products with these: tables, convolutions, tensors of several matrices, small ones used as they are.
NO_PRODUCT = r"per_layer_token_embd|conv|altup_(un|proj)|attn_kv_b|rope_|ssm_norm"


def targets(model, only, but):
    for name, (shape, _, _) in model.table.items():
        if len(shape) >= 2 and name.endswith(".weight") and not re.search(NO_PRODUCT, name):
            if re.search(only, name) and not (but and re.search(but, name)):
                yield name, shape


def build(path, rank=4, kind="f32", alpha=8.0, seed=1, std=0.3, only="", but=""):
    """A Writer with pairs for the model at path."""
    model = Reader(path)
    meta = {"general.architecture": (STR, model.meta["general.architecture"].decode()),
            "general.type": (STR, "adapter"), "adapter.type": (STR, "lora")}
    if alpha:
        meta["adapter.lora.alpha"] = (F32, alpha)
    w = Writer(meta)
    for name, shape in targets(model, only, but):
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        *experts, rows, cols = shape
        a = rng.standard_normal((*experts, rank, cols)) / np.sqrt(cols)
        b = rng.standard_normal((*experts, rows, rank)) * std / np.sqrt(rank) * (rank / alpha if alpha else 1)
        if name == "token_embd.weight":
            a, b = b, np.ascontiguousarray(a.T)
        for end, t in ((".lora_a", a), (".lora_b", b)):
            fits = t.shape[-1] % quants.TYPES[kind][1] == 0    # as converters do where rows are no whole blocks
            w.add(name + end, t.shape, kind if fits else "f16", t.astype(np.float32))
    return w


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("out")
    p.add_argument("--rank", type=int, default=8)
    p.add_argument("--type", default="f16", choices=("f32", "f16", "bf16", "q8_0"))
    p.add_argument("--alpha", type=float, default=16.0, help="0: none in the file")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--std", type=float, default=0.3)
    p.add_argument("--only", default="", help="regular expression")
    p.add_argument("--but", default="", help="regular expression")
    a = p.parse_args()
    build(a.model, a.rank, a.type, a.alpha, a.seed, a.std, a.only, a.but).write(a.out)


if __name__ == "__main__":
    main()
