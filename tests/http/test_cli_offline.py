"""`quince config` while no server runs: config.json itself, with the server's own checks."""
import json
import socket

import pytest
from cli_kit import Cli
from conftest import Server, free_port


@pytest.fixture
def home(tmp_path):
    (tmp_path / "data").mkdir(mode=0o700)
    return tmp_path


@pytest.fixture
def cli(home):
    """`quince` where no server runs."""
    return Cli(home, free_port())


def written(home):
    return json.loads((home / "data" / "config.json").read_text())


def test_config_without_a_server(cli, home):
    assert "localhost" in cli("config").out and cli("config", "idle").out == "0\n"
    assert not (home / "data" / "config.json").exists()
    done = cli("config", "set", "idle=60", "log_level=debug")
    assert done.returncode == 0 and "idle = 60" in done.out, done.err
    assert written(home) == {"idle": 60, "log-level": "debug"}
    assert (home / "data" / "config.json").stat().st_mode & 0o777 == 0o600
    assert cli("config", "idle").out == "60\n"
    assert cli("config", "--json", "log-level").out == '"debug"\n'
    assert json.loads(cli("config", "--json").out)["log_level"] == "debug"
    assert cli("config", "reset", "idle").returncode == 0 and written(home) == {"log-level": "debug"}


def test_the_same_checks_without_a_server(cli, home):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        for change, words in (("idle=x", "whole number"), ("listen=abc", "listen"), ("nonsense=1", "not a setting"),
                              ("host=0.0.0.0", "quince keys add"), ("host=10.99.99.99", "10.99.99.99"),
                              ("data-dir=/tmp", "flag"), (f"port={s.getsockname()[1]}", "taken")):
            done = cli("config", "set", "prefix-cache=true", change)
            assert done.returncode == 1 and words in done.err, (change, done.err)
            assert not (home / "data" / "config.json").exists()
    assert cli("config", "set", "host=0.0.0.0", QUINCE_API_KEY="a-key-of-the-environment").returncode == 0


def test_what_stops_the_start_is_repaired(cli, home, fake_backend_dir):
    wrong = {"listen": "abc", "no-such-setting": 1, "idle": 7, "slots": "many"}
    (home / "data" / "config.json").write_text(json.dumps(wrong))
    with pytest.raises(RuntimeError, match="config.json"):
        Server(home / "data", fake_backend_dir)
    done = cli("config")
    assert done.returncode == 0 and "abc" in done.out
    for name in ("listen", "no-such-setting", "slots"):
        assert f"quince config reset {name}" in done.err
    done = cli("config", "set", "idle=8")  # what is wrong beside it stays wrong, and is told
    assert done.returncode == 0 and "will not start" in done.err
    assert cli("config", "reset", "listen", "no-such-setting").returncode == 0
    done = cli("config", "set", "slots=2")
    assert done.returncode == 0 and "will not start" not in done.err
    assert written(home) == {"idle": 8, "slots": 2}
    server = Server(home / "data", fake_backend_dir)
    assert server.get("/internal/config").json["slots"] == 2
    assert server.stop() == 0


def test_a_running_servers_file_is_left_to_it(cli, home, fake_backend_dir):
    server = Server(home / "data", fake_backend_dir)
    done = cli("config", "set", "idle=5")  # asks another port, where no server listens
    assert done.returncode == 1 and "another quinced uses the data folder" in done.err
    assert server.stop() == 0


def test_a_file_that_is_no_json_is_not_touched(cli, home):
    (home / "data" / "config.json").write_text("{broken")
    for words in (["config"], ["config", "set", "idle=5"], ["config", "reset", "idle"]):
        done = cli(*words)
        assert done.returncode == 1 and "is not JSON" in done.err
    assert (home / "data" / "config.json").read_text() == "{broken"
