"""Every example of Lemonade's server document whose endpoint exists here, as a test: the request as written
there (host and model replaced by what exists here), the reply with every member and type that the document
shows. What needs a kind of model that does not exist yet is checked for its refusal."""
import base64
import json
import time

import pytest

from conftest import events, fake_model
from shapes import check
from test_media import WAV, form

CHAT = {
    "id": "0", "object": "chat.completion", "created": 1742927481, "model": "Qwen3-0.6B-GGUF",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Paris has."}, "finish_reason": "stop"}],
}
TEXT = {
    "id": "0", "object": "text_completion", "created": 1742927481, "model": "Qwen3-0.6B-GGUF",
    "choices": [{"index": 0, "text": "Paris has.", "finish_reason": "stop"}],
}
MODEL = {
    "id": "Qwen3-0.6B-GGUF", "created": 1744173590, "object": "model", "owned_by": "lemonade",
    "checkpoint": "unsloth/Qwen3-0.6B-GGUF:Q4_0", "recipe": "llamacpp", "size": 0.38, "downloaded": True,
    "suggested": True, "labels": ["reasoning"],
}
HEALTH = {
    "status": "ok", "version": "9.3.3", "model_loaded": "Llama-3.2-1B-Instruct-Hybrid",
    "all_models_loaded": [{
        "model_name": "x", "checkpoint": "x", "last_use": 1732123456.789, "type": "llm", "device": "cpu",
        "recipe": "llamacpp", "recipe_options": {"ctx_size": 4096}, "backend_url": "http://127.0.0.1:8001/v1"}],
    "max_models": {"audio": 1, "embedding": 1, "image": 1, "llm": 1, "reranking": 1, "tts": 1},
}
STATS = {"time_to_first_token": 2.14, "tokens_per_second": 33.33, "input_tokens": 128, "output_tokens": 5,
         "decode_token_times": [0.01], "prompt_tokens": 9}
QUESTION = {"messages": [{"role": "user", "content": "What is the population of Paris?"}], "stream": False}
ANSWER = "word word word "


@pytest.fixture
def lemonade(house):
    server = house.start("--max-loaded-models", "2")
    house.model(server, "Qwen3-0.6B-GGUF", tokens=3)
    return server


def test_chat(lemonade):
    reply = lemonade.post("/api/v1/chat/completions", {"model": "user.Qwen3-0.6B-GGUF", **QUESTION})
    assert reply.status == 200
    check(reply.json, CHAT)
    assert reply.json["choices"][0]["message"]["content"] == ANSWER
    assert reply.json["choices"][0]["finish_reason"] == "stop"


def test_chat_streamed(lemonade):
    c = lemonade.connect()
    c.request("POST", "/api/v1/chat/completions",
              json.dumps({"model": "user.Qwen3-0.6B-GGUF", **QUESTION, "stream": True}),
              {"Content-Type": "application/json"})
    chunks = list(events(c.getresponse()))
    c.close()
    assert chunks[-1] == "[DONE]"
    for part in chunks[:-1]:
        check(part, {"id": "0", "object": "chat.completion.chunk", "created": 1742927481, "model": "x",
                     "choices": [{"index": 0, "delta": {}}]})
    deltas = [part["choices"][0]["delta"] for part in chunks[:-1] if part["choices"]]
    assert deltas[0]["role"] == "assistant"
    assert "".join(delta.get("content") or "" for delta in deltas) == ANSWER


def test_chat_with_every_parameter_of_the_table(house, lemonade):
    echo = house.model(lemonade, "echo", echo_job=True)
    tool = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}
    body = {"model": echo, **QUESTION, "stop": ["a", "b", "c", "d"], "logprobs": False, "temperature": 0.5,
            "repeat_penalty": 1.1, "top_k": 20, "top_p": 0.9, "tools": [tool], "max_completion_tokens": 50}
    reply = lemonade.post("/api/v1/chat/completions", body)
    assert reply.status == 200
    job = json.loads(reply.json["choices"][0]["message"]["content"])
    assert job["sampling"] == {**job["sampling"], "stop": ["a", "b", "c", "d"], "temperature": 0.5,
                               "repeat_penalty": 1.1, "top_k": 20, "top_p": 0.9, "max_tokens": 50}
    assert job["chat"]["tools"] == [tool]
    assert lemonade.post("/api/v1/chat/completions", {**body, "stop": "one", "max_tokens": 9}).status in (200, 400)


def test_a_picture_within_a_message(lemonade):
    reply = lemonade.post("/api/v1/chat/completions", {
        "model": "user.Qwen3-0.6B-GGUF", "stream": False, "messages": [{"role": "user", "content": [
            {"type": "text", "text": "What is in this image?"},
            {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD"}}]}]})
    assert reply.status in (200, 400)  # a model without eyes may say so
    if reply.status == 200:
        check(reply.json, CHAT)


@pytest.mark.parametrize("stream", [False, True])
def test_completion(lemonade, stream):
    body = {"model": "user.Qwen3-0.6B-GGUF", "prompt": "What is the population of Paris?", "stream": stream}
    if not stream:
        reply = lemonade.post("/api/v1/completions", body)
        assert reply.status == 200
        check(reply.json, TEXT)
        assert reply.json["choices"][0]["text"] == ANSWER
        return
    c = lemonade.connect()
    c.request("POST", "/api/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
    chunks = [x for x in events(c.getresponse()) if x != "[DONE]" and x["choices"]]
    c.close()
    for part in chunks:
        check(part, TEXT, may_be_null=("finish_reason",))
    assert "".join(x["choices"][0]["text"] for x in chunks) == ANSWER


def test_completion_with_echo_and_logprobs(lemonade):
    reply = lemonade.post("/api/v1/completions", {"model": "user.Qwen3-0.6B-GGUF", "prompt": "Once", "echo": True,
                                                  "logprobs": 1, "max_tokens": 2})
    assert reply.status == 200
    check(reply.json, {**TEXT, "choices": [{**TEXT["choices"][0], "logprobs": {}}]})


@pytest.mark.parametrize("prompt", [
    "What is the population of Paris?", [{"role": "user", "content": "What is the population of Paris?"}]])
def test_responses(lemonade, prompt):
    reply = lemonade.post("/api/v1/responses", {"model": "user.Qwen3-0.6B-GGUF", "input": prompt, "stream": False})
    assert reply.status == 200
    check(reply.json, {"id": "0", "created_at": 1746225832.0, "model": "x", "object": "response",
                       "output": [{"id": "0", "content": [{"annotations": [], "text": "Paris has."}]}]})
    assert reply.json["output"][0]["content"][0]["text"] == ANSWER


def test_responses_streamed(lemonade):
    c = lemonade.connect()
    c.request("POST", "/api/v1/responses", json.dumps({"model": "user.Qwen3-0.6B-GGUF", "input": "x", "stream": True}),
              {"Content-Type": "application/json"})
    said = [x for x in events(c.getresponse()) if x != "[DONE]"]
    c.close()
    types = [x["type"] for x in said]
    assert types[0] == "response.created" and types[-1] == "response.completed"
    assert "".join(x["delta"] for x in said if x["type"] == "response.output_text.delta") == ANSWER


@pytest.mark.parametrize("path", ["/api/v1/models", "/api/v1/models?show_all=true"])
def test_models(lemonade, path):
    reply = lemonade.get(path)
    assert reply.status == 200
    check(reply.json, {"object": "list", "data": [MODEL]})
    assert [m["id"] for m in reply.json["data"]] == ["user.Qwen3-0.6B-GGUF"]


def test_one_model(lemonade):
    reply = lemonade.get("/api/v1/models/user.Qwen3-0.6B-GGUF")
    assert reply.status == 200
    check(reply.json, {**MODEL, "recipe_options": {}})
    reply = lemonade.get("/api/v1/models/Qwen3-nothing-GGUF")
    assert reply.status == 404
    check(reply.json, {"error": {"message": "Model x has not been found", "type": "not_found"}})


@pytest.mark.parametrize("options", [
    {}, {"ctx_size": 8192, "llamacpp_backend": "rocm", "llamacpp_args": "--flash-attn on --no-mmap"},
    {"ctx_size": 8192, "llamacpp_backend": "vulkan", "llamacpp_args": "--no-context-shift --no-mmap",
     "save_options": True}])
def test_load(lemonade, options):
    reply = lemonade.post("/api/v1/load", {"model_name": "user.Qwen3-0.6B-GGUF", **options})
    assert reply.status == 200
    check(reply.json, {"status": "success", "message": "Loaded model: x"})
    assert reply.json["message"] == "Loaded model: user.Qwen3-0.6B-GGUF"
    loaded = lemonade.get("/api/v1/health").json["all_models_loaded"][0]
    if "ctx_size" in options:
        assert loaded["recipe_options"]["ctx_size"] == 8192


@pytest.mark.parametrize("body", [
    {"model_name": "Qwen2.5-0.5B-Instruct-CPU"},
    {"model_name": "whisper-large-v3-turbo-q8_0.bin", "whispercpp_backend": "npu", "whispercpp_args": "--convert"},
    {"model_name": "sd-turbo", "steps": 4, "cfg_scale": 1.0, "width": 512, "height": 512}])
def test_what_cannot_be_loaded(lemonade, body):
    reply = lemonade.post("/api/v1/load", body)
    assert reply.status == 404
    check(reply.json, {"status": "error", "message": "x", "error": {"message": "x", "type": "x"}})


@pytest.mark.parametrize("name,recipe,options", [
    ("whisper-large-v3-turbo-q8_0.bin", "whispercpp", {"whispercpp_backend": "npu", "whispercpp_args": "--convert"}),
    ("sd-turbo", "sd-cpp", {"steps": 4, "cfg_scale": 1.0, "width": 512, "height": 512})])
def test_load_of_other_kinds(house, lemonade, name, recipe, options):
    house.model(lemonade, name, recipe)
    reply = lemonade.post("/api/v1/load", {"model_name": name, **options})
    assert (reply.status, reply.json["status"], reply.json["message"]) == (200, "success", f"Loaded model: {name}")


def test_what_a_load_says_of_pictures(house, lemonade):
    """Request, then load, then recipe_options.json, then the model's own image_defaults."""
    path = fake_model(house.tmp_path, echo_job=True)
    assert lemonade.post("/v1/models/register", {
        "model_name": "user.sd-turbo", "checkpoint": str(path), "recipe": "sd-cpp",
        "image_defaults": {"steps": 1, "cfg_scale": 7.5, "width": 256, "height": 256}}).status == 200

    def painted(**request):
        reply = lemonade.post("/api/v1/images/generations", {
            "model": "sd-turbo", "prompt": "x", "response_format": "b64_json", **request})
        assert reply.status == 200, reply.body
        job = json.loads(base64.b64decode(reply.json["data"][0]["b64_json"]))["image"]
        return tuple(job[k] for k in ("steps", "cfg_scale", "width", "height"))
    assert painted() == (1, 7.5, 256, 256)
    assert lemonade.post("/api/v1/load", {"model_name": "sd-turbo", "width": 640, "height": 480,
                                          "save_options": True}).status == 200
    assert lemonade.post("/api/v1/load", {"model_name": "sd-turbo", "steps": 4, "cfg_scale": 1.0}).status == 200
    assert painted() == (4, 1.0, 640, 480)
    assert painted(steps=9, size="512x512") == (9, 1.0, 512, 512)
    assert lemonade.post("/api/v1/unload", {"model_name": "sd-turbo"}).status == 200
    assert painted() == (1, 7.5, 640, 480)
    assert lemonade.post("/api/v1/load", {"model_name": "sd-turbo", "steps": 0}).status == 400


def test_options_of_a_load_go_before_saved_ones(lemonade):
    """The request, then recipe_options.json, then the server's own settings."""
    name = {"model_name": "user.Qwen3-0.6B-GGUF"}
    context = lambda: lemonade.get("/api/v1/health").json["all_models_loaded"][0]["recipe_options"]["ctx_size"]
    lemonade.post("/api/v1/load", {**name, "ctx_size": 8192, "save_options": True})
    assert lemonade.get("/internal/recipe_options.json").json == {"user.Qwen3-0.6B-GGUF": {"ctx_size": 8192}}
    lemonade.post("/api/v1/load", {**name, "ctx_size": 1024})
    assert context() == 1024
    lemonade.post("/api/v1/unload", name)
    lemonade.post("/api/v1/load", name)
    assert context() == 8192


def test_unload(lemonade):
    name = {"model_name": "user.Qwen3-0.6B-GGUF"}
    assert lemonade.post("/api/v1/load", name).status == 200
    reply = lemonade.post("/api/v1/unload", name)
    assert (reply.status, reply.json["status"], reply.json["message"]) == (
        200, "success", "Model unloaded successfully")
    assert lemonade.post("/api/v1/load", name).status == 200
    reply = lemonade.request("POST", "/api/v1/unload")
    assert (reply.status, reply.json["status"]) == (200, "success")
    assert lemonade.get("/api/v1/health").json["all_models_loaded"] == []
    for body in (name, {"model_name": "Qwen3-nothing-GGUF"}):
        reply = lemonade.post("/api/v1/unload", body)
        assert reply.status == 404
        check(reply.json, {"status": "error", "message": "Model not found: x"})


def test_health(lemonade):
    assert lemonade.get("/api/v1/health").json["model_loaded"] is None
    lemonade.post("/api/v1/chat/completions", {"model": "user.Qwen3-0.6B-GGUF", **QUESTION})
    reply = lemonade.get("/api/v1/health")
    assert reply.status == 200
    check(reply.json, HEALTH)
    assert reply.json["model_loaded"] == "user.Qwen3-0.6B-GGUF"
    assert reply.json["max_models"] == {**reply.json["max_models"], "llm": 2}


def test_health_of_two_kinds(house):
    """The example: a language model and an embedding one, each with a least-recently-used list of its own."""
    server = house.start()
    chat = [house.model(server, n) for n in ("Llama-3.2-1B-Instruct-Hybrid", "Qwen3-0.6B-GGUF")]
    reply = server.post("/v1/models/register", {
        "model_name": "user.nomic-embed-text-v1-GGUF", "checkpoint": str(fake_model(house.tmp_path)),
        "recipe": "llamacpp", "labels": ["embeddings"]})
    assert reply.status == 200, reply.body
    for name in ("user.nomic-embed-text-v1-GGUF", *chat):
        assert server.post("/api/v1/load", {"model_name": name, "ctx_size": 4096}).status == 200
    health = server.get("/api/v1/health").json
    check(health, HEALTH)
    assert {(m["model_name"], m["type"], m["recipe_options"]["ctx_size"]) for m in health["all_models_loaded"]} == {
        ("user.Qwen3-0.6B-GGUF", "llm", 4096), ("user.nomic-embed-text-v1-GGUF", "embedding", 4096)}
    assert health["model_loaded"] == "user.Qwen3-0.6B-GGUF"
    last = {m["type"]: m["last_use"] for m in health["all_models_loaded"]}
    assert abs(last["llm"] - time.time()) < 3600 and last["embedding"] <= last["llm"]  # seconds since 1970


def test_stats(lemonade):
    lemonade.post("/api/v1/chat/completions", {"model": "user.Qwen3-0.6B-GGUF", **QUESTION})
    reply = lemonade.get("/api/v1/stats")
    assert reply.status == 200
    check(reply.json, STATS)
    assert reply.json["output_tokens"] == 3


def test_live(lemonade):
    assert (lemonade.get("/live").status, lemonade.get("/live").json) == (200, {"status": "ok"})


def test_the_least_recently_used_model_leaves(house):
    server = house.start()
    names = [house.model(server, name, tokens=1) for name in ("a", "b")]
    for name in names:
        assert server.chat(name).status == 200
    assert [m["model_name"] for m in server.get("/api/v1/health").json["all_models_loaded"]] == ["user.b"]


ANTHROPIC = {
    "id": "msg_abc123", "type": "message", "role": "assistant", "content": [{"type": "text", "text": "2 + 2"}],
    "model": "x", "stop_reason": "end_turn", "usage": {"input_tokens": 25, "output_tokens": 8},
}


@pytest.mark.parametrize("query", ["", "?beta=true"])
def test_messages(lemonade, query):
    body = {"model": "user.Qwen3-0.6B-GGUF", "max_tokens": 1024, "system": "You are a helpful assistant.",
            "messages": [{"role": "user", "content": "What is 2 + 2?"}], "temperature": 0.7, "stream": False,
            "tools": [], "unknown_field": 1}
    reply = lemonade.post(f"/v1/messages{query}", body)
    assert reply.status == 200
    check(reply.json, ANTHROPIC)
    assert reply.headers["X-Lemonade-Warning"] == "Ignored: unknown_field"
    c = lemonade.connect()
    c.request("POST", f"/v1/messages{query}", json.dumps({**body, "stream": True}),
              {"Content-Type": "application/json"})
    said = [x["type"] for x in events(c.getresponse()) if x["type"] != "ping"]
    c.close()
    assert said == ["message_start", "content_block_start", *["content_block_delta"] * 3, "content_block_stop",
                    "message_delta", "message_stop"]
    reply = lemonade.post(f"/v1/messages{query}", {k: v for k, v in body.items() if k != "max_tokens"})
    assert reply.status == 400
    check(reply.json, {"type": "error", "error": {"type": "invalid_request_error", "message": "max_tokens is required"}})


def test_ollama(lemonade):
    reply = lemonade.post("/api/chat", {"model": "user.Qwen3-0.6B-GGUF", "stream": False,
                                        "messages": [{"role": "user", "content": "x"}]})
    assert (reply.status, reply.json["message"]["content"]) == (200, ANSWER)
    reply = lemonade.post("/api/generate", {"model": "user.Qwen3-0.6B-GGUF", "stream": False, "prompt": "x"})
    assert (reply.status, reply.json["response"]) == (200, ANSWER)
    check(lemonade.get("/api/tags").json, {"models": [{"name": "x", "size": 1, "digest": "x", "modified_at": "x"}]})
    assert lemonade.get("/api/version").json["version"]
    reply = lemonade.post("/api/chat", {"model": "nobody", "messages": []})
    assert reply.status == 404 and isinstance(reply.json["error"], str)


@pytest.mark.parametrize("path,body", [
    ("embeddings", {"input": ["Hello, world!", "How are you?"], "encoding_format": "float"}),
    ("reranking", {"query": "What is the capital of France?", "documents": ["Paris is the capital of France."]}),
    ("images/generations", {"prompt": "A serene mountain landscape at sunset", "size": "512x512", "steps": 4,
                            "response_format": "b64_json"}),
    ("images/upscale", {"image": "iVBORw0KGgo="}),
    ("audio/speech", {"input": "Lemonade can speak!", "voice": "af_heart"}),
])
def test_what_a_language_model_cannot_do(lemonade, path, body):
    """A clear refusal: 400 where the route knows that the model is of another kind, 404 where there is none yet."""
    reply = lemonade.post(f"/api/v1/{path}", {"model": "user.Qwen3-0.6B-GGUF", **body})
    assert reply.status in (400, 404)
    check(reply.json, {"error": {"message": "x", "type": "x"}})


PICTURE = {"created": 1742927481, "data": [{"b64_json": "x"}]}
PNG = b"\x89PNG\r\n\x1a\n\0"


@pytest.fixture
def media(house):
    server = house.start("--max-loaded-models", "2")
    for name, recipe in (("Whisper-Tiny", "whispercpp"), ("kokoro-v1", "kokoro"), ("SD-Turbo", "sd-cpp"),
                         ("Flux-2-Klein-4B", "sd-cpp"), ("RealESRGAN-x4plus", "sd-cpp")):
        house.model(server, name, recipe, tokens=2)
    return server


def post_form(server, path, fields, *files):
    body, headers = form([*fields.items(), *files])
    return server.post("/api/v1/" + path, body, headers=headers)


def test_transcription(media):
    reply = post_form(media, "audio/transcriptions", {"model": "user.Whisper-Tiny"}, ("file", WAV, "audio.wav"))
    assert reply.status == 200
    check(reply.json, {"text": "Hello, this is a sample transcription of the audio file."})


def test_images_are_generated_and_made_larger(media):
    first = media.post("/api/v1/images/generations", {
        "model": "user.SD-Turbo", "prompt": "A serene mountain landscape at sunset", "size": "512x512", "steps": 4,
        "response_format": "b64_json"})
    assert first.status == 200
    check(first.json, PICTURE)
    image = base64.b64encode(PNG).decode()  # what a real model would have made
    reply = media.post("/api/v1/images/upscale", {"image": image, "model": "user.RealESRGAN-x4plus"})
    assert reply.status == 200
    check(reply.json, PICTURE)


def test_an_image_is_edited(media):
    reply = post_form(media, "images/edits", {
        "model": "user.Flux-2-Klein-4B", "prompt": "Add a red barn and mountains in the background, photorealistic",
        "size": "512x512", "n": "1", "response_format": "b64_json"}, ("image", PNG, "source_image.png"))
    assert reply.status == 200
    check(reply.json, PICTURE)


def test_an_image_is_varied(media):
    reply = post_form(media, "images/variations", {"model": "user.Flux-2-Klein-4B", "size": "512x512", "n": "1",
                                                   "response_format": "b64_json"}, ("image", PNG, "source_image.png"))
    assert reply.status == 200
    check(reply.json, PICTURE)


def test_speech(media):
    reply = media.post("/api/v1/audio/speech", {"model": "user.kokoro-v1", "input": "Lemonade can speak!", "speed": 1.0,
                                                "steps": 4, "response_format": "mp3"})
    assert reply.status == 200 and reply.headers["Content-Type"] == "audio/mpeg" and reply.body


def test_a_registered_file_is_a_model(house, lemonade):
    path = fake_model(house.tmp_path, tokens=1)
    lemonade.register("user.Phi-4-Mini-GGUF", path)
    assert lemonade.get("/api/v1/models/user.Phi-4-Mini-GGUF").json["checkpoint"] == str(path)
