"""embed, rerank, transcribe, say and image: `quince` as a client of the server's endpoints for vectors, sounds and
pictures, with models of the fake backend, in pipes and on a terminal."""
import array
import base64
import json
import shutil
import time

import pytest
from cli_kit import Cli, Terminal
from conftest import House, keeping
from test_media import TEXT, WAV
from test_vectors import bits, value


@pytest.fixture(scope="module")
def tasks(tmp_path_factory, fake_backend_dir):
    """A server with models for each task, and a chat model."""
    folder = tmp_path_factory.mktemp("tasks")
    backends = folder / "backends"
    shutil.copytree(fake_backend_dir, backends)
    shutil.copy(backends / "quince-llm", backends / "quince-bridge")
    with keeping(House(folder, backends)) as house:
        server = house.start("--max-loaded-models", "-1")
        far(server, "vectors", "embeddings")
        far(server, "ranks", "reranking")
        house.model(server, "talks")
        house.model(server, "hears", "whispercpp", script=[
            {"ev": "segment", "text": " Hello there.", "start": 0, "end": 1.5},
            {"ev": "segment", "text": " A < B --> C. ", "start": 1.5, "end": 3661.25},
            {"ev": "done", "reason": "stop", "language": "de"}])
        house.model(server, "echoes", "whispercpp", echo_job=True)
        house.model(server, "speaks", "kokoro", tokens=3)
        house.model(server, "recites", "kokoro", echo_job=True)
        house.model(server, "paints", "sd-cpp", tokens=2)
        house.model(server, "sketches", "sd-cpp", echo_job=True)
        server.house = house
        yield server


@pytest.fixture
def cli(tasks, tmp_path):
    return Cli(tmp_path, tasks.port)


def far(server, name, *labels, **options):
    """A remote model, whose process is the fake backend; the definition's "model" has its options."""
    reply = server.post("/v1/models/register", {
        "model_name": f"user.{name}", "recipe": "remote", "model": json.dumps(options),
        "base_url": "http://127.0.0.1:9/v1", "labels": list(labels)})
    assert reply.status == 200, reply.body


def vector(text):
    return bits(value(text, k) for k in range(4))


# ---- vectors ----

def test_a_vector_a_line(cli):
    done = cli("embed", "alpha", "two words")
    assert (done.returncode, done.err) == (0, "")
    assert [bits(json.loads(line)) for line in done.out.splitlines()] == [vector("alpha"), vector("two words")]
    # More lines than one request has, without a line break at the end, and with those of Windows.
    texts = [f"line {i} \u00e4" for i in range(600)]
    done = cli("embed", "--model", "user.vectors", stdin="\r\n".join(texts).encode())
    assert [bits(json.loads(line)) for line in done.out.splitlines()] == [vector(t) for t in texts]


def test_vectors_in_base64_and_as_floats(cli, tmp_path):
    done = cli("embed", "--format", "base64", "alpha", "beta")
    assert [base64.b64decode(line) for line in done.out.splitlines()] == [vector("alpha"), vector("beta")]
    assert cli("embed", "--format", "f32", stdin=b"alpha\nbeta\n").stdout == vector("alpha") + vector("beta")
    file = tmp_path / "v.f32"
    done = cli("embed", "--format=f32", "-o", str(file), "alpha")
    assert (done.returncode, done.out) == (0, "") and file.read_bytes() == vector("alpha")
    assert array.array("f", file.read_bytes())[0] == pytest.approx(value("alpha", 0))
    done = cli("embed", "--format", "json", "--output", str(file), "beta")
    assert done.returncode == 1 and "--yes replaces it" in done.err and file.read_bytes() == vector("alpha")
    assert cli("embed", "--output", str(file), "--yes", "beta").returncode == 0
    assert bits(json.loads(file.read_text())) == vector("beta")


def test_texts_without_a_vector(cli):
    done = cli("embed", stdin=b"alpha\n\nbeta\n")
    assert (done.returncode, done.out) == (1, "") and "line 2 is empty" in done.err
    done = cli("embed", "alpha", "")
    assert done.returncode == 1 and "text 2 is empty" in done.err
    for stdin, problem in ((b"a\xffb\n", "line 1 of standard input is not UTF-8"), (b"a\0b", "line 1 has a NUL byte")):
        done = cli("embed", stdin=stdin)
        assert done.returncode == 1 and problem in done.err
    assert cli("embed").returncode == 2 and cli("embed", "--format", "xml", "x").returncode == 2
    assert cli("embed", stdin=b"").out == ""  # no line, no vector


def test_raw_numbers_are_not_for_a_terminal(cli):
    t = Terminal(cli, "embed", "--format", "f32", "alpha")
    assert t.status() == 1 and "-o FILE" in t.screen and "\x00" not in t.screen
    t = Terminal(cli, "embed", "alpha")
    assert t.status() == 0 and bits(json.loads(t.screen)) == vector("alpha")


# ---- relevance ----

DOCUMENTS = ["one", "two \u00e4", "three", "four"]
RANKED = sorted(DOCUMENTS, key=lambda d: -value(d, 0))


def test_the_most_relevant_document_comes_first(cli, tmp_path):
    wanted = "".join(f"{value(d, 0):.4f}\t{d}\n" for d in RANKED)
    done = cli("rerank", "query", *DOCUMENTS)
    assert (done.returncode, done.out, done.err) == (0, wanted, "")
    assert cli("rerank", "query", stdin="\n\n".join(DOCUMENTS).encode()).out == wanted
    file = tmp_path / "documents"
    file.write_text("\n".join(DOCUMENTS))
    assert cli("rerank", "query", "--file", str(file), "--model", "user.ranks").out == wanted
    assert cli("rerank", "query", "--top", "2", *DOCUMENTS).out == "".join(wanted.splitlines(True)[:2])
    results = json.loads(cli("--json", "rerank", "query", *DOCUMENTS).out)["results"]
    assert [(r["document"]["text"], DOCUMENTS[r["index"]]) for r in results] == [(d, d) for d in RANKED]


def test_documents_are_needed(cli, tmp_path):
    for args in ((), ("query",), ("query", "a", "--file", "x"), ("query", "a", "--top", "0")):
        assert cli("rerank", *args).returncode == 2, args
    for args, problem in ((("--file", str(tmp_path / "none")), "No such file"), (("--file", str(tmp_path)), "directory"),
                          (("--file", "/dev/null"), "no documents")):
        done = cli("rerank", "query", *args)
        assert done.returncode == 1 and problem in done.err, done.err


# ---- sounds to text ----

def test_a_transcription_in_every_form(cli, tmp_path):
    file = tmp_path / "a.wav"
    file.write_bytes(WAV)
    model = ("--model", "user.hears")
    done = cli("transcribe", str(file), *model)
    assert (done.returncode, done.out, done.err) == (0, TEXT + "\n", "")
    assert cli("transcribe", "-", *model, stdin=WAV).out == TEXT + "\n"
    assert cli("transcribe", str(file), *model, "--format", "srt").out.startswith(
        "1\n00:00:00,000 --> 00:00:01,500\nHello there.\n\n2\n")
    assert cli("transcribe", str(file), *model, "--format", "vtt").out.startswith("WEBVTT\n")
    for args in (("--format", "json"), ("--json",)):
        reply = json.loads(cli("transcribe", str(file), *model, *args).out)
        assert (reply["task"], [s["end"] for s in reply["segments"]]) == ("transcribe", [1.5, 3661.25])
    out = tmp_path / "out.srt"
    assert cli("transcribe", str(file), *model, "--translate", "--format", "json", "-o", str(out)).out == ""
    assert json.loads(out.read_text())["task"] == "translate"


def test_what_a_transcription_asks_of_the_model(cli, tmp_path):
    file = tmp_path / "a.wav"
    file.write_bytes(WAV + bytes(3_000_000))
    done = cli("transcribe", "--language", "German", str(file), "--model", "user.echoes")
    job = json.loads(done.out)
    assert job["transcribe"]["language"] == "de" and job["bytes"] == len(WAV) + 3_000_000


def test_sounds_that_cannot_be_read(cli, tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("no sound")
    for args, problem in (((str(file),), "unknown audio format"), ((str(tmp_path / "none"),), "No such file"),
                          ((str(tmp_path),), "cannot be read"), (("/dev/null",), "is empty")):
        done = cli("transcribe", *args, "--model", "user.hears")
        assert done.returncode == 1 and problem in done.err, (args, done.err)
    assert cli("transcribe", str(file), "--format", "xml").returncode == 2
    t = Terminal(cli, "transcribe", "-")
    assert t.status() == 2 and "a terminal cannot send sound" in t.screen


def test_a_text_shown_on_a_terminal_cannot_control_it(cli, tasks, tmp_path):
    tasks.house.model(tasks, "rude", "whispercpp", script=[
        {"ev": "segment", "text": "red\x1b[31m", "start": 0, "end": 1}, {"ev": "done", "reason": "stop"}])
    file = tmp_path / "a.wav"
    file.write_bytes(WAV)
    t = Terminal(cli, "transcribe", str(file), "--model", "user.rude")
    assert t.status() == 0 and "red" in t.screen and "\x1b[31m" not in t.screen
    assert "\x1b[31m" in cli("transcribe", str(file), "--model", "user.rude").out


# ---- text to sound ----

def test_speech_is_written_to_a_file(cli, tmp_path):
    file = tmp_path / "hello.wav"
    done = cli("say", "Hello.", "-o", str(file), "--model", "user.speaks")
    assert (done.returncode, done.out, done.err) == (0, "", "") and file.read_bytes() == b"word word word "
    done = cli("say", "Hello.", "-o", str(file), "--model", "user.speaks")
    assert done.returncode == 1 and "exists" in done.err
    done = cli("--json", "say", "Hello.", "-o", str(file), "--yes", "--model", "user.speaks")
    assert json.loads(done.out) == {"output": str(file), "bytes": 15}
    assert cli("say", "--model", "user.speaks", stdin=b"Hello.\n").out == "word word word "


def test_what_a_speech_asks_of_the_model(cli, tmp_path):
    def job(*args, **more):
        done = cli("say", "--model", "user.recites", *args, **more)
        assert done.returncode == 0, done.err
        return json.loads(done.out)["speak"]

    said = job("Hello.", "--voice", "alloy", "--speed", "1.5", "--format", "flac")
    assert (said["input"], said["voice"], said["speed"], said["format"]) == ("Hello.", "alloy", 1.5, "flac")
    assert job("Read this:", stdin=b"one\ntwo\n")["input"] == "Read this:\n\none\ntwo"
    for name, wanted in (("a.opus", "opus"), ("a.MP3", "mp3"), ("a.txt", "mp3"), ("wav", "mp3")):
        file = tmp_path / name
        assert cli("say", "Hello.", "--model", "user.recites", "-o", str(file)).returncode == 0
        assert json.loads(file.read_bytes())["speak"]["format"] == wanted, name


def test_sound_is_not_for_a_terminal(cli):
    t = Terminal(cli, "say", "Hello.", "--model", "user.speaks")
    assert t.status() == 1 and "a terminal cannot show sound" in t.screen and "-o FILE" in t.screen
    assert "word" not in t.screen
    done = cli("say", "--model", "user.speaks", stdin=b"")
    assert done.returncode == 1 and "the text is empty" in done.err
    done = cli("say", "Hello.", "--speed", "9", "--model", "user.speaks")
    assert done.returncode == 1 and "speed" in done.err  # the server's sentence
    assert cli("say", "Hello.", "--speed", "fast").returncode == cli("say").returncode == 2


# ---- text to pictures ----

def test_a_picture_is_written_to_a_file(cli, tmp_path):
    file = tmp_path / "cat.png"
    assert cli("image", "a cat", "-o", str(file), "--model", "user.paints").returncode == 0
    assert file.read_bytes() == b"word word "
    assert cli("image", "--model", "user.paints", stdin=b"a cat").stdout == b"word word "
    t = Terminal(cli, "image", "a cat", "--model", "user.paints")
    assert t.status() == 1 and "a terminal cannot show a picture" in t.screen


def test_what_a_picture_asks_of_the_model(cli, tmp_path):
    file = tmp_path / "cat.jpg"
    done = cli("image", "a cat", "--model", "user.sketches", "-o", str(file), "--size", "256x512", "--steps", "7",
               "--cfg-scale", "2.5", "--seed", "42", "--negative", "dogs")
    assert done.returncode == 0, done.err
    job = json.loads(file.read_bytes())
    assert job["sampling"]["seed"] == 42
    assert {k: job["image"][k] for k in ("prompt", "negative_prompt", "width", "height", "steps", "cfg_scale", "format")} == {
        "prompt": "a cat", "negative_prompt": "dogs", "width": 256, "height": 512, "steps": 7, "cfg_scale": 2.5,
        "format": "jpeg"}
    for args in (("--steps", "many"), ("--cfg-scale", "x"), ("--seed", "1.5")):
        assert cli("image", "a cat", *args).returncode == 2
    done = cli("image", "a cat", "--size", "huge", "--model", "user.paints")
    assert done.returncode == 1 and "size" in done.err


# ---- which model ----

def test_the_model_used_last_is_the_default(cli, tasks):
    assert cli("run", "user.talks", "hello").returncode == 0
    time.sleep(1.1)  # last_use has seconds
    assert cli("embed", "alpha").returncode == 0
    assert cli("chat", "hello").returncode == 0  # an embedding model cannot converse
    done = cli("image", "a cat", "--model", "user.sketches")
    assert done.returncode == 0
    assert "prompt" in cli("image", "a cat").out


def test_a_model_that_cannot_and_no_model_at_all(cli, house, tmp_path):
    for args in (("embed", "x", "--model", "user.speaks"), ("rerank", "q", "d", "--model", "user.paints"),
                 ("say", "x", "--model", "user.talks"), ("image", "x", "--model", "user.talks")):
        done = cli(*args)
        assert done.returncode == 1 and done.err.startswith("quince: ") and args[-1] in done.err, done.err
    assert "user.absent" in cli("say", "x", "--model", "user.absent").err
    bare = Cli(tmp_path, house.start().port)
    file = tmp_path / "a.wav"
    file.write_bytes(WAV)
    for args, label in ((("embed", "x"), "embeddings"), (("rerank", "q", "d"), "reranking"), (("say", "x"), "tts"),
                        (("transcribe", str(file)), "transcription"), (("image", "x"), "image")):
        done = bare(*args)
        assert done.returncode == 1 and f"quince list --all {label}" in done.err, done.err
        error = json.loads(bare("--json", *args).out)["error"]
        assert error["code"] == "not_found" and "quince pull" in error["message"]
