"""Pictures in chat messages, in each dialect that has them: a picture crosses to the model's process once, as the
bytes that it is, and what the router holds meanwhile is bounded."""
import base64
import json
import random
import re

import pytest

from conftest import SANITIZED, wait_until
from test_inspect import peak_bytes

MIB = 1024 * 1024
LARGE = 8 * MIB
OVERHEAD = 4096  # of a frame: everything but the picture
# Base64 as it came, the body as JSON, the picture, the frame with it.
ROUTER_COPIES = 48 * MIB


def picture(size):
    """A GIF by its first bytes, text by the others, so that an answer can repeat it."""
    return b"GIF89a" + random.Random(size).randbytes(size // 2).hex().encode()[:size - 6].ljust(size - 6, b"x")


def b64(data):
    return base64.b64encode(data).decode()


def openai(server, model, data):
    url = "data:image/gif;base64," + b64(data)
    content = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": url}}]
    reply = server.chat(model, content)
    return reply, lambda: reply.json["choices"][0]["message"]["content"]


def responses(server, model, data):
    part = {"type": "input_image", "image_url": "data:image/gif;base64," + b64(data)}
    reply = server.post("/v1/responses", {"model": model, "store": False, "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "see"}, part]}]})
    return reply, lambda: reply.json["output"][0]["content"][0]["text"]


def anthropic(server, model, data):
    source = {"type": "base64", "media_type": "image/gif", "data": b64(data)}
    reply = server.post("/v1/messages", {"model": model, "max_tokens": 10, "messages": [
        {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image", "source": source}]}]})
    return reply, lambda: reply.json["content"][0]["text"]


def ollama(server, model, data):
    reply = server.post("/api/chat", {"model": model, "stream": False, "messages": [
        {"role": "user", "content": "see", "images": [b64(data)]}]})
    return reply, lambda: reply.json["message"]["content"]


DIALECTS = [openai, responses, anthropic, ollama]


def frames(server):
    """Bytes of each job that a child has got."""
    return [int(n) for n in re.findall(r"job=begun task=chat bytes=(\d+)", server.logs())]


@pytest.mark.release
@pytest.mark.parametrize("ask", DIALECTS)
def test_a_large_picture_crosses_once(house, ask):
    server = house.start()
    model = house.model(server, "seer", echo_job=True)
    assert server.chat(model).status == 200
    before, sent = peak_bytes(server.process.pid), len(frames(server))
    reply, said = ask(server, model, picture(LARGE))
    assert reply.status == 200, reply.body
    job = json.loads(said())
    assert job["attachments"] == [{"role": "image", "type": "image/gif", "bytes": LARGE}] and job["bytes"] == LARGE
    assert job["chat"]["messages"] == [{"role": "user", "parts": [
        {"kind": "text", "text": "see"}, {"kind": "picture", "attachment": 0}]}]
    (crossed,) = frames(server)[sent:]
    assert LARGE < crossed <= LARGE + OVERHEAD
    assert SANITIZED or peak_bytes(server.process.pid) - before < ROUTER_COPIES


@pytest.mark.parametrize("ask", DIALECTS)
def test_a_picture_arrives_as_it_was(house, ask):
    server = house.start()
    model = house.model(server, "mirror", echo_attachment=0)
    data = picture(5001)
    reply, said = ask(server, model, data)
    assert reply.status == 200, reply.body
    assert said() == data.decode()


@pytest.mark.release
@pytest.mark.skipif(SANITIZED, reason="sanitizers keep freed memory")
def test_large_pictures_leave_nothing_behind(house):
    server = house.start()
    model = house.model(server, "seer", echo_job=True)
    data = picture(LARGE)
    assert server.chat(model).status == 200
    before = server.rss_kib()
    for _ in range(3):
        for ask in DIALECTS:
            assert ask(server, model, data)[0].status == 200
    # A request's memory is freed once its reply has been sent, which may be after the client has read it.
    wait_until(lambda: (server.rss_kib() - before) * 1024 < LARGE, timeout=5, what="memory as before")


def test_what_is_no_picture_names_its_place(house):
    server = house.start()
    model = house.model(server, "seer", echo_job=True)
    for url, word in (("data:image/gif;base64,%%%", "base64"), ("data:image/gif,abc", "data URL"),
                      ("https://example.com/a.png", "data URL")):
        reply = server.chat(model, [{"type": "image_url", "image_url": {"url": url}}])
        assert reply.status == 400 and word in reply.json["error"]["message"]
        assert reply.json["error"]["param"].startswith("messages[0].content[0].image_url")


def test_a_preset_keeps_pictures_and_calls(house):
    """What a model was made with is told to it in every request, pictures with their bytes."""
    server = house.start()
    base = house.model(server, "base", echo_job=True)
    data = picture(5001)
    made = server.post("/api/create", {"model": "seer", "from": base, "stream": False, "messages": [
        {"role": "user", "content": "see", "images": [b64(data)]},
        {"role": "assistant", "content": "", "thinking": "hm", "tool_calls": [
            {"function": {"name": "f", "arguments": {"n": 1.5}}}]},
        {"role": "tool", "tool_name": "f", "content": "ok"}]})
    assert made.json == {"status": "success"}
    reply, said = openai(server, "seer", picture(6000))
    assert reply.status == 200, reply.body
    job = json.loads(said())
    assert [m["role"] for m in job["chat"]["messages"]] == ["user", "assistant", "tool", "user"]
    seen, called, result, asked = (m["parts"] for m in job["chat"]["messages"])
    assert seen == [{"kind": "text", "text": "see"}, {"kind": "picture", "attachment": 1}]
    assert called == [{"kind": "reasoning", "text": "hm"}, {"kind": "text", "text": ""},
                      {"kind": "call", "name": "f", "arguments": '{"n":1.5}'}]
    assert result == [{"kind": "text", "text": "ok"}] and job["chat"]["messages"][2]["name"] == "f"
    assert asked[1] == {"kind": "picture", "attachment": 0}
    assert [a["bytes"] for a in job["attachments"]] == [6000, 5001]
    shown = server.post("/api/show", {"model": "seer"}).json["messages"]
    assert shown[0]["content"][1]["image_url"]["url"] == "data:image/gif;base64," + b64(data)
    assert shown[1]["tool_calls"][0]["function"] == {"name": "f", "arguments": {"n": 1.5}}
