#!/usr/bin/env python3
"""Checks who includes whom, that every file is in a room, that each foreign header stays in the files
that own it, that a struct tag of the tree's own prefix names one struct, and that profiles are named in their table alone.

The table is the order of the rooms (docs/architecture.md): a room may include itself and rooms above it in the
table that it names, so no arrow can point the other way. Includes name the room and never climb (`../`).
Exit status 1 with one line per violation.

`--arrows` prints which room includes which, with the number of includes; `--draw` writes the picture of these arrows
into docs/architecture.md. A picture that is not that of the includes is a violation.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE_PAGE = ROOT / "docs" / "architecture.md"
PICTURE_BEGINS, PICTURE_ENDS = "<!-- arrows: drawn by scripts/dev arrows -->\n", "<!-- end of arrows -->\n"

# room: (folder, rooms it may include); only rooms further up in this table
ROOMS = {
    "base": ("lib/base", []),
    "digest": ("lib/digest", ["base"]),
    "formats": ("lib/formats", ["digest", "base"]),
    "contract": ("lib/contract", ["digest", "base"]),
    "io": ("lib/io", ["base"]),
    "confine": ("lib/confine", ["base"]),
    "database": ("lib/database", ["base"]),
    # programs that look at foreign bytes once and end
    "probe": ("tools/probe", ["base"]),
    "unpack": ("tools/unpack", ["confine", "base"]),
    "inspect": ("tools/inspect", ["confine", "contract", "formats", "base"]),
    "mcp": ("tools/mcp", ["confine", "contract", "formats", "base"]),
    # programs that compute
    "child": ("backends/child", ["contract", "io", "formats", "confine", "base"]),
    "engine": ("backends/engine", ["formats", "base"]),
    "text": ("backends/text", ["formats", "base"]),
    "jinja": ("backends/jinja", ["base"]),
    "grammar": ("backends/grammar", ["text", "contract", "base"]),
    "nets": ("backends/nets", ["engine", "text", "formats", "base"]),
    "llm": ("backends/llm", ["child", "contract", "nets", "jinja", "grammar", "text", "engine", "formats", "base"]),
    "bridge": ("backends/bridge", ["child", "contract", "digest", "formats", "confine", "base"]),
    # the router
    "registry": ("registry", ["digest", "formats", "base"]),
    "catalog": ("catalog", ["database", "base"]),
    "chats": ("chats", ["digest", "database", "base"]),
    "access": ("router/access", ["catalog", "digest", "io", "base"]),
    "answers": ("router/answers", ["access", "io", "base"]),
    "telemetry": ("router/telemetry", ["answers", "access", "contract", "io", "base"]),
    "settings": ("router/settings", ["answers", "access", "registry", "catalog", "contract", "io", "base"]),
    "dialects": ("router/dialects", ["answers", "contract", "digest", "formats", "base"]),
    "http": ("router/http", ["settings", "telemetry", "answers", "access", "catalog", "formats", "io",
                             "base"]),
    "models": ("router/models", ["http", "settings", "telemetry", "answers", "access", "registry", "catalog", "contract",
                                 "digest", "formats", "io", "base"]),
    "downloads": ("router/downloads", ["models", "http", "dialects", "access", "registry", "catalog", "contract",
                                       "io", "base"]),
    "library": ("router/library", ["downloads", "models", "http", "dialects", "settings", "answers", "access",
                                   "registry", "catalog", "contract", "formats", "io", "base"]),
    "infer": ("router/infer", ["library", "downloads", "models", "http", "dialects", "telemetry", "answers",
                               "access", "catalog", "contract", "formats", "io", "base"]),
    "mcp_servers": ("router/mcp_servers", ["chats", "contract", "digest", "io", "base"]),
    "answering": ("router/answering", ["mcp_servers", "infer", "dialects", "answers", "access", "chats", "digest", "io", "base"]),
    "api": ("router/api", ["answering", "mcp_servers", "infer", "library", "downloads", "models", "http", "dialects", "settings",
                           "telemetry", "answers", "access", "registry", "chats", "catalog", "contract", "digest",
                           "formats", "io", "base"]),
    "router": ("router", ["api", "answering", "mcp_servers", "infer", "library", "downloads", "models", "http", "dialects", "settings",
                          "telemetry", "answers", "access", "registry", "chats", "catalog", "contract", "formats",
                          "io", "base"]),
    "cli": ("cli", ["formats", "digest", "base"]),
}

# foreign header (by its beginning): files or folders that may include it
OWNERS = {
    "cjson/": ["lib/base/json.c"],
    "nettle/": ["lib/digest/"],
    "curl/": ["registry/curl.h", "cli/client.c", "backends/bridge/exchange.c", "tools/mcp/http.c"],
    "seccomp.h": ["lib/confine/"],
    "linux/landlock.h": ["lib/confine/"],
    "archive": ["tools/unpack/extract.c"],
    "sqlite3.h": ["lib/database/database.h"],
    "vulkan/": ["tools/probe/vulkan.c"],
    "utf8proc.h": ["backends/text/wordpiece.c", "backends/jinja/unicode.c"],
    "histedit.h": ["cli/"],
}

# Headers of the tree that few may include: the router parses no model file.
OWN = {
    "formats/gguf.h": ["lib/formats/", "backends/", "tools/inspect/"],
    "formats/gguf_split.h": ["lib/formats/", "backends/", "tools/inspect/"],
    "formats/laidout.h": ["lib/formats/", "backends/", "tools/inspect/"],
}

# The table of profiles, and those of its names that are also words of other settings and APIs.
PROFILES = "router/answers"
COMMON_WORDS = {"auto", "ollama"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
OWN_TAG = re.compile(r"^(?:typedef )?(?:static )?(?:const )?(?:struct|enum|union) (qn_\w+)\s*\{", re.M)


def files_of(suffixes):
    """Every source file of the rooms with its room: that of the longest folder it lies in."""
    folders = sorted(((folder, room) for room, (folder, _) in ROOMS.items()), key=lambda f: -len(f[0]))
    tops = {folder.split("/")[0] for folder, _ in folders}
    for top in sorted(tops):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in suffixes:
                name = path.relative_to(ROOT).as_posix()
                yield path, name, next((room for folder, room in folders if name.startswith(folder + "/")), None)


def includes():
    for path, name, room in files_of((".c", ".h", ".inc")):
        for kind, target in INCLUDE.findall(path.read_text()):
            yield name, room, kind, target


def order():
    """A room names rooms before it in the table alone: then no two can need each other."""
    seen = set()
    for room, (_, allowed) in ROOMS.items():
        for other in allowed:
            if other not in seen:
                yield f"the table: {room} names {other}, which is not before it"
        seen.add(room)


def files_without_room():
    for _, name, room in files_of((".c", ".h", ".inc")):
        if room is None:
            yield f"{name} is in no room"


def violations():
    for name, room, kind, target in includes():
        if room is None:
            continue
        if kind == '"':
            parts = target.split("/")
            if ".." in parts:
                yield f"{name}: include of {target} climbs"
            elif len(parts) == 1:
                yield f"{name}: include of {target} does not name its room"
            elif parts[0] not in ROOMS:
                yield f"{name}: {target} is in no room"
            elif not (ROOT / ROOMS[parts[0]][0] / "/".join(parts[1:])).exists():
                yield f"{name}: {target} is not in the room that it names"
            elif parts[0] != room and parts[0] not in ROOMS[room][1]:
                yield f"{name}: room {room} may not include {parts[0]} ({target})"
        for beginning, owners in {**OWNERS, **OWN}.items():
            if target.startswith(beginning) and not any(name.startswith(o) for o in owners):
                yield f"{name}: {target} belongs to {', '.join(owners)}"


def headers_without_guard():
    """A header's guard is its room and path, so two headers can never shut each other out."""
    for path, name, room in files_of((".h",)):
        if room is None:
            continue
        inside = name.removeprefix(ROOMS[room][0] + "/")
        guard = "QN_" + re.sub(r"[^A-Z0-9]", "_", f"{room}/{inside}".upper())
        if f"#ifndef {guard}\n#define {guard}\n" not in path.read_text():
            yield f"{name}: its guard should be {guard}"


def double_tags():
    """Debuggers and readers find one definition for a tag of the tree."""
    where = collections.defaultdict(list)
    for path, name, _ in files_of((".c", ".h")):
        for tag in OWN_TAG.findall(path.read_text()):
            where[tag].append(name)
    for tag, names in sorted(where.items()):
        if len(names) > 1:
            yield f"{tag} names {len(names)} types: {', '.join(names)}"


def profile_names():
    """The names in the table of profiles."""
    table = ROOT / PROFILES / "profile.c"
    text = table.read_text() + table.with_suffix(".h").read_text() if table.exists() else ""
    return sorted(set(re.findall(r'(?:\.name = |QN_PROFILE_MAIN_NAME )"(\w+)"', text)))


def profiles_elsewhere():
    """What a profile changes is a member of its row: no other file of the router may ask which profile it is."""
    names = profile_names()
    if not names:
        return
    constants = re.compile(r"\bQN_PROFILE_(?:%s)\b" % "|".join(names).upper())
    words = [name for name in names if name not in COMMON_WORDS]
    literals = re.compile(r'"[^"\n]*(?<![\w-])(?:%s)(?![\w-])[^"\n]*"' % "|".join(words))
    for path, name, _ in files_of((".c", ".h")):
        if name.startswith("router/") and not name.startswith(f"{PROFILES}/profile."):
            text = path.read_text()
            for found in [*constants.findall(text), *literals.findall(text)]:
                yield f"{name}: {found} names a profile; read a member of its row ({PROFILES}/profile.h)"


def arrows():
    """Counter of (room, included room): how many includes there are."""
    counts = collections.Counter()
    for _, room, kind, target in includes():
        other = target.split("/")[0]
        if kind == '"' and room and other in ROOMS and other != room:
            counts[room, other] += 1
    return counts


def print_arrows():
    counts = arrows()
    for room in ROOMS:
        below = [f"{other} {n}" for (of, other), n in sorted(counts.items()) if of == room]
        print(f"{room:10} -> {', '.join(below) if below else '(nothing)'}")


def reached(room, below, seen):
    """Adds to `seen` all rooms that the room includes, directly or through others; a circle ends where it began."""
    for other in below[room] - seen:
        seen.add(other)
        reached(other, below, seen)
    return seen


def picture():
    """The arrows as a Mermaid diagram. One that follows from others (a needs b, b needs c) is left out."""
    below = {room: set() for room in ROOMS}
    for room, other in arrows():
        below[room].add(other)
    groups = collections.defaultdict(list)
    for room, (folder, _) in ROOMS.items():
        groups[folder.split("/")[0]].append(room)
    lines = ["```mermaid", "flowchart TD"]
    for top in reversed(groups):
        lines.append(f"  subgraph {top}_rooms [{top}]")
        lines += [f"    {room}[{ROOMS[room][0].removeprefix(top + '/')}]" for room in reversed(groups[top])]
        lines.append("  end")
    for room in reversed(ROOMS):
        for other in [name for name in reversed(ROOMS) if name in below[room]]:
            if not any(other in reached(between, below, set()) for between in below[room] - {other}):
                lines.append(f"  {room} --> {other}")
    return "\n".join([*lines, "```"]) + "\n"


def page_with_picture(page):
    """The page with the picture between its two marks, or None where a mark is missing."""
    if page.count(PICTURE_BEGINS) != 1 or page.count(PICTURE_ENDS) != 1:
        return None
    before, rest = page.split(PICTURE_BEGINS)
    return before + PICTURE_BEGINS + picture() + PICTURE_ENDS + rest.split(PICTURE_ENDS)[1]


def old_picture():
    page = PICTURE_PAGE.read_text()
    if page_with_picture(page) != page:
        yield f"{PICTURE_PAGE.relative_to(ROOT)}: the picture of the arrows is not that of the includes (scripts/dev arrows)"


def owners_of_nothing():
    """An owner in the tables above that does not include its header is stale: the header has moved."""
    used = collections.defaultdict(set)
    for name, _, _, target in includes():
        for beginning, owners in {**OWNERS, **OWN}.items():
            if target.startswith(beginning):
                used[beginning].update(owner for owner in owners if name.startswith(owner))
    for beginning, owners in OWNERS.items():
        for owner in owners:
            if owner not in used[beginning]:
                yield f"the table: {owner} owns {beginning} and does not include it"


def main():
    if sys.argv[1:] == ["--arrows"]:
        print_arrows()
        return
    if sys.argv[1:] == ["--draw"]:
        page = page_with_picture(PICTURE_PAGE.read_text())
        if page is None:
            sys.exit(f"check_layers: {PICTURE_PAGE} lacks the lines {PICTURE_BEGINS.strip()} and {PICTURE_ENDS.strip()}")
        PICTURE_PAGE.write_text(page)
        return
    found = [*order(), *files_without_room(), *violations(), *headers_without_guard(), *double_tags(),
             *profiles_elsewhere(), *owners_of_nothing(), *old_picture()]
    for line in found:
        print(line)
    print(f"layers: {len(found)} violations")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
