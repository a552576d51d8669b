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


def test_forms_know_what_an_option_may_be(house):
    server = house.start()
    name = house.model(server, "m")
    fields = {f["name"]: f for f in server.get(f"/v1/models/{name}/options").json["fields"]}
    assert list(fields)[0] == "ctx_size"
    assert fields["slots"] == {"name": "slots", "type": "number", "min": 1, "max": 256, "whole": True, "admin": False}
    assert fields["cache_type"]["type"] == "string" and "q8_0" in fields["cache_type"]["words"]
    assert fields["speculate"] == {"name": "speculate", "type": "bool", "admin": False}
    assert fields["lora"]["type"] == "array" and fields["llamacpp_args"]["admin"] is True
    assert set(fields) == set(server.get(f"/v1/models/{name}/options").json["effective"]) - {"model_name"}


def test_the_memory_of_a_load_is_foretold(house):
    """Without loading anything, and for options that are only tried."""
    server = house.start("--memory-limit", "512")
    name, other = house.model(server, "m"), house.model(server, "other", memory_mib=400)
    path = f"/v1/models/{name}/options"

    def forecast(**options):
        return server.post(path, {**options, "dry_run": True}).json["memory"]
    small = server.get(path).json["memory"]
    assert small["fits"] is True and small["evicts"] == [] and small["reason"] is None
    assert 0 < small["needed_bytes"] < 512 << 20 and small["may_use_bytes"] == 512 << 20
    # 64 KiB of cache for each token, if the file says nothing of it (contract/backend_types.c).
    more = forecast(ctx_size=4096)
    assert more["needed_bytes"] - small["needed_bytes"] == (4096 - 512) * 64 * 1024 and more["ctx_size"] == 4096
    huge = forecast(ctx_size=1000000)
    assert huge["fits"] is False and "memory-limit" in huge["reason"] and huge["evicts"] == []
    assert not server.get("/v1/health").json["all_models_loaded"]
    # One language model at a time: the other one would have to go, unless it is pinned.
    assert server.post("/v1/load", {"model_name": other}).status == 200
    assert forecast()["evicts"] == [other]
    server.post("/internal/pin", {"model_name": other, "pinned": True})
    stuck = forecast()
    assert stuck["fits"] is False and "pinned" in stuck["reason"]
    assert [m["model_name"] for m in server.get("/v1/health").json["all_models_loaded"]] == [other]
    refused = server.post(path, {"draft_model": "nobody", "dry_run": True})
    assert refused.status == 400 and b"draft_model" in refused.body, refused.body


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


def test_a_load_that_saves_replaces_what_was_saved(house):
    """"Any previously stored value for model_name is replaced" (Lemonade's document). That it is pinned is no such value."""
    server = house.start()
    name = house.model(server, "m")
    path = f"/v1/models/{name}/options"

    def load(**options):
        reply = server.post("/v1/load", {"model_name": name, **options})
        assert reply.status == 200, reply.body
        (loaded,) = server.get("/v1/health").json["all_models_loaded"]
        return loaded
    assert load(ctx_size=77, slots=2, save_options=True)["max_context_window"] == 77
    assert server.get(path).json["saved"] == {"ctx_size": 77, "slots": 2}
    pinned = load(pinned=True)
    assert server.get(path).json["saved"] == {"ctx_size": 77, "slots": 2, "pinned": True}
    # What it runs with is what it has saved, at once and after the next load.
    loaded = load(slots=3, save_options=True)
    assert loaded["pid"] != pinned["pid"] and loaded["max_context_window"] != 77
    assert loaded["recipe_options"].get("slots") == 3
    assert server.get(path).json["saved"] == {"slots": 3, "pinned": True}
    assert load()["pid"] == loaded["pid"]
    # Later changes hold for the next load as ever.
    server.post(path, {"ctx_size": 88})
    assert server.post("/v1/unload", {"model_name": name}).status == 200
    assert load()["max_context_window"] == 88
    assert load(save_options=True, ctx_size=99, pinned=False)["max_context_window"] == 99
    assert server.get(path).json["saved"] == {"ctx_size": 99, "pinned": False}


def test_arguments_for_a_server_that_does_not_run(house):
    server = house.start()
    name = house.model(server, "m")
    reply = server.post("/v1/load", {"model_name": name, "llamacpp_args": "--mlock"})
    assert reply.status == 200
    (warning,) = reply.json["warnings"]
    assert warning.startswith("llamacpp_args has no effect") and "llama-server" in warning
    assert reply.headers["X-Quince-Warning"] == warning
    assert "warnings" not in server.post("/v1/load", {"model_name": name, "llamacpp_args": ""}).json
    for backend in ("cpu", "auto", ""):
        assert "warnings" not in server.post("/v1/load", {"model_name": name, "llamacpp_backend": backend}).json, backend
    for backend in ("vulkan", "rocm", "metal"):
        (warning,) = server.post("/v1/load", {"model_name": name, "llamacpp_backend": backend}).json["warnings"]
        assert f"llamacpp_backend '{backend}' has no effect" in warning and "CPU" in warning


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
