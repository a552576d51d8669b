"""What a key without admin rights can change of the models that all clients share, by pulling."""

import json
import urllib.parse

import pytest
from conftest import Depot, Server, model_file, wait_until
from test_owners import ADMIN, ENV, add_key
from test_pull import Stream, held

FIRST, SECOND = "owner/first", "owner/second"


class KeyedDepot(Depot):
    def start(self, *args):
        server = Server(self.data, self.house.backend_dir, self.house.models_dir,
                        ("--hf-endpoint", self.hub.url, "--allow-private-hubs", "--no-discovery", *args), env=ENV)
        self.house.servers.append(server)
        return server


@pytest.fixture
def shared(house, hub):
    """A depot with two repositories, a server with an admin key, and two keys without admin rights."""
    hub.repo(FIRST, {"a-Q4_0.gguf": model_file("first"), "a-Q8_0.gguf": model_file("first, larger", 6000)})
    hub.repo(SECOND, {"b-Q4_0.gguf": model_file("second", 5000)})
    depot = KeyedDepot(house, hub)
    server = depot.start()
    return depot, server, add_key(server, "anna"), add_key(server, "bob")


def pull(server, headers, name, checkpoint=None, **more):
    body = {"model_name": name, **({"checkpoint": checkpoint} if checkpoint else {}), **more}
    return server.post("/v1/pull", body, headers=headers)


def entry(server, name):
    return server.get(f"/v1/models/{name}", headers=ADMIN).json


def refused(reply):
    return reply.status == 403 and "admin" in reply.body.decode()


OTHER_DEFINITIONS = [
    {"checkpoint": f"{SECOND}:Q4_0"}, {"checkpoint": f"{FIRST}:Q8_0"}, {"checkpoint": FIRST},
    {"checkpoint": f"{FIRST}:Q4_0@other"}, {"checkpoint": "http://127.0.0.1:9/a-Q4_0.gguf"},
    {"checkpoints": {"main": f"{FIRST}:Q4_0", "mmproj": f"{SECOND}:Q4_0"}},
    {"checkpoint": f"{FIRST}:Q4_0", "mmproj": "a-Q8_0.gguf"},
    {"checkpoint": f"{FIRST}:Q4_0", "source": "modelscope"},
    {"checkpoint": f"{FIRST}:Q4_0", "embedding": True}, {"checkpoint": f"{FIRST}:Q4_0", "labels": ["vision"]},
    {"checkpoint": f"{FIRST}:Q4_0", "recipe": "whispercpp"},
    {"checkpoint": f"{FIRST}:Q4_0", "recipe_options": {"ctx_size": 512}},
    {"checkpoint": f"{FIRST}:Q4_0", "image_defaults": {"steps": 3}}]


def test_a_key_leaves_models_as_they_are_defined(shared):
    depot, server, anna, bob = shared
    made = pull(server, ADMIN, "user.m", f"{FIRST}:Q4_0", labels=["coding"], recipe="llamacpp",
                image_defaults={"steps": 7}, recipe_options={"ctx_size": 1024})
    assert made.status == 200, made.body
    before = entry(server, "user.m")
    for more in OTHER_DEFINITIONS:
        for stream in (False, True):
            reply = pull(server, anna, "user.m", stream=stream, **more)
            assert refused(reply), (more, reply.status, reply.body)
    assert entry(server, "user.m") == before
    # What the model is already may be pulled, in either form, and stays as it is.
    for more in ({}, {"checkpoint": f"{FIRST}:Q4_0"}, {"checkpoint": f"hf.co/{FIRST}:Q4_0", "labels": ["coding"]},
                 {"checkpoints": {"main": f"{FIRST}:Q4_0"}, "recipe": "llamacpp",
                  "recipe_options": {"ctx_size": 1024}}):
        reply = pull(server, anna, "user.m", **more)
        assert reply.status == 200, (more, reply.body)
    assert entry(server, "user.m") == before
    # A model that a key has brought belongs to all, too.
    assert pull(server, anna, "user.hers", f"{FIRST}:Q8_0").status == 200
    assert refused(pull(server, bob, "user.hers", f"{SECOND}:Q4_0"))
    assert pull(server, ADMIN, "user.hers", f"{SECOND}:Q4_0").status == 200
    assert entry(server, "user.hers")["checkpoint"] == f"{SECOND}:Q4_0"


def test_a_key_leaves_definitions_without_files_as_they_are(shared):
    depot, server, anna, _ = shared
    made = server.post("/v1/models/register", {"model_name": "user.m", "checkpoint": f"{FIRST}:Q4_0",
                                               "recipe": "llamacpp"}, headers=ADMIN)
    assert made.status == 200, made.body
    assert refused(pull(server, anna, "user.m", f"{SECOND}:Q4_0"))
    assert pull(server, anna, "user.m").status == 200
    assert entry(server, "user.m")["checkpoint"] == f"{FIRST}:Q4_0" and entry(server, "user.m")["downloaded"]


def test_a_keys_new_name_hides_no_other(shared):
    """Names are found without "user." and in any case, before aliases, other programs' models and the built-in list."""
    depot, server, anna, _ = shared
    server.stop()
    depot.listed({"Listed-GGUF": {"checkpoint": f"{FIRST}:Q4_0", "recipe": "llamacpp", "size": 0.1}})
    (depot.house.models_dir / "ollama_names.json").write_text(json.dumps({"llama9:1b": f"{FIRST}:Q4_0"}))
    server = depot.start()
    assert pull(server, ADMIN, "user.m", f"{FIRST}:Q4_0").status == 200
    reply = server.post("/internal/aliases", {"alias": "short", "model_name": "user.m"}, headers=ADMIN)
    assert reply.status == 200, reply.body
    for name in ("user.short", "user.Listed-GGUF", "user.listed-gguf", "user.M", "user.user.m", "user.llama9:1b",
                 "user.owner/second", "user.hf.co/owner/second:Q4_0"):
        reply = pull(server, anna, name, f"{SECOND}:Q4_0")
        assert refused(reply), (name, reply.status, reply.body)
    assert pull(server, anna, "user.new", f"{SECOND}:Q4_0").status == 200
    chat = server.post("/v1/chat/completions", {"model": "short", "messages": [{"role": "user", "content": "x"}]},
                       headers=anna)
    assert chat.status == 200 and entry(server, "short")["checkpoint"] == f"{FIRST}:Q4_0"


def test_a_download_does_not_replace_what_an_admin_defined_meanwhile(shared):
    depot, server, anna, _ = shared
    depot.hub.repo("owner/large", {"c-Q4_0.gguf": model_file("large", 600_000)})
    fault = held(depot.hub, "c-Q4_0.gguf")
    begun = pull(server, anna, "user.m", "owner/large:Q4_0", subscribe=False)
    assert begun.status == 200, begun.body
    mine = depot.house.tmp_path / "mine.gguf"
    mine.write_bytes(model_file("mine"))
    made = server.post("/v1/models/register", {"model_name": "user.m", "recipe": "llamacpp", "checkpoint": str(mine)},
                       headers=ADMIN)
    assert made.status == 200, made.body
    fault.options.pop("hold")
    jobs = wait_until(lambda: [j for j in server.get("/v1/downloads?all=true", headers=ADMIN).json
                               if j["status"] != "downloading"], what="the end of the download")
    assert jobs[0]["status"] == "error" and "another model" in jobs[0]["error"], jobs
    assert entry(server, "user.m")["checkpoint"] == str(mine)


@pytest.mark.parametrize("options", [{"pinned": True}, {"pinned": False}, {"llamacpp_args": "--verbose"},
                                     {"whispercpp_args": "-x"}, {"sdcpp_args": "-x"},
                                     {"ctx_size": 512, "llamacpp_args": "--chat-template-file /etc/hostname"}])
def test_a_pull_saves_no_options_that_a_load_refuses_to_a_key(shared, options):
    _, server, anna, _ = shared
    for recipe in ({}, {"recipe": "llamacpp"}):
        reply = pull(server, anna, "user.m", f"{FIRST}:Q4_0", recipe_options=options, **recipe)
        assert refused(reply), (reply.status, reply.body)
    assert server.get("/v1/models/user.m", headers=ADMIN).status == 404
    # Options that a key may load with are kept, and an admin sets any.
    reply = pull(server, anna, "user.m", f"{FIRST}:Q4_0", recipe_options={"ctx_size": 512, "llamacpp_args": ""})
    assert reply.status == 200, reply.body
    assert entry(server, "user.m")["recipe_options"]["ctx_size"] == 512
    assert pull(server, ADMIN, "user.n", f"{FIRST}:Q4_0", recipe_options=options).status == 200


# ---- downloads ----

@pytest.fixture
def large(shared):
    """A download of anna's that comes so far and no further until the fault's option is taken away."""
    depot, server, anna, bob = shared
    depot.hub.repo("owner/large", {"c-Q4_0.gguf": model_file("large", 600_000)})
    fault = held(depot.hub, "c-Q4_0.gguf")
    begun = pull(server, anna, "user.large", "owner/large:Q4_0", subscribe=False)
    assert begun.status == 200, begun.body
    wait_until(lambda: job(server)["bytes_downloaded"] > 0, what="the first bytes")
    return fault


def job(server, name="user.large"):
    return next(j for j in server.get("/v1/downloads?all=true", headers=ADMIN).json if j["model_name"] == name)


def control(server, headers, action, name="user.large", **more):
    return server.post("/v1/downloads/control", {"id": "model:" + name, "action": action, **more}, headers=headers)


def test_a_download_is_of_all_that_asked_for_it(shared, large):
    depot, server, anna, bob = shared
    assert refused(control(server, bob, "cancel"))
    assert pull(server, bob, "user.large", "owner/large:Q4_0", subscribe=False).status == 200
    # It is of both now: neither pauses it or changes its turn, nor ends it for the other.
    for key in (anna, bob):
        assert refused(control(server, key, "pause")) and refused(control(server, key, "priority", priority=-5))
        assert job(server)["status"] == "downloading" and job(server)["priority"] == 0
    waiting = Stream(server, headers=anna, model_name="user.large", checkpoint="owner/large:Q4_0")
    told = iter(waiting)
    assert next(told)[0] == "progress"
    assert control(server, anna, "cancel").status == 200
    name, data = list(told)[-1]
    waiting.close()
    assert name == "error" and data["code"] == "cancelled"
    assert job(server)["status"] == "downloading"
    assert refused(control(server, anna, "cancel"))
    server.stop()
    server = depot.start()  # whose it is, is kept
    assert refused(control(server, anna, "pause"))
    assert control(server, bob, "pause").json["status"] == "paused"
    assert refused(control(server, anna, "resume"))
    # Who asks for it wants it to come.
    large.options.pop("hold")
    assert pull(server, anna, "user.large", "owner/large:Q4_0").status == 200
    assert entry(server, "user.large")["downloaded"]


def test_an_admin_ends_a_download_for_all(shared, large):
    _, server, anna, bob = shared
    assert pull(server, bob, "user.large", "owner/large:Q4_0", subscribe=False).status == 200
    assert control(server, ADMIN, "pause").json["status"] == "paused"
    assert control(server, ADMIN, "cancel").json["status"] == "cancelled"
    # Without an owner now: it belongs to the next user who asks for it.
    assert pull(server, bob, "user.large", "owner/large:Q4_0", subscribe=False).status == 200
    assert refused(control(server, anna, "cancel"))
    assert control(server, bob, "cancel").status == 200


def test_a_pull_takes_no_turn_of_others(shared, large):
    _, server, anna, bob = shared
    for more in ({"priority": 1}, {"priority": 100}):
        assert refused(pull(server, bob, "user.other", f"{SECOND}:Q4_0", subscribe=False, **more))
        assert refused(pull(server, bob, "user.large", "owner/large:Q4_0", subscribe=False, **more))
        assert refused(control(server, anna, "priority", **more))
    assert pull(server, bob, "user.large", "owner/large:Q4_0", subscribe=False, priority=-100).status == 200
    assert job(server)["priority"] == 0
    assert pull(server, ADMIN, "user.large", "owner/large:Q4_0", subscribe=False, priority=7).json["priority"] == 7


def test_a_failed_download_stays_its_owners(shared):
    depot, server, anna, bob = shared
    depot.hub.repo("owner/large", {"c-Q4_0.gguf": model_file("large", 600_000)})
    broken = depot.hub.fault("c-Q4_0.gguf", data=model_file("damaged", 600_000), host="files")
    assert pull(server, anna, "user.large", "owner/large:Q4_0", recipe_options={"ctx_size": 512}).status >= 400
    assert job(server)["status"] == "error"
    reply = pull(server, bob, "user.large", f"{SECOND}:Q4_0")
    assert reply.status == 409 and "another name" in reply.body.decode(), reply.body
    assert job(server)["checkpoint"] == "owner/large:Q4_0"
    # Bob may have it come as anna asked for it.
    depot.hub.heal()
    assert pull(server, bob, "user.large", "owner/large:Q4_0", recipe_options={"ctx_size": 4096}).status == 200
    assert entry(server, "user.large")["recipe_options"]["ctx_size"] == 512
    assert broken


def test_what_a_load_downloads_is_its_owners(shared):
    depot, server, anna, bob = shared
    depot.hub.repo("owner/large", {"c-Q4_0.gguf": model_file("large", 600_000)})
    fault = held(depot.hub, "c-Q4_0.gguf")
    made = server.post("/v1/models/register", {"model_name": "user.large", "checkpoint": "owner/large:Q4_0",
                                               "recipe": "llamacpp"}, headers=ADMIN)
    assert made.status == 200, made.body
    c = server.connect()
    c.request("POST", "/v1/load", json.dumps({"model_name": "user.large"}),
              {"Content-Type": "application/json", **anna})
    wait_until(lambda: server.get("/v1/downloads", headers=ADMIN).json, what="the download")
    assert refused(control(server, bob, "pause"))
    assert control(server, anna, "pause").status == 200
    assert c.getresponse().status >= 400
    c.close()
    fault.options.pop("hold")


# ---- secrets in addresses ----

SECRET = "t0ken-0f-the-address"


def everything(server, headers):
    """The bodies of all lists and descriptions that name where models come from."""
    reads = ["/v1/models", "/v1/models?show_all=true", "/v1/models/user.m", "/v1/models/user.m/files?include_paths=true",
             "/v1/models/user.m/options", "/v1/downloads?all=true", "/v1/health", "/api/tags", "/api/ps", "/running",
             "/slots", "/metrics", "/logs", "/v1/stats", "/internal/user_models.json", "/internal/recipe_options.json"]
    said = [server.get(path, headers=headers).body.decode() for path in reads]
    said += [server.post(path, body, headers=headers).body.decode() for path, body in (
        ("/api/show", {"model": "user.m", "verbose": True}), ("/v1/load", {"model_name": "user.m"}),
        ("/v1/models/check-updates", {}))]
    return "\n".join(said)


def test_secrets_of_addresses_are_never_shown(shared):
    depot, server, anna, _ = shared
    server.post("/v1/log-level", {"level": "debug"}, headers=ADMIN)
    depot.hub.files["plain.gguf"] = model_file("plain", 600_000)
    address = depot.hub.plain("plain.gguf")
    secret = f"{address}?token={SECRET}&x={SECRET}#{SECRET}"
    fault = held(depot.hub, "plain.gguf")
    replies = [pull(server, anna, "user.m", secret, subscribe=False)]
    replies.append(pull(server, anna, "user.m", address + f"?other={SECRET}"))  # 409: it comes from elsewhere
    replies.append(server.post("/v1/downloads/control", {"id": "model:user.m", "action": "resume"}, headers=anna))
    for headers in (anna, ADMIN):
        replies.append(server.get("/v1/downloads", headers=headers))
    fault.options.pop("hold")
    replies.append(pull(server, anna, "user.m", secret, stream=True))
    replies.append(pull(server, anna, "user.m", secret))
    replies.append(pull(server, ADMIN, "user.two", checkpoints={"main": secret}))
    for bad in (f"{depot.hub.plain('none.gguf')}?token={SECRET}",
                f"http://anna:{SECRET}@127.0.0.1:9/m.gguf", f"ftp://anna:{SECRET}@127.0.0.1:9/m.gguf?token={SECRET}",
                f"http://127.0.0.1:99999/m.gguf?token={SECRET}", f"https:///x?token={SECRET}"):
        for headers in (anna, ADMIN):
            replies.append(pull(server, headers, "user.bad", bad))
            assert replies[-1].status >= 400, (bad, replies[-1].body)
            replies.append(server.get(f"/v1/pull/variants?checkpoint={urllib.parse.quote(bad)}", headers=headers))
    for reply in replies:
        assert SECRET not in reply.body.decode(), (reply.status, reply.body)
    assert entry(server, "user.m")["checkpoint"] == address + "?"
    for headers in (anna, ADMIN):
        assert SECRET not in everything(server, headers)
    assert SECRET not in server.logs()
    # It is kept for the download itself.
    assert any(f"plain.gguf?token={SECRET}&x={SECRET}" in r.path for r in depot.hub.log)
