"""kill -9 at every moment of a model's life, seen by everybody who has to do with it: who waits, who listens, who
uses another model, who unloads. test_faults.py has the single client's view."""
import contextlib
import datetime
import os
import pathlib
import re
import signal
import threading
import time

import pytest
from conftest import PATIENCE_S, Ticker, events, pid_alive, text_of, wait_until


def process_of(server, model):
    """The pid of a model's process."""
    def find():
        return [m["pid"] for m in server.get("/v1/health").json["all_models_loaded"]
                if m["model_name"] == model and m["pid"]]
    return wait_until(find, what=f"a process of {model}")[0]


def gone(pid):
    """Ended and collected: neither running nor a zombie."""
    return not pathlib.Path(f"/proc/{pid}").exists()


class Asker(threading.Thread):
    """One whole chat beside the test's own thread."""

    def __init__(self, server, model, **fields):
        super().__init__(daemon=True)
        self.server, self.model, self.fields, self.reply = server, model, fields, None
        self.start()

    def run(self):
        self.reply = self.server.chat(self.model, **self.fields)

    def ended(self):
        self.join(PATIENCE_S)
        assert self.reply, "the request hangs"
        return self.reply


PHASES = {
    "loading": dict(load_until="go", tokens=3),
    "prefill": dict(prefill_until="go", tokens=3),
    "answering": dict(tokens=100000, token_ms=5),
    "idle": dict(tokens=3),
}


@pytest.mark.parametrize("phase", PHASES)
def test_other_models_do_not_notice(house, phase):
    """One model dies in each phase of its life, another goes on talking, and /live stays quick."""
    server = house.start("--max-loaded-models", "2")
    other = house.model(server, "other", tokens=70, token_ms=10)
    go = house.tmp_path / "go"
    victim = house.model(server, "victim", **{k: str(go) if v == "go" else v for k, v in PHASES[phase].items()})
    assert server.post("/v1/load", {"model_name": other}).status == 200
    if phase != "loading":
        assert server.post("/v1/load", {"model_name": victim}).status == 200
    connection, response = server.stream(other)
    stream = events(response)
    words = [next(stream) for _ in range(5)]
    with Ticker(server), contextlib.ExitStack() as stack:
        if phase == "answering":
            broken, heard = server.stream(victim)
            stack.callback(broken.close)
            told = events(heard)
            next(told)
        elif phase != "idle":
            asker = Asker(server, victim)
        pid = process_of(server, victim)
        if phase == "prefill":
            wait_until(lambda: [m for m in server.get("/v1/health").json["all_models_loaded"]
                                if m["model_name"] == victim and m["requests_running"]])
        os.kill(pid, signal.SIGKILL)
        go.touch()
        if phase == "answering":
            assert "error" in list(told)[-1]
        elif phase != "idle":
            assert asker.ended().status == 200  # nothing had been said: it is asked again
        words += list(stream)
    connection.close()
    assert words[-1] == "[DONE]" and text_of(words) == "word " * 70
    wait_until(lambda: gone(pid), what="the end of the process")
    if phase == "idle":
        assert server.chat(victim).status == 200


def test_everybody_who_waits_for_a_load_is_served(house, server):
    go = house.tmp_path / "go"
    model = house.model(server, "m", load_until=str(go), tokens=2, slots=8)
    askers = [Asker(server, model) for _ in range(6)]
    os.kill(process_of(server, model), signal.SIGKILL)
    go.touch()
    assert [a.ended().status for a in askers] == [200] * 6


def test_everybody_in_the_batch_is_asked_again(house, server):
    """Four answers in one process, none with a word yet."""
    go = house.tmp_path / "go"
    model = house.model(server, "m", prefill_until=str(go), tokens=2, slots=4)
    assert server.post("/v1/load", {"model_name": model}).status == 200
    askers = [Asker(server, model) for _ in range(4)]
    pid = process_of(server, model)
    wait_until(lambda: server.get("/v1/health").json["all_models_loaded"][0]["requests_running"] == 4)
    os.kill(pid, signal.SIGKILL)
    go.touch()
    assert [a.ended().status for a in askers] == [200] * 4
    log = server.logs()
    assert log.count("retry=1") == 4


def test_signs_of_life_are_not_an_answer(house, server):
    """A stream that has only heard that the server is at work is asked again like any other."""
    go = house.tmp_path / "go"
    model = house.model(server, "m", prefill_until=str(go), tokens=3)
    assert server.post("/v1/load", {"model_name": model}).status == 200
    connection, response = server.stream(model)
    assert response.readline().startswith(b":")
    os.kill(process_of(server, model), signal.SIGKILL)
    go.touch()
    chunks = list(events(response))
    connection.close()
    assert chunks[-1] == "[DONE]" and text_of(chunks) == "word word word "


def test_killed_while_it_is_unloaded(house, server):
    """The answer that was running gets its error, the unload its success."""
    model = house.model(server, "m", tokens=100000, token_ms=5)
    connection, response = server.stream(model)
    told = events(response)
    next(told)
    pid, replies = process_of(server, model), []
    t = threading.Thread(target=lambda: replies.append(server.post("/v1/unload", {"model_name": model})))
    t.start()
    wait_until(lambda: [m for m in server.get("/v1/health").json["all_models_loaded"] if m["status"] == "draining"])
    os.kill(pid, signal.SIGKILL)
    t.join()
    assert replies[0].status == 200
    assert "error" in list(told)[-1]
    connection.close()
    assert server.get("/v1/health").json["failed_models"] == []  # it was on its way out
    assert server.children() == []


def pauses(server, model):
    """Seconds from each start of a model's process to the next, as the log has them."""
    starts = [datetime.datetime.fromisoformat(stamp) for stamp in
              re.findall(rf"^(\S+)Z info instance model={model} state=loading ", server.logs(), re.M)]
    return [(b - a).total_seconds() for a, b in zip(starts, starts[1:])]


def test_a_crash_loop_is_slowed_down_and_shown(house, server):
    """It answers no request, each is told why, and starts come further apart: 0.5 s, 1 s, 2 s."""
    model = house.model(server, "m", crash_after=0)
    first = server.chat(model)
    assert first.status == 502
    asker = Asker(server, model)
    shown = wait_until(lambda: [m for m in server.get("/v1/health").json["failed_models"]
                                if m["crash_loop"] and m["crashes"] >= 3])[0]
    assert shown["model_name"] == model and shown["signal"] == signal.SIGABRT
    assert shown["status"] != "backoff" or 0 <= shown["restart_in_ms"] <= 2000
    assert asker.ended().status == 502
    assert all(took >= wanted for took, wanted in zip(pauses(server, model), (0.5, 1, 2), strict=True))
    other = house.model(server, "other")
    assert server.chat(other).status == 200
    assert server.post("/v1/unload", {"model_name": model}).status == 200  # all is forgotten
    assert server.get("/v1/health").json["failed_models"] == []
    assert server.post("/v1/unload", {"model_name": model}).status == 404


def test_router_killed_while_a_child_stands_still(house):
    """Even one that is stopped, and so cannot see that its server is gone, goes with it."""
    server = house.start("--max-loaded-models", "-1")
    for n in range(2):
        assert server.chat(house.model(server, f"m{n}")).status == 200
    pids = server.children()
    assert len(pids) == 2
    os.kill(pids[0], signal.SIGSTOP)
    server.kill()
    wait_until(lambda: not any(pid_alive(p) for p in pids), what="the end of all children")


def test_ids_join_the_logs(house, server):
    """What the server and the model's process write about a request has one id."""
    model = house.model(server, "m", tokens=2)
    assert server.chat(model).status == 200
    done = wait_until(lambda: re.search(r"info infer id=(\w+) model=user\.m task=chat", server.logs()))
    request = done.group(1)
    wait_until(lambda: re.search(rf"info llm/user\.m child id={request}-0 job=begun task=chat", server.logs()))
    wait_until(lambda: re.search(rf"info llm/user\.m child id={request}-0 job=ended ms=\d+", server.logs()))


def test_the_log_names_the_request_that_a_process_died_of(house, server):
    model = house.model(server, "m", crash_after=0)
    reply = server.chat(model)
    request = wait_until(lambda: re.search(r"warn infer id=(\w+)", server.logs())).group(1)
    assert any(f"id={request}-0 job=begun" in line for line in reply.json["error"]["details"]["log"])


def test_children_log_as_the_server_does(house):
    """At the level warn they do not even write lines that would not be shown."""
    server = house.start("--log-level", "warn")
    assert server.chat(house.model(server, "m")).status == 200
    time.sleep(0.1)
    assert "job=begun" not in server.logs()
