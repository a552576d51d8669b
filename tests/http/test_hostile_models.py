"""Model files that are spoilt, foreign or malicious, through the whole house: each is refused with a
message that names what is wrong, and the server goes on serving the others."""
import os
import struct
import sys

import numpy as np
import pytest
from cli_kit import Cli
from conftest import BUILD, ROOT, Server, wait_until

sys.path.insert(0, str(ROOT / "scripts/gguf"))
import make_random_gguf as maker  # noqa: E402
from container import ARR, F32, I32, STR, U32  # noqa: E402

CHAT = "tokenizer.chat_template"
TOKENS = "tokenizer.ggml.tokens"


def writer(preset="tiny-llama", kind="f32", *more):
    """A small random model that is in order, not written yet: a writer with .meta and .tensors."""
    return maker.build(maker.options(["--preset", preset, "--type", kind, *more, "unwritten"])).writer


def tensor(w, name, shape=None, kind=None, values=None):
    """Puts other facts or values in the place of a tensor."""
    for i, (n, s, k, data) in enumerate(w.tensors):
        if n == name:
            s, k = shape or s, kind or k
            if values is None:
                data = np.full(s, 0.01, np.float32)
            else:
                data = np.full(s, values, np.float32)
            w.tensors[i] = (n, tuple(s), k, data)
            return
    raise KeyError(name)


def without(*keys):
    def spoil(w):
        for key in keys:
            del w.meta[key]
    return spoil


def meta(key, kind, value):
    def spoil(w):
        w.meta[key] = (kind, value)
    return spoil


def more_tokens(w):
    kind, (item, tokens) = w.meta[TOKENS]
    w.meta[TOKENS] = (kind, (item, tokens + ["extra%d" % i for i in range(40)]))
    kind, (item, types) = w.meta["tokenizer.ggml.token_type"]
    w.meta["tokenizer.ggml.token_type"] = (kind, (item, types + [1] * 40))


def fewer_types(w):
    kind, (item, types) = w.meta["tokenizer.ggml.token_type"]
    w.meta["tokenizer.ggml.token_type"] = (kind, (item, types[:-1]))


def drop_tensor(w):
    w.tensors = [t for t in w.tensors if t[0] != "blk.1.ffn_up.weight"]


def extra_tensor(w):
    w.add("blk.0.ffn_gate_exps.weight", (4, 64), "f32", np.zeros((4, 64), np.float32))


def wrong_shape(w):
    tensor(w, "blk.0.attn_q.weight", shape=(64, 32))


def vector_as_blocks(w):
    tensor(w, "blk.0.attn_norm.weight", kind="q8_0")


def merge_of_strangers(w):
    w.meta["tokenizer.ggml.merges"] = (ARR, (STR, ["no-such-token and-another"]))


# name, what spoils the model before it is written, words the message must have
METADATA = [
    ("no architecture", without("general.architecture"), ["general.architecture"]),
    ("unknown architecture", meta("general.architecture", STR, "mamba9"), ["mamba9"]),
    ("architecture is no text", meta("general.architecture", U32, 7), ["general.architecture", "string"]),
    ("no layers", meta("llama.block_count", U32, 0), ["llama.block_count", "0"]),
    ("too many layers", meta("llama.block_count", U32, 4_000_000_000), ["llama.block_count", "4000000000"]),
    ("one layer too many", meta("llama.block_count", U32, 3), ["blk.2."]),
    ("context of 0", meta("llama.context_length", U32, 0), ["llama.context_length", "0"]),
    ("context of 2^31", meta("llama.context_length", U32, 1 << 31), ["llama.context_length", "2147483648"]),
    ("no context", without("llama.context_length"), ["llama.context_length"]),
    ("no heads", meta("llama.attention.head_count", U32, 0), ["llama.attention.head_count"]),
    ("uneven heads", meta("llama.attention.head_count_kv", U32, 3), ["3"]),
    ("width is text", meta("llama.embedding_length", STR, "64"), ["llama.embedding_length", "integer"]),
    ("width of another model", meta("llama.embedding_length", U32, 128), ["shape", "128"]),
    ("epsilon is not a number", meta("llama.attention.layer_norm_rms_epsilon", F32, float("nan")), ["epsilon"]),
    ("rotary base is infinite", meta("llama.rope.freq_base", F32, float("inf")), ["freq_base"]),
    ("unknown rotary scaling", meta("llama.rope.scaling.type", STR, "sideways"), ["sideways"]),
    ("experts", meta("llama.expert_count", U32, 8), ["experts"]),
    ("no vocabulary", without(TOKENS), [TOKENS]),
    ("no tokenizer", without("tokenizer.ggml.model"), ["tokenizer.ggml.model"]),
    ("no merges", without("tokenizer.ggml.merges"), ["tokenizer.ggml.merges"]),
    ("merges of strangers", merge_of_strangers, ["merge"]),
    ("unknown tokenizer", meta("tokenizer.ggml.model", STR, "runes"), ["runes"]),
    ("unknown pre-tokenizer", meta("tokenizer.ggml.pre", STR, "cuneiform"), ["cuneiform"]),
    ("vocabulary is numbers", meta(TOKENS, ARR, (I32, [1, 2, 3])), [TOKENS, "strings"]),
    ("vocabulary is empty", meta(TOKENS, ARR, (STR, [])), [TOKENS]),
    ("more tokens than rows", more_tokens, ["552", "512"]),
    ("types of another vocabulary", fewer_types, ["token_type", "512"]),
    ("end token out of range", meta("tokenizer.ggml.eos_token_id", U32, 99999), ["eos_token_id", "99999"]),
    ("start token out of range", meta("tokenizer.ggml.bos_token_id", U32, 512), ["bos_token_id", "512"]),
    ("template is a number", meta(CHAT, U32, 3), [CHAT, "string"]),
    ("alignment of 24", meta("general.alignment", U32, 24), ["alignment"]),
    ("sampling out of range", meta("general.sampling.temp", F32, -3.0), ["general.sampling.temp"]),
    ("a tensor is missing", drop_tensor, ["blk.1.ffn_up.weight"]),
    ("a tensor too many", extra_tensor, ["blk.0.ffn_gate_exps.weight"]),
    ("a tensor's shape", wrong_shape, ["blk.0.attn_q.weight", "32"]),
    ("a vector's type", vector_as_blocks, ["blk.0.attn_norm.weight", "Q8_0", "F16"]),
]


def cut(share):
    return lambda raw: raw[:int(len(raw) * share)]


def at(offset, fmt, value):
    def spoil(raw):
        size = struct.calcsize(fmt)
        return raw[:offset] + struct.pack(fmt, value) + raw[offset + size:]
    return spoil


def entry_of(raw, name):
    """Where a tensor's entry has its number of dimensions."""
    name = name.encode()
    return raw.index(struct.pack("<Q", len(name)) + name) + 8 + len(name)


def entry(name, skip, fmt, value):
    return lambda raw: at(entry_of(raw, name) + skip, fmt, value)(raw)


def first_key(raw):
    return raw.index(b"general.architecture") - 8


# name, what spoils the file's bytes, words the message must have
BYTES = [
    ("empty", lambda raw: b"", ["empty"]),
    ("only a magic", lambda raw: b"GGUF", ["header"]),
    ("text", lambda raw: b"<html>404 not found</html>" * 40, ["GGUF"]),
    ("cut in the metadata", cut(0.005), ["unfinished download"]),
    ("cut in the weights", cut(0.6), ["download", "blk."]),
    ("cut by one byte", lambda raw: raw[:-33], ["cut off"]),
    ("version 1", at(4, "<I", 1), ["version 1"]),
    ("big-endian", at(4, ">I", 3), ["big-endian"]),
    ("a world of tensors", at(8, "<Q", 1 << 62), ["tensors"]),
    ("a world of metadata", at(16, "<Q", (1 << 64) - 1), ["metadata"]),
    ("a key without end", lambda raw: at(first_key(raw), "<Q", 1 << 60)(raw), ["metadata", "key"]),
    ("an array without end",
     lambda raw: at(raw.index(TOKENS.encode()) + len(TOKENS) + 8, "<Q", 1 << 61)(raw), [TOKENS]),
    ("unknown tensor type", entry("blk.0.attn_q.weight", 20, "<I", 16), ["blk.0.attn_q.weight", "IQ2_XXS"]),
    ("type from the future", entry("blk.0.attn_q.weight", 20, "<I", 4711), ["blk.0.attn_q.weight", "4711"]),
    ("rows are no whole blocks", entry("blk.0.attn_q.weight", 20, "<I", 12), ["blk.0.attn_q.weight", "256"]),
    ("dimensions that overflow", entry("blk.0.attn_q.weight", 4, "<Q", 1 << 62), ["blk.0.attn_q.weight"]),
    ("nine dimensions", entry("blk.0.attn_q.weight", 0, "<I", 9), ["blk.0.attn_q.weight", "9"]),
    ("data far away", entry("blk.0.attn_q.weight", 24, "<Q", 1 << 50), ["blk.0.attn_q.weight"]),
    ("data at an odd place", entry("blk.0.attn_q.weight", 24, "<Q", 1), ["blk.0.attn_q.weight", "multiple"]),
]


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "models").mkdir()
    (folder / "models/models.json").write_text("{}")
    server = Server(folder / "data", BUILD / "bin", folder / "models")
    server.folder = folder
    writer().write(folder / "good.gguf")
    server.register("user.good", folder / "good.gguf")
    yield server
    assert works(server)
    assert server.stop() == 0
    log = server.logs()
    assert "Sanitizer" not in log and "runtime error" not in log and "ssertion" not in log, log[-4000:]


def works(server):
    reply = server.chat("user.good", max_tokens=3, temperature=0)
    return reply.status == 200 and reply.json["usage"]["completion_tokens"] >= 1


def refused(server, name, path, words, **fields):
    """Registering, loading or the first answer must fail, in words that say why."""
    model = "user." + name.replace(" ", "-").replace("^", "").replace("'", "")
    reply = server.post("/v1/models/register", {"model_name": model, "checkpoint": str(path), "recipe": "llamacpp"})
    if reply.status == 200:
        reply = server.chat(model, max_tokens=4, **fields)
    assert 400 <= reply.status < 600, reply.body
    message = reply.json["error"]["message"]
    for word in words:
        assert word.lower() in message.lower(), message
    assert path.name in message or "general.architecture" in words, message
    assert "exited" not in message and "signal" not in message, message
    return reply


@pytest.mark.parametrize("name,spoil,words", METADATA, ids=[c[0] for c in METADATA])
def test_spoilt_model(house, name, spoil, words):
    w = writer()
    spoil(w)
    path = house.folder / (name.replace(" ", "-") + ".gguf")
    w.write(path)
    refused(house, name, path, words)


@pytest.mark.parametrize("name,spoil,words", BYTES, ids=[c[0] for c in BYTES])
def test_spoilt_bytes(house, name, spoil, words):
    path = house.folder / (name.replace(" ", "-") + ".gguf")
    path.write_bytes(spoil((house.folder / "good.gguf").read_bytes()))
    refused(house, name, path, words)


def good(house, name, spoil=lambda w: None, kind="f32", preset="tiny-llama"):
    """Registers a model that loads, whatever it does later; its name."""
    w = writer(preset, kind)
    spoil(w)
    path = house.folder / (name + ".gguf")
    w.write(path)
    return house.register("user." + name, path)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 3e38])
@pytest.mark.parametrize("where", ["output_norm.weight", "blk.0.attn_norm.weight", "blk.0.attn_v.weight",
                                   "token_embd.weight", "blk.1.ffn_down.weight"])
def test_weights_that_are_no_numbers(house, value, where):
    model = good(house, f"broken-{value}-{where}", lambda w: tensor(w, where, values=value))
    for temperature in (0, 1):
        reply = house.chat(model, max_tokens=3, temperature=temperature, logprobs=True, top_logprobs=3)
        if reply.status == 200 and value == 3e38:
            continue  # large is not wrong in itself: some places are normalised
        assert reply.status == 500 and "damaged" in reply.json["error"]["message"], reply.body


TEMPLATES = [
    ("loops in loops", "{% for i in range(9999) %}{% for k in range(9999) %}{% endfor %}{% endfor %}", ["template"]),
    ("floods", "{% for i in range(99999) %}{{ 'flood' * 9999 }}{% endfor %}", ["template"]),
    ("recurs", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", ["template"]),
    ("grows", "{% set ns = namespace(s='x') %}{% for i in range(64) %}{% set ns.s = ns.s + ns.s %}{% endfor %}", ["template"]),
]


@pytest.mark.parametrize("name,source,words", TEMPLATES, ids=[t[0] for t in TEMPLATES])
def test_templates_that_misbehave(house, name, source, words):
    model = good(house, "template-" + name.replace(" ", "-"), meta(CHAT, STR, source))
    reply = house.chat(model, max_tokens=2)
    assert 400 <= reply.status < 501, reply.body
    assert all(word in reply.json["error"]["message"].lower() or word in reply.json["error"]["message"]
               for word in words), reply.body
    # The model itself is in order: raw prompts do not need the template.
    reply = house.post("/v1/completions", {"model": model, "prompt": "the", "max_tokens": 2})
    assert reply.status == 200, reply.body


# Templates that fail at an ordinary conversation: a built-in form takes over, here ChatML's.
FAILING = [
    ("does not compile", "{% for m in messages %}{{ m"),
    ("unknown filter", "{{ messages | nope }}"),
    ("range too big", "{% for i in range(99999999) %}{% endfor %}"),
    ("calls", "{{ messages() }}"),
    ("throws", "{{ raise_exception('Conversation roles must alternate') }}"),
]


@pytest.mark.parametrize("name,source", FAILING, ids=[t[0] for t in FAILING])
def test_a_template_that_fails_is_replaced_by_a_builtin_form(house, name, source):
    model = good(house, "failing-" + name.replace(" ", "-"), meta(CHAT, STR, source))
    reply = house.chat(model, max_tokens=2)
    assert reply.status == 200, reply.body
    builtin = house.chat(good(house, "failing-no-template", without(CHAT)), max_tokens=2)
    assert reply.json["usage"]["prompt_tokens"] == builtin.json["usage"]["prompt_tokens"]


@pytest.mark.parametrize("name,source,words", [
    ("compile", "{% for m in messages %}{{ m", "is not used, but a built-in form: chat template, line 1"),
    ("throw", "{{ raise_exception('not ' ~ messages[0].content) }}", "failed at a conversation, and a built-in form"),
])
def test_a_template_that_gave_way_is_shown(house, tmp_path, name, source, words):
    """In the model's JSON and by `quince show` in 80 columns, until the model is unloaded. No text of a conversation
    is in it, since others than its author may read it."""
    model = good(house, "shown-" + name, meta(CHAT, STR, source))
    entry = lambda: house.get("/v1/models/" + model).json
    assert "template_warning" not in entry()
    assert house.chat(model, content="my secret", max_tokens=2).status == 200
    wait_until(lambda: "template_warning" in entry(), what="the warning")
    assert words in entry()["template_warning"] and "secret" not in entry()["template_warning"]
    assert house.post("/api/show", {"model": model}).json["template_warning"] == entry()["template_warning"]
    shown = Cli(tmp_path, house.port)("show", model)
    assert shown.returncode == 0, shown.err
    lines = shown.out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("Warning"))
    text = [lines[at][14:]]
    for line in lines[at + 1:]:
        if not line.startswith(" " * 14):
            break
        text.append(line.strip())
    assert " ".join(text) == entry()["template_warning"]
    assert len(text) > 1 and all(len(line) <= 66 for line in text), text
    assert house.post("/v1/unload", {"model": model}).status == 200
    assert "template_warning" not in entry()


def test_a_template_that_works_is_not_warned_of(house):
    assert house.chat(good(house, "no-warning"), max_tokens=2).status == 200
    assert "template_warning" not in house.get("/v1/models/user.no-warning").json


def test_what_a_template_refuses_on_purpose_is_refused(house):
    source = "{% for m in messages if m.role == 'wizard' %}{{ raise_exception('no wizards') }}{% endfor %}x"
    model = good(house, "no-wizards", meta(CHAT, STR, source))
    reply = house.post("/v1/chat/completions", {
        "model": model, "max_tokens": 2, "messages": [{"role": "wizard", "content": "a"}]})
    assert reply.status == 400, reply.body


# What templates of known models hold, and other interpreters than Python's get wrong: the length of the
# prompt is that of the text that jinja2 makes of it (the tokenizer of these models has no merges over it).
CONSTRUCTS = [
    ("integer keys", "{{ {512: 'abc'}[512] }}", "abc"),
    ("str.format", "{{ '{}-{}'.format('abc', 1) }}", "abc-1"),
    ("undefined length", "{{ nothing | length }}", "0"),
    ("dict as string", "{{ {'a': 1} | string }}", "{'a': 1}"),
    ("selectattr of none", "{% for t in none | selectattr('x') %}{% endfor %}y", "y"),
    ("str times int", "{{ 'ab' * 3 }}", "ababab"),
    ("none as string", "{{ none | string }}", "None"),
    ("undefined upper", "{{ nothing | upper }}z", "z"),
    ("list upper", "{{ ['a'] | upper }}", "['A']"),
    ("list in list", "{{ ['a'] in [['a']] }}", "True"),
    ("none in list", "{{ none in ['a', none] }}", "True"),
    ("min", "{{ [3, 1, 2] | min }}", "1"),
    ("loop over undefined", "{% for x in nothing %}{% else %}none{% endfor %}", "none"),
    ("lstrip of newlines", "{{ '\n\n  x'.lstrip('\n') }}", "  x"),
    ("none printed", "{{ none }}", "None"),
]


@pytest.mark.parametrize("name,source,text", CONSTRUCTS, ids=[t[0] for t in CONSTRUCTS])
def test_constructs_of_known_templates(house, name, source, text):
    def prompt_of(template):
        model = good(house, "construct", meta(CHAT, STR, template))
        reply = house.chat(model, max_tokens=1, temperature=0, logprobs=True, top_logprobs=5)
        assert reply.status == 200, reply.body
        house.post("/v1/unload", {"model": model})
        return reply.json["usage"]["prompt_tokens"], reply.json["choices"][0]["logprobs"]["content"][0]["top_logprobs"]

    assert prompt_of(source) == prompt_of("{% raw %}" + text + "{% endraw %}")


def test_a_model_without_a_chat_template_chats(house):
    chatml = good(house, "no-template", without(CHAT))
    reply = house.chat(chatml, max_tokens=2)
    assert reply.status == 200, reply.body
    assert house.chat("user.good", max_tokens=2).json["usage"]["prompt_tokens"] == reply.json["usage"]["prompt_tokens"]

    def plain(w):
        del w.meta[CHAT]
        kind, (item, tokens) = w.meta[TOKENS]
        tokens = [t.replace("<|im_", "<|other_") for t in tokens]
        w.meta[TOKENS] = (kind, (item, tokens))

    reply = house.chat(good(house, "no-template-at-all", plain), max_tokens=2)
    assert reply.status == 200, reply.body


def test_odd_texts_in_metadata(house):
    def spoil(w):
        kind, (item, tokens) = w.meta[TOKENS]
        first = tokens.index(next(t for t in tokens if t.startswith("[PAD")))
        tokens[first:first + 6] = ["", "\0", "a\0b", b"\xff\xfe", "\u2581", "x" * 9000]
        w.meta[TOKENS] = (kind, (item, tokens))
        w.meta["general.name"] = (STR, b"\xff\xfe\x01\"\\\n" + "ü".encode() * 4000)
    model = good(house, "odd-texts", spoil)
    reply = house.chat(model, max_tokens=30, temperature=2, top_k=0, top_p=1, min_p=0,
                       logprobs=True, top_logprobs=20, ignore_eos=True)
    assert reply.status == 200, reply.body
    assert reply.json
    assert any(m["id"] == model for m in house.get("/v1/models").json["data"])


def test_a_context_that_no_memory_holds(house):
    model = good(house, "greedy-context", meta("llama.context_length", U32, 1 << 24))
    reply = house.post("/v1/load", {"model_name": model, "ctx_size": 1 << 24})
    if reply.status != 200:
        assert "context" in reply.json["error"]["message"], reply.body
    assert works(house)


def test_the_file_shrinks_while_the_model_runs(house):
    model = good(house, "shrinks", preset="small-llama", kind="f16")  # used where the file has it
    path = house.folder / "shrinks.gguf"
    copy = path.read_bytes()
    assert house.chat(model, max_tokens=2).status == 200
    pids = house.children()
    os.truncate(path, 4096)
    reply = house.chat(model, "".join(chr(33 + i) for i in range(90)), max_tokens=60, ignore_eos=True)
    if reply.status != 200:
        message = reply.json["error"]["message"]
        assert reply.status in (500, 502, 503) and ("file" in message or "cut off" in message), reply.body
    wait_until(lambda: "model file became shorter" in house.logs(), what="the process's last words")
    assert house.get("/live").status == 200
    wait_until(lambda: works(house), what="another model answers")
    path.write_bytes(copy)
    reply = house.chat(model, max_tokens=2)
    assert reply.status == 200, reply.body
    assert house.children() != pids


def test_the_file_vanishes_before_a_second_load(house):
    model = good(house, "vanishes")
    assert house.chat(model, max_tokens=2).status == 200
    assert house.post("/v1/unload", {"model_name": model}).status == 200
    os.unlink(house.folder / "vanishes.gguf")
    reply = house.chat(model, max_tokens=2)
    assert reply.status in (404, 409, 500) and "vanishes.gguf" in reply.json["error"]["message"], reply.body
    assert works(house)
