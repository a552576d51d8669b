"""Options that models are loaded with: read, kept and reset without loading them."""
import pytest
from conftest import wait_until
from shapes import check


def test_layers(house):
    server = house.start("--context", "4096", "--cache-type", "q8_0")
    name = house.model(server, "m")
    path = f"/api/v1/models/{name}/options"
    got = server.get(path).json
    check(got, {"model_name": "x", "recipe": "llamacpp", "saved": {}, "effective": {"ctx_size": 1}, "defaults": {},
                "resolved_ctx_size": 1})
    assert got["model_name"] == name and got["saved"] == {}
    assert got["effective"] == got["defaults"]
    assert got["effective"]["ctx_size"] == 4096 and got["effective"]["cache_type"] == "q8_0"
    assert got["effective"]["draft_model"] is None
    assert got["resolved_ctx_size"] == 4096

    got = server.post(path, {"ctx_size": 77, "slots": 2}).json
    assert got["saved"] == {"ctx_size": 77, "slots": 2}
    assert got["effective"]["ctx_size"] == 77 and got["effective"]["slots"] == 2
    assert got["defaults"]["ctx_size"] == 4096 and got["resolved_ctx_size"] == 77
    # What is not named stays, null takes away, -1 is the model's own choice whatever the setting says.
    got = server.post(path, {"ctx_size": -1, "slots": None, "speculate": False}).json
    assert got["saved"] == {"ctx_size": -1, "speculate": False}
    assert got["effective"]["ctx_size"] == -1
    assert server.get("/v1/models/" + name).json["recipe_options"]["speculate"] is False
    got = server.request("DELETE", path).json
    assert got["saved"] == {} and got["effective"]["ctx_size"] == 4096


def test_a_load_obeys_them(house):
    server = house.start()
    name = house.model(server, "m")
    server.post(f"/v1/models/{name}/options", {"ctx_size": 77})
    # What is effective is a whole request to load.
    effective = server.get(f"/v1/models/{name}/options").json["effective"]
    assert server.post("/v1/load", effective).status == 200
    loaded = server.get("/v1/health").json["all_models_loaded"][0]
    assert loaded["max_context_window"] == 77
    server.post("/v1/unload", {})
    wait_until(lambda: not server.get("/v1/health").json["all_models_loaded"], what="unloaded")
    assert server.post("/v1/load", {"model_name": name, "ctx_size": -1}).status == 200


def test_a_dry_run_keeps_nothing(house):
    server = house.start()
    name = house.model(server, "m")
    path = f"/v1/models/{name}/options"
    got = server.post(path, {"ctx_size": 99, "dry_run": True}).json
    assert got["effective"]["ctx_size"] == 99 and got["resolved_ctx_size"] == 99 and got["saved"] == {}
    assert server.get(path).json["saved"] == {}


@pytest.mark.parametrize("body, part", [
    ({"ctx_size": 0}, "ctx_size"), ({"ctx_size": -2}, "ctx_size"), ({"ctx_size": "big"}, "ctx_size"),
    ({"ctx_size": 10 ** 12}, "ctx_size"), ({"steps": 4}, "steps"), ({"slots": "2"}, "slots"),
    ({"speculate": 1}, "speculate"), ({"lora": [{"name": "x"}]}, "lora"), ({"dry_run": "yes"}, "dry_run"), ([], "object"),
])
def test_wrong_options(house, body, part):
    server = house.start()
    name = house.model(server, "m")
    reply = server.post(f"/v1/models/{name}/options", body)
    assert reply.status == 400, reply.body
    assert part in reply.json["error"]["message"]
    assert server.get(f"/v1/models/{name}/options").json["saved"] == {}


def test_models_without_options(house):
    server = house.start()
    for method in ("GET", "DELETE"):
        assert server.request(method, "/v1/models/nobody/options").status == 404
    assert server.post("/v1/models/nobody/options", {}).status == 404
