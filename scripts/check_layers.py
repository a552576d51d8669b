#!/usr/bin/env python3
"""Checks who includes whom, and that each foreign header stays in the files that own it.

The table is the house's layers (docs/architecture.md). A room may include itself and the rooms
named here; includes never climb (`../`). Exit status 1 with one line per violation.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# room: (folder, rooms it may include)
ROOMS = {
    "base": ("lib/base", []),
    "formats": ("lib/formats", ["base"]),
    "contract": ("lib/contract", ["base"]),
    "io": ("lib/io", ["base"]),
    "confine": ("lib/confine", ["base"]),
    "child": ("backends/child", ["contract", "io", "formats", "confine", "base"]),
    "engine": ("backends/engine", ["formats", "base"]),
    "nets": ("backends/nets", ["engine", "formats", "base"]),
    "jinja": ("backends/jinja", ["base"]),
    "llm": ("backends/llm", ["child", "contract", "nets", "jinja", "engine", "formats", "base"]),
    "bridge": ("backends/bridge", ["child", "contract", "formats", "confine", "base"]),
    "probe": ("backends/probe", ["base"]),
    "unpack": ("backends/unpack", ["confine", "base"]),
    "inspect": ("backends/inspect", ["confine", "formats", "base"]),
    "registry": ("registry", ["formats", "base"]),
    "catalog": ("catalog", ["base"]),
    "router": ("router", ["contract", "io", "registry", "catalog", "formats", "base"]),
    "cli": ("cli", ["formats", "base"]),
}

# foreign header (by its beginning): files or folders that may include it
OWNERS = {
    "cjson/": ["lib/base/json.c"],
    "curl/": ["registry/curl.h", "cli/client.c", "backends/bridge/exchange.c"],
    "seccomp.h": ["lib/confine/"],
    "linux/landlock.h": ["lib/confine/"],
    "archive": ["backends/unpack/extract.c"],
    "sqlite3.h": ["catalog/"],
    "cblas.h": ["backends/engine/cpu/gemm.c"],
    "vulkan/": ["backends/engine/vulkan/", "backends/probe/vulkan.c"],
    "utf8proc.h": ["backends/nets/wordpiece.c", "backends/jinja/unicode.c"],
    "histedit.h": ["cli/"],
    "editline/": ["cli/"],
}

# Our own headers that few may include: the router parses no model file.
OWN = {
    "formats/gguf.h": ["lib/formats/", "backends/"],
    "formats/gguf_split.h": ["lib/formats/", "backends/"],
    "formats/laidout.h": ["lib/formats/", "backends/"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def violations():
    for room, (folder, allowed) in ROOMS.items():
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            name = path.relative_to(ROOT).as_posix()
            for kind, target in INCLUDE.findall(path.read_text()):
                if kind == '"':
                    other = target.split("/")[0]
                    if ".." in target.split("/"):
                        yield f"{name}: include of {target} climbs"
                    elif "/" not in target:
                        yield f"{name}: include of {target} does not name its room"
                    elif other not in ROOMS:
                        yield f"{name}: {target} is in no room"
                    elif other != room and other not in allowed:
                        yield f"{name}: room {room} may not include {other} ({target})"
                for beginning, owners in {**OWNERS, **OWN}.items():
                    if target.startswith(beginning) and not any(name.startswith(o) for o in owners):
                        yield f"{name}: {target} belongs to {', '.join(owners)}"


def headers_without_guard():
    """A header's guard is its path, so two headers can never shut each other out."""
    for room, (folder, _) in ROOMS.items():
        for path in sorted((ROOT / folder).rglob("*.h")):
            inside = path.relative_to(ROOT / folder).as_posix()
            guard = "QN_" + re.sub(r"[^A-Z0-9]", "_", f"{room}/{inside}".upper())
            if f"#ifndef {guard}\n#define {guard}\n" not in path.read_text():
                yield f"{path.relative_to(ROOT)}: its guard should be {guard}"


def main():
    found = list(violations()) + list(headers_without_guard())
    for line in found:
        print(line)
    print(f"layers: {len(found)} violations")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
