"""Read and write GGUF (version 3): what this model needs of it, nothing more."""
import struct

import numpy as np

MAGIC, VERSION, ALIGN = 0x46554747, 3, 32
U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
SCALAR = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "?",
          U64: "Q", I64: "q", F64: "d"}
T_F32, T_F16, T_Q8_0 = 0, 1, 8


def q8_0(x):
    """float32 [rows, cols] -> raw Q8_0 blocks: a half-precision scale and 32 signed bytes."""
    blocks = np.ascontiguousarray(x, np.float32).reshape(-1, 32)
    scale = np.abs(blocks).max(1) / 127
    inv = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    out = np.zeros(len(blocks), np.dtype([("d", "<f2"), ("q", "i1", 32)]))
    out["d"] = scale
    v = blocks * inv[:, None]
    out["q"] = np.clip(np.trunc(v + np.copysign(0.5, v)), -127, 127)
    return out.tobytes()


def un_q8_0(raw, shape):
    b = np.frombuffer(raw, np.dtype([("d", "<f2"), ("q", "i1", 32)]))
    return (b["q"].astype(np.float32) * b["d"].astype(np.float32)[:, None]).reshape(shape)


def _string(s):
    raw = s.encode()
    return struct.pack("<Q", len(raw)) + raw


def _value(kind, v):
    if kind == STRING:
        return _string(v)
    if kind == ARRAY:
        item, values = v
        return struct.pack("<IQ", item, len(values)) + b"".join(_value(item, x) for x in values)
    return struct.pack("<" + SCALAR[kind], v)


def write(path, meta, tensors):
    """meta: [(key, kind, value)]; tensors: [(name, float32 array, T_F32 or T_Q8_0)]."""
    with open(path, "wb") as f:
        f.write(struct.pack("<IIQQ", MAGIC, VERSION, len(tensors), len(meta)))
        for key, kind, v in meta:
            f.write(_string(key) + struct.pack("<I", kind) + _value(kind, v))
        blobs, at = [], 0
        for name, a, kind in tensors:
            raw = q8_0(a) if kind == T_Q8_0 else np.ascontiguousarray(a, "<f4").tobytes()
            dims = a.shape[::-1]  # GGUF counts the fastest dimension first
            f.write(_string(name) + struct.pack("<I", len(dims)))
            f.write(struct.pack(f"<{len(dims)}Q", *dims) + struct.pack("<IQ", kind, at))
            blobs.append(raw)
            at += -(-len(raw) // ALIGN) * ALIGN
        f.write(b"\0" * (-f.tell() % ALIGN))
        for raw in blobs:
            f.write(raw + b"\0" * (-len(raw) % ALIGN))


def read(path):
    """Returns ({key: value}, {name: float32 array})."""
    with open(path, "rb") as f:
        data = f.read()
    at = 0

    def take(fmt):
        nonlocal at
        v = struct.unpack_from("<" + fmt, data, at)
        at += struct.calcsize("<" + fmt)
        return v[0] if len(v) == 1 else v

    def string():
        nonlocal at
        n = take("Q")
        at += n
        return data[at - n:at].decode()

    def value(kind):
        if kind == STRING:
            return string()
        if kind == ARRAY:
            item, n = take("I"), take("Q")
            return [value(item) for _ in range(n)]
        return take(SCALAR[kind])

    if take("I") != MAGIC:
        raise ValueError(f"{path}: not a GGUF file")
    if take("I") != VERSION:
        raise ValueError(f"{path}: not GGUF version {VERSION}")
    n_tensors, n_meta = take("Q"), take("Q")
    meta, infos, tensors = {}, [], {}
    for _ in range(n_meta):
        key = string()
        meta[key] = value(take("I"))
    for _ in range(n_tensors):
        name, nd = string(), take("I")
        dims = [take("Q") for _ in range(nd)]
        infos.append((name, dims[::-1], take("I"), take("Q")))
    base = -(-at // ALIGN) * ALIGN
    for name, shape, kind, off in infos:
        n = int(np.prod(shape))
        if kind == T_F32:
            tensors[name] = np.frombuffer(data, "<f4", n, base + off).reshape(shape)
        elif kind == T_Q8_0:
            tensors[name] = un_q8_0(data[base + off:base + off + n // 32 * 34], shape)
        else:
            raise ValueError(f"{path}: {name}: type {kind} is not read here")
    return meta, tensors
