"""The GGUF container, version 3: a writer and a reader in Python.

The writer serves tests, benchmarks and training; the reader serves the independent reference
network. Shapes are outermost first here and reversed in the file. Source: the GGUF specification.
"""
import mmap
import struct

import numpy as np

import quants

ALIGNMENT = 32
U8, I8, U16, I16, U32, I32, F32, BOOL, STR, ARR, U64, I64, F64 = range(13)
_SCALAR = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i",
           F32: "f", BOOL: "?", U64: "Q", I64: "q", F64: "d"}


def _text(s):
    s = s.encode() if isinstance(s, str) else s
    return struct.pack("<Q", len(s)) + s


def _value(kind, v):
    if kind == STR:
        return _text(v)
    if kind == ARR:
        item, items = v
        head = struct.pack("<IQ", item, len(items))
        if item in _SCALAR:
            return head + struct.pack("<%d%s" % (len(items), _SCALAR[item]), *items)
        return head + b"".join(_value(item, x) for x in items)
    return struct.pack("<" + _SCALAR[kind], v)


class Writer:
    """Collects metadata and tensors, then writes the file in one pass.

    meta: {key: (kind, value)}, an array's value being (item kind, list). A tensor's data is an
    array of floats, or a function that yields byte strings when the file is written (for tensors
    that need not be in memory together)."""

    def __init__(self, meta):
        self.meta = dict(meta)
        self.tensors = []                  # name, shape, type, data

    def add(self, name, shape, kind, data):
        quants.nbytes(kind, shape[-1])     # rows are whole blocks, or this raises
        self.tensors.append((name, tuple(int(n) for n in shape), kind, data))

    def write(self, path):
        with open(path, "wb") as f:
            f.write(b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(self.meta)))
            for key, (kind, v) in self.meta.items():
                f.write(_text(key) + struct.pack("<I", kind) + _value(kind, v))
            offset = 0
            for name, shape, kind, _ in self.tensors:
                f.write(_text(name) + struct.pack("<I", len(shape)))
                f.write(struct.pack("<%dQ" % len(shape), *shape[::-1]))
                f.write(struct.pack("<IQ", quants.TYPES[kind][0], offset))
                offset += -(-quants.nbytes(kind, int(np.prod(shape))) // ALIGNMENT) * ALIGNMENT
            f.write(b"\0" * (-f.tell() % ALIGNMENT))
            for name, shape, kind, data in self.tensors:
                start = f.tell()
                for piece in (data() if callable(data) else [quants.pack(data, kind)]):
                    f.write(piece)
                want = quants.nbytes(kind, int(np.prod(shape)))
                if f.tell() - start != want:
                    raise ValueError("%s: %d bytes written, %d expected" % (name, f.tell() - start, want))
                f.write(b"\0" * (-f.tell() % ALIGNMENT))

    def write_parts(self, stem, count):
        """The same as files STEM-00001-of-0000N.gguf: metadata in the first, tensors spread over all.
        Gives the first one's path."""
        for i in range(count):
            split = {"split.no": (U16, i), "split.count": (U16, count),
                     "split.tensors.count": (I32, len(self.tensors))}
            part = Writer({**self.meta, **split} if i == 0 else split)
            part.tensors = self.tensors[i::count]
            part.write("%s-%05d-of-%05d.gguf" % (stem, i + 1, count))
        return "%s-%05d-of-%05d.gguf" % (stem, 1, count)


class Reader:
    """A file's metadata as {key: value} in .meta and its tensors by name. For files we trust."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.raw = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
        if self.raw[:4] != b"GGUF":
            raise ValueError(path + ": not a GGUF file")
        self.at = 4
        self._take("I")
        n_tensors, n_meta = self._take("Q"), self._take("Q")
        self.meta, self.kinds, self.table = {}, {}, {}
        for _ in range(n_meta):
            key = self._string().decode()
            self.kinds[key] = self._take("I")
            self.meta[key] = self._any(self.kinds[key])
        for _ in range(n_tensors):
            name = self._string().decode()
            shape = [self._take("Q") for _ in range(self._take("I"))][::-1]
            self.table[name] = (tuple(shape), quants.BY_NUMBER[self._take("I")], self._take("Q"))
        align = self.meta.get("general.alignment", ALIGNMENT)
        self.base = -(-self.at // align) * align

    def _take(self, fmt):
        v = struct.unpack_from("<" + fmt, self.raw, self.at)[0]
        self.at += struct.calcsize("<" + fmt)
        return v

    def _string(self):
        n = self._take("Q")
        self.at += n
        return self.raw[self.at - n:self.at]

    def _any(self, kind):
        if kind == STR:
            return self._string()
        if kind == ARR:
            item, n = self._take("I"), self._take("Q")
            return [self._any(item) for _ in range(n)]
        return self._take(_SCALAR[kind])

    def has(self, name):
        return name in self.table

    def tensor(self, name):
        shape, kind, offset = self.table[name]
        start = self.base + offset
        size = quants.nbytes(kind, int(np.prod(shape)))
        values = quants.unpack(self.raw[start:start + size], kind, shape)
        factor = name[:-len("weight")] + "scale"
        if kind == "nvfp4" and factor in self.table:   # one for all, or one for each expert
            values = values * self.tensor(factor).reshape((-1,) + (1,) * (len(shape) - 1))
        return values
