"""Write a checkpoint as GGUF: matrices Q8_0, norms F32.

    python3 export.py CHECKPOINT TOKENIZER.json OUT.gguf [--random]
"""
import argparse
import os
import sys

import numpy as np
import torch

import bpe
import gguf
import model

CHAT_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + "
    "message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")
LIMIT = 16 * 1024 * 1024


def metadata(cfg, tok, params):
    hd = cfg["dim"] // cfg["heads"]
    kinds = [3 if i < len(bpe.SPECIAL) else 5 if t.startswith("<|unused") else 1
             for i, t in enumerate(tok.tokens)]
    s, u, f = gguf.STRING, gguf.U32, gguf.F32
    return [
        ("general.architecture", s, "llama"),
        ("general.type", s, "model"),
        ("general.name", s, "quince-starter"),
        ("general.basename", s, "quince-starter"),
        ("general.size_label", s, f"{params / 1e6:.1f}M"),
        ("general.author", s, "The quince authors"),
        ("general.license", s, "apache-2.0"),
        ("general.description", s,
         "A tiny model trained from scratch on generated text, shipped with quince so that "
         "there is something to talk to. Knows quince, small talk, simple arithmetic and "
         "everyday facts; often wrong about anything else."),
        ("general.tags", gguf.ARRAY, (s, ["chat", "text-generation"])),
        ("general.languages", gguf.ARRAY, (s, ["en"])),
        ("general.quantization_version", u, 2),
        ("general.file_type", u, 7),  # mostly Q8_0
        # Answers are facts or sums: the likeliest token is the right one.
        ("general.sampling.temp", f, 0.0),
        ("llama.context_length", u, model.CONTEXT),
        ("llama.embedding_length", u, cfg["dim"]),
        ("llama.block_count", u, cfg["layers"]),
        ("llama.feed_forward_length", u, cfg["ff"]),
        ("llama.attention.head_count", u, cfg["heads"]),
        ("llama.attention.head_count_kv", u, cfg["heads"]),
        ("llama.attention.key_length", u, hd),
        ("llama.attention.value_length", u, hd),
        ("llama.attention.layer_norm_rms_epsilon", f, model.EPS),
        ("llama.rope.dimension_count", u, hd),
        ("llama.rope.freq_base", f, model.ROPE_BASE),
        ("llama.vocab_size", u, cfg["vocab"]),
        ("tokenizer.ggml.model", s, "gpt2"),
        ("tokenizer.ggml.pre", s, "qwen2"),
        ("tokenizer.ggml.tokens", gguf.ARRAY, (s, tok.tokens)),
        ("tokenizer.ggml.token_type", gguf.ARRAY, (gguf.I32, kinds)),
        ("tokenizer.ggml.merges", gguf.ARRAY, (s, [" ".join(m) for m in tok.merges])),
        # As in Qwen2, a BOS token is named but never put in front.
        ("tokenizer.ggml.bos_token_id", u, bpe.END_OF_TEXT),
        ("tokenizer.ggml.eos_token_id", u, bpe.IM_END),
        ("tokenizer.ggml.padding_token_id", u, bpe.END_OF_TEXT),
        ("tokenizer.ggml.add_bos_token", gguf.BOOL, False),
        ("tokenizer.chat_template", s, CHAT_TEMPLATE),
    ]


def tensors(cfg, weights):
    """No output.weight: its absence says that the embeddings are tied."""
    w = {k: v.numpy() for k, v in weights.items()}
    q, f, d = gguf.T_Q8_0, gguf.T_F32, cfg["dim"]
    out = [("token_embd.weight", w["emb"], q)]
    for i in range(cfg["layers"]):
        b = f"blk.{i}."
        wq, wk, wv = np.split(w[f"{i}.qkv"], 3)
        gate, up = np.split(w[f"{i}.gateup"], 2)
        out += [(b + "attn_norm.weight", w[f"{i}.norm1"], f), (b + "attn_q.weight", wq, q),
                (b + "attn_k.weight", wk, q), (b + "attn_v.weight", wv, q),
                (b + "attn_output.weight", w[f"{i}.out"], q),
                (b + "ffn_norm.weight", w[f"{i}.norm2"], f), (b + "ffn_gate.weight", gate, q),
                (b + "ffn_up.weight", up, q), (b + "ffn_down.weight", w[f"{i}.down"], q)]
    return out + [("output_norm.weight", w["norm"], f)]


def load_gguf(path):
    """(cfg, weights, tokenizer) of an exported file, for the evaluation."""
    meta, t = gguf.read(path)
    m = lambda k: meta["llama." + k]
    cfg = dict(vocab=m("vocab_size"), dim=m("embedding_length"), layers=m("block_count"),
               heads=m("attention.head_count"), ff=m("feed_forward_length"))
    t = {k: torch.from_numpy(np.array(v)) for k, v in t.items()}
    w = {"emb": t["token_embd.weight"], "norm": t["output_norm.weight"]}
    for i in range(cfg["layers"]):
        b = f"blk.{i}."
        w[f"{i}.norm1"], w[f"{i}.norm2"] = t[b + "attn_norm.weight"], t[b + "ffn_norm.weight"]
        w[f"{i}.qkv"] = torch.cat([t[b + f"attn_{x}.weight"] for x in "qkv"])
        w[f"{i}.out"], w[f"{i}.down"] = t[b + "attn_output.weight"], t[b + "ffn_down.weight"]
        w[f"{i}.gateup"] = torch.cat([t[b + "ffn_gate.weight"], t[b + "ffn_up.weight"]])
    tok = bpe.Tokenizer(meta["tokenizer.ggml.tokens"],
                        [m.split(" ") for m in meta["tokenizer.ggml.merges"]])
    return cfg, w, tok


def main():
    ap = argparse.ArgumentParser(description="write a checkpoint as GGUF")
    ap.add_argument("checkpoint", help="a checkpoint, or DIMxLAYERSxHEADSxFF with --random")
    ap.add_argument("tokenizer")
    ap.add_argument("out")
    ap.add_argument("--random", action="store_true", help="untrained weights, for loader tests")
    a = ap.parse_args()
    tok = bpe.Tokenizer.load(a.tokenizer)
    if a.random:
        d, n, h, ff = map(int, a.checkpoint.split("x"))
        cfg = dict(vocab=len(tok.tokens), dim=d, layers=n, heads=h, ff=ff)
        master = model.TrainModel(cfg).master
    else:
        state = torch.load(a.checkpoint)
        cfg, master = state["cfg"], state["master"]
    if cfg["vocab"] != len(tok.tokens):
        sys.exit(f"export.py: the checkpoint has {cfg['vocab']} tokens, "
                 f"{a.tokenizer} has {len(tok.tokens)}")
    weights = model.named_weights(cfg, master)
    gguf.write(a.out, metadata(cfg, tok, master.numel()), tensors(cfg, weights))
    size = os.path.getsize(a.out)
    if size > LIMIT:
        sys.exit(f"export.py: {a.out} is {size} bytes, more than the {LIMIT} allowed")
    print(f"{a.out}: {master.numel()} parameters, {size} bytes")


if __name__ == "__main__":
    main()
