"""Tensor types whose values are points of a grid: IQ1_S, IQ1_M, IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS, IQ3_S.

A file holds indices into the grids of grids.py, signs apart from them, and small scales. Nothing here
quantises: files made for tests and benchmarks have random blocks, for any bits are valid. See quants.py.
"""
import numpy as np

import grids
from halves import half, words

IQ2 = np.array([8, 25, 43], np.float32) / 8
IQ3_XXS = np.array([4, 12, 20, 28, 36, 44, 52, 62], np.float32) / 4
IQ3_S = np.arange(1, 16, 2, dtype=np.float32)


def _signs(seven):
    """Seven bits to factors of eight values: the eighth makes the number of negative ones even."""
    bits = seven[..., None] >> np.arange(7) & 1
    bits = np.concatenate([bits, bits.sum(axis=-1, keepdims=True) % 2], axis=-1)
    return 1.0 - 2.0 * bits


def _from_pairs(raw):
    return np.stack([raw & 15, raw >> 4], axis=2).reshape(raw.shape[0], -1)


def _scaled(d, s, run, values):
    unit = half(d) * (2.0 * s + 1)
    return (unit[:, :, None] * values.reshape(-1, 256 // run, run)).astype(np.float32)


# IQ2_XXS: per 32 values four indices, then four times seven signs and the scale in one word.
# IQ3_XXS: the same with eight indices of fours, all indices first.
def _word_signs(word):
    return _signs(word.astype(np.int64)[:, :, None] >> np.arange(0, 28, 7) & 127).reshape(-1, 256)


def _unpack_iq2_xxs(raw):
    b = raw.reshape(-1, 66)
    groups = b[:, 2:].reshape(-1, 8, 8)
    word = words(groups[:, :, 4:], "<u4")[:, :, 0]
    values = IQ2[grids.IQ2_XXS[groups[:, :, :4]]].reshape(-1, 256) * _word_signs(word)
    return _scaled(b[:, :2], word >> 28, 32, values)


def _unpack_iq3_xxs(raw):
    b = raw.reshape(-1, 98)
    word = words(b[:, 66:], "<u4")
    values = IQ3_XXS[grids.IQ3_XXS[b[:, 2:66]]].reshape(-1, 256) * _word_signs(word)
    return _scaled(b[:, :2], word >> 28, 32, values)


# IQ2_XS: 32 words of a nine-bit index and seven signs, then 4-bit scales of 16 values.
def _unpack_iq2_xs(raw):
    b = raw.reshape(-1, 74)
    word = words(b[:, 2:66], "<u2").astype(np.int64)
    values = IQ2[grids.IQ2_XS[word & 511]] * _signs(word >> 9)
    return _scaled(b[:, :2], _from_pairs(b[:, 66:]), 16, values)


def _from_eight_bits(raw):
    return 1.0 - 2.0 * np.unpackbits(np.ascontiguousarray(raw), axis=1, bitorder="little")


# IQ2_S: low bytes of 32 indices, signs, top two bits of the indices, 4-bit scales of 16 values.
def _unpack_iq2_s(raw):
    b = raw.reshape(-1, 82)
    top = (b[:, 66:74, None] >> np.arange(0, 8, 2) & 3).reshape(-1, 32)
    values = IQ2[grids.IQ2_S[b[:, 2:34] | (top.astype(np.int64) << 8)]].reshape(-1, 256)
    return _scaled(b[:, :2], _from_pairs(b[:, 74:]), 16, values * _from_eight_bits(b[:, 34:66]))


# IQ3_S: low bytes of 64 indices, their top bits, signs, 4-bit scales of 32 values.
def _unpack_iq3_s(raw):
    b = raw.reshape(-1, 110)
    top = np.unpackbits(np.ascontiguousarray(b[:, 66:74]), axis=1, bitorder="little").astype(np.int64)
    values = IQ3_S[grids.IQ3_S[b[:, 2:66] | (top << 8)]].reshape(-1, 256)
    return _scaled(b[:, :2], _from_pairs(b[:, 106:]), 32, values * _from_eight_bits(b[:, 74:106]))


# IQ1: ternary points, moved by an eighth up or down: IQ1_S for 32 values at once, IQ1_M for 8.
def _unpack_iq1_s(raw):
    b = raw.reshape(-1, 50)
    word = words(b[:, 34:], "<u2").astype(np.int64)
    top = (word[:, :, None] >> np.arange(0, 12, 3) & 7).reshape(-1, 32)
    move = np.where(word >> 15, -0.125, 0.125)
    values = grids.IQ1[b[:, 2:34] | (top << 8)].reshape(-1, 8, 32) - 1 + move[:, :, None]
    return _scaled(b[:, :2], word >> 12 & 7, 32, values)


def _unpack_iq1_m(raw):
    b = raw.reshape(-1, 56)
    high, word = _from_pairs(b[:, 32:48]).astype(np.int64), words(b[:, 48:], "<u2").astype(np.int64)
    bits = ((word >> 12) << np.arange(0, 16, 4)).sum(axis=1)[:, None].astype("<u2")
    scale = (word[:, :, None] >> np.arange(0, 12, 3) & 7).reshape(-1, 16)
    move = np.where(high >> 3, -0.125, 0.125)
    values = grids.IQ1[b[:, :32] | ((high & 7) << 8)] - 1 + move[:, :, None]
    return _scaled(bits.view(np.uint8), scale, 16, values)


_NAMES = ("iq1_s", "iq1_m", "iq2_xxs", "iq2_xs", "iq2_s", "iq3_xxs", "iq3_s")
UNPACK = {name: globals()["_unpack_" + name] for name in _NAMES}


def _with_factor(name, raw, factor):
    """Writes the half that scales a block into every block."""
    bits = np.float16(factor).view(np.uint16)
    if name == "iq1_m":                                # four bits on top of each of four words
        for k in range(4):
            raw[:, 49 + 2 * k] = raw[:, 49 + 2 * k] & 15 | (int(bits) >> 4 * k & 15) << 4
    else:
        raw[:, 0], raw[:, 1] = bits & 255, bits >> 8
    return raw


def random_blocks(name, count, size, std, rng):
    """Blocks of `size` bytes whose values have about this standard deviation."""
    raw = rng.integers(0, 256, (count, size), dtype=np.uint8)
    sample = UNPACK[name](_with_factor(name, raw[:256].copy(), 1).reshape(-1))
    return _with_factor(name, raw, std / sample.std()).reshape(-1)
