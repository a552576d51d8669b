"""The settings of a running server: by request, by config.json and SIGHUP; what may never be changed."""
import json
import signal
import socket

import pytest
from conftest import PATIENCE_S, wait_until

SET = "/internal/set"


def config(server):
    return server.get("/internal/config").json


def saved(server):
    return json.loads((server.data_dir / "config.json").read_text())


def details(server):
    return {s["name"]: s for s in server.get("/internal/config?details=true").json["settings"]}


def test_set_saves_and_takes_effect(server):
    assert config(server)["log_level"] == "info"
    reply = server.post(SET, {"log_level": "debug", "idle": 60})
    assert reply.status == 200, reply.body
    assert reply.json["status"] == "success"
    assert reply.json["updated"] == {"log_level": "debug", "idle": 60}
    assert reply.json["overridden"] == []
    assert config(server)["log_level"] == "debug" and config(server)["idle"] == 60
    assert saved(server) == {"log-level": "debug", "idle": 60}
    server.get("/live")
    wait_until(lambda: " debug http " in server.logs(), what="what is logged at debug")
    assert details(server)["log-level"]["from"] == "config.json"
    # Back to what it is without it; other keys stay.
    assert server.post(SET, {"log-level": None}).status == 200
    assert config(server)["log_level"] == "info"
    assert saved(server) == {"idle": 60}


def test_restart_keeps_what_was_set(house):
    server = house.start()
    assert server.post(SET, {"profile": "ollama", "drain": "7"}).json["restart_required"] == ["profile"]
    assert details(server)["profile"]["restart_required"] is True
    assert details(server)["drain"]["restart_required"] is False
    server.stop()
    again = type(server)(server.data_dir, house.backend_dir, house.models_dir)
    house.servers.append(again)
    assert config(again)["profile"] == "ollama" and config(again)["drain"] == 7
    assert again.get("/live").headers["X-API-Profile"] == "ollama"


def test_flags_beat_what_is_saved(house):
    server = house.start("--log-level", "warn")
    reply = server.post(SET, {"log_level": "debug"}).json
    assert reply["overridden"] == ["log_level"]
    assert config(server)["log_level"] == "warn" and details(server)["log-level"]["from"] == "flag"


def test_params_hold_until_the_server_stops(server):
    assert server.post("/v1/params", {"log_level": "debug"}).status == 200
    assert config(server)["log_level"] == "debug" and details(server)["log-level"]["from"] == "request"
    assert not (server.data_dir / "config.json").exists()
    assert server.post("/api/v1/log-level", {"level": "warning"}).json == {"status": "success", "level": "warning"}
    assert config(server)["log_level"] == "warning"
    # What is saved afterwards holds from then on.
    assert server.post(SET, {"log_level": "error"}).json["overridden"] == []
    assert config(server)["log_level"] == "error"


@pytest.mark.parametrize("body", [
    {"log_level": "loud"}, {"idle": -1}, {"idle": "soon"}, {"idle": 1.5}, {"no_presets": "maybe"},
    {"idle": {"a": 1}}, {"unheard_of": 1}, {"profile": ""}, {"idle": 1, "drain": -5},
    {"idle": 1, "IDLE": 2}, {"log-level": "info", "log_level": "debug"},
])
def test_nothing_changes_unless_all_is_right(server, body):
    before = config(server)
    for path in (SET, "/v1/params"):
        reply = server.post(path, body)
        assert reply.status == 400, reply.body
        assert reply.json["error"]["param"]
    assert config(server) == before
    assert not (server.data_dir / "config.json").exists()


@pytest.mark.parametrize("name", [
    "backend-dir", "backend_dir", "builtin-dir", "data-dir", "models-dir", "extra-models-dir", "insecure",
    "hf-endpoint", "modelscope-endpoint", "ollama-registry", "allow-private-hubs", "packs", "prefer-system",
    "no-fetch-executables", "llamacpp-backend", "llamacpp-args", "whispercpp-backend", "sd-cpp-backend"])
def test_what_is_executed_cannot_be_changed(server, name):
    """Nor where secrets go, nor which guards are off."""
    for path in (SET, "/v1/params"):
        for value in ("/tmp/evil", True, None):
            reply = server.post(path, {name: value})
            assert reply.status == 400
            assert "cannot be changed by a request" in reply.json["error"]["message"]
            assert name.replace("_", "-") in reply.json["error"]["message"]


def test_lists_what_is_by_hand(server):
    """A new setting that names a program, a folder or a place secrets go is found here."""
    by_hand = {n for n, s in details(server).items() if s["by_hand"]}
    for name in details(server):
        if name.endswith(("-dir", "-endpoint", "-registry")):
            assert name in by_hand, name


def test_defaults(server):
    defaults = server.get("/internal/config/defaults").json
    assert defaults["port"] == 13305 and defaults["log_level"] == "info"
    assert set(defaults) == set(config(server))
    assert config(server)["port"] == 0  # the flag of the tests


def test_malformed_bodies_change_nothing(server):
    for path in (SET, "/v1/params", "/v1/log-level"):
        for body in ("", "{", "[]", "1", '{"a":'):
            reply = server.request("POST", path, body, {"Content-Type": "application/json"})
            assert reply.status == 400, (path, body)
    assert server.post("/v1/log-level", {}).status == 400
    assert server.post("/v1/log-level", {"level": 3}).status == 400


def test_damaged_file_is_not_overwritten(server):
    path = server.data_dir / "config.json"
    path.write_text('{"idle": 5,')
    reply = server.post(SET, {"idle": 6})
    assert reply.status == 409 and "config.json" in reply.json["error"]["message"]
    assert path.read_text() == '{"idle": 5,'


def test_saves_into_the_file_a_link_names(server):
    real = server.data_dir / "mine.json"
    real.write_text('{"idle": 5, "drain": 9}')
    (server.data_dir / "config.json").symlink_to(real)
    assert server.post(SET, {"idle": 6}).status == 200
    assert json.loads(real.read_text()) == {"drain": 9, "idle": 6}
    assert (server.data_dir / "config.json").is_symlink()


def test_many_at_once_are_all_kept(server):
    """Each reads what the one before has written."""
    import threading
    names = ["idle", "drain", "queue_limit", "disk_reserve", "body_limit", "context", "slots", "threads"]
    threads = [threading.Thread(target=server.post, args=(SET, {n: i + 1})) for i, n in enumerate(names)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert saved(server) == {n.replace("_", "-"): i + 1 for i, n in enumerate(names)}


def hang_up(server):
    count = server.logs().count("signal=1 ")
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: server.logs().count("signal=1 ") > count, what="the settings read again")


def test_hangup_reads_settings_again(server):
    path = server.data_dir / "config.json"
    path.write_text('{"log-level": "debug", "profile": "kolosal"}')
    hang_up(server)
    assert config(server)["log_level"] == "debug"
    log = server.logs()
    assert 'setting=log-level from="config.json" takes_effect=now' in log
    assert 'setting=profile from="config.json" takes_effect=at_next_start' in log
    server.get("/live")
    wait_until(lambda: " debug http " in server.logs(), what="what is logged at debug")
    # A wrong file changes nothing and says so.
    path.write_text('{"log-level": "info", "drain": "x"}')
    hang_up(server)
    assert "settings=unchanged" in server.logs() and "drain" in server.logs()
    assert config(server)["log_level"] == "debug"
    assert server.process.poll() is None


def test_hangup_does_not_disturb_requests(house):
    server = house.start()
    model = house.model(server, "m", tokens=50, token_ms=5)
    connection, response = server.stream(model)
    hang_up(server)
    assert response.status == 200 and b"[DONE]" in response.read()
    connection.close()


def test_shutdown(server):
    reply = server.post("/internal/shutdown", {})
    assert reply.status == 200 and reply.json["status"] == "success"
    assert server.process.wait(PATIENCE_S) == 0


def test_limits_are_numbers_where_they_are(server):
    """Programs made for Lemonade read max_loaded_models as a number."""
    assert config(server)["max_loaded_models"] == 1
    assert server.post(SET, {"max_loaded_models": 3}).status == 200
    assert config(server)["max_loaded_models"] == 3 and saved(server)["max-loaded-models"] == 3
    assert server.get("/v1/health").json["max_models"]["llm"] == 3
    assert server.post(SET, {"max_loaded_models": {"llm": 2, "embedding": -1}}).status == 200
    assert config(server)["max_loaded_models"] == {"llm": 2, "embedding": -1, "reranking": 1, "transcription": 1,
                                                   "image": 1, "tts": 1}
    assert server.get("/v1/health").json["max_models"]["llm"] == 2
    hang_up(server)
    assert server.get("/v1/health").json["max_models"]["llm"] == 2


# ---- what would stop the next start ----

def taken_port():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen()
    return s, s.getsockname()[1]


@pytest.mark.parametrize("changes, words", [
    ({"host": "0.0.0.0"}, "quince keys add"),           # no key keeps anybody out
    ({"host": "::"}, "quince keys add"),
    ({"host": "10.99.99.99"}, "10.99.99.99"),           # an address of no machine here
    ({"host": "no-such-name.invalid"}, "not an address"),
    ({"listen": "abc"}, "listen"),
    ({"listen": "70000=ollama"}, "listen"),
    ({"listen": "8080=nobody"}, "listen"),
    ({"listen": "10.99.99.99:8080=auto"}, "10.99.99.99"),
    ({"port": 18123, "websocket_port": "18123"}, "twice"),
    ({"port": 18123, "listen": "18123=auto"}, "twice")])
def test_what_would_stop_the_next_start_is_refused(server, changes, words):
    reply = server.post(SET, changes)
    assert reply.status in (400, 409) and words in reply.json["error"]["message"], reply.body
    assert not (server.data_dir / "config.json").exists()
    assert config(server)["host"] == "localhost" and config(server)["listen"] == ""


def test_a_port_of_another_program_is_refused(server):
    s, port = taken_port()
    with s:
        for changes in ({"port": port}, {"listen": f"{port}=auto"}, {"ollama_port": port}, {"websocket_port": port}):
            reply = server.post(SET, changes)
            assert reply.status == 409 and f"port {port}" in reply.json["error"]["message"], (changes, reply.body)
        assert not (server.data_dir / "config.json").exists()
        assert server.post(SET, {"idle": 5}).status == 200
    assert server.post(SET, {"port": server.port}).status == 200  # its own


def test_keys_make_an_open_address_possible(house):
    server = house.start(env={"QUINCE_API_KEY": "a-key-of-the-environment-123"})
    headers = {"Authorization": "Bearer a-key-of-the-environment-123"}
    assert server.post(SET, {"host": "0.0.0.0"}, headers=headers).status == 200


def test_the_last_key_stays_for_a_start_that_needs_it(server):
    key = server.post("/internal/keys", {"name": "phone", "admin": True}).json["key"]
    headers = {"Authorization": f"Bearer {key}"}
    assert server.post(SET, {"host": "0.0.0.0"}, headers=headers).status == 200
    reply = server.request("DELETE", "/internal/keys/phone", headers=headers)
    assert reply.status == 409 and "0.0.0.0" in reply.json["error"]["message"]
    assert server.post(SET, {"host": None}, headers=headers).status == 200
    assert server.request("DELETE", "/internal/keys/phone", headers=headers).status == 200
