"""`quince pull` and `quince downloads` against a server that answers in the documented shapes: what is
shown at once, what is asked, how it comes on a terminal of 80 columns, in a log and as JSON."""
import json
import pathlib
import re
import signal
import threading

import pytest
from cli_kit import CTRL_C, Cli, Stub, Terminal, event
from conftest import PATIENCE_S
from test_cli_models import HERE, THERE, model, models, stub  # noqa: F401 (stub is a fixture)

PULL, VARIANTS, CONTROL = "POST /api/v1/pull", "GET /api/v1/pull/variants", "POST /api/v1/downloads/control"
GB = 1000000000


def variants(*rows, **more):
    return {"checkpoint": "unsloth/Qwen3-8B-GGUF", "recipe": "llamacpp", "suggested_name": "Qwen3-8B-GGUF",
            "suggested_labels": [], "mmproj_files": [], "variants": [
                {"name": n, "primary_file": f"{n}.gguf", "files": [f"{n}.gguf"] * k, "sharded": k > 1, "size_bytes": s}
                for n, s, k in rows], **more}


THREE = variants(("Q4_K_M", 492000, 1), ("Q8_0", 850000, 2), ("BF16", 900000 * GB, 1))


def progress(done, total, index=1, files=1, before=0, all=None):
    return event("progress", id="model:x", file=f"f{index}.gguf", file_index=index, total_files=files,
                 bytes_downloaded=done, bytes_total=total, bytes_previously_downloaded=0,
                 completed_files_bytes=before, cumulative_bytes_downloaded=before + done,
                 total_download_size=all or total, percent=done * 100 // total, bytes_per_second=38500000)


def complete(**more):
    return event("complete", file_index=1, total_files=1, percent=100, **more)


def job(name, status="downloading", **more):
    return {"id": f"model:{name}", "type": "model", "model_name": name, "status": status, "running": status ==
            "downloading", "phase": "fetching", "percent": 40, "total_files": 1, "total_download_size": 5 * GB,
            "cumulative_bytes_downloaded": 2 * GB, "bytes_per_second": 38500000, **more}


def test_a_model_of_the_list(tmp_path, stub):
    server = stub(models(HERE, THERE) | {PULL: progress(GB, 4 * GB) + progress(4 * GB, 4 * GB) + complete()})
    cli = Cli(tmp_path, server.port)
    done = cli("pull", THERE["id"])
    assert done.returncode == 0
    lines = done.out.splitlines()
    assert lines[0] == "Pulling Gemma-3-4b-it-GGUF: 3.3 GB"
    assert re.fullmatch(r"Pulled Gemma-3-4b-it-GGUF: 4.0 GB in \d+ s \(.*/s\)", lines[1])
    assert lines[2:] == ["Use it: quince run Gemma-3-4b-it-GGUF"]
    # A log gets a line at every tenth, no carriage returns.
    assert done.err == "25 %  1.0 GB of 4.0 GB  38 MB/s  1 min 18 s left\n100 %  4.0 GB of 4.0 GB  38 MB/s  0 s left\n"
    assert server.bodies(PULL) == [{"model_name": THERE["id"], "stream": True}]
    # One that is here is not fetched again.
    done = cli("pull", HERE["id"])
    assert done.returncode == 0 and "Qwen3-0.6B-GGUF is installed (already downloaded)" in done.out
    assert len(server.bodies(PULL)) == 1


def test_a_model_that_nothing_here_runs(tmp_path, stub):
    server = stub(models(model("Phi-4-NPU", False, unsupported="for AMD's NPU alone")))
    done = Cli(tmp_path, server.port)("pull", "Phi-4-NPU")
    assert (done.returncode, done.out) == (1, "") and "it is for AMD's NPU alone" in done.err


def test_quiet_and_json(tmp_path, stub):
    server = stub(models(HERE, THERE) | {PULL: progress(GB, 4 * GB) + complete(model_name=THERE["id"])})
    cli = Cli(tmp_path, server.port)
    done = cli("pull", THERE["id"], "--quiet")
    assert (done.returncode, done.out, done.err) == (0, "Gemma-3-4b-it-GGUF\n", "")
    done = cli("pull", THERE["id"], "--json")
    assert done.returncode == 0 and done.err == ""
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [line["event"] for line in lines] == ["progress", "complete"]
    assert lines[0]["bytes_downloaded"] == GB and lines[1]["model_name"] == THERE["id"]
    for args in (("--json",), ("--json", "--quiet")):
        assert json.loads(cli("pull", HERE["id"], *args).out) == {
            "event": "complete", "model_name": HERE["id"], "already_downloaded": True}
    assert cli("pull", HERE["id"], "--quiet").out == "Qwen3-0.6B-GGUF\n"


@pytest.mark.parametrize("args, asked, body", [
    (["unsloth/Qwen3-8B-GGUF:Q8_0"], "unsloth/Qwen3-8B-GGUF:Q8_0",
     {"model_name": "user.Qwen3-8B-GGUF-Q8_0", "checkpoint": "unsloth/Qwen3-8B-GGUF:Q8_0"}),
    (["hf.co/unsloth/Qwen3-8B-GGUF", "--variant", "Q8_0"], "hf.co/unsloth/Qwen3-8B-GGUF",
     {"model_name": "user.Qwen3-8B-GGUF-Q8_0", "checkpoint": "hf.co/unsloth/Qwen3-8B-GGUF:Q8_0"}),
    (["https://huggingface.co/unsloth/Qwen3-8B-GGUF"], "huggingface.co/unsloth/Qwen3-8B-GGUF",
     {"model_name": "user.Qwen3-8B-GGUF-Q4_K_M", "checkpoint": "huggingface.co/unsloth/Qwen3-8B-GGUF:Q4_K_M"}),
    # Without a terminal to ask: the most usual one that fits.
    (["unsloth/Qwen3-8B-GGUF"], "unsloth/Qwen3-8B-GGUF",
     {"model_name": "user.Qwen3-8B-GGUF-Q4_K_M", "checkpoint": "unsloth/Qwen3-8B-GGUF:Q4_K_M"}),
    (["unsloth/Qwen3-8B-GGUF@v1", "--name", "mine", "--label", "hot", "--label", "coding", "--recipe", "other"],
     "unsloth/Qwen3-8B-GGUF@v1",
     {"model_name": "user.mine", "checkpoint": "unsloth/Qwen3-8B-GGUF:Q4_K_M@v1", "labels": ["hot", "coding"],
      "recipe": "other"}),
])
def test_a_repository(tmp_path, stub, args, asked, body):
    server = stub(models() | {VARIANTS: THREE, PULL: complete()})
    done = Cli(tmp_path, server.port)("pull", *args)
    assert done.returncode == 0, done.err
    assert server.queries(VARIANTS) == [{"checkpoint": asked, "limit": "all"}]
    assert server.bodies(PULL) == [{"recipe": "llamacpp", "stream": True} | body]
    size = "850 kB in 2 files" if "Q8_0" in body["checkpoint"] else "492 kB"
    assert done.out.splitlines()[:2] == [f"Pulling {body['model_name']}: {size}", f"  from {body['checkpoint']}"]


def test_a_vision_model_of_modelscope(tmp_path, stub):
    offer = variants(("Q4_K_M", 5, 1), suggested_labels=["vision"], mmproj_files=["mmproj-F16.gguf", "mmproj-F32.gguf"])
    server = stub(models() | {VARIANTS: offer, PULL: complete()})
    assert Cli(tmp_path, server.port)("pull", "o/r", "--source", "modelscope").returncode == 0
    assert server.queries(VARIANTS) == [{"checkpoint": "o/r", "source": "modelscope", "limit": "all"}]
    assert server.bodies(PULL)[0] == {
        "model_name": "user.Qwen3-8B-GGUF-Q4_K_M", "checkpoint": "o/r:Q4_K_M", "recipe": "llamacpp",
        "labels": ["vision"], "source": "modelscope", "stream": True}


def test_a_name_of_ollama(tmp_path, stub):
    offer = variants(("1b", 1300000000, 4), suggested_name="llama3.2", source="ollama")
    server = stub(models() | {VARIANTS: offer, PULL: complete()})
    cli = Cli(tmp_path, server.port)
    assert cli("pull", "llama3.2:1b").out.startswith(
        "Pulling user.llama3.2-1b: 1.3 GB in 4 files\n  from ollama.com/llama3.2:1b\n")
    assert server.queries(VARIANTS) == [{"checkpoint": "ollama.com/llama3.2:1b", "limit": "all"}]
    assert server.bodies(PULL)[0]["checkpoint"] == "ollama.com/llama3.2:1b"
    server.routes[VARIANTS] = (404, {"error": {"message": "there is no library/qwne3"}})
    done = cli("pull", "qwne3")
    assert done.returncode == 1 and "is not in the list (quince list --all)" in done.err


def test_an_address(tmp_path, stub):
    server = stub(models() | {PULL: complete()})
    cli = Cli(tmp_path, server.port)
    assert cli("pull", "https://example.org/d/Model-Q4_0.gguf?download=1#x").returncode == 0
    assert cli("pull", "http://example.org/a.tar.gz", "--name", "mine", "--recipe", "llamacpp").returncode == 0
    assert server.bodies(PULL) == [
        {"model_name": "user.Model-Q4_0", "checkpoint": "https://example.org/d/Model-Q4_0.gguf?download=1#x", "stream": True},
        {"model_name": "user.mine", "checkpoint": "http://example.org/a.tar.gz", "recipe": "llamacpp", "stream": True}]
    assert not server.queries(VARIANTS)


def test_a_long_table_is_cut(tmp_path, stub):
    many = variants(*[(f"Q{i}", 900000 * GB if i < 14 else 5, 1) for i in range(20)])
    server = stub(models() | {VARIANTS: many})
    t = Terminal(Cli(tmp_path, server.port), "pull", "o/r")
    t.wait_for("Which one?")
    first = t.shown()
    assert [line.split()[:2] for line in first if line.startswith(" ")][1:] == [
        [str(i + 1), f"Q{i}"] for i in [*range(12), 14]] + [["and", "7"]]
    t.type("a\r")
    t.wait_for("Q19")
    t.wait_for("Which one?")
    t.type("q\r")
    assert t.status() == 1


def test_a_variant_that_is_here_already(tmp_path, stub):
    name, word = "user.Qwen3-8B-GGUF-Q4_K_M", "unsloth/Qwen3-8B-GGUF:Q4_K_M"
    server = stub(models(model(name, checkpoint=word)) | {VARIANTS: THREE})
    done = Cli(tmp_path, server.port)("pull", word)
    assert done.returncode == 0 and "already downloaded" in done.out
    # Another owner's of the same name is not.
    server = stub(models(model(name, checkpoint="other/Qwen3-8B-GGUF:Q4_K_M")) | {
        VARIANTS: THREE, PULL: progress(GB, 4 * GB) + complete(model_name=name)})
    done = Cli(tmp_path, server.port)("pull", word)
    assert done.returncode == 0 and "already downloaded" not in done.out and server.bodies(PULL)


def test_checkpoints_by_type(tmp_path, stub):
    server = stub(models() | {PULL: complete()})
    cli = Cli(tmp_path, server.port)
    assert cli("pull", "user.flux", "--checkpoint", "main", "o/flux:a.safetensors", "--checkpoint", "vae", "o/vae",
               "--recipe", "sd-cpp").returncode == 0
    assert server.bodies(PULL) == [{"model_name": "user.flux", "checkpoints": {"main": "o/flux:a.safetensors",
                                                                            "vae": "o/vae"},
                                    "recipe": "sd-cpp", "stream": True}]
    done = cli("pull", "x", "--checkpoint", "main")
    assert done.returncode == 2 and "--checkpoint needs two values: TYPE CHECKPOINT" in done.err


def test_an_alias(tmp_path, stub):
    server = stub(models(THERE) | {PULL: complete(), "POST /internal/aliases": {"status": "success"}})
    done = Cli(tmp_path, server.port)("pull", THERE["id"], "--alias", "gemma")
    assert done.returncode == 0 and "Use it: quince run gemma" in done.out
    assert server.bodies("POST /internal/aliases") == [{"alias": "gemma", "model_name": THERE["id"]}]


def test_a_file_of_this_machine(tmp_path, stub):
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF")
    server = stub({"POST /api/v1/models/register": lambda _, body: {
        "status": "success", "model_name": body.get("model_name", "user.tiny")}})
    cli = Cli(tmp_path, server.port)
    assert cli("pull", str(path), "--quiet").out == "user.tiny\n"
    assert "stays where it is" in cli("pull", str(path), "--name", "t").out
    names = [b.get("model_name") for b in server.bodies("POST /api/v1/models/register")]
    assert names == [None, "user.t"]  # the server names what has no name
    assert server.bodies("POST /api/v1/models/register")[0]["checkpoint"] == str(path)


@pytest.mark.parametrize("typed, checkpoint", [("\r", "Q4_K_M"), ("2\r", "Q8_0"), ("9\rbf16\ry\r", "BF16"),
                                               ("Q6_K\r", "Q6_K"), ("q\r", None)])
def test_a_person_chooses(tmp_path, stub, typed, checkpoint):
    server = stub(models() | {VARIANTS: THREE, PULL: complete()})
    t = Terminal(Cli(tmp_path, server.port), "pull", "unsloth/Qwen3-8B-GGUF")
    for line in typed.split("\r")[:-1]:
        t.wait_for("[y/N]" if line == "y" else "for none [1]")
        t.type(line + "\r")
    assert t.status() == (0 if checkpoint else 1)
    shown = t.shown()
    assert [line for line in shown if "Variant" in line or re.match(r" +\d  ", line)][:4] == [
        "     Variant  Size    Memory", "  1  Q4_K_M   492 kB  fits       <- recommended",
        "  2  Q8_0     850 kB  fits       in 2 files", "  3  BF16     900 TB  too large"]
    bodies = server.bodies(PULL)
    if checkpoint:
        assert bodies[0]["checkpoint"] == f"unsloth/Qwen3-8B-GGUF:{checkpoint}"
    else:
        assert not bodies and "nothing was chosen" in shown[-2]
    assert ("it will not run here" in t.screen) == (checkpoint == "BF16")


def test_yes_asks_nothing(tmp_path, stub):
    server = stub(models() | {VARIANTS: variants(("F16", 900000 * GB, 1), ("Q8_0", 800000 * GB, 1)), PULL: complete()})
    t = Terminal(Cli(tmp_path, server.port), "pull", "o/r", "--yes")
    assert t.status() == 0
    assert server.bodies(PULL)[0]["checkpoint"] == "o/r:Q8_0"  # none fits: the smallest
    assert "it will not run here" in t.screen and "[y/N]" not in t.screen


def slowly(*events):
    """An event stream that waits before each event that is not bytes until that is set."""
    for e in events:
        if isinstance(e, bytes):
            yield e
        else:
            e.wait()


def test_progress_on_a_terminal(tmp_path, stub):
    go = threading.Event()
    server = stub(models(THERE) | {PULL: lambda q, b: slowly(progress(GB, 2 * GB, 1, 3, 0, 6 * GB), go, complete())})
    t = Terminal(Cli(tmp_path, server.port), "pull", THERE["id"])
    t.wait_for("1.0 GB of 6.0 GB")
    t.wait_for("left")
    line = t.shown()[-1]
    assert re.fullmatch(r"\[1/3\]  16 %  [\u2588\u2591]{5,30}  1.0 GB of 6.0 GB  38 MB/s  2 min 10 s left", line)
    assert len(line) <= 79
    go.set()
    assert t.status() == 0
    # What was drawn is gone, the result stays.
    shown = t.shown()
    assert shown[0] == "Pulling Gemma-3-4b-it-GGUF: 3.3 GB" and shown[2:] == ["Use it: quince run Gemma-3-4b-it-GGUF", ""]
    assert shown[1].startswith("Pulled Gemma-3-4b-it-GGUF: 1.0 GB in ")


@pytest.mark.parametrize("typed, action, said", [
    ("\r", None, "continues in the server"), ("p\r", "pause", "Paused"), ("C\r", "cancel", "Cancelled"),
    (CTRL_C.decode(), "pause", "Paused")])
def test_ctrl_c(tmp_path, stub, typed, action, said):
    never = threading.Event()
    server = stub(models(THERE) | {
        PULL: lambda q, b: slowly(progress(GB, 4 * GB), never),
        "GET /api/v1/downloads": [job(THERE["id"], id="model:x")], CONTROL: {"status": "success"}})
    t = Terminal(Cli(tmp_path, server.port), "pull", THERE["id"])
    t.wait_for("1.0 GB of 4.0 GB")
    t.type(CTRL_C)
    t.wait_for("Enter continues:")
    t.type(typed)
    assert t.status() == -signal.SIGINT
    never.set()
    assert said in t.screen
    assert server.bodies(CONTROL) == ([{"id": "model:x", "action": action}] if action else [])
    if action == "pause":
        assert f"Resume it with: quince pull {THERE['id']}" in t.screen


def test_interrupted_in_a_script(tmp_path, stub):
    import subprocess
    from cli_kit import QUINCE, environment
    never = threading.Event()
    server = stub(models(THERE) | {PULL: lambda q, b: slowly(progress(GB, 4 * GB), never)})
    with subprocess.Popen([QUINCE, "--port", str(server.port), "pull", THERE["id"]], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(tmp_path),
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as p:
        assert "25 %" in p.stderr.readline()
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=PATIENCE_S)
    never.set()
    assert p.returncode == -signal.SIGINT
    assert out.startswith("Pulling") and "The download continues in the server" in err and "downloads pause" in err


@pytest.mark.parametrize("routes, part", [
    ({}, "has no GET /api/v1/pull/variants"),
    ({VARIANTS: (404, {"error": {"message": "there is no repository o/r"}})}, "there is no repository"),
    ({VARIANTS: THREE, PULL: (400, {"error": {"message": "the disk is full", "code": "x"}})}, "the disk is full"),
    ({VARIANTS: THREE, PULL: progress(1, 2) + event("error", error="wrong \u001b[2J hash")}, "wrong ?[2J hash"),
    ({VARIANTS: THREE, PULL: progress(1, 2) + event("error", error={"message": "deep", "code": "c"})}, "deep"),
    ({VARIANTS: THREE, PULL: progress(1, 2)}, "closed the connection; resume the download when it runs"),
    ({VARIANTS: THREE, PULL: b"event: progress\ndata: {oops\n\n"}, "reply is invalid"),
])
def test_failures(tmp_path, stub, routes, part):
    cli = Cli(tmp_path, stub(models() | routes).port)
    done = cli("pull", "o/r")
    assert done.returncode == 1 and part in done.err and "Pulled" not in done.out
    done = cli("pull", "o/r", "--json")
    assert done.returncode == 1 and json.loads(done.out.splitlines()[-1])["error"]["message"]
    done = cli("pull", "o/r", "--quiet")
    assert done.returncode == 1 and done.out == "" and part in done.err


JOBS = [job("Qwen3-Coder-30B-A3B-Instruct-GGUF-" + "x" * 60), job("user.b", phase="waiting", bytes_per_second=0),
        job("user.c", "paused", bytes_per_second=0), job("user.d", "completed", cumulative_bytes_downloaded=5 * GB),
        job("user.e", "error", error="there is no room: 3 GB are needed, 1 GB is free"),
        job("user.f", total_download_size=0, cumulative_bytes_downloaded=0, phase="resolving", bytes_per_second=0)]


def test_downloads(tmp_path, stub):
    server = stub({"GET /api/v1/downloads": JOBS, CONTROL: {"status": "success"}})
    cli = Cli(tmp_path, server.port)
    assert cli("downloads").out == """\
Model                              State      Done   Size    Rate     Left
Qwen3-Coder-30B-\u2026xxxxxxxxxxxxxxxx  fetching   40 %   5.0 GB  38 MB/s  1 min 18 s
user.b                             waiting    40 %   5.0 GB
user.c                             paused     40 %   5.0 GB
user.d                             completed  100 %  5.0 GB
user.e                             error      40 %   5.0 GB
user.f                             resolving

user.e:
  there is no room: 3 GB are needed, 1 GB is free
"""
    assert json.loads(cli("downloads", "--json").out) == JOBS
    for args, said in [(("pause", "user.b"), "Paused user.b"), (("resume", "model:user.c"), "Goes on: model:user.c"),
                       (("cancel", "user.b"), "Cancelled user.b"), (("remove", "user.d", "user.e"), "Removed")]:
        done = cli("downloads", *args)
        assert done.returncode == 0 and said in done.out
    assert server.bodies(CONTROL) == [
        {"id": "model:user.b", "action": "pause"}, {"id": "model:user.c", "action": "resume"},
        {"id": "model:user.b", "action": "cancel"}, {"id": "model:user.d", "action": "remove"},
        {"id": "model:user.e", "action": "remove"}]
    done = cli("downloads", "pause", "nobody", "user.b")
    assert done.returncode == 1 and "no download 'nobody'" in done.err and done.out == "Paused user.b\n"
    for args in (("stop",), ("pause",)):
        assert cli("downloads", *args).returncode == 2
    server.routes["GET /api/v1/downloads"] = {"downloads": []}
    assert cli("downloads").out == "No downloads\n" and json.loads(cli("downloads", "--json").out) == []


def test_downloads_live(tmp_path, stub):
    looks = []

    def jobs(query, body):
        looks.append(1)
        n = len(looks)
        return JOBS[2:5] + [job("user.b", "completed" if n > 3 else "downloading",
                                cumulative_bytes_downloaded=min(n, 3) * GB, total_download_size=3 * GB)]
    t = Terminal(Cli(tmp_path, stub({"GET /api/v1/downloads": jobs}).port), "downloads")
    t.wait_for("Ctrl-C ends this view")
    assert t.status() == 0 and len(looks) == 4
    shown = t.shown()
    assert shown[4] == "user.b  completed  100 %  3.0 GB" and not any("Ctrl-C" in line for line in shown)
    t = Terminal(Cli(tmp_path, stub({"GET /api/v1/downloads": JOBS * 9}).port), "downloads")
    t.wait_for("Ctrl-C ends this view")
    t.wait_for("Ctrl-C ends this view")
    t.type(CTRL_C)
    assert t.status() == -signal.SIGINT
    assert all(len(line) <= 80 for line in t.shown())


def test_no_color(tmp_path, stub):
    server = stub(models() | {VARIANTS: THREE, PULL: progress(1, 2) + complete()})
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        t = Terminal(Cli(tmp_path, server.port), "pull", "o/r", "--yes", **env)
        assert t.status() == 0
        assert not re.search(r"\x1b\[[0-9;]*m", t.screen)
        assert ("\x1b" in t.screen) == ("NO_COLOR" in env)


CHAT = "POST /v1/chat/completions"


@pytest.mark.parametrize("command", ["run", "load"])
@pytest.mark.parametrize("name, answer", [("Gemma-3-4b-it-GGUF", "y"), ("unsloth/Qwen3-8B-GGUF:Q8_0", "y"),
                                          ("Gemma-3-4b-it-GGUF", "n")])
def test_using_a_model_offers_to_fetch_it(tmp_path, stub, command, name, answer):
    server = stub(models(HERE, THERE) | {VARIANTS: THREE, PULL: complete(), "POST /api/v1/load": {"status": "success"}})
    server.routes |= {route: b'data: {"choices":[{"delta":{"content":"yes"}}]}\n\ndata: [DONE]\n\n'
                      for route in (CHAT, "POST /api/v1/chat/completions")}
    t = Terminal(Cli(tmp_path, server.port), command, name, *["hello"] * (command == "run"))
    t.wait_for(f"{name} is not installed. Download it")
    t.type(answer + "\r")
    assert t.status() == (0 if answer == "y" else 1)
    used = [body.get("model") or body.get("model_name") for asked, _, body in server.asked
            if asked.endswith(("completions", "load"))]
    if answer == "n":
        assert not used and not server.bodies(PULL)
    else:
        assert used == [server.bodies(PULL)[0]["model_name"]] == ["user.Qwen3-8B-GGUF-Q8_0" if "/" in name else name]
        assert ("yes" if command == "run" else "is loaded") in t.screen and "Use it" not in t.screen


def test_nothing_is_offered_in_a_script_or_for_an_unknown_name(tmp_path, stub):
    server = stub(models(THERE) | {"POST /api/v1/load": (404, {"error": {"message": "not here"}})})
    cli = Cli(tmp_path, server.port)
    assert cli("load", THERE["id"]).returncode == 1
    assert [name for name, _, _ in server.asked] == ["POST /api/v1/load"]
    t = Terminal(cli, "load", "nobody")
    assert t.status() == 1 and "not here" in t.screen and "Download" not in t.screen
