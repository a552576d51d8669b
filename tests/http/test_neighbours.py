"""An answer does not depend on the requests beside it nor on those before it: the same texts alone and with eight
neighbours, greedy and seeded, from a random model whose matrices are large enough for eight-bit activations."""
import concurrent.futures
import random
import sys

import pytest
from conftest import BUILD, QUICK, ROOT, THREAD_SANITIZED, Server

sys.path.insert(0, str(ROOT / "scripts/gguf"))
import make_random_gguf as maker  # noqa: E402

NEIGHBOURS = 8
PROMPTS = 40 if QUICK or THREAD_SANITIZED else 200
LARGE = [word for pair in ("layers=1", "vocab=512", "context=1024", "dim=1024", "ff=1024", "heads=8", "kv_heads=4",
                           "head_dim=128") for word in ("--set", pair)]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("neighbours")
    path = folder / "model.gguf"
    maker.build(maker.options(["--preset", "small-qwen3", "--type", "q4_k_m", *LARGE, "unwritten"])).writer.write(path)
    s = Server(folder / "data", BUILD / "bin", ROOT / "registry")
    s.register("user.random", path)
    yield s
    assert s.stop() == 0


def say(server, request):
    reply = server.post("/v1/completions", {"model": "user.random", **request})
    assert reply.status == 200, reply.body
    return reply.json["choices"][0]["text"]


def requests():
    """Half of them greedy; some begin as others do, so that their beginnings are found in the cache."""
    rng = random.Random(5)
    words = ["lorem", "ipsum", "dolor", "sit", "amet", "42", "?", "(x)", "y = 1;"]
    beginnings = [" ".join(rng.choices(words, k=12)) for _ in range(4)]
    for i in range(PROMPTS):
        prompt = rng.choice(beginnings) if i % 3 == 0 else ""
        prompt += " ".join(rng.choices(words, k=rng.randrange(1, 16)))
        fields = {"prompt": prompt, "max_tokens": rng.randrange(4, 16)}
        yield {**fields, "temperature": 0} if i % 2 else {**fields, "temperature": 1.2, "seed": i}


@pytest.mark.release
def test_texts_are_the_same_alone_and_beside_neighbours(server):
    asked = list(requests())
    alone = [say(server, request) for request in asked]
    again = list(reversed(list(enumerate(asked))))
    with concurrent.futures.ThreadPoolExecutor(NEIGHBOURS + 1) as pool:
        beside = dict(pool.map(lambda job: (job[0], say(server, job[1])), again))
    others = [i for i, text in enumerate(alone) if beside[i] != text]
    assert not others, [(asked[i], alone[i], beside[i]) for i in others[:3]]
    assert len(set(alone)) > PROMPTS // 4
