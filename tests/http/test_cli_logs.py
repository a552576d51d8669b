"""quince logs: of one model, by severity, followed on a terminal of 80 columns and past the server's
end."""
import json
import re
import signal
import subprocess

import pytest

from cli_kit import CTRL_C, QUINCE, Cli, Terminal, environment
from conftest import Server, free_port, wait_until


@pytest.fixture
def cli(house, tmp_path):
    server = house.start("--port", str(free_port()))  # one that it will get again
    cli = Cli(tmp_path, server.port)
    cli.server = server
    return cli


def test_one_model_and_severities(cli, house):
    server = cli.server
    good = house.model(server, "good", flood_log=3)
    bad = house.model(server, "bad", load_fail="no such luck")
    cli("load", "good")
    cli("load", "bad")
    of_good = cli("logs", "good").out.splitlines()
    assert any("flood line 2" in line for line in of_good) and all(good in line for line in of_good)
    warnings = cli("logs", "--level", "warn").out
    assert "no such luck" in warnings and " info " not in warnings
    both = [json.loads(line) for line in cli("logs", "bad", "--level", "error", "--json").out.splitlines()]
    assert both and all(e["severity"] == "Error" and bad in e["line"] for e in both)
    assert len(cli("logs", "--lines", "2", "good").out.splitlines()) == 2
    for args, word in ((("logs", "none-such"), "none-such"), (("logs", "--level", "loud"), "loud"),
                       (("logs", "-f", "none-such"), "none-such")):
        done = cli(*args)
        assert done.returncode == 1 and done.out == "" and word in done.err


def plain(text):
    return re.sub("\x1b\\[[0-9;]*m", "", text)


def test_on_a_terminal_and_past_a_restart(cli, house):
    server = cli.server
    house.model(server, "loud", last_words="a word and " * 40 + "the end\x1b[2J\n", flood_log=2, load_fail="sorry")
    terminal = Terminal(cli, "logs", "-f", TZ="UTC")
    terminal.wait_for("registered=1")
    cli("load", "loud")
    terminal.wait_for("instance model=user.loud state=failed event=exited pid=0\x1b[0m\r\n")
    lines = plain(terminal.screen).split("\r\n")
    assert any(re.match(r"\d\d:\d\d:\d\d info  instance model=user\.loud state=failed event=exited pid=0$", x) for x in lines), lines
    begin = next(i for i, x in enumerate(lines) if re.match(r".*info  llm/user\.loud a word and", x))
    assert lines[begin + 1].startswith(" " * 15 + "a") or lines[begin + 1].startswith(" " * 15 + "word")
    assert all(len(x) <= 80 for x in lines if "/" not in x), lines  # a path is not broken
    assert "\x1b[2J" not in terminal.screen and "\x1b[31merror" in terminal.screen
    # The server goes, and comes again at the same place.
    server.stop()
    terminal.wait_for("the server has stopped")
    again = Server(server.data_dir, house.backend_dir, house.models_dir, ("--port", str(server.port)))
    house.servers.append(again)
    terminal.wait_for("the server was restarted")
    terminal.wait_for("version=")
    again.chat("after-the-restart")
    terminal.wait_for("after-the-restart")
    assert plain(terminal.screen).count("version=") == 2  # nothing twice, nothing left out
    terminal.type(CTRL_C)
    assert terminal.status() == -signal.SIGINT


def test_in_a_pipe_lines_are_as_the_server_wrote_them(cli):
    server = cli.server
    with subprocess.Popen([QUINCE, "--port", str(server.port), "logs", "--follow", "--lines", "1"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(cli.home)) as following:
        lines = [following.stdout.readline().decode().rstrip("\n")]
        server.chat("nobody")
        while "nobody" not in lines[-1]:
            lines.append(following.stdout.readline().decode().rstrip("\n"))
        log = server.logs().splitlines()
        begin = log.index(lines[0])
        assert log[begin:begin + len(lines)] == lines
        following.stdout.close()  # as `| head` does
        wait_until(lambda: server.chat("nobody") and following.poll() is not None, what="ending")
        assert following.stderr.read() == b""
