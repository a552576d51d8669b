"""Train the starter model on an NVIDIA GPU: the network, the text and the optimizer of train.py.

    python3 train_gpu.py OUTDIR --minutes 9 --decay 5 [--from-gguf FILE | --resume OUTDIR/last.pt]

Runs on PyTorch 1.13 or newer. The main process computes; each generator process makes batches on a core of its own. One
step takes --packs batches of --batch tokens. Nothing in a step waits for the GPU: the positions with a loss are found on
the CPU before the copy, and the loss is read only for the log.

OUTDIR/last.pt is a checkpoint as train.py writes it. OUTDIR/weights.pt holds only the weights, in half precision (12 MB);
export.py, evaluate.py and average.py read both. --device cpu works too, and is slow.
"""
import argparse
import json
import math
import multiprocessing
import os
import signal
import sys
import time

import numpy as np
import torch
from torch.nn import functional

import export
import model
import train

HERE = os.path.dirname(os.path.abspath(__file__))
BF16 = torch.bfloat16


def norm(x, weight):
    """RMSNorm, computed in single precision."""
    if hasattr(functional, "rms_norm"):
        return functional.rms_norm(x, (x.shape[-1],), weight, model.EPS)
    wide = x.float()
    return (wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + model.EPS) * weight.float()).to(x.dtype)


def attention(q, k, v):
    """Causal attention over [batch, heads, length, head]."""
    if hasattr(functional, "scaled_dot_product_attention"):
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    t = q.shape[2]
    later = torch.ones(t, t, dtype=torch.bool, device=q.device).triu(1)
    scores = (q @ k.transpose(2, 3)).float() * q.shape[3] ** -0.5
    return torch.softmax(scores.masked_fill(later, -math.inf), -1).to(v.dtype) @ v


class GpuModel(model.TrainModel):
    """TrainModel with every operation in PyTorch, on any device. The flat arrays and their order are the same."""

    def to(self, device):
        for name in ("master", "m", "v", "bf", "grad"):
            setattr(self, name, getattr(self, name).to(device))
        self.bind()
        self.turn = torch.complex(self.cos, self.sin).to(device)
        self.device = device
        # Each layer has the same layout: one strided view holds a kind of matrix of all layers.
        cfg, at, layers = self.cfg, 0, self.cfg["layers"]
        per_layer = (self.n - cfg["vocab"] * cfg["dim"] - cfg["dim"]) // layers
        self.kinds, adam = [], []
        for name, shape in self.shapes:
            count = math.prod(shape)
            if len(shape) == 1 or name == "emb":
                adam.append(torch.arange(at, at + count))
            elif name.startswith("0."):
                parts = {"qkv": 3, "gateup": 2}.get(name[2:], 1)
                rows, cols = shape[0] // parts, shape[1]
                self.kinds.append((at, (layers, parts, rows, cols), (per_layer, rows * cols, cols, 1)))
            at += count
        self.adam = torch.cat(adam).to(device)  # where AdamW's parameters are
        return self

    def loss(self, tokens, target, weight, at, smooth=0.0, dropout=0.0):
        """(what to minimise, plain cross entropy). target and weight: those of the positions `at` alone; weights sum to 1."""
        b, t = tokens.shape
        heads, dim = self.cfg["heads"], self.cfg["dim"]
        p, lin = self.p, functional.linear
        drop = (lambda x: functional.dropout(x, dropout)) if dropout else (lambda x: x)
        h = functional.embedding(tokens, p["emb"])
        for i in range(self.cfg["layers"]):
            qkv = lin(norm(h, p[f"{i}.norm1"]), p[f"{i}.qkv"]).view(b, t, 3, heads, dim // heads)
            qk = torch.view_as_complex(qkv[:, :, :2].float().view(b, t, 2, heads, -1, 2))
            qk = torch.view_as_real(qk * self.turn[:t, None, None]).flatten(-2).to(BF16)
            q, k, v = (x.transpose(1, 2) for x in (qk[:, :, 0], qk[:, :, 1], qkv[:, :, 2]))
            h = h + drop(lin(attention(q, k, v).transpose(1, 2).reshape(b, t, dim), p[f"{i}.out"]))
            gate, up = lin(norm(h, p[f"{i}.norm2"]), p[f"{i}.gateup"]).chunk(2, -1)
            h = h + drop(lin(functional.silu(gate) * up, p[f"{i}.down"]))
        logits = lin(norm(h.view(-1, dim).index_select(0, at), p["norm"]), p["emb"]).float()
        total, hit = torch.logsumexp(logits, -1), logits.gather(1, target[:, None])[:, 0]
        plain = ((total - hit) * weight).sum()
        if not smooth:
            return plain, plain.detach()
        soft = ((total - (1 - smooth) * hit - smooth * logits.mean(-1)) * weight).sum()
        return soft, plain.detach()

    def muon(self, grad, rate, beta=0.95, decay=0.05):
        """As TrainModel.muon, all layers at once. The moments of AdamW's parameters are spoilt by it."""
        self.m.copy_(torch.lerp(grad, self.m, beta))
        ahead, groups = torch.lerp(grad, self.m, beta), {}
        for at, shape, stride in self.kinds:
            u, tall = ahead.as_strided(shape, stride, at).flatten(0, 1), shape[2] > shape[3]
            u = u.transpose(1, 2) if tall else u
            groups.setdefault(tuple(sorted(shape[2:])), []).append((at, shape, stride, tall, u))
        for group in groups.values():
            x = torch.cat([g[4] for g in group])
            x = (x / (x.norm(dim=(1, 2), keepdim=True) + 1e-12)).to(BF16)
            for _ in range(5):
                gram = torch.bmm(x, x.transpose(1, 2))
                poly = torch.baddbmm(gram, gram, gram, beta=-4.7750, alpha=2.0315)
                x = torch.baddbmm(x, poly, x, beta=3.4445)
            for u, (at, shape, stride, tall, _) in zip(x.split([len(g[4]) for g in group]), group):
                u = (u.transpose(1, 2) if tall else u).float().reshape(shape)
                w = self.master.as_strided(shape, stride, at)
                w.mul_(1 - rate * decay).add_(u, alpha=-rate * max(1.0, shape[2] / shape[3]) ** 0.5)

    def step(self, rate, clip=1.0, b1=0.9, b2=0.98):
        """One update, as TrainModel.step; returns the norm of the gradient as a tensor on the device."""
        self.steps += 1
        grad = torch.nan_to_num(self.grad.float(), 0, 0, 0)
        size, m, v = grad.norm(), self.m[self.adam], self.v[self.adam]
        self.muon(grad, rate * 13)
        g = grad[self.adam] * (clip / (size + 1e-6)).clamp(max=1)
        m.mul_(b1).add_(g, alpha=1 - b1)
        v.mul_(b2).addcmul_(g, g, value=1 - b2)
        self.m.index_copy_(0, self.adam, m)
        self.v.index_copy_(0, self.adam, v)
        change = (m / (1 - b1 ** self.steps)) / ((v / (1 - b2 ** self.steps)).sqrt() + 1e-8)
        self.master.index_add_(0, self.adam, change, alpha=-rate)
        self.bf.copy_(self.master)
        self.grad.zero_()
        return size

    def save(self, path, small=False):
        """small: only the weights, in half precision."""
        state = dict(cfg=self.cfg, steps=self.steps, master=self.master.cpu())
        if small:
            state["master"] = state["master"].half()
        else:
            state.update(m=self.m.cpu(), v=self.v.cpu())
        torch.save(state, path + ".part")
        os.replace(path + ".part", path)


def to_device(x, y, w, device):
    """A batch of train.batches for GpuModel.loss: tokens, and target, weight and place of the positions with a loss. The
    number of these is rounded up, with positions of weight 0: few distinct shapes suit the allocator."""
    at = np.flatnonzero(w)
    place, weight = np.zeros(-(-len(at) // 1024) * 1024, np.int64), w.reshape(-1)[at]
    place[:len(at)] = at
    weights = np.zeros(len(place), np.float32)
    weights[:len(at)] = weight / weight.sum()
    arrays = [torch.from_numpy(v) for v in (x, y.reshape(-1)[place], weights, place)]
    if device.type == "cuda":
        arrays = [v.pin_memory().to(device, non_blocking=True) for v in arrays]
    return arrays


def begin(a):
    """The model that training begins with."""
    with open(a.tokenizer) as f:
        tokens = json.load(f)["tokens"]
    if a.resume:
        return GpuModel.load(a.resume)
    if a.from_gguf:
        cfg, weights, known = export.load_gguf(a.from_gguf)
        if known.tokens != tokens:
            sys.exit(f"train_gpu.py: {a.from_gguf} and {a.tokenizer} have different tokens")
        return GpuModel.of_weights(cfg, weights)
    d, n, h, ff = map(int, a.size.split("x"))
    return GpuModel(dict(vocab=len(tokens), dim=d, layers=n, heads=h, ff=ff), a.seed)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out")
    ap.add_argument("--size", default="256x6x4x768", help="DIMxLAYERSxHEADSxFF")
    ap.add_argument("--minutes", type=float, default=9.25)
    ap.add_argument("--decay", type=float, default=5, help="minutes at the end in which the rate falls to zero")
    ap.add_argument("--rate", type=float, default=1.5e-3)
    ap.add_argument("--warmup", type=int, default=300, help="steps")
    ap.add_argument("--batch", type=int, default=16384, help="tokens of a batch, padding included")
    ap.add_argument("--packs", type=int, default=1, help="batches of a step")
    ap.add_argument("--smooth", type=float, default=0.02, help="label smoothing")
    ap.add_argument("--dropout", type=float, default=0, help="of what each layer adds")
    ap.add_argument("--generators", type=int, default=max(1, (os.cpu_count() or 2) - 1), help="processes that make text")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--save-every", type=float, default=1, help="minutes")
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--tokenizer", default=os.path.join(HERE, "tokenizer.json"))
    ap.add_argument("--resume", help="go on from this checkpoint")
    ap.add_argument("--from-gguf", metavar="FILE", help="begin with the weights of an exported model, dequantised")
    ap.add_argument("--focus", metavar="FILE", help="names of facts to ask about more often (changed.py writes them)")
    ap.add_argument("--cut", type=float, default=0, help="share of rows about quince that end soon after their last answer has begun")
    a = ap.parse_args()
    if a.resume and a.from_gguf:
        ap.error("--resume and --from-gguf are two beginnings: give one")
    os.makedirs(a.out, exist_ok=True)
    focus = ()
    if a.focus:
        with open(a.focus) as f:
            focus = frozenset(f.read().split())
    net = begin(a)
    queue = multiprocessing.Queue(64)
    # Before the first call of the GPU: a process that has used it cannot be forked.
    workers = [multiprocessing.Process(target=train.batches, daemon=True, args=(
        queue, a.tokenizer, 1_000_003 * a.seed + 1009 * net.steps + 2 * i, a.batch, model.CONTEXT, focus, a.cut))
        for i in range(a.generators)]
    for w in workers:
        w.start()
    torch.set_num_threads(1)
    torch.manual_seed(a.seed)
    if hasattr(torch.backends.cuda, "enable_cudnn_sdp"):
        torch.backends.cuda.enable_cudnn_sdp(False)  # it plans anew for each shape
    device = torch.device(a.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        sys.exit("train_gpu.py: this PyTorch finds no NVIDIA GPU; train.py trains on the CPU")
    net.to(device)
    log = open(os.path.join(a.out, "log.txt"), "a")

    def say(text):
        print(text, flush=True)
        log.write(text + "\n")
        log.flush()

    def checkpoint():
        net.save(os.path.join(a.out, "last.pt"))
        net.save(os.path.join(a.out, "weights.pt"), small=True)

    say(f"{net.n} parameters, step {net.steps}; minutes {a.minutes} decay {a.decay} rate {a.rate} batch {a.batch} "
        f"packs {a.packs} smooth {a.smooth} dropout {a.dropout} cut {a.cut} seed {a.seed}")
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))  # finish the step, save, leave
    start = saved = shown = time.time()
    tokens, since, losses = 0, 0, torch.zeros((), device=device)
    while not stop:
        now = time.time()
        left = a.minutes * 60 - (now - start)
        if left <= 0:
            break
        rate = a.rate * min(1, (net.steps + 1) / a.warmup)
        if a.decay:
            rate *= min(1, left / (a.decay * 60))
        for _ in range(a.packs):
            x, y, w = queue.get(timeout=300)
            soft, plain = net.loss(*to_device(x, y, w, device), a.smooth, a.dropout)
            (soft / a.packs).backward()
            losses += plain
            tokens, since = tokens + x.size, since + 1
        size = net.step(rate)
        if now - shown > 15:
            mean = losses.item() / since
            say(f"{(now - start) / 60:6.1f} min  step {net.steps}  loss {mean:.4f}  rate {rate:.2e}  "
                f"norm {size.item():.2f}  {tokens / (now - start):.0f} tokens/s  {queue.qsize()} batches wait")
            if not math.isfinite(mean):
                sys.exit("train_gpu.py: the loss is not a number; use a lower --rate")
            losses.zero_()
            since, shown = 0, now
        if now - saved > a.save_every * 60:
            checkpoint()
            saved = now
    checkpoint()
    say(f"done: {tokens} tokens in {(time.time() - start) / 60:.1f} minutes")
    for w in workers:
        w.terminate()


if __name__ == "__main__":
    main()
