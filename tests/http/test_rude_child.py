"""A child that breaks the contract harms only the request it was given."""
import json
import shutil
import threading

import pytest
from conftest import BUILD, QUICK, ROOT, House, events, fake_model, wait_until

REPLIES = ["not-http", "status-500", "status-401", "frame-garbage", "frame-unknown-event", "frame-wrong-type",
           "frame-bad-utf8", "frame-negative-bytes", "frame-huge-bytes", "frame-wild-index",
           "frame-bytes-of-a-text", "frame-sound-without-bytes", "cut-in-bytes", "cut-at-once",
           "cut-in-a-frame", "end-without-done", "redirect", "nothing"]
CONTROL = ["control-garbage", "control-unknown", "control-endless-line", "control-wrong-type"]


@pytest.fixture(scope="module")
def rude(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rude")
    for program in ("quince-llm", "quince-bridge"):
        shutil.copy(ROOT / "tests" / "http" / "rude_backend.py", folder / program)
    shutil.copy(BUILD / "bin" / "quince-inspect", folder)
    h = House(tmp_path_factory.mktemp("rude-house"), folder)
    server = h.start()
    server.house = h
    yield server
    assert server.stop() == 0


@pytest.mark.release
@pytest.mark.parametrize("kind", REPLIES)
def test_broken_replies(rude, kind):
    model = rude.house.model(rude, kind, rude=kind)
    reply = rude.chat(model)
    assert reply.status in (500, 502, 503), (kind, reply.body)
    assert reply.json["error"]["message"]
    if QUICK:
        return  # each broken reply costs a restart with its back-off
    connection, response = rude.stream(model)
    if response.status == 200:
        chunks = list(events(response))
        assert "error" in chunks[-1], (kind, chunks)
    else:
        assert response.status in (500, 502, 503)
    connection.close()
    assert rude.get("/live").status == 200


def test_a_child_that_talks_nonsense_is_replaced(rude):
    """What broke one reply may break the next: the retry already meets a new process."""
    model = rude.house.model(rude, "nonsense", rude="frame-garbage")
    assert rude.post("/v1/load", {"model_name": model}).status == 200
    (pid,) = rude.children()
    assert rude.chat(model).status == 502
    wait_until(lambda: pid not in rude.children(), what="the end of the broken process")


@pytest.mark.parametrize("path", ["/v1/embeddings", "/api/embed"])
def test_an_error_right_behind_the_first_vectors_has_its_status(rude, path):
    """Vectors of many inputs are sent as they come. Until the first byte has been sent, an error can still be told."""
    model = f"user.error-after-vectors{path.replace('/', '-')}"
    assert rude.post("/v1/models/register", {
        "model_name": model, "recipe": "remote", "model": json.dumps({"rude": "vectors-then-error"}),
        "base_url": "http://127.0.0.1:9/v1"}).status == 200
    reply = rude.post(path, {"model": model, "input": [f"{i}" for i in range(200)]})
    assert reply.status == 400 and "no such word" in json.dumps(reply.json), (reply.status, reply.body)
    assert "Transfer-Encoding" not in reply.headers and int(reply.headers["Content-Length"]) == len(reply.body)


def loading(server, model):
    return [m for m in server.get("/v1/health").json["all_models_loaded"]
            if m["model_name"] == model and m["status"] == "loading"]


def progress(server, model):
    return [m["progress"] for m in loading(server, model)]


def test_a_child_that_floods_its_control_socket(rude):
    model = rude.house.model(rude, "control-flood", rude="control-flood")
    replies = []
    t = threading.Thread(target=lambda: replies.append(rude.chat(model)))
    t.start()
    wait_until(lambda: 0.5 in progress(rude, model), what="the flood")
    for _ in range(20):
        assert rude.get("/live").status == 200
    assert rude.post("/v1/unload", {"model_name": model}).status == 200
    t.join()
    assert replies and replies[0].status == 503


def test_words_after_the_end_are_not_heard(rude):
    model = rude.house.model(rude, "text-after-end", rude="text-after-end")
    assert rude.chat(model).json["choices"][0]["message"]["content"] == "hi"


@pytest.mark.parametrize("kind", CONTROL)
def test_broken_control_lines(rude, kind):
    model = rude.house.model(rude, kind, rude=kind)
    reply = rude.chat(model)
    assert reply.status in (500, 502, 503), (kind, reply.body)
    assert reply.json["error"]["message"]
    assert rude.get("/live").status == 200


def test_a_child_that_never_becomes_ready_can_be_unloaded(rude):
    model = rude.house.model(rude, "silent", rude="silent")
    replies = []
    t = threading.Thread(target=lambda: replies.append(rude.chat(model)))
    t.start()
    wait_until(lambda: loading(rude, model), what="the load")
    assert rude.post("/v1/unload", {"model_name": model}).status == 200
    t.join()
    assert replies and replies[0].status >= 400
    assert replies[0].json["error"]["message"]


def test_a_program_that_is_not_there(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    shutil.copy(BUILD / "bin" / "quince-inspect", empty)
    house = House(tmp_path, empty)
    server = house.start()
    model = server.register("user.x", fake_model(tmp_path))
    reply = server.chat(model)
    assert reply.status >= 500
    assert "quince-llm" in reply.json["error"]["message"]
    assert server.stop() == 0
