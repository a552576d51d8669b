"""Answers that the server writes into a stored conversation: they go on without clients, any number of clients follow
them, and what a client has seen is stored, whatever happens to the server."""
import hashlib
import json
import os
import signal
import threading

import pytest
from chat_kit import Chat, Watcher, running, waiting
from conftest import Server, fake_model, wait_until

ENDLESS = {"tokens": 1000000, "token_ms": 2, "word": "word "}
WORDS = "word word word word word "  # of a model that says five of them


def job_of(text):
    """What a model that echoes its job says."""
    return json.loads(text)


def conversation(job):
    """Roles and texts of a job's messages."""
    return [(m["role"], "".join(p.get("text", "") for p in m["parts"] if p["kind"] == "text"))
            for m in job["chat"]["messages"]]


# ---- following ----

def test_an_answer_is_streamed_and_stored(house, server):
    chat = Chat(server)
    question = chat.say("Hi")
    answer = chat.answer(question, house.model(server, "five", tokens=5, token_ms=2))
    with chat.watch(answer) as watcher:
        assert watcher.status == 200
        assert watcher.response.headers["Content-Type"] == "text/event-stream"
        assert watcher.end() == {"t": "end", "state": "done", "finish": "stop"}
        assert watcher.text == WORDS
        assert watcher.place == f"0-{len(WORDS)}"
        stats = next(r for r in watcher.records if r["t"] == "stats")
    message = chat.messages()[answer]
    assert message["text"] == WORDS and message["reasoning"] == ""
    assert (message["state"], message["finish"], message["error"]) == ("done", "stop", None)
    assert (message["parent"], message["model"]) == (question, "user.five")
    assert {"t": "stats", **message["stats"]} == stats
    assert stats["output"] == 5 and stats["context"] == 1000 and stats["tokens_s"] > 0 and "first_ms" in stats


def test_reasoning_and_calls(house, server):
    script = [{"ev": "reasoning", "text": "hm "}, {"ev": "reasoning", "text": "so"}, {"ev": "text", "text": "a"},
              {"ev": "tool_call", "call": 0, "name": "f", "arguments": "{\"q\":"},
              {"ev": "tool_call", "call": 0, "arguments": "1}"}, {"ev": "done", "reason": "tool_calls"}]
    chat = Chat(server)
    answer = chat.answer(chat.say("Hi"), house.model(server, "scripted", script=script))
    with chat.watch(answer) as watcher:
        assert watcher.end() == {"t": "end", "state": "done", "finish": "tool_calls"}
        assert (watcher.reasoning, watcher.text) == ("hm so", "a")
        calls = next(r for r in watcher.records if r["t"] == "calls")["calls"]
    assert [(c["name"], c["arguments"]) for c in calls] == [("f", "{\"q\":1}")] and calls[0]["id"]
    message = chat.messages()[answer]
    assert (message["reasoning"], message["text"], message["calls"]) == ("hm so", "a", calls)


def test_a_limit_of_tokens_cuts(house, server):
    chat = Chat(server)
    answer = chat.answer(chat.say("Hi"), house.model(server, "long", **ENDLESS), params={"max_tokens": 3})
    with chat.watch(answer) as watcher:
        assert watcher.end() == {"t": "end", "state": "cut", "finish": "length"}
    message = chat.messages()[answer]
    assert message["text"] == "word word word " and message["params"] == {"max_tokens": 3}


def test_clients_that_come_late_get_everything(house, server):
    """A client that follows from the beginning, one that comes in the middle, and one after the end."""
    gate = house.tmp_path / "gate"
    chat = Chat(server)
    answer = chat.answer(chat.say("Hi"), house.model(server, "five", tokens=5, second_until=str(gate)))
    with chat.watch(answer) as first:
        first.until_text()
        with chat.watch(answer) as second:
            second.until_text()
            assert second.text == first.text == "word "
            gate.touch()
            ends = [first.end(), second.end()]
    with chat.watch(answer) as third:
        ends.append(third.end())
    assert ends == [{"t": "end", "state": "done", "finish": "stop"}] * 3
    assert first.text == second.text == third.text == WORDS


def test_a_client_goes_away_and_comes_back(house, server):
    """Nothing is lost and nothing repeated, from whatever place it goes on, and meanwhile the answer has gone on."""
    gate = house.tmp_path / "gate"
    chat = Chat(server)
    script = [{"ev": "reasoning", "text": "h\u00e9m "}, {"ev": "text", "text": "1\u00e9 "}] + \
        [{"ev": "text", "text": f"{n}\u00e9 "} for n in range(2, 200)] + [{"ev": "done", "reason": "stop"}]
    whole = "".join(e["text"] for e in script if e["ev"] == "text")
    answer = chat.answer(chat.say("Hi"), house.model(server, "many", script=script, second_until=str(gate)))
    with chat.watch(answer) as gone:
        gone.until(lambda r: r["t"] == "think")
        place, reasoning = gone.place, gone.reasoning
    assert place == f"{len(reasoning.encode())}-0"
    gate.touch()
    assert chat.finished(answer)["text"] == whole
    with chat.watch(answer, place) as back:
        back.end()
        assert reasoning + back.reasoning == "h\u00e9m " and back.text == whole
    half = len(whole) // 2
    with chat.watch(answer, f"6-{len(whole[:half].encode())}") as back:
        back.end()
        assert back.reasoning == "" and back.text == whole[half:]
    # As browsers connect again: the same address, and the last id as a header.
    with Watcher(server, answer, headers={"Last-Event-ID": f"0-{len(whole.encode())}"}) as back:
        back.end()
        assert back.text == "" and back.reasoning == "h\u00e9m "


def test_an_answer_needs_no_client(house, server):
    chat = Chat(server)
    answer = chat.answer(chat.say("Hi"), house.model(server, "five", tokens=5, token_ms=20))
    wait_until(lambda: chat.messages()[answer]["state"] == "done", what="the end of the answer")
    assert chat.messages()[answer]["text"] == WORDS


def test_a_client_that_does_not_read_holds_nothing_up(house, server):
    """Far more text than the buffers of its connection hold."""
    chat = Chat(server)
    model = house.model(server, "big", tokens=64, word="x" * 65000)
    answer = chat.answer(chat.say("Hi"), model)
    with chat.watch(answer) as lazy:
        lazy.next()
        assert chat.finished(answer)["state"] in ("done", "cut")
        assert chat.finished(answer)["text"] == "x" * 65000 * 64
        lazy.end()
        assert lazy.text == "x" * 65000 * 64


def test_an_answer_that_is_too_long_is_cut(house, server):
    chat = Chat(server)
    answer = chat.answer(chat.say("Hi"), house.model(server, "big", tokens=80, word="x" * 65000))
    message = chat.finished(answer)
    assert (message["state"], message["finish"]) == ("cut", "length")
    assert 4000000 < len(message["text"]) <= 4 * 1024 * 1024
    assert set(message["text"]) == {"x"}


# ---- waiting ----

def test_what_an_answer_waits_for(house, server):
    gate = house.tmp_path / "gate"
    chat = Chat(server)
    model = house.model(server, "slow", slots=1, load_until=str(gate), **ENDLESS)
    first = chat.answer(chat.say("Hi"), model)
    with chat.watch(first) as watcher:
        loading = watcher.until(lambda r: r.get("stage") == "loading")
        assert loading["state"] == "queued" and 0 <= loading["progress"] <= 1
        gate.touch()
        watcher.until_text()
        second = chat.answer(chat.say("And?"), model)
        third = chat.answer(chat.say("So?"), model)
        with chat.watch(third) as last:
            waits = last.until(lambda r: r.get("stage") == "waiting" and r["place"] == 3)
            assert waits["state"] == "queued"
            assert chat.stop(second).json["state"] == "stopped"
            last.until(lambda r: r.get("place") == 2)
            chat.stop(first)
            last.until_text()
        chat.stop(third)


def test_the_prompts_progress(house, server):
    gate = house.tmp_path / "gate"
    chat = Chat(server)
    answer = chat.answer(chat.say("Hi"), house.model(server, "five", tokens=5, prefill_until=str(gate)))
    with chat.watch(answer) as watcher:
        progress = watcher.until(lambda r: r["t"] == "prompt")
        assert 0 <= progress["done"] <= progress["total"]
        gate.touch()
        watcher.end()
        assert watcher.text == WORDS


def test_a_process_that_dies_before_the_first_word_is_replaced(house, server):
    gate = house.tmp_path / "gate"
    chat = Chat(server)
    answer = chat.answer(chat.say("Hi"), house.model(server, "five", tokens=5, prefill_until=str(gate)))
    with chat.watch(answer) as watcher:
        watcher.until(lambda r: r["t"] == "prompt")
        for pid in server.children():
            os.kill(pid, signal.SIGKILL)
        gate.touch()
        assert watcher.end()["state"] == "done"
        assert watcher.text == WORDS


# ---- ending ----

def test_stop(house, server):
    chat = Chat(server)
    model = house.model(server, "endless", slots=1, **ENDLESS)
    answer = chat.answer(chat.say("Hi"), model)
    with chat.watch(answer) as watcher:
        watcher.until_text(20)
        stopped = chat.stop(answer)
        assert (stopped.status, stopped.json["state"]) == (200, "stopped")
        assert watcher.end() == {"t": "end", "state": "stopped"}
        assert stopped.json["text"] == watcher.text
    assert stopped.json["stats"]["context"] == 1000 and "first_ms" in stopped.json["stats"]
    running(server, model, 0)
    again = chat.stop(answer)  # changes nothing
    assert (again.status, again.json) == (200, stopped.json)


def test_stop_the_reasoning_alone(house, server):
    script = [{"ev": "reasoning", "text": f"{n} "} for n in range(10000)] + \
        [{"ev": "text", "text": "So: 42."}, {"ev": "done", "reason": "stop"}]
    chat = Chat(server)
    answer = chat.answer(chat.say("Hi"), house.model(server, "thinker", script=script, token_ms=2))
    with chat.watch(answer) as watcher:
        watcher.until(lambda r: r["t"] == "think" and "1 " in r["s"])
        stopped = chat.stop(answer, reasoning=True)
        assert stopped.status == 202, stopped.body
        assert watcher.end() == {"t": "end", "state": "done", "finish": "stop"}
        assert watcher.text == "So: 42." and watcher.reasoning.startswith("0 1 ")
        assert "9999" not in watcher.reasoning
    assert chat.messages()[answer]["stats"]["reasoning_ms"] > 0
    assert chat.stop(answer, reasoning=True).status == 404  # nothing is in progress
    waits = chat.answer(chat.say("Hi"), house.model(server, "never", never_ready=True))
    assert chat.stop(waits, reasoning=True).status == 409
    chat.stop(waits)


def test_stop_while_the_model_is_loaded(house, server):
    chat = Chat(server)
    answer = chat.answer(chat.say("Hi"), house.model(server, "never", never_ready=True))
    with chat.watch(answer) as watcher:
        watcher.until(lambda r: r.get("stage") == "loading")
        assert chat.stop(answer).json["state"] == "stopped"
        watcher.end()
    assert chat.messages()[answer]["text"] == ""


def test_two_answers_at_once(house):
    """Below the same message, each with its own model."""
    server = house.start("--max-loaded-models", "-1")
    gate = house.tmp_path / "gate"
    chat = Chat(server)
    question = chat.say("Hi")
    answers = [chat.answer(question, house.model(server, f"m{i}", tokens=5, word=f"w{i} ", second_until=str(gate)))
               for i in range(2)]
    watchers = [chat.watch(a) for a in answers]
    for w in watchers:
        w.until_text()
    gate.touch()
    for i, w in enumerate(watchers):
        with w:
            assert w.end()["state"] == "done"
            assert w.text == f"w{i} " * 5
    messages = chat.messages()
    assert [messages[a]["parent"] for a in answers] == [question] * 2


def test_a_conversation_that_is_deleted_ends_its_answers(house, server):
    model = house.model(server, "endless", **ENDLESS)
    for remove in (lambda c, q, a: server.request("DELETE", f"/internal/chats/{c.id}"),
                   lambda c, q, a: server.request("PATCH", f"/internal/chats/{c.id}", {"deleted": True}),
                   lambda c, q, a: server.request("DELETE", f"/internal/messages/{q}"),
                   lambda c, q, a: server.request("DELETE", f"/internal/messages/{a}")):
        chat = Chat(server)
        question = chat.say("Hi")
        answer = chat.answer(question, model)
        with chat.watch(answer) as watcher:
            watcher.until_text()
            assert remove(chat, question, answer).status in (200, 204)
            watcher.end()
        running(server, model, 0)


# ---- going on ----

def test_continue(house, server):
    """The model gets the text so far as the beginning of its answer, and what it says is added to it."""
    chat = Chat(server)
    question = chat.say("Count")
    answer = chat.answer(question, house.model(server, "endless", **ENDLESS), params={"max_tokens": 3})
    assert chat.finished(answer)["state"] == "cut"
    echo = house.model(server, "echo", echo_job=True)
    with chat.watch(answer, "0-15") as late:
        assert late.end()["state"] == "cut"
    reply = chat.ask(answer, echo, **{"continue": True})
    assert reply.status == 202 and reply.json["id"] == answer and reply.json["text"] == "word word word "
    with chat.watch(answer, "0-15") as watcher:
        assert watcher.end()["state"] == "done"
        job = job_of(watcher.text)
    assert job["chat"]["continue_last"] is True
    assert conversation(job) == [("user", "Count"), ("assistant", "word word word ")]
    message = chat.messages()[answer]
    assert message["text"] == "word word word " + watcher.text and message["model"] == "user.echo"


def test_a_continued_text_repeats_no_white_space(house, server):
    """Models are shown the text without the white space at its end, and write it again."""
    chat = Chat(server)
    words = [{"ev": "text", "text": "one,\n\n"}, {"ev": "done", "reason": "length"}]
    answer = chat.answer(chat.say("Count"), house.model(server, "first", script=words))
    assert chat.finished(answer)["text"] == "one,\n\n"
    more = [{"ev": "text", "text": "\n"}, {"ev": "text", "text": "\n\ntwo"}, {"ev": "done", "reason": "stop"}]
    assert chat.answer(answer, house.model(server, "second", script=more), **{"continue": True}) == answer
    assert chat.finished(answer)["text"] == "one,\n\n\ntwo"


def test_what_cannot_be_continued(house, server):
    chat = Chat(server)
    model = house.model(server, "endless", **ENDLESS)
    question = chat.say("Hi")
    assert chat.ask(question, model, **{"continue": True}).status == 409
    answer = chat.answer(question, model)
    assert chat.ask(answer, model, **{"continue": True}).status == 409
    assert chat.ask(answer, model).status == 409
    chat.stop(answer)


# ---- what the model is asked ----

def test_the_model_gets_the_path_to_the_answer(house, server):
    echo = house.model(server, "echo", echo_job=True)
    chat = Chat(server, system="Be brief.", params={"temperature": 0.25, "top_k": 7, "think": True})
    first = chat.say("one")
    other = chat.say("another branch", first, role="assistant")
    chat.say("more of it", other)
    mine = chat.say("two", first, role="assistant")
    last = chat.say("three", mine)
    answer = chat.answer(last, echo, params={"temperature": 0.5, "seed": 3}, think=False,
                         tools=[{"type": "function", "function": {"name": "f"}}])
    job = job_of(chat.finished(answer)["text"])
    assert conversation(job) == [("system", "Be brief."), ("user", "one"), ("assistant", "two"), ("user", "three")]
    sampling = job["sampling"]
    assert (sampling["temperature"], sampling["seed"], sampling["top_k"]) == (0.5, 3, 7)
    assert job["chat"]["think"] == 0 and "\"f\"" in json.dumps(job["chat"]["tools"])
    assert chat.messages()[answer]["params"] == {"temperature": 0.5, "seed": 3, "think": False,
                                                 "tools": [{"type": "function", "function": {"name": "f"}}]}


def upload(server, content, kind):
    reply = server.request("POST", "/internal/blobs", content, {"Content-Type": kind})
    assert reply.status in (200, 201), reply.body
    assert reply.json["id"] == hashlib.sha256(content).hexdigest()
    return reply.json["id"]


def test_files_of_messages(house, server):
    # The first is more than is parsed on the loop. All are text, as the model says them.
    picture, sound, note = b"GIF8" + b"xyz " * 100000, b"RIFF....WAVE", "Some \u00e9 text\n".encode()
    chat = Chat(server)
    parts = [{"kind": "image", "blob": upload(server, picture, "image/gif"), "name": "p.gif", "type": "image/gif"},
             {"kind": "audio", "blob": upload(server, sound, "audio/wav"), "name": "s.wav", "type": "audio/wav"},
             {"kind": "file", "blob": upload(server, note, "text/plain"), "name": "n.txt", "type": "text/plain"}]
    question = chat.say("What is this?", parts=parts)
    job = job_of(chat.finished(chat.answer(question, house.model(server, "echo", echo_job=True)))["text"])
    kinds = [p["kind"] for p in job["chat"]["messages"][0]["parts"]]
    assert kinds == ["picture", "sound", "text"]
    assert conversation(job) == [("user", "n.txt:\n\nSome \u00e9 text\n\nWhat is this?")]
    for i, content in enumerate([picture, sound]):
        model = house.model(server, f"file{i}", echo_attachment=i)
        assert chat.finished(chat.answer(question, model))["text"].startswith(content.decode())


def test_a_file_that_no_model_reads(house, server):
    chat = Chat(server)
    blob = upload(server, b"\x00\x01\x02", "application/zip")
    question = chat.say("?", parts=[{"kind": "file", "blob": blob, "name": "a.zip", "type": "application/zip"}])
    message = chat.finished(chat.answer(question, house.model(server, "five", tokens=5)))
    assert message["state"] == "failed" and "a.zip" in message["error"]["message"]


def test_wrong_requests(house, server):
    chat = Chat(server)
    model = house.model(server, "five", tokens=5)
    question = chat.say("Hi")
    for fields, param in [({"model": 5}, "model"), ({"model": ""}, "model"), ({"params": []}, "params"),
                          ({"params": {"temperature": "hot"}}, "temperature"), ({"params": {"n": 2}}, "n"),
                          ({"params": {"messages": []}}, "messages"), ({"params": {"stream": False}}, "stream"),
                          ({"think": {}}, "think"), ({"think": "much"}, "reasoning_effort"), ({"tools": 5}, "tools"),
                          ({"continue": 1}, "continue"), ({"thinking": True}, "thinking")]:
        reply = chat.ask(question, **{"model": model, **fields})
        assert reply.status == 400, (fields, reply.body)
        assert reply.json["error"]["param"] == param, (fields, reply.body)
    assert server.post(f"/internal/messages/{question}/answer", {}).status == 400
    assert server.post(f"/internal/messages/{question}/stop", {"now": True}).status == 400
    for place in ("x", "1", "-1-1", "1-1-1"):
        assert server.get(f"/internal/messages/{question}/stream?from={place}").status == 400
    for unknown in ("0" * 32, "f" * 31, "F" * 32, "x/y"):
        for method, what, body in (("POST", "answer", {"model": model}), ("POST", "stop", {}), ("GET", "stream", None)):
            reply = server.request(method, f"/internal/messages/{unknown}/{what}", body)
            assert reply.status == 404, (unknown, what, reply.body)


def test_a_message_of_a_user_has_nothing_to_follow(house, server):
    chat = Chat(server)
    question = chat.say("Hi")
    with chat.watch(question) as watcher:
        assert watcher.end() == {"t": "end", "state": "done"}
        assert watcher.text == "Hi"
    assert chat.stop(question).json["text"] == "Hi"


# ---- failures ----

def test_errors_are_stored(house, server):
    chat = Chat(server)
    question = chat.say("Hi")
    lines = "".join(f"line {n}\n" for n in range(5))
    for model, code, words in [
            ("user.nowhere", "model_not_found", "nowhere"),
            (house.model(server, "crash", load_crash=True, last_words=lines), "model_load_error", "signal 6"),
            (house.model(server, "dies", crash_after=2, tokens=5, token_ms=100), "model_process_failed", "signal 6"),
            (house.model(server, "no", fail="the prompt is bad"), "invalid_value", "the prompt is bad")]:
        answer = chat.answer(question, model)
        with chat.watch(answer) as watcher:
            end = watcher.end()
        assert end["state"] == "failed" and end["error"]["code"] == code, end
        assert words in end["error"]["message"], end
        message = chat.messages()[answer]
        assert (message["state"], message["error"]) == ("failed", end["error"])
        assert message["text"] == watcher.text
        assert message["text"] == ("word word " if code == "model_process_failed" else "")
        if "crash" in model:
            report = end["error"]["report"]
            assert report["signal_name"] == "SIGABRT" and "line 4" in report["log"], report


def test_a_full_queue(house):
    server = house.start("--max-queue", "0")
    chat = Chat(server)
    model = house.model(server, "one", slots=1, **ENDLESS)
    first = chat.answer(chat.say("Hi"), model)
    with chat.watch(first) as watcher:
        watcher.until_text()
        second = chat.answer(chat.say("Hi"), model)
        with chat.watch(second) as refused:
            end = refused.end()
        assert (end["state"], end["error"]["code"]) == ("failed", "overloaded")
        assert "busy" in end["error"]["message"]
        chat.stop(first)
    assert chat.answer(second, model, **{"continue": True}) == second  # as if asked again
    with chat.watch(second) as watcher:
        watcher.until_text()
        chat.stop(second)


def test_answers_of_one_owner_are_limited(house, server):
    chat = Chat(server)
    model = house.model(server, "one", slots=1, **ENDLESS)
    question = chat.say("Hi")
    answers = [chat.answer(question, model) for _ in range(32)]
    reply = chat.ask(question, model)
    assert reply.status == 429 and "32" in reply.json["error"]["message"]
    assert reply.headers["Retry-After"]
    for answer in answers:
        assert chat.stop(answer).json["state"] == "stopped"
    chat.stop(chat.answer(question, model))


# ---- other clients ----

def test_answers_are_their_owners_own(house):
    admin = {"Authorization": "Bearer the-admin-key-of-this-test-01"}
    server = house.start(env={"QUINCE_ADMIN_API_KEY": admin["Authorization"][7:]})
    keys = [{"Authorization": "Bearer " + server.post("/internal/keys", {"name": name}, headers=admin).json["key"]}
            for name in ("anna", "bob")]
    path = fake_model(house.tmp_path, **ENDLESS)
    assert server.post("/v1/models/register", {"model_name": "user.m", "recipe": "llamacpp", "checkpoint": str(path)},
                       headers=admin).status == 200
    anna, bob = keys
    chat = Chat(server, anna)
    question = chat.say("Hi")
    answer = chat.answer(question, "user.m")
    with chat.watch(answer) as watcher:
        watcher.until_text()
        for other in (bob, admin):
            for method, message, what, body in (
                    ("POST", question, "answer", {"model": "user.m"}), ("POST", answer, "answer", {"model": "user.m"}),
                    ("POST", answer, "stop", {}), ("GET", answer, "stream", None)):
                theirs = server.request(method, f"/internal/messages/{message}/{what}", body, other)
                nobodys = server.request(method, f"/internal/messages/{'0' * 32}/{what}", body, other)
                assert theirs.status == nobodys.status == 404, (what, theirs.body)
                assert theirs.body == nobodys.body.replace(b"0" * 32, message.encode())
        assert server.get(f"/internal/messages/{answer}/stream").status == 401
        watcher.until_text(len(watcher.text) + 20)  # it goes on
        # A key that is removed reads no more.
        assert server.request("DELETE", "/internal/keys/anna", headers=admin).status == 200
        while watcher.next() is not None:
            pass
        assert "end" not in watcher.kinds()
    server.kill()  # it would give the answer time to end


def test_a_new_key_takes_over_when_no_answer_is_being_written(house):
    """Without keys the owner is this user; the first key may take over what this user has stored."""
    server = house.start()
    chat = Chat(server)
    question = chat.say("Hi")
    answer = chat.answer(question, house.model(server, "m", **ENDLESS))
    refused = server.post("/internal/keys", {"name": "me", "take_over": True})
    assert (refused.status, refused.json["error"]["param"]) == (503, "take_over")
    assert server.get("/internal/keys").json["keys"] == []
    assert chat.stop(answer).status == 200
    wait_until(lambda: chat.messages()[answer]["state"] == "stopped", what="the end of the answer")
    assert server.post("/internal/mcp", {"name": "tools", "kind": "http", "url": "http://localhost:9/mcp"}).status == 201
    blob = server.request("POST", "/internal/blobs", b"some text", {"Content-Type": "text/plain"}).json["id"]
    reply = server.post("/internal/keys", {"name": "me", "admin": True, "take_over": True})
    assert reply.status == 200 and reply.json["taken_over"] is True
    me = {"Authorization": "Bearer " + reply.json["key"]}
    other = server.post("/internal/keys", {"name": "other"}, headers=me).json
    assert other["taken_over"] is False
    for headers, n, status in ((me, 1, 200), ({"Authorization": "Bearer " + other["key"]}, 0, 404)):
        assert len(server.get("/internal/chats", headers=headers).json["chats"]) == n
        assert len(server.get("/internal/mcp", headers=headers).json["servers"]) == n
        assert server.get(f"/internal/blobs/{blob}", headers=headers).status == status
        assert server.get(f"/internal/messages/{answer}", headers=headers).status == status
        assert len(server.get("/internal/chats/search?q=Hi", headers=headers).json["hits"]) == n
    # The key goes on in the same chat.
    chat.headers = me
    chat.stop(chat.answer(question, "user.m"))


# ---- the server ends ----

class Lives:
    """Servers over one data folder, one after the other."""

    def __init__(self, house):
        self.house = house
        self.data = house.tmp_path / "data"

    def start(self, *args):
        server = Server(self.data, self.house.backend_dir, self.house.models_dir, args)
        self.house.servers.append(server)
        return server


@pytest.fixture
def lives(house):
    return Lives(house)


@pytest.mark.parametrize("seen", [1, 40, 400])
def test_kill_9(house, lives, seen):
    """What a client has seen is there after the restart, and the answer can be continued."""
    server = lives.start()
    chat = Chat(server)
    model = house.model(server, "endless", **ENDLESS)
    answer = chat.answer(chat.say("Hi"), model)
    with chat.watch(answer) as watcher:
        watcher.until_text(seen)
        server.kill()
    chat.server = server = lives.start()
    message = chat.messages()[answer]
    assert message["state"] == "interrupted"
    assert message["text"].startswith(watcher.text) and set(message["text"].split()) <= {"word", "wor", "wo", "w"}
    with chat.watch(answer, watcher.place) as back:
        assert back.end()["state"] == "interrupted"
        assert watcher.text + back.text == message["text"]
    assert chat.answer(answer, model, **{"continue": True}, params={"max_tokens": 2}) == answer
    assert chat.finished(answer)["text"] == message["text"] + "word word "


def test_a_server_that_stops_lets_answers_end(house, lives):
    gate = house.tmp_path / "gate"
    server = lives.start("--drain", "60")
    chat = Chat(server)
    answer = chat.answer(chat.say("Hi"), house.model(server, "five", tokens=5, second_until=str(gate)))
    with chat.watch(answer) as watcher:
        watcher.until_text()
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: "stopping=when_idle" in server.logs(), what="the signal")
        gate.touch()
        assert watcher.end()["state"] == "done"
    assert server.process.wait(60) == 0
    chat.server = lives.start()
    assert chat.messages()[answer]["text"] == WORDS


def test_a_server_that_stops_waits_without_clients_too(house, lives):
    gate = house.tmp_path / "gate"
    server = lives.start("--drain", "60")
    chat = Chat(server)
    answer = chat.answer(chat.say("Hi"), house.model(server, "five", tokens=5, second_until=str(gate)))
    wait_until(lambda: chat.messages()[answer]["text"], what="the first word")
    server.process.send_signal(signal.SIGTERM)
    wait_until(lambda: "stopping=when_idle" in server.logs(), what="the signal")
    gate.touch()
    assert server.process.wait(60) == 0
    chat.server = lives.start()
    assert chat.messages()[answer]["text"] == WORDS


@pytest.mark.parametrize("twice", [False, True])
def test_a_server_that_stops_interrupts_long_answers(house, lives, twice):
    """After the time for running requests, or at a second signal."""
    server = lives.start("--drain", "60" if twice else "1")
    chat = Chat(server)
    model = house.model(server, "endless", slots=1, **ENDLESS)
    answer = chat.answer(chat.say("Hi"), model)
    waits = chat.answer(chat.say("Ho"), model)
    with chat.watch(answer) as watcher:
        watcher.until_text(20)
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: "stopping=when_idle" in server.logs(), what="the signal")
        if twice:
            server.process.send_signal(signal.SIGTERM)
        while True:
            try:
                if watcher.next() is None:
                    break
            except OSError:
                break
        if not twice:
            assert watcher.records[-1] == {"t": "end", "state": "interrupted"}
    assert server.process.wait(60) == 0
    chat.server = lives.start()
    messages = chat.messages()
    assert [messages[a]["state"] for a in (answer, waits)] == ["interrupted"] * 2
    assert messages[answer]["text"].startswith(watcher.text) and messages[waits]["text"] == ""


def test_no_answer_is_begun_by_a_server_that_stops(house, lives):
    server = lives.start("--drain", "60")
    chat = Chat(server)
    model = house.model(server, "endless", **ENDLESS)
    question = chat.say("Hi")
    answer = chat.answer(question, model)
    with chat.watch(answer) as watcher:
        watcher.until_text()
        connection = server.connect()
        connection.connect()
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: "stopping=when_idle" in server.logs(), what="the signal")
        connection.request("POST", f"/internal/messages/{question}/answer", json.dumps({"model": model}),
                           {"Content-Type": "application/json"})
        assert connection.getresponse().status == 503
        connection.close()
    assert server.stop() == 0


def test_many_clients_and_answers(house, server):
    """Eight answers, three clients each, of which one comes late and one goes away and comes back."""
    chat = Chat(server)
    model = house.model(server, "busy", slots=8, tokens=60, token_ms=2)
    answers = [chat.answer(chat.say(f"q{i}"), model) for i in range(8)]
    texts = {}

    def follow(answer, name, leave):
        with chat.watch(answer) as watcher:
            if leave:
                watcher.until_text(30)
                text, place = watcher.text, watcher.place
            else:
                watcher.end()
                text, place = watcher.text, None
        if place:
            with chat.watch(answer, place) as watcher:
                watcher.end()
                text += watcher.text
        texts[answer, name] = text

    threads = [threading.Thread(target=follow, args=(a, n, n == 1)) for a in answers for n in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(texts) == 24 and set(texts.values()) == {"word " * 60}
