#!/usr/bin/env python3
"""Hostile archives, more than 200 of them: nothing is written outside of the folder, nothing is left behind, and
each is refused with a reason. Honest ones in every format come out as they went in.

Archives are made with libarchive through ctypes, which writes what it is told, with Python's own writers, and by
damaging honest ones.

Usage: test_unpack.py UNPACK_PROBE QUINCE_UNPACK"""
import ctypes
import ctypes.util
import fcntl
import io
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib

REG, DIR, LNK, CHR, BLK, FIFO, SOCK = 0o100000, 0o040000, 0o120000, 0o020000, 0o060000, 0o010000, 0o140000
FORMATS = ("tar", "tar.gz", "tar.zst", "zip", "7z")

lib = ctypes.CDLL(ctypes.util.find_library("archive") or "libarchive.so.13")
for name in ("archive_write_new", "archive_entry_new"):
    getattr(lib, name).restype = ctypes.c_void_p
lib.archive_write_data.restype = ctypes.c_ssize_t
lib.archive_entry_set_size.argtypes = [ctypes.c_void_p, ctypes.c_int64]


class Writer:
    """Writes an archive entry by entry."""

    def __init__(self, path, form):
        self.a = ctypes.c_void_p(lib.archive_write_new())
        if form.startswith("tar"):
            lib.archive_write_set_format_pax_restricted(self.a)
            {"tar": lib.archive_write_add_filter_none, "tar.gz": lib.archive_write_add_filter_gzip,
             "tar.zst": lib.archive_write_add_filter_zstd}[form](self.a)
        elif form == "zip":
            lib.archive_write_set_format_zip(self.a)
        else:
            lib.archive_write_set_format_7zip(self.a)
        assert lib.archive_write_open_filename(self.a, os.fsencode(path)) == 0

    def add(self, name, data=b"x", kind=REG, link=None, hard=None, mode=0o644):
        e = ctypes.c_void_p(lib.archive_entry_new())
        lib.archive_entry_set_pathname(e, name if isinstance(name, bytes) else name.encode())
        lib.archive_entry_set_filetype(e, kind)
        lib.archive_entry_set_perm(e, mode)
        lib.archive_entry_set_size(e, len(data) if kind == REG and hard is None else 0)
        if link is not None:
            lib.archive_entry_set_symlink(e, link.encode())
        if hard is not None:
            lib.archive_entry_set_hardlink(e, hard.encode())
        ok = lib.archive_write_header(self.a, e) >= -20  # ARCHIVE_WARN: written all the same
        if ok and kind == REG and hard is None and data:
            lib.archive_write_data(self.a, data, ctypes.c_size_t(len(data)))
        lib.archive_entry_free(e)
        return ok

    def close(self):
        lib.archive_write_close(self.a)
        lib.archive_write_free(self.a)


def write(path, form, entries):
    """False when the format cannot say such a thing."""
    w = Writer(path, form)
    ok = all([w.add(**e) for e in entries])
    w.close()
    return ok


GOOD = [dict(name="model/", kind=DIR, data=b""), dict(name="model/weights.gguf", data=b"GGUF" + bytes(5000)),
        dict(name="readme.txt", data=b"hello")]

# Names that no entry may have. Each is tried in every format that can say it.
NAMES = ["../escape", "../../escape", "a/../../escape", "a/../b", "..", "/etc/escape", "/tmp/quince-escape", "//escape",
         "a//b", "a/./b", "x/..", "a\\..\\escape", "..\\escape", "C:\\escape", "a\nb", "a\x01b", "a\x7fb", "\x1b[2Jx",
         "n" * 256, "n" * 10000, "/".join(["d"] * 40), "/".join(["d" * 60] * 30), b"\xff\xfe", b"caf\xe9.txt",
         b"\xc0\xae\xc0\xae/escape", b"\xed\xa0\x80", "a/" + "m" * 300]


class Case:
    def __init__(self, what, path):
        self.what, self.path = what, path


def cases(folder):
    """Makes the archives; yields what is wrong with each and where it is."""
    n = 0

    def place(form):
        nonlocal n
        n += 1
        return folder / f"{n:03d}.{form}"

    for form in FORMATS:
        for name in NAMES:
            path = place(form)
            if form == "7z" and isinstance(name, bytes):
                continue  # its names are UTF-16: they are valid by the time they are written
            if write(path, form, [*GOOD, dict(name=name)]):
                yield Case(f"{form}: name {str(name)[:40]!r}", path)
        for what, entry in {
            "symlink out": dict(name="link", kind=LNK, link="../../../../etc/passwd", data=b""),
            "symlink absolute": dict(name="link", kind=LNK, link="/etc", data=b""),
            "symlink inside": dict(name="link", kind=LNK, link="readme.txt", data=b""),
        }.items():
            path = place(form)
            if write(path, form, [*GOOD, entry]):
                yield Case(f"{form}: {what}", path)
        path = place(form)  # the classic: a link, then a file through it
        if write(path, form, [dict(name="d", kind=LNK, link="..", data=b""), dict(name="d/escape")]):
            yield Case(f"{form}: a file through a link", path)
        path = place(form)
        if write(path, form, [*GOOD, dict(name="readme.txt", data=b"again")]):
            yield Case(f"{form}: twice", path)
        path = place(form)
        if write(path, form, [*GOOD, dict(name="./readme.txt", data=b"again")]):
            yield Case(f"{form}: twice by another spelling", path)
        path = place(form)
        if write(path, form, [*GOOD, dict(name="readme.txt/inside", data=b"x")]):
            yield Case(f"{form}: a file as a folder", path)
        path = place(form)
        if write(path, form, [*GOOD, dict(name="model", data=b"x")]):
            yield Case(f"{form}: a folder as a file", path)
        path = place(form)
        if form == "zip" and write(path, form, [dict(name=f"f{i}", data=b"") for i in range(10001)]):
            yield Case(f"{form}: too many entries", path)
        path = place(form)
        write(path, form, [])
        yield Case(f"{form}: empty", path)
        # Damage: the beginning, the middle, the end cut off; bytes turned over.
        path = place(form)
        rnd = random.Random(form)
        write(path, form, [*GOOD, dict(name="noise", data=rnd.randbytes(20000))])
        whole = path.read_bytes()
        for cut in (1, 100, 600, len(whole) // 2):
            path = place(form)
            path.write_bytes(whole[:cut])
            yield Case(f"{form}: cut at {cut}", path)
    for form in ("tar", "tar.gz", "tar.zst"):
        for what, entry in {
            "hard link out": dict(name="link", hard="../../../etc/passwd", data=b""),
            "hard link absolute": dict(name="link", hard="/etc/passwd", data=b""),
            "hard link inside": dict(name="link", hard="readme.txt", data=b""),
            "character device": dict(name="null", kind=CHR, data=b""),
            "block device": dict(name="disk", kind=BLK, data=b""),
            "pipe": dict(name="pipe", kind=FIFO, data=b""),
        }.items():
            path = place(form)
            if write(path, form, [*GOOD, entry]):
                yield Case(f"{form}: {what}", path)
    # Bombs: far more than the archive can honestly hold.
    zeros = bytes(100 * 1024 * 1024)
    for form in ("tar.gz", "tar.zst", "zip", "7z"):
        path = place(form)
        write(path, form, [dict(name="zeros.gguf", data=zeros)])
        yield Case(f"{form}: a bomb", path)
        path = place(form)
        write(path, form, [dict(name=f"zeros{i}.gguf", data=zeros[:10 * 1024 * 1024]) for i in range(10)])
        yield Case(f"{form}: a bomb in pieces", path)
    path = place("tar")  # a sparse file of 8 TiB in some bytes
    t = tarfile.TarInfo("huge.gguf")
    t.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "huge.gguf",
                     "GNU.sparse.realsize": str(1 << 43)}
    data = b"1\n" + str((1 << 43) - 512).encode() + b"\n512\n"
    t.size = 1024
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as out:
        out.addfile(t, io.BytesIO(data.ljust(512, b"\0") + b"x" * 512))
    yield Case("tar: a sparse bomb", path)
    path = place("zip")  # encrypted, by its flag
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("a.gguf", b"secret" * 10)
    raw = bytearray(path.read_bytes())
    raw[6] |= 1
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(raw)
    yield Case("zip: encrypted", path)
    for what, data in {"nothing": b"", "zeros": bytes(4096), "text": b"hello world\n" * 100,
                       "a program": b"\x7fELF" + bytes(1000), "a model": b"GGUF" + bytes(1000),
                       "gzip of nothing": zlib.compress(b""), "noise": os.urandom(5000)}.items():
        path = place("tar.gz")
        path.write_bytes(data)
        yield Case(f"no archive: {what}", path)


def program_links(probe, archives, jail, complain):
    """Archives of programs may have links, of one kind only: names of files beside them."""
    libs = [dict(name="llama-b1/", kind=DIR, data=b""), dict(name="llama-b1/lib/", kind=DIR, data=b""),
            dict(name="llama-b1/libx.so", kind=LNK, link="libx.so.0", data=b""),
            dict(name="llama-b1/libx.so.0", kind=LNK, link="libx.so.0.0.1", data=b""),
            dict(name="llama-b1/libx.so.0.0.1", data=b"library"),
            dict(name="llama-b1/llama-server", data=b"program", mode=0o755)]

    def link(name, to):
        return dict(name=f"llama-b1/{name}", kind=LNK, link=to, data=b"")

    for form in FORMATS:
        path, dest = archives / f"program.{form}", jail / "in" / "program"
        if not write(path, form, libs):
            continue
        reply = ask(probe, path, dest)
        files = {n: (dest / "llama-b1" / n) for n in ("libx.so", "libx.so.0", "libx.so.0.0.1")}
        if reply["code"] != "ok" or any(f.is_symlink() or f.read_bytes() != b"library" for f in files.values()):
            complain(f"program {form}: {reply}")
        shutil.rmtree(dest, ignore_errors=True)
        before = tree(jail)
        for what, entries in {
            "out": [link("a", "../../../etc/passwd")], "absolute": [link("a", "/etc/passwd")],
            "up": [link("a", "..")], "itself": [link("a", "a")], "below": [link("a", "lib/x")],
            "nothing": [link("a", "b")], "circle": [link("a", "b"), link("b", "a")],
            "a folder": [link("a", "lib")], "the folder": [link("a", ".")],
            "twice": [link("libx.so", "llama-server")], "over a file": [link("llama-server", "libx.so.0.0.1")],
            "through a link": [link("d", "lib"), dict(name="llama-b1/d/escape", data=b"x")],
            "control characters": [link("a", "b\nc")], "too many": [link(f"l{i}", "llama-server") for i in range(1001)],
        }.items():
            if not write(path, form, [*libs, *entries]):
                continue
            reply = ask(probe, path, dest)
            if reply["code"] in ("ok", "child", "internal", "io") or not reply["message"] or tree(jail) != before:
                complain(f"program {form}, link {what}: {reply} {set(tree(jail)) - set(before)}")
                shutil.rmtree(dest, ignore_errors=True)
    for form in ("tar", "tar.gz"):
        path = archives / f"hard.{form}"
        if write(path, form, [*libs, dict(name="llama-b1/h", hard="llama-b1/llama-server", data=b"")]):
            reply = ask(probe, path, jail / "in" / "program")
            if reply["code"] != "unsupported":
                complain(f"program {form}, hard link: {reply}")


def tree(folder):
    return {str(p.relative_to(folder)): (os.readlink(p) if p.is_symlink() else p.stat().st_size if p.is_file() else None)
            for p in folder.rglob("*")}


def ask(probe, archive, dest):
    probe.stdin.write(f"{archive}\t{dest}\n")
    probe.stdin.flush()
    return json.loads(probe.stdout.readline())


# What a helper that hostile bytes have taken over could report, how it ends, and what comes of that.
REPORTS = [("", 1, "child"), ("nonsense", 0, "child"), ("{}", 1, "child"), ('{"code":"ok"}', 1, "child"),
           ('{"code":"format","error":"no"}', 1, "format"), ('{"code":"what","error":"no"}', 0, "internal"),
           ('{"files":1e300,"size_bytes":-5}', 0, "ok"), ('{"files":[],"size_bytes":"x"}', 0, "ok")]


def reports(probe_path, base, archive, complain):
    for text, status, code in REPORTS:
        helper = base / "helper"
        helper.write_text(f"#!/bin/sh\nprintf %s '{text}' >&5\nexit {status}\n")
        helper.chmod(0o755)
        with subprocess.Popen([probe_path, helper], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as probe:
            reply = ask(probe, archive, base / "reported")
        shutil.rmtree(base / "reported", ignore_errors=True)
        if reply["code"] != code or reply["files"] or reply["size_bytes"] or (code != "ok" and not reply["message"]):
            complain(f"report {text!r}, status {status}: {reply}")


def main():
    probe_path, helper = sys.argv[1:]
    problems, seen = [], 0
    base = pathlib.Path(tempfile.mkdtemp(prefix="qn-unpack-"))
    try:
        archives, jail = base / "archives", base / "jail"
        archives.mkdir()
        (jail / "in").mkdir(parents=True)
        (jail / "canary").write_text("untouched")
        probe = subprocess.Popen([probe_path, helper], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def complain(text):
            problems.append(text)

        for form in FORMATS:  # honest ones, with odd but fine names
            path, dest = archives / f"good.{form}", jail / "in" / "good"
            entries = [*GOOD, dict(name="./dotted.txt", data=b"d"), dict(name="naïve ümlaut.txt", data=b"u"),
                       dict(name="late/inner.txt", data=b"l", mode=0o4777), dict(name="late/", kind=DIR, data=b""),
                       dict(name="__MACOSX/._x", data=b"litter"), dict(name="empty", data=b"")]
            assert write(path, form, entries)
            reply = ask(probe, path, dest)
            expected = {"model": None, "model/weights.gguf": 5004, "readme.txt": 5, "dotted.txt": 1,
                        "naïve ümlaut.txt": 1, "late": None, "late/inner.txt": 1, "empty": 0}
            if reply["code"] != "ok" or tree(dest) != expected:
                complain(f"honest {form}: {reply} {tree(dest) if dest.exists() else None}")
            elif (dest / "late/inner.txt").stat().st_mode & 0o7111:
                complain(f"honest {form}: bits that a model does not need")
            elif ask(probe, path, dest)["code"] != "conflict":
                complain(f"honest {form}: unpacked over what was there")
            shutil.rmtree(dest, ignore_errors=True)
        # What a server that was killed has left goes; what one is at work on, and what just began, stays.
        left, busy, young = (jail / "in" / f".{digit * 16}.unpacking" for digit in "abc")
        for folder in (left, busy, young):
            (folder / "model").mkdir(parents=True)
            (folder / "model" / "weights").write_text("half")
            if folder != young:
                os.utime(folder, (1, 1))
        lock = os.open(busy, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = archives / "again.tar"
        assert write(path, "tar", [*GOOD])
        reply = ask(probe, path, jail / "in" / "again")
        if reply["code"] != "ok" or left.exists() or not (busy / "model/weights").exists() or not young.exists():
            complain(f"leftovers: {reply} {sorted(tree(jail / 'in'))}")
        os.close(lock)
        reports(probe_path, base, path, complain)
        for folder in ("again", left, busy, young):
            shutil.rmtree(jail / "in" / folder, ignore_errors=True)
        before, archives_before = tree(jail), None
        for case in cases(archives):
            seen += 1
            reply = ask(probe, case.path, jail / "in" / "model")
            if reply["code"] in ("ok", "child", "internal", "io") or not reply["message"]:
                complain(f"{case.what}: {reply}")
            if tree(jail) != before:
                complain(f"{case.what}: left {set(tree(jail)) - set(before)}")
                shutil.rmtree(jail / "in")
                (jail / "in").mkdir()
            for escaped in ("/etc/escape", "/tmp/quince-escape", "/escape", str(base / "escape"), str(jail / "escape")):
                if os.path.lexists(escaped):
                    complain(f"{case.what}: wrote {escaped}")
            case.path.unlink()
        probe.stdin.close()
        if probe.wait() != 0:
            complain("the probe ended with an error")
        programs = subprocess.Popen([probe_path, helper, "program"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    text=True)
        program_links(programs, archives, jail, complain)
        programs.stdin.close()
        programs.wait()
    finally:
        shutil.rmtree(base, ignore_errors=True)
    print(f"{seen} hostile archives")
    if seen < 200:
        problems.append("fewer than 200 archives")
    for p in problems:
        print("FAILED:", p)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
