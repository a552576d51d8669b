"""The whole server with the model that ships: a new user's first five minutes."""
import json
import re
import shlex
import shutil
import struct
import subprocess
import threading

import pytest
from chat_kit import Chat
from conftest import BUILD, ROOT, Server, Ticker, events, text_of


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    s = Server(tmp_path_factory.mktemp("starter") / "data", BUILD / "bin", ROOT / "registry")
    yield s
    assert s.stop() == 0
    log = s.logs()
    assert "Sanitizer" not in log and "runtime error" not in log, log[-4000:]


MODEL = "quince-starter"


def complete(server, prompt, **fields):
    reply = server.post("/v1/completions", {"model": MODEL, "prompt": prompt, **fields})
    assert reply.status == 200, reply.body
    return reply.json


def test_a_zero_character_is_read_as_the_replacement_character(server):
    said = "One\0two"
    assert complete(server, said, max_tokens=1, echo=True)["choices"][0]["text"].startswith("One\ufffdtwo")
    turn = [{"role": "user", "content": said}]
    for path, body in [("/v1/chat/completions", {"messages": turn, "max_tokens": 2}),
                       ("/v1/responses", {"input": said, "max_output_tokens": 2}),
                       ("/v1/messages", {"messages": turn, "max_tokens": 2}),
                       ("/v1/messages/count_tokens", {"messages": turn}),
                       ("/api/chat", {"messages": turn, "stream": False, "options": {"num_predict": 2}}),
                       ("/api/generate", {"prompt": said, "stream": False, "options": {"num_predict": 2}})]:
        reply = server.post(path, {"model": MODEL, **body})
        assert reply.status == 200, (path, reply.body)


def test_readme_curl_example(server):
    """The command in the README, with this server's port, answers the question it asks."""
    text = (ROOT / "README.md").read_text()
    command, *_ = re.findall(r"^curl [^`]*?\}'$", text, re.M | re.S)
    command = command.replace("localhost:13305", f"localhost:{server.port}")
    done = subprocess.run(["curl", "-sS", *shlex.split(command)[1:]], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "choices" in done.stdout, done.stdout + done.stderr
    assert "13305" in json.loads(done.stdout)["choices"][0]["message"]["content"]
    streamed = command.replace('"model"', '"stream": true, "model"')
    done = subprocess.run(["curl", "-sSN", *shlex.split(streamed)[1:]], capture_output=True, text=True)
    chunks = [json.loads(line[6:]) for line in done.stdout.splitlines()
              if line.startswith("data: {")]
    assert "13305" in text_of(chunks)
    assert done.stdout.rstrip().endswith("data: [DONE]")


def test_quince_run_answers(server):
    done = subprocess.run([str(BUILD / "bin/quince"), "--port", str(server.port), "run", MODEL,
                           "Which port does quince use?"], capture_output=True, text=True)
    assert done.returncode == 0 and "13305" in done.stdout


def test_greedy_is_repeatable_and_the_prefix_is_reused(server):
    first = server.chat(MODEL, "What is the capital of France?").json
    again = server.chat(MODEL, "What is the capital of France?").json
    assert first["choices"][0]["message"] == again["choices"][0]["message"]
    usage = again["usage"]
    assert usage["prompt_tokens_details"]["cached_tokens"] == usage["prompt_tokens"] - 1


def test_streamed_and_whole_agree(server):
    whole = server.chat(MODEL, "How do I stop the server?").json["choices"][0]["message"]["content"]
    connection, response = server.stream(MODEL, "How do I stop the server?")
    assert text_of(events(response)) == whole
    connection.close()


def test_seed_decides_what_is_sampled(server):
    def sample(seed):
        return complete(server, "Hello", max_tokens=24, temperature=20, top_p=1, top_k=0, min_p=0, seed=seed)["choices"][0]["text"]
    assert sample(1) == sample(1)
    assert len({sample(s) for s in range(6)}) > 1


def test_choices_differ_and_repeat(server):
    a = complete(server, "Hello", max_tokens=16, temperature=20, top_k=0, top_p=1, min_p=0, n=3, seed=7)["choices"]
    b = complete(server, "Hello", max_tokens=16, temperature=20, top_k=0, top_p=1, min_p=0, n=3, seed=7)["choices"]
    assert [c["text"] for c in a] == [c["text"] for c in b]
    assert len({c["text"] for c in a}) > 1


def test_stop_strings_end_the_text_and_are_not_in_it(server):
    whole = server.chat(MODEL, "What is the capital of France?").json["choices"][0]["message"]["content"]
    assert len(whole.split()) > 3
    word = whole.split()[2]
    cut = server.chat(MODEL, "What is the capital of France?", stop=[word]).json["choices"][0]
    assert cut["message"]["content"] == whole[:whole.index(word)]
    assert cut["finish_reason"] == "stop"
    connection, response = server.stream(MODEL, "What is the capital of France?", stop=word)
    assert text_of(events(response)) == whole[:whole.index(word)]
    connection.close()


def test_echo_and_logprobs_of_the_prompt(server):
    body = complete(server, "Paris is nice", max_tokens=0, echo=True, logprobs=2)
    choice = body["choices"][0]
    assert choice["text"] == "Paris is nice"
    logprobs = choice["logprobs"]
    assert "".join(logprobs["tokens"]) == "Paris is nice"
    assert logprobs["token_logprobs"][0] is None
    assert all(v <= 0 for v in logprobs["token_logprobs"][1:])
    assert len(logprobs["tokens"]) == body["usage"]["prompt_tokens"]


def test_logprobs_are_of_the_likeliest(server):
    body = server.chat(MODEL, "hello", logprobs=True, top_logprobs=3, max_tokens=5, temperature=0).json
    for entry in body["choices"][0]["logprobs"]["content"]:
        assert len(entry["top_logprobs"]) == 3
        best = entry["top_logprobs"][0]
        assert best["token"] == entry["token"] and abs(best["logprob"] - entry["logprob"]) < 1e-6
        values = [t["logprob"] for t in entry["top_logprobs"]]
        assert values == sorted(values, reverse=True)


def test_logit_bias_forbids_and_forces(server):
    body = complete(server, [5, 6, 7], max_tokens=1, temperature=0, logprobs=1, echo=False)
    token = body["choices"][0]["logprobs"]["tokens"][0]
    forced = complete(server, [5, 6, 7], max_tokens=3, temperature=0, logit_bias={"40": 100}, ignore_eos=True)
    assert len(set(forced["choices"][0]["text"])) <= 2 and forced["usage"]["completion_tokens"] == 3
    assert token is not None


def test_prompt_that_does_not_fit(server):
    reply = server.chat(MODEL, "word " * 3000)
    assert reply.status == 400
    error = reply.json["error"]
    assert error["code"] == "context_length_exceeded"
    assert "512" in error["message"]


def test_token_out_of_the_vocabulary(server):
    reply = server.post("/v1/completions", {"model": MODEL, "prompt": [1, 99999999]})
    assert reply.status == 400 and reply.json["error"]["param"] == "prompt"


def test_many_at_once_say_what_each_says_alone(server):
    questions = ["Which port does quince use?", "What is the capital of Italy?", "hello", "What is 7 + 5?",
                 "How do I import a model?", "What colour is a banana?", "who are you", "What is 3 times 4?"]
    alone = {q: server.chat(MODEL, q, temperature=0).json["choices"][0]["message"]["content"] for q in questions}
    together = {}

    def ask(q):
        together[q] = server.chat(MODEL, q, temperature=0).json["choices"][0]["message"]["content"]

    threads = [threading.Thread(target=ask, args=(q,)) for q in questions * 2]
    with Ticker(server) as ticker:
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert together == alone
    assert ticker.count > 0


def test_unload_and_first_use_again(server):
    assert server.chat(MODEL, "hello").status == 200
    assert server.post("/v1/unload", {"model_name": MODEL}).status == 200
    assert server.chat(MODEL, "hello").status == 200


def test_options_of_loading(server, tmp_path):
    """Another type of cache, a draft model (here a copy of the model) and speculation change no answer."""
    copy = shutil.copy(ROOT / "registry/starter/quince-starter.gguf", tmp_path / "copy.gguf")
    server.register("user.copy", copy)
    ask = lambda: server.chat(MODEL, "What is the capital of France?", temperature=0).json["choices"][0]["message"]  # noqa: E731
    load = lambda **options: server.post("/v1/load", {"model_name": MODEL, **options})  # noqa: E731
    before = ask()
    for options in ({"cache_type": "f32"}, {"draft_model": "user.copy"}, {"speculate": False, "slots": 2}):
        reply = load(**options)
        assert reply.status == 200, reply.body
        assert ask() == before
    assert server.get("/v1/health").json["all_models_loaded"][0]["slots"] == 2
    reply = load(cache_type="q3")
    assert reply.status >= 400 and "q8_0" in reply.json["error"]["message"], reply.body
    reply = load(draft_model="nobody")
    assert reply.status >= 400 and "nobody" in reply.json["error"]["message"], reply.body
    assert load(cache_type="f16", speculate=True).status == 200
    assert ask() == before


def test_beginnings_outlive_an_unload(server):
    question = "Which command lists the models?"
    load = lambda **options: server.post("/v1/load", {"model_name": MODEL, **options}).status  # noqa: E731
    assert load(prefix_cache=True) == 200
    first = server.chat(MODEL, question, temperature=0).json
    assert server.post("/v1/unload", {"model_name": MODEL}).status == 200
    assert load(prefix_cache=True) == 200
    again = server.chat(MODEL, question, temperature=0).json
    assert again["choices"][0]["message"] == first["choices"][0]["message"]
    usage = again["usage"]
    assert usage["prompt_tokens_details"]["cached_tokens"] == usage["prompt_tokens"] - 1
    # Without the wish nothing is taken up.
    assert load(prefix_cache=False) == 200
    usage = server.chat(MODEL, question, temperature=0).json["usage"]
    assert usage["prompt_tokens_details"]["cached_tokens"] == 0


def test_context_shift_goes_on_where_the_context_ends(server):
    load = lambda **options: server.post("/v1/load", {"model_name": MODEL, "ctx_size": 128, **options}).status  # noqa: E731
    ask = {"max_tokens": 300, "ignore_eos": True, "temperature": 0}
    assert load(context_shift=False) == 200
    reply = server.post("/v1/completions", {"model": MODEL, "prompt": "Hello", **ask}).json
    assert reply["usage"]["completion_tokens"] < 130
    assert load(context_shift=True) == 200
    reply = server.post("/v1/completions", {"model": MODEL, "prompt": "Hello", **ask}).json
    assert reply["usage"]["total_tokens"] == 300    # completions count the prompt, too, on this port
    reply = server.chat(MODEL, "Tell me about quince.", **ask).json
    assert reply["usage"]["completion_tokens"] == 300
    assert load(context_shift=False, ctx_size=0) == 200


def test_anthropics_messages(server):
    """Whole, streamed and counted: the same words, the same tokens."""
    body = {"model": MODEL, "max_tokens": 40, "temperature": 0,
            "messages": [{"role": "user", "content": "What is the capital of France?"}]}
    whole = server.post("/v1/messages", body).json
    assert "Paris" in whole["content"][0]["text"] and whole["stop_reason"] == "end_turn"
    again = server.post("/v1/messages", body).json
    assert again["usage"]["cache_read_input_tokens"] > 0
    assert again["usage"]["input_tokens"] + again["usage"]["cache_read_input_tokens"] == \
        whole["usage"]["input_tokens"] + whole["usage"]["cache_read_input_tokens"]
    c = server.connect()
    c.request("POST", "/v1/messages", json.dumps({**body, "stream": True}), {"Content-Type": "application/json"})
    said = list(events(c.getresponse()))
    c.close()
    assert "".join(x["delta"]["text"] for x in said if x["type"] == "content_block_delta") == \
        whole["content"][0]["text"]
    assert said[-2]["usage"]["output_tokens"] == whole["usage"]["output_tokens"]
    # The prompt was counted before it was computed; it is in the cache by now.
    assert said[0]["type"] == "message_start"
    begun, ended = said[0]["message"]["usage"], said[-2]["usage"]
    assert {k: begun[k] for k in ("input_tokens", "cache_read_input_tokens")} == \
        {k: again["usage"][k] for k in ("input_tokens", "cache_read_input_tokens")}
    assert ended["input_tokens"] == begun["input_tokens"]
    counted = server.post("/v1/messages/count_tokens", {k: body[k] for k in ("model", "messages")}).json
    assert counted == {"input_tokens": again["usage"]["input_tokens"] + again["usage"]["cache_read_input_tokens"]}
    cut = server.post("/v1/messages", {**body, "max_tokens": 1}).json
    assert (cut["stop_reason"], cut["usage"]["output_tokens"]) == ("max_tokens", 1)
    stopped = server.post("/v1/messages", {**body, "stop_sequences": ["Par"]}).json
    assert (stopped["stop_reason"], stopped["stop_sequence"]) == ("stop_sequence", "Par")
    assert "Par" not in stopped["content"][0]["text"] if stopped["content"] else True


def test_anthropics_tools_and_schemas(server):
    """A demanded tool is called with arguments of its schema; a schema decides the text."""
    schema = {"type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}}, "required": ["city"],
              "additionalProperties": False}
    body = {"model": MODEL, "max_tokens": 100, "messages": [{"role": "user", "content": "The weather in Paris?"}]}
    reply = server.post("/v1/messages", {**body, "tools": [{"name": "get_weather", "input_schema": schema}],
                                         "tool_choice": {"type": "any"}})
    assert reply.status == 200, reply.body
    calls = [b for b in reply.json["content"] if b["type"] == "tool_use"]
    assert calls and calls[0]["name"] == "get_weather" and calls[0]["input"]["city"] in ("Paris", "Rome")
    assert reply.json["stop_reason"] == "tool_use"
    reply = server.post("/v1/messages", {**body, "output_config": {"format": {"type": "json_schema",
                                                                              "schema": schema}}})
    assert reply.status == 200, reply.body
    assert json.loads(reply.json["content"][0]["text"])["city"] in ("Paris", "Rome")


WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "Weather of a city",
    "parameters": {"type": "object", "required": ["city", "unit"], "additionalProperties": False, "properties": {
        "city": {"type": "string", "maxLength": 20}, "unit": {"type": "string", "enum": ["C", "F"]}}}}}
NOW = {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}


def ask(server, **fields):
    reply = server.post("/v1/chat/completions", {
        "model": MODEL, "messages": [{"role": "user", "content": "What is the weather in Paris?"}],
        "tools": [WEATHER, NOW], "max_tokens": 200, **fields})
    assert reply.status == 200, reply.body
    return reply.json["choices"][0]


def test_a_tool_has_to_be_called(server):
    """Even a model that was never taught tools calls one, with arguments by its schema, at any temperature."""
    for seed in range(6):
        choice = ask(server, tool_choice="required", temperature=1.5, seed=seed, parallel_tool_calls=False)
        assert choice["finish_reason"] == "tool_calls"
        (call,) = choice["message"]["tool_calls"]
        arguments = json.loads(call["function"]["arguments"])
        if call["function"]["name"] == "get_weather":
            assert set(arguments) == {"city", "unit"}
            assert arguments["unit"] in ("C", "F") and len(arguments["city"]) <= 20
        else:
            assert call["function"]["name"] == "now"
    named = ask(server, tool_choice={"type": "function", "function": {"name": "now"}})
    assert [c["function"]["name"] for c in named["message"]["tool_calls"]] == ["now"]


def test_tools_that_may_not_be_called(server):
    choice = ask(server, tool_choice="none")
    assert choice["finish_reason"] == "stop" and choice["message"]["content"]
    assert not choice["message"].get("tool_calls")


def test_results_of_tools_are_read(server):
    """A template without tools shows calls and results as text: the conversation goes on."""
    choice = ask(server, messages=[
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None,
         "tool_calls": [{"id": "a", "type": "function", "function": {"name": "now", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "a", "content": "12:00"}])
    assert choice["finish_reason"] in ("stop", "tool_calls")


def test_reasoning_ends_with_its_budget(server, tmp_path):
    """The model that ships, with a template that begins its reasoning: what it says there means nothing. Its control tokens
    (0 to 2) are forbidden: they would not count as reasoning, and one of them ends the answer."""
    data = (ROOT / "registry" / "starter" / "quince-starter.gguf").read_bytes()
    key = b"tokenizer.chat_template"
    at = data.index(key) + len(key) + 4
    (n,) = struct.unpack_from("<Q", data, at)
    template = (b"{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
                b"<|im_start|>assistant\n<think>\n")
    template = b"{#" + b"x" * (n - len(template) - 4) + b"#}" + template
    assert len(template) == n
    path = tmp_path / "thinker.gguf"
    path.write_bytes(data[:at + 8] + template + data[at + 8 + n:])
    model = server.register("user.thinker", path)

    def ask(**fields):
        reply = server.chat(model, "hello", max_tokens=100, logit_bias={"0": -100, "1": -100, "2": -100}, temperature=0, **fields)
        assert reply.status == 200, reply.body
        return reply.json["choices"][0]["message"], reply.json["usage"]["completion_tokens_details"]["reasoning_tokens"]

    message, tokens = ask()
    assert tokens > 40 and not message["content"]
    for budget in (1, 7, 30):
        message, tokens = ask(thinking_budget=budget)
        assert message["content"] and message["reasoning_content"] and budget <= tokens <= budget + 10
        assert "think>" not in message["content"] + message["reasoning_content"]
    schema = {"type": "object", "properties": {"a": {"enum": [1, 2]}}, "required": ["a"], "additionalProperties": False}
    message, tokens = ask(thinking_budget=7, response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": schema}})
    assert json.loads(message["content"])["a"] in (1, 2)
    reply = server.post("/v1/messages", {"model": model, "max_tokens": 40, "messages": [{"role": "user", "content": "x"}],
                                         "thinking": {"type": "enabled", "budget_tokens": 5}})
    assert reply.status == 200 and "X-Quince-Warning" not in reply.headers, reply.body


def test_an_answer_in_a_chat_is_cut_and_continued(server):
    """The text of an answer that is cut off and continued, several times, is that of one that was not."""
    chat = Chat(server, params={"temperature": 0})
    question = chat.say("On which port does quince listen?")
    whole = chat.finished(chat.answer(question, MODEL))
    assert (whole["state"], whole["finish"]) == ("done", "stop") and "13305" in whole["text"]
    pieces = chat.answer(question, MODEL, params={"max_tokens": 3})
    for _ in range(100):
        message = chat.finished(pieces)
        if message["state"] == "done":
            break
        assert message["state"] == "cut" and whole["text"].startswith(message["text"])
        assert chat.answer(pieces, MODEL, params={"max_tokens": 3}, **{"continue": True}) == pieces
    assert message["text"] == whole["text"]
