"""What the model that ships says about quince is true: its answers to questions that were never trained, against the
programs' own tables. What it was trained on: test_starter_facts.py."""
import json
import sys

import pytest
from conftest import BUILD, ROOT, THREAD_SANITIZED, Server

sys.path.insert(0, str(ROOT / "scripts" / "train" / "llm"))
import claims  # noqa: E402
from text import known  # noqa: E402

QUESTIONS = [json.loads(line) for line in (ROOT / "tests" / "http" / "starter_questions.jsonl").read_text().splitlines()]
# The answers are those of the other builds, each of them thirty times slower.
ASKED = QUESTIONS[::8] if THREAD_SANITIZED else QUESTIONS
RIGHT_SHARE = 0.85


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """[(question, answer)] of the model that ships."""
    s = Server(tmp_path_factory.mktemp("truth") / "data", BUILD / "bin", ROOT / "registry")
    out = []
    for q in ASKED:
        reply = s.chat("quince-starter", q["q"], temperature=0)
        assert reply.status == 200, reply.body
        out.append((q, reply.json["choices"][0]["message"]["content"]))
    assert s.stop() == 0
    return out


def is_right(question, answer):
    facts = known.read()
    return any(all(k.lower() in answer.lower() for k in facts[n]["keys"]) for n in question["facts"])


def test_answers_deny_and_invent_nothing(answers):
    product = claims.Product(str(BUILD))
    wrong = [f"{q['q']} -> {a}: {e}" for q, a in answers for e in claims.answer_errors(product, q, a, is_right(q, a))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.skipif(THREAD_SANITIZED, reason="a share of all questions")
def test_most_answers_are_the_right_ones(answers):
    wrong = [f"{q['q']} -> {a}" for q, a in answers if not is_right(q, a)]
    assert len(wrong) <= (1 - RIGHT_SHARE) * len(answers), "\n".join(wrong)
