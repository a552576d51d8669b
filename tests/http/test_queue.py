"""Requests that wait for a model: whose turn it is, how many may wait, what they are told, and how
long an answer may take. No test judges how long anything took: what must come first is held up until
what comes next is in the queue."""
import contextlib
import json
import re
import threading

import pytest

from conftest import PATIENCE_S, events, wait_until

SLOW = {"tokens": 100000, "token_ms": 5}  # an answer that ends when its client leaves


def chat_body(model, **fields):
    return {"model": model, "messages": [{"role": "user", "content": "hello"}], **fields}


def loaded(server, model):
    for m in server.get("/v1/health").json["all_models_loaded"]:
        if m["model_name"] == model:
            return m
    return {}


def waits_for(server, model, n):
    wait_until(lambda: loaded(server, model).get("requests_waiting") == n, what=f"{n} waiting requests")


def runs(server, model, n):
    wait_until(lambda: loaded(server, model).get("requests_running") == n, what=f"{n} running requests")


class Holder:
    """Requests that hold a model's slots until they are let go."""

    def __init__(self, server, model, n=1, **headers):
        self.connections = []
        for i in range(n):
            c = server.connect()
            c.request("POST", "/v1/chat/completions", json.dumps(chat_body(model, stream=True)),
                      {"Content-Type": "application/json", **headers})
            response = c.getresponse()
            next(events(response))
            self.connections.append((c, response))

    def release(self):
        for c, response in self.connections:
            response.close()
            c.close()
        self.connections = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()


class Asker(threading.Thread):
    """One request in a thread of its own."""

    def __init__(self, server, model, name, client="", path="/v1/chat/completions", body=None, **headers):
        super().__init__(daemon=True)
        self.server, self.path, self.reply = server, path, None
        self.body = body or chat_body(model, max_tokens=1)
        self.headers = {"X-Client-Request-Id": name, "X-Client-Id": client or name, **headers}
        self.start()

    def run(self):
        self.reply = self.server.post(self.path, self.body, headers=self.headers)

    def done(self):
        self.join(PATIENCE_S)
        assert self.reply is not None, "no answer"
        return self.reply


def order(server):
    """The names of the requests in the order in which their answers ended, from the log."""
    names, ended = {}, []
    for line in server.logs().splitlines():
        named = re.search(r'infer id=(\w+) name=\S+ client="[^"]*" own_name="([^"]+)"', line)
        if named:
            names[named[1]] = named[2]
        end = re.search(r"infer id=(\w+) model=\S+ task=", line)
        if end and end[1] in names:
            ended.append(names[end[1]])
    return ended


def queue(server, model, names, first=0):
    """One request after the other; the client of "b1" is b."""
    askers = []
    for i, name in enumerate(names.split()):
        askers.append(Asker(server, model, name, client=name[0]))
        waits_for(server, model, first + i + 1)
    return askers


def test_clients_take_turns(house, server):
    model = house.model(server, "one", slots=1, **SLOW)
    with Holder(server, model) as holder:
        askers = queue(server, model, "a1 a2 a3 b1 c1 c2")
        holder.release()
        assert [a.done().status for a in askers] == [200] * 6
    # Round 1: a1 b1 c1; round 2: a2 c2; round 3: a3.
    assert order(server) == "a1 b1 c1 a2 c2 a3".split()


def test_no_request_waits_while_slots_are_free(house, server):
    model = house.model(server, "four", slots=4, **SLOW)
    with Holder(server, model, 4, **{"X-Client-Id": "greedy"}):
        m = loaded(server, model)
        assert (m["requests_running"], m["requests_waiting"]) == (4, 0)
        late = Asker(server, model, "late")
        waits_for(server, model, 1)
        assert loaded(server, model)["requests_running"] == 4
    assert late.done().status == 200


def test_choices_take_slots_too(house, server):
    model = house.model(server, "four", slots=4, **SLOW)
    with Holder(server, model):
        c = server.connect()
        c.request("POST", "/v1/chat/completions", json.dumps(chat_body(model, stream=True, n=3)),
                  {"Content-Type": "application/json"})
        response = c.getresponse()
        next(events(response))
        late = Asker(server, model, "late")
        waits_for(server, model, 1)
        response.close()
        c.close()
        assert late.done().status == 200


def test_clients_of_one_key_take_turns_within_it(house):
    """The environment's key is everybody's, so its clients are told apart by name; that gives them turns of one
    another's, and none of a personal key."""
    key = "the-key-of-the-environment"
    server = house.start(env={"QUINCE_API_KEY": key})
    plain = server.request
    server.request = lambda method, path, body=None, headers=None, **how: plain(
        method, path, body, {"Authorization": f"Bearer {key}", **(headers or {})}, **how)
    own = server.post("/internal/keys", {"name": "shop"}).json["key"]
    model = house.model(server, "one", slots=1, **SLOW)
    with Holder(server, model, Authorization=f"Bearer {key}") as holder:
        askers = queue(server, model, "a1 a2 a3 b1 c1")
        for i in range(2):
            askers.append(Asker(server, model, f"s{i + 1}", client=f"x{i}", Authorization=f"Bearer {own}"))
            waits_for(server, model, 6 + i)
        holder.release()
        replies = [a.done() for a in askers]
    assert [r.status for r in replies] == [200] * 7
    assert [r.headers["X-Client-Id"] for r in replies[2:6]] == ["environment/a", "environment/b", "environment/c", "shop"]
    # The two keys take turns; in the environment's: a b c, a, a.
    assert order(server) == "a1 s1 b1 s2 c1 a2 a3".split()


def test_many_prompts_in_one_request_take_turns_too(house, server):
    model = house.model(server, "one", slots=1, **SLOW)
    with Holder(server, model) as holder:
        many = Asker(server, model, "a1", path="/v1/completions",
                     body={"model": model, "prompt": ["w", "x", "y", "z"], "max_tokens": 1})
        waits_for(server, model, 1)
        one = queue(server, model, "b1", first=1)[0]
        holder.release()
        assert one.done().status == 200
        assert [c["index"] for c in many.done().json["choices"]] == [0, 1, 2, 3]
    assert order(server) == ["b1", "a1"]  # a's first prompt, b's only one, a's others


def test_who_leaves_takes_all_prompts_along(house, server):
    model = house.model(server, "one", slots=1, **SLOW)
    with contextlib.closing(server.connect()) as c:
        c.request("POST", "/v1/completions", json.dumps({"model": model, "prompt": ["x"] * 9, "stream": True}),
                  {"Content-Type": "application/json"})
        next(events(c.getresponse()))
        waits_for(server, model, 8)
    waits_for(server, model, 0)
    assert server.chat(model, max_tokens=1).status == 200


def test_a_model_leaves_after_all_prompts(house):
    server = house.start("--batch-wait", "0")
    model, other = house.model(server, "one", slots=1, **SLOW), house.model(server, "other")
    with Holder(server, model) as holder:
        many = Asker(server, model, "a1", path="/v1/completions",
                     body={"model": model, "prompt": ["w", "x", "y", "z"], "max_tokens": 1})
        waits_for(server, model, 1)
        late = Asker(server, other, "b1")
        wait_until(lambda: loaded(server, other), what="a waiting model")
        holder.release()
        assert late.done().status == 200
        assert len(many.done().json["choices"]) == 4
    assert order(server) == ["a1", "b1"]


def test_fewer_at_once_than_there_are_slots(house):
    server = house.start("--max-concurrent", "2")
    model = house.model(server, "four", slots=4, **SLOW)
    with Holder(server, model, 2):
        late = Asker(server, model, "late")
        waits_for(server, model, 1)
        assert loaded(server, model)["requests_running"] == 2
    assert late.done().status == 200


def test_who_leaves_is_gone_at_once(house, server):
    model = house.model(server, "one", slots=1, **SLOW)
    with Holder(server, model) as holder:
        leaving = server.connect()
        leaving.request("POST", "/v1/chat/completions", json.dumps(chat_body(model, max_tokens=1)),
                        {"Content-Type": "application/json", "X-Client-Request-Id": "gone"})
        waits_for(server, model, 1)
        askers = queue(server, model, "b1", first=1)
        leaving.sock.close()
        leaving.close()
        waits_for(server, model, 1)
        holder.release()
        assert askers[0].done().status == 200
    assert order(server) == ["b1"]


def test_a_load_waits_for_no_turn(house, server):
    model = house.model(server, "one", slots=1, **SLOW)
    with Holder(server, model):
        late = Asker(server, model, "late")
        waits_for(server, model, 1)
        assert server.post("/v1/load", {"model_name": model}).status == 200
    assert late.done().status == 200


def spot(reply):
    return tuple(int(reply.headers[name]) for name in ("X-Queue-Position", "X-Queue-Depth"))


def test_what_a_waiting_client_is_told(house, server):
    model = house.model(server, "one", slots=1, prefill_ms=20, **SLOW)
    first = server.post("/v1/chat/completions", chat_body(model, max_tokens=1),
                        headers={"User-Agent": "Tester/1.0", "X-Request-Id": "mine"})
    assert first.status == 200 and spot(first) == (1, 1)
    assert first.headers["X-Estimated-Wait-Ms"] == "0"  # nothing was measured before
    assert re.fullmatch(r"req_[0-9a-f]{24}", first.headers["X-Request-Id"])
    assert first.headers.get_all("X-Request-Id") == [first.headers["X-Request-Id"]]
    assert first.headers["X-Client-Request-Id"] == "mine"
    assert first.headers["X-Client-Id"] == "Tester/1.0"
    again = server.chat(model, max_tokens=1)
    assert spot(again) == (1, 1) and again.headers["X-Estimated-Wait-Ms"] == "0"
    with Holder(server, model) as holder:
        askers = queue(server, model, "a1 a2 b1")
        holder.release()
        replies = [a.done() for a in askers]
    # One answer runs: a1 waits for it alone, a2 for two, b1 comes before a2 and waits for two.
    assert [spot(r) for r in replies] == [(2, 2), (3, 3), (3, 4)]
    waits = [int(r.headers["X-Estimated-Wait-Ms"]) for r in replies]
    assert waits[0] >= 20 and waits[1] == waits[2] and abs(waits[1] - 2 * waits[0]) <= 1, waits
    assert [r.headers["X-Client-Id"] for r in replies] == ["a", "a", "b"]


@pytest.mark.parametrize("path,body", [
    ("/v1/messages", {"max_tokens": 1}), ("/api/chat", {"stream": False, "options": {"num_predict": 1}}),
    ("/v1/responses", {"input": "hello", "max_output_tokens": 1}), ("/v1/completions", {"prompt": "x", "max_tokens": 1})])
def test_every_dialect_says_it(house, server, path, body):
    model = house.model(server, "one")
    reply = server.post(path, {**chat_body(model), **body}, headers={"X-Client-Id": "me"})
    assert reply.status == 200, reply.body
    assert spot(reply) == (1, 1) and reply.headers["X-Client-Id"] == "me"
    assert reply.headers["X-Request-Id"].startswith("req_") and reply.headers["X-Estimated-Wait-Ms"] == "0"


def test_streams_say_it_before_their_first_byte(house, server):
    model = house.model(server, "one")
    c, response = server.stream(model)
    assert response.headers["X-Queue-Position"] == "1" and response.headers["X-Client-Id"] == "anonymous"
    list(events(response))
    c.close()


def test_to_localllm_requests_are_numbers(house, server):
    model = house.model(server, "one")
    numbers = [int(server.post("/v1/chat/completions", chat_body(model), headers={"X-API-Profile": "localllm"})
                   .headers["X-Request-Id"]) for _ in range(3)]
    assert numbers == [1, 2, 3]


def test_a_full_queue_says_so_at_once(house):
    server = house.start("--max-queue", "1", "--max-loaded-models", "2")
    model = house.model(server, "one", slots=1, **SLOW)
    other = house.model(server, "other", slots=1)
    assert server.chat(other).status == 200
    with Holder(server, model):
        waiting = queue(server, model, "a1")[0]
        openai = server.chat(model)
        assert openai.status == 503 and int(openai.headers["Retry-After"]) >= 1
        assert openai.json["error"]["code"] == "overloaded" and model in openai.json["error"]["message"]
        assert spot(openai) == (3, 3)
        ollama = server.post("/api/chat", chat_body(model))
        assert ollama.status == 503 and model in ollama.json["error"] and ollama.headers["Retry-After"]
        claude = server.post("/v1/messages", chat_body(model, max_tokens=1))
        assert claude.status == 503 and claude.headers["Retry-After"]
        assert claude.json["type"] == "error" and claude.json["error"]["type"] == "overloaded_error"
        phone = server.post("/v1/chat/completions", chat_body(model), headers={"X-API-Profile": "localllm"})
        assert phone.status == 429 and phone.headers["Retry-After"] == "5"
        assert phone.json["error"]["code"] == 429 and phone.json["error"]["type"] == "queue_full"
        streamed = server.chat(model, stream=True)
        assert streamed.status == 503 and streamed.json["error"]["code"] == "overloaded"
        assert server.chat(other).status == 200  # its queue is empty
    assert waiting.done().status == 200


def test_a_queue_of_length_zero(house):
    server = house.start("--max-queue", "0")
    model = house.model(server, "two", slots=2, **SLOW)
    with Holder(server, model, 2):
        for path, kind in (("/v1/chat/completions", "overloaded"), ("/v1/messages", "rate_limit_error")):
            reply = server.post(path, chat_body(model, max_tokens=1))
            assert reply.status == 429 and reply.headers["Retry-After"], reply.body
            assert reply.json["error"]["type"] == kind
    assert server.chat(model, max_tokens=1).status == 200


def test_localllm_lets_eight_wait(house, server):
    model = house.model(server, "one", slots=1, **SLOW)
    with Holder(server, model):
        queue(server, model, "a1 a2 a3 a4 b1 b2 b3 b4")
        full = server.post("/v1/chat/completions", chat_body(model), headers={"X-API-Profile": "localllm"})
        assert full.status == 429
        more = queue(server, model, "c1", first=8)[0]  # other profiles have no such limit
    assert more.done().status == 200


def test_a_full_server_still_serves_who_need_not_wait(house):
    server = house.start("--queue-limit", "1", "--max-loaded-models", "2")
    quick, slow = house.model(server, "quick", slots=4), house.model(server, "slow", load_ms=100000)
    assert server.chat(quick).status == 200
    with contextlib.closing(server.connect()) as c:
        c.request("POST", "/v1/chat/completions", json.dumps(chat_body(slow)), {"Content-Type": "application/json"})
        wait_until(lambda: loaded(server, slow), what="a loading model")
        assert server.chat(slow).status == 503
        assert server.chat(quick).status == 200


@pytest.mark.parametrize("batch,wanted", [("0", ["b1", "a1"]), ("3600", ["a1", "b1"])])
def test_a_batch_saves_exchanging_models(house, batch, wanted):
    server = house.start("--batch-wait", batch)
    a, b = house.model(server, "a", slots=1, **SLOW), house.model(server, "b", slots=1, **SLOW)
    with Holder(server, a) as holder:
        other = Asker(server, b, "b1")
        wait_until(lambda: "own_name=\"b1\"" in server.logs(), what="b1 in the log")
        same = Asker(server, a, "a1")
        waits_for(server, a, 1)
        holder.release()
        assert other.done().status == same.done().status == 200
    assert order(server) == wanted


def test_the_wait_counts_the_models_before_it(house):
    """a is busy, b waits for its room, and c behind b: c's wait is b's loading and its own. Who comes to a now waits
    until b has been loaded and a again. Each loading takes as long as the fake model sleeps, at least."""
    server = house.start("--batch-wait", "0")
    a, b, c = (house.model(server, name, slots=1, load_ms=300, **SLOW) for name in "abc")
    for model in (c, b, a):
        assert server.chat(model, max_tokens=1).status == 200
    with Holder(server, a) as holder:
        askers = [Asker(server, b, "b1")]
        waits_for(server, b, 1)
        askers.append(Asker(server, c, "c1"))
        waits_for(server, c, 1)
        askers.append(Asker(server, a, "a1"))
        waits_for(server, a, 1)
        holder.release()
        waits = [int(asker.done().headers["X-Estimated-Wait-Ms"]) for asker in askers]
    assert [asker.reply.status for asker in askers] == [200] * 3
    assert waits[0] >= 300 and waits[1] >= 600 and waits[2] >= 900, waits


def test_a_batch_has_an_end(house):
    server = house.start("--batch-wait", "1")
    a, b = house.model(server, "a", slots=2, **SLOW), house.model(server, "b", slots=2, tokens=1)
    assert server.chat(a, max_tokens=1).status == 200
    over = threading.Event()

    def go_on():
        while not over.is_set():
            assert server.chat(a, max_tokens=20).status == 200

    crowd = [threading.Thread(target=go_on, daemon=True) for _ in range(4)]
    for t in crowd:
        t.start()
    try:
        assert server.chat(b).status == 200  # though a's queue is never empty
    finally:
        over.set()
        for t in crowd:
            t.join()


def test_a_model_has_limits_of_its_own(house, server):
    model = house.model(server, "four", slots=4, **SLOW)
    options = server.post(f"/v1/models/{model}/options", {"max_concurrent": 1, "max_queue": 1})
    assert options.status == 200 and options.json["saved"] == {"max_concurrent": 1, "max_queue": 1}
    with Holder(server, model):
        waiting = queue(server, model, "a1")[0]
        assert server.chat(model).status == 503
        assert server.post(f"/v1/models/{model}/options", {"max_queue": 2}).status == 200
        more = queue(server, model, "b1", first=1)[0]
    assert waiting.done().status == more.done().status == 200


def test_limits_change_while_the_server_runs(house, server):
    model = house.model(server, "one", slots=1, **SLOW)
    with Holder(server, model):
        waiting = queue(server, model, "a1")[0]
        assert server.post("/internal/set", {"max-queue": 1}).status == 200
        assert server.chat(model).status == 503
    assert waiting.done().status == 200


def warm(server, model="", **kw):
    return server.request("POST", f"/health/warm?model={model}", **kw)


def test_warming_a_model(house, server):
    model = house.model(server, "one", slots=1, **SLOW)
    reply = warm(server, model)
    assert reply.status == 200 and reply.json["ms"] >= 0
    assert {k: v for k, v in reply.json.items() if k != "ms"} == {
        "model": model, "status": "warm", "engine_loaded": True}
    assert server.get("/v1/stats").json["output_tokens"] in (0, None)  # no client's answer
    assert warm(server).json["model"] == model  # used last
    picture = house.model(server, "picture", recipe="sd-cpp")
    assert warm(server, picture).json["status"] == "warm"


def test_warming_that_fails(house, server):
    broken = house.model(server, "broken", load_fail="no such luck")
    reply = warm(server, broken)
    assert reply.status == 503 and reply.json["status"] == "error" and "no such luck" in reply.json["error"]
    unknown = warm(server, "nobody")
    assert unknown.status == 503 and unknown.json["status"] == "error" and "nobody" in unknown.json["error"]
    phone = warm(server, "gemini-nano-aicore")
    assert phone.status == 503
    assert (phone.json["status"], phone.json["aicore_status"]) == ("aicore_not_ready", "unavailable")
    slow = house.model(server, "slow", load_ms=100000)
    late = warm(server, slow, headers={"X-Request-Timeout": "0.2"})
    assert late.status == 504 and late.json["status"] == "timeout" and late.json["ms"] >= 200
    talks = house.model(server, "talks", fail="not today")
    assert warm(server, talks).json["error"] == "not today"


TIMEOUT = {"X-Request-Timeout": "0.3"}


def test_an_answer_may_take_only_so_long(house, server):
    model = house.model(server, "slow", slots=1, **SLOW)
    late = server.post("/v1/chat/completions", chat_body(model), headers=TIMEOUT)
    assert late.status == 504 and late.json["error"]["code"] == "timeout"
    assert "0.3 seconds" in late.json["error"]["message"]
    phone = server.post("/v1/chat/completions", chat_body(model), headers={**TIMEOUT, "X-API-Profile": "localllm"})
    assert phone.status == 408
    assert {k: phone.json["error"][k] for k in ("message", "type", "code")} == {
        "message": "Inference timeout", "type": "timeout", "code": 408}
    claude = server.post("/v1/messages", chat_body(model, max_tokens=100000), headers=TIMEOUT)
    assert claude.status == 504 and claude.json["error"]["type"] == "timeout_error"
    assert server.post("/api/chat", chat_body(model, stream=False), headers=TIMEOUT).status == 504
    assert server.chat(model, max_tokens=1).status == 200  # the late ones are over for the model, too


def test_a_stream_may_take_only_so_long(house, server):
    model = house.model(server, "slow", slots=1, **SLOW)
    assert server.post("/v1/load", {"model_name": model}).status == 200
    for limit in ("0.3", "3", "30"):  # until it has begun before its time was over
        c = server.connect()
        c.request("POST", "/v1/chat/completions", json.dumps(chat_body(model, stream=True)),
                  {"Content-Type": "application/json", "X-API-Profile": "localllm", "X-Request-Timeout": limit})
        response = c.getresponse()
        said = list(events(response))
        c.close()
        if response.status == 200:
            break
        assert response.status == 408
    assert response.status == 200 and said[-1] == "[DONE]"
    assert {k: said[-2]["error"][k] for k in ("message", "type", "code")} == {
        "message": "Inference timeout", "type": "timeout", "code": 408}


def test_waiting_counts_as_time_too(house):
    server = house.start("--request-timeout", "1")
    model = house.model(server, "slow", slots=1, **SLOW)
    server.chat(model, max_tokens=1)
    assert server.chat(model).status == 504
    with Holder(server, model):
        late = server.post("/v1/chat/completions", chat_body(model), headers=TIMEOUT)
        assert late.status == 504
        assert loaded(server, model)["requests_waiting"] == 0
        longer = server.post("/v1/chat/completions", chat_body(model), headers={"X-Request-Timeout": "3600"})
        assert longer.status == 504 and "1 seconds" in longer.json["error"]["message"]


@pytest.mark.parametrize("value", ["soon", "0", "-1", "1s", "nan", "inf", "1e300", ""])
def test_a_time_that_is_none(house, server, value):
    model = house.model(server, "one")
    reply = server.post("/v1/chat/completions", chat_body(model), headers={"X-Request-Timeout": value})
    assert reply.status == 400 and "X-Request-Timeout" in reply.json["error"]["message"]
