"""Deleting models, what their files become, aliases, and what a model consists of."""
import pathlib

import pytest

from conftest import Server


def names(server):
    return [m["id"] for m in server.get("/api/v1/models").json["data"]]


def test_deleting_a_model_as_the_seed_has_it(house, server):
    name = house.model(server, "gone")
    path = pathlib.Path(server.get(f"/v1/models/{name}/files?include_paths=true").json["files"][0]["path"])
    reply = server.post("/api/v1/delete", {"model_name": name})
    assert reply.status == 200
    assert reply.json["status"] == "success"
    assert reply.json["message"] == f"Deleted model: {name}"
    assert reply.json["model_name"] == name
    # It is the user's file: it stays, and the answer says so.
    assert path.exists()
    assert reply.json["freed_bytes"] == 0 and reply.json["files_kept"] == 1
    assert "are kept" in reply.json["note"]
    assert name not in names(server)
    again = server.post("/api/v1/delete", {"model_name": name})
    assert again.status == 404
    assert again.json["status"] == "error" and name in again.json["message"]


def test_a_loaded_model_is_unloaded_first(house, server):
    name = house.model(server, "busy")
    assert server.chat(name).status == 200
    assert server.children()
    assert server.post("/v1/delete", {"model": name}).status == 200
    assert not server.children()
    assert server.chat(name).status == 404


def test_a_dry_run_deletes_nothing(house, server):
    name = house.model(server, "kept")
    assert server.chat(name).status == 200
    reply = server.post("/v1/delete", {"model_name": name, "dry_run": True})
    assert reply.status == 200 and reply.json["dry_run"] is True
    assert (reply.json["freed_bytes"], reply.json["files_removed"], reply.json["files_kept"]) == (0, 0, 1)
    assert "are kept" in reply.json["note"]
    assert name in names(server) and server.children(), "it stays in memory, too"
    assert server.post("/v1/delete", {"model_name": "user.none", "dry_run": True}).status == 404
    assert server.post("/v1/delete", {"model_name": name, "dry_run": 1}).status == 400
    assert name in names(server)


@pytest.mark.parametrize("body", [{}, {"model_name": 5}, [], {"model_name": None}])
def test_a_wrong_request_deletes_nothing(house, server, body):
    name = house.model(server, "kept")
    reply = server.post("/v1/delete", body)
    assert reply.status == 400
    assert reply.json["status"] == "error"
    assert name in names(server)


def test_what_ships_with_quince_stays(tmp_path, house):
    server = Server(tmp_path / "data", house.backend_dir, pathlib.Path(__file__).parents[2] / "registry")
    house.servers.append(server)
    reply = server.post("/v1/delete", {"model_name": "quince-starter"})
    assert reply.status == 400 and "ships with quince" in reply.json["message"]
    assert "quince-starter" in names(server)


def test_a_preset_keeps_its_model_s_file(house, server):
    name = house.model(server, "base")
    assert server.post("/api/copy", {"source": name, "destination": "user.copy"}).status == 200
    reply = server.post("/v1/delete", {"model_name": name})
    assert reply.status == 200
    assert server.chat("user.copy").status == 200


def test_aliases_are_names_like_others(house, server):
    name = house.model(server, "long-name")
    reply = server.post("/internal/aliases", {"alias": "short", "model_name": name})
    assert reply.status == 200, reply.body
    assert server.get("/internal/aliases").json["aliases"] == [
        {"alias": "short", "model_name": name, "model": name}]
    assert server.chat("short").status == 200
    assert server.chat("short:latest").status == 200
    assert server.get("/v1/models/short").json["id"] == name
    # What cannot be taken back wants the model's own name.
    assert server.post("/v1/delete", {"model_name": "short"}).status == 404
    other = house.model(server, "other")
    conflict = server.post("/internal/aliases", {"alias": "short", "model_name": other})
    assert conflict.status == 409 and conflict.json["error"]["param"] == "alias"
    assert server.post("/internal/aliases", {"alias": other, "model_name": name}).status == 409
    assert server.post("/internal/aliases", {"alias": "a b", "model_name": name}).status == 400
    assert server.post("/internal/aliases", {"alias": "x", "model_name": "nothing"}).status == 404
    assert server.request("DELETE", "/internal/aliases", {"alias": "short"}).status == 200
    assert server.request("DELETE", "/internal/aliases/short").status == 404
    assert server.chat("short").status == 404


def test_aliases_outlive_the_server(house, server):
    name = house.model(server, "kept")
    server.post("/internal/aliases", {"alias": "short", "model_name": name})
    server.stop()
    again = Server(server.data_dir, house.backend_dir, house.models_dir)
    house.servers.append(again)
    assert again.get("/v1/models/short").json["id"] == name


def test_what_a_model_consists_of(house, server):
    name = house.model(server, "files")
    reply = server.get(f"/api/v1/models/{name}/files").json
    assert reply["model_id"] == name
    (file,) = reply["files"]
    assert file["role"] == "main" and file["exists"] is True and "path" not in file
    file = server.get(f"/api/v1/models/{name}/files?include_paths=true").json["files"][0]
    path = pathlib.Path(file["path"])
    assert path.name == file["name"] and path.stat().st_size == file["size_bytes"]
    path.unlink()
    assert server.get(f"/v1/models/{name}/files").json["files"][0]["exists"] is False
    assert server.get("/v1/models/nothing/files").status == 404


def test_cleaning_up_an_empty_store(server):
    reply = server.post("/internal/cleanup-cache", {"dry_run": True})
    assert reply.status == 200
    assert reply.json == {"files": [], "freed_bytes": 0, "dry_run": True, "status": "success"}
    assert server.request("POST", "/internal/cleanup-cache", "{").status == 400
