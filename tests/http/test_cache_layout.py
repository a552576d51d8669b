"""A cache that quince has written, read by a reader of its own: made from the public description of Hugging Face's
cache (blobs, snapshots, refs; what huggingface_hub's scan_cache_dir calls corrupted), never from our code. And what
deletion takes out of it."""
import hashlib
import io
import os
import pathlib
import re
import shutil
import zipfile

import pytest

from conftest import BUILD, Depot, model_file, wait_until

REPO = "unsloth/Phi-4-mini-instruct-GGUF"
FILES = {"Phi-4-mini-instruct-Q4_K_M.gguf": model_file("q4"),
         "sub/Phi-4-mini-instruct-Q8_0.gguf": model_file("q8", 6000),
         "config.json": b'{"small": true}'}


class Corrupted(Exception):
    pass


def scan_repo(folder):
    """One repository's revisions: {commit: (references, {path: blob})}."""
    if not re.fullmatch(r"(models|datasets|spaces)--.+", folder.name):
        raise Corrupted(f"not a repository: {folder}")
    snapshots, refs = folder / "snapshots", folder / "refs"
    if not snapshots.is_dir():
        raise Corrupted(f"no snapshots: {folder}")
    meant = {}
    for ref in refs.rglob("*") if refs.exists() else []:
        if ref.is_file():
            meant.setdefault(ref.read_text(), set()).add(str(ref.relative_to(refs)))
    found = {}
    for revision in snapshots.iterdir():
        if not revision.is_dir():
            raise Corrupted(f"a file among snapshots: {revision}")
        files = {}
        for path in revision.rglob("*"):
            if path.is_dir():
                continue
            blob = path.resolve()
            if not blob.exists():
                raise Corrupted(f"missing blob: {path}")
            if path.is_symlink():
                assert not os.path.isabs(os.readlink(path)), "links are relative"
                assert blob.parent == folder / "blobs", f"{path} leads to {blob}"
            files[str(path.relative_to(revision))] = blob
        found[revision.name] = (meant.pop(revision.name, set()), files)
    if meant:
        raise Corrupted(f"references to what is not there: {meant}")
    return found


def scan_cache(cache):
    """Everything in the cache: {repository: revisions}. Raises Corrupted."""
    repos = {}
    for folder in cache.iterdir():
        if folder.name in (".locks", "CACHEDIR.TAG"):
            continue
        repo = folder.name.split("--", 1)[1].replace("--", "/")
        repos[repo] = scan_repo(folder)
    return repos


def hf_hub_find(cache, repo, path, revision="main"):
    """What try_to_load_from_cache does: the reference, its snapshot, the file."""
    folder = cache / ("models--" + repo.replace("/", "--"))
    ref = folder / "refs" / revision
    commit = ref.read_text() if ref.is_file() else revision
    found = folder / "snapshots" / commit / path
    return found if found.is_file() else None


@pytest.fixture
def depot(house, hub):
    hub.repo(REPO, dict(FILES))
    return Depot(house, hub)


def pull(server, name, variant):
    reply = server.post("/v1/pull", {"model_name": name, "checkpoint": f"{REPO}:{variant}", "recipe": "llamacpp"})
    assert reply.status == 200, reply.body
    return name


def cache_of(server):
    return pathlib.Path(server.data_dir) / "home" / ".cache" / "huggingface" / "hub"


def test_other_readers_of_the_layout_find_our_files(depot):
    server = depot.start()
    pull(server, "user.q4", "Q4_K_M")
    pull(server, "user.q8", "sub/Phi-4-mini-instruct-Q8_0.gguf")
    cache = cache_of(server)
    repos = scan_cache(cache)
    assert set(repos) == {REPO}
    ((commit, (refs, files)),) = repos[REPO].items()
    assert re.fullmatch("[0-9a-f]{40}", commit) and refs == {"main"}
    assert set(files) == {"Phi-4-mini-instruct-Q4_K_M.gguf", "sub/Phi-4-mini-instruct-Q8_0.gguf"}
    for path, blob in files.items():
        assert blob.name == hashlib.sha256(FILES[path]).hexdigest()  # LFS files have the sum as their ETag
        assert blob.read_bytes() == FILES[path]
        assert hf_hub_find(cache, REPO, path) is not None
    # llama.cpp and huggingface_hub would take these for their own.
    assert not list(cache.rglob("*.incomplete")) and not list(cache.rglob("*.downloadInProgress"))


def test_deleting_one_of_two_models_frees_its_bytes_alone(depot):
    server = depot.start()
    pull(server, "user.q4", "Q4_K_M")
    pull(server, "user.also-q4", "Q4_K_M")
    pull(server, "user.q8", "sub/Phi-4-mini-instruct-Q8_0.gguf")
    cache = cache_of(server)
    size = len(FILES["Phi-4-mini-instruct-Q4_K_M.gguf"])
    for name, freed in (("user.q4", 0), ("user.q8", len(FILES["sub/Phi-4-mini-instruct-Q8_0.gguf"]))):
        foretold = server.post("/v1/delete", {"model_name": name, "dry_run": True}).json
        assert foretold["freed_bytes"] == freed and foretold["files_removed"] == (freed > 0)
    first = server.post("/v1/delete", {"model_name": "user.q4"}).json
    assert first["freed_bytes"] == 0 and first["files_kept"] == 1  # another model has it
    assert server.chat("user.also-q4").status == 200
    second = server.post("/v1/delete", {"model_name": "user.also-q4"}).json
    assert second["freed_bytes"] == size and second["files_kept"] == 0 and "note" not in second
    assert hf_hub_find(cache, REPO, "Phi-4-mini-instruct-Q4_K_M.gguf") is None
    ((_, (refs, files)),) = scan_cache(cache)[REPO].items()
    assert set(files) == {"sub/Phi-4-mini-instruct-Q8_0.gguf"} and refs == {"main"}
    assert server.chat("user.q8").status == 200
    third = server.post("/v1/delete", {"model_name": "user.q8"}).json
    assert third["freed_bytes"] == len(FILES["sub/Phi-4-mini-instruct-Q8_0.gguf"])
    assert list(cache.iterdir()) == []  # nothing is left of the repository


def test_a_file_that_was_imported_from_the_cache_stays(depot):
    """An imported model has the blob itself, not the link of the model that was pulled."""
    server = depot.start()
    pull(server, "user.q4", "Q4_K_M")
    (path,) = cache_of(server).glob("models--*/snapshots/*/Phi-4-mini-instruct-Q4_K_M.gguf")
    reply = server.post("/v1/models/register", {"model_name": "user.mine", "checkpoint": str(path)})
    assert reply.status == 200, reply.body
    reply = server.post("/v1/delete", {"model_name": "user.q4"}).json
    assert reply["freed_bytes"] == 0 and reply["files_kept"] == 1
    assert server.chat("user.mine").status == 200


def test_a_snapshot_that_another_program_made_keeps_its_blob(depot):
    server = depot.start()
    pull(server, "user.q4", "Q4_K_M")
    (folder,) = cache_of(server).iterdir()
    (blob,) = (folder / "blobs").iterdir()
    theirs = folder / "snapshots" / ("c" * 40) / "theirs.gguf"
    theirs.parent.mkdir()
    theirs.symlink_to(f"../../blobs/{blob.name}")
    reply = server.post("/v1/delete", {"model_name": "user.q4"}).json
    assert reply["freed_bytes"] == 0 and reply["files_kept"] == 1 and "other" in reply["note"]
    assert theirs.read_bytes() == FILES["Phi-4-mini-instruct-Q4_K_M.gguf"]
    assert set(scan_repo(folder)) == {"c" * 40}


def test_a_catalog_that_is_lost_finds_its_models_again(depot):
    server = depot.start()
    pull(server, "user.q4", "Q4_K_M")
    server.stop()
    for file in pathlib.Path(server.data_dir).glob("catalog.db*"):
        file.unlink()
    again = depot.start()
    assert again.post("/v1/models/rescan", {}).status == 200
    name = "extra.Phi-4-mini-instruct-Q4_K_M"
    assert again.chat(name).status == 200
    # quince fetched it, so quince may delete it.
    reply = again.post("/v1/delete", {"model_name": name}).json
    assert reply["freed_bytes"] == len(FILES["Phi-4-mini-instruct-Q4_K_M.gguf"])


def test_a_clean_up_takes_no_download_away(depot, hub):
    server = depot.start()
    hub.fault("Phi-4-mini-instruct-Q4_K_M.gguf", hold=500, host="files")
    reply = server.post("/v1/pull", {"model_name": "user.slow", "checkpoint": f"{REPO}:Q4_K_M",
                                     "recipe": "llamacpp", "subscribe": False})
    assert reply.status in (200, 202), reply.body
    cache = cache_of(server)
    partial = wait_until(lambda: list(cache.rglob("*.quince.incomplete")), what="a partial file")[0]
    os.utime(partial, (1, 1))
    assert server.post("/internal/cleanup-cache", {"dry_run": False}).json["files"] == []
    assert partial.exists()
    assert hf_hub_find(cache, REPO, "Phi-4-mini-instruct-Q4_K_M.gguf") is None  # a partial is no file


def test_a_checkpoint_is_registered_and_pulled_by_its_name(depot):
    """Today's models/register: a definition first, the files on request."""
    server = depot.start()
    reply = server.post("/v1/models/register", {
        "model_name": "user.Phi", "checkpoint": f"{REPO}:Q4_K_M", "recipe": "llamacpp", "reasoning": True,
        "labels": ["tool-calling"], "recipe_options": {"ctx_size": 2048}})
    assert reply.status == 200, reply.body
    assert reply.json["status"] == "success" and reply.json["canonical_model_name"] == "user.Phi"
    entry = reply.json["model"]
    assert entry["downloaded"] is False and entry["checkpoint"] == f"{REPO}:Q4_K_M"
    assert entry["labels"] == ["custom", "tool-calling", "reasoning"]
    assert entry["recipe_options"] == {"ctx_size": 2048}
    assert "user.Phi" in [m["id"] for m in server.get("/v1/models?show_all=true").json["data"]]
    # Said again it is the same; another checkpoint takes its place while nothing is here.
    assert server.post("/v1/models/register", {"model_name": "user.Phi", "checkpoints": {
        "main": f"{REPO}:Q4_K_M"}, "recipe": "llamacpp", "labels": ["tool-calling"]}).status == 200
    assert server.post("/v1/pull", {"model_name": "user.Phi"}).status == 200
    assert server.chat("user.Phi").status == 200
    assert server.get("/v1/models/user.Phi").json["downloaded"] is True
    other = server.post("/v1/models/register", {"model_name": "user.Phi", "checkpoint": f"{REPO}:Q8_0"})
    assert other.status == 409, other.body


@pytest.mark.parametrize("body", [
    {"model_name": "Phi", "checkpoint": "a/b"}, {"model_name": "extra.x", "checkpoint": "a/b"},
    {"model_name": "builtin.x", "checkpoint": "a/b"}, {"model_name": "user.x"}, {"checkpoint": "a/b"},
    {"model_name": "user.x", "checkpoint": ""}, {"model_name": "user.x", "checkpoint": "a/b", "recipe": "nothing"},
    {"model_name": "user.x", "checkpoint": "a/b", "labels": "chat"}, {"model_name": "user.x", "checkpoints": {}},
    {"model_name": "user.x", "checkpoint": "a/b", "recipe_options": []}])
def test_registrations_that_make_no_sense(server, body):
    reply = server.post("/v1/models/register", body)
    assert reply.status == 400, (body, reply.body)
    assert reply.json["status"] == "error"


def test_a_file_is_registered_with_what_is_known_of_it(server, tmp_path):
    path, projector = tmp_path / "m.gguf", tmp_path / "mmproj.gguf"
    path.write_bytes(model_file("m"))
    projector.write_bytes(model_file("p"))
    reply = server.post("/v1/models/register", {"model_name": "user.m", "checkpoint": str(path), "vision": True,
                                                "mmproj": str(projector), "recipe": "llamacpp"})
    assert reply.status == 200, reply.body
    assert "vision" in reply.json["model"]["labels"]
    assert [f["role"] for f in server.get("/v1/models/user.m/files").json["files"]] == ["main", "mmproj"]
    assert server.chat("user.m").status == 200


def test_the_catalog_in_the_form_of_two_files(house, depot):
    """user_models.json and recipe_options.json, out of one server and into another."""
    server = depot.start()
    assert server.get("/internal/user_models.json").json == {}
    assert server.post("/v1/models/register", {
        "model_name": "user.Phi", "checkpoint": f"{REPO}:Q4_K_M", "recipe": "llamacpp",
        "labels": ["tool-calling"], "recipe_options": {"ctx_size": 2048}}).status == 200
    house.model(server, "own")
    models = server.get("/internal/user_models.json").json
    assert set(models) == {"Phi", "own"}
    assert models["Phi"]["checkpoints"] == {"main": f"{REPO}:Q4_K_M"} and models["Phi"]["recipe"] == "llamacpp"
    assert models["Phi"]["labels"] == ["custom", "tool-calling"] and models["Phi"]["suggested"] is True
    assert os.path.isfile(models["own"]["checkpoint"])
    options = server.get("/internal/recipe_options.json").json
    assert options == {"user.Phi": {"ctx_size": 2048}}
    other = house.start("--no-discovery")
    for name, definition in models.items():
        assert other.post("/v1/models/register", {"model_name": f"user.{name}", **definition}).status == 200
    given = {**options, "user.own": {"ctx_size": 512, "slots": 2, "steps": 20}, "user.gone": {}}
    reply = other.post("/internal/recipe_options.json", given)
    assert reply.status == 200 and reply.json == {"status": "success", "not_here": ["user.gone"]}
    assert other.get("/internal/recipe_options.json").json == {
        "user.Phi": {"ctx_size": 2048}, "user.own": {"ctx_size": 512, "slots": 2}}
    assert other.get("/internal/user_models.json").json == models
    # One wrong entry changes nothing.
    assert other.post("/internal/recipe_options.json", {"user.own": {"ctx_size": 9}, "user.Phi": 5}).status == 400
    assert other.get("/internal/recipe_options.json").json["user.own"]["ctx_size"] == 512
    assert other.post("/internal/recipe_options.json", {"user.none": {}}).json["not_here"] == ["user.none"]


def zip_of(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name, data in files.items():
            z.writestr(name, data)
    return out.getvalue()


@pytest.fixture
def unpacker(house):
    """The program that unpacks lies beside those that run models."""
    target = house.backend_dir / "quince-unpack"
    if not target.exists():
        shutil.copy(BUILD / "bin" / "quince-unpack", target)


def test_a_model_that_comes_as_an_archive(depot, hub, unpacker):
    hub.repo("some/archives", {
        "model.zip": zip_of({"dir/tiny-00001-of-00001.gguf": model_file("zipped"), "dir/mmproj-tiny.gguf": model_file("p"),
                             "readme.txt": b"hello"}),
        "evil.zip": zip_of({"../../escape.gguf": model_file("evil"), "x.gguf": model_file("x")}),
        "none.zip": zip_of({"a.txt": b"nothing"})})
    server = depot.start()
    at = f"{hub.url}/some/archives/resolve/main"
    reply = server.post("/v1/pull", {"model_name": "user.zipped", "checkpoint": f"{at}/model.zip", "recipe": "llamacpp"})
    assert reply.status == 200, reply.body
    assert server.chat("user.zipped").status == 200
    files = server.get("/v1/models/user.zipped/files?include_paths=true").json["files"]
    assert sorted(f["role"] for f in files) == ["main", "mmproj", "other"]
    own = pathlib.Path(server.data_dir) / "hub"
    assert all(f["path"].startswith(str(own / "unpacked")) for f in files)
    assert not list(own.rglob("*.zip"))  # the archive is not kept beside what it held
    for name, reason in (("evil", "leads out of its folder"), ("none", "no model")):
        reply = server.post("/v1/pull", {"model_name": f"user.{name}", "checkpoint": f"{at}/{name}.zip",
                                         "recipe": "llamacpp"})
        assert reply.status >= 400 and reason in reply.json["message"], (name, reply.body)
    assert not list(pathlib.Path(server.data_dir).rglob("escape*"))
    assert len(list((own / "unpacked").iterdir())) == 1
    freed = server.post("/v1/delete", {"model_name": "user.zipped"}).json
    assert freed["freed_bytes"] == sum(f["size_bytes"] for f in files)
    assert not list((own / "unpacked").iterdir())
