"""`quince config` and `quince keys`, and keys on the command line."""
import json

import pytest
from cli_kit import Cli


@pytest.fixture
def cli(server, tmp_path):
    return Cli(tmp_path, server.port)


def test_config_shows_and_sets(cli, server):
    table = cli("config").out.splitlines()
    assert table[0].split() == ["Setting", "From", "Value"]
    assert all(len(line) <= 80 for line in table)
    assert ["idle", "default", "0"] in [line.split() for line in table]
    done = cli("config", "set", "idle=60", "log_level=debug", "profile=ollama")
    assert (done.returncode, done.err) == (0, "")
    assert done.out == ("idle = 60\nlog_level = debug\nprofile = ollama\n"
                        "profile takes effect at the server's next start\n")
    assert cli("config", "idle").out == "60\n"
    assert cli("config", "log.level").out == "debug\n"
    assert cli("config", "--json", "profile").out == '"ollama"\n'
    assert json.loads(cli("config", "--json").out)["idle"] == 60
    assert "ollama *\n" in cli("config").out and "next start" in cli("config").out
    assert json.loads((server.data_dir / "config.json").read_text()) == {
        "idle": 60, "log-level": "debug", "profile": "ollama"}
    assert cli("config", "reset", "idle", "profile").returncode == 0
    assert cli("config", "idle").out == "0\n"
    assert json.loads((server.data_dir / "config.json").read_text()) == {"log-level": "debug"}


def test_config_says_what_is_wrong(cli):
    for args, status, word in ((("set", "idle=soon"), 1, "whole number"), (("set", "backend-dir=/x"), 1, "backend-dir"),
                               (("set", "idel=1"), 1, "did you mean idle"), (("set", "idle"), 2, "NAME=VALUE"),
                               (("set", "=1"), 2, "NAME=VALUE"), (("set",), 2, "usage"), (("idle", "x"), 2, "usage"),
                               (("reset", "idle=1"), 2, "not a name"), (("reset",), 2, "usage"),
                               (("nothing",), 2, "no setting")):
        done = cli("config", *args)
        assert done.returncode == status, (args, done.err)
        assert word in done.err and done.out == "", (args, done.err)
    assert json.loads(cli("config", "set", "idle=x", "--json").out)["error"]["code"]


def test_flags_that_win_are_told(house, tmp_path):
    cli = Cli(tmp_path, house.start("--idle", "5").port)
    assert "overrides it" in cli("config", "set", "idle=6").out
    assert cli("config", "idle").out == "5\n"


def test_keys(cli):
    assert "No keys" in cli("keys").out
    done = cli("keys", "add", "phone")
    phone = done.out.strip()
    assert done.returncode == 0 and phone.startswith("qk-") and "not shown again" in done.err
    done = cli("list")
    assert done.returncode == 1 and "needs an API key" in done.err and "QUINCE_API_KEY" in done.err
    assert cli("list", "--all", QUINCE_API_KEY=phone).returncode == 0
    assert cli("list", "--all", LEMONADE_API_KEY=phone).returncode == 0
    assert cli("--api-key", phone, "list", "--all").returncode == 0
    done = cli("list", "--api-key", "wrong", QUINCE_API_KEY=phone)
    assert done.returncode == 1 and "does not accept this API key" in done.err
    # While there is no admin key, the user's own programs are enough.
    boss = json.loads(cli("keys", "add", "boss", "--admin", "--json").out)["key"]
    done = cli("keys", QUINCE_API_KEY=phone)
    assert done.returncode == 1 and "admin key" in done.err
    for env in ({"QUINCE_API_KEY": phone, "QUINCE_ADMIN_API_KEY": boss}, {"QUINCE_API_KEY": boss},
                {"QUINCE_ADMIN_API_KEY": boss}, {"LEMONADE_ADMIN_API_KEY": boss, "QUINCE_API_KEY": phone}):
        rows = [line.split() for line in cli("keys", "list", **env).out.splitlines()]
        assert [r[:3] for r in rows] == [["Name", "Opens", "From"], ["phone", "models", "catalog"],
                                         ["boss", "everything", "catalog"]], env
        assert cli("list", "--all", **env).returncode == 0
        assert cli("config", "idle", **env).out == "0\n"
    assert cli("keys", "remove", "phone", QUINCE_API_KEY=boss).out == "phone is no longer valid\n"
    assert cli("list", QUINCE_API_KEY=phone).returncode == 1
    done = cli("keys", "remove", "phone", QUINCE_API_KEY=boss)
    assert done.returncode == 1 and "no key named" in done.err
    assert cli("keys", "remove", "../x", QUINCE_API_KEY=boss).returncode == 1


def test_keys_misused(cli):
    for args in (("add",), ("add", "a", "b"), ("remove",), ("list", "x"), ("list", "--admin"), ("remove", "x", "--admin"),
                 ("nothing",)):
        assert cli("keys", *args).returncode == 2, args
    assert cli("keys", "add", "a b").returncode == 1
    for key in ("a\nX-Evil: 1", "a\r"):
        done = cli("list", QUINCE_API_KEY=key)
        assert done.returncode == 2 and "control character" in done.err
