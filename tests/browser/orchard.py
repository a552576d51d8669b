"""A hub for the tests of the page (tests/http/hub_server.py) with models named after fruits, and what a server needs to
know of it: a built-in list and a table of engines, in the folder given as the argument.

Every model is the starter model with bytes behind it that no one reads, so that it can be loaded and chatted with.
Prints one line of JSON when it is ready; then obeys one command in JSON a line, and answers each with a line:
{"fault": [KEY, {OPTIONS}]}, {"heal": true}, {"rate": BYTES_PER_SECOND}, {"release": REPOSITORY} (new files)."""
import hashlib
import io
import json
import pathlib
import random
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "http"))
from hub_server import Hub  # noqa: E402

STARTER = (ROOT / "registry" / "starter" / "quince-starter.gguf").read_bytes()
CARD = {"tags": ["gguf", "license:apache-2.0"], "gguf": {"architecture": "llama", "context_length": 32768},
        "lastModified": "2026-09-01T10:00:00.000Z"}

# Of a machine with the memory limit of 8192 MiB, which the tests set. Sizes in GB are what the list says; the files
# are small.
LISTED = {
    "Plum-0.5B-GGUF": {"size": 0.5, "labels": ["chat"]},
    "Pear-2B-GGUF": {"size": 1.5, "labels": ["chat", "tool-calling", "hot"]},
    "Melon-4B-GGUF": {"size": 3.0, "labels": ["chat", "reasoning", "hot"]},
    "Durian-70B-GGUF": {"size": 40.0, "labels": ["chat"]},
    "Nut-Embed-GGUF": {"size": 0.3, "labels": ["embeddings"]},
}


def model(name, extra):
    return STARTER + random.Random(name).randbytes(extra)


def offer(hub, name, extra=2_000_000, **card):
    short = name.split("/")[1].removesuffix("-GGUF")
    hub.repo(name, {"README.md": b"# fruit\n", **{f"{short}-{q}.gguf": model(f"{short} {q}", extra * bits // 4)
                                                for q, bits in (("Q4_K_M", 4), ("Q8_0", 8), ("IQ2_M", 2))}},
             **{**CARD, **card})


def builtin_folder(folder):
    entries = {"quince-starter": {"checkpoint": "starter/quince-starter.gguf", "recipe": "llamacpp",
                                  "labels": ["chat", "starter"], "suggested": True, "shipped": True}}
    for name, more in LISTED.items():
        entries[name] = {"checkpoint": f"orchard/{name}:Q4_K_M", "recipe": "llamacpp", "suggested": True, **more}
    (folder / "models.json").write_text(json.dumps(entries))
    (folder / "starter").symlink_to(ROOT / "registry" / "starter")


def archive(program):
    """A release as these projects make it: a folder with the program and a licence."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as tar:
        for name, data in ((program, b"#!/bin/sh\nexec sleep 1000\n"), ("LICENSE", b"MIT"),
                           ("libbig.so", random.Random(program).randbytes(200_000))):
            entry = tarfile.TarInfo(f"release-b1/{name}")
            entry.size, entry.mode = len(data), 0o755
            tar.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def engines(hub, folder):
    rows = {}
    for name, program in (("llamacpp:llama-server", "llama-server"), ("whispercpp:whisper-server", "whisper-server")):
        file = f"{program}.tar.gz"
        hub.files[file] = archive(program)
        sum_ = hashlib.sha256(hub.files[file]).hexdigest()
        machine = {"url": hub.plain(file), "sha256": sum_}
        rows[name] = {"version": "b1", "program": program, "machines": {"x86_64": machine, "aarch64": machine}}
    (folder / "packs.json").write_text(json.dumps({"packs": rows}))


def obey(hub, command):
    for what, value in command.items():
        if what == "fault":
            hub.fault(value[0], **value[1])
        elif what == "heal":
            hub.heal()
        elif what == "rate":
            hub.rate = value
        elif what == "release":
            short = value.split("/")[1].removesuffix("-GGUF")
            hub.repos[value].add({f"{short}-Q4_K_M.gguf": model(f"{short} newer", 2_000_000)})


def main():
    folder, hub = pathlib.Path(sys.argv[1]), Hub()
    for name in LISTED:
        offer(hub, f"orchard/{name}")
    offer(hub, "orchard/Quince-7B-GGUF", likes=50, downloads=1234)
    offer(hub, "wild/Quince-Odd-GGUF", gguf={"architecture": "rwkv9"}, downloads=3)
    offer(hub, "wild/Quince-Closed-GGUF", gated="manual", downloads=2)
    hub.files["windfall.gguf"] = model("windfall", 1000)
    builtin_folder(folder)
    engines(hub, folder)
    print(json.dumps({"url": hub.url, "file": hub.plain("windfall.gguf")}), flush=True)
    for line in sys.stdin:
        obey(hub, json.loads(line))
        print("{}", flush=True)


main()
