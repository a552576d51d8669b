"""Adapters and context shift through the whole house: named at load, chosen by each request."""
import sys

import pytest
from conftest import BUILD, QUICK, ROOT, Server, events, text_of

sys.path.insert(0, str(ROOT / "scripts/gguf"))
import make_random_adapter  # noqa: E402

MODEL, STARTER = "quince-starter", ROOT / "registry/starter/quince-starter.gguf"
QUESTION = "What is the capital of France?"
WORDS = 160 if QUICK else 300  # more than a context of 128


@pytest.fixture(scope="module")
def adapter(tmp_path_factory):
    path = tmp_path_factory.mktemp("adapter") / "noisy.gguf"
    make_random_adapter.build(str(STARTER), 8, "f16", 16.0, std=2).write(path)
    return path


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    s = Server(tmp_path_factory.mktemp("house") / "data", BUILD / "bin", ROOT / "registry")
    yield s
    assert s.stop() == 0
    log = s.logs()
    assert "Sanitizer" not in log and "runtime error" not in log, log[-4000:]


def load(server, **options):
    return server.post("/v1/load", {"model_name": MODEL, **options})


def say(server, **fields):
    reply = server.chat(MODEL, QUESTION, temperature=0, max_tokens=12, **fields)
    assert reply.status == 200, reply.body
    return reply.json["choices"][0]["message"]["content"]


def test_an_adapter_is_chosen_per_request(server, adapter):
    plain = say(server)
    reply = load(server, lora=[{"path": str(adapter), "scale": 0, "name": "noise"}])
    assert reply.status == 200, reply.body
    assert say(server) == plain
    by_id = say(server, lora=[{"id": 0, "scale": 1}])
    assert by_id != plain
    assert say(server, lora=[{"name": "noise", "scale": 1}]) == by_id
    assert say(server, lora=[{"id": 0, "scale": 0.001}]) == plain
    assert say(server, lora=[]) == say(server) == plain
    connection, response = server.stream(MODEL, QUESTION, temperature=0, max_tokens=12, lora=[{"id": 0, "scale": 1}])
    assert text_of(events(response)) == by_id
    connection.close()
    both = [server.post("/v1/completions", {"model": MODEL, "prompt": ["Hello", "Once"], "max_tokens": 6, "temperature": 0,
                                            "lora": [{"id": 0, "scale": s}]}).json["choices"] for s in (0, 1)]
    assert [c["text"] for c in both[0]] != [c["text"] for c in both[1]]
    # Loaded at another scale, that is what answers without a word get.
    assert load(server, lora=[{"path": str(adapter), "name": "noise"}]).status == 200
    assert say(server) == by_id and say(server, lora=[]) == plain


def test_what_cannot_be_chosen_is_a_bad_request(server, adapter):
    assert load(server, lora=[{"path": str(adapter), "name": "noise"}]).status == 200
    for lora, param, says in (([{"id": 1, "scale": 1}], "lora[0]", "0 noise"),
                              ([{"name": "quiet"}], "lora[0]", "named 'quiet'"),
                              ([{"id": 0}, {"name": "noise"}], "lora[1]", "named twice"),
                              ([{"scale": 1}], "lora[0].id", "lora[0].id"),
                              ("noise", "lora", "expected an array")):
        reply = server.chat(MODEL, QUESTION, lora=lora)
        assert reply.status == 400, reply.body
        error = reply.json["error"]
        assert error["param"] == param and says in error["message"], error
    assert load(server, lora=[]).status == 200
    reply = server.chat(MODEL, QUESTION, lora=[{"id": 0, "scale": 1}])
    assert reply.status == 400 and "loaded without any" in reply.json["error"]["message"]


@pytest.mark.parametrize("lora, says", [
    ([{"path": "noisy.gguf"}], "absolute path"),
    ([{"path": "/nowhere/noisy.gguf"}], "/nowhere/noisy.gguf"),
    ([{"path": str(STARTER)}], 'not "adapter"'),
    ([{"scale": 1}], "lora[0].path"),
    ({"path": "/x"}, "expected an array"),
])
def test_loads_with_what_is_no_adapter(server, lora, says):
    reply = load(server, lora=lora)
    assert reply.status >= 400, reply.body
    assert says in reply.json["error"]["message"], reply.body
    assert load(server, lora=[]).status == 200     # and the model is none the worse


def test_an_adapter_is_no_model(server, adapter):
    reply = server.post("/v1/models/register",
                        {"model_name": "user.noise", "checkpoint": str(adapter), "recipe": "llamacpp"})
    assert reply.status == 400, reply.body
    assert "adapter and no model" in reply.json["error"]["message"]


@pytest.mark.heavy
@pytest.mark.release
def test_context_shift_is_a_request_s_choice(server):
    def length(**fields):
        reply = server.post("/v1/completions", {"model": MODEL, "prompt": "Hello", "max_tokens": WORDS,
                                                "ignore_eos": True, "temperature": 0, **fields},
                            headers={"X-API-Profile": "auto"})  # so many tokens besides the prompt's
        assert reply.status == 200, reply.body
        return reply.json["usage"]["completion_tokens"]

    for default in (False, True):
        assert load(server, ctx_size=128, context_shift=default).status == 200
        assert length(context_shift=True) == WORDS
        assert length(context_shift=False) < 130
        assert length() == WORDS if default else length() < 130
    reply = server.chat(MODEL, "Tell me about quince.", max_tokens=WORDS, ignore_eos=True, context_shift=True)
    assert reply.json["usage"]["completion_tokens"] == WORDS
    assert load(server, ctx_size=0, context_shift=False).status == 200
