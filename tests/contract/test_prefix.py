"""What slots remember of earlier prompts must never show: with the cache and without it, a model
gives the same answers, whatever conversations come in turn or at once."""
import concurrent.futures
import random
import sys

import pytest
from child import ROOT, Child, complete, of

sys.path.insert(0, str(ROOT / "scripts/gguf"))
import make_random_gguf as maker  # noqa: E402

VOCAB = 500  # of 512: the last are control tokens
ANSWER = 6


@pytest.fixture(scope="module", params=["tiny-llama", "tiny-qwen3"])
def pair(request, tmp_path_factory):
    """Two children with the same random model: one that is tested, one that only checks."""
    path = tmp_path_factory.mktemp("prefix") / "model.gguf"
    maker.build(maker.options(["--preset", request.param, "--type", "f32", "unwritten"])).writer.write(path)
    children = [Child("quince-llm", [path], options={"slots": 3}), Child("quince-llm", [path], options={"slots": 1})]
    yield children
    for child in children:
        assert child.stop() == 0


def answer(child, prompt, fresh=False):
    """The ids of a greedy answer, and how many tokens of the prompt were cached. A request for the
    prompt's own log-probabilities computes all of it anew."""
    events = child.run(complete(prompt, echo=fresh, max_tokens=ANSWER, temperature=0, ignore_eos=True, logprobs=0))
    ids = [t["id"] for e in of(events, "text") for t in e["logprobs"]]
    return ids[-ANSWER:], of(events, "usage")[0]["cached"]


@pytest.mark.parametrize("seed", range(3))
def test_the_cache_never_shows(pair, seed):
    tested, checker = pair
    rng = random.Random(seed)
    some = lambda n: [rng.randrange(VOCAB) for _ in range(n)]  # noqa: E731
    system = some(20)
    talks = [system + some(5) for _ in range(5)] + [some(3), some(1)]
    reused = 0
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for _ in range(12):
            turn = rng.sample(range(len(talks)), rng.choice([1, 1, 2, 4]))
            got = list(pool.map(lambda i: answer(tested, talks[i]), turn))
            for i, (ids, cached) in zip(turn, got):
                want, none = answer(checker, talks[i], fresh=True)
                assert none == 0
                assert ids == want, (i, len(talks[i]), cached)
                reused += cached
                if rng.random() < 0.25:  # go back and say something else
                    talks[i] = talks[i][:rng.randrange(1, len(talks[i]) + 1)] + some(4)
                else:
                    talks[i] = talks[i] + ids + some(rng.randrange(1, 12))
    assert reused > 100
