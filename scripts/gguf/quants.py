"""Tensor types of GGUF files: float arrays to bytes and back.

Written from the description of the block layouts (ggml's documentation), for files that tests,
benchmarks and the training scripts make. Quantising favours simplicity over the last bit of
quality; dequantising is exact and shares nothing with the C engine, so that the two can be
compared. Everything works on whole arrays; rows must be a multiple of the type's block.
"""
import numpy as np

import low_bits
import grid_types
from halves import half, half_bytes, inverse, stored

# name: (number in the file, values per block, bytes per block)
TYPES = {
    "f32": (0, 1, 4),
    "f16": (1, 1, 2),
    "q4_0": (2, 32, 18),
    "q8_0": (8, 32, 34),
    "q4_k": (12, 256, 144),
    "q5_k": (13, 256, 176),
    "q6_k": (14, 256, 210),
    "bf16": (30, 1, 2),
    "q4_1": (3, 32, 20),
    "q5_0": (6, 32, 22),
    "q5_1": (7, 32, 24),
    "q2_k": (10, 256, 84),
    "q3_k": (11, 256, 110),
    "iq2_xxs": (16, 256, 66),
    "iq2_xs": (17, 256, 74),
    "iq3_xxs": (18, 256, 98),
    "iq1_s": (19, 256, 50),
    "iq4_nl": (20, 32, 18),
    "iq3_s": (21, 256, 110),
    "iq2_s": (22, 256, 82),
    "iq4_xs": (23, 256, 136),
    "iq1_m": (29, 256, 56),
    "tq1_0": (34, 256, 54),
    "tq2_0": (35, 256, 66),
    "mxfp4": (39, 32, 17),
    "nvfp4": (40, 64, 36),
}
BY_NUMBER = {number: name for name, (number, _, _) in TYPES.items()}


def nbytes(name, count):
    """Bytes that `count` values of a type take; count is a multiple of its block."""
    _, block, size = TYPES[name]
    if count % block:
        raise ValueError("%d values are not a multiple of %s's block of %d" % (count, name, block))
    return count // block * size


def _pack_f32(x):
    return x.view(np.uint8)


def _unpack_f32(raw):
    return np.ascontiguousarray(raw).view(np.float32)


def _pack_f16(x):
    return x.astype(np.float16).view(np.uint8)


def _unpack_f16(raw):
    return half(raw)


def _pack_bf16(x):
    u = x.view(np.uint32)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16).view(np.uint8)


def _unpack_bf16(raw):
    u = np.ascontiguousarray(raw).view(np.uint16).astype(np.uint32)
    return (u << 16).view(np.float32)


# Q8_0: half scale, 32 signed bytes.
def _pack_q8_0(x):
    b = x.reshape(-1, 32)
    d = np.abs(b).max(axis=1) / 127.0
    q = np.rint(b * inverse(d)[:, None]).astype(np.int8)
    return np.concatenate([half_bytes(d), q.view(np.uint8)], axis=1)


def _unpack_q8_0(raw):
    b = raw.reshape(-1, 34)
    return half(b[:, :2]) * np.ascontiguousarray(b[:, 2:]).view(np.int8)


# Q4_0: half scale, 16 bytes; the low nibbles are the first 16 values, offset 8.
def _pack_q4_0(x):
    b = x.reshape(-1, 32)
    extreme = b[np.arange(b.shape[0]), np.abs(b).argmax(axis=1)]
    d = extreme / -8.0
    q = np.clip(np.floor(b * inverse(d)[:, None] + 8.5), 0, 15).astype(np.uint8)
    return np.concatenate([half_bytes(d), q[:, :16] | (q[:, 16:] << 4)], axis=1)


def _unpack_q4_0(raw):
    b = raw.reshape(-1, 18)
    q = np.concatenate([b[:, 2:] & 15, b[:, 2:] >> 4], axis=1).astype(np.int8) - 8
    return half(b[:, :2]) * q


# Q4_K and Q5_K: 8 groups of 32 with a 6-bit scale and a 6-bit minimum each, both in units of a
# half. The 16 six-bit numbers share 12 bytes: scales 0-3 and minima 0-3 in the low six bits of
# bytes 0-3 and 4-7, the others in the nibbles of bytes 8-11 with their top bits in bytes 0-7.
def _pack_six(scale, low):
    s, m = scale.astype(np.uint8), low.astype(np.uint8)
    head_s = s[:, :4] | ((s[:, 4:] >> 4) << 6)
    head_m = m[:, :4] | ((m[:, 4:] >> 4) << 6)
    tail = (s[:, 4:] & 15) | ((m[:, 4:] & 15) << 4)
    return np.concatenate([head_s, head_m, tail], axis=1)


def _unpack_six(raw):
    a, b, c = raw[:, :4], raw[:, 4:8], raw[:, 8:12]
    scale = np.concatenate([a & 63, (c & 15) | ((a >> 6) << 4)], axis=1)
    low = np.concatenate([b & 63, (c >> 4) | ((b >> 6) << 4)], axis=1)
    return scale.astype(np.float32), low.astype(np.float32)


def _groups_of_32(x, top):
    """Scales, minima and quants (0..top) of groups of 32: x ~ d * scale * q - dmin * low."""
    g = x.reshape(-1, 8, 32)
    low = np.minimum(g.min(axis=2), 0)
    step = (g.max(axis=2) - low) / top
    d, dmin = stored(step.max(axis=1) / 63), stored(-low.min(axis=1) / 63)
    ls = np.clip(np.rint(step * inverse(d)[:, None]), 0, 63)
    lm = np.clip(np.rint(-low * inverse(dmin)[:, None]), 0, 63)
    unit = (d[:, None] * ls)[:, :, None]
    q = np.rint((g + (dmin[:, None] * lm)[:, :, None]) * inverse(unit))
    return d, dmin, ls, lm, np.clip(q, 0, top).astype(np.uint8)


def _pack_q4_k(x):
    d, dmin, ls, lm, q = _groups_of_32(x, 15)
    nibbles = (q[:, 0::2] | (q[:, 1::2] << 4)).reshape(-1, 128)
    return np.concatenate([half_bytes(d), half_bytes(dmin), _pack_six(ls, lm), nibbles], axis=1)


def _nibbles_of_groups(raw):
    pairs = raw.reshape(-1, 4, 1, 32)
    return np.concatenate([pairs & 15, pairs >> 4], axis=2).reshape(-1, 8, 32)


def _scaled_groups(d, dmin, six, q):
    scale, low = _unpack_six(six)
    return ((d * scale)[:, :, None] * q - (dmin * low)[:, :, None]).reshape(-1, 256)


def _unpack_q4_k(raw):
    b = raw.reshape(-1, 144)
    return _scaled_groups(half(b[:, 0:2]), half(b[:, 2:4]), b[:, 4:16],
                          _nibbles_of_groups(np.ascontiguousarray(b[:, 16:])))


def _pack_q5_k(x):
    d, dmin, ls, lm, q = _groups_of_32(x, 31)
    high = np.zeros((q.shape[0], 32), np.uint8)
    for group in range(8):                 # bit `group` of byte l is the fifth bit of value l
        high |= (q[:, group] >> 4) << group
    low = q & 15
    nibbles = (low[:, 0::2] | (low[:, 1::2] << 4)).reshape(-1, 128)
    return np.concatenate([half_bytes(d), half_bytes(dmin), _pack_six(ls, lm), high, nibbles], axis=1)


def _unpack_q5_k(raw):
    b = raw.reshape(-1, 176)
    q = _nibbles_of_groups(np.ascontiguousarray(b[:, 48:])).copy()
    for group in range(8):
        q[:, group] |= ((b[:, 16:48] >> group) & 1) << 4
    return _scaled_groups(half(b[:, 0:2]), half(b[:, 2:4]), b[:, 4:16], q)


# Q6_K: 16 groups of 16 with a signed byte as scale, in units of a half. Each half of 128 values is
# four runs of 32; the low nibbles of runs 0|2 and 1|3 share 32 bytes, the two top bits of all four
# runs share one byte.
def _pack_q6_k(x):
    g = x.reshape(-1, 16, 16)
    rows, cols = np.ogrid[:g.shape[0], :16]
    extreme = g[rows, cols, np.abs(g).argmax(axis=2)]
    step = extreme / -32.0
    widest = step[np.arange(g.shape[0]), np.abs(step).argmax(axis=1)]
    d = stored(widest / -128.0)
    ls = np.clip(np.rint(step * inverse(d)[:, None]), -128, 127)
    unit = (d[:, None] * ls)[:, :, None]
    q = (np.clip(np.rint(g * inverse(unit)), -32, 31) + 32).astype(np.uint8)
    run = q.reshape(-1, 2, 4, 32)
    low = np.concatenate([(run[:, :, 0] & 15) | ((run[:, :, 2] & 15) << 4),
                          (run[:, :, 1] & 15) | ((run[:, :, 3] & 15) << 4)], axis=2).reshape(-1, 128)
    top = run >> 4
    high = (top[:, :, 0] | (top[:, :, 1] << 2) | (top[:, :, 2] << 4) | (top[:, :, 3] << 6)).reshape(-1, 64)
    return np.concatenate([low, high, ls.astype(np.int8).view(np.uint8), half_bytes(d)], axis=1)


def _unpack_q6_k(raw):
    b = raw.reshape(-1, 210)
    low, high = b[:, :128].reshape(-1, 2, 2, 32), b[:, 128:192].reshape(-1, 2, 32)
    q = np.stack([(low[:, :, 0] & 15) | ((high & 3) << 4),
                  (low[:, :, 1] & 15) | (((high >> 2) & 3) << 4),
                  (low[:, :, 0] >> 4) | (((high >> 4) & 3) << 4),
                  (low[:, :, 1] >> 4) | ((high >> 6) << 4)], axis=2).astype(np.int8) - 32
    scale = np.ascontiguousarray(b[:, 192:208]).view(np.int8) * half(b[:, 208:210])
    return (scale[:, :, None] * q.reshape(-1, 16, 16)).reshape(-1, 256)


_PACK = {"f32": _pack_f32, "f16": _pack_f16, "bf16": _pack_bf16, "q8_0": _pack_q8_0,
         "q4_0": _pack_q4_0, "q4_k": _pack_q4_k, "q5_k": _pack_q5_k, "q6_k": _pack_q6_k,
         **low_bits.PACK}
_UNPACK = {"f32": _unpack_f32, "f16": _unpack_f16, "bf16": _unpack_bf16, "q8_0": _unpack_q8_0,
           "q4_0": _unpack_q4_0, "q4_k": _unpack_q4_k, "q5_k": _unpack_q5_k, "q6_k": _unpack_q6_k,
           **low_bits.UNPACK, **grid_types.UNPACK}


def pack(x, name):
    """The bytes of an array as a type's blocks, as a flat uint8 array."""
    x = np.ascontiguousarray(x, np.float32).reshape(-1)
    nbytes(name, x.size)
    return _PACK[name](x).reshape(-1)


def unpack(raw, name, shape):
    """Blocks back to float32 values of a shape (outermost first)."""
    raw = np.frombuffer(raw, np.uint8)
    return np.ascontiguousarray(_UNPACK[name](raw), np.float32).reshape(shape)


def random(name, count, std, rng):
    """The bytes of `count` normally distributed values; of a type of grids, of random blocks."""
    _, block, size = TYPES[name]
    if name in grid_types.UNPACK:
        return grid_types.random_blocks(name, count // block, size, std, rng)
    return pack(rng.standard_normal(count, dtype=np.float32) * np.float32(std), name)
