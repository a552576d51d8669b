"""`quince status`, `ps`, `stats`, and the live view `top`, on a terminal that is emulated here."""
import fcntl
import json
import os
import re
import signal
import struct
import termios
import time

import pytest

from cli_kit import CTRL_C, QUINCE, Cli, Terminal
from conftest import PATIENCE_S, wait_until


class Screen:
    """What a terminal of so many lines and columns shows of what a program wrote: text, carriage return, line feed,
    ESC [ H, K, J, m, and the other screen. Anything else is a mistake of the program's."""
    SEQUENCE = re.compile(r"\x1b\[(\??)([0-9;]*)([a-zA-Z])|(.)", re.S)

    def __init__(self, lines, columns):
        self.lines, self.columns = lines, columns
        self.wiped = 0  # times that the whole screen was wiped before it was drawn anew: a flicker
        self.scrolled, self.other, self.cursor = False, False, True
        self.rows = [[" "] * columns for _ in range(lines)]
        self.at = [0, 0]

    def take(self, text):
        for private, numbers, letter, char in self.SEQUENCE.findall(text):
            row, column = self.at
            if private:
                assert (numbers, letter) in {("1049", "h"), ("1049", "l"), ("25", "h"), ("25", "l")}, (numbers, letter)
                if numbers == "25":
                    self.cursor = letter == "h"
                else:
                    self.other = letter == "h"
            elif letter == "H":
                assert not numbers
                self.at = [0, 0]
            elif letter == "K":
                self.rows[row][column:] = [" "] * (self.columns - column)
            elif letter == "J":
                self.wiped += (row, column) == (0, 0)
                self.rows[row][column:] = [" "] * (self.columns - column)
                for r in range(row + 1, self.lines):
                    self.rows[r] = [" "] * self.columns
            elif letter == "m":
                pass
            elif char == "\r":
                self.at[1] = 0
            elif char == "\n":
                self.scrolled |= row + 1 == self.lines
                self.at[0] = min(row + 1, self.lines - 1)
            else:
                assert not letter and char >= " ", (letter, char)
                assert column < self.columns, f"wider than the terminal: {''.join(self.rows[row])!r}"
                self.rows[row][column] = char
                self.at[1] += 1

    def text(self):
        return "\n".join("".join(r).rstrip() for r in self.rows)


class Top(Terminal):
    def __init__(self, cli, *args, lines=24, columns=80, **env):
        super().__init__(cli, "top", *args, lines=lines, columns=columns, **env)
        self.lines, self.columns = lines, columns

    def resize(self, lines, columns):
        self.lines, self.columns = lines, columns
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def show(self):
        """The screen after the last whole frame."""
        screen = Screen(self.lines, self.columns)
        screen.take(self.screen)
        return screen

    def frames(self):
        return self.screen.count("\x1b[H")

    def until(self, pattern, timeout=PATIENCE_S, after=0):
        """Waits for a whole frame, after so many, that shows the pattern."""
        deadline = time.monotonic() + timeout
        while True:
            self.read(0.1)
            whole = self.screen.endswith("\x1b[J") and self.frames() > after
            screen = self.show() if whole else None
            if screen and re.search(pattern, screen.text(), re.M):
                return screen
            assert time.monotonic() < deadline, f"{pattern!r} did not come: {self.screen[-2000:]!r}"

    def flags(self):
        return termios.tcgetattr(self.fd)[3]


@pytest.fixture
def place(house, tmp_path):
    server = house.start()
    return server, Cli(tmp_path, server.port), house


def test_status_ps_stats(place):
    server, cli, house = place
    model = house.model(server, "m", tokens=3)
    assert server.chat(model, keep_alive="1h").status == 200
    out = cli("status").out
    assert out.startswith(f"Server is running on port {server.port}\n")
    for pattern in (r"^Property +Value$", r"^Version +\d", rf"^Address +http://localhost:{server.port}$",
                    r"^Models in memory +1$", r"^Model +Type +State +Device +Recipe$",
                    r"^user.m +llm +ready +cpu +llamacpp$"):
        assert re.search(pattern, out, re.M), (pattern, out)
    assert json.loads(cli("status", "--json").out)["port"] == server.port
    out = cli("ps").out
    assert re.search(r"^Model +State +PID +Memory +In use +Device +Context +Busy +Stays$", out, re.M)
    pid = server.children()[0]
    assert re.search(rf"^user.m +ready +{pid} +1.0 MB +\d[\d.]* \wB +cpu +1000 +0/4 +(1 h 00 min|59 min \d\d s)$", out, re.M), out
    assert [m["model_name"] for m in json.loads(cli("ps", "--json").out)] == [model]
    out = cli("stats").out
    for pattern in (r"^Time to first token +\d+\.\d{3} s$", r"^Tokens per second +\d", r"^Output tokens +3$",
                    r"^Prompt tokens +7 \(3 of them cached\)$",
                    r"^Requests +1 \(1 completed, 0 failed, 0 cancelled\)$", r"^Between tokens +\d+\.\d{3} s; 99 of"):
        assert re.search(pattern, out, re.M), (pattern, out)
    assert json.loads(cli("stats", "--json").out)["output_tokens"] == 3
    assert all(len(line) <= 80 for command in ("status", "ps", "stats") for line in cli(command).out.splitlines())


def test_no_server(tmp_path):
    for command in ("status", "ps", "stats", "top"):
        done = Cli(tmp_path, 1)(command)
        assert done.returncode == 1 and done.out == "" and "no server runs at" in done.err
        assert "message" in json.loads(Cli(tmp_path, 1)(command, "--json").out)["error"]
    t = Terminal(Cli(tmp_path, 1), "top")
    assert t.status() == 1 and "no server runs at" in t.screen and "1049" not in t.screen


def test_why_a_model_waits_or_does_not_start(place):
    server, cli, house = place
    broken = house.model(server, "broken", crash_after=0)
    server.chat(broken)
    assert re.search(r"^user\.broken \(\w+\): .+", cli("status").out, re.M)
    busy = house.model(server, "busy", tokens=100000, token_ms=5)
    connection, response = server.stream(busy)
    next_one = server.connect()
    next_one.request("POST", "/v1/load", json.dumps({"model_name": house.model(server, "next-in-line")}),
                     {"Content-Type": "application/json"})
    wait_until(lambda: "user.next-in-line (queued): " in cli("status").out, what="a queued model")
    assert re.search(r"^Models in memory +1$", cli("status").out, re.M)
    assert re.search(r"^user\.next-in-line +queued +cpu ", cli("ps").out, re.M)
    assert re.search(r"^user\.next-in-line: .*\n(.* )?busy$", cli("top").out, re.M)
    for c in (next_one, response, connection):
        c.close()


def test_top_once_in_a_pipe(place):
    server, cli, house = place
    model = house.model(server, "m", tokens=3)
    assert server.chat(model).status == 200
    for env in ({}, {"TERM": "dumb"}):
        out = cli("top", **env).out
        assert "\x1b" not in out and re.search(r"^user\.m +ready +1\.0 MB +0/4 +0 +- ", out, re.M), out
        assert "1 completed, 0 failed, 0 cancelled" in out
        assert all(len(line) <= 80 for line in out.splitlines())
    reports = json.loads(cli("top", "--json").out)
    assert reports["stats"]["output_tokens_total"] == 3 and reports["system"]["memory_gb"] > 0
    assert reports["status"]["all_models_loaded"][0]["model_name"] == model
    for bad in ("0", "x", "1e9"):
        assert cli("top", "--interval", bad).returncode == 2


def test_top_is_live(place):
    server, cli, house = place
    t = Top(cli, "--interval", "0.2")
    screen = t.until("No model is loaded")
    assert screen.other and not screen.cursor
    model = house.model(server, "a-rather-long-name-of-a-model", tokens=100000, token_ms=5)
    connection, response = server.stream(model)
    screen = t.until(r"^user\.a-rather.* ready +1\.0 MB +1/4 +0 +\d\d")
    assert "Requests  1 running, 0 waiting" in screen.text()
    assert re.search(r"^Tokens    \d\S* a second; ", screen.text(), re.M)
    response.close()
    connection.close()
    screen = t.until(r"0 running, 0 waiting; 0 completed, 0 failed, 1 cancelled")
    assert not screen.scrolled and screen.wiped == 0
    assert not t.flags() & (termios.ICANON | termios.ECHO)
    t.type("q")
    assert t.status() == 0
    end = t.show()
    assert not end.other and end.cursor


def test_top_fits_any_height(place):
    server, cli, house = place
    for i, recipe in enumerate(("llamacpp", "whispercpp", "sd-cpp", "kokoro")):
        assert server.post("/v1/load", {"model_name": house.model(server, f"m{i}", recipe=recipe)}).status == 200
    for lines in (1, 2, 5, 8, 12):
        t = Top(cli, "--interval", "0.2", lines=lines, columns=60)
        t.until("quince ")
        screen = t.until("quince ", after=t.frames())
        assert not screen.scrolled
        if lines == 12:
            assert "user.m0" in screen.text() and "user.m3" in screen.text()
        if lines == 8:
            assert "... and " in screen.text()
        t.resize(24, 80)
        os.kill(t.pid, signal.SIGWINCH)
        t.until(r"^user\.m3 ")
        t.type(CTRL_C)
        assert t.status() == 0
        assert not t.show().other


def test_top_leaves_at_once_also_while_the_server_is_silent(place):
    server, cli, house = place
    t = Top(cli, "--interval", "0.2")
    t.until("No model is loaded")
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        t.type("q")
        assert t.status() == 0 and not t.show().other
    finally:
        os.kill(server.process.pid, signal.SIGCONT)


def test_top_gives_the_terminal_back(place):
    server, cli, house = place
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        t = Top(cli, "--interval", "0.2")
        t.until("No model is loaded")
        assert not t.flags() & (termios.ICANON | termios.ECHO)
        os.kill(t.pid, number)
        t.wait_for("\x1b[?1049l")
        wait_until(t.ended, what="its end")
        assert t.flags() & termios.ICANON and t.flags() & termios.ECHO
        assert t.status() == -number
        assert not t.show().other and t.show().cursor
    t = Top(cli, "--interval", "0.2")
    t.until("No model is loaded")
    # a server that goes away is told, and so is one that comes back
    server.stop()
    t.until("no server runs at|closed the connection")
    t.type("q")
    assert t.status() == 0


def test_top_sleeps_at_ctrl_z(place):
    """In a shell with job control: Ctrl-Z gives the terminal back, and it is taken again when the program goes on."""
    server, cli, house = place
    script = f"{QUINCE} --port {server.port} top --interval 0.2; stty -a; fg; stty -a"
    t = Top(cli, command=["/bin/bash", "-m", "-c", script])
    t.until("No model is loaded")
    t.type(b"\x1a")
    t.wait_for("speed")
    asleep = t.wait_for("echoctl")
    assert " icanon " in asleep and " echo " in asleep
    assert t.screen.rindex("\x1b[?1049l") < t.screen.rindex("speed")
    frames = t.frames()
    wait_until(lambda: t.read(0.05) is None or t.frames() > frames, what="a frame")
    assert not t.flags() & termios.ICANON
    t.type("q")
    t.wait_for("speed")
    awake = t.wait_for("echoctl")
    assert " icanon " in awake and " echo " in awake and t.status() == 0
