"""The network: a small Llama (RMSNorm, RoPE, SwiGLU, tied embeddings).

TrainModel computes in bf16 with fp32 master weights: matrix products through PyTorch
(oneDNN, AVX-512), all the rest through kernels.c. generate() is the plain fp32
inference that the evaluation uses; it shares no code with the training path, so that a
mistake in one shows up as a difference between the two.
"""
import ctypes
import math
import os
import subprocess
import sys
import tempfile

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
BF16 = torch.bfloat16
EPS = 1e-5
ROPE_BASE = 10000.0
CONTEXT = 512


def _load_kernels():
    """Compile kernels.c beside the source when it is newer than the library."""
    src = os.path.join(HERE, "kernels.c")
    lib = os.path.join(HERE, "kernels.so")
    if not os.path.exists(lib) or os.path.getmtime(lib) < os.path.getmtime(src):
        fd, tmp = tempfile.mkstemp(dir=HERE, suffix=".so")
        os.close(fd)
        cmd = ["gcc", "-O3", "-march=native", "-ffast-math", "-fopenmp", "-shared", "-fPIC",
               src, "-o", tmp, "-lm"]
        try:
            subprocess.run(cmd, check=True)
        except (OSError, subprocess.CalledProcessError) as e:
            os.unlink(tmp)
            sys.exit(f"model.py: cannot compile kernels.c ({e}); apt-get install gcc")
        os.replace(tmp, lib)
    return ctypes.CDLL(lib)


_kernels = None


def K():
    global _kernels
    if _kernels is None:
        _kernels = _load_kernels()
    return _kernels


def ptr(t):
    return ctypes.c_void_p(t.data_ptr())


L = ctypes.c_long
F = ctypes.c_float


class RMSNorm(torch.autograd.Function):
    PARTS = 8

    @staticmethod
    def forward(ctx, x, w):
        n, d = x.shape
        y, inv = torch.empty_like(x), torch.empty(n)
        K().rmsnorm_forward(ptr(x), ptr(w), ptr(y), ptr(inv), L(n), L(d))
        ctx.save_for_backward(x, w, inv)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, w, inv = ctx.saved_tensors
        n, d = x.shape
        dy = dy.contiguous()
        dx, dw = torch.empty_like(x), torch.zeros(RMSNorm.PARTS, d)
        K().rmsnorm_backward(ptr(x), ptr(w), ptr(inv), ptr(dy), ptr(dx), ptr(dw), L(n), L(d),
                             L(RMSNorm.PARTS))
        return dx, dw.sum(0).to(BF16)


class SwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        n, d2 = x.shape
        y = torch.empty(n, d2 // 2, dtype=BF16)
        K().swiglu_forward(ptr(x), ptr(y), L(n), L(d2 // 2))
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensors
        dy, dx = dy.contiguous(), torch.empty_like(x)
        K().swiglu_backward(ptr(x), ptr(dy), ptr(dx), L(x.shape[0]), L(x.shape[1] // 2))
        return dx


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, qkv, cosine, sine, batch, length, heads):
        hd = qkv.shape[1] // (3 * heads)
        q, k, v = (torch.empty(batch * heads, length, hd, dtype=BF16) for _ in range(3))
        K().rope_split(ptr(qkv), ptr(q), ptr(k), ptr(v), ptr(cosine), ptr(sine), L(batch),
                       L(length), L(heads), L(hd))
        p = torch.bmm(q, k.transpose(1, 2))
        K().softmax_forward(ptr(p), L(batch * heads), L(length), F(hd ** -0.5))
        o = torch.bmm(p, v)
        ctx.save_for_backward(q, k, v, p, cosine, sine)
        ctx.shape = (batch, length, heads, hd)
        return o.view(batch, heads, length, hd).transpose(1, 2).reshape(batch * length, heads * hd)

    @staticmethod
    def backward(ctx, do):
        q, k, v, p, cosine, sine = ctx.saved_tensors
        batch, length, heads, hd = ctx.shape
        do = do.view(batch, length, heads, hd).transpose(1, 2).reshape(batch * heads, length, hd)
        dv = torch.bmm(p.transpose(1, 2), do)
        dp = torch.bmm(do, v.transpose(1, 2))
        K().softmax_backward(ptr(p), ptr(dp), L(batch * heads), L(length), F(hd ** -0.5))
        dq, dk = torch.bmm(dp, k), torch.bmm(dp.transpose(1, 2), q)
        dqkv = torch.empty(batch * length, 3 * heads * hd, dtype=BF16)
        K().rope_merge(ptr(dq), ptr(dk), ptr(dv), ptr(dqkv), ptr(cosine), ptr(sine), L(batch),
                       L(length), L(heads), L(hd))
        return dqkv, None, None, None, None, None


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target, weight, smooth):
        n, v = logits.shape
        w, loss = (weight / weight.sum()).contiguous(), torch.empty(n)
        K().cross_entropy(ptr(logits), ptr(target), ptr(w), ptr(loss), L(n), L(v), F(smooth))
        ctx.save_for_backward(logits)
        return (loss * w).sum()

    @staticmethod
    def backward(ctx, g):
        return ctx.saved_tensors[0], None, None, None  # the loss is the root: g is 1


def shapes(cfg):
    d, ff = cfg["dim"], cfg["ff"]
    out = [("emb", (cfg["vocab"], d))]
    for i in range(cfg["layers"]):
        out += [(f"{i}.norm1", (d,)), (f"{i}.qkv", (3 * d, d)), (f"{i}.out", (d, d)),
                (f"{i}.norm2", (d,)), (f"{i}.gateup", (2 * ff, d)), (f"{i}.down", (d, ff))]
    return out + [("norm", (d,))]


def rope_tables(head_dim, length):
    freq = ROPE_BASE ** (-torch.arange(0, head_dim, 2).double() / head_dim)
    angle = torch.arange(length).double()[:, None] * freq[None]
    return angle.cos().float().contiguous(), angle.sin().float().contiguous()


class TrainModel:
    """Weights live in flat arrays (master, bf16 copy, gradient, Adam moments); the named
    tensors are views, so one kernel call updates them all."""

    def __init__(self, cfg, seed=1):
        self.cfg, self.shapes = cfg, shapes(cfg)
        n = sum(math.prod(s) for _, s in self.shapes)
        self.n, self.steps = n, 0
        self.master, self.m, self.v = torch.zeros(n), torch.zeros(n), torch.zeros(n)
        self.decay = torch.zeros(n)
        self.bf, self.grad = torch.zeros(n, dtype=BF16), torch.zeros(n, dtype=BF16)
        gen = torch.Generator().manual_seed(seed)
        at = 0
        for name, shape in self.shapes:
            count = math.prod(shape)
            w = self.master[at:at + count].view(shape)
            if len(shape) == 1:
                w.fill_(1.0)
            else:
                std = 0.02 if name == "emb" else 0.7 * shape[1] ** -0.5
                if name.endswith((".out", ".down")):
                    std /= math.sqrt(2 * cfg["layers"])
                w.normal_(0, std, generator=gen)
                if name != "emb":
                    self.decay[at:at + count] = 0.05
            at += count
        self.bf.copy_(self.master)
        self.bind()
        self.cos, self.sin = rope_tables(cfg["dim"] // cfg["heads"], CONTEXT)

    def bind(self):
        """Name the parts of the flat arrays; again after these have moved."""
        self.p, at = {}, 0
        for name, shape in self.shapes:
            count = math.prod(shape)
            t = self.bf[at:at + count].view(shape).detach().requires_grad_()
            t.grad = self.grad[at:at + count].view(shape)
            self.p[name] = t
            at += count

    def loss(self, tokens, target, weight, smooth=0.0):
        b, t = tokens.shape
        p, lin = self.p, torch.nn.functional.linear
        h = p["emb"][tokens.reshape(-1)]
        for i in range(self.cfg["layers"]):
            qkv = lin(RMSNorm.apply(h, p[f"{i}.norm1"]), p[f"{i}.qkv"])
            h = h + lin(Attention.apply(qkv, self.cos, self.sin, b, t, self.cfg["heads"]),
                        p[f"{i}.out"])
            gu = lin(RMSNorm.apply(h, p[f"{i}.norm2"]), p[f"{i}.gateup"])
            h = h + lin(SwiGLU.apply(gu), p[f"{i}.down"])
        # Logits only where there is something to learn: less than half of the positions.
        # Their number is rounded up (with rows of weight 0) to see few distinct shapes.
        weight = weight.reshape(-1)
        idx = weight.nonzero()[:, 0]
        n = idx.shape[0]
        idx = torch.nn.functional.pad(idx, (0, -n % 512))
        kept = weight[idx]
        kept[n:] = 0
        h = RMSNorm.apply(h.index_select(0, idx), p["norm"])
        return CrossEntropy.apply(h @ p["emb"].t(), target.reshape(-1)[idx].contiguous(),
                                  kept, smooth)

    def matrices(self):
        """[(offset, rows, cols)] of what Muon moves: Q, K, V, gate and up each on its own."""
        out, at = [], 0
        for name, shape in self.shapes:
            if len(shape) == 2 and name != "emb":
                parts = {"qkv": 3, "gateup": 2}.get(name.split(".")[1], 1)
                rows = shape[0] // parts
                out += [(at + i * rows * shape[1], rows, shape[1]) for i in range(parts)]
            at += math.prod(shape)
        return out

    def muon(self, rate, beta=0.95, decay=0.05):
        """The momentum of each matrix, made nearly orthogonal by five Newton-Schulz steps (all
        matrices of one shape at once), is the direction. Needs about half the tokens AdamW does
        here, for a tenth more time."""
        groups = {}
        for at, rows, cols in self.matrices():
            groups.setdefault((min(rows, cols), max(rows, cols)), []).append((at, rows, cols))
        for group in groups.values():
            stack = []
            for at, rows, cols in group:
                n = rows * cols
                g, m = self.grad[at:at + n].float(), self.m[at:at + n]
                m.mul_(beta).add_(g, alpha=1 - beta)
                u = torch.lerp(g, m, beta).view(rows, cols)
                u = u / (u.norm() + 1e-12)
                stack.append((u.t() if rows > cols else u).to(BF16))
            x = torch.stack(stack)
            for _ in range(5):
                gram = torch.bmm(x, x.transpose(1, 2))
                poly = torch.baddbmm(gram, gram, gram, beta=-4.7750, alpha=2.0315)
                x = torch.baddbmm(x, poly, x, beta=3.4445)
            for u, (at, rows, cols) in zip(x, group):
                w = self.master[at:at + rows * cols].view(rows, cols)
                u = (u.t() if rows > cols else u).float()
                w.mul_(1 - rate * decay).add_(u, alpha=-rate * max(1.0, rows / cols) ** 0.5)
                self.bf[at:at + rows * cols].copy_(w.view(-1))

    def adamw(self, at, n, rate, scale, b1=0.9, b2=0.98):
        part = lambda t: ptr(t[at:at + n])
        K().adamw(part(self.master), part(self.grad), part(self.m), part(self.v), part(self.bf),
                  part(self.decay), L(n), F(rate), F(b1), F(b2),
                  F(1 / (1 - b1 ** self.steps)), F(1 / (1 - b2 ** self.steps)), F(1e-8), F(scale))

    def step(self, rate, clip=1.0):
        """One update: Muon for the matrices, AdamW for embeddings and norms. `rate` is AdamW's;
        Muon's is in proportion (its updates have unit size)."""
        self.steps += 1
        norm = self.grad.float().norm().item()
        if math.isfinite(norm):
            at = 0
            for name, shape in self.shapes:
                n = math.prod(shape)
                if len(shape) == 1 or name == "emb":
                    self.adamw(at, n, rate, min(1.0, clip / (norm + 1e-6)))
                at += n
            self.muon(rate * 13)
        self.grad.zero_()
        return norm

    def save(self, path):
        state = dict(cfg=self.cfg, master=self.master, m=self.m, v=self.v, steps=self.steps)
        torch.save(state, path + ".part")
        os.replace(path + ".part", path)

    @classmethod
    def load(cls, path):
        d = torch.load(path)
        model = cls(d["cfg"])
        model.master.copy_(d["master"])
        model.m.copy_(d["m"])
        model.v.copy_(d["v"])
        model.steps = d["steps"]
        model.bf.copy_(model.master)
        return model

    @classmethod
    def of_weights(cls, cfg, weights):
        """A model that begins from finished weights, as named_weights gives them: no steps, no moments."""
        model = cls(cfg)
        at = 0
        for name, shape in model.shapes:
            if tuple(weights[name].shape) != tuple(shape):
                raise ValueError(f"{name} has the shape {tuple(weights[name].shape)}, not {tuple(shape)}")
            count = math.prod(shape)
            model.master[at:at + count].copy_(weights[name].reshape(-1))
            at += count
        model.bf.copy_(model.master)
        return model


def named_weights(cfg, master):
    out, at = {}, 0
    for name, shape in shapes(cfg):
        count = math.prod(shape)
        out[name] = master[at:at + count].view(shape).float()
        at += count
    return out


@torch.no_grad()
def generate(cfg, w, prompts, stop, max_new=96):
    """Greedy answers for a list of token lists. Rows are padded on the left and every row
    counts its own positions from 0, exactly as one prompt alone would."""
    dim, heads = cfg["dim"], cfg["heads"]
    hd = dim // heads
    cos, sin = rope_tables(hd, CONTEXT)
    b, width = len(prompts), max(map(len, prompts))
    tok = torch.zeros(b, width, dtype=torch.long)
    pad = torch.tensor([width - len(p) for p in prompts])
    for i, p in enumerate(prompts):
        tok[i, width - len(p):] = torch.tensor(p)
    norm = lambda x, g: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + EPS) * g
    keys = [torch.zeros(b, heads, 0, hd) for _ in range(cfg["layers"])]
    vals = [torch.zeros(b, heads, 0, hd) for _ in range(cfg["layers"])]
    out, rows, at = [[] for _ in prompts], torch.arange(b), 0  # rows: which prompts still go on
    for _ in range(max_new):
        t = tok.shape[1]
        pos = (torch.arange(at, at + t)[None] - pad[:, None]).clamp(0, CONTEXT - 1)
        c, s = cos[pos][:, None], sin[pos][:, None]

        def rotate(x):
            a, e = x[..., 0::2], x[..., 1::2]
            return torch.stack((a * c - e * s, e * c + a * s), -1).flatten(-2)

        visible = torch.arange(at + t)[None, None] <= torch.arange(at, at + t)[None, :, None]
        visible = visible & (torch.arange(at + t)[None, None] >= pad[:, None, None])
        bias = torch.where(visible, 0.0, -1e9)[:, None]
        h = w["emb"][tok]
        for i in range(cfg["layers"]):
            qkv = norm(h, w[f"{i}.norm1"]) @ w[f"{i}.qkv"].t()
            q, k, v = (x.view(len(rows), t, heads, hd).transpose(1, 2) for x in qkv.split(dim, -1))
            keys[i] = torch.cat((keys[i], rotate(k)), 2)
            vals[i] = torch.cat((vals[i], v), 2)
            a = torch.softmax(rotate(q) @ keys[i].transpose(2, 3) * hd ** -0.5 + bias, -1)
            h = h + (a @ vals[i]).transpose(1, 2).reshape(len(rows), t, dim) @ w[f"{i}.out"].t()
            g, u = (norm(h, w[f"{i}.norm2"]) @ w[f"{i}.gateup"].t()).chunk(2, -1)
            h = h + (torch.nn.functional.silu(g) * u) @ w[f"{i}.down"].t()
        nxt = (norm(h[:, -1], w["norm"]) @ w["emb"].t()).argmax(-1)
        at += t
        on = nxt != stop
        if not on.any():
            break
        if not on.all():  # what has ended is computed no further
            rows, nxt, pad = rows[on], nxt[on], pad[on]
            keys, vals = [x[on] for x in keys], [x[on] for x in vals]
        for i, token in zip(rows.tolist(), nxt.tolist()):
            out[i].append(token)
        tok = nxt[:, None]
    return out
