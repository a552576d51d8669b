"""Commands about the models that are here and those that could be: `quince` against a server that
answers in the documented shapes."""
import json
import re

import pytest
from cli_kit import CTRL_C, Cli, Stub, Terminal


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
    assert cli("list", "--all").out == "Local\n" + cli("list").out + (
        "\nAvailable for download\n"
        "Model               Size    Recipe    Labels\n"
        "Gemma-3-4b-it-GGUF  3.3 GB  llamacpp  hot, vision\n"
        "SD-Turbo            -       sd-cpp    image\n")
    # Names by any part of them, labels as a whole.
    for filter, found in [("gemma", ["Gemma-3-4b-it-GGUF"]), ("IMAGE", ["SD-Turbo"]), ("imag", []),
                          ("g", ["Qwen3-0.6B-GGUF", "Gemma-3-4b-it-GGUF"]), ("reasoning", ["Qwen3-0.6B-GGUF"])]:
        assert [m["id"] for m in json.loads(cli("list", filter, "--all", "--json").out)] == found
    assert [m["id"] for m in json.loads(cli("list", "--json").out)] == ["Qwen3-0.6B-GGUF"]
    assert "No model that is here" in cli("list", "gemma").out and "--all" in cli("list", "gemma").out
    assert cli("list", "--all", "--downloaded").returncode == 2
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
    # One that is not here has no files, and says how it comes.
    out = cli("show", THERE["id"]).out
    assert "Downloaded    no" in out and out.endswith("Fetch it: quince pull Gemma-3-4b-it-GGUF\n")
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
    # Nobody can be asked: nothing happens without --yes.
    done = cli("delete", HERE["id"])
    assert done.returncode == 2 and "--yes" in done.err and not server.bodies("POST /api/v1/delete")
    done = cli("delete", HERE["id"], "nobody", "other", "--yes")
    assert done.returncode == 1 and "nobody" in done.err
    assert done.out == "Deleted Qwen3-0.6B-GGUF (381 MB freed)\nDeleted other (381 MB freed)\n"
    assert [b["model_name"] for b in server.bodies("POST /api/v1/delete")] == [HERE["id"], "other"]
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
