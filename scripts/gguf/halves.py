"""Half-precision factors of block types: arrays to bytes and back."""
import numpy as np


def half_bytes(x):
    return np.ascontiguousarray(x, np.float16).view(np.uint8).reshape(-1, 2)


def half(raw):
    return np.ascontiguousarray(raw).view(np.float16).astype(np.float32)


def inverse(x):
    return np.where(x != 0, 1.0 / np.where(x != 0, x, 1), 0)


def stored(x):
    """What a value becomes once it has been stored as a half."""
    return np.asarray(x, np.float16).astype(np.float32)


def words(raw, kind):
    """Little-endian integers of bytes side by side."""
    return np.ascontiguousarray(raw).view(kind)


def nibbles(q):
    """Rows of codes, the first half of a row in the low four bits of bytes, the second in the high."""
    n = q.shape[-1] // 2
    return (q[..., :n] | (q[..., n:] << 4)).astype(np.uint8)


def from_nibbles(raw):
    return np.concatenate([raw & 15, raw >> 4], axis=-1)


def nearest(x, levels):
    """Indices of the levels nearest to x."""
    order = np.argsort(levels, kind="stable")
    ladder = np.asarray(levels, np.float32)[order]
    return order[np.searchsorted((ladder[1:] + ladder[:-1]) / 2, x)].astype(np.uint8)


def extreme(x):
    """The value farthest from zero along the last axis."""
    return np.take_along_axis(x, np.abs(x).argmax(axis=-1)[..., None], axis=-1)[..., 0]
