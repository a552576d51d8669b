"""Models that other programs have on this disk: caches in their layouts, made here from the public
descriptions of these, are listed and loaded from where they are, and never written to."""
import hashlib
import json
import os
import pathlib
import shutil

import pytest

from conftest import Server, gguf, wait_until

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def model(name, **metadata):
    return gguf({"general.architecture": "llama", "general.name": name, "fake.options": "{}", **metadata})


def put(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def put_hf(cache, repo, files, commit=COMMIT, ref="main"):
    """As huggingface_hub lays a repository out."""
    folder = cache / ("models--" + repo.replace("/", "--"))
    for path, data in files.items():
        blob = put(folder / "blobs" / hashlib.sha256(data).hexdigest(), data)
        link = folder / "snapshots" / commit / path
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blob, link.parent))
    if ref:
        put(folder / "refs" / ref, commit)
    return folder


def put_ollama(models, name, layers):
    """As Ollama keeps a model: layers are [(kind, bytes)]."""
    path, tag = name.rsplit(":", 1)
    described = []
    for kind, data in layers:
        digest = hashlib.sha256(data).hexdigest()
        put(models / "blobs" / f"sha256-{digest}", data)
        described.append({"mediaType": f"application/vnd.ollama.image.{kind}",
                          "digest": f"sha256:{digest}", "size": len(data)})
    put(models / "manifests" / path / tag, json.dumps({"schemaVersion": 2, "layers": described}))


class Finder:
    """A server whose home folder is prepared before it starts."""

    def __init__(self, house):
        self.house = house
        self.data = house.tmp_path / "found"
        self.home = self.data / "home"
        self.home.mkdir(parents=True)

    def start(self, *args):
        self.server = Server(self.data, self.house.backend_dir, self.house.models_dir, args)
        self.house.servers.append(self.server)
        return self.server

    def rescan(self):
        reply = self.server.post("/v1/models/rescan", {})
        assert reply.status == 200, reply.body
        return self.entries()

    def entries(self):
        return {m["id"]: m for m in self.server.get("/v1/models?show_all=true").json["data"]
                if m["id"].startswith("extra.")}

    def files(self, name):
        return self.server.get(f"/v1/models/{name}/files?include_paths=true").json["files"]


@pytest.fixture
def finder(house):
    return Finder(house)


def tree(folder):
    """Everything below a folder, to see that it was left alone."""
    return {str(p.relative_to(folder)): (os.readlink(p) if p.is_symlink() else p.read_bytes() if p.is_file() else None)
            for p in sorted(folder.rglob("*"))}


def test_caches_of_all_programs_are_listed_and_loaded_from_in_place(finder):
    home = finder.home
    hub = home / ".cache" / "huggingface" / "hub"
    put_hf(hub, "unsloth/Qwen3-0.6B-GGUF", {"Qwen3-0.6B-Q4_0.gguf": model("hf q4"),
                                            "Q8_0/Qwen3-0.6B-Q8_0.gguf": model("hf q8"), "README.md": b"x"})
    llama = home / ".cache" / "llama.cpp"
    put(llama / "ggml-org_gemma-3-4b-it-GGUF_gemma-3-4b-it-Q4_K_M.gguf", model("flat"))
    put(llama / "ggml-org_gemma-3-4b-it-GGUF_mmproj-model-f16.gguf", model("p", **{"general.architecture": "clip"}))
    put(llama / "ggml-org_gemma-3-4b-it-GGUF_gemma-3-4b-it-Q4_K_M.gguf.etag", '"abc"')
    put(llama / "manifest=ggml-org=gemma-3-4b-it-GGUF=latest.json", json.dumps({
        "ggufFile": {"rfilename": "gemma-3-4b-it-Q4_K_M.gguf", "size": 1},
        "mmprojFile": {"rfilename": "mmproj-model-f16.gguf"}}))
    put(llama / "someone_repo_sub_plain-Q8_0.gguf", model("described"))
    put(llama / "someone_repo_sub_plain-Q8_0.gguf.json", json.dumps({
        "url": "https://huggingface.co/someone/repo/resolve/main/sub/plain-Q8_0.gguf", "etag": "x"}))
    put(llama / "x_y_half.gguf.downloadInProgress", b"GGUF")
    studio = home / ".lmstudio" / "models"
    put(studio / "bartowski" / "Phi-4-GGUF" / "Phi-4-Q4_K_M.gguf", model("studio"))
    old = home / ".cache" / "lm-studio" / "models"
    put(old / "TheBloke" / "old-GGUF" / "old.Q4_0.gguf", model("old studio"))
    ollama = home / ".ollama" / "models"
    put_ollama(ollama, "registry.ollama.ai/library/llama3.2:1b",
               [("model", model("ollama")), ("params", json.dumps({"stop": ["<|eot|>"]}).encode()),
                ("license", b"free"), ("system", b"Be brief.")])
    put_ollama(ollama, "hf.co/owner/name:Q4_0", [("model", model("ollama hf"))])
    put_ollama(ollama, "registry.ollama.ai/someone/own:latest", [("model", model("own"))])
    put_ollama(ollama, "registry.ollama.ai/library/tuned:latest", [("model", model("t")), ("adapter", b"GGUF")])
    extra = finder.data / "mine"
    put(extra / "deep" / "er" / "handmade.gguf", model("handmade"))
    put(extra / "split-00001-of-00002.gguf", b"broken")
    before = tree(home), tree(extra)

    server = finder.start("--extra-models-dir", str(extra))
    found = finder.rescan()
    expected = {
        "extra.Qwen3-0.6B-Q4_0": ("huggingface", "unsloth/Qwen3-0.6B-GGUF:Qwen3-0.6B-Q4_0.gguf"),
        "extra.Qwen3-0.6B-Q8_0": ("huggingface", "unsloth/Qwen3-0.6B-GGUF:Q8_0/Qwen3-0.6B-Q8_0.gguf"),
        "extra.gemma-3-4b-it-Q4_K_M": ("llama.cpp", "ggml-org/gemma-3-4b-it-GGUF:gemma-3-4b-it-Q4_K_M.gguf"),
        "extra.plain-Q8_0": ("llama.cpp", "someone/repo:sub/plain-Q8_0.gguf"),
        "extra.Phi-4-Q4_K_M": ("lm-studio", "bartowski/Phi-4-GGUF:Phi-4-Q4_K_M.gguf"),
        "extra.old.Q4_0": ("lm-studio", "TheBloke/old-GGUF:old.Q4_0.gguf"),
        "extra.llama3.2:1b": ("ollama", "llama3.2:1b"),
        "extra.hf.co/owner/name:Q4_0": ("ollama", "hf.co/owner/name:Q4_0"),
        "extra.someone/own": ("ollama", "someone/own:latest"),
        "extra.handmade": ("folder", str(extra / "deep" / "er" / "handmade.gguf")),
    }
    assert {name: e["checkpoint"] for name, e in found.items()} == {n: c for n, (_, c) in expected.items()}
    assert all(e["source"] in ("local", expected[n][0]) for n, e in found.items())
    assert all(e["downloaded"] and e["recipe"] == "llamacpp" for e in found.values())
    assert [f["role"] for f in finder.files("extra.gemma-3-4b-it-Q4_K_M")] == ["main", "mmproj"]
    assert "vision" in found["extra.gemma-3-4b-it-Q4_K_M"]["labels"]
    # Each is loaded, by its own name or the one its program gives it.
    for name in [*found, "llama3.2:1b", "hf.co/owner/name:Q4_0", "someone/own:latest", "qwen3-0.6b-q4_0"]:
        reply = server.chat(name)
        assert reply.status == 200, (name, reply.body)
    # What the program keeps with its model holds here, too.
    assert server.post("/api/show", {"model": "llama3.2:1b"}).json["system"] == "Be brief."
    # A sum that the file's name says need not be computed.
    digests = {m["name"]: m["digest"] for m in server.get("/api/tags").json["models"]}
    assert hashlib.sha256(model("ollama hf")).hexdigest() in digests.values(), digests
    assert (tree(home), tree(extra)) == before


def test_the_list_follows_the_disk(finder):
    extra = finder.data / "mine"
    one = put(extra / "one.gguf", model("one"))
    finder.start("--extra-models-dir", str(extra))
    assert set(finder.rescan()) == {"extra.one"}
    assert finder.server.post("/internal/aliases", {"alias": "uno", "model_name": "extra.one"}).status == 200
    two = put(extra / "two.gguf", model("two"))
    assert set(finder.rescan()) == {"extra.one", "extra.two"}
    two.unlink()
    put(one, model("another, longer name"))
    found = finder.rescan()
    assert set(found) == {"extra.one"}
    assert found["extra.one"]["details"]["title"] == "another, longer name"
    assert finder.server.chat("uno").status == 200
    put(extra / "README.md", "no model")
    one.unlink()
    assert len(finder.server.children()) == 1
    assert finder.rescan() == {}
    wait_until(lambda: not finder.server.children(), what="the end of the model that has no file any more")
    assert finder.server.chat("uno").status == 404


@pytest.mark.parametrize("left", ["nothing", "a bare folder", "a dangling link"])
def test_models_of_a_disk_that_is_not_mounted_stay_with_their_options(finder, left):
    extra, away = finder.data / "mine", finder.data / "away"
    put(extra / "one.gguf", model("one"))
    put(extra / "sub" / "two.gguf", model("two"))
    server = finder.start("--extra-models-dir", str(extra))
    names = {"extra.one", "extra.two"}
    assert set(finder.rescan()) == names
    for name in names:
        saved = {"model_name": name, "ctx_size": 88, "save_options": True}
        assert server.post("/v1/load", saved).status == 200
    extra.rename(away)
    if left == "a bare folder":
        extra.mkdir()
    elif left == "a dangling link":
        extra.symlink_to(finder.data / "unmounted")
    assert set(finder.rescan()) == names
    if left == "nothing":
        assert "extra_models_dir" in server.logs() and "not_read=1" in server.logs()
    else:
        extra.rmdir() if left == "a bare folder" else extra.unlink()
    away.rename(extra)
    found = finder.rescan()
    assert set(found) == names
    assert all(m["recipe_options"].get("ctx_size") == 88 for m in found.values()), found
    assert server.chat("extra.one").status == 200


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
@pytest.mark.parametrize("mode", [0, 0o444], ids=["closed", "listed-only"])
def test_models_of_a_folder_that_cannot_be_read_for_a_while_stay(finder, mode):
    extra = finder.data / "mine"
    put(extra / "locked" / "one.gguf", model("one"))
    put(extra / "two.gguf", model("two"))
    finder.start("--extra-models-dir", str(extra))
    names = set(finder.rescan())
    (extra / "locked").chmod(mode)
    assert set(finder.rescan()) == names
    (extra / "locked").chmod(0o755)
    (extra / "locked" / "one.gguf").unlink()
    assert set(finder.rescan()) == {"extra.two"}


def test_same_names_and_same_files(finder):
    extra = finder.data / "mine"
    put(extra / "a" / "model.gguf", model("a"))
    put(extra / "b" / "model.gguf", model("b"))
    put(extra / "c" / "x.gguf", model("c"))
    put(extra / "d" / "x.gguf", model("d"))
    put(extra / "x.gguf", model("e"))
    (extra / "e").mkdir()
    (extra / "e" / "again.gguf").symlink_to("../c/x.gguf")
    (extra / "loop").symlink_to(extra)
    finder.start("--extra-models-dir", f"{extra}:{extra}")
    found = finder.rescan()
    paths = {n: finder.files(n)[0]["path"][len(str(extra)) + 1:] for n in found}
    assert paths == {"extra.x": "x.gguf", "extra.a/model": "a/model.gguf", "extra.b/model": "b/model.gguf",
                     "extra.c/x": "c/x.gguf", "extra.d/x": "d/x.gguf"}
    # A name stays with its file, whatever comes and goes.
    (extra / "x.gguf").unlink()
    assert finder.rescan()["extra.c/x"]
    # What has another name already is not listed twice.
    finder.server.register("user.mine", extra / "d" / "x.gguf")
    assert set(finder.rescan()) == {"extra.a/model", "extra.b/model", "extra.c/x"}
    # A model made of another is another one.
    assert finder.server.post("/api/copy", {"source": "extra.c/x", "destination": "user.copy"}).status == 200
    assert "extra.c/x" in finder.rescan()


def test_files_of_others_are_forgotten_and_never_deleted(finder):
    ollama = finder.home / ".ollama" / "models"
    put_ollama(ollama, "registry.ollama.ai/library/keep:1b", [("model", model("ollama"))])
    hub = finder.home / ".cache" / "huggingface" / "hub"
    put_hf(hub, "a/b", {"b-Q4_0.gguf": model("hf")})
    before = tree(finder.home)
    server = finder.start()
    assert set(finder.rescan()) == {"extra.keep:1b", "extra.b-Q4_0"}
    for name, program in (("extra.keep:1b", "ollama"), ("extra.b-Q4_0", "huggingface")):
        reply = server.post("/v1/delete", {"model_name": name})
        assert reply.status == 200
        assert reply.json["freed_bytes"] == 0 and program in reply.json["note"]
    assert finder.rescan() == {}
    assert server.post("/internal/cleanup-cache", {"dry_run": False}).json["files"] == []
    assert tree(finder.home) == before
    server.stop()
    finder.start()
    assert finder.rescan() == {}


def test_refs_main_decides_which_snapshot(finder):
    hub = finder.home / ".cache" / "huggingface" / "hub"
    put_hf(hub, "a/b", {"b-Q4_0.gguf": model("new")}, commit="b" * 40)
    put_hf(hub, "a/b", {"b-Q4_0.gguf": model("older")}, commit=COMMIT, ref=None)
    put_hf(hub, "a/c", {"c-Q4_0.gguf": model("only")}, ref=None)  # no reference: the one there is
    folder = put_hf(hub, "a/d", {"d-Q4_0.gguf": model("gone")})
    for blob in (folder / "blobs").iterdir():
        blob.unlink()
    finder.start()
    found = finder.rescan()
    assert set(found) == {"extra.b-Q4_0", "extra.c-Q4_0"}
    assert "/snapshots/" + "b" * 40 in finder.files("extra.b-Q4_0")[0]["path"]


def test_discovery_can_be_switched_off(finder):
    put_ollama(finder.home / ".ollama" / "models", "registry.ollama.ai/library/x:1b", [("model", model("x"))])
    finder.start("--no-discovery")
    assert finder.rescan() == {}


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_read_is_said_once(finder):
    extra = finder.data / "mine"
    put(extra / "locked" / "x.gguf", model("x"))
    put(extra / "open.gguf", model("y"))
    (extra / "locked").chmod(0)
    finder.start("--extra-models-dir", str(extra))
    assert set(finder.rescan()) == {"extra.open"}
    (extra / "locked").chmod(0o755)


def test_hostile_names_and_files(finder):
    extra = finder.data / "mine"
    put(extra / "a b;c&d.gguf", model("odd"))
    put(extra / ("n" * 240 + ".gguf"), model("long"))
    os.mkfifo(extra / "pipe.gguf")
    (extra / "dir.gguf").mkdir()
    put(extra / "empty.gguf", b"")
    put(extra / "junk.gguf", os.urandom(4096))
    put(extra / "bad\nname.gguf", model("line"))
    try:
        with open(bytes(extra) + b"/\xff\xfe.gguf", "wb") as f:
            f.write(model("not utf-8"))
    except OSError:
        pass
    ollama = finder.home / ".ollama" / "models"
    put(ollama / "manifests" / "registry.ollama.ai" / "library" / "evil" / "latest", json.dumps({"layers": [
        {"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:../../../../etc/passwd"}]}))
    put(ollama / "manifests" / "registry.ollama.ai" / "library" / "evil" / "junk", os.urandom(100))
    put(finder.home / ".cache" / "llama.cpp" / "manifest=a=b=c.json", json.dumps(
        {"ggufFile": {"rfilename": "../../../../etc/x.gguf"}}))
    finder.start("--extra-models-dir", str(extra))
    found = finder.rescan()  # does not wait for a writer of the pipe
    assert "extra.a-b-c-d" in found
    assert all(set(n) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:") for n in found)
    assert not any("evil" in n or "junk" in n or "empty" in n for n in found)


def blob(models, data):
    return models / "blobs" / f"sha256-{hashlib.sha256(data).hexdigest()}"


def test_a_link_in_place_of_a_description_shows_no_file(finder):
    """Another user of the machine may own the folder, and link to what only the server's user can read."""
    ollama = finder.home / ".ollama" / "models"
    system, params = b"Be brief.", b'{"top_k": 3}'
    put_ollama(ollama, "registry.ollama.ai/library/links:1b",
               [("model", model("links")), ("system", system), ("params", params)])
    manifests = ollama / "manifests" / "registry.ollama.ai" / "library" / "links"
    (manifests / "2b").symlink_to(put(finder.data / "manifest", (manifests / "1b").read_bytes()))
    for data, private in ((system, "a private letter"), (params, '{"top_k": 7}')):
        blob(ollama, data).unlink()
        blob(ollama, data).symlink_to(put(finder.data / f"private-{len(data)}", private))
    server = finder.start()
    assert set(finder.rescan()) == {"extra.links:1b"}
    shown = server.post("/api/show", {"model": "links:1b"})
    assert shown.status == 200
    assert "system" not in shown.json and "parameters" not in shown.json, shown.body
    assert b"private letter" not in shown.body
    assert server.chat("extra.links:1b").status == 200


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_links_that_another_user_made_lead_to_no_model_elsewhere(finder):
    elsewhere = finder.data / "elsewhere"
    put(elsewhere / "private.gguf", model("private"))
    put(elsewhere / "folder" / "secret.gguf", model("secret"))
    extra = finder.data / "mine"
    put(extra / "open.gguf", model("open"))
    (extra / "own.gguf").symlink_to(put(elsewhere / "lent.gguf", model("lent")))
    (extra / "private.gguf").symlink_to(elsewhere / "private.gguf")
    (extra / "folder").symlink_to("../elsewhere/folder")
    for name in ("private.gguf", "folder"):
        os.lchown(extra / name, 12345, 12345)
    ollama = finder.home / ".ollama" / "models"
    put_ollama(ollama, "registry.ollama.ai/library/taken:1b", [("model", model("taken"))])
    blob(ollama, model("taken")).unlink()
    blob(ollama, model("taken")).symlink_to(elsewhere / "private.gguf")
    os.lchown(blob(ollama, model("taken")), 12345, 12345)
    finder.start("--extra-models-dir", str(extra))
    assert set(finder.rescan()) == {"extra.open", "extra.own"}


def test_parameters_of_a_found_model_are_those_a_request_may_have(finder):
    ollama = finder.home / ".ollama" / "models"
    put_ollama(ollama, "registry.ollama.ai/library/odd:1b", [("model", model("odd")), ("params", json.dumps({
        "top_k": 7, "stop": ["<|eot|>"], "temperature": "hot", "num_ctx": -5, "password": "hunter2",
        "seed": {"not": "a number"}, "use_mmap": True, "num_gpu": "all"}).encode())])
    server = finder.start()
    assert set(finder.rescan()) == {"extra.odd:1b"}
    parameters = server.post("/api/show", {"model": "odd:1b"}).json["parameters"]
    assert {line.split()[0] for line in parameters.splitlines()} == {"top_k", "stop", "use_mmap"}, parameters
    assert server.chat("extra.odd:1b").status == 200  # a wrong one would spoil every request


@pytest.mark.heavy
def test_manifests_that_share_a_system_message_as_long_as_a_book(finder):
    """Each model has a preset of its own; what all of them say together must not be more than the server can hold."""
    ollama = finder.home / ".ollama" / "models"
    book = b"x" * (1024 * 1024)
    for i in range(300):
        put_ollama(ollama, f"registry.ollama.ai/library/book{i}:latest", [("model", model(f"book {i}")), ("system", book)])
    # As JSON it is six times as long, and half of it would be no JSON.
    put_ollama(ollama, "registry.ollama.ai/library/signs:latest", [("model", model("signs")), ("system", b"\x01" * 500000)])
    put_ollama(ollama, "registry.ollama.ai/library/brief:latest", [("model", model("brief")), ("system", b"Be brief.")])
    server = finder.start()
    assert set(finder.rescan()) == {"extra.brief"}
    assert server.get("/live").status == 200
    assert "model=book7:latest " in server.logs() and "system message" in server.logs()
    assert server.chat("extra.brief").status == 200
