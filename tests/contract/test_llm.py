"""quince-llm alone, spoken to as the router does, with the starter model (or QUINCE_TEST_MODEL)."""
import concurrent.futures
import os
import socket
import time

import pytest

from child import PATIENCE, ROOT, Child, chat, complete, of, shown, text

MODEL = os.environ.get("QUINCE_TEST_MODEL", ROOT / "registry/starter/quince-starter.gguf")
MANY = 16 if os.environ.get("QUINCE_TEST_QUICK") == "1" else 64
STORY = "The quick brown fox jumps over the lazy dog. "


@pytest.fixture(scope="module")
def llm():
    child = Child("quince-llm", [MODEL])
    assert child.ready["msg"] == "ready", child.ready
    yield child
    assert child.stop() == 0


def test_ready_tells_what_it_has(llm):
    assert llm.ready["context"] > 0
    assert llm.ready["slots"] == 64
    assert llm.ready["memory_bytes"] > 1_000_000


def test_order_of_events(llm):
    events = llm.run(chat("Hello", max_tokens=8, temperature=0))
    kinds = [e["ev"] for e in events if e["ev"] != "progress"]
    assert kinds[-3:] == ["done", "usage", "end"]
    assert set(kinds[:-3]) <= {"text"}
    usage = of(events, "usage")[0]
    assert usage["prompt"] > 1 and 1 <= usage["output"] <= 8


def test_the_same_seed_gives_the_same_text(llm):
    job = chat("Tell me something", max_tokens=24, temperature=1.5, top_k=0, top_p=1, min_p=0, seed=11, ignore_eos=True)
    first = text(llm.run(job))
    assert first == text(llm.run(job))
    job["sampling"]["seed"] = 12
    assert first != text(llm.run(job))


@pytest.mark.heavy
def test_choices_are_seeded_one_by_one(llm):
    job = chat("Tell me something", max_tokens=16, temperature=1.5, top_k=0, top_p=1, seed=20, n=6, ignore_eos=True)
    events = llm.run(job)
    assert [e["index"] for e in sorted(of(events, "done"), key=lambda e: e["index"])] == list(range(6))
    del job["sampling"]["n"]
    job["sampling"]["seed"] = 24
    assert text(llm.run(job)) == text(events, 4)
    assert of(events, "usage")[0]["output"] == 6 * 16


def test_greedy_is_the_same_alone_and_in_company(llm):
    jobs = [chat(f"Question number {i}: what is {i} plus {i}?", max_tokens=24, temperature=0) for i in range(6)]
    alone = [text(llm.run(job)) for job in jobs]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda job: text(llm.run(job)), jobs))
    assert alone == together


def test_the_beginning_is_cached(llm):
    job = complete(STORY * 12, max_tokens=4, temperature=0)
    first = llm.run(job)
    again = llm.run(job)
    assert text(first) == text(again)
    usage = of(again, "usage")[0]
    assert usage["cached"] == usage["prompt"] - 1


@pytest.mark.heavy
def test_a_prompt_that_is_not_to_be_cached(llm):
    job = complete("Once there was a lighthouse on a cliff. " * 12, max_tokens=4, temperature=0)
    alone = complete("A prompt that no other has, number nine. " * 12, max_tokens=4, temperature=0)
    cached = [of(llm.run(one), "usage")[0]["cached"] for one in (
        job, {**job, "sampling": {**job["sampling"], "no_reuse": True}},
        {**alone, "sampling": {**alone["sampling"], "no_reuse": True}}, alone)]
    assert cached[1] == 0
    assert cached[3] < 10  # the start token, and what other tests' prompts begin with


def test_stop_strings_are_not_shown(llm):
    whole = text(llm.run(complete("Once upon a time", max_tokens=40, temperature=0, ignore_eos=True)))
    stop = whole[10:14]
    events = llm.run(complete("Once upon a time", max_tokens=40, temperature=0, ignore_eos=True, stop=[stop]))
    assert text(events) == whole[:whole.index(stop)]
    done = of(events, "done")[0]
    assert done["reason"] == "stop" and done["stop"] == stop


def test_logprobs_belong_to_the_text(llm):
    events = llm.run(complete("Once upon", max_tokens=12, temperature=0, logprobs=3, ignore_eos=True))
    seen = b""
    n = 0
    for e in of(events, "text"):
        for t in e["logprobs"]:
            if not t["token"].startswith("<|"):  # control tokens are no part of the text
                seen += bytes(t["bytes"])
            n += 1
            assert len(t["top"]) == 3
            assert t["logprob"] <= 0
            assert t["id"] == t["top"][0]["id"]  # greedy: the likeliest
            values = [a["logprob"] for a in t["top"]]
            assert values == sorted(values, reverse=True)
    assert n == 12
    assert text(events) in seen.decode(errors="replace")


def test_echo_scores_the_prompt(llm):
    prompt = "The capital of France is Paris"
    events = llm.run(complete(prompt, echo=True, max_tokens=0, logprobs=1))
    assert text(events) == prompt
    tokens = of(events, "text")[0]["logprobs"]
    assert b"".join(bytes(t["bytes"]) for t in tokens).decode() == prompt
    scores = [t["logprob"] for t in tokens]
    assert all(s is None or s <= 0 for s in scores)
    # What the model would say next has the score that sampling reports.
    next_token = llm.run(complete(prompt, max_tokens=1, temperature=0, logprobs=1, ignore_eos=True))
    chosen = of(next_token, "text")[0]["logprobs"][0]
    scored = llm.run(complete([t["id"] for t in tokens] + [chosen["id"]], echo=True, max_tokens=0, logprobs=1))
    last = of(scored, "text")[0]["logprobs"][-1]
    if scores[0] is None:  # no start token: both runs saw the same tokens
        assert last["id"] == chosen["id"]
        assert abs(last["logprob"] - chosen["logprob"]) < 2e-2


@pytest.mark.heavy
def test_the_context_is_a_limit(llm):
    context = llm.ready["context"]
    error = of(llm.run(complete(STORY * context, max_tokens=4)), "error")[0]["error"]
    assert error["code"] == "context"
    assert str(context) in error["message"]
    ids = [t["id"] for t in of(llm.run(complete("hello", echo=True, max_tokens=0, logprobs=0)), "text")[0]["logprobs"]]
    events = llm.run(complete((ids * context)[:context - 3], temperature=0, ignore_eos=True))
    assert of(events, "done")[0]["reason"] == "length"
    assert of(events, "usage")[0]["output"] == 4


@pytest.mark.parametrize("job, code, param", [
    (complete([10**6], max_tokens=1), "invalid", "prompt"),
    (complete([-5], max_tokens=1), "invalid", "complete.prompt_tokens[0]"),
    (complete("x", suffix="y", max_tokens=1), "unsupported", "suffix"),
    (complete("x", max_tokens=1, logit_bias=[{"token": 10**6, "bias": 1}]), "invalid", "logit_bias"),
    (chat([], max_tokens=1), "invalid", "messages"),
    (shown(), "unsupported", "messages[0].content[0]"),
])
def test_bad_jobs_say_what_is_wrong(llm, job, code, param):
    events = llm.run(job)
    assert [e["ev"] for e in events] == ["error"]
    assert events[0]["error"]["code"] == code
    assert events[0]["error"]["param"] == param


def test_logit_bias_decides(llm):
    ids = [t["id"] for t in of(llm.run(complete("yes", echo=True, max_tokens=0, logprobs=0)), "text")[0]["logprobs"]]
    biased = complete("Is it", max_tokens=3, temperature=0, logit_bias=[{"token": ids[-1], "bias": 100}], logprobs=0)
    tokens = [t["id"] for e in of(llm.run(biased), "text") for t in e["logprobs"]]
    assert tokens == [ids[-1]] * 3


def test_the_wrong_secret(llm):
    reply = llm.post(chat("Hello"), secret="0" * 64)
    assert reply.status == 401
    reply.close()


def test_leaving_cancels(llm):
    reply = llm.post(chat("Hello", ignore_eos=True, temperature=1, context_shift=1))
    next(iter(reply))
    assert llm.ping()["jobs"] == 1
    reply.socket.shutdown(socket.SHUT_RDWR)
    reply.close()
    deadline = time.monotonic() + PATIENCE
    while llm.ping()["jobs"]:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_many_at_once(llm):
    with concurrent.futures.ThreadPoolExecutor(MANY) as pool:
        replies = list(pool.map(lambda i: llm.run(chat(f"Say {i}", max_tokens=6, temperature=0)), range(MANY)))
    assert all(events[-1]["ev"] == "end" for events in replies)


@pytest.mark.heavy
def test_a_long_prompt_beside_a_running_answer(llm):
    """Each comes to its end."""
    ids = [t["id"] for t in of(llm.run(complete("hello", echo=True, max_tokens=0, logprobs=0)), "text")[0]["logprobs"]]
    context = llm.ready["context"]
    reply = llm.post(chat("Hello", ignore_eos=True, max_tokens=300, temperature=0))
    stream = iter(reply)
    first = next(stream)
    other = llm.run(complete((ids * context)[:context - 8], max_tokens=2, ignore_eos=True))
    usage = of(other, "usage")[0]
    assert (usage["prompt"], usage["output"], other[-1]["ev"]) == (context - 8, 2, "end")
    said = [first, *stream]
    assert of(said, "usage")[0]["output"] == 300 and said[-1]["ev"] == "end"


@pytest.mark.parametrize("files, options, code", [
    (["/nonexistent.gguf"], {}, "not_found"),
    ([__file__], {}, "format"),
    ([MODEL], {"slotz": 1}, "invalid"),
    ([MODEL], {"slots": 0}, "invalid"),
    ([MODEL, MODEL], {}, "invalid"),
])
def test_what_cannot_be_loaded(files, options, code):
    child = Child("quince-llm", files, options=options)
    assert child.ready["msg"] == "failed"
    assert child.ready["error"]["code"] == code
    assert child.process.wait(PATIENCE) == 1


def test_options_are_obeyed():
    child = Child("quince-llm", [MODEL], context=64, options={"slots": 2})
    assert child.ready["context"] == 64
    assert child.ready["slots"] == 2
    assert child.stop() == 0


def test_an_orphan_leaves():
    child = Child("quince-llm", [MODEL])
    child.post(chat("Hello", ignore_eos=True, context_shift=1))
    child.control.close()
    child.process.wait(PATIENCE)
