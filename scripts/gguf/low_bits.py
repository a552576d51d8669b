"""Tensor types of one scale, or a scale and a minimum, per 16 or 32 values, beyond those in quants.py:
Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, IQ4_NL, IQ4_XS, TQ1_0, TQ2_0, MXFP4, NVFP4. See quants.py.
"""
import numpy as np

from halves import extreme, from_nibbles, half, half_bytes, inverse, nearest, nibbles, stored, words

IQ4 = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.float32)
E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def _ranged(x, top):
    """Halves d and m, and codes 0..top, of blocks of 32: x ~ d * q + m."""
    b = x.reshape(-1, 32)
    m, step = b.min(axis=1), (b.max(axis=1) - b.min(axis=1)) / top
    d, low = stored(step), stored(m)
    q = np.clip(np.rint((b - low[:, None]) * inverse(d)[:, None]), 0, top).astype(np.uint8)
    return half_bytes(d), half_bytes(low), q


def _pack_q4_1(x):
    d, m, q = _ranged(x, 15)
    return np.concatenate([d, m, nibbles(q)], axis=1)


def _unpack_q4_1(raw):
    b = raw.reshape(-1, 20)
    return half(b[:, :2]) * from_nibbles(b[:, 4:]) + half(b[:, 2:4])


def _fifth_bits(q):
    return np.packbits(q >> 4, axis=1, bitorder="little")


def _five_bits(high, low):
    return from_nibbles(low) | (np.unpackbits(high, axis=1, bitorder="little") << 4)


def _pack_q5_0(x):
    b = x.reshape(-1, 32)
    d = stored(extreme(b) / -16)
    q = np.clip(np.rint(b * inverse(d)[:, None]) + 16, 0, 31).astype(np.uint8)
    return np.concatenate([half_bytes(d), _fifth_bits(q), nibbles(q & 15)], axis=1)


def _unpack_q5_0(raw):
    b = raw.reshape(-1, 22)
    return half(b[:, :2]) * (_five_bits(b[:, 2:6], b[:, 6:]).astype(np.float32) - 16)


def _pack_q5_1(x):
    d, m, q = _ranged(x, 31)
    return np.concatenate([d, m, _fifth_bits(q), nibbles(q & 15)], axis=1)


def _unpack_q5_1(raw):
    b = raw.reshape(-1, 24)
    return half(b[:, :2]) * _five_bits(b[:, 4:8], b[:, 8:]) + half(b[:, 2:4])


# Two bits a value: each half of 128 values shares 32 bytes, its runs of 32 from the low bits up.
_SHIFTS = np.arange(0, 8, 2, dtype=np.uint8)[:, None]


def _two_bits(q):
    return np.bitwise_or.reduce(q.reshape(-1, 2, 4, 32) << _SHIFTS, axis=2).reshape(-1, 64)


def _from_two_bits(raw):
    return (raw.reshape(-1, 2, 1, 32) >> _SHIFTS & 3).reshape(-1, 256)


# Q2_K: 16 bytes of scale (low nibble) and minimum (high), codes, halves d and dmin.
def _pack_q2_k(x):
    g = x.reshape(-1, 16, 16)
    low = np.minimum(g.min(axis=2), 0)
    step = (g.max(axis=2) - low) / 3
    d, dmin = stored(step.max(axis=1) / 15), stored(-low.min(axis=1) / 15)
    ls = np.clip(np.rint(step * inverse(d)[:, None]), 0, 15).astype(np.uint8)
    lm = np.clip(np.rint(-low * inverse(dmin)[:, None]), 0, 15).astype(np.uint8)
    unit = (d[:, None] * ls)[:, :, None]
    q = np.clip(np.rint((g + (dmin[:, None] * lm)[:, :, None]) * inverse(unit)), 0, 3).astype(np.uint8)
    return np.concatenate([ls | (lm << 4), _two_bits(q), half_bytes(d), half_bytes(dmin)], axis=1)


def _unpack_q2_k(raw):
    b = raw.reshape(-1, 84)
    q = _from_two_bits(np.ascontiguousarray(b[:, 16:80])).reshape(-1, 16, 16)
    scale, low = half(b[:, 80:82]) * (b[:, :16] & 15), half(b[:, 82:84]) * (b[:, :16] >> 4)
    return scale[:, :, None] * q - low[:, :, None]


# Q3_K: 32 bytes whose bit g is the third bit of run g of 32, codes' low bits, 16 scales of six bits
# in 12 bytes (low nibbles of the first 8 are scales 0-7, high nibbles 8-15; the last four hold the
# top bits of every fourth scale), half d.
def _pack_q3_k(x):
    g = x.reshape(-1, 16, 16)
    far = extreme(g) / -4
    d = stored(np.abs(far).max(axis=1) / 31)
    ls = (np.clip(np.rint(far * inverse(d)[:, None]), -32, 31) + 32).astype(np.uint8)
    unit = (d[:, None] * (ls.astype(np.float32) - 32))[:, :, None]
    q = (np.clip(np.rint(g * inverse(unit)), -4, 3) + 4).astype(np.uint8)
    mask = np.packbits(q.reshape(-1, 8, 32) >> 2, axis=1, bitorder="little").reshape(-1, 32)
    top = np.bitwise_or.reduce((ls >> 4).reshape(-1, 4, 4) << _SHIFTS, axis=1)
    return np.concatenate([mask, _two_bits(q & 3), nibbles(ls & 15), top, half_bytes(d)], axis=1)


def _unpack_q3_k(raw):
    b = raw.reshape(-1, 110)
    third = np.unpackbits(b[:, None, :32], axis=1, bitorder="little").reshape(-1, 256)
    q = _from_two_bits(np.ascontiguousarray(b[:, 32:96])) | (third << 2)
    top = (b[:, None, 104:108] >> _SHIFTS & 3).reshape(-1, 16)
    scale = half(b[:, 108:110]) * ((from_nibbles(b[:, 96:104]) | (top << 4)).astype(np.float32) - 32)
    return scale[:, :, None] * (q.reshape(-1, 16, 16).astype(np.float32) - 4)


def _pack_iq4_nl(x):
    b = x.reshape(-1, 32)
    d = stored(extreme(b) / -127)
    return np.concatenate([half_bytes(d), nibbles(nearest(b * inverse(d)[:, None], IQ4))], axis=1)


def _unpack_iq4_nl(raw):
    b = raw.reshape(-1, 18)
    return half(b[:, :2]) * IQ4[from_nibbles(b[:, 2:])]


# IQ4_XS: half d, two top bits of 8 scales in a word, low nibbles in four bytes, 8 times 16 bytes.
def _pack_iq4_xs(x):
    g = x.reshape(-1, 8, 32)
    far = extreme(g) / -127
    d = stored(np.abs(far).max(axis=1) / 31)
    ls = (np.clip(np.rint(far * inverse(d)[:, None]), -32, 31) + 32).astype(np.uint8)
    unit = (d[:, None] * (ls.astype(np.float32) - 32))[:, :, None]
    codes = nibbles(nearest(g * inverse(unit), IQ4)).reshape(-1, 128)
    top = np.bitwise_or.reduce((ls >> 4).reshape(-1, 2, 4) << _SHIFTS[:, 0], axis=2)
    low = (ls[:, 0::2] & 15) | ((ls[:, 1::2] & 15) << 4)
    return np.concatenate([half_bytes(d), top, low, codes], axis=1)


def _unpack_iq4_xs(raw):
    b = raw.reshape(-1, 136)
    top = words(b[:, 2:4], "<u2").astype(np.int32) >> np.arange(0, 16, 2) & 3
    low = np.stack([b[:, 4:8] & 15, b[:, 4:8] >> 4], axis=2).reshape(-1, 8)
    scale = half(b[:, :2]) * ((low | (top << 4)).astype(np.float32) - 32)
    return scale[:, :, None] * IQ4[from_nibbles(b[:, 8:].reshape(-1, 8, 16))]


def _ternary(x):
    b = x.reshape(-1, 256)
    d = stored(np.abs(b).max(axis=1))
    return half_bytes(d), (np.clip(np.rint(b * inverse(d)[:, None]), -1, 1) + 1).astype(np.uint8)


# TQ1_0: five values a byte in base three, most significant first, as a fraction of 256 rounded up.
# Runs of 32 values five deep, then of 16 five deep, then of 4 four deep.
_RUNS = ((0, 32, 5), (160, 16, 5), (240, 4, 4))


def _pack_tq1_0(x):
    d, q = _ternary(x)
    parts = []
    for first, width, depth in _RUNS:
        digits = q[:, first:first + width * depth].reshape(-1, depth, width).astype(np.int32)
        number = sum(digits[:, n] * 3 ** (4 - n) for n in range(depth))
        parts.append(-(-number * 256 // 243))
    return np.concatenate([np.concatenate(parts, axis=1).astype(np.uint8), d], axis=1)


def _unpack_tq1_0(raw):
    b = raw.reshape(-1, 54)
    at, parts = 0, []
    for _, width, depth in _RUNS:
        fraction = b[:, at:at + width].astype(np.int32)
        for _ in range(depth):                     # the next digit is what passes the point
            fraction = fraction * 3
            parts.append(fraction >> 8)
            fraction = fraction & 255
        at += width
    return half(b[:, 52:]) * (np.concatenate(parts, axis=1).astype(np.float32) - 1)


def _pack_tq2_0(x):
    d, q = _ternary(x)
    return np.concatenate([_two_bits(q), d], axis=1)


def _unpack_tq2_0(raw):
    b = raw.reshape(-1, 66)
    return half(b[:, 64:]) * (_from_two_bits(np.ascontiguousarray(b[:, :64])).astype(np.float32) - 1)


# MXFP4: a power of two per 32 values, NVFP4: an unsigned E4M3 number per 16 of 64; E2M1 numbers.
def _pack_mxfp4(x):
    b = x.reshape(-1, 32)
    top = np.abs(b).max(axis=1)
    power = np.ceil(np.log2(np.where(top > 0, top, 2.0 ** -120) / 7))
    e = np.clip(power + 127, 0, 254).astype(np.uint8)
    q = nearest(b * np.exp2(127 - e.astype(np.float32))[:, None], E2M1)
    return np.concatenate([e[:, None], nibbles(q)], axis=1)


def _unpack_mxfp4(raw):
    b = raw.reshape(-1, 17)
    return np.exp2(b[:, :1].astype(np.float64) - 127) * E2M1[from_nibbles(b[:, 1:])]


def _e4m3_numbers():
    e, m = np.divmod(np.arange(256) % 128, 8)      # the sign does not count
    numbers = np.where(e > 0, (1 + m / 8) * 2.0 ** (e - 7), m * 2.0 ** -9)
    numbers[127] = 0                               # not a number
    return numbers.astype(np.float32)


E4M3 = _e4m3_numbers()


def _pack_nvfp4(x):
    g = x.reshape(-1, 4, 16)
    s = nearest(np.abs(g).max(axis=2) / 6, E4M3[:127])
    q = nibbles(nearest(g * inverse(E4M3[s])[:, :, None], E2M1))
    return np.concatenate([s, q.reshape(-1, 32)], axis=1)


def _unpack_nvfp4(raw):
    b = raw.reshape(-1, 36)
    return E4M3[b[:, :4]][:, :, None] * E2M1[from_nibbles(b[:, 4:].reshape(-1, 4, 8))]


_NAMES = ("q4_1", "q5_0", "q5_1", "q2_k", "q3_k", "iq4_nl", "iq4_xs", "tq1_0", "tq2_0", "mxfp4", "nvfp4")
PACK = {name: globals()["_pack_" + name] for name in _NAMES}
UNPACK = {name: globals()["_unpack_" + name] for name in _NAMES}
