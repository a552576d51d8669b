#!/usr/bin/python3
"""Model files of mixtures and of latent attention with one thing wrong: refused with a message that
names it, or run without harm.

  test_spoilt.py NET_PROBE
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "scripts", "gguf")]
import make_random_gguf
from container import F32, U32

SMALL = [w for pair in ("dim=64", "ff=64", "head_dim=32", "vocab=512") for w in ("--set", pair)]


def number(key, value):
    return lambda meta, tensors: meta.update({key: (U32, value)})


def real(key, value):
    return lambda meta, tensors: meta.update({key: (F32, value)})


def without(name):
    def change(meta, tensors):
        meta.pop(name, None)
        tensors[:] = [t for t in tensors if t[0] != name]
    return change


def shaped(name, *shape):
    """Another shape, and zeros in it."""
    def change(meta, tensors):
        tensors[:] = [(name, shape, "f32", np.zeros(shape, np.float32)) if t[0] == name else t for t in tensors]
    return change


def filled(name, value):
    def change(meta, tensors):
        tensors[:] = [(name, t[1], "f32", np.full(t[1], value, np.float32)) if t[0] == name else t for t in tensors]
    return change


# preset, what is wrong, part of the message; None: the file runs
CASES = [
    ("qwen3moe", number("qwen3moe.expert_used_count", 0), "expert_used_count is 0"),
    ("qwen3moe", number("qwen3moe.expert_used_count", 17), "expert_used_count is 17"),
    ("qwen3moe", without("qwen3moe.expert_used_count"), "expert_used_count"),
    ("qwen3moe", number("qwen3moe.expert_count", 4000000000), "expert_count is 4000000000"),
    ("qwen3moe", number("qwen3moe.expert_count", 8), "ffn_gate_inp.weight has shape"),
    ("qwen3moe", without("qwen3moe.expert_count"), "blk.0.ffn_gate.weight is missing"),
    ("qwen3moe", number("qwen3moe.expert_gating_func", 9), "expert_gating_func is 9"),
    ("qwen3moe", number("qwen3moe.expert_group_count", 5), "groups of experts"),
    ("qwen3moe", number("qwen3moe.expert_group_count", 16), None),
    ("qwen3moe", number("qwen3moe.expert_group_used_count", 17), "expert_group_used_count is 17"),
    ("qwen3moe", real("qwen3moe.expert_weights_scale", float("nan")), "expert_weights_scale is nan"),
    ("qwen3moe", without("blk.1.ffn_up_exps.weight"), "blk.1.ffn_up_exps.weight is missing"),
    ("qwen3moe", shaped("blk.1.ffn_up_exps.weight", 16 * 256, 64), "blk.1.ffn_up_exps.weight has shape"),
    ("qwen3moe", shaped("blk.1.ffn_down_exps.weight", 16, 64, 32), "blk.1.ffn_gate_exps.weight has shape"),
    ("qwen3moe", shaped("blk.0.ffn_gate_inp.weight", 64), "blk.0.ffn_gate_inp.weight has shape"),
    ("qwen3moe", filled("blk.0.ffn_gate_inp.weight", float("nan")), None),
    ("qwen3moe", filled("blk.0.ffn_gate_inp.weight", float("inf")), None),
    ("mixtral-apart", without("blk.1.ffn_up.3.weight"), "blk.1.ffn_up.3.weight is missing"),
    ("mixtral-apart", without("blk.1.ffn_down.0.weight"), "blk.1.ffn_down_exps.weight is missing"),
    ("mixtral-apart", shaped("blk.0.ffn_gate.2.weight", 64, 65), "blk.0.ffn_gate.2.weight has shape"),
    ("mixtral-apart", number("llama.expert_count", 3), "ffn_gate_inp.weight has shape"),
    ("qwen2moe", shaped("blk.0.ffn_gate_inp_shexp.weight", 32), "blk.0.ffn_gate_inp_shexp.weight has shape"),
    ("qwen2moe", without("blk.0.ffn_down_shexp.weight"), "has no place in a qwen2moe network"),
    ("glm4moe", number("glm4moe.nextn_predict_layers", 4), "nextn_predict_layers is 4"),
    ("glm4moe", number("glm4moe.nextn_predict_layers", 0), "nextn.eh_proj.weight has no place"),
    ("glm4moe", filled("blk.1.exp_probs_b.bias", float("nan")), "blk.1.exp_probs_b.bias holds the number nan"),
    ("gpt-oss", shaped("blk.0.attn_sinks.weight", 3), "blk.0.attn_sinks.weight has shape"),
    ("gpt-oss", without("blk.0.attn_k.bias"), "blk.0.attn_k.bias is missing"),
    ("gpt-oss", shaped("blk.0.ffn_up_exps.bias", 8 * 256), "blk.0.ffn_up_exps.bias has shape"),
    ("deepseek3", number("deepseek2.attention.kv_lora_rank", 0), "kv_lora_rank is 0"),
    ("deepseek3", number("deepseek2.attention.kv_lora_rank", 1024), "kv_lora_rank is 1024"),
    ("deepseek3", number("deepseek2.attention.key_length_mla", 16), "key_length_mla is 16"),
    ("deepseek3", number("deepseek2.attention.value_length_mla", 0), "value_length_mla is 0"),
    ("deepseek3", number("deepseek2.attention.value_length_mla", 32), "attn_v_b.weight has shape"),
    ("deepseek3", number("deepseek2.attention.q_lora_rank", 64), "attn_q_a.weight has shape"),
    ("deepseek3", number("deepseek2.rope.dimension_count", 15), "rotated width of 15 is not even"),
    ("deepseek3", number("deepseek2.rope.dimension_count", 0), "rope.dimension_count is 0"),
    ("deepseek3", without("blk.1.attn_k_b.weight"), "blk.1.attn_k_b.weight is missing"),
    ("deepseek2-old", shaped("blk.1.attn_kv_b.weight", 64, 256), "blk.1.attn_kv_b.weight has shape"),
    ("deepseek2-old", filled("blk.1.attn_kv_b.weight", float("nan")), None),
]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("tool", metavar="NET_PROBE")
    tool, bad = p.parse_args().tool, 0
    with tempfile.TemporaryDirectory(prefix="quince-spoilt-") as folder:
        path = os.path.join(folder, "model.gguf")
        for preset, change, says in CASES:
            latent = preset.startswith("deepseek")
            small = SMALL + (["--set", "rope_dim=16", "--set", "value_dim=16"] if latent else [])
            if preset == "glm4moe":
                small = small + ["--set", "rope_dim=16"]
            w = make_random_gguf.build(make_random_gguf.options(["--preset", "small-" + preset, *small, path])).writer
            change(w.meta, w.tensors)
            w.write(path)
            done = subprocess.run([tool, "logits", path, "1,2,3", "1", os.path.join(folder, "out")],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
            right = done.returncode == 0 if says is None else done.returncode == 1 and says in done.stderr
            if not right:
                print("FAIL %s: wanted %s, exit status %d, %s" % (preset, says, done.returncode, done.stderr.strip()))
                bad += 1
    if bad:
        sys.exit("%d of %d cases failed" % (bad, len(CASES)))


if __name__ == "__main__":
    main()
