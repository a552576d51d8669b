"""The chat's own commands, and a conversation that outgrows the model's context."""
import json

import pytest
from cli_kit import CTRL_D, Cli, Stub, Terminal


def chunk(text):
    return b"data: " + json.dumps({"choices": [{"delta": {"content": text}}]}).encode() + b"\n\n"


def said(body):
    return [m["content"] for m in body["messages"]]


@pytest.fixture
def narrow():
    """A server whose model takes 110 letters of conversation; how it refuses more is as a test wants."""
    def answer(_, body):
        if sum(len(m["content"]) for m in body["messages"]) <= 110:
            return chunk("answer\n") + b"data: [DONE]\n\n"
        error = {"error": {"message": "the prompt is too long", "type": "invalid_request_error",
                           "code": "context_length_exceeded"}}
        return (400, error) if refusing == "head" else f"data: {json.dumps(error)}\n\n".encode()
    refusing = "head"

    def choose(how):
        nonlocal refusing
        refusing = how
    stub = Stub({"POST /v1/chat/completions": answer})
    stub.refuse_in = choose
    yield stub
    stub.close()


@pytest.mark.parametrize("how", ["head", "stream"])
def test_a_full_context_goes_on(narrow, tmp_path, how):
    narrow.refuse_in(how)
    t = Terminal(Cli(tmp_path, narrow.port), "run", "m", "--system", "be brief")
    t.wait_for(">>> ")
    text = 'no "{role" \\ here'  # 17 letters, and what could pass for the beginning of a turn
    for i in range(4):
        t.type(f"{i} {text}\r")
        t.wait_for("answer")
        t.wait_for(">>> ")
    assert "dropped" not in t.screen
    t.type(f"4 {text}\r")
    t.wait_for("(the context is full: the oldest 2 turns are dropped)\r\n")
    t.wait_for("answer")
    t.wait_for(">>> ")
    bodies = narrow.bodies("POST /v1/chat/completions")
    assert [said(b)[0] for b in bodies] == ["be brief"] * 6
    assert said(bodies[-1])[1:] == [f"2 {text}", "answer\n", f"3 {text}", "answer\n", f"4 {text}"]
    # A question that cannot fit alone is refused, and the chat goes on without it.
    t.type("x" * 111 + "\r")
    t.wait_for("quince: the prompt is too long")
    t.wait_for(">>> ")
    t.type("short\r")
    t.wait_for("answer")
    t.wait_for(">>> ")
    assert said(narrow.bodies("POST /v1/chat/completions")[-1])[1:] == [
        f"2 {text}", "answer\n", f"3 {text}", "answer\n", f"4 {text}", "answer\n", "short"]
    assert t.screen.count("dropped") == 1
    t.type(CTRL_D)
    assert t.status() == 0


def test_one_prompt_that_does_not_fit(narrow, tmp_path):
    done = Cli(tmp_path, narrow.port)("run", "m", "x" * 111)
    assert done.returncode == 1 and done.out == "" and "the prompt is too long" in done.err


def test_another_model_in_the_chat(house, tmp_path):
    server = house.start()
    first = house.model(server, "first", tokens=2, word="one ")
    second = house.model(server, "second", tokens=2, word="two ")
    t = Terminal(Cli(tmp_path, server.port), "run", first)
    t.wait_for(">>> ")
    for line, answer in [("hello", "one one "), ("/model", f"Chatting with {first}"),
                         ("/model second", f"continues with {second}"), ("hello", "two two "),
                         ("/model secnd", "did you mean 'user.second'?"), ("/list", "Last used"),
                         ("/list first", "user.first"), ("/ps", "Context"),
                         ("/load first", f"{first} is loaded"), ("/load", f"{first} is loaded"),
                         ("hello", "one one "), ("/sttas", "did you mean /stats?"),
                         ("/clear all", "no such command")]:
        t.type(line + "\r")
        t.wait_for(answer)
        t.wait_for(">>> ")
    assert [m["model_name"] for m in server.get("/v1/health").json["all_models_loaded"]] == [first]
    t.type("/bye\r")
    assert t.status() == 0
