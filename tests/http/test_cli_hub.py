"""The command line from one end to the other: `quince` against a real server that fetches from the tests' hub,
over the fake backend. What is typed, what is seen, and what lies on the disk afterwards."""
import json
import re
import signal

import pytest
from cli_kit import CTRL_C, Cli, Terminal
from conftest import Depot, model_file, wait_until
from hub_others import OllamaRegistry

REPO = "unsloth/Qwen3-0.6B-GGUF"
Q4, Q8 = model_file("q4", 400000), model_file("q8", 700000)


@pytest.fixture
def depot(house, hub):
    hub.repo(REPO, {"Qwen3-0.6B-Q4_K_M.gguf": Q4, "Qwen3-0.6B-Q8_0.gguf": Q8, "README.md": b"words"})
    return Depot(house, hub)


@pytest.fixture
def quince(depot, hub, tmp_path):
    return Cli(tmp_path, depot.start("--ollama-registry", hub.url).port)


def test_a_name_that_means_something_else_is_not_here(quince):
    done = quince("pull", f"{REPO}:Q8_0", "--name", "mine")
    assert done.returncode == 0 and "Pulled user.mine: 700 kB" in done.out
    done = quince("pull", f"{REPO}:Q4_K_M", "--name", "mine")
    assert done.returncode == 0 and "already" not in done.out, done.out
    assert json.loads(quince("show", "user.mine", "--json").out)["checkpoint"] == f"{REPO}:Q4_K_M"
    assert "(already downloaded)" in quince("pull", f"{REPO}:Q4_K_M", "--name", "mine").out


def test_from_search_to_deletion(quince, depot, hub):
    assert re.search(rf"^{REPO} ", quince("search", "qwen3").out, re.M)
    done = quince("pull", REPO)
    assert done.returncode == 0, done.err
    name = "user.Qwen3-0.6B-GGUF-Q4_K_M"
    lines = done.out.splitlines()
    assert lines[:2] == [f"Pulling {name}: 400 kB", f"  from {REPO}:Q4_K_M"]
    assert re.fullmatch(rf"Pulled {name}: 400 kB in \d+ s \(.*/s\)", lines[2]) and lines[3] == f"Use it: quince run {name}"
    # What came is used, shown, fetched no second time.
    assert "word" in quince("run", name, "hello").out
    assert re.search(rf"^{name} +400 kB", quince("list").out, re.M)
    shown = json.loads(quince("show", name, "--json").out)
    assert shown["checkpoint"] == f"{REPO}:Q4_K_M" and [f["size_bytes"] for f in shown["files"]] == [400000]
    sent = hub.sent(host="files")
    assert sent == 400000
    for word in (f"{REPO}:Q4_K_M", f"hf.co/{REPO}:Q4_K_M", name):
        assert "(already downloaded)" in quince("pull", word).out
    assert hub.sent(host="files") == sent
    # Further names; its definition.
    assert quince("alias", "add", "qwen", name).returncode == 0
    assert quince("alias", "list").out.splitlines()[1].split() == ["qwen", name]
    assert "word" in quince("run", "qwen", "hello").out
    definition = json.loads(quince("export", "qwen").out)
    assert definition["checkpoint"] == f"{REPO}:Q4_K_M" and definition["recipe"] == "llamacpp"
    done = quince("delete", name, "--yes")
    assert done.returncode == 0 and done.out == f"Deleted {name} (400 kB freed)\n", done.err
    assert not list(depot.blobs(REPO).glob("*")) and "Qwen3" not in quince("list").out
    # The definition brings it back.
    done = quince("import", "-", stdin=json.dumps({**definition, "model_name": name}).encode())
    assert done.returncode == 0 and f"Download it: quince pull {name}" in done.out, done.err
    assert quince("pull", name, "--quiet").out == name + "\n"
    assert quince("cleanup", "--dry-run").returncode == 0


def test_a_name_of_the_list(quince, depot, hub):
    done = quince("pull", "Qwen3-0.6B-GGUF", "--json")
    assert done.returncode == 1  # this server's list is empty, and the tests' Ollama does not know it
    depot.listed({"Qwen3-0.6B-GGUF": {"checkpoint": f"{REPO}:Q8_0", "recipe": "llamacpp", "size": 0.0007}})
    quince.port = depot.house.start("--hf-endpoint", hub.url, "--allow-private-hubs").port
    assert "Qwen3-0.6B-GGUF  700 kB" in quince("list", "--all").out
    lines = [json.loads(line) for line in quince("pull", "Qwen3-0.6B-GGUF", "--json").out.splitlines()]
    assert lines[-1]["event"] == "complete" and lines[-1]["model_name"] == "Qwen3-0.6B-GGUF"
    assert {line["event"] for line in lines[:-1]} <= {"progress"}
    assert "word" in quince("run", "Qwen3-0.6B-GGUF", "hello").out


def test_a_name_of_ollama(quince, hub):
    OllamaRegistry(hub).model("library/tiny", "1b", model=model_file("ollama", 5000), template=b"{{ .Prompt }}")
    done = quince("pull", "tiny:1b")
    assert done.returncode == 0, done.err
    assert "Pulling user.tiny-1b: 5.0 kB in 2 files" in done.out
    assert "word" in quince("run", "user.tiny-1b", "hello").out


def test_an_address(quince, hub):
    hub.files["/plain/Some-Q4_0.gguf"] = hub.files["Some-Q4_0.gguf"] = model_file("plain", 5000)
    done = quince("pull", hub.plain("Some-Q4_0.gguf"))
    assert done.returncode == 0, done.err
    assert "word" in quince("run", "user.Some-Q4_0", "hello").out


def test_a_person_chooses_and_watches(quince, hub):
    hub.rate = 50000
    t = Terminal(quince, "pull", REPO)
    t.wait_for("Which one?")
    t.type("2\r")
    t.wait_for("of 700 kB")
    t.wait_for("left")
    line = [line for line in t.shown() if "\u2588" in line or "\u2591" in line][-1]
    assert re.fullmatch(r" +\d+ %  [\u2588\u2591]+  [\d.]+ kB of 700 kB  [\d.]+ k?B/s  (\d+ min )?\d+ s left", line)
    hub.rate = 0
    assert t.status() == 0
    assert "Pulled user.Qwen3-0.6B-GGUF-Q8_0: 700 kB in " in t.screen


@pytest.mark.parametrize("key", ["p", "c", ""])
def test_ctrl_c_and_afterwards(quince, hub, depot, key):
    hub.rate = 20000
    name = "user.Qwen3-0.6B-GGUF-Q8_0"
    t = Terminal(quince, "pull", f"{REPO}:Q8_0")
    t.wait_for("kB/s")
    t.type(CTRL_C)
    t.wait_for("Enter continues:")
    t.type(key + "\r")
    assert t.status() == -signal.SIGINT
    jobs = json.loads(quince("downloads", "--json").out)
    assert [(j["model_name"], j["status"]) for j in jobs] == [
        (name, {"p": "paused", "c": "cancelled", "": "downloading"}[key])]
    hub.rate = 0
    if key == "":
        wait_until(lambda: name in quince("list").out, what="the download's end")
    elif key == "p":
        assert name in quince("downloads").out and "paused" in quince("downloads").out
        assert quince("pull", f"{REPO}:Q8_0", "--quiet").out == name + "\n"
    else:
        wait_until(lambda: not depot.leftovers(), what="the partial file's end")
        assert quince("pull", f"{REPO}:Q8_0").returncode == 0
    assert "word" in quince("run", name, "hello").out
    if key != "c":  # nothing but what was on its way came twice
        assert hub.sent(host="files") <= 700000 + 8 * 128 * 1024


def test_downloads_resume(quince, hub):
    hub.rate = 20000
    name = "user.Qwen3-0.6B-GGUF-Q8_0"
    t = Terminal(quince, "pull", f"{REPO}:Q8_0")
    t.wait_for("kB/s")
    assert quince("downloads", "pause", name).out == f"Paused {name}\n"
    assert t.status() == 1  # who watched is told
    assert "was paused" in t.screen
    hub.rate = 0
    assert quince("downloads", "resume", name).returncode == 0
    wait_until(lambda: name in quince("list").out, what="the download's end")


def test_failures_say_what_to_do(quince, hub):
    for args, part in [(("pull", "nobody/nothing"), "nobody/nothing"), (("pull", f"{REPO}:Q2_K"), "Q2_K"),
                       (("pull", "no-such-model"), "quince list --all"), (("search", "x"), "3"),
                       (("pull", REPO, "--source", "nowhere"), "source")]:
        done = quince(*args)
        assert done.returncode == 1 and done.out.count("Pulled") == 0 and part in done.err, (args, done.err)
        assert json.loads(quince(*args, "--json").out.splitlines()[-1])["error"]["message"]
    hub.fault("Q8_0.gguf", data=b"x" * 700000)
    done = quince("pull", f"{REPO}:Q8_0")
    assert done.returncode == 1 and "Pulled" not in done.out and done.err.splitlines()[-1].startswith("quince: ")
    assert "Q8_0" not in quince("list").out
