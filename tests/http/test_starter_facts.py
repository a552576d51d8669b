"""The text that the starter model is trained on agrees with the programs' own tables."""
import json
import sys

import pytest
from conftest import BUILD, ROOT

sys.path.insert(0, str(ROOT / "scripts" / "train" / "llm"))
import claims  # noqa: E402
import generate  # noqa: E402
from text import known  # noqa: E402
from text.grammar import norm  # noqa: E402

QUESTIONS = [json.loads(line) for line in (ROOT / "tests" / "http" / "starter_questions.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def product():
    return claims.Product(str(BUILD))


def test_the_facts_agree_with_the_product(product):
    assert product.facts_errors(known.read()) == []


def test_a_command_that_no_fact_mentions_is_found(product):
    facts = {n: f for n, f in known.read().items() if "quince export" not in f["say"]}
    assert product.facts_errors(facts) == ["no fact mentions quince export"]


@pytest.mark.parametrize("text, error", [
    ("Run quince erase MODEL.", "no command quince erase"),
    ("quince keys install NAME makes a key.", "no command quince keys install"),
    ("quince delete MODEL --force does it.", "quince delete has no option --force"),
    ("Set --colour red on quince serve.", "no option --colour"),
    ("Send POST /v1/erase.", "no route POST /v1/erase"),
    ("GET /v1/load loads a model.", "no route GET /v1/load"),
    ("It is all in ~/.quince.", "no path ~/.quince"),
    ("It listens on port 8081.", "no port 8081"),
    ("QUINCE_COLOUR sets it.", "no variable QUINCE_COLOUR"),
    ("Quince cannot download models yet.", "denies: 'cannot'"),
    ("Quince has no command to delete a model.", "denies: 'no command'"),
    ("Not yet. This version has no speech.", "denies: 'Not yet'"),
    ("Install llamacpp:cuda.", "no engine llamacpp:cuda"),
])
def test_what_is_not_there_is_found(product, text, error):
    assert error in product.errors(text)


def test_what_is_there_is_not_complained_about(product):
    for text in ("Run quince pull Qwen3-0.6B-GGUF, then quince list.", "POST /api/v1/load and GET /health are routes.",
                 "Type /clear in the chat.", "curl http://localhost:13305/v1/models"):
        assert product.errors(text) == []


def test_no_question_is_trained():
    generator = generate.Generator(1)
    asked = {norm(q["q"]) for q in QUESTIONS}
    assert len(QUESTIONS) >= 200 and len(asked) == len(QUESTIONS)
    assert asked <= generator.banned
    for _ in range(20000):
        turns = generator.conversation()
        assert not any(role == "user" and norm(text) in asked for role, text in turns), turns
