"""Engines of others: a llama-server that quince runs itself, and servers elsewhere (the recipe remote)."""
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import ssl
import stat
import struct
import subprocess
import sys

import pytest
from conftest import QUICK, House, events, fake_model, free_port, gguf, keeping, text_of, wait_until
from users import as_other_user, needs_another_user

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import fake_llama

KEY = "sk-this-must-never-be-shown-0123456789"


def rest(server):
    """Makes a server that several tests share as it was."""
    server.post("/v1/unload", {})
    for model in server.get("/v1/models").json["data"]:
        server.post("/v1/delete", {"model_name": model["id"]})


def said(server, words):
    """Waits until the log has what a model's process says: it comes beside the answers."""
    wait_until(lambda: words in server.logs(), what=words)


@pytest.fixture(scope="module")
def far(tmp_path_factory, fake_backend_dir):
    with keeping(House(tmp_path_factory.mktemp("far"), fake_backend_dir)) as h:
        yield h.start()


@pytest.fixture
def server(far):
    yield far
    rest(far)


def remote(server, name, *upstreams, **fields):
    """Registers a model that these servers compute."""
    body = {"model_name": f"user.{name}", "recipe": "remote", **fields}
    if upstreams:
        body["upstreams"] = [u if isinstance(u, dict) else {"url": u.url} for u in upstreams]
    reply = server.post("/v1/models/register", body)
    assert reply.status == 200, reply.body
    return f"user.{name}"


def chat_in_every_dialect(server, model, answer):
    messages = [{"role": "user", "content": "hello"}]
    reply = server.chat(model)
    assert reply.status == 200, reply.body
    assert reply.json["choices"][0]["message"]["content"] == answer
    assert reply.json["usage"]["prompt_tokens"] == 7
    c, response = server.stream(model)
    assert text_of(events(response)) == answer
    c.close()
    reply = server.post("/v1/completions", {"model": model, "prompt": "hello"})
    assert reply.json["choices"][0]["text"] == answer
    reply = server.post("/v1/responses", {"model": model, "input": "hello"})
    assert reply.json["output"][-1]["content"][0]["text"] == answer
    reply = server.post("/v1/messages", {"model": model, "max_tokens": 50, "messages": messages})
    assert reply.json["content"][-1]["text"] == answer
    reply = server.post("/v1/messages/count_tokens", {"model": model, "messages": messages})
    assert reply.json == {"input_tokens": 7}
    reply = server.post("/api/chat", {"model": model, "messages": messages, "stream": False})
    assert reply.json["message"]["content"] == answer
    reply = server.post("/api/generate", {"model": model, "prompt": "hello", "stream": False})
    assert reply.json["response"] == answer


# ---- remote ----

def test_a_remote_model_answers_in_every_dialect(server):
    with fake_llama.serving(tokens=5, key=KEY) as upstream:
        model = remote(server, "far", upstream, api_key=KEY)
        chat_in_every_dialect(server, model, "word " * 5)
        assert {h["Authorization"] for _, h, _ in upstream.requests} == {f"Bearer {KEY}"}
    loaded = server.get("/v1/health").json
    assert any(m["model_name"] == model for m in loaded["all_models_loaded"])


@needs_another_user
def test_a_servers_cache_of_prompts_is_for_one_owner_only(server):
    """Servers of llama.cpp reuse the beginning of any earlier prompt: not once a second owner has asked."""
    with fake_llama.serving(key=KEY) as upstream:
        model = remote(server, "far", upstream, api_key=KEY, flavour="llamacpp")
        assert server.chat(model).status == 200 and server.chat(model).status == 200
        body = {"model": model, "messages": [{"role": "user", "content": "hello"}]}
        assert as_other_user(server, "POST", "/v1/chat/completions", body).status == 200
        assert server.chat(model).status == 200
        asked = [json.loads(b) for path, _, b in upstream.requests if path.endswith("/chat/completions")]
    assert [a.get("cache_prompt", True) for a in asked] == [True, True, False, False]


def test_keys_are_shown_nowhere(server):
    with fake_llama.serving(key=KEY) as upstream:
        model = remote(server, "secret", upstream, api_key=KEY)
        assert server.chat(model).status == 200
        shown = [server.get(path).body for path in (
            f"/v1/models/{model}", "/v1/models", "/v1/health", "/api/tags", "/v1/stats", "/metrics",
            f"/v1/models/{model}/files", f"/v1/models/{model}/options", "/v1/system-info")]
        shown.append(server.post("/api/show", {"model": model}).body)
        upstream.b.update(status=500, message=f"you sent {KEY}")
        repeated = server.chat(model)
        assert "you sent ***" in repeated.json["error"]["message"]
        shown.append(repeated.body)
        del upstream.b["status"]
        upstream.b["key"] = "another"
        refused = server.chat(model)
        shown.append(refused.body)
    assert refused.status >= 400 and b"key" in refused.body
    assert KEY not in server.logs() and not any(KEY.encode() in body for body in shown)
    files = list((server.data_dir / "remotes").iterdir())
    assert len(files) == 1 and stat.S_IMODE(files[0].stat().st_mode) == 0o600
    assert server.get(f"/v1/models/{model}").json["remote"]["upstreams"][0]["has_key"] is True
    gone = server.post("/v1/delete", {"model_name": model})
    assert gone.status == 200 and gone.json["files_kept"] == 0 and "note" not in gone.json
    assert not list((server.data_dir / "remotes").iterdir())


def test_a_key_of_the_environment(house, monkeypatch):
    monkeypatch.setenv("FAR_API_KEY", KEY)
    server = house.start()
    with fake_llama.serving(key=KEY) as upstream:
        model = remote(server, "env", upstream, key_env="FAR_API_KEY")
        assert server.chat(model).status == 200
        assert KEY.encode() not in server.get("/v1/health").body
        other = remote(server, "none", upstream, key_env="NOT_THERE")
        reply = server.chat(other)
    assert reply.status == 500 and "NOT_THERE" in reply.json["error"]["message"]
    assert KEY not in server.logs()


def test_a_key_under_a_name_of_the_server(house):
    """QUINCE_ begins the names of settings. A model registered with such a name, by an older quince, does not
    keep the server from starting: it is marked, and says what is wrong."""
    server = house.start()
    reply = server.post("/v1/models/register", {"model_name": "user.x", "recipe": "remote", "base_url": "http://x/v1",
                                                "key_env": "QUINCE_FAR_KEY"})
    assert reply.status == 400 and "QUINCE_" in reply.json["error"]["message"], reply.body
    with fake_llama.serving(key=KEY) as upstream:
        model = remote(server, "old", upstream, key_env="FAR_KEY")
        assert server.stop() == 0
        house.servers.remove(server)
        file, = (server.data_dir / "remotes").iterdir()
        file.write_text(file.read_text().replace("FAR_KEY", "QUINCE_FAR_KEY"))
        server = house.start("--data-dir", str(server.data_dir), env={"QUINCE_FAR_KEY": KEY})
        assert "QUINCE_" in server.get(f"/v1/models/{model}").json["unsupported"]
        reply = server.chat(model)
        assert reply.status >= 400 and "QUINCE_" in reply.json["error"]["message"], reply.body
        # Registered anew it works; the variable may stay.
        assert server.stop() == 0
        house.servers.remove(server)
        server = house.start("--data-dir", str(server.data_dir), env={"QUINCE_FAR_KEY": KEY, "FAR_KEY": KEY})
        remote(server, "old", upstream, key_env="FAR_KEY")
        assert "unsupported" not in server.get(f"/v1/models/{model}").json
        assert server.chat(model).status == 200
    assert KEY not in server.logs()


def test_weights_and_a_map_of_names(server):
    with fake_llama.serving(word="a ", models=["big-a", "other"]) as a, fake_llama.serving(word="b ") as b:
        model = remote(server, "both", {"url": a.url, "weight": 3, "model": "big-a"}, {"url": b.url})
        words = [server.chat(model).json["choices"][0]["message"]["content"][0] for _ in range(8)]
        assert sorted(words) == ["a"] * 6 + ["b"] * 2
        assert {json.loads(body)["model"] for _, _, body in a.requests} == {"big-a"}
        assert {json.loads(body)["model"] for _, _, body in b.requests} == {"fake"}


def test_an_upstream_that_dies_before_the_first_byte(server):
    """The request goes elsewhere. One that fails again and again is left alone, then probed and used again."""
    with fake_llama.serving(word="a ") as a, fake_llama.serving(word="b ") as b:
        model = remote(server, "pair", a, b)
        assert server.chat(model).status == 200
        a.b["down"] = True
        for _ in range(8):
            reply = server.chat(model)
            assert reply.json["choices"][0]["message"]["content"] == "b " * 5
        said(server, f"upstream=127.0.0.1:{a.port} breaker=open")
        tried = len(a.requests)
        for _ in range(4):
            server.chat(model)
        assert len(a.requests) <= tried + 1
        a.b["down"] = False
        wait_until(lambda: server.chat(model).json["choices"][0]["message"]["content"][0] == "a", what="its return")
        for state in ("half-open", "closed"):
            said(server, f"upstream=127.0.0.1:{a.port} breaker={state}")


def test_the_only_upstream_is_asked_again(server):
    with fake_llama.serving() as upstream:
        model = remote(server, "alone", upstream)
        upstream.b["die_before"] = 1
        assert server.chat(model).json["choices"][0]["message"]["content"] == "word " * 5
        upstream.b["down"] = True
        replies = [server.chat(model) for _ in range(4)]
        assert all(r.status in (500, 502, 503) for r in replies)
        assert replies[-1].status == 503 and "next attempt" in replies[-1].json["error"]["message"]
        upstream.b["down"] = False
        wait_until(lambda: server.chat(model).status == 200, what="its return")


def test_an_upstream_that_dies_after_the_first_byte(server):
    """A stream says that it was cut off; what was said is not said again."""
    with fake_llama.serving(tokens=10, die_after=3) as upstream:
        model = remote(server, "cut", upstream)
        c, response = server.stream(model)
        got = list(events(response))
        c.close()
        assert text_of([g for g in got if g != "[DONE]" and "error" not in g]) == "word " * 3
        assert any(g != "[DONE]" and "error" in g for g in got)
        assert len(upstream.requests) == 1
        upstream.b["die_after"] = None
        assert server.chat(model).json["choices"][0]["message"]["content"] == "word " * 10


def test_tools_reasoning_and_what_is_sent(server):
    tools = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
    with fake_llama.serving(tokens=1, tool="weather", reasoning="hm") as upstream:
        model = remote(server, "tools", upstream)
        reply = server.chat(model, tools=tools, temperature=0.5, top_k=7, stop=["x"], seed=3)
        message = reply.json["choices"][0]["message"]
        assert reply.json["choices"][0]["finish_reason"] == "tool_calls"
        call = message["tool_calls"][0]
        assert call["function"] == {"name": "weather", "arguments": '{"city":"Paris"}'}
        assert message["reasoning_content"] == "hm"
        sent = json.loads(upstream.requests[-1][2])
        assert sent["tools"] == tools and sent["temperature"] == 0.5 and sent["stop"] == ["x"] and sent["seed"] == 3
        assert sent["top_k"] == 7 and sent["stream"] is True
        server.post("/v1/chat/completions", {"model": model, "messages": [
            {"role": "user", "content": "hi"}, {"role": "assistant", "content": None, "tool_calls": message["tool_calls"]},
            {"role": "tool", "tool_call_id": call["id"], "content": "sunny"}]})
        again = json.loads(upstream.requests[-1][2])["messages"]
        assert again[1]["tool_calls"][0]["function"]["arguments"].replace(" ", "") == '{"city":"Paris"}'
        assert again[2]["tool_call_id"] == call["id"]


def test_members_that_a_strict_server_would_refuse_stay_away(server):
    with fake_llama.serving(owned_by="system") as upstream:
        model = remote(server, "strict", upstream)
        assert server.chat(model, top_k=7, min_p=0.1, temperature=0.5).status == 200
        sent = json.loads(upstream.requests[-1][2])
        assert not {"top_k", "min_p", "return_progress", "reasoning_format", "cache_prompt"} & set(sent)


def test_sounds_pictures_vectors_and_scores(server):
    from test_media import PNG, WAV, send
    with fake_llama.serving() as upstream:
        model = remote(server, "all", upstream)
        inputs = [f"{i}" * (i % 3 + 1) for i in range(150)]
        reply = server.post("/v1/embeddings", {"model": model, "input": inputs})
        assert reply.status == 200, reply.body
        assert [d["embedding"][0] for d in reply.json["data"]] == [len(x) for x in inputs]
        assert reply.json["usage"]["prompt_tokens"] == 150
        assert len(upstream.requests) == 3  # no more than 64 in one request
        reply = server.post("/v1/rerank", {"model": model, "query": "q", "documents": ["a", "ccc", "bb"]})
        assert {r["index"]: r["relevance_score"] for r in reply.json["results"]} == {0: 1, 1: 3, 2: 2}
        reply = send(server, "/audio/transcriptions", [("model", model), ("file", WAV, "a.wav")])
        assert reply.json["text"].strip() == "Hello there."
        reply = server.post("/v1/audio/speech", {"model": model, "input": "hi", "voice": "v", "response_format": "wav"})
        assert reply.status == 200 and reply.body.endswith(b"sound of hi")
        reply = server.post("/v1/images/generations", {"model": model, "prompt": "a cat", "response_format": "b64_json"})
        assert reply.json["data"][0]["b64_json"]
        reply = send(server, "/images/edits", [("model", model), ("prompt", "hat"), ("image", PNG, "a.png")])
        assert reply.status == 200, reply.body


@pytest.mark.release
@pytest.mark.parametrize("status,expected", [(400, 400), (429, 503)] if QUICK else [
    (400, 400), (404, 404), (413, 413), (429, 503), (503, 503), (500, 500)])
def test_statuses_of_an_upstream(server, status, expected):
    with fake_llama.serving(status=status, message="so it is") as upstream:
        reply = server.chat(remote(server, "s", upstream))
    assert reply.status == expected and "so it is" in reply.json["error"]["message"]


def test_a_prompt_that_is_too_long_upstream(server):
    with fake_llama.serving(status=400, type="exceed_context_size_error", message="the request exceeds") as upstream:
        reply = server.chat(remote(server, "long", upstream))
    assert reply.status == 400 and reply.json["error"]["code"] == "context_length_exceeded"


DEEP = '{"a":' * 5000
HOSTILE = {
    "no JSON": ["data: {oops\n\n"],
    "deep": [f"data: {DEEP}\n\n"],
    "no object": ["data: [1,2,3]\n\n"],
    "a choice too many": ['data: {"choices":[{"index":7,"delta":{"content":"x"}}]}\n\n'],
    "no name": ['data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}\n\n'],
    "too many calls": ['data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":99999,"function":{"name":"x"}}]}}]}\n\n'],
    "an error": ['data: {"error":{"code":500,"message":"boom"}}\n\n'],
    "half": ['data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n', "data: [DONE]\n\n"],
}


@pytest.mark.release
@pytest.mark.parametrize("what", list(HOSTILE)[::3] if QUICK else HOSTILE)
def test_hostile_streams(server, what):
    with fake_llama.serving(say=HOSTILE[what], tokens=1, die_after=0) as upstream:
        model = remote(server, "evil", upstream)
        reply = server.chat(model)
        assert reply.status in (400, 500, 502, 503) and reply.json["error"]["message"]
    assert server.get("/live").status == 200


@pytest.mark.parametrize("end", [{"hold": True}, {"die_after": 0}])
def test_an_answer_that_is_complete_is_good_whatever_becomes_of_the_connection(server, end):
    say = ['data: {"choices":[{"index":0,"delta":{"content":"all of it"}}]}\n\n',
           'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
           'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2}}\n\n', "data: [DONE]\n\n"]
    with fake_llama.serving(say=say, **end) as upstream:
        model = remote(server, "careless", upstream)
        for _ in range(1 if "hold" in end else 4):  # three failures would keep the server from being asked
            reply = server.chat(model)
            assert reply.status == 200, reply.body
            assert reply.json["choices"][0]["message"]["content"] == "all of it"
            assert reply.json["usage"]["completion_tokens"] == 2


def test_an_odd_reply_of_an_upstream_disturbs_no_other_request(server):
    """A server that takes no "n" answers one choice of two: that is no reason to leave it alone."""
    with fake_llama.serving(choices=1) as upstream:
        model = remote(server, "odd", upstream)
        for _ in range(4):
            assert server.chat(model, n=2).status >= 500
        assert server.chat(model).status == 200
    assert f"upstream=127.0.0.1:{upstream.port} breaker=open" not in server.logs()


@pytest.mark.parametrize("what,text", [
    ({"say_models": "{oops"}, "not valid JSON"), ({"models": ["a", "b"]}, "several models"), ({"models": []}, "no models"),
    ({"key": KEY}, "key")])
def test_what_is_wrong_at_loading(server, what, text):
    with fake_llama.serving(**what) as upstream:
        reply = server.post("/v1/load", {"model_name": remote(server, "w", upstream)})
    assert reply.status == 500 and text in reply.json["error"]["message"], reply.body


@pytest.mark.parametrize("fields", [
    {}, {"upstreams": []}, {"base_url": "ftp://x/v1"}, {"base_url": "http://u:p@x/v1"}, {"base_url": "http://x/?key=1"},
    {"base_url": "http://x/v1", "api_key": "a\nb"}, {"base_url": "http://x/v1", "key_env": "a b"},
    {"base_url": "http://x/v1", "flavour": "odd"}, {"upstreams": [{"url": "http://x", "weight": 0}]},
    {"base_url": "http://x/v1", "ca_file": "relative"}])
def test_definitions_that_are_refused(server, fields):
    reply = server.post("/v1/models/register", {"model_name": "user.bad", "recipe": "remote", **fields})
    assert reply.status == 400, reply.body
    assert KEY not in reply.body.decode()


def test_a_changed_definition_is_taken_up(server):
    with fake_llama.serving(word="old ") as a, fake_llama.serving(word="new ") as b:
        model = remote(server, "moves", a)
        assert server.chat(model).json["choices"][0]["message"]["content"].startswith("old")
        remote(server, "moves", b)
        assert server.chat(model).json["choices"][0]["message"]["content"].startswith("new")
    assert len(list((server.data_dir / "remotes").iterdir())) == 1


def test_certificates_are_checked(server, tmp_path):
    pem = tmp_path / "server.pem"
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                           "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                           str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")], capture_output=True)
    assert made.returncode == 0, made.stderr
    pem.write_bytes((tmp_path / "key.pem").read_bytes() + (tmp_path / "cert.pem").read_bytes())
    with fake_llama.serving(certificate=pem) as upstream:
        reply = server.chat(remote(server, "unknown", upstream))
        assert reply.status >= 500 and "certificate" in reply.json["error"]["message"].lower()
        model = remote(server, "ours", upstream, ca_file=str(tmp_path / "cert.pem"))
        assert server.chat(model).status == 200


def test_a_client_that_leaves_ends_the_request_upstream(server):
    with fake_llama.serving(tokens=100000, token_ms=5) as upstream:
        model = remote(server, "gone", upstream)
        before = server.logs().count("cancelled=client_gone")
        c, response = server.stream(model)
        next(events(response))
        response.close()
        c.close()
        wait_until(lambda: server.logs().count("cancelled=client_gone") > before, what="the news of it")
        reply = server.post("/v1/unload", {"model_name": model})
        assert reply.status == 200


def test_any_number_of_remote_models(server):
    with fake_llama.serving() as upstream:
        names = [remote(server, f"m{i}", upstream) for i in range(3)]
        for name in names:
            assert server.chat(name).status == 200
        loaded = {m["model_name"] for m in server.get("/v1/health").json["all_models_loaded"]}
        assert loaded == set(names)


# ---- a server that quince runs ----

@pytest.fixture(scope="module")
def engines(tmp_path_factory, fake_backend_dir):
    """A house whose servers find llama-server and its like on the path."""
    folder = tmp_path_factory.mktemp("engines")
    programs = folder / "bin"
    programs.mkdir()
    for name in ("llama-server", "whisper-server", "sd-server"):
        shutil.copy(pathlib.Path(fake_llama.__file__), programs / name)
        os.chmod(programs / name, 0o755)
    (folder / "packs.json").write_text(json.dumps({"packs": {
        "llamacpp:llama-server": {"version": "b1", "program": "llama-server", "machines": {}},
        "whispercpp:whisper-server": {"version": "b1", "program": "whisper-server", "machines": {}},
        "sd-cpp:sd-server": {"version": "b1", "program": "sd-server", "machines": {}}}}))
    with keeping(House(folder, fake_backend_dir)) as h:
        yield h


def start(engines, *args, **env):
    server = engines.start("--packs", str(engines.tmp_path / "packs.json"), *args,
                           env={"PATH": f"{engines.tmp_path / 'bin'}:{os.environ['PATH']}", **env})
    server.tmp_path = engines.tmp_path
    return server


@pytest.fixture(scope="module")
def one_llama(engines):
    return start(engines)


@pytest.fixture
def llama(one_llama):
    yield one_llama
    rest(one_llama)


def engine_model(server, name, labels=(), recipe="llamacpp", **behaviour):
    """A model whose file says how the fake llama-server behaves, after what makes it a model."""
    path = server.tmp_path / f"{name}.gguf"
    path.write_bytes(gguf({"general.architecture": "llama", "general.name": name, "fake.options": "{}"}) +
                     json.dumps({"fake_llama": 1, **behaviour}).encode())
    reply = server.post("/v1/models/register", {"model_name": f"user.{name}", "checkpoint": str(path), "recipe": recipe,
                                                "labels": list(labels)})
    assert reply.status == 200, reply.body
    return f"user.{name}"


def load(server, model, **options):
    return server.post("/v1/load", {"model_name": model, "llamacpp_backend": "llama-server", **options})


def test_llama_server_answers_in_every_dialect(llama):
    model = engine_model(llama, "m", tokens=4, word="llama ", load_ms=300)
    assert load(llama, model).status == 200
    chat_in_every_dialect(llama, model, "llama " * 4)
    line = next(line for line in descendants(llama).values() if "--port" in line)
    port = int(line.split("--port ")[1].split()[0])
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as c:
        c.request("POST", "/v1/chat/completions", json.dumps({"messages": []}))
        assert c.getresponse().status == 401  # it answers to the bridge alone


def test_arguments_of_llama_server(llama):
    model = engine_model(llama, "args", show_args=True)
    reply = load(llama, model, ctx_size=1024, slots=2, llamacpp_args="--flash-attn on --mlock")
    assert reply.status == 200, reply.body
    args = llama.chat(model).json["choices"][0]["message"]["content"]
    assert "--ctx-size 2048" in args and "--parallel 2" in args and args.endswith("--flash-attn on --mlock")
    assert llama.post("/v1/unload", {"model_name": model}).status == 200
    assert load(llama, model).status == 200
    assert "--ctx-size 32768" in llama.chat(model).json["choices"][0]["message"]["content"]
    # The list of Lemonade's document, each with its value and with its longer name.
    for args in ("-m x", "--port 1", "--ctx-size 4", "-ngl 5", "--n-gpu-layers=5", "--gpu-layers 5", "--jinja", "--mmproj x",
                 "--embeddings", "--reranking"):
        reply = load(llama, model, llamacpp_args=args)
        assert reply.status == 400 and args.split()[0].split("=")[0] in reply.json["error"]["message"], args


def test_the_engine_is_chosen_by_model(llama):
    ours = llama.register("user.ours", fake_model(llama.tmp_path, word="ours "))
    theirs = engine_model(llama, "theirs", word="theirs ")
    reply = load(llama, theirs, save_options=True, llamacpp_args="--mlock")
    assert reply.status == 200 and "warnings" not in reply.json
    assert load(llama, theirs, save_options=True).status == 200
    assert llama.chat(theirs).json["choices"][0]["message"]["content"] == "theirs " * 5
    assert llama.chat(ours).json["choices"][0]["message"]["content"] == "ours " * 5
    assert llama.chat(theirs).json["choices"][0]["message"]["content"] == "theirs " * 5
    assert load(llama, ours, llamacpp_backend="nothing").status >= 400
    reply = load(llama, ours, llamacpp_backend="vulkan")  # not installed: quince's own
    assert reply.status == 200
    (warning,) = reply.json["warnings"]
    assert "'vulkan' has no effect" in warning and "CPU" in warning and "quince backends install llamacpp:vulkan" in warning
    assert reply.headers["X-Quince-Warning"] == reply.headers["X-Lemonade-Warning"] == warning
    assert llama.chat(ours).json["choices"][0]["message"]["content"] == "ours " * 5


def test_a_setting_chooses_the_engine(engines):
    llama = start(engines, "--llamacpp-backend", "llama-server", "--llamacpp-args=--prio 2")
    model = engine_model(llama, "set", show_args=True)
    assert llama.chat(model).json["choices"][0]["message"]["content"].endswith("--prio 2")
    own = llama.register("user.own", fake_model(llama.tmp_path, word="own "))
    reply = load(llama, own, llamacpp_backend="quince")  # what a load says goes before it
    assert reply.status == 200
    (warning,) = reply.json["warnings"]  # of the setting's arguments
    assert warning.startswith("llamacpp_args has no effect")
    assert llama.chat(own).json["choices"][0]["message"]["content"] == "own " * 5
    confined = [pathlib.Path(f"/proc/{pid}/status").read_text() for pid in descendants(llama)]
    assert all("NoNewPrivs:\t1" in s and "Seccomp:\t2" in s for s in confined)
    llama.stop()


def test_who_may_define_remote_models(engines):
    """A server that other machines reach requests addresses only it can reach for its administrator alone."""
    server = start(engines, "--listen", f"0.0.0.0:{free_port()}=lemonade", QUINCE_API_KEY="a-key-of-users-1234",
                   QUINCE_ADMIN_API_KEY="a-key-of-admins-1234")
    body = {"model_name": "user.inner", "recipe": "remote", "base_url": "http://127.0.0.1:9/v1"}

    def register(key):
        return server.post("/v1/models/register", body, headers={"Authorization": f"Bearer {key}"})
    assert register("wrong").status == 401
    assert register("a-key-of-users-1234").status == 403
    assert register("a-key-of-admins-1234").status == 200
    server.stop()


def test_vectors_and_scores_need_no_option(llama):
    model = engine_model(llama, "vectors", labels=["embeddings"], show_args=True)
    reply = llama.post("/v1/embeddings", {"model": model, "input": ["one", "three"]})
    assert reply.status == 200 and [d["embedding"][0] for d in reply.json["data"]] == [3, 5], reply.body
    model = engine_model(llama, "scores", labels=["reranking"])
    reply = llama.post("/v1/rerank", {"model": model, "query": "q", "documents": ["a", "bbb"]})
    assert {r["index"]: r["relevance_score"] for r in reply.json["results"]} == {0: 1, 1: 3}


def test_what_a_model_is_for_follows_from_its_file_where_no_label_says_it(llama):
    """A file that pools embeds or ranks (llama.cpp's pooling types): it needs no label, and cannot converse."""
    for name, pooling, kind, label, does, does_not in (
            ("pools", 1, "embedding", "embeddings", "embeddings", "rerank"),
            ("ranks", 4, "reranking", "reranking", "rerank", "embeddings")):
        head = gguf({"general.architecture": "llama", "general.name": name, "fake.options": "{}"})
        pools = struct.pack("<Q", len("llama.pooling_type")) + b"llama.pooling_type" + struct.pack("<II", 4, pooling)
        count = struct.unpack_from("<Q", head, 16)[0]
        path = llama.tmp_path / f"{name}.gguf"
        path.write_bytes(head[:16] + struct.pack("<Q", count + 1) + head[24:] + pools +
                         json.dumps({"fake_llama": 1}).encode())
        reply = llama.post("/v1/models/register", {"model_name": f"user.{name}", "checkpoint": str(path)})
        assert reply.status == 200, reply.body
        entry = llama.get(f"/v1/models/user.{name}").json
        assert (entry["type"], entry["labels"]) == (kind, ["custom", label])
        bodies = {"embeddings": {"input": "one"}, "rerank": {"query": "q", "documents": ["a"]}}
        assert llama.post(f"/v1/{does}", {"model": f"user.{name}", **bodies[does]}).status == 200
        for reply in (llama.post(f"/v1/{does_not}", {"model": f"user.{name}", **bodies[does_not]}),
                      llama.chat(f"user.{name}")):
            assert reply.status == 400 and f"it is of type {kind}" in reply.json["error"]["message"], reply.body


def test_a_remote_models_type_follows_from_its_labels(server):
    with fake_llama.serving() as upstream:
        for label, kind in (("image", "image"), ("transcription", "transcription"), ("tts", "tts"),
                            ("embeddings", "embedding"), ("vision", "llm")):
            model = remote(server, f"far-{label}", upstream, labels=[label])
            assert server.get(f"/v1/models/{model}").json["type"] == kind
            reply = server.chat(model)
            assert reply.status == (200 if kind == "llm" else 400), reply.body


def test_llama_server_that_cannot_load(llama):
    model = engine_model(llama, "broken", exit=3)
    reply = load(llama, model)
    assert reply.status == 500
    assert "llama-server ended with status 3" in reply.json["error"]["message"], reply.body
    said(llama, "cannot load the model")


def test_llama_server_that_dies(llama):
    """The bridge goes with it and comes back; a stream that had begun says so."""
    model = engine_model(llama, "dies", tokens=6, crash_after=3, token_ms=5)
    assert load(llama, model, save_options=True).status == 200
    c, response = llama.stream(model)
    got = list(events(response))
    c.close()
    assert response.status != 200 or any(g != "[DONE]" and "error" in g for g in got)
    said(llama, "was killed by signal 9")
    reply = llama.post("/v1/completions", {"model": model, "prompt": "x", "max_tokens": 2})
    assert reply.status == 200, reply.body


def test_the_command_line(server, tmp_path):
    from cli_kit import Cli
    cli = Cli(tmp_path, server.port)
    (tmp_path / "key").write_text(KEY + "\n")
    with fake_llama.serving(key=KEY, models=["x", "y"]) as a, fake_llama.serving(key=KEY, models=["x"]) as b:
        done = cli("remote", "add", "big", f"3*{a.url}", b.url, "--model", "x", "--key-file", str(tmp_path / "key"))
        assert done.returncode == 0 and "quince run user.big" in done.out, done.err
        listed = cli("remote", "list").out
        assert [line.split() for line in listed.splitlines()[1:]] == [
            ["user.big", "3", "yes", "x", a.url], ["user.big", "1", "yes", "x", b.url]]
        assert max(map(len, listed.splitlines())) <= 80 and KEY not in listed
        assert cli("run", "user.big", "hello").out.strip() == "word word word word word"
        assert "user.big" in cli("remote", "list", "--json").out
        definition = cli("export", "user.big").out
        assert KEY not in definition
        (tmp_path / "big.json").write_text(definition)
        assert cli("import", str(tmp_path / "big.json"), "--name", "copy").returncode == 0
        assert [u["weight"] for u in server.get("/v1/models/user.copy").json["remote"]["upstreams"]] == [3, 1]
        assert cli("remote", "add", "big", "nonsense").returncode == 1
        assert cli("remote", "add", "big").returncode == 2
        assert cli("remote", "add", "big", a.url, "--key-file", "/nowhere").returncode == 1
        assert cli("delete", "user.big", "user.copy", "--yes").returncode == 0
    assert "quince remote add" in cli("remote", "list").out


def test_another_quince(server, engines):
    """A quince behind a quince: what one cannot say, the other would not hear."""
    other = start(engines)
    name = other.register("user.deep", fake_model(engines.tmp_path, word="deep "))
    model = remote(server, "twice", {"url": f"http://127.0.0.1:{other.port}/v1", "model": name})
    assert server.chat(model, top_k=3).json["choices"][0]["message"]["content"] == "deep " * 5
    c, response = server.stream(model, max_tokens=2)
    assert text_of(events(response)) == "deep " * 2
    c.close()
    other.stop()


def test_install_chat_update_and_uninstall(house, hub):
    """A fake release server has a fake llama-server: installed, chatted with in each dialect, updated, removed."""
    import releases
    program = pathlib.Path(fake_llama.__file__).read_bytes()
    shop = releases.Releases(house, hub)
    name = "llamacpp:llama-server"
    shop.offer(name, "b1", text=program)
    server = shop.start()
    server.tmp_path = house.tmp_path
    model = engine_model(server, "m", word="first ", tokens=2)
    reply = load(server, model)
    assert reply.status >= 400 and "quince backends install" in reply.json["error"]["message"], reply.body
    assert releases.install(server, name).status == 200
    assert load(server, model, save_options=True).status == 200
    chat_in_every_dialect(server, model, "first " * 2)
    assert any("b1/llama-b1/llama-server" in line for line in descendants(server).values())
    server.stop()
    shop.offer(name, "b2", text=program.replace(b'"word "', b'"second "'))
    server = shop.start()
    server.tmp_path = house.tmp_path
    assert server.chat(model).status == 200  # the old version serves until the new one is there
    assert releases.install(server, name).status == 200
    wait_until(lambda: not descendants(server), what="the end of the old version")
    plain = engine_model(server, "plain")
    assert load(server, plain).status == 200
    assert server.chat(plain).json["choices"][0]["message"]["content"] == "second " * 5
    c, response = server.stream(plain)
    assert server.post("/api/v1/uninstall", {"recipe": "llamacpp", "backend": "llama-server"}).status == 200
    assert text_of(events(response)) == "second " * 5  # what runs ends well
    c.close()
    assert not descendants(server) and not shop.installed()
    reply = server.chat(model)
    assert reply.status >= 400 and "quince backends install" in reply.json["error"]["message"]


def descendants(server):
    """Programs below the router, their arguments."""
    def children(pid):
        with contextlib.suppress(OSError):
            for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
                for child in (task / "children").read_text().split():
                    yield child
                    yield from children(child)
    found = {}
    for pid in children(server.process.pid):
        with contextlib.suppress(OSError):
            found[int(pid)] = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return found


def test_nothing_stays_behind(engines):
    llama = start(engines)
    model = engine_model(llama, "stays")
    assert load(llama, model).status == 200
    pids = [pid for pid, line in descendants(llama).items() if "llama-server" in line and "--model" in line]
    assert len(pids) == 1
    assert llama.post("/v1/unload", {"model_name": model}).status == 200
    wait_until(lambda: not pathlib.Path(f"/proc/{pids[0]}").exists(), what="its end after unload")
    assert load(llama, model).status == 200
    pids = [pid for pid, line in descendants(llama).items() if "llama-server" in line and "--model" in line]
    llama.kill()
    wait_until(lambda: not pathlib.Path(f"/proc/{pids[0]}").exists(), what="its end with the router")


@pytest.mark.parametrize("how", ["exec", "connect", "/etc/passwd"])
def test_the_sandbox_of_a_foreign_server(llama, how):
    model = engine_model(llama, "out", break_out=how)
    assert load(llama, model).status == 200
    reply = llama.chat(model)
    if "sandbox=without_files" in llama.logs() and how == "/etc/passwd":
        pytest.skip("this kernel has no Landlock")
    assert "held: Permission denied" in reply.json["error"]["message"], reply.body


def test_whisper_server_and_sd_server(engines, tmp_path):
    from test_media import WAV, send
    shutil.copytree(engines.backend_dir, tmp_path / "few", ignore=shutil.ignore_patterns("quince-asr", "quince-image"))
    engines.backend_dir = tmp_path / "few"
    server = start(engines)
    sound = engine_model(server, "sound", recipe="whispercpp")
    reply = send(server, "/audio/transcriptions", [("model", sound), ("file", WAV, "a.wav"),
                                                   ("response_format", "verbose_json")])
    assert reply.status == 200, reply.body
    assert [s["text"].strip() for s in reply.json["segments"]] == ["Hello", "there."]
    picture = engine_model(server, "picture", recipe="sd-cpp")
    reply = server.post("/v1/images/generations", {"model": picture, "prompt": "a cat", "steps": 4,
                                                   "response_format": "b64_json"})
    assert reply.status == 200 and reply.json["data"][0]["b64_json"]


@needs_another_user
def test_only_admins_look_behind_a_model(llama):
    """A llama-server's own paths show what other clients asked it, or change it; its inference is for all."""
    model = engine_model(llama, "private", tokens=3, word="raw ")
    assert load(llama, model).status == 200
    for method, path, body in (("GET", "props", None), ("POST", "props", {}), ("GET", "slots", None),
                               ("POST", "lora-adapters", [])):
        assert as_other_user(llama, method, f"/upstream/{model}/{path}", body).status == 403, path
    ask = {"model": model, "messages": [{"role": "user", "content": "x"}]}
    assert as_other_user(llama, "POST", f"/upstream/{model}/v1/chat/completions", ask).status == 200
    assert llama.get(f"/upstream/{model}/props").status == 200


@needs_another_user
def test_prompts_behind_a_model_are_not_shared(llama):
    """What an admin asks a llama-server directly stays in its cache, from which another user's prompts take nothing,
    by whatever route they come."""
    model = engine_model(llama, "apart", tokens=3)
    assert load(llama, model).status == 200
    ask = {"model": model, "messages": [{"role": "user", "content": "x"}]}
    direct = f"/upstream/{model}/v1/chat/completions"
    assert llama.post(direct, ask).status == 200
    assert as_other_user(llama, "POST", direct, ask).status == 200
    assert as_other_user(llama, "POST", "/v1/chat/completions", ask).status == 200
    assert llama.post(direct, {**ask, "cache_prompt": True}).status == 200
    asked = [json.loads(a["body"]).get("cache_prompt", True) for a in llama.get(f"/upstream/{model}/asked").json
             if a["path"].endswith("/chat/completions")]
    assert asked == [True, False, False, True]


def test_the_server_behind_a_model(llama):
    """/upstream/MODEL/PATH is handed on as it is, and so is what comes back."""
    model = engine_model(llama, "behind", tokens=3, word="raw ", context=777)
    assert load(llama, model).status == 200
    props = llama.get(f"/upstream/{model}/props")
    assert props.status == 200 and props.headers["Content-Type"].startswith("application/json")
    assert "777" in props.body.decode()
    ask = {"model": "whatever", "messages": [{"role": "user", "content": "hello"}]}
    whole = llama.post(f"/upstream/{model}/v1/chat/completions", ask)
    assert whole.json["choices"][0]["message"]["content"] == "raw " * 3
    streamed = llama.post(f"/upstream/{model}/v1/chat/completions", {**ask, "stream": True})
    assert streamed.headers["Content-Type"].startswith("text/event-stream")
    assert streamed.body.count(b"raw ") == 3 and b"[DONE]" in streamed.body
    assert llama.get(f"/upstream/{model}/no/such%20path?x=%41").status == 404
    saved = llama.request("POST", "/v1/slots/1?action=erase")  # of the model used last; the fake one has no slots
    assert saved.status == 404 and b"File Not Found" in saved.body
    assert llama.request("HEAD", f"/upstream/{model}/props").body == b""
    refused = engine_model(llama, "refused", status=418, message="short and stout")
    assert load(llama, refused).status == 200
    reply = llama.post(f"/upstream/{refused}/v1/chat/completions", ask)
    assert reply.status == 418 and b"short and stout" in reply.body


def test_the_server_behind_a_model_breaks_off(llama):
    model = engine_model(llama, "brittle", tokens=100, die_after=2, token_ms=5)
    assert load(llama, model).status == 200
    ask = {"messages": [{"role": "user", "content": "hello"}], "stream": True}
    with pytest.raises(http.client.IncompleteRead):
        llama.post(f"/upstream/{model}/v1/chat/completions", ask)
    slow = engine_model(llama, "endless", tokens=100000, token_ms=5)
    assert load(llama, slow).status == 200
    c = llama.connect()
    c.request("POST", f"/upstream/{slow}/v1/chat/completions", json.dumps(ask), {"Content-Type": "application/json"})
    response = c.getresponse()
    assert response.readline().startswith(b"data: ")

    def busy():
        return [m["is_busy"] for m in llama.get("/v1/health").json["all_models_loaded"] if m["model_name"] == slow]
    assert busy() == [True]
    response.close()
    c.close()
    wait_until(lambda: busy() == [False], what="the model is free")
