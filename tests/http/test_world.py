"""What exists in the world: variants of a repository, searches, the built-in list. A hub of the tests' own
answers; the shapes are those of Lemonade's document and of its newer versions."""
import json
import socket
import threading

import pytest
from conftest import ROOT, Server, gguf, wait_until
from hub_others import ModelScope, OllamaRegistry
from hub_server import TOKEN
from shapes import check
from test_found import put_hf

SEED_VARIANTS = {
    "checkpoint": "unsloth/Qwen3-8B-GGUF",
    "recipe": "llamacpp",
    "suggested_name": "Qwen3-8B-GGUF",
    "suggested_labels": ["vision"],
    "mmproj_files": ["mmproj-model-f16.gguf"],
    "variants": [
        {"name": "Q4_K_M", "primary_file": "Qwen3-8B-Q4_K_M.gguf", "files": ["Qwen3-8B-Q4_K_M.gguf"],
         "sharded": False, "size_bytes": 4920},
        {"name": "Q8_0", "primary_file": "Q8_0/Qwen3-8B-Q8_0-00001-of-00002.gguf",
         "files": ["Q8_0/Qwen3-8B-Q8_0-00001-of-00002.gguf", "Q8_0/Qwen3-8B-Q8_0-00002-of-00002.gguf"],
         "sharded": True, "size_bytes": 8500},
    ],
}


def world(house, hub, *args):
    return house.start("--hf-endpoint", hub.url, "--modelscope-endpoint", hub.url, "--ollama-registry", hub.url, *args)


def seed_repo(hub):
    hub.repo("unsloth/Qwen3-8B-GGUF", {
        ".gitattributes": b"x", "README.md": b"words",
        "Qwen3-8B-Q4_K_M.gguf": b"a" * 4920,
        "Q8_0/Qwen3-8B-Q8_0-00001-of-00002.gguf": b"b" * 8000,
        "Q8_0/Qwen3-8B-Q8_0-00002-of-00002.gguf": b"c" * 500,
        "mmproj-model-f16.gguf": b"d", "mtp-Qwen3-8B.gguf": b"e"})


def test_the_seeds_variants(house, hub):
    seed_repo(hub)
    server = world(house, hub)
    for prefix in ("/api/v1", "/v1"):
        reply = server.get(f"{prefix}/pull/variants?checkpoint=unsloth/Qwen3-8B-GGUF")
        assert reply.status == 200, reply.body
        got = reply.json
        for name, value in SEED_VARIANTS.items():
            if name == "variants":
                assert [{k: v[k] for k in value[0]} for v in got[name]] == value
            else:
                assert got[name] == value
    assert got["source"] == "huggingface" and got["repo_kind"] == "gguf"
    assert got["draft_files"] == ["mtp-Qwen3-8B.gguf"]
    assert [v["fits"] for v in got["variants"]] == [True, True]
    # What is echoed is what was asked for; the variant in it does not narrow the list.
    reply = server.get("/v1/pull/variants?checkpoint=hf.co%2Funsloth%2FQwen3-8B-GGUF%3AQ8_0").json
    assert reply["checkpoint"] == "hf.co/unsloth/Qwen3-8B-GGUF:Q8_0" and len(reply["variants"]) == 2


def test_what_a_hub_says_of_a_repository(house, hub):
    card = {"tags": ["gguf", "license:apache-2.0"],
            "gguf": {"architecture": "qwen3", "context_length": 40960, "total": 8190735360}}
    hub.repo("o/known", {"m-Q4_0.gguf": b"x"}, **card)
    hub.repo("o/strange", {"m-Q4_0.gguf": b"x"}, gguf={"architecture": "rwkv9"}, tags=["license:"])
    hub.repo("o/odd", {"m-Q4_0.gguf": b"x"}, gguf={"architecture": 5, "context_length": "many"}, tags="license:mit")
    hub.repo("o/vectors-embedding", {"m-Q4_0.gguf": b"x"}, **card | {"pipeline_tag": "feature-extraction"})
    server = world(house, hub)

    def variants(name):
        return server.get(f"/v1/pull/variants?checkpoint=o/{name}").json
    known = variants("known")
    assert (known["license"], known["architecture"], known["context_length"]) == ("apache-2.0", "qwen3", 40960)
    assert known["unsupported"] is None
    strange = variants("strange")
    assert strange["license"] is None and "architecture" in strange["unsupported"]
    assert "llamacpp:llama-server" in strange["unsupported"]  # what can be done
    odd = variants("odd")
    assert (odd["license"], odd["architecture"], odd["context_length"], odd["unsupported"]) == (None, None, None, None)
    assert "embeddings" in variants("vectors-embedding")["unsupported"]
    found = {r["repository_id"]: r["license"] for r in server.get("/v1/registry/search?query=known").json["results"]}
    assert found == {"o/known": "apache-2.0"}


def test_variants_are_capped_and_ranked(house, hub):
    names = ["IQ4_NL", "Q2_K", "Q3_K_S", "Q4_0", "Q4_K_M", "Q5_K_M", "Q8_0", "UD-Q4_K_XL"]
    hub.repo("o/many", {f"m-{n}.gguf": b"x" for n in names})
    server = world(house, hub)
    ranked = ["Q4_K_M", "UD-Q4_K_XL", "Q8_0", "Q4_0", "IQ4_NL", "Q2_K", "Q3_K_S", "Q5_K_M"]
    for query, expected in [("", ranked[:5]), ("&limit=2", ranked[:2]), ("&limit=all", ranked)]:
        reply = server.get("/v1/pull/variants?checkpoint=o/many" + query).json
        assert [v["name"] for v in reply["variants"]] == expected
        assert reply["variants_total"] == 8
    assert server.get("/v1/pull/variants?checkpoint=o/many&limit=0").status == 400


def test_what_does_not_fit(house, hub):
    hub.repo("o/r", {"m-Q4_0.gguf": b"x" * 1000})
    server = world(house, hub, "--memory-limit", "1")
    assert server.get("/v1/pull/variants?checkpoint=o/r").json["variants"][0]["fits"] is False


@pytest.mark.parametrize("query, part", [
    ("", "checkpoint"),
    ("?checkpoint=", "checkpoint"),
    ("?checkpoint=no-owner", "owner/repo"),
    ("?checkpoint=a/b/../c", "file"),
    ("?checkpoint=https://example.com/x.gguf", "repository"),
    ("?checkpoint=/etc/passwd", "repository"),
    ("?checkpoint=o/r&source=nowhere", "source"),
])
def test_malformed_checkpoints(house, hub, query, part):
    server = world(house, hub)
    reply = server.get("/api/v1/pull/variants" + query)
    assert reply.status == 400, reply.body
    assert part in reply.json["error"]["message"]
    assert not hub.log


def test_a_repository_that_is_not_there(house, hub):
    seed_repo(hub)
    server = world(house, hub)
    reply = server.get("/api/v1/pull/variants?checkpoint=unsloth/Qwen3-8B")
    assert reply.status == 404
    assert "did you mean unsloth/Qwen3-8B-GGUF" in reply.json["error"]["message"]
    reply = server.get("/api/v1/pull/variants?checkpoint=unsloth/Qwen3-8B-GGUF@v7")
    assert reply.status == 404 and "v7" in reply.json["error"]["message"]
    hub.repo("o/words", {"README.md": b"x"})
    reply = server.get("/api/v1/pull/variants?checkpoint=o/words")
    assert reply.status == 500 and "no model files" in reply.json["error"]["message"]


@pytest.mark.parametrize("fault, status", [
    ({"status": 403}, 404), ({"status": 500}, 500), ({"status": 429}, 429), ({"body": b"<html>"}, 500),
    ({"body": b"[]"}, 500), ({"body": b'{"sha":"..","siblings":[]}'}, 500),
])
def test_a_hub_that_fails(house, hub, fault, status):
    hub.repo("o/r", {"m.gguf": b"x"})
    server = world(house, hub)
    hub.fault("/api/models/o/r", **fault)
    reply = server.get("/api/v1/pull/variants?checkpoint=o/r")
    assert reply.status == status, reply.body
    assert reply.json["error"]["message"]
    assert len(hub.log) <= 4  # it is asked again, but not for long


def test_no_hub_at_all(house):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{s.getsockname()[1]}"
    server = house.start("--hf-endpoint", address)
    reply = server.get("/api/v1/pull/variants?checkpoint=o/r")
    assert reply.status == 500 and "127.0.0.1" in reply.json["error"]["message"]


def test_gated_repositories_and_the_token(house, hub):
    hub.repo("o/gated", {"m-Q4_0.gguf": b"x"}, gated="manual")
    hub.repo("o/private", {"m-Q4_0.gguf": b"x"}, private=True)
    server = world(house, hub)
    assert server.get("/v1/pull/variants?checkpoint=o/gated").json["gated"] is True
    reply = server.get("/v1/pull/variants?checkpoint=o/private")
    assert reply.status == 404 and "HF_TOKEN" in reply.json["error"]["message"]
    assert "Authorization" not in hub.log[-1].headers
    # The token file of huggingface_hub, in the home folder that the tests' servers have.
    token = server.data_dir / "home/.cache/huggingface/token"
    token.parent.mkdir(parents=True)
    token.write_text(TOKEN + "\n")
    server.stop()
    again = Server(server.data_dir, house.backend_dir, house.models_dir, ["--hf-endpoint", hub.url])
    house.servers.append(again)
    assert again.get("/v1/pull/variants?checkpoint=o/private").status == 200
    assert hub.log[-1].headers["Authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in again.logs()


def test_pulling_what_is_gated(house, hub):
    hub.repo("o/gated", {"m-Q4_0.gguf": b"x" * 100}, gated="manual")
    server = world(house, hub)
    reply = server.post("/v1/pull", {"model_name": "user.g", "checkpoint": "o/gated:Q4_0", "recipe": "llamacpp"})
    assert reply.status == 400, reply.body
    assert "HF_TOKEN" in reply.json["message"] and "https://huggingface.co/o/gated" in reply.json["message"]
    assert not hub.requests("m-Q4_0.gguf")  # nothing was tried
    # A token of a user without access to it.
    token = server.data_dir / "home/.cache/huggingface/token"
    token.parent.mkdir(parents=True, exist_ok=True)
    token.write_text("hf_other")
    server.stop()
    again = Server(server.data_dir, house.backend_dir, house.models_dir, ["--hf-endpoint", hub.url])
    house.servers.append(again)
    reply = again.post("/v1/pull", {"model_name": "user.g", "checkpoint": "o/gated:Q4_0", "recipe": "llamacpp"})
    assert reply.status == 400, reply.body
    assert "agree to its conditions" in reply.json["message"]


def test_offline_makes_no_request(house, hub):
    seed_repo(hub)
    server = world(house, hub, "--offline")
    for path in ("pull/variants?checkpoint=unsloth/Qwen3-8B-GGUF", "registry/search?query=qwen3"):
        reply = server.get("/v1/" + path)
        assert reply.status == 400, reply.body
        assert reply.json["error"]["code"] == "lemond_offline"
    assert server.post("/v1/models/check-updates", {}).status == 409
    assert not hub.log


def test_modelscope(house, hub):
    ms = ModelScope(hub)
    ms.repo("Qwen/Qwen3-8B-GGUF", {"Qwen3-8B-Q4_K_M.gguf": b"a" * 100, "sub/mmproj-F16.gguf": b"b"})
    server = world(house, hub)
    for query in ("checkpoint=modelscope.cn/Qwen/Qwen3-8B-GGUF", "checkpoint=Qwen/Qwen3-8B-GGUF&source=modelscope"):
        got = server.get("/v1/pull/variants?" + query).json
        assert got["source"] == "modelscope"
        assert [(v["name"], v["size_bytes"]) for v in got["variants"]] == [("Q4_K_M", 100)]
        assert got["mmproj_files"] == ["mmproj-F16.gguf"]
    reply = server.get("/v1/pull/variants?checkpoint=modelscope.cn/no/body")
    assert reply.status == 404 and "ModelScope" in reply.json["error"]["message"]
    found = server.get("/v1/registry/search?query=qwen3&source=modelscope").json
    assert [r["repository_id"] for r in found["results"]] == ["Qwen/Qwen3-8B-GGUF"]
    # As the hub that plain names mean.
    other = world(house, hub, "--default-model-source", "modelscope")
    assert other.get("/v1/pull/variants?checkpoint=Qwen/Qwen3-8B-GGUF").json["source"] == "modelscope"


def test_ollamas_registry(house, hub):
    ollama = OllamaRegistry(hub)
    digest = ollama.model("library/qwen3", "0.6b", model=b"m" * 1000, template=b"t" * 10, license=b"l")
    server = world(house, hub)
    got = server.get("/v1/pull/variants?checkpoint=library/qwen3:0.6b").json
    assert got["source"] == "ollama" and got["commit"] == digest
    assert [(v["name"], v["primary_file"], v["size_bytes"]) for v in got["variants"]] == [("0.6b", "model.gguf", 1011)]
    reply = server.get("/v1/pull/variants?checkpoint=library/qwen3:9b")
    assert reply.status == 404 and "qwen3:9b" in reply.json["error"]["message"]


def fake_gguf(name, **options):
    return gguf({"general.architecture": "llama", "general.name": name, "fake.options": json.dumps(options)})


def answers(server, model):
    reply = server.chat(model)
    assert reply.status == 200, reply.body
    return True


def test_pulling_from_ollamas_registry(house, hub):
    ollama = OllamaRegistry(hub)
    data = fake_gguf("tiny")
    ollama.model("library/tiny", "1b", model=data, template=b"{{ .Prompt }}", license=b"free", params=b"{}")
    server = world(house, hub)
    reply = server.post("/api/pull", {"model": "tiny:1b", "stream": False})
    assert reply.status == 200, reply.body
    name = [m["id"] for m in server.get("/v1/models").json["data"]][0]
    files = {f["role"]: f["size_bytes"] for f in server.get(f"/v1/models/{name}/files").json["files"]}
    assert files["main"] == len(data) and files["template"] == len(b"{{ .Prompt }}")
    assert answers(server, "tiny:1b")
    entry = server.get("/v1/models/tiny:1b").json
    assert entry["registry_source"] == "ollama" and entry["downloaded"]
    assert server.post("/v1/models/check-updates", {}).json == {
        "status": "success", "updates_available": 0, "models": [], "checked": 1, "not_checked": []}
    ollama.model("library/tiny", "1b", model=fake_gguf("tiny, newer"))
    assert server.post("/v1/models/check-updates", {}).json["models"] == [name]


def test_pulling_from_modelscope(house, hub):
    ms = ModelScope(hub)
    ms.repo("Qwen/Some-GGUF", {"Some-Q4_K_M.gguf": fake_gguf("some"), "Some-Q8_0.gguf": fake_gguf("some 8")})
    # Its files come from another host, inside the network here.
    server = world(house, hub, "--allow-private-hubs")
    reply = server.post("/v1/pull", {"model_name": "user.some", "checkpoint": "Qwen/Some-GGUF:Q4_K_M",
                                     "source": "modelscope", "recipe": "llamacpp"})
    assert reply.status == 200, reply.body
    entry = server.get("/v1/models/user.some").json
    assert entry["registry_source"] == "modelscope" and entry["checkpoint"] == "modelscope.cn/Qwen/Some-GGUF:Q4_K_M"
    assert answers(server, "user.some")
    assert not hub.requests("/api/models/Qwen/Some-GGUF")


def test_names_of_ollamas_library(house, hub):
    """Those of the table come from where the table says; others from Ollama's registry."""
    (house.models_dir / "ollama_names.json").write_text(json.dumps({"small:1b": "o/small-GGUF:Q4_0"}))
    hub.repo("o/small-GGUF", {"small-Q4_0.gguf": fake_gguf("small"), "small-Q8_0.gguf": fake_gguf("small 8")})
    server = world(house, hub, "--allow-private-hubs")
    reply = server.post("/api/pull", {"model": "small:1b", "stream": False})
    assert reply.status == 200, reply.body
    assert answers(server, "small:1b")
    assert len(hub.requests("small-Q4_0.gguf")) >= 1 and not hub.requests("small-Q8_0.gguf")
    reply = server.post("/api/pull", {"model": "small:7b", "stream": False})
    assert reply.status == 404, reply.body


def test_search(house, hub):
    seed_repo(hub)
    hub.repo("o/other", {"x": b"x"})
    server = world(house, hub)
    reply = server.get("/api/v1/registry/search?query=%20qwen3%20&limit=3&format=gguf")
    assert reply.status == 200, reply.body
    check(reply.json, {"source": "huggingface", "query": "qwen3", "total": 1, "results": [
        {"repository_id": "o/r", "downloads": 1, "likes": 1, "has_gguf": True}]})
    assert [r["repository_id"] for r in reply.json["results"]] == ["unsloth/Qwen3-8B-GGUF"]
    asked = hub.log[-1].path
    assert "limit=3" in asked and "filter=gguf" in asked and "search=qwen3" in asked
    for query in ("", "?query=ab", "?query=qwen&limit=0", "?query=qwen&limit=51", "?query=qwen&format=onnx",
                  "?query=qwen&source=ollama", "?query=" + "x" * 201):
        assert server.get("/api/v1/registry/search" + query).status == 400, query
    hub.fault("/api/models", status=500)
    hub.routes.append(lambda h, url: url.path == "/api/models" and (h.reply(500, b"no"), True)[1])
    assert server.get("/api/v1/registry/search?query=qwen3").status == 502


def test_too_many_questions_are_our_own_limit(house, hub):
    """No hub has refused anything: 503, as for everything that there is too much of."""
    gate = threading.Event()
    hub.routes.append(lambda h, url: url.path.startswith("/api/models/slow/") and (gate.wait(), h.reply(404), True)[2])
    server = world(house, hub)
    waiting = []
    for i in range(2 + 64):
        waiting.append(server.connect())
        waiting[-1].request("GET", f"/v1/pull/variants?checkpoint=slow/{i}")
    for _ in range(20):  # it has met all of them then
        assert server.get("/live").status == 200
    for path in ("pull/variants?checkpoint=slow/x", "registry/search?query=qwen3"):
        reply = server.get("/v1/" + path)
        assert reply.status == 503 and reply.headers["Retry-After"], reply.body
        assert "waiting already" in reply.json["error"]["message"]
    gate.set()
    for connection in waiting:
        connection.close()


def test_a_client_that_leaves_ends_its_question(house, hub):
    gate = threading.Event()
    hub.routes.append(lambda h, url: url.path.startswith("/api/models/slow/") and (gate.wait(), h.reply(404), True)[2])
    hub.repo("o/r", {"m-Q4_0.gguf": b"x"})
    server = world(house, hub)
    # More than are asked at a time: they would hold up everybody if they went on.
    for i in range(4):
        c = server.connect()
        c.request("GET", f"/v1/pull/variants?checkpoint=slow/{i}")
        if i == 0:
            wait_until(lambda: hub.log, what="the question")
        c.close()
    assert server.get("/v1/pull/variants?checkpoint=o/r").status == 200  # though the hub has answered none of them
    gate.set()


def test_the_server_stops_while_hubs_are_asked(house, hub):
    gate = threading.Event()
    hub.routes.append(lambda h, url: url.path.startswith("/api/models/slow/") and (gate.wait(), h.reply(404), True)[2])
    server = world(house, hub, "--drain", "0")
    held = []
    for i in range(5):
        held.append(server.connect())
        held[-1].request("GET", f"/v1/pull/variants?checkpoint=slow/{i}")
    wait_until(lambda: len(hub.log) >= 2, what="two questions")
    assert server.stop() == 0  # though the hub has not answered
    gate.set()
    for c in held:
        c.close()


def test_updates(house, hub):
    """Models of Hugging Face's cache: a new commit counts only when it changed a file that is here."""
    old, model = "a" * 40, gguf({"general.architecture": "llama", "general.name": "m", "fake.options": "{}"})
    data = house.tmp_path / "found"
    put_hf(data / "home/.cache/huggingface/hub", "o/same", {"same-Q4_0.gguf": model}, old)
    put_hf(data / "home/.cache/huggingface/hub", "o/other", {"other-Q4_0.gguf": model + b"x"}, old)
    put_hf(data / "home/.cache/huggingface/hub", "o/gone", {"gone-Q4_0.gguf": model + b"y"}, old)
    hub.repo("o/same", {"same-Q4_0.gguf": model, "README.md": b"new words"}, commit="b" * 40)
    hub.repo("o/other", {"other-Q4_0.gguf": model + b"z"}, commit="b" * 40)
    server = Server(data, house.backend_dir, house.models_dir, ["--hf-endpoint", hub.url])
    house.servers.append(server)
    entries = lambda: {m["id"]: m for m in server.get("/v1/models").json["data"]}
    wait_until(lambda: len(entries()) == 3, what="three models")
    reply = server.post("/v1/models/check-updates", {})
    assert reply.status == 200, reply.body
    assert reply.json["status"] == "success" and reply.json["updates_available"] == 1
    assert reply.json["models"] == ["extra.other-Q4_0"]
    assert [m["model_name"] for m in reply.json["not_checked"]] == ["extra.gone-Q4_0"]
    assert {k for k, m in entries().items() if m["update_available"]} == {"extra.other-Q4_0"}
    # The next question finds that all is well again.
    hub.repo("o/other", {"other-Q4_0.gguf": model + b"x"}, commit="c" * 40)
    assert server.post("/v1/models/check-updates", {}).json["updates_available"] == 0
    assert not any(m["update_available"] for m in entries().values())


@pytest.fixture
def full_list(house, hub):
    """A server with the list that ships, without the starter's file."""
    listed = json.loads((ROOT / "registry/models.json").read_text())
    (house.models_dir / "models.json").write_text(json.dumps({k: v for k, v in listed.items() if not v.get("shipped")}))
    return world(house, hub, "--allow-private-hubs")


def test_the_list_of_all(full_list, house):
    assert full_list.get("/api/v1/models").json["data"] == []
    name = house.model(full_list, "mine")
    listed = full_list.get("/api/v1/models?show_all=true").json["data"]
    ids = [m["id"] for m in listed]
    assert len(ids) > 110 and len(set(ids)) == len(ids) and name in ids
    assert [m["id"] for m in full_list.get("/v1/models").json["data"]] == [name]
    example = {"id": "x", "created": 1, "object": "model", "owned_by": "lemonade", "checkpoint": "x", "recipe": "x",
               "downloaded": True, "suggested": True, "labels": ["x"], "checkpoints": {"main": "x"}, "components": [],
               "recipe_options": {}, "source": "x", "update_available": False}
    for m in listed:
        check(m, example)
    by_id = {m["id"]: m for m in listed}
    seed = by_id["Qwen3-0.6B-GGUF"]
    assert (seed["checkpoint"], seed["recipe"], seed["size"], seed["downloaded"], seed["suggested"]) == \
        ("unsloth/Qwen3-0.6B-GGUF:Q4_0", "llamacpp", 0.38, False, True)
    assert "reasoning" in seed["labels"]
    assert "vision" in by_id["Gemma-3-4b-it-GGUF"]["labels"]
    assert by_id["SD-Turbo"]["image_defaults"] == {"steps": 4, "cfg_scale": 1.0, "width": 512, "height": 512}
    assert by_id["Flux-2-Klein-4B"]["checkpoints"].keys() == {"main", "text_encoder", "vae"}
    assert by_id["Whisper-Tiny"]["type"] == "transcription" and by_id["kokoro-v1"]["type"] == "tts"
    assert by_id["nomic-embed-text-v1-GGUF"]["type"] == "embedding"
    assert by_id["nomic-embed-text-v1-GGUF"]["capabilities"] == ["embed"]
    assert by_id["Gemma-3-4b-it-GGUF"]["capabilities"] == ["chat", "complete", "vision"]
    assert by_id["Flux-2-Klein-4B"]["capabilities"] == ["image", "edit"]
    # The tests' servers have a program for every kind; without one a model is not suggested.
    assert "unsupported" not in by_id["Whisper-Tiny"] and by_id["Whisper-Tiny"]["suggested"]
    assert "NPU" in by_id["Qwen2.5-0.5B-Instruct-CPU"]["unsupported"]


def test_kinds_that_no_program_runs(house, hub, full_list, tmp_path):
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "quince-llm").symlink_to(house.backend_dir / "quince-llm")
    server = house.start("--backend-dir", str(bare))
    by_id = {m["id"]: m for m in server.get("/v1/models?show_all=true").json["data"]}
    why = by_id["Whisper-Tiny"]["unsupported"]
    assert "no engine" in why and "quince backends install" in why and not by_id["Whisper-Tiny"]["suggested"]
    assert "quince remote add" in by_id["kokoro-v1"]["unsupported"]
    for name in ("Whisper-Tiny", "kokoro-v1"):
        for reply in (server.post("/v1/pull", {"model_name": name}), server.chat(name)):
            assert reply.json["error"]["message"] == (
                f"model '{name}' cannot be run here: it is {by_id[name]['unsupported']}")
    assert "unsupported" not in by_id["Qwen3-0.6B-GGUF"]
    # quince's own engine converses; what it does not compute is said before it is fetched, in every list.
    for name, word in (("nomic-embed-text-v1-GGUF", "for embeddings"), ("bge-reranker-v2-m3-GGUF", "for ranking texts"),
                       ("MiniCPM3-4B-GGUF", "architecture"), ("Bonsai-4B-gguf", "quantisation")):
        why = by_id[name]["unsupported"]
        assert word in why and "quince backends install llamacpp:llama-server" in why and not by_id[name]["suggested"]
        assert server.get(f"/v1/models/{name}").json["unsupported"] == why
        for reply in (server.post("/v1/pull", {"model_name": name}), server.chat(name)):
            assert reply.json["error"]["message"] == f"model '{name}' cannot be run here: it is {why}"


def test_one_model_that_is_not_here(full_list):
    reply = full_list.get("/api/v1/models/Qwen3-0.6B-GGUF")
    assert reply.status == 200
    assert reply.json["downloaded"] is False and reply.json["recipe_options"] == {}
    assert full_list.get("/api/v1/models/qwen3-0.6b-gguf").json["id"] == "Qwen3-0.6B-GGUF"
    assert full_list.get("/api/v1/models/builtin.Qwen3-0.6B-GGUF").status == 200
    reply = full_list.get("/api/v1/models/Qwen3-nothing-GGUF")
    assert reply.status == 404
    check(reply.json, {"error": {"message": "x", "type": "not_found"}})


def test_the_seeds_models_once_pulled(full_list, hub):
    """The three examples of the seed's list of models, downloaded."""
    hub.repo("unsloth/Qwen3-0.6B-GGUF", {"Qwen3-0.6B-Q4_0.gguf": fake_gguf("q"), "Qwen3-0.6B-Q8_0.gguf": b"x"})
    hub.repo("ggml-org/gemma-3-4b-it-GGUF", {"gemma-3-4b-it-Q4_K_M.gguf": fake_gguf("g"),
                                             "mmproj-model-f16.gguf": fake_gguf("eye")})
    hub.repo("stabilityai/sd-turbo", {"sd_turbo.safetensors": b"\x02\0\0\0\0\0\0\0{}", "sd_turbo_ema.safetensors": b"x"})
    expected = {
        "Qwen3-0.6B-GGUF": ("unsloth/Qwen3-0.6B-GGUF:Q4_0", "llamacpp", {"reasoning"}),
        "Gemma-3-4b-it-GGUF": ("ggml-org/gemma-3-4b-it-GGUF:Q4_K_M", "llamacpp", {"vision"}),
        "SD-Turbo": ("stabilityai/sd-turbo:sd_turbo.safetensors", "sd-cpp", {"image"}),
    }
    for name in expected:
        reply = full_list.post("/api/v1/pull", {"model_name": name})
        assert reply.status == 200, reply.body
    listed = {m["id"]: m for m in full_list.get("/api/v1/models").json["data"]}
    assert set(listed) == set(expected)
    for name, (checkpoint, recipe, labels) in expected.items():
        m = listed[name]
        assert (m["object"], m["owned_by"], m["checkpoint"], m["recipe"]) == ("model", "lemonade", checkpoint, recipe)
        assert m["downloaded"] is True and m["suggested"] is True and labels <= set(m["labels"])
        assert m["source"] == "builtin" and m["registry_source"] == "huggingface"
        assert full_list.get("/api/v1/models/" + name).json["id"] == name
    assert listed["SD-Turbo"]["image_defaults"] == {"steps": 4, "cfg_scale": 1.0, "width": 512, "height": 512}
    assert listed["Gemma-3-4b-it-GGUF"]["checkpoints"].keys() == {"main", "mmproj"}
    # Each is listed once.
    ids = [m["id"] for m in full_list.get("/api/v1/models?show_all=true").json["data"]]
    assert len(ids) == len(set(ids)) and set(expected) <= set(ids)


def test_a_wrong_list_leaves_the_server_running(house):
    (house.models_dir / "models.json").write_text('{"m": {"recipe": "llamacpp", "checkpoint": "no good"}}')
    server = house.start()
    assert server.get("/v1/models?show_all=true").json["data"] == []
    assert server.get("/v1/models/m").status == 404
    assert "m.checkpoint" in server.logs()


def test_the_lists_schema():
    """The file's form: what people add by hand has to be in order."""
    known = {"checkpoint", "checkpoints", "mmproj", "recipe", "source", "size", "labels", "suggested", "shipped",
             "image_defaults", "recipe_options"}
    labels = {"chat", "starter", "hot", "reasoning", "vision", "tool-calling", "coding", "mtp", "embeddings", "reranking",
              "transcription", "realtime-transcription", "chat-transcription", "image", "edit", "upscaling", "tts"}
    images = {"steps", "cfg_scale", "width", "height", "sampling_method", "flow_shift"}
    pairs = json.loads((ROOT / "registry/models.json").read_text(), object_pairs_hook=list)
    names = [name for name, _ in pairs]
    assert len(set(names)) == len(names), "a name is there twice"
    for name, entry in pairs:
        entry = dict(entry)
        assert set(entry) <= known, name
        assert ("checkpoint" in entry) != ("checkpoints" in entry), name
        parts = dict(entry["checkpoints"]) if "checkpoints" in entry else {"main": entry["checkpoint"]}
        assert "main" in parts and set(parts) <= {"main", "mmproj", "draft", "text_encoder", "vae"}, name
        if entry["recipe"] != "flm" and not entry.get("shipped"):
            assert all(p.count("/") >= 1 for p in parts.values()), name
        assert entry["recipe"] in {"llamacpp", "whispercpp", "sd-cpp", "kokoro", "ryzenai-llm", "flm"}, name
        assert entry.get("shipped") or 0 < entry["size"] < 1000, name
        assert set(entry["labels"]) <= labels and len(set(entry["labels"])) == len(entry["labels"]), name
        assert ("vision" in entry["labels"]) <= (entry["recipe"] in ("flm", "ryzenai-llm") or "mmproj" in entry
                                                or "mmproj" in parts), name
        if "image_defaults" in entry:
            assert set(dict(entry["image_defaults"])) <= images, name
        if "image" in entry["labels"] and "upscaling" not in entry["labels"]:
            assert "image_defaults" in entry, name
    ollama = json.loads((ROOT / "registry/ollama_names.json").read_text(), object_pairs_hook=list)
    assert len({n.lower() for n, _ in ollama}) == len(ollama)
    assert all(checkpoint.count("/") == 1 for _, checkpoint in ollama)
