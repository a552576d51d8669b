"""One bad load never makes a model unusable: what a load asks for lives no longer than that load."""
import json
import os
import signal
import subprocess

import pytest
from conftest import BUILD, ROOT, Server, fake_model, gguf, wait_until


def loaded(server):
    """The models of the health report by name."""
    return {m["model_name"]: m for m in server.get("/v1/health").json["all_models_loaded"]}


def load(server, name, **options):
    return server.post("/v1/load", {"model_name": name, **options})


def unloaded(server, name):
    server.post("/v1/unload", {"model_name": name})
    wait_until(lambda: name not in loaded(server), what="unloaded")


@pytest.mark.parametrize("option, value", [
    ("slots", 1000), ("slots", 0), ("slots", "2"), ("cache_type", "zz"), ("cache_type", 8), ("speculate", "yes"),
    ("lora", [{"path": "/nonexistent/adapter.gguf"}]), ("lora", "/nonexistent/adapter.gguf"), ("lora", [{"path": "/"}]),
    ("lora", [{"path": "/etc/passwd", "scale": "much"}]), ("lora", [{"path": "/etc/passwd", "name": ""}]),
    ("draft_model", "nobody"), ("draft_model", 5), ("rope_scaling", "spiral:2"), ("prefix_cache", "here"),
    ("weight_cache", -1), ("llamacpp_backend", "nobody"), ("llamacpp_backend", 3), ("llamacpp_args", '"open'),
    ("ctx_size", -5), ("max_queue", "long"),
])
def test_a_refused_option_leaves_the_model_as_it_runs(house, option, value):
    server = house.start()
    name = house.model(server, "m")
    assert load(server, name, ctx_size=77).status == 200
    before = loaded(server)[name]
    reply = load(server, name, **{option: value})
    assert 400 <= reply.status < 500, reply.body
    error = reply.json["error"]
    assert (error["param"] or "").startswith(option), error
    after = loaded(server)[name]
    assert after["pid"] == before["pid"] and after["recipe_options"] == before["recipe_options"]
    assert server.chat(name).status == 200 and load(server, name).status == 200
    assert loaded(server)[name]["pid"] == before["pid"]
    # Nothing of it is left for the next start of the model either.
    unloaded(server, name)
    assert server.chat(name).status == 200


def test_a_model_is_not_its_own_draft_model(house):
    server = house.start()
    name = house.model(server, "m")
    assert load(server, name).status == 200
    pid = loaded(server)[name]["pid"]
    for own in (name, name.removeprefix("user."), name + ":latest"):
        for more in ({}, {"save_options": True}):
            reply = load(server, name, draft_model=own, **more)
            assert reply.status == 400 and reply.json["error"]["param"] == "draft_model", reply.body
            assert "the model itself" in reply.json["error"]["message"]
    assert loaded(server)[name]["pid"] == pid
    assert server.get(f"/v1/models/{name}/options").json["saved"] == {}
    unloaded(server, name)
    assert load(server, name, draft_model=name).status == 400 and not loaded(server)
    assert server.chat(name).status == 200


def test_a_refused_option_of_a_model_that_does_not_run(house):
    server = house.start()
    name = house.model(server, "m")
    assert load(server, name, cache_type="zz").status == 400
    assert server.chat(name).status == 200


def test_a_remote_model_is_no_draft_model(house):
    server = house.start()
    name = house.model(server, "m")
    remote = server.post("/v1/models/register", {"model_name": "user.far", "recipe": "remote",
                                                 "base_url": "http://127.0.0.1:9/v1"})
    assert remote.status == 200, remote.body
    assert server.chat(name).status == 200
    pid = loaded(server)[name]["pid"]
    reply = load(server, name, draft_model="user.far")
    assert reply.status == 400 and reply.json["error"]["param"] == "draft_model", reply.body
    assert loaded(server)[name]["pid"] == pid and server.chat(name).status == 200


@pytest.mark.parametrize("route, body", [
    ("/api/generate", {"prompt": "hello", "stream": False, "options": {"num_ctx": 262144}}),
    ("/api/chat", {"messages": [{"role": "user", "content": "hello"}], "stream": False, "options": {"num_ctx": 262144}}),
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": "hello"}], "ctx_size": 262144}),
    ("/v1/load", {"ctx_size": 262144}),
])
def test_a_context_that_no_memory_holds(house, route, body):
    server = house.start("--memory-limit", "2000")
    name = house.model(server, "m")
    assert server.chat(name).status == 200
    pid = loaded(server)[name]["pid"]
    reply = server.post(route, {"model": name, "model_name": name, **body})
    assert reply.status == 503, reply.body
    assert loaded(server)[name]["pid"] == pid
    assert server.chat(name).status == 200 and loaded(server)[name]["pid"] == pid
    unloaded(server, name)
    assert server.chat(name).status == 200


def test_a_load_that_its_process_refuses_ends_alone(house):
    """The healthy configuration comes back for the next request, and is not blamed for the failure."""
    server = house.start()
    name = house.model(server, "m", load_fail="there is no memory for so much", load_error="out_of_memory", load_fail_above=500)
    assert load(server, name, ctx_size=300).status == 200
    reply = load(server, name, ctx_size=5000)
    assert reply.status == 503 and "no memory" in reply.json["error"]["message"], reply.body
    assert not server.get("/v1/health").json["failed_models"]
    assert server.chat(name).status == 200
    assert loaded(server)[name]["max_context_window"] == 300
    assert server.post("/api/generate", {"model": name, "prompt": "x", "stream": False,
                                         "options": {"num_ctx": 5000}}).status == 503
    assert server.chat(name).status == 200
    assert loaded(server)[name]["max_context_window"] == 300


@pytest.mark.parametrize("behaviour", [
    {"load_fail": "the adapter is damaged", "load_fail_above": 500},
    {"load_fail": "there is no memory for so much", "load_error": "out_of_memory", "load_fail_above": 500},
    {"load_crash": True, "load_crash_above": 500},
])
def test_a_load_that_fails_gives_back_the_model_that_ran(house, behaviour):
    """With the context, the pin and the stay that it had, and without having been asked for."""
    server = house.start("--idle", "1000")
    name = house.model(server, "m", **behaviour)
    assert load(server, name, ctx_size=300, pinned=True).status == 200
    assert server.post("/internal/pin", {"model_name": name, "pinned": False}).status == 200
    assert load(server, name, ttl=-1, cache_type="q8_0", ctx_size=301).status == 200
    before = loaded(server)[name]
    assert before["unloads_in_seconds"] is None
    reply = load(server, name, ctx_size=5000)
    assert reply.status >= 500 and (behaviour.get("load_fail") or "signal") in reply.json["error"]["message"], reply.body
    after = wait_until(lambda: (m := loaded(server).get(name)) and m["status"] == "ready" and m, what="it is back")
    assert after["pid"] != before["pid"]
    for member in ("max_context_window", "recipe_options", "unloads_in_seconds", "pinned"):
        assert after[member] == before[member], member
    assert server.get("/v1/health").json["failed_models"] == []
    assert server.chat(name).status == 200
    assert loaded(server)[name]["pid"] == after["pid"]


def test_a_load_that_is_given_up_gives_back_the_model_that_ran(house):
    """Its client leaves while the model loads anew."""
    server = house.start()
    gate = house.tmp_path / "gate"
    gate.touch()
    path = fake_model(house.tmp_path, load_until=str(gate))
    name = server.register("user.m", path)
    assert server.chat(name, ctx_size=300).status == 200
    gate.unlink()
    leaver = server.connect()
    leaver.request("POST", "/api/generate", json.dumps({"model": name, "prompt": "x", "options": {"num_ctx": 700}}),
                   {"Content-Type": "application/json"})
    wait_until(lambda: loaded(server).get(name, {}).get("status") == "loading", what="the new load")
    leaver.close()
    wait_until(lambda: "load=given_up" in server.logs(), what="the load is given up")
    gate.touch()
    wait_until(lambda: loaded(server).get(name, {}).get("status") == "ready", what="it is back")
    assert loaded(server)[name]["max_context_window"] == 300


def test_what_is_unloaded_meanwhile_does_not_come_back(house):
    server = house.start()
    gate = house.tmp_path / "gate"
    gate.touch()
    name = server.register("user.m", fake_model(house.tmp_path, load_until=str(gate)))
    assert load(server, name, ctx_size=300).status == 200
    gate.unlink()
    waiter = server.connect()
    waiter.request("POST", "/v1/load", json.dumps({"model_name": name, "ctx_size": 700}), {"Content-Type": "application/json"})
    wait_until(lambda: loaded(server).get(name, {}).get("status") == "loading", what="the new load")
    assert server.post("/v1/unload", {"model_name": name}).status == 200
    assert waiter.getresponse().status == 503
    waiter.close()
    other = house.model(server, "other")
    assert server.chat(other).status == 200
    assert name not in loaded(server) and len(server.children()) == 1


# ---- loads that fail again and again ----

def starts(server, name):
    """How often the model's process has been started."""
    return server.logs().count(f"info instance model={name} state=loading")


@pytest.mark.parametrize("behaviour", [
    {"load_fail": "tensor 5 is damaged"}, {"load_fail": "no memory for it", "load_error": "out_of_memory"},
    {"load_crash": True},
])
def test_a_model_that_cannot_be_loaded_takes_no_room_again(house, behaviour):
    """Once is enough to know it; asked for it explicitly, the server tries again."""
    server = house.start("--max-loaded-models", "1")
    bad, other = house.model(server, "bad", **behaviour), house.model(server, "other")
    first = server.chat(bad)
    assert first.status >= 500, first.body
    assert server.chat(other).status == 200
    pid, tries = loaded(server)[other]["pid"], starts(server, bad)
    for reply in (server.chat(bad), server.post("/api/generate", {"model": bad, "prompt": "x", "stream": False})):
        assert reply.status == first.status, reply.body
    message = server.chat(bad).json["error"]["message"]
    assert message.startswith(first.json["error"]["message"]) and f"`quince load {bad}` tries" in message
    assert loaded(server)[other]["pid"] == pid and starts(server, bad) == tries
    assert load(server, bad).status == first.status
    assert starts(server, bad) > tries


def test_a_context_that_a_process_has_refused_is_refused_at_once(house):
    """The model that runs is not taken away a second time, other options are tried, and so is another file."""
    server = house.start()
    path = fake_model(house.tmp_path, load_fail="there is no memory for so much", load_error="out_of_memory",
                      load_fail_above=500)
    name = server.register("user.m", path)
    body = {"model": name, "prompt": "x", "stream": False, "options": {"num_ctx": 5000}}
    assert server.chat(name).status == 200
    first = server.post("/api/generate", body)
    assert first.status == 503
    pid = wait_until(lambda: (m := loaded(server).get(name)) and m["status"] == "ready" and m["pid"], what="it is back")
    again = server.post("/api/generate", body)
    assert again.status == 503 and "`quince load user.m` tries at once" in again.json["error"]
    assert first.json["error"].startswith(again.json["error"].split(" (this is how it failed")[0])
    assert loaded(server)[name]["pid"] == pid
    body["options"]["num_ctx"] = 400
    assert server.chat(name).status == 200
    tries = starts(server, name)
    body["options"]["num_ctx"] = 6000
    assert server.post("/api/generate", body).status == 503 and starts(server, name) > tries  # another load
    wait_until(lambda: loaded(server).get(name, {}).get("status") == "ready", what="it is back")
    new = path.with_suffix(".new")
    new.write_bytes(gguf({"general.architecture": "llama", "general.name": "x", "fake.options": "{}"}))
    os.replace(new, path)
    body["options"]["num_ctx"] = 5000
    assert server.post("/api/generate", body).status == 200


def test_an_adapter_that_has_been_mended_is_tried(house):
    """The refusal is remembered with the files that the options name."""
    server = house.start()
    adapter = fake_model(house.tmp_path)
    good = house.tmp_path / "good"
    name = house.model(server, "m", load_fail="the adapter is damaged", load_fail_option="lora", load_fail_unless=str(good))
    assert server.post(f"/v1/models/{name}/options", {"lora": [{"path": str(adapter)}]}).status == 200
    assert server.chat(name).status == 409
    tries = starts(server, name)
    good.touch()
    assert server.chat(name).status == 409 and starts(server, name) == tries
    adapter.write_bytes(adapter.read_bytes() + b"more")
    assert server.chat(name).status == 200


# ---- options that name files ----

def saving(server, name, house):
    """Each way to save options with a model: a function of the options that asks for it."""
    path = str(fake_model(house.tmp_path))
    return {
        "options": lambda o: server.post(f"/v1/models/{name}/options", o),
        "load": lambda o: load(server, name, save_options=True, **o),
        "import": lambda o: server.post("/internal/recipe_options.json", {name: o}),
        "register": lambda o: server.post("/v1/models/register", {"model_name": "user.new", "checkpoint": path,
                                                                  "recipe_options": o}),
        "define": lambda o: server.post("/v1/models/register", {"model_name": "user.new", "checkpoint": "a/b:Q4_0",
                                                                "recipe_options": o}),
        "pull": lambda o: server.post("/v1/pull", {"model_name": "user.new", "checkpoint": path, "recipe_options": o}),
    }


@pytest.mark.parametrize("way", ["options", "load", "import", "register", "define", "pull"])
def test_options_that_name_a_missing_file_are_not_saved(house, way):
    server = house.start()
    name = house.model(server, "m")
    path = fake_model(house.tmp_path).rename(house.tmp_path / "gone.gguf")
    gone = server.register("user.gone", path)
    path.unlink()
    save = saving(server, name, house)[way]
    for options, option, said in (({"lora": [{"path": "/nonexistent/a.gguf"}]}, "lora", "/nonexistent/a.gguf"),
                                  ({"lora": [{"path": str(house.tmp_path)}]}, "lora", str(house.tmp_path)),
                                  ({"draft_model": "user.nobody"}, "draft_model", "user.nobody"),
                                  ({"draft_model": gone}, "draft_model", str(path))):
        reply = save(options)
        assert 400 <= reply.status < 500, reply.body
        error = reply.json["error"]
        assert error["param"].startswith(option) and said in error["message"], error
    assert server.get(f"/v1/models/{name}/options").json["saved"] == {}
    assert server.get("/v1/models/user.new").status == 404
    there = {"lora": [{"path": str(fake_model(house.tmp_path))}], "draft_model": house.model(server, "small")}
    assert save(there).status == 200


def test_the_projector_of_a_registered_file_has_to_be_there(house):
    server = house.start()
    path = str(fake_model(house.tmp_path))
    for definition in ({"checkpoint": path, "mmproj": "/nonexistent/p.gguf"},
                       {"checkpoints": {"main": path, "mmproj": "/nonexistent/p.gguf"}}):
        reply = server.post("/v1/models/register", {"model_name": "user.new", **definition})
        assert 400 <= reply.status < 500 and "/nonexistent/p.gguf" in reply.json["error"]["message"], reply.body
        assert reply.json["error"]["param"], reply.body
    assert server.get("/v1/models/user.new").status == 404


def test_who_is_no_admin_does_not_learn_which_files_there_are(house):
    server = house.start(env={"QUINCE_API_KEY": "0123456789abcdef", "QUINCE_ADMIN_API_KEY": "fedcba9876543210"})
    admin, user = ({"Authorization": f"Bearer {key}"} for key in ("fedcba9876543210", "0123456789abcdef"))
    path = fake_model(house.tmp_path)
    assert server.post("/v1/models/register", {"model_name": "user.m", "checkpoint": str(path)}, headers=admin).status == 200
    answers = set()
    for file in (path, house.tmp_path / "none.gguf", "/etc/passwd", "/root/none"):
        reply = server.post("/v1/models/user.m/options", {"lora": [{"path": str(file)}]}, headers=user)
        answers.add((reply.status, reply.body))
    assert len(answers) == 1 and answers.pop()[0] == 403


def test_others_do_not_hear_of_a_load_that_is_not_theirs(house):
    """A request that waits while another's load fails is served as if that load had never been asked for."""
    server = house.start()
    gate = house.tmp_path / "gate"
    name = house.model(server, "m", load_fail="no", load_fail_above=500, slots=1, second_until=str(gate), tokens=3)
    busy, response = server.stream(name)
    assert response.status == 200 and response.readline()
    held = server.connect()
    held.request("POST", "/v1/load", json.dumps({"model_name": name, "ctx_size": 5000}),
                 {"Content-Type": "application/json"})
    wait_until(lambda: loaded(server)[name]["requests_waiting"] == 1, what="the load waits")
    plain = server.connect()
    plain.request("POST", "/v1/chat/completions",
                  json.dumps({"model": name, "messages": [{"role": "user", "content": "hello"}]}),
                  {"Content-Type": "application/json"})
    wait_until(lambda: loaded(server)[name]["requests_waiting"] == 2, what="the chat waits")
    gate.touch()
    assert held.getresponse().status == 500
    assert plain.getresponse().status == 200
    for connection in (busy, held, plain):
        connection.close()


def test_a_load_whose_client_leaves_the_queue_is_forgotten(house):
    server = house.start()
    gate = house.tmp_path / "gate"
    name = house.model(server, "m", slots=1, second_until=str(gate), tokens=3)
    busy, response = server.stream(name)
    assert response.status == 200 and response.readline()
    pid = loaded(server)[name]["pid"]
    leaver = server.connect()
    leaver.request("POST", "/v1/load", json.dumps({"model_name": name, "ctx_size": 333}),
                   {"Content-Type": "application/json"})
    wait_until(lambda: loaded(server)[name]["requests_waiting"] == 1, what="the load waits")
    leaver.close()
    wait_until(lambda: loaded(server)[name]["requests_waiting"] == 0, what="it has left")
    gate.touch()
    response.read()
    busy.close()
    assert server.chat(name).status == 200
    after = loaded(server)[name]
    assert after["pid"] == pid and after["max_context_window"] == 1000


def test_an_option_that_goes_bad_later(house):
    """What a load has asked for is given up when the model cannot be started with it any more."""
    server = house.start()
    good = house.tmp_path / "good"
    good.touch()
    name = house.model(server, "m", load_fail="the cache is damaged", load_fail_option="slots", load_fail_unless=str(good))
    assert load(server, name, slots=3).status == 200
    good.unlink()
    os.kill(loaded(server)[name]["pid"], signal.SIGKILL)
    reply = wait_until(lambda: (r := server.chat(name)).status != 200 and r, what="the failure is told")
    assert reply.status == 409 and reply.json["error"]["param"] == "slots", reply.body
    assert server.chat(name).status == 200


def test_a_saved_option_that_goes_bad_is_told_by_its_name(house):
    server = house.start()
    good = house.tmp_path / "good"
    good.touch()
    name = house.model(server, "m", load_fail="the draft model is damaged", load_fail_option="draft_model",
                       load_fail_unless=str(good))
    small = house.model(server, "small")
    assert load(server, name, draft_model=small, save_options=True).status == 200
    unloaded(server, name)
    good.unlink()
    for _ in range(2):
        reply = server.chat(name)
        assert reply.status == 409, reply.body
        error = reply.json["error"]
        assert error["param"] == "draft_model" and "damaged" in error["message"]
    assert not server.get("/v1/health").json["failed_models"]
    # A load that says otherwise works.
    assert load(server, name, draft_model="").status == 200


def test_a_saved_draft_model_that_has_left(house):
    server = house.start()
    name, small = house.model(server, "m"), house.model(server, "small")
    assert load(server, name, draft_model=small, save_options=True).status == 200
    unloaded(server, name)
    assert server.post("/v1/delete", {"model_name": small}).status == 200
    reply = server.chat(name)
    assert reply.status == 409 and reply.json["error"]["param"] == "draft_model", reply.body


def test_unload_forgets_what_a_load_has_asked_for(house):
    """Also of a model that is not in memory at the moment."""
    server = house.start("--max-loaded-models", "1")
    name, other = house.model(server, "m"), house.model(server, "other")
    assert load(server, name, ctx_size=333).status == 200
    assert server.chat(other).status == 200
    wait_until(lambda: name not in loaded(server), what="evicted")
    assert server.post("/v1/unload", {"model_name": name}).status == 200
    assert server.chat(name).status == 200
    assert loaded(server)[name]["max_context_window"] == 1000


@pytest.mark.parametrize("options", [
    {"slots": 1000}, {"cache_type": "zz"}, {"rope_scaling": "spiral"}, {"llamacpp_args": "--port 1"},
    {"lora": [{"path": "x"}]}, {"lora": "x"}, {"weight_cache": -1},
])
def test_options_that_would_spoil_every_load_are_not_saved(house, options):
    server = house.start()
    name = house.model(server, "m")
    [key] = options
    path = fake_model(house.tmp_path)
    replies = [server.post(f"/v1/models/{name}/options", options),
               server.post("/v1/models/register", {"model_name": "user.new", "checkpoint": str(path),
                                                   "recipe_options": options}),
               server.post("/internal/recipe_options.json", {name: options})]
    for reply in replies:
        assert reply.status == 400 and key in reply.body.decode(), reply.body
    assert server.get(f"/v1/models/{name}/options").json["saved"] == {}
    assert server.get("/v1/models/user.new").status == 404


def test_an_engine_that_cannot_be_loaded_leaves_nothing_behind(house):
    """Kolosal's POST /engines registers, keeps options and loads: all of it, or nothing."""
    server = house.start()
    bad = fake_model(house.tmp_path, load_fail="damaged")
    reply = server.post("/engines", {"engine_id": "new", "model_path": str(bad)})
    assert reply.status >= 400, reply.body
    assert "new" not in server.get("/engines").body.decode()
    assert server.get("/v1/models/user.new").status == 404
    good = fake_model(house.tmp_path)
    assert server.post("/engines", {"engine_id": "new", "model_path": str(good)}).status == 201


@pytest.mark.parametrize("keep_alive", [0, -1])
def test_a_refused_request_does_not_decide_how_long_a_model_stays(house, keep_alive):
    server = house.start("--idle", "1000")
    name = house.model(server, "m", fail="this prompt cannot be")
    assert load(server, name).status == 200
    assert server.chat(name, keep_alive=keep_alive).status == 400
    wait_until(lambda: not loaded(server).get(name, {}).get("is_busy"), what="the request is over")
    stays = loaded(server)[name]["unloads_in_seconds"]
    assert stays is not None and stays > 100


def test_an_option_at_fault_that_the_request_does_not_name_is_no_mistake_of_its(house):
    """Options of an earlier load or of saved ones: 409, and the model goes on as it runs."""
    server = house.start()
    name, small = house.model(server, "m"), house.model(server, "small")
    assert load(server, name, draft_model=small).status == 200
    pid = loaded(server)[name]["pid"]
    assert server.post("/v1/delete", {"model_name": small}).status == 200
    reply = server.chat(name, ctx_size=5000)
    assert reply.status == 409 and reply.json["error"]["param"] == "draft_model", reply.body
    assert loaded(server)[name]["pid"] == pid and server.chat(name).status == 200


def test_a_request_for_more_room_says_nothing_about_the_rest(house):
    """What a load has asked for comes back with a request that only names a context."""
    server = house.start("--max-loaded-models", "1")
    name, other = house.model(server, "m"), house.model(server, "other")
    assert load(server, name, cache_type="q8_0").status == 200
    assert server.chat(other).status == 200
    wait_until(lambda: name not in loaded(server), what="evicted")
    assert server.chat(name, ctx_size=700).status == 200
    assert loaded(server)[name]["recipe_options"] == {"ctx_size": 700, "cache_type": "q8_0"}


@pytest.mark.parametrize("args", ['"open', "--port 1"])
def test_arguments_of_all_models_are_checked_when_they_are_set(house, args):
    with pytest.raises(RuntimeError, match="llamacpp-args"):
        house.start("--llamacpp-args", args)


def test_a_model_whose_file_has_gone_takes_nothing_away(house):
    """It is told as what it is, and another model does not leave for it."""
    server = house.start("--max-loaded-models", "1")
    path = fake_model(house.tmp_path).rename(house.tmp_path / "going.gguf")
    name = server.register("user.going", path)
    other = house.model(server, "other")
    assert server.chat(other).status == 200
    pid = loaded(server)[other]["pid"]
    path.rename(house.tmp_path / "elsewhere.gguf")
    for reply in (server.chat(name), load(server, name)):
        assert reply.status == 404 and "going.gguf" in reply.json["error"]["message"], reply.body
    assert loaded(server)[other]["pid"] == pid
    assert not server.get("/v1/health").json["failed_models"]
    # One that runs needs its file no more.
    (house.tmp_path / "elsewhere.gguf").rename(path)
    assert server.chat(name).status == 200
    path.unlink()
    assert server.chat(name).status == 200


# ---- with the model that ships, which was trained for 512 tokens ----

STARTER = "quince-starter"


@pytest.fixture(scope="module")
def starter(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("starter") / "data", BUILD / "bin", ROOT / "registry")
    yield server
    assert server.stop() == 0
    log = server.logs()
    assert "Sanitizer" not in log and "runtime error" not in log, log[-4000:]


def test_a_context_beyond_the_trained_one_is_that_one(starter):
    assert starter.chat(STARTER, max_tokens=1).status == 200
    pid = loaded(starter)[STARTER]["pid"]
    for route, body in (("/api/generate", {"prompt": "Hello", "stream": False, "options": {"num_ctx": 262144, "num_predict": 1}}),
                        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "hello"}], "ctx_size": 262144,
                                                  "max_tokens": 1})):
        reply = starter.post(route, {"model": STARTER, **body})
        assert reply.status == 200, reply.body
    assert starter.get("/api/ps").json["models"][0]["context_length"] == 512
    reply = load(starter, STARTER, ctx_size=100000)
    assert reply.status == 200, reply.body
    assert reply.json["ctx_size"] == 512 and reply.json["requested_ctx_size"] == 100000
    assert loaded(starter)[STARTER]["pid"] == pid  # nothing had to be loaded again
    reply = load(starter, STARTER, ctx_size=256)
    assert reply.json["ctx_size"] == 256 and "requested_ctx_size" not in reply.json
    assert loaded(starter)[STARTER]["max_context_window"] == 256
    unloaded(starter, STARTER)


def test_the_command_line_says_so(starter):
    done = subprocess.run([BUILD / "bin/quince", "--port", str(starter.port), "load", STARTER, "--ctx-size", "100000"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "512" in done.stdout and "100,000" in done.stdout, done.stdout
    unloaded(starter, STARTER)


def test_a_damaged_adapter_leaves_the_model_usable(starter, tmp_path):
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(gguf({"general.architecture": "llama", "general.type": "adapter"}))
    assert starter.chat(STARTER, max_tokens=1).status == 200
    reply = load(starter, STARTER, lora=[{"path": str(bad)}])
    assert 400 <= reply.status < 500 and reply.json["error"]["param"] == "lora", reply.body
    assert not starter.get("/v1/health").json["failed_models"]
    assert starter.chat(STARTER, max_tokens=1).status == 200
    unloaded(starter, STARTER)


def test_a_draft_model_that_is_damaged_later_is_named(starter, tmp_path):
    copy = tmp_path / "draft.gguf"
    copy.write_bytes((ROOT / "registry/starter/quince-starter.gguf").read_bytes())
    starter.register("user.draft", copy)
    assert load(starter, STARTER, draft_model="user.draft", save_options=True).status == 200
    unloaded(starter, STARTER)
    copy.write_bytes(copy.read_bytes()[:20000])
    reply = starter.chat(STARTER, max_tokens=1)
    assert reply.status == 409 and reply.json["error"]["param"] == "draft_model", reply.body
    copy.unlink()
    reply = starter.chat(STARTER, max_tokens=1)
    assert reply.status == 409 and reply.json["error"]["param"] == "draft_model", reply.body
    assert starter.request("DELETE", f"/v1/models/{STARTER}/options").status == 200
    assert starter.chat(STARTER, max_tokens=1).status == 200
    unloaded(starter, STARTER)


def test_memory_that_is_there_beside_memory_that_was_planned(starter):
    assert starter.chat(STARTER, max_tokens=1).status == 200
    model = loaded(starter)[STARTER]
    resident = int(open(f"/proc/{model['pid']}/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")
    assert model["memory_bytes"] > 0
    assert resident / 2 < model["resident_bytes"] < resident * 2
    [shown] = starter.get("/api/ps").json["models"]
    assert shown["size"] == model["memory_bytes"] and shown["resident_bytes"] > 0
