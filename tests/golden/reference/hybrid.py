"""Decoders with recurrent layers. A recurrent layer's state is what the papers' step by step forms keep."""
import numpy as np

from .decoder import Decoder


class Recurrent(Decoder):
    def convolve(self, i, x, name):
        """Causal depthwise convolution over time: y[t] = b + sum over j of w[j] x[t + 1 - kernel + j]."""
        w = self.weight(name + ".weight")              # [channels, kernel]
        kernel = w.shape[1]
        before = np.zeros((kernel - 1, x.shape[1])) if self.inputs[i] is None else self.inputs[i]
        x = np.concatenate([before, x])
        self.inputs[i] = x[len(x) - kernel + 1:]
        y = sum(x[j:len(x) - kernel + 1 + j] * w[:, j] for j in range(kernel))
        return y + self.weight(name + ".bias") if self.has(name + ".bias") else y

    def clear(self):
        super().clear()
        self.inputs = [None] * self.layers


class Lfm2(Recurrent):                     # arXiv:2511.23404
    def mixer(self, i, h):
        b = "blk.%d.shortconv." % i
        if not self.has(b + "in_proj.weight"):
            return self.attention(i, h)
        b_gate, c_gate, x = np.split(self.project(h, b + "in_proj"), 3, axis=-1)
        return self.project(c_gate * self.convolve(i, b_gate * x, b + "conv"), b + "out_proj")

    def head(self, x):
        name = "output" if self.has("output.weight") else "token_embd"
        return self.project(self.norm(x, "token_embd_norm"), name)


NETWORKS = {"lfm2": Lfm2}
