"""Who stays in memory: limits by kind, pins, groups, models that wait for others to leave, idle ones, preloading, and
the second try of a load that may have failed for want of memory."""
import json
import os
import signal
import threading

import pytest
from conftest import PATIENCE_S, events, fake_model, gguf, wait_until

FOR_EVER = {"tokens": 100000, "token_ms": 20}


def loaded(server):
    """The models in memory or on their way, by name."""
    return {m["model_name"]: m for m in server.get("/v1/health").json["all_models_loaded"]}


def ready(server):
    return {name for name, m in loaded(server).items() if m["status"] == "ready"}


def load(server, name, **options):
    return server.post("/v1/load", {"model_name": name, **options})


def pin(server, name, pinned=True):
    return server.post("/internal/pin", {"model_name": name, "pinned": pinned})


class Later(threading.Thread):
    """Does something beside the test; its result is asked for later."""

    def __init__(self, call, *args, **kw):
        super().__init__(daemon=True)
        self.call, self.result = lambda: call(*args, **kw), None
        self.start()

    def run(self):
        self.result = self.call()

    def get(self):
        self.join(PATIENCE_S)
        return self.result


@pytest.fixture
def busy(house):
    """Keeps a model busy until it is told to stop."""
    open_ones = []

    def begin(server, name):
        connection, response = server.stream(name)
        next(events(response))
        open_ones.append(connection)
        return connection
    yield begin
    for connection in open_ones:
        connection.close()


def test_limits_by_kind(house):
    server = house.start("--max-loaded-models", "llm=2,audio=1")
    names = [house.model(server, n) for n in "abc"]
    ears = [house.model(server, n, "whispercpp") for n in ("ear1", "ear2")]
    for name in (*names[:2], *ears, names[2]):
        assert load(server, name).status == 200
    assert ready(server) == {names[1], names[2], ears[1]}
    limits = server.get("/v1/health").json["max_models"]
    assert limits == {"llm": 2, "embedding": 1, "reranking": 1, "audio": 1, "transcription": 1, "image": 1, "tts": 1}


def test_limits_and_groups_in_the_settings_file(house):
    data = house.tmp_path / "data-0"
    data.mkdir()
    (data / "config.json").write_text(json.dumps({
        "max-loaded-models": {"llm": -1, "image": 3},
        "groups": {"turns": {"members": ["a", "b"], "exclusive": False}}}))
    server = house.start()
    names = [house.model(server, n) for n in "abcd"]
    for name in names:
        assert load(server, name).status == 200
    assert ready(server) == set(names[1:])
    b = loaded(server)["user.b"]
    assert (b["residency_class"], b["slot_pool"]) == ("group", "group/turns")
    c = loaded(server)["user.c"]
    assert (c["residency_class"], c["slot_pool"]) == ("standard", "standard/llm")
    assert server.get("/v1/health").json["max_models"]["image"] == 3


def test_a_group_may_want_to_be_alone_and_another_to_stay(house, busy):
    server = house.start("--max-loaded-models", "-1", "--groups", json.dumps({
        "big": {"members": ["huge"]},
        "always": {"members": ["keeper"], "swap": False, "exclusive": False, "persistent": True}}))
    keeper, huge, other = (house.model(server, n, **FOR_EVER) for n in ("keeper", "huge", "other"))
    for name in (keeper, other, huge):
        assert load(server, name).status == 200
    assert ready(server) == {keeper, huge}
    connection = busy(server, huge)
    late = Later(load, server, other)
    waits = wait_until(lambda: loaded(server).get(other), what="the queued model")
    assert waits["status"] == "queued" and "user.huge" in waits["reason"] and "busy" in waits["reason"]
    connection.close()
    assert late.get().status == 200
    assert ready(server) == {keeper, other}
    # What is pinned stays, and who cannot be beside it is told so.
    assert pin(server, other).status == 200
    reply = load(server, huge)
    assert reply.status == 409
    error = reply.json["error"]
    assert error["type"] == error["code"] == "router_residency_conflict"
    assert error["param"] == "model" and error["requested_model"] == huge and other in error["message"]


def test_a_waiting_model_is_seen(house, busy):
    """Nothing but the load waits: health, lists and unloading go on."""
    server = house.start()
    a, b = (house.model(server, n, **FOR_EVER) for n in "ab")
    busy(server, a)
    late = Later(load, server, b)
    waits = wait_until(lambda: loaded(server).get(b), what="the queued model")
    assert waits["status"] == "queued" and waits["loaded"] is False and waits["pid"] == 0
    assert waits["requests_waiting"] == 1
    assert waits["reason"] == "max-loaded-models allows 1 llm model at once, and user.a is busy"
    assert loaded(server)[a]["reason"] is None
    shown = {m["name"]: m for m in server.get("/api/ps").json["models"]}
    assert {name: (m["status"], m["size"] > 0, "reason" in m) for name, m in shown.items()} == {
        "user.a:latest": ("ready", True, False), "user.b:latest": ("queued", False, True)}
    reply = server.post("/v1/unload", {"model_name": b})  # who waits is told; the busy one goes on
    assert reply.status == 200
    assert late.get().status == 503 and b"unloaded" in late.result.body
    assert set(loaded(server)) == {a}
    assert server.post("/v1/unload", {"model_name": b}).status == 404


def test_who_waits_for_a_deleted_model_is_told(house, busy):
    server = house.start()
    a, b = (house.model(server, n, **FOR_EVER) for n in "ab")
    busy(server, a)
    late = Later(server.chat, b)
    wait_until(lambda: loaded(server).get(b), what="the queued model")
    assert server.post("/v1/delete", {"model_name": b}).status == 200
    assert late.get().status in (404, 503) and b in late.result.json["error"]["message"]
    assert set(loaded(server)) == {a}


def test_pinned_models_stay(house):
    server = house.start("--idle", "1000")
    a, b = (house.model(server, n) for n in "ab")
    reply = load(server, a, pinned=True)
    assert reply.status == 200
    assert loaded(server)[a]["pinned"] is True and loaded(server)[a]["unloads_in_seconds"] is None
    assert server.get("/v1/health").json["pinned_models"]["llm"] == 1
    for reply in (load(server, b), server.chat(b)):
        assert reply.status == 409
        assert reply.json["error"]["code"] == reply.json["error"]["type"] == "slots_pinned_error"
        assert "unpin" in reply.json["error"]["message"]
    assert load(server, a).status == 200  # a load that does not say leaves it pinned
    assert loaded(server)[a]["pinned"] is True
    assert server.get(f"/v1/models/{a}").json["recipe_options"] == {"pinned": True}
    reply = pin(server, "a", False)
    assert (reply.status, reply.json) == (200, {"status": "success", "model_name": a, "pinned": False})
    assert loaded(server)[a]["pinned"] is False
    assert load(server, b).status == 200
    assert ready(server) == {b}
    assert load(server, b, pinned=True).status == 200
    assert load(server, b, pinned=False).status == 200
    assert loaded(server)[b]["pinned"] is False
    assert load(server, b, ttl="100ms").status == 200
    wait_until(lambda: not loaded(server), what="the end of the idle stay")


def test_an_option_that_means_nothing_here(house, server):
    """Lemonade's clients send it: the load succeeds, and the reply says that the option has no effect."""
    model = house.model(server, "m")
    reply = load(server, model, downsize_idle_timeout=60, save_options=True)
    assert reply.status == 200 and "evict_idle_timeout" in reply.headers["X-Quince-Warning"]
    assert "downsize_idle_timeout" not in json.dumps(server.get(f"/v1/models/{model}/options").json)
    reply = server.post(f"/v1/models/{model}/options", {"downsize_idle_timeout": 60})
    assert reply.status == 400 and "evict_idle_timeout" in json.dumps(reply.json)
    assert "X-Quince-Warning" not in load(server, model, downsize_idle_timeout=None).headers


def test_unpinned_while_it_backs_off_it_is_not_started_again(house, server):
    """A pinned model that crashes is started again by itself; once it is unpinned, it is not restarted."""
    model = house.model(server, "m")
    assert load(server, model, pinned=True).status == 200
    for crash in range(6):  # the pauses are 0.5 s, 1 s, 2 s and so on: once one is long enough to be seen
        (pid,) = wait_until(lambda: [m["pid"] for m in loaded(server).values() if m["status"] == "ready"], what="a process")
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda n=crash: server.logs().count(f"model={model} state=backoff event=") == n + 1, what="the crash")
        if crash < 2:
            continue
        assert pin(server, model, False).status == 200
        wait_until(lambda: loaded(server).get(model, {}).get("status") in (None, "ready"), what="one or the other")
        if not loaded(server):
            break
        assert pin(server, model).status == 200  # it was faster
    assert not loaded(server)
    assert f"model={model} state=stopped event=unpinned" in server.logs()
    assert server.chat(model).status == 200  # who asks for it has it


def test_a_pin_outlives_the_process_and_the_server(house):
    server = house.start("--max-loaded-models", "2", "--preload", "user.a")
    a = house.model(server, "a")
    assert load(server, a, pinned=True).status == 200
    pid = loaded(server)[a]["pid"]
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: ready(server) == {a} and loaded(server)[a]["pid"] != pid,
               what="the restart of a pinned model without a request")
    assert loaded(server)[a]["pinned"] is True
    assert server.stop() == 0
    house.servers.remove(server)
    server = house.start("--max-loaded-models", "1", "--preload", " user.a,nobody", "--data-dir", str(server.data_dir))
    wait_until(lambda: ready(server) == {a}, what="the preloaded model")
    assert loaded(server)[a]["pinned"] is True
    wait_until(lambda: "model=nobody loaded=0" in server.logs(), what="the complaint")


def test_preloading_evicts_no_model(house):
    models = house.tmp_path / "models"
    first = fake_model(models)
    second = fake_model(models)
    (house.tmp_path / "data-0").mkdir()
    (house.tmp_path / "data-0" / "config.json").write_text(json.dumps(
        {"preload": ["extra." + first.stem, "extra." + second.stem], "extra-models-dir": [str(models)]}))
    server = house.start()
    wait_until(lambda: "loaded=0" in server.logs(), what="the second model's refusal")
    assert len(ready(server)) == 1 and first.stem in ready(server).pop()


def test_pin_says_what_is_wrong(house):
    server = house.start()
    house.model(server, "a")
    bad = [(b"{invalid json", "not valid JSON"), ({"pinned": True}, "Parameter 'model' or 'model_name' is required"),
           ({"model": "a"}, "Parameter 'pinned' is required and must be a boolean"),
           ({"model": "a", "pinned": "true"}, "Parameter 'pinned' is required and must be a boolean")]
    for body, says in bad:
        reply = server.post("/internal/pin", body)
        assert reply.status == 400 and says in reply.json["error"]["message"], reply.body
        assert reply.json["error"]["type"] == "invalid_request_error"
    reply = server.post("/internal/pin", {"model": "nobody", "pinned": True})
    assert reply.status == 404 and reply.json["error"]["type"] == "model_not_found"
    for body in ({"pinned": 1}, {"evict_idle_timeout": "5"}, {"auto_evict": 0}, {"evict_weight_factor": True},
                 {"evict_idle_timeout": -1}, {"max_queue": 1.5}, {"max_concurrent": 100001}):
        reply = load(server, "a", **body)
        assert reply.status == 400 and next(iter(body)) in reply.json["error"]["message"], reply.body
        assert server.post("/v1/models/a/options", body).status == 400


def test_memory_that_runs_short(house):
    """By Lemonade's rules: of those that may go, the one that has been idle for long and loads quickly."""
    server = house.start("--max-loaded-models", "-1", "--auto-evict", "--auto-evict-threshold-pct", "0.8")
    slow = house.model(server, "slow", load_ms=600)
    names = [house.model(server, n) for n in ("kept", "pinned", "old", "dear")]
    # The factors are further apart than times of loading can be.
    for name, options in zip((slow, *names), ({"evict_weight_factor": 1000.0}, {"auto_evict": False}, {"pinned": True}, {},
                                              {"evict_weight_factor": 1000000.0})):
        assert load(server, name, **options).status == 200
    press = lambda share: server.post("/internal/simulate-vram-pressure", {"pct": share})
    for share in (0.79, -1):
        assert (press(share).status, press(share).json) == (200, {"status": "ok"})
    assert len(ready(server)) == 5
    for gone in ("user.old", slow, "user.dear"):
        before = ready(server)
        assert press(0.8).status == 200
        wait_until(lambda: ready(server) == before - {gone}, what=f"the end of {gone}")
    assert press(1).status == 200
    assert ready(server) == {"user.kept", "user.pinned"}
    assert press(1.1).status == 400


def test_the_machine_itself_is_watched(house):
    """Some of its memory is always in use."""
    server = house.start("--max-loaded-models", "-1", "--auto-evict-threshold-pct", "0.0001")
    a, b = (house.model(server, n) for n in "ab")
    assert load(server, a).status == 200
    assert load(server, b, auto_evict=True).status == 200
    wait_until(lambda: ready(server) == {a}, what="the end of the model that may go")
    assert "unloaded=pressure" in server.logs()


def test_memory_is_that_of_real_processes(house):
    """Before its first load a model is thought to need 96 MiB (64, and a context of 512 tokens at 64 KiB); the tests'
    model then says that it has one MiB, and is believed, also when it is loaded again."""
    server = house.start("--max-loaded-models", "-1", "--memory-limit", "98")
    a, b, c = (house.model(server, n) for n in "abc")
    for name in (a, b):
        assert load(server, name).status == 200
    assert ready(server) == {a, b}
    assert load(server, c).status == 200
    assert ready(server) == {b, c}
    assert load(server, a).status == 200
    assert ready(server) == {a, b, c}
    assert load(server, b, ctx_size=100000).status == 503  # 6.1 GiB of context


def test_idle_times_by_model(house):
    server = house.start("--max-loaded-models", "-1", "--auto-evict")
    a, b, c, d = (house.model(server, n) for n in "abcd")
    assert load(server, a, evict_idle_timeout=100.5).status == 200
    assert load(server, b, auto_evict=False, evict_idle_timeout=1).status == 200
    assert load(server, c, ttl=100).status == 200
    assert load(server, d).status == 200
    left = {name: m["unloads_in_seconds"] for name, m in loaded(server).items()}
    assert 50 < left[a] <= 100.5 and left[b] is None and 50 < left[c] <= 100 and 250 < left[d] <= 300
    assert load(server, a, evict_idle_timeout=0.1).status == 200
    assert load(server, c, ttl="100ms").status == 200
    wait_until(lambda: ready(server) == {b, d}, what="the end of two stays")


def rewrite(path, **options):
    """The same model file with another behaviour."""
    new = path.with_suffix(".new")
    new.write_bytes(gguf({"general.architecture": "llama", "general.name": "x", "fake.options": json.dumps(options)}))
    os.replace(new, path)


def test_a_load_that_may_have_lacked_memory_is_tried_alone(house, busy):
    """The system kills the child while it loads, as it does when memory is short: idle models leave, the busy one first
    finishes, and the second try has the memory to itself."""
    server = house.start("--max-loaded-models", "-1")
    idle, working, pinned = (house.model(server, n, **FOR_EVER) for n in ("idle", "working", "pinned"))
    assert load(server, idle).status == 200
    assert load(server, pinned, pinned=True).status == 200
    connection = busy(server, working)
    path = fake_model(house.tmp_path, load_crash=True, signal=9)
    big = server.register("user.big", path)
    late = Later(load, server, big)
    waits = wait_until(lambda: loaded(server).get(big, {}).get("status") == "queued" and loaded(server)[big],
                       what="the wait for the busy model")
    assert "retried once" in waits["reason"] and working in waits["reason"]
    assert idle in ready(server)  # no model is evicted in vain
    rewrite(path)
    connection.close()
    assert late.get().status == 200, late.result.body
    assert ready(server) == {big, pinned}


@pytest.mark.parametrize("behaviour,leaves,status,code", [
    ({"load_crash": True, "signal": 9}, True, 500, "model_load_error"),
    ({"load_crash": True}, False, 500, "model_load_error"),
    ({"load_fail": "no memory for the cache", "load_error": "out_of_memory"}, True, 503, "out_of_memory"),
    ({"load_fail": "bad options"}, False, 500, "model_load_error"),
])
def test_who_leaves_for_a_load_that_fails(house, behaviour, leaves, status, code):
    server = house.start("--max-loaded-models", "-1")
    other = house.model(server, "other")
    bad = house.model(server, "bad", **behaviour)
    assert load(server, other).status == 200
    reply = load(server, bad)
    assert (reply.status, reply.json["error"]["code"]) == (status, code)
    assert ready(server) == (set() if leaves else {other})
    assert server.logs().count("retry_alone=1") == leaves
    # Once: a model whose load failed alone in memory evicts no other again.
    assert load(server, other).status == 200
    assert server.chat(bad).status == status
    assert ready(server) == {other}
    assert server.logs().count("retry_alone=1") == leaves


def test_a_lack_of_memory_beside_others_is_not_remembered(house):
    """The client that ordered the load has left, so nothing was evicted for it; the next request gets the memory."""
    server = house.start("--max-loaded-models", "-1")
    gate = house.tmp_path / "gate"
    other = house.model(server, "other", **FOR_EVER)
    big = house.model(server, "big", load_until=str(gate), load_fail="no memory for the cache",
                      load_error="out_of_memory")
    assert load(server, other).status == 200
    leaver = server.connect()
    leaver.request("POST", "/v1/load", json.dumps({"model_name": big}), {"Content-Type": "application/json"})
    wait_until(lambda: loaded(server).get(big, {}).get("status") == "loading", what="the load")
    leaver.close()
    wait_until(lambda: loaded(server)[big]["requests_waiting"] == 0, what="it has left")
    gate.touch()
    wait_until(lambda: f"model={big} state=failed" in server.logs(), what="the failed load")
    assert ready(server) == {other}
    reply = server.chat(big)
    assert reply.status >= 500 and "not tried" not in reply.body.decode(), reply.body
    assert server.logs().count("retry_alone=1") == 1 and ready(server) == set()


@pytest.mark.parametrize("runs", [False, True])
def test_a_name_may_come_to_mean_another_kind_of_model(house, runs):
    """Who deletes a model and gives its name to one of another kind gets that kind's process."""
    server = house.start()
    name = house.model(server, "twice")
    assert load(server, name).status == 200
    if not runs:
        assert server.post("/v1/unload", {"model_name": name}).status == 200
    assert server.post("/v1/delete", {"model_name": name}).status == 200
    house.model(server, "twice", recipe="whispercpp")
    assert load(server, name).status == 200
    (entry,) = server.get("/v1/running").json["running"]
    (pid,) = server.children()
    assert entry["type"] == "asr" and os.readlink(f"/proc/{pid}/exe").endswith("/quince-asr")


def test_nothing_is_left_of_a_deleted_model(house):
    """Its name may be given to another, which has not been loaded with anything yet."""
    server = house.start()
    name = house.model(server, "again")
    assert load(server, name, llamacpp_backend="cpu", ttl=0).status == 200
    wait_until(lambda: not loaded(server), what="the end of its stay")
    assert server.post("/v1/delete", {"model_name": name}).status == 200
    house.model(server, "again")
    assert server.chat(name).status == 200
    assert "llamacpp_backend" not in loaded(server)[name]["recipe_options"]


def test_equal_loads_are_one(house):
    server = house.start()
    a = house.model(server, "a", load_ms=300)
    replies = [Later(load, server, a) for _ in range(10)] + [Later(server.chat, a) for _ in range(10)]
    assert {r.get().status for r in replies} == {200}
    assert server.logs().count("event=want") == 1


@pytest.mark.parametrize("path,body", [
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}]}),
    ("/v1/completions", {"prompt": "x"}),
    ("/v1/responses", {"input": "x"}),
    ("/v1/messages", {"max_tokens": 5, "messages": [{"role": "user", "content": "x"}]}),
    ("/api/chat", {"stream": False, "messages": [{"role": "user", "content": "x"}]}),
    ("/api/generate", {"stream": False, "prompt": "x"}),
    ("/v1/load", {}),
])
def test_every_api_says_how_long_a_model_stays(house, path, body):
    server = house.start("--idle", "1000")
    a = house.model(server, "a")
    for member in ("keep_alive", "ttl"):
        for value, low, high in (("5m", 110, 300), (100, 0, 100), (-1, None, None)):
            reply = server.post(path, {"model": a, "model_name": a, **body, member: value})
            assert reply.status == 200, reply.body
            left = loaded(server)[a]["unloads_in_seconds"]
            assert (left is None) == (low is None) and (low is None or low <= left <= high), (member, value)


def test_limits_that_change(house):
    """Settings that change while the server runs: who is over a limit leaves when room is needed, not before."""
    data = house.tmp_path / "data-0"
    data.mkdir()
    (data / "config.json").write_text('{"max-loaded-models": 3}')
    server = house.start()
    names = [house.model(server, n) for n in "abc"]
    for name in names:
        assert load(server, name).status == 200
    reply = server.post("/internal/set", {"max-loaded-models": 1})
    assert reply.status == 200, reply.body
    assert ready(server) == set(names)
    assert server.get("/v1/health").json["max_models"]["llm"] == 1
    d = house.model(server, "d")
    assert load(server, d).status == 200
    assert ready(server) == {d}


def test_health_tells_the_options_of_a_load(house):
    server = house.start("--slots", "3")
    a = house.model(server, "a")
    assert load(server, a, ctx_size=512, cache_type="q8_0", speculate=False, pinned=True).status == 200
    assert loaded(server)[a]["recipe_options"] == {"ctx_size": 512, "slots": 3, "cache_type": "q8_0",
                                                   "speculate": False}
