"""Rotary positions (arXiv:2104.09864) and what files say of them."""
import numpy as np


def frequencies(get, dim, base, divisors=None):
    """Radians per position of each pair, [dim / 2], and what sines and cosines are multiplied by.
    get(key, default): the file's metadata. divisors: Llama 3's tensor rope_freqs."""
    angular = base ** (-np.arange(0, dim, 2) / dim)
    if divisors is not None:
        angular = angular / divisors
    kind = get("rope.scaling.type", b"none")
    if kind == b"linear":
        angular = angular / get("rope.scaling.factor")
    return angular, 1.0


def rotate(x, positions, angular, scale, pairs):
    """x [n, heads, head_dim]; the first 2·len(angular) elements of each head turn. pairs: "neighbours"
    (2i, 2i+1) as llama's files have them, or "halves" (i, i + n/2)."""
    angle = positions[:, None, None] * angular
    cos, sin = scale * np.cos(angle), scale * np.sin(angle)
    out, n = x.copy(), 2 * len(angular)
    if pairs == "neighbours":
        a, b = np.s_[..., 0:n:2], np.s_[..., 1:n:2]
    else:
        a, b = np.s_[..., :n // 2], np.s_[..., n // 2:n]
    out[a] = x[a] * cos - x[b] * sin
    out[b] = x[a] * sin + x[b] * cos
    return out
