"""Chat templates through our interpreter and Python's jinja2: the same text, or an error in both.

The real ones (QUINCE_TEST_DATA/templates) are rendered with every conversation and every option of
conversations.json, and a tool of every shape; beside them stand snippets, each with something that templates of
known models contain, and generated templates.
"""
import json
import os
import pathlib

import pytest

import made
import oracle

HERE = pathlib.Path(__file__).parent
DATA = os.environ.get("QUINCE_TEST_DATA")
FILES = sorted((pathlib.Path(DATA) / "templates").glob("*.jinja")) if DATA else []
GENERATED = 5000 if os.environ.get("QUINCE_TEST_ALL") == "1" else 1500
BLOCK = 500  # generated templates of one test
SEED = int(os.environ.get("QUINCE_TEST_SEED", "1"))


def tools_of_every_shape():
    """Parameters as clients write them: without types, with several, with none as default."""
    shapes = {
        "none": {"type": "string", "default": None},
        "any": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "types": {"type": ["string", "null"], "description": "a"},
        "bare": {},
        "list": {"type": "array", "items": {"type": ["integer", "string"]}},
        "enum": {"enum": [1, "a", None, 2.5]},
        "one": {"oneOf": [{"type": "integer"}, {"type": "object", "properties": {"x": {}}}]},
    }
    return [{"type": "function", "function": {"name": name, "description": None, "parameters": {
        "type": "object", "properties": {name: shape}, "required": [name]}}} for name, shape in shapes.items()]


def cases():
    data = json.loads((HERE / "conversations.json").read_text())
    options = dict(data["options"])
    for tool in tools_of_every_shape():
        options["tool " + tool["function"]["name"]] = {"tools": [tool], "add_generation_prompt": True}
    for messages in data["conversations"].values():
        for chosen in options.values():
            yield {"messages": messages, "bos_token": "<s>", "eos_token": "</s>", **chosen}


def judge(requests):
    wrong = [f"{source[:2000]}\nwith {json.dumps(variables)[:2000]}\n{found[:4000]}"
             for _, source, variables, found in oracle.compare(requests)]
    assert not wrong, f"{len(wrong)} of {len(requests)} differ, first:\n" + "\n\n".join(wrong[:3])


@pytest.mark.skipif(not FILES, reason="QUINCE_TEST_DATA has no templates")
@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_real(path):
    source = path.read_text()
    judge([(source, variables) for variables in cases()])


# Names of the snippets beside those of generated templates.
SNIPPET_VARIABLES = {
    "i": 5, "list": [{"n": "x", "v": 1}, {"n": "y", "v": 2}, {"n": "X"}], "o": {"b": 1, "a": {"x": [1, "y"]}},
    "emo": "a\U0001f600b \u00e9",
}


def test_snippets():
    lines = (HERE / "snippets.txt").read_text().split("\n")
    variables = {**made.VARIABLES, **SNIPPET_VARIABLES}
    judge([(line.replace("\u23ce", "\n"), variables) for line in lines if line and not line.startswith("##")])


@pytest.mark.parametrize("first", range(0, GENERATED, BLOCK))
def test_generated(first):
    judge([made.template(SEED * 1000003 + i) for i in range(first, first + BLOCK)])
