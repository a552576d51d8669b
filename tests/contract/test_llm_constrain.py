"""Answers that must conform, from quince-llm alone: schemas and grammars beside every other setting."""
import concurrent.futures
import json
import socket
import time

import pytest

from child import PATIENCE, ROOT, Child, chat, complete, of, text

MODEL = ROOT / "registry/starter/quince-starter.gguf"
PERSON = {"type": "object", "additionalProperties": False, "required": ["name", "age", "pets"], "properties": {
    "name": {"type": "string", "maxLength": 20}, "age": {"type": "integer", "minimum": 0, "maximum": 130},
    "pets": {"type": "array", "maxItems": 2, "items": {"enum": ["dog", "cat"]}}}}
END = 2  # <|im_end|>
WILD = {"temperature": 2, "top_k": 0, "top_p": 1, "min_p": 0}


@pytest.fixture(scope="module")
def llm():
    child = Child("quince-llm", [MODEL])
    assert child.ready["msg"] == "ready", child.ready
    yield child
    assert child.stop() == 0


def person(said):
    value = json.loads(said)
    assert list(value) == ["name", "age", "pets"]
    assert len(value["name"]) <= 20 and 0 <= value["age"] <= 130
    assert len(value["pets"]) <= 2 and set(value["pets"]) <= {"dog", "cat"}
    return value


def with_schema(job, schema=PERSON):
    return {**job, "schema": schema}


def with_grammar(job, grammar):
    return {**job, "grammar": grammar}


@pytest.mark.parametrize("settings", [
    pytest.param({"temperature": 0}, marks=pytest.mark.heavy), {"temperature": 0, "repeat_penalty": 1.5, "frequency_penalty": 1},
    WILD, {**WILD, "logprobs": 3}, pytest.param({**WILD, "logit_bias": [{"token": 5, "bias": 50}]}, marks=pytest.mark.heavy)])
def test_every_setting_conforms(llm, settings):
    for seed in range(6):
        events = llm.run(with_schema(chat("A person as JSON", max_tokens=200, seed=seed, **settings)))
        person(text(events))
        assert of(events, "done")[0]["reason"] == "stop"


@pytest.mark.heavy
def test_choices_conform_each_in_its_own_way(llm):
    events = llm.run(with_schema(chat("A person as JSON", max_tokens=200, seed=1, n=6, **WILD)))
    said = [text(events, i) for i in range(6)]
    for one in said:
        person(one)
    assert len(set(said)) == 6


@pytest.mark.heavy
def test_a_prompt_that_is_repeated_changes_nothing():
    """Guessed tokens are put to the test of the schema like drawn ones."""
    story = json.dumps({"name": "Ada Lovelace", "age": 36, "pets": ["dog", "cat"]}) + "\n"
    grammar = r'root ::= ("{\"name\": \"Ada " [A-Za-z]{3,10} "\", \"age\": " [0-9]{1,2} ", \"pets\": [\"dog\", \"cat\"]}" "\n"){3}'
    said = {}
    for speculate in (True, False):
        child = Child("quince-llm", [MODEL], options={"speculate": speculate})
        assert child.ready["msg"] == "ready", child.ready
        for temperature in (0, 1.5):
            job = with_grammar(complete(story * 3, max_tokens=200, temperature=temperature, seed=3), grammar)
            events = child.run(job)
            assert text(events).count("\n") == 3 and of(events, "done")[0]["reason"] == "stop"
            said.setdefault(temperature, set()).add(text(events))
        assert child.stop() == 0
    assert all(len(texts) == 1 for texts in said.values())


def test_a_grammar_leaves_only_its_texts(llm):
    for seed in range(8):
        events = llm.run(with_grammar(chat("Yes or no?", max_tokens=10, seed=seed, **WILD), 'root ::= "yes" | "no"'))
        assert text(events) in ("yes", "no")
        assert of(events, "done")[0]["reason"] == "stop"


def test_a_limit_of_tokens_still_cuts(llm):
    events = llm.run(with_schema(chat("A person as JSON", max_tokens=3, temperature=0)))
    assert of(events, "done")[0]["reason"] == "length"
    assert of(events, "usage")[0]["output"] == 3


def test_what_cannot_be_kept_is_refused(llm):
    for job, code, words in [
            (with_schema(chat("x"), {"type": "array", "items": {"type": "string"}, "uniqueItems": True}), "unsupported",
             "schema: items: uniqueItems"),
            (with_schema(chat("x"), {"type": "integer", "minimum": 2, "maximum": 1}), "invalid", "no text can satisfy it"),
            (with_grammar(chat("x"), "root ::= [a"), "invalid", "grammar: line 1")]:
        error = of(llm.run(job), "error")[0]["error"]
        assert error["code"] == code and words in error["message"], error
    assert text(llm.run(chat("Hello", max_tokens=4, temperature=0)))


# Thirty-five million steps of compiling, a sixth of the limit.
HEAVY = {"type": "object", "properties": {f"p{i}": {"type": "string", "pattern": f"^(a|b|{i})*a(a|b){{11}}$"}
                                          for i in range(2)}}


@pytest.mark.heavy
def test_compiling_delays_no_other_job(llm):
    """An answer goes on, and a request that came later begins and ends, while schemas are compiled."""
    def heavy(i):
        return llm.run(with_schema(chat("x", max_tokens=2), {**HEAVY, "title": str(i)}))

    # Without the model's end token, which has no text: a row of them would look like a pause.
    running = llm.post(chat("Hello", temperature=1, context_shift=1, logit_bias=[{"token": END, "bias": -100}]))
    answer = iter(running)
    next(answer)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        slow, pauses, last = pool.submit(heavy, 0), [], time.monotonic()
        for _ in answer:
            now = time.monotonic()
            pauses.append(now - last)
            last = now
            if slow.done():
                break
        assert text(slow.result()).startswith("{")
        assert len(pauses) > 20 and max(pauses) < sum(pauses) / 4, pauses
        slow = [pool.submit(heavy, i) for i in (1, 2)]
        while llm.ping()["jobs"] < 3:
            time.sleep(0.001)
        assert text(llm.run(chat("Hello", max_tokens=1)))
        assert not any(s.done() for s in slow)
        assert all(text(s.result()).startswith("{") for s in slow)
    running.socket.shutdown(socket.SHUT_RDWR)
    running.close()


@pytest.mark.heavy
def test_too_much_compiling_names_its_limit(llm):
    patterns = {"allOf": [{"pattern": f"^(a|b|{i})*a(a|b){{11}}$"} for i in range(40)]}
    reply = llm.post(with_schema(chat("x"), patterns))
    reply.socket.settimeout(6 * PATIENCE)  # a second; minutes with the thread sanitizer
    error = of(reply.events(), "error")[0]["error"]
    assert error["code"] == "invalid" and "200 million steps" in error["message"]
