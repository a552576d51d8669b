"""A model's process dies: the client learns how, and what it said last, in every API; /health shows the models
that keep dying until they are well or given up."""
import contextlib
import json
import os
import signal
import threading

import pytest
from conftest import BUILD, gguf, wait_until

WORDS = "".join(f"line {n} of many\n" for n in range(30)) + "GGML_ASSERT(ne == 4096) failed\n"
LAST_20 = [f"line {n} of many" for n in range(11, 30)] + ["GGML_ASSERT(ne == 4096) failed"]



def said(log):
    """A child's last lines less those that it writes when the machine is so busy that its loop is late."""
    return [line for line in log if " loop a callback blocked" not in line]


# Every API's way to ask for an answer.
ASK = {
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "x"}]},
    "/v1/completions": {"prompt": "x"},
    "/v1/responses": {"input": "x"},
    "/v1/messages": {"messages": [{"role": "user", "content": "x"}], "max_tokens": 9},
    "/api/chat": {"messages": [{"role": "user", "content": "x"}], "stream": False},
    "/api/generate": {"prompt": "x", "stream": False},
}


def text_of_error(reply):
    error = reply.json["error"]
    return error if isinstance(error, str) else error["message"]


def test_refused_load(house, server):
    """The model's file is no good: the child says why and leaves by itself."""
    model = house.model(server, "bad", load_fail="tensor blk.0.attn_q: shape [3] is not [4]", last_words=WORDS)
    reply = server.post("/v1/load", {"model_name": model})
    assert reply.status == 500
    error = reply.json["error"]
    assert error["code"] == "model_load_error" and "blk.0.attn_q" in error["message"]
    details = error["details"]
    assert details["exit_code"] == 1 and details["signal"] is None and details["killed_by_server"] is False
    assert len(details["log"]) == 20  # the child's own line about the failure is the last
    log = said(details["log"])
    assert "blk.0.attn_q" in log[-1] and len(log) > 1 and log[:-1] == LAST_20[1 - len(log):]
    for path, body in ASK.items():
        reply = server.post(path, {"model": model, **body})
        assert reply.status == 500, (path, reply.body)
        assert "blk.0.attn_q" in text_of_error(reply)


def test_who_started_the_server_ignored_its_children(house):
    """Signals that are ignored are inherited; with this one, the kernel tells no parent how a process ended."""
    server = house.start(launcher=("env", "--ignore-signal=CHLD"))
    model = house.model(server, "crasher", crash_after=1)
    reply = server.chat(model)
    assert reply.status == 502, reply.body
    assert "signal 6" in reply.json["error"]["message"]
    assert reply.json["error"]["details"]["signal_name"] == "SIGABRT"


def test_crash_while_loading(house, server):
    """Three tries, then the crash report of the last one, in each API's own form."""
    model = house.model(server, "crasher", load_crash=True, last_words=WORDS)
    reply = server.chat(model)
    error = reply.json["error"]
    assert reply.status == 500 and error["type"] == "model_load_error" and error["requested_model"] == model
    log = error["details"].pop("log")
    assert len(log) == 20 and said(log) == LAST_20[-len(said(log)):]
    assert error["details"] == {"exit_code": None, "signal": int(signal.SIGABRT), "signal_name": "SIGABRT",
                                "killed_by_server": False}
    failed, = server.get("/v1/health").json["failed_models"]
    assert failed["model_name"] == model and failed["status"] == "failed"
    assert failed["crash_loop"] is True and failed["crashes"] == 3
    assert failed["signal"] == signal.SIGABRT and failed["log"] == log and "signal 6" in failed["message"]


@pytest.mark.parametrize("path", ASK)
def test_crash_at_work(house, server, path):
    """It dies before the first word, twice: the request was tried once more."""
    model = house.model(server, "dies", crash_after=0, exit=42, last_words="one\ntwo\nthree\nthe GPU has gone\n")
    reply = server.post(path, {"model": model, **ASK[path]})
    assert reply.status == 502, reply.body
    assert "exited with status 42" in text_of_error(reply)
    if isinstance(reply.json["error"], str) or path == "/v1/messages":
        assert text_of_error(reply).endswith("(its last output: two | three | the GPU has gone)")
    else:
        assert reply.json["error"]["details"]["exit_code"] == 42
        assert said(reply.json["error"]["details"]["log"])[-4:] == ["one", "two", "three", "the GPU has gone"]


@pytest.mark.parametrize("path", ASK)
def test_crash_in_a_stream(house, server, path):
    """Words have been sent: the stream's last event is the error, with the crash report."""
    now = house.tmp_path / "now"
    model = house.model(server, "dies", crash_after=2, crash_when=str(now), last_words="the GPU has gone\n")
    with contextlib.closing(server.connect()) as connection:
        connection.request("POST", path, json.dumps({"model": model, **ASK[path], "stream": True}),
                           {"Content-Type": "application/json"})
        response = connection.getresponse()
        assert response.status == 200
        body = b""
        while b"word" not in body:
            body += response.readline()
        now.touch()
        body += response.read()
    assert b"signal 6" in body and b"the GPU has gone" in body
    assert b"[DONE]" not in body


def test_health_shows_a_model_that_comes_back(house, server):
    """After one crash the model answers again; that it has crashed is shown while it is on probation."""
    model = house.model(server, "m", tokens=1)
    assert server.chat(model).status == 200
    assert server.get("/v1/health").json["failed_models"] == []
    os.kill(wait_until(server.children)[0], signal.SIGKILL)
    failed = wait_until(lambda: server.get("/v1/health").json["failed_models"])[0]
    assert failed["crashes"] == 1 and failed["crash_loop"] is False and failed["signal"] == 9
    assert failed["killed_by_server"] is False
    assert server.chat(model).status == 200
    shown, = server.get("/v1/health").json["failed_models"]
    assert shown["status"] == "ready"
    assert server.post("/v1/unload", {"model_name": model}).status == 200
    assert server.get("/v1/health").json["failed_models"] == []


def test_unloading_is_no_crash(house, server):
    """Who waits for a model that is unloaded hears that, and nothing of a crash."""
    model = house.model(server, "slow", load_ms=30000)
    replies = []
    t = threading.Thread(target=lambda: replies.append(server.chat(model)))
    t.start()
    wait_until(server.children)
    assert server.post("/v1/unload", {"model_name": model}).status == 200
    t.join()
    assert replies[0].status == 503 and "details" not in replies[0].json["error"]
    assert server.get("/v1/health").json["failed_models"] == []


def test_limits_of_a_child(house, server):
    """No core dump, and a bounded number of descriptors, whatever the server itself may have."""
    assert server.chat(house.model(server, "m")).status == 200
    limits = open(f"/proc/{server.children()[0]}/limits").read()
    rows = {line[:26].strip(): line[26:].split() for line in limits.splitlines()[1:]}
    assert rows["Max core file size"][:2] == ["0", "0"]
    assert int(rows["Max open files"][1]) <= 4096


def test_a_spoilt_file_with_the_real_engine(house, tmp_path):
    """The engine's own process: its words, its exit status."""
    if not (BUILD / "bin" / "quince-llm").exists():
        pytest.skip("quince-llm is not built")
    house.backend_dir = BUILD / "bin"
    server = house.start()
    path = tmp_path / "spoilt.gguf"
    path.write_bytes(gguf({"general.architecture": "llama", "general.name": "spoilt"}))
    reply = server.chat(server.register("user.spoilt", path))
    assert reply.status == 500
    error = reply.json["error"]
    assert error["code"] == "model_load_error" and error["details"]["exit_code"] == 1
    assert any(error["message"][:40] in line for line in error["details"]["log"])
