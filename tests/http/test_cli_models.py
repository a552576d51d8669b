"""Commands about the models that are here and those that could be: `quince` against a server that
answers in the documented shapes."""
import json
import pathlib
import re
import subprocess
import time
import unicodedata

import pytest
from cli_kit import QUINCE, Cli, Stub, Terminal, environment
from conftest import PATIENCE_S


def model(name, downloaded=True, **more):
    return {"id": name, "object": "model", "created": 1744173590, "owned_by": "lemonade", "recipe": "llamacpp",
            "checkpoint": f"owner/{name}:Q4_0", "size": 0.38, "downloaded": downloaded, "suggested": True,
            "labels": [], "recipe_options": {}, **more}


HERE = model("Qwen3-0.6B-GGUF", size_bytes=381000000, parameters=596049920, quantization="Q4_0",
             labels=["reasoning"], context_length=40960, last_use=1763000000, loaded=True)
THERE = model("Gemma-3-4b-it-GGUF", False, size=3.34, labels=["hot", "vision"])
UNSIZED = {k: v for k, v in model("SD-Turbo", False, recipe="sd-cpp", labels=["image"]).items() if k != "size"}


@pytest.fixture
def stub():
    stubs = []

    def make(routes):
        stubs.append(Stub(routes))
        return stubs[-1]
    yield make
    for s in stubs:
        s.close()


def models(*entries):
    return {f"GET /api/v1/models/{m['id']}": m for m in entries} | {
        "GET /api/v1/models": {"object": "list", "data": list(entries)}}


def test_list_has_two_sections(tmp_path, stub):
    server = stub(models(HERE, THERE, UNSIZED))
    cli = Cli(tmp_path, server.port)
    assert cli("list").out == (
        "Model            Size    Params  Quant  Loaded  Last used\n"
        "Qwen3-0.6B-GGUF  381 MB  596M    Q4_0   yes     2025-11-13\n")
    assert server.queries("GET /api/v1/models") == [{"show_all": "true"}]
    assert cli("list", "--downloaded").out == cli("list").out
    assert "2025-11-12\n" in cli("list", TZ="EST5").out  # it was in the night, five hours from Greenwich
    assert cli("list", "--all").out == "Local\n" + cli("list").out + (
        "\nAvailable for download\n"
        "Model               Size    Labels\n"
        "Gemma-3-4b-it-GGUF  3.3 GB  vision\n"
        "SD-Turbo            -       image\n")
    # Names by any part of them, labels as a whole.
    for filter, found in [("gemma", ["Gemma-3-4b-it-GGUF"]), ("IMAGE", ["SD-Turbo"]), ("imag", []),
                          ("g", ["Qwen3-0.6B-GGUF", "Gemma-3-4b-it-GGUF"]), ("reasoning", ["Qwen3-0.6B-GGUF"])]:
        assert [m["id"] for m in json.loads(cli("list", filter, "--all", "--json").out)] == found
    assert [m["id"] for m in json.loads(cli("list", "--json").out)] == ["Qwen3-0.6B-GGUF"]
    assert "No installed model has this" in cli("list", "gemma").out and "--all" in cli("list", "gemma").out
    assert cli("list", "--all", "--downloaded").returncode == 2
    npu = model("Phi-4-NPU", False, recipe="ryzenai-llm", unsupported="for AMD's NPU alone")
    server.routes |= models(HERE, THERE, npu)
    out = cli("list", "--all").out
    assert "Phi-4-NPU" not in out and out.endswith("\n1 more cannot be run here: quince show NAME gives the reason\n")
    assert "Unsupported   for AMD's NPU alone" in cli("show", "Phi-4-NPU").out
    assert [m["id"] for m in json.loads(cli("list", "phi", "--all", "--json").out)] == ["Phi-4-NPU"]
    server.routes |= models(THERE, model("Huge-GGUF", False, size=900000))
    out = cli("list", "--all").out
    assert "3.3 GB    vision" in out and "900 TB !" in out and out.endswith("\n! is too large for this machine's memory\n")
    server.routes |= models(HERE, THERE, UNSIZED)
    t = Terminal(cli, "list")
    assert t.status() == 0 and "2 more can be downloaded: quince list --all" in t.shown()


def test_show(tmp_path, stub):
    details = {"architecture": "qwen3", "title": "Qwen3 0.6B"}
    entry = {**HERE, "details": details, "recipe_options": {"ctx_size": 8192}, "source": "huggingface", "last_use": 0}
    files = [{"name": "Qwen3-0.6B-Q4_0.gguf", "role": "main", "size_bytes": 381000000, "exists": True},
             {"name": "mmproj.gguf", "role": "mmproj", "size_bytes": 1000, "exists": False}]
    server = stub(models(entry, THERE) | {
        f"GET /api/v1/models/{HERE['id']}/files": {"model_id": HERE["id"], "files": files}})
    cli = Cli(tmp_path, server.port)
    assert cli("show", HERE["id"]).out == """\
Model         Qwen3-0.6B-GGUF
Title         Qwen3 0.6B
Architecture  qwen3
Parameters    596M
Quantization  Q4_0
Context       40960 tokens
Size          381 MB
Labels        reasoning
Recipe        llamacpp
Checkpoint    owner/Qwen3-0.6B-GGUF:Q4_0
Source        huggingface
Options       {"ctx_size":8192}
Downloaded    yes
Loaded        yes
Last used     never

File                  Role    Size    Here
Qwen3-0.6B-Q4_0.gguf  main    381 MB  yes
mmproj.gguf           mmproj  1.0 kB  no
"""
    assert server.queries(f"GET /api/v1/models/{HERE['id']}/files") == [{"include_paths": "true"}]
    assert json.loads(cli("show", HERE["id"], "--json").out) == {**entry, "files": files}
    # Where they lie is said in whole; the table has what is different.
    deep = "/home/anna/.cache/huggingface/hub/models--unsloth--Qwen3-0.6B-GGUF/snapshots/0123456789abcdef/"
    server.routes[f"GET /api/v1/models/{HERE['id']}/files"] = {"files": [
        {**files[0], "path": deep + "a.gguf"}, {**files[1], "path": "/elsewhere/b.gguf"}]}
    out = cli("show", HERE["id"]).out
    assert f"Folder        {deep}\n" in out and "\na.gguf " in out and "\n/elsewhere/b.gguf " in out
    # One that is not here has no files, and says how it comes.
    out = cli("show", THERE["id"]).out
    assert "Downloaded    no" in out and out.endswith("Download it: quince pull Gemma-3-4b-it-GGUF\n")
    assert json.loads(cli("show", THERE["id"], "--json").out) == {**THERE, "files": []}
    assert cli("show", "nobody").returncode == 1


def test_names_are_escaped(tmp_path, stub):
    name = "user.a b/c?d#\u00e9%41"
    server = stub(models(model(name)))
    assert json.loads(Cli(tmp_path, server.port)("show", name, "--json").out)["id"] == name


FOUND = [{"repository_id": "unsloth/Qwen3-8B-GGUF", "downloads": 123456, "likes": 78, "has_gguf": True,
          "updated": "2025-07-01T00:00:00.000Z", "gated": False},
         {"repository_id": "google/gemma-3-4b-it", "downloads": 2500000, "likes": 999, "has_gguf": False,
          "updated": "2025-03-21T10:00:00.000Z", "gated": False},
         {"repository_id": "meta/secret-GGUF", "downloads": 5, "likes": 0, "has_gguf": True, "gated": True}]


def test_search(tmp_path, stub):
    server = stub({"GET /api/v1/registry/search": {"source": "huggingface", "query": "x", "total": 3, "results": FOUND}})
    cli = Cli(tmp_path, server.port)
    assert cli("search", "qwen3", "8b & c").out == """\
Repository             Downloads  Likes  Changed     Note
unsloth/Qwen3-8B-GGUF  123K       78     2025-07-01
google/gemma-3-4b-it   2.5M       999    2025-03-21  no GGUF files
meta/secret-GGUF       5          -                  needs a token
"""
    assert json.loads(cli("search", "q", "--any", "--limit", "3", "--source", "modelscope", "--json").out) == FOUND
    assert server.queries("GET /api/v1/registry/search") == [
        {"query": "qwen3 8b & c", "limit": "20", "format": "gguf"},
        {"query": "q", "limit": "3", "source": "modelscope"}]
    server.routes["GET /api/v1/registry/search"] = {"results": []}
    assert "Nothing was found" in cli("search", "nothing").out
    assert json.loads(cli("search", "nothing", "--json").out) == []
    for limit in ("0", "51", "x"):
        assert cli("search", "q", "--limit", limit).returncode == 2


def test_delete(tmp_path, stub):
    server = stub(models(HERE, model("other")) | {
        "POST /api/v1/delete": lambda q, body: {"status": "success", "message": f"Deleted model: {body['model_name']}",
                                                "freed_bytes": 381000000}})
    cli = Cli(tmp_path, server.port)
    # Without a terminal to ask: nothing happens without --yes.
    done = cli("delete", HERE["id"])
    assert done.returncode == 2 and "--yes" in done.err and not server.bodies("POST /api/v1/delete")
    done = cli("delete", HERE["id"], "nobody", "other", "--yes")
    assert done.returncode == 1 and "nobody" in done.err
    assert done.out == "Deleted Qwen3-0.6B-GGUF (381 MB freed)\nDeleted other (381 MB freed)\n"
    assert [b["model_name"] for b in server.bodies("POST /api/v1/delete")] == [HERE["id"], "other"]
    server.routes["POST /api/v1/delete"] = {"status": "success", "freed_bytes": 0, "note": "x.gguf stays: it is yours"}
    assert cli("delete", HERE["id"], "--yes").out == "Deleted Qwen3-0.6B-GGUF\nx.gguf stays: it is yours\n"
    lines = cli("delete", HERE["id"], "nobody", "--yes", "--json").out.splitlines()
    assert json.loads(lines[0])["status"] == "success" and json.loads(lines[1])["error"]["code"] == "not_found"


@pytest.mark.parametrize("answer, deleted", [("y", True), ("YES", True), ("", False), ("n", False), ("\x04", False)])
def test_delete_asks(tmp_path, stub, answer, deleted):
    server = stub(models(HERE) | {"POST /api/v1/delete": {"status": "success", "message": "Deleted"}})
    t = Terminal(Cli(tmp_path, server.port), "delete", HERE["id"])
    t.wait_for("Delete Qwen3-0.6B-GGUF (381 MB)? [y/N]")
    t.type(answer + ("" if answer == "\x04" else "\r"))
    assert t.status() == (0 if deleted else 1)
    assert bool(server.bodies("POST /api/v1/delete")) == deleted
    assert ("Deleted" if deleted else "was not deleted") in t.screen


DEFINITION = {"model_name": "Gemma-3-4b-it-GGUF", "checkpoint": "owner/Gemma-3-4b-it-GGUF:Q4_0",
              "recipe": "llamacpp", "labels": ["hot", "vision"], "size": 3.34}


def test_export(tmp_path, stub):
    cli = Cli(tmp_path, stub(models(THERE, model("user.local", checkpoint="/x/y.gguf"))).port)
    done = cli("export", THERE["id"])
    assert json.loads(done.out) == DEFINITION and done.err == ""
    assert "/x/y.gguf" in cli("export", "user.local").err
    path = tmp_path / "gemma.json"
    done = cli("export", THERE["id"], "--output", str(path))
    assert (done.returncode, done.out) == (0, "") and json.loads(path.read_text()) == DEFINITION
    # What is there is replaced only when that was said.
    path.write_text("precious")
    done = cli("export", THERE["id"], "--output", str(path))
    assert done.returncode == 1 and "--yes" in done.err and path.read_text() == "precious"
    t = Terminal(Cli(tmp_path, cli.port), "export", THERE["id"], "--output", str(path))
    t.wait_for("Replace it? [y/N]")
    t.type("n\r")
    assert t.status() == 1 and path.read_text() == "precious"
    assert cli("export", THERE["id"], "--output", str(path), "--yes").returncode == 0
    assert json.loads(path.read_text()) == DEFINITION
    assert cli("export", THERE["id"], "--output", "/nowhere/x").returncode == 1
    assert cli("export", "nobody").returncode == 1


def test_import_of_definitions(tmp_path, stub):
    server = stub({"POST /api/v1/models/register": lambda q, body: {
        "status": "success", "model_name": body["model_name"], "model": {"downloaded": "local" in body["model_name"]}}})
    cli = Cli(tmp_path, server.port)
    path = tmp_path / "defs.json"
    path.write_text(json.dumps(DEFINITION))
    done = cli("import", str(path))
    assert done.out == ("Registered user.Gemma-3-4b-it-GGUF\nDownload it: quince pull user.Gemma-3-4b-it-GGUF\n")
    rest = {k: v for k, v in DEFINITION.items() if k != "model_name"}
    assert server.bodies("POST /api/v1/models/register") == [{"model_name": "user.Gemma-3-4b-it-GGUF"} | rest]
    assert "user.mine" in cli("import", str(path), "--name", "mine").out
    # From a pipe; several by name.
    several = {"local": {"checkpoint": "o/a"}, "user.b": {"checkpoint": "o/b"}}
    done = cli("import", "-", stdin=json.dumps(several).encode())
    assert "Chat with it: quince run user.local\nRegistered user.b\n" in done.out
    assert [json.loads(line)["status"] for line in cli("import", "-", "--json", stdin=json.dumps(several).encode())
            .out.splitlines()] == ["success"] * 2
    for text, part in [("{oops", "not JSON"), ("[]", "no model definition"), ('{"checkpoint":"x"}', "no name"),
                       ('{"a":1}', "expected the definition")]:
        path.write_text(text)
        done = cli("import", str(path))
        assert done.returncode == 1 and part in done.err, text
    assert cli("import", "-", "--name", "x", stdin=json.dumps(several).encode()).returncode == 1
    assert cli("import", str(tmp_path / "none.json")).returncode == 1


def test_aliases(tmp_path, stub):
    kept = [{"alias": "gemma", "model_name": THERE["id"]}]
    server = stub({"GET /internal/aliases": {"aliases": kept}, "POST /internal/aliases": {"status": "success"},
                   "DELETE /internal/aliases": {"status": "success"}})
    cli = Cli(tmp_path, server.port)
    assert cli("alias", "list").out == "Alias  Model\ngemma  Gemma-3-4b-it-GGUF\n"
    assert json.loads(cli("alias", "list", "--json").out) == kept
    assert cli("alias", "add", "gemma", THERE["id"]).out == "gemma means Gemma-3-4b-it-GGUF\n"
    assert cli("alias", "remove", "gemma").out == "gemma is no longer an alias\n"
    assert [(name, body) for name, _, body in server.asked[-2:]] == [
        ("POST /internal/aliases", kept[0]), ("DELETE /internal/aliases", {"alias": "gemma"})]
    server.routes["POST /internal/aliases"] = (409, {"error": {"message": "gemma is a model's name", "param": "alias"}})
    done = cli("alias", "add", "gemma", "x")
    assert done.returncode == 1 and "gemma is a model's name" in done.err
    server.routes["GET /internal/aliases"] = {"aliases": []}
    assert "alias add" in cli("alias", "list").out
    for args in ((), ("add",), ("add", "x"), ("remove",), ("rename", "a", "b"), ("list", "x")):
        assert cli("alias", *args).returncode == 2


WASTE = {"status": "success", "dry_run": True, "freed_bytes": 3000000, "files": [
    {"path": "/c/models--o--r/blobs/aa.quince.incomplete", "size_bytes": 1000000, "kind": "partial"},
    {"path": "/c/models--o--r/blobs/bb", "size_bytes": 2000000, "kind": "unused"}]}


def test_cleanup(tmp_path, stub):
    name = "POST /internal/cleanup-cache"
    server = stub({name: lambda q, body: {**WASTE, "dry_run": body["dry_run"]}})
    cli = Cli(tmp_path, server.port)
    table = ("Path                                        Size    What\n"
             "/c/models--o--r/blobs/aa.quince.incomplete  1.0 MB  partial\n"
             "/c/models--o--r/blobs/bb                    2.0 MB  unused\n")
    assert cli("cleanup", "--dry-run").out == table + "Frees 3.0 MB\n"
    assert server.bodies(name) == [{"dry_run": True}]
    assert json.loads(cli("cleanup", "--dry-run", "--json").out) == WASTE
    assert cli("cleanup").returncode == 2
    assert cli("cleanup", "--yes").out == "3.0 MB freed\n"
    assert server.bodies(name)[-1] == {"dry_run": False} and len(server.bodies(name)) == 3
    for answer, deleted in (("n", False), ("y", True)):
        t = Terminal(cli, "cleanup")
        t.wait_for("Delete these (3.0 MB)? [y/N]")
        t.type(answer + "\r")
        assert t.status() == 0 and (server.bodies(name)[-1] == {"dry_run": False}) == deleted
    server.routes[name] = {"status": "success", "freed_bytes": 0, "files": []}
    assert cli("cleanup", "--dry-run").out == "There is nothing to clean up\n"


@pytest.mark.parametrize("line, expected", [
    ("quince show Q", ["Qwen3-0.6B-GGUF"]), ("quince pull ", ["Qwen3-0.6B-GGUF", "Gemma-3-4b-it-GGUF", "llama3.2:1b"]),
    ("quince run ", ["Qwen3-0.6B-GGUF"]), ("quince pull llama3.2:", ["1b"]), ("quince downloads ca", ["cancel"]),
    ("quince --port 9 unl", ["unload"]), ("quince import ", [])])
def test_completion_in_bash(tmp_path, stub, line, expected):
    port = stub(models(HERE, THERE, model("llama3.2:1b", False))).port
    cli = Cli(tmp_path, port)
    script = cli("completion", "bash").out + f"""
COMP_LINE='{line}' COMP_POINT={len(line)}
_quince
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    env = environment(tmp_path, QUINCE_PORT=str(port))
    env["PATH"] = f"{pathlib.Path(QUINCE).parent}:{env['PATH']}"
    done = subprocess.run(["bash", "--norc", "-u", "-c", script], capture_output=True, text=True, env=env, timeout=PATIENCE_S)
    assert done.stderr == "" and done.stdout.split() == expected


def test_completion_without_a_server(tmp_path):
    cli = Cli(tmp_path, 1)
    done = cli("completion", "words", "--", "run", "")
    assert (done.returncode, done.out, done.err) == (0, "", "")
    assert "compdef _quince quince" in cli("completion", "zsh").out
    for args in (("fish",), ("bash", "x"), ("words",)):
        assert cli("completion", *args).returncode == 2


def test_no_output_is_wide_or_steers_the_terminal(tmp_path, stub):
    bad = "red\u001b[31m\u009b2J\u202e" + "\u65e5\u672c" * 60
    entry = model(bad, labels=[bad] * 5, checkpoint=bad, details={"title": bad}, quantization=bad)
    server = stub(models(entry, {**entry, "downloaded": False}) | {
        f"GET /api/v1/models/{bad}/files": {"files": [{"name": bad, "role": bad, "size_bytes": 1e300, "exists": True}]},
        "GET /api/v1/registry/search": {"results": [{"repository_id": bad, "updated": bad}]},
        "POST /api/v1/delete": {"status": "success"}})
    cli = Cli(tmp_path, server.port)
    for args in (("list", "--all"), ("search", "x"), ("show", bad), ("delete", bad, "--yes")):
        out = cli(*args).out
        assert "red?[31m" in out and not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", out)
        if args[0] in ("list", "search"):
            for line in out.splitlines():
                assert len(line) + len(re.findall("[\u3000-\u9fff]", line)) <= 80, line


def test_a_use_is_known_at_once(house, tmp_path):
    server = house.start()
    model, other = house.model(server, "m"), house.model(server, "other")
    cli = Cli(tmp_path, server.port)
    used = lambda: {m["id"]: m["last_use"] for m in json.loads(cli("list", "--json").out)}
    begun = int(time.time())
    assert cli("run", model, "hello").returncode == 0
    assert begun <= used()[model] <= time.time() and used()[other] == 0
    assert cli("unload").returncode == 0
    assert used()[model] >= begun
    assert cli("delete", model, "--yes").returncode == 0
    house.model(server, "m")
    assert used()[model] == 0


def columns(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


@pytest.mark.parametrize("width", [40, 80])
def test_lines_fit_the_terminal(tmp_path, stub, width):
    wide = model("\u65e5\u672c\u8a9e\u30e2\u30c7\u30eb" * 6, size_bytes=381000000, parameters=596049920, quantization="Q4_0",
                 last_use=1763000000, loaded=True)
    jobs = [{"id": "1", "model_name": wide["id"], "status": "paused", "phase": "", "bytes_total": 1000,
             "bytes_downloaded": 500}]
    loaded = [{"model_name": wide["id"], "type": "llm", "status": "ready", "device": "cpu", "recipe": "llamacpp",
               "pid": 12345, "memory_bytes": 381000000, "max_context_window": 40960, "slots": 4, "requests_running": 1,
               "unloads_in_seconds": 300}]
    server = stub(models(wide, HERE) | {"GET /api/v1/downloads": jobs,
                                        "GET /api/v1/health": {"all_models_loaded": loaded}})
    for command in (("list",), ("downloads", "--once"), ("ps",)):
        t = Terminal(Cli(tmp_path, server.port), *command, columns=width)
        assert t.status() == 0
        lines = t.screen.replace("\r", "").splitlines()
        assert any("\u65e5" in line and "\u2026" in line for line in lines), lines
        assert all(columns(line) <= width for line in lines if "can be downloaded" not in line), lines
        assert "\x1b" not in t.screen
