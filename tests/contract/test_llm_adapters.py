"""Adapters named at load and chosen by each job: answers must be those of a model into whose matrices
they have been merged, regardless of other jobs beside and before."""
import concurrent.futures
import sys

import pytest
from child import ROOT, Child, complete, of

sys.path[:0] = [str(ROOT / "scripts/gguf"), str(ROOT / "tests/golden")]
import make_random_adapter  # noqa: E402
import make_random_gguf as maker  # noqa: E402
import quants  # noqa: E402
from container import Reader  # noqa: E402
from reference.adapter import change  # noqa: E402

PROMPT = list(range(20, 60))
MIXES = {"none": [], "one": [["red", None]], "half": [[0, 0.5]], "both": [[1, -0.75], ["red", 1.5]]}
SCALES = {"none": (0, 0), "one": (1, 0), "half": (0.5, 0), "both": (1.5, -0.75)}


def model():
    return maker.build(maker.options(["--preset", "tiny-qwen3", "--type", "f32", "unwritten"])).writer


def merged(adapters, scales):
    """The model with the adapters in its matrices."""
    w = model()
    for i, (name, shape, kind, data) in enumerate(w.tensors):
        raw = b"".join(bytes(p) for p in data()) if callable(data) else bytes(quants.pack(data, kind))
        values = quants.unpack(raw, kind, shape).astype("f8")
        for f, scale in zip(adapters, scales):
            delta = change(f, name)
            values = values if delta is None else values + scale * delta
        w.tensors[i] = (name, shape, kind, values.astype("f4"))
    return w


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("adapters")
    model().write(folder / "model.gguf")
    for i, name in enumerate(("red", "blue")):
        make_random_adapter.build(folder / "model.gguf", 4 + i, "f32", 8.0, i).write(folder / f"{name}.gguf")
    return folder


@pytest.fixture(scope="module")
def llm(files):
    lora = [{"path": str(files / "red.gguf")}, {"path": str(files / "blue.gguf"), "name": "azure", "scale": 0}]
    child = Child("quince-llm", [files / "model.gguf"], options={"lora": lora})
    assert child.ready["msg"] == "ready", child.ready
    yield child
    assert child.stop() == 0


def job(lora=None, **fields):
    fields = {"max_tokens": 8, "temperature": 0, "ignore_eos": True, "logprobs": 0, **fields}
    return complete(PROMPT, **fields, **({} if lora is None else {"lora": lora}))


def answer(child, j):
    events = child.run(j)
    assert not of(events, "error"), events
    return [t["id"] for e in of(events, "text") for t in e["logprobs"]], of(events, "usage")[0]["cached"]


@pytest.fixture(scope="module")
def wanted(files):
    """What each mix should say: by models that have it merged."""
    adapters, said = [Reader(str(files / f"{name}.gguf")) for name in ("red", "blue")], {}
    for name, scales in SCALES.items():
        path = files / f"merged-{name}.gguf"
        merged(adapters, scales).write(path)
        child = Child("quince-llm", [path])
        said[name], _ = answer(child, job())
        assert child.stop() == 0
    assert len({tuple(ids) for ids in said.values()}) == len(said)
    return said


def test_answers_are_those_of_a_merged_model(llm, wanted):
    for turn in range(2):
        for name, mix in MIXES.items():
            ids, cached = answer(llm, job(mix))
            assert ids == wanted[name], name
            assert cached == (len(PROMPT) - 1 if turn else 0), name
    # The job does not say: as it was loaded, red at 1 and azure off.
    assert answer(llm, job()) == (wanted["one"], len(PROMPT) - 1)


def test_answers_with_and_without_share_steps(llm, wanted):
    names = list(MIXES) * 4
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda name: answer(llm, job(MIXES[name]))[0], names))
    assert got == [wanted[name] for name in names]


def test_choices_and_sampling_go_through_it(llm):
    one = llm.run(job(MIXES["both"], n=3, temperature=2.0, seed=5))
    two = llm.run(job(MIXES["both"], n=3, temperature=2.0, seed=5))
    plain = llm.run(job([], n=3, temperature=2.0, seed=5))
    text = lambda events: [e["text"] for i in range(3) for e in of(events, "text") if e["index"] == i]  # noqa: E731
    assert text(one) == text(two) != text(plain)


@pytest.mark.parametrize("lora, param, says", [
    ([[2, 1]], "lora[0]", "with id 2: the model has 0 red, 1 azure"),
    ([[0, 1], ["blue", 1]], "lora[1]", "named 'blue': the model has 0 red, 1 azure"),
    ([[0, 1], ["red", 1]], "lora[1]", "adapter 0 (red) is named twice"),
])
def test_wishes_that_cannot_be(llm, lora, param, says):
    error = of(llm.run(job(lora)), "error")[0]["error"]
    assert error["code"] == "invalid" and error["param"] == param and says in error["message"]


def test_a_model_without_adapters(files):
    child = Child("quince-llm", [files / "model.gguf"])
    answer(child, job([]))
    error = of(child.run(job([[0, 1]])), "error")[0]["error"]
    assert error["code"] == "invalid" and "loaded without any" in error["message"]
    assert child.stop() == 0


@pytest.mark.parametrize("lora, says", [
    ([{"path": "/nowhere/x.gguf"}], "/nowhere/x.gguf"),
    ([{"path": "MODEL"}], 'general.type is "model", not "adapter"'),
    ([{"path": "RED"}, {"path": "RED"}], "two adapters are named 'red'"),
])
def test_loads_that_cannot_be(files, lora, says):
    paths = {"MODEL": str(files / "model.gguf"), "RED": str(files / "red.gguf")}
    lora = [{"path": paths.get(a["path"], a["path"])} for a in lora]
    child = Child("quince-llm", [files / "model.gguf"], options={"lora": lora})
    assert child.ready["msg"] == "failed"
    error = child.ready["error"]
    assert error["code"] == "invalid" and error["param"] == "lora" and says in error["message"], error


def test_what_went_through_adapters_stays_off_the_disk(files, wanted):
    options = {"lora": [{"path": str(files / "red.gguf")}], "prefix_cache": str(files / "kept" / "model.prefix")}
    for turn in range(2):
        child = Child("quince-llm", [files / "model.gguf"], options=options)
        assert answer(child, job([])) == (wanted["none"], len(PROMPT) - 1 if turn else 0)
        assert answer(child, job([["red", 1]])) == (wanted["one"], 0)
        assert child.stop() == 0
