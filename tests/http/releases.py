"""Releases of other projects' engines as GitHub offers them, over the tests' hub: archives, and who tells their
sums. The archive is what llama.cpp's looks like: a folder with the program, libraries of several names, a licence.

    releases = Releases(house, hub)
    releases.offer("llamacpp:vulkan", "b1", needs="vulkan")     # a row of packs.json, and its archive
    server = releases.start()"""
import hashlib
import io
import json
import os
import platform
import tarfile

from conftest import Server

PROGRAM = b"#!/bin/sh\nexec sleep 1000\n"


def archive(version, program="llama-server", text=PROGRAM, size=0, more=()):
    """A tar.gz as bytes. more: (name, TarInfo settings, data)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as tar:
        def add(name, data=b"", **what):
            entry = tarfile.TarInfo(f"llama-{version}/{name}")
            entry.size = len(data)
            for key, value in what.items():
                setattr(entry, key, value)
            tar.addfile(entry, io.BytesIO(data))
        add("libllama.so", type=tarfile.SYMTYPE, linkname="libllama.so.0")
        add("libllama.so.0", type=tarfile.SYMTYPE, linkname="libllama.so.0.0.1")
        add("libllama.so.0.0.1", b"library of " + version.encode())
        add(program, text, mode=0o755)
        add("LICENSE", b"MIT")
        if size:
            add("libbig.so", os.urandom(size))
        for name, what, data in more:
            add(name, data, **what)
    return out.getvalue()


class Releases:
    def __init__(self, house, hub):
        self.house, self.hub, self.rows = house, hub, {}
        self.data = house.tmp_path / "data"
        self.table = house.tmp_path / "packs.json"

    def offer(self, name, version, data=None, digest="table", needs=None, program="llama-server", **archived):
        """digest: where the checksum comes from: "table", "publisher", "unknown", or a checksum for the table."""
        file = f"{name.replace(':', '-')}-{version}.tar.gz"
        data = archive(version, program, **archived) if data is None else data
        sum_ = hashlib.sha256(data).hexdigest()
        self.hub.files[file] = data
        row = {"version": version, "program": program,
               "machines": {platform.machine(): {"url": self.hub.plain(file)}}}
        here = row["machines"][platform.machine()]
        if needs:
            row["needs"] = needs
        if digest == "publisher":
            row["digests"] = self.hub.plain(f"{file}.json")
            self.tell(file, [{"name": "other.zip", "digest": "sha256:" + "0" * 64},
                             {"name": file, "size": len(data), "digest": "sha256:" + sum_}])
        elif digest != "unknown":
            here["sha256"] = sum_ if digest == "table" else digest
        self.rows[name] = row
        return file

    def tell(self, file, assets):
        self.hub.files[f"{file}.json"] = json.dumps({"tag_name": "x", "assets": assets}).encode()

    def start(self, *args, env=None):
        self.table.write_text(json.dumps({"packs": self.rows}))
        old = dict(os.environ)
        os.environ.update(env or {})
        try:
            server = Server(self.data, self.house.backend_dir, self.house.models_dir,
                            ("--packs", str(self.table), "--allow-private-hubs", "--no-discovery", *args))
        finally:
            os.environ.clear()
            os.environ.update(old)
        self.house.servers.append(server)
        return server

    def installed(self):
        """What lies in the folder of engines, without folders."""
        root = self.data / "engines"
        return sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() or p.is_symlink())


def engine(server, name):
    recipe, backend = name.split(":")
    return server.get("/v1/system-info").json["recipes"][recipe]["backends"].get(backend)


def install(server, name, path="install", **more):
    recipe, backend = name.split(":")
    return server.post(f"/api/v1/{path}", {"recipe": recipe, "backend": backend, **more})
