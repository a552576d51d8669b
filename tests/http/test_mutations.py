"""Requests of every dialect, spoilt at random: the answer is a 4xx in the dialect's own form or a valid reply,
never a 5xx, a hang or a leak (the fixture looks for complaints of sanitizers and at the exit status).

QUINCE_TEST_MUTATIONS says how many of each dialect (scripts/dev mutate COUNT), QUINCE_TEST_SEED which ones."""
import copy
import http.client
import json
import os
import random

import pytest

COUNT = int(os.environ.get("QUINCE_TEST_MUTATIONS", "300"))
SEED = os.environ.get("QUINCE_TEST_SEED", "1")

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 0}, "b": {"enum": ["x", None]}},
          "required": ["a"], "additionalProperties": False}
FUNCTION = {"name": "f", "description": "d", "parameters": SCHEMA, "strict": True}
IMAGE = "data:image/png;base64,iVBORw0KGgo="

BODIES = {
    "/v1/chat/completions": {
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": [{"type": "text", "text": "q"},
                                         {"type": "image_url", "image_url": {"url": IMAGE, "detail": "low"}}]},
            {"role": "assistant", "content": None, "reasoning_content": "h", "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "r"}],
        "tools": [{"type": "function", "function": FUNCTION}], "tool_choice": "auto", "parallel_tool_calls": False,
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA, "strict": True}},
        "stream": True, "stream_options": {"include_usage": True}, "max_tokens": 5, "temperature": 0.5, "top_p": 0.9,
        "top_k": 40, "stop": ["x"], "seed": 1, "n": 2, "logprobs": True, "top_logprobs": 2,
        "logit_bias": {"5": 1.5}, "presence_penalty": 0.1, "frequency_penalty": 0.1, "reasoning_effort": "low",
        "chat_template_kwargs": {"x": 1}, "keep_alive": "5m", "user": "u"},
    "/v1/completions": {
        "prompt": ["a", "b"], "max_tokens": 5, "stream": False, "echo": True, "logprobs": 2, "stop": "x", "n": 1,
        "suffix": "z", "temperature": 1, "top_p": 1, "seed": 3, "logit_bias": {"7": -1}, "best_of": 1},
    "/v1/responses": {
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "q"},
                                               {"type": "input_image", "image_url": IMAGE}]},
                  {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
                  {"type": "function_call_output", "call_id": "c", "output": "r"}],
        "instructions": "i", "tools": [{"type": "function", **FUNCTION}], "tool_choice": "auto", "stream": True,
        "text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA, "strict": True}},
        "reasoning": {"effort": "low"}, "max_output_tokens": 16, "temperature": 0.5, "store": True,
        "metadata": {"k": "v"}, "parallel_tool_calls": True, "truncation": "auto"},
    "/v1/messages": {
        "max_tokens": 5, "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "h", "signature": "s"},
                                              {"type": "text", "text": "t"},
                                              {"type": "tool_use", "id": "a", "name": "f", "input": {"a": 1}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "is_error": True,
                 "content": [{"type": "text", "text": "r"}]},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
                {"type": "document", "title": "t", "source": {"type": "text", "media_type": "text/plain",
                                                              "data": "d"}}]}],
        "tools": [{"name": "f", "description": "d", "input_schema": SCHEMA}],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
        "thinking": {"type": "enabled", "budget_tokens": 1024}, "stop_sequences": ["x"], "stream": True,
        "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": SCHEMA}},
        "temperature": 0.5, "top_p": 0.9, "top_k": 5, "metadata": {"user_id": "u"}},
    "/v1/messages/count_tokens": {"system": "s", "messages": [{"role": "user", "content": "q"}],
                                  "tools": [{"name": "f", "input_schema": SCHEMA}]},
    "/api/chat": {
        "messages": [{"role": "user", "content": "q", "images": ["iVBORw0KGgo="]},
                     {"role": "assistant", "content": "", "thinking": "h", "tool_calls": [
                         {"function": {"name": "f", "arguments": {"a": 1}}}]},
                     {"role": "tool", "tool_name": "f", "content": "r"}],
        "tools": [{"type": "function", "function": FUNCTION}], "format": SCHEMA, "think": False, "stream": True,
        "keep_alive": "5m", "options": {"temperature": 0.5, "num_predict": 5, "top_k": 4, "stop": ["x"], "seed": 1,
                                        "num_ctx": 512, "repeat_penalty": 1.1, "min_p": 0.1}},
    "/api/generate": {
        "prompt": "p", "system": "s", "suffix": "", "template": "{{ messages[-1].content }}", "raw": False, "stream": False,
        "images": ["iVBORw0KGgo="], "format": "json", "context": [1, 2, 3], "think": False, "keep_alive": 300,
        "options": {"temperature": 0, "num_predict": 3, "stop": "x", "mirostat": 0}},
    "/v1/load": {"model_name": "user.m", "ctx_size": 512, "save_options": True, "llamacpp_args": "--no-mmap",
                 "slots": 2, "cache_type": "q8_0"},
    "/v1/unload": {"model_name": "user.m"},
    "/v1/models/register": {"model_name": "user.n", "checkpoint": "/nonexistent/x.gguf", "recipe": "llamacpp"},
    "/api/show": {"model": "user.m", "verbose": True},
    "/api/create": {"model": "p", "from": "user.m", "system": "s", "template": "{{ messages[-1].content }}",
                    "parameters": {"temperature": 0.5, "stop": ["x"]}, "license": "l",
                    "messages": [{"role": "user", "content": "q"}], "stream": False},
    "/api/copy": {"source": "user.m", "destination": "copy"},
    "/v1/embeddings": {"model": "user.m", "input": ["a", "b"], "encoding_format": "float", "dimensions": 4},
    "/v1/reranking": {"model": "user.m", "query": "q", "documents": ["a", "b"], "top_n": 1},
    "/v1/audio/speech": {"input": "Hello", "voice": {"id": "af_sky"}, "instructions": "i", "speed": 1.5, "language": "en",
                         "response_format": "opus", "stream_format": "sse", "stream": False},
    "/v1/images/generations": {
        "prompt": "p", "negative_prompt": "n", "size": "64x64", "n": 2, "steps": 4, "cfg_scale": 1.5, "strength": 0.5,
        "seed": 7, "sample_method": "euler_a", "flow_shift": 3, "response_format": "url", "output_format": "webp",
        "stream": True, "partial_images": 1, "keep_alive": "5m"},
    "/v1/images/upscale": {"image": "data:image/png;base64,iVBORw0KGgo=", "response_format": "b64_json"},
    "/api/embed": {"model": "user.m", "input": ["a", "b"], "truncate": True, "dimensions": 4},
    "/api/embeddings": {"model": "user.m", "prompt": "a"},
    "/engines": {"engine_id": "e", "model_path": "/nonexistent/x.gguf", "n_ctx": 512, "n_gpu_layers": 3,
                 "main_gpu_id": 0},
}

# Fields and files.
FORMS = {
    "/v1/audio/transcriptions": [
        ("file", b"fLaC\0\0"), ("model", "user.m"), ("language", "German"), ("prompt", "p"), ("temperature", "0.5"),
        ("response_format", "verbose_json"), ("timestamp_granularities[]", "word"), ("keep_alive", "5m")],
    "/v1/audio/translations": [("file", b"OggS\0\r\n--bx"), ("model", "user.m"), ("stream", "true"), ("include[]", "logprobs")],
    "/v1/images/edits": [
        ("image[]", b"\x89PNG\r\n\x1a\n"), ("image[]", b"\xff\xd8\xff"), ("mask", b"\x89PNG\r\n\x1a\n\0"), ("model", "user.m"),
        ("prompt", "p"), ("size", "64x64"), ("n", "2"), ("steps", "4"), ("cfg_scale", "1"), ("seed", "-1"), ("stream", "1")],
    "/v1/images/variations": [("image", b"RIFF\0\0\0\0WEBP"), ("model", "user.m"), ("n", "1"), ("width", "64"), ("height", "64")],
}

RECIPES = {"/v1/audio/transcriptions": "whispercpp", "/v1/audio/translations": "whispercpp", "/v1/audio/speech": "kokoro",
           **dict.fromkeys(["/v1/images/generations", "/v1/images/upscale", "/v1/images/edits", "/v1/images/variations"],
                           "sd-cpp")}

VALUES = [
    None, True, False, 0, 1, -1, 1.5, -0.5, 1e30, -1e300, 2**31, 2**53, 2**63, 10**30, "", " ", "x", "\ud83d\ude00",
    "user.m", "{{", "</s><|im_start|>system", "a" * 5000, "\n\r\t\u0001", "../../etc/passwd", [], {}, [[]], [None],
    [1, "a"], [[[[[[1]]]]]], {"a": {}}, {"type": "text"}, {"type": 5}, [{}], {"": ""}, "data:,", "0", "-1", "nan",
    {"$ref": "#"}, {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}, "(", ["x"] * 50,
]


def places(value, way=()):
    yield way
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*way, key))


def spoil(body, rng):
    """One to three members replaced, removed, doubled or moved."""
    body = copy.deepcopy(body)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        ways = [w for w in places(body) if w]
        if not ways:
            break
        way = rng.choice(ways)
        parent = body
        for key in way[:-1]:
            parent = parent[key]
        what = rng.random()
        if what < 0.6:
            parent[way[-1]] = copy.deepcopy(rng.choice(VALUES))
        elif what < 0.8:
            del parent[way[-1]]
        elif isinstance(parent, list):
            parent.extend(copy.deepcopy(parent) * rng.choice([1, 3, 30]))
        else:
            parent[rng.choice(["x", "type", "model", "stream", ""])] = copy.deepcopy(parent[way[-1]])
    return body


def damage(raw, rng):
    """Bytes changed, lost, doubled or cut off."""
    raw = bytearray(raw)
    for _ in range(rng.choice([1, 1, 2, 5])):
        if not raw:
            break
        at = rng.randrange(len(raw))
        what = rng.randrange(5)
        if what == 0:
            raw[at] = rng.randrange(256)
        elif what == 1:
            del raw[at:at + rng.choice([1, 2, 20])]
        elif what == 2:
            raw[at:at] = bytes(rng.choice([b"\"", b"{", b"[", b"\\u0000", b"\xff", b"\\ud800", b",", b"1e999"]))
        elif what == 3:
            raw[at:at] = raw[at:at + 50]
        else:
            del raw[at:]
    return bytes(raw)


def check_reply(path, response, data):
    """A valid reply of its kind."""
    kind = response.headers["Content-Type"] or ""
    if response.status != 200:
        # What Lemonade does not do either is 501, a valid answer of theirs.
        assert 400 <= response.status < 500 or (response.status == 501 and path.startswith("/api/")), \
            (response.status, data[:500])
        error = json.loads(data)
        if path.startswith("/v1/messages"):
            assert error["type"] == "error" and error["error"]["message"]
        elif path.startswith("/api/") and not path.startswith("/api/v"):
            assert isinstance(error["error"], str) and error["error"]
        else:
            assert error["error"]["message"] and error["error"]["type"]
    elif kind.startswith("text/event-stream"):
        for line in data.decode().splitlines():
            assert line == "" or line.startswith((":", "event: ", "data: ")), line
            if line.startswith("data: ") and line != "data: [DONE]":
                json.loads(line[6:])
    elif kind.startswith("application/x-ndjson"):
        for line in data.decode().splitlines():
            json.loads(line)
    elif kind.startswith(("audio/", "text/plain")):
        assert data
    elif path != "/api/copy":  # which says nothing
        json.loads(data)


# What is not asked of a model's words: nothing says how many of these succeed.
MANAGEMENT = {"/v1/load", "/v1/unload", "/v1/models/register", "/api/show", "/api/create", "/api/copy", "/api/embed",
              "/api/embeddings", "/v1/embeddings", "/v1/reranking", "/engines"}


@pytest.mark.parametrize("path", BODIES)
def test_spoilt_requests(house, path):
    server = house.start()
    house.model(server, "m", RECIPES.get(path, "llamacpp"), tokens=2)
    rng = random.Random(f"{SEED}{path}")
    whole = {**BODIES[path], **({} if path in MANAGEMENT else {"model": "user.m"})}
    seen = {200: 0}
    connection = server.connect()
    for i in range(COUNT):
        raw = json.dumps(whole if i == 0 else spoil(whole, rng)).encode()
        if i % 3 == 2:
            raw = damage(raw, rng)
        try:
            connection.request("POST", path, raw, {"Content-Type": "application/json"})
            response = connection.getresponse()
            data = response.read()
            check_reply(path, response, data)
        except (OSError, http.client.HTTPException, AssertionError, ValueError) as e:
            raise AssertionError(f"seed {SEED}, request {i}: {type(e).__name__} {e}\n{raw[:3000]!r}") from e
        seen[response.status] = seen.get(response.status, 0) + 1
        if response.will_close:
            connection.close()
    connection.close()
    assert path in MANAGEMENT or seen[200] > COUNT / 20, seen
    assert sum(n for status, n in seen.items() if status != 200) > COUNT / 8, seen
    assert server.get("/live").status == 200


def form(parts):
    out = b""
    for name, value in parts:
        file = b'; filename="f"' if isinstance(value, bytes) else b""
        value = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
        out += b'--b\r\nContent-Disposition: form-data; name="' + name.encode() + b'"' + file + b"\r\n\r\n" + value + b"\r\n"
    return out + b"--b--\r\n"


def spoil_form(parts, rng):
    """Parts replaced, lost, doubled or shuffled, or the bytes damaged."""
    parts = list(parts)
    at = rng.randrange(len(parts))
    what = rng.randrange(5)
    if what == 0:
        parts[at] = (parts[at][0], str(rng.choice(VALUES)))
    elif what == 1:
        del parts[at]
    elif what == 2:
        parts[at:at] = [parts[at]] * rng.choice([1, 20, 300])
    elif what == 3:
        rng.shuffle(parts)
        parts[at] = (rng.choice(["", "[]", "file", "image", "model"]), parts[at][1])
    else:
        return damage(form(parts), rng)
    return form(parts)


@pytest.mark.parametrize("path", FORMS)
def test_spoilt_forms(house, path):
    server = house.start()
    house.model(server, "m", RECIPES[path], tokens=2)
    rng = random.Random(f"{SEED}{path}")
    seen = {200: 0}
    connection = server.connect()
    for i in range(COUNT):
        raw = form(FORMS[path]) if i == 0 else spoil_form(FORMS[path], rng)
        try:
            connection.request("POST", path, raw, {"Content-Type": "multipart/form-data; boundary=b"})
            response = connection.getresponse()
            data = response.read()
            check_reply(path, response, data)
        except (OSError, http.client.HTTPException, AssertionError, ValueError) as e:
            raise AssertionError(f"seed {SEED}, request {i}: {type(e).__name__} {e}\n{raw[:3000]!r}") from e
        assert i or response.status == 200, data
        seen[response.status] = seen.get(response.status, 0) + 1
        if response.will_close:
            connection.close()
    connection.close()
    assert seen[200] > COUNT / 20 and sum(n for status, n in seen.items() if status != 200) > COUNT / 8, seen
    assert server.get("/live").status == 200
