#!/usr/bin/python3
"""Model files with recurrent layers whose numbers or tensors cannot be: each is refused, with a message
that names what is wrong.

  test_refusals.py NET_PROBE"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "scripts", "gguf")]
import make_random_gguf
from container import ARR, I32, U32

# preset, metadata to put in the place of the file's own, a tensor to leave out, what the message says
CASES = (
    ("lfm2", {"shortconv.l_cache": (U32, 1)}, None, "shortconv.l_cache is 1"),
    ("lfm2", {"shortconv.l_cache": (U32, 17)}, None, "shortconv.l_cache is 17"),
    ("lfm2", {"shortconv.l_cache": (U32, 4)}, None, "blk.0.shortconv.conv.weight"),
    ("lfm2", {"attention.head_count_kv": (ARR, (I32, [0, 2]))}, None, "head_count_kv is no list of 4"),
    ("lfm2", {"attention.head_count_kv": (ARR, (I32, [0, 0, 3, 0]))}, None, "cannot share 3 key-value heads"),
    ("lfm2", {"attention.head_count_kv": (ARR, (I32, [0, 0, 0, 0]))}, None, "blk.2.shortconv.in_proj.weight"),
    ("lfm2", {}, "token_embd_norm.weight", "token_embd_norm.weight"),
    ("mamba2", {"ssm.inner_size": (U32, 520)}, None, "520 state-space channels in 8 heads"),
    ("mamba2", {"ssm.inner_size": (U32, 1 << 30)}, None, "ssm.inner_size is 1073741824"),
    ("mamba2", {"ssm.time_step_rank": (U32, 0)}, None, "ssm.time_step_rank is 0"),
    ("mamba2", {"ssm.group_count": (U32, 3)}, None, "8 state-space heads cannot share 3 groups"),
    ("mamba2", {"ssm.state_size": (U32, 4096)}, None, "blk.0.ssm_in.weight"),
    ("mamba2", {"ssm.state_size": (U32, 4097)}, None, "ssm.state_size is 4097"),
    ("mamba2", {"ssm.conv_kernel": (U32, 17)}, None, "ssm.conv_kernel is 17"),
    ("mamba2", {}, "blk.1.ssm_a", "blk.1.ssm_a"),
    ("falcon-h1", {}, "blk.0.ffn_norm", "blk.0.ffn_norm"),
    ("qwen35", {"ssm.group_count": (U32, 3)}, None, "8 value heads of linear attention cannot share 3 key heads"),
    ("qwen35", {"ssm.inner_size": (U32, 8 * 24)}, None, "192 channels of linear attention in 8 heads"),
    ("qwen35", {"full_attention_interval": (U32, 0)}, None, "full_attention_interval is 0"),
    ("qwen35", {"full_attention_interval": (U32, 2)}, None, "blk.1.attn_qkv.weight"),
    ("qwen35", {"attention.recurrent_layers": (ARR, (I32, [1, 1, 1, 2]))}, None, "recurrent_layers is 2"),
    ("qwen35", {"nextn_predict_layers": (U32, 4)}, None, "nextn_predict_layers is 4"),
    ("qwen35", {}, "blk.2.ssm_alpha.weight", "blk.2.ssm_alpha.weight"),
    ("qwen3next-older", {}, "blk.0.ssm_in.weight", "blk.0.attn_qkv.weight"),
)


def main():
    tool, bad = sys.argv[1], 0
    with tempfile.TemporaryDirectory(prefix="quince-refusals-") as folder:
        path = os.path.join(folder, "model.gguf")
        for preset, meta, dropped, says in CASES:
            a = make_random_gguf.options(["--preset", "small-" + preset, "--type", "q8_0", path])
            writer = make_random_gguf.build(a).writer
            writer.meta.update({a.arch + "." + key: value for key, value in meta.items()})
            if dropped:
                writer.tensors = [t for t in writer.tensors if t[0] != dropped]
            writer.write(path)
            done = subprocess.run([tool, "logits", path, "1,2,3", "0", os.path.join(folder, "out")],
                                  stderr=subprocess.PIPE, universal_newlines=True)
            if done.returncode != 1 or says not in done.stderr:
                print("%s %s %s: status %d, %r does not say %r"
                      % (preset, meta, dropped or "", done.returncode, done.stderr, says))
                bad += 1
    if bad:
        sys.exit("%d of %d files were not refused as they should" % (bad, len(CASES)))
    print("%d files refused" % len(CASES))


if __name__ == "__main__":
    main()
