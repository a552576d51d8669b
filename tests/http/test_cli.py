"""The command line as a person and as a script use it: `quince` against a real server over the fake
backend, in pipes and in a terminal of 80 columns."""
import contextlib
import http.server
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import threading
import time

import pytest
from cli_kit import CTRL_C, CTRL_D, QUINCE, UP, Cli, Terminal, environment, stop_background_server
from conftest import PATIENCE_S, ROOT, events, free_port, gguf, pid_alive, wait_until


@pytest.fixture
def cli(tmp_path, server):
    return Cli(tmp_path, server.port)


# What it says of itself

def test_help_and_man_page_agree(tmp_path):
    cli = Cli(tmp_path, 1)
    commands = json.loads(cli("help", "--json").out)
    man = (ROOT / "docs" / "quince.1").read_text().replace("\\-", "-")
    entries = set(re.findall(r"^\.B[IR]? (\w+)", man, re.M))
    overview = cli("help")
    assert overview.returncode == 0 and overview.err == ""
    assert {"alias", "backends", "chat", "cleanup", "completion", "config", "delete", "downloads", "embed", "export",
            "help", "image", "import", "keys", "list", "load", "logs", "pin", "ps", "pull", "rerank", "run", "say",
            "search", "serve", "show", "stats", "status", "stop", "top", "transcribe", "unload", "unpin", "version"} <= {
            c["name"] for c in commands}
    helps = {c["name"]: cli("help", c["name"]).out for c in commands}
    for c in commands:
        assert c["name"] in entries, f"the man page does not explain {c['name']}"
        assert re.search(rf"^  {c['name']} +\S", overview.out, re.M)
        one = helps[c["name"]]
        if c["name"] != "serve":
            assert one == cli(c["name"], "--help").out
        assert f"usage: quince {c['usage']}" in one
        for option in c["options"]:
            assert option in man and option in one
    for option in ("--host", "--port", "--api-key", "--json", "--version", "--help"):
        assert option in man and option in overview.out
    for line in (overview.out + "".join(helps.values())).splitlines():
        assert len(line) <= 80, line
    chat_commands = re.findall(r"/[a-z]+", helps["run"])
    assert {"/help", "/clear", "/system", "/stats", "/exit"} <= set(chat_commands)
    for c in chat_commands:
        assert c in man


@pytest.mark.parametrize("args, part", [
    ((), "usage: quince"),
    (("nonsense",), "no command 'nonsense'"),
    (("sotp",), "did you mean 'stop'?"),
    (("help", "lst"), "did you mean 'list'?"),
    (("list", "--al"), "did you mean --all?"),
    (("--prot", "1", "list"), "did you mean --port?"),
    (("stop", "m", "--now"), "--now"),
    (("list", "--nonsense"), "unknown option '--nonsense'"),
    (("run",), "usage: quince run MODEL"),
    (("run", "m", "two", "words"), "'words'"),
    (("load", "m", "--ctx-size", "many"), "--ctx-size"),
    (("run", "m", "p", "--max-tokens", "0"), "--max-tokens"),
    (("run", "m", "p", "--temperature", "hot"), "--temperature"),
    (("logs", "--lines", "-1"), "--lines"),
    (("help", "nonsense"), "no command 'nonsense'"),
    (("--port", "0", "list"), "port"),
    (("--port", "http", "list"), "port"),
    (("--host", "a b", "list"), "not a host"),
])
def test_wrong_command_lines_exit_2(tmp_path, args, part):
    cli = Cli(tmp_path, 1)
    done = cli(*args)
    assert done.returncode == 2 and done.out == "" and part in done.err
    if args:
        done = cli(*args, "--json")
        assert done.returncode == 2 and done.err == ""
        assert part in json.loads(done.out)["error"]["message"]


# Questions to the server

def test_status_list_load_unload(house, tmp_path):
    server = house.start()
    house.model(server, "beta")
    house.model(server, "alpha")
    cli = Cli(tmp_path, server.port)
    assert f"Server is running on port {server.port}" in cli("status").out and "No model is loaded" in cli("status").out
    assert [m["id"] for m in json.loads(cli("list", "--json").out)] == ["user.alpha", "user.beta"]
    assert [m["id"] for m in json.loads(cli("list", "ALPH", "--json").out)] == ["user.alpha"]
    assert "user.beta" not in cli("list", "alph").out
    assert "No installed model has this" in cli("list", "nothing").out
    assert json.loads(cli("list", "nothing", "--json").out) == []
    done = cli("load", "user.alpha")
    assert done.returncode == 0 and done.out == "user.alpha is loaded\n" and done.err == ""
    assert json.loads(cli("load", "user.alpha", "--json").out)["model_name"] == "user.alpha"
    assert re.search(r"^user.alpha +llm +ready", cli("status").out, re.M)
    assert json.loads(cli("status", "--json").out)["model_loaded"] == "user.alpha"
    assert cli("unload", "user.alpha").returncode == 0
    assert cli("ps").out == "No model is loaded; models are loaded at their first use\n"
    assert json.loads(cli("unload", "--json").out)["status"] == "success"
    assert "No model is loaded" in cli("status").out


def test_pinned_models(house, tmp_path):
    server = house.start("--idle", "600")
    for name in ("alpha", "beta"):
        house.model(server, name)
    cli = Cli(tmp_path, server.port)
    of = lambda: server.get("/v1/health").json["all_models_loaded"]
    assert cli("load", "user.alpha", "--pinned").out == "user.alpha is loaded\n"
    assert of()[0]["pinned"] is True
    done = cli("load", "user.beta")
    assert done.returncode == 1 and "quince unpin" in done.err and "pinned" in done.err
    done = cli("unpin", "alpha", "nobody", "user.beta")
    assert done.returncode == 1 and done.out == "user.alpha is no longer pinned\nuser.beta is no longer pinned\n"
    assert "nobody" in done.err
    assert cli("load", "user.beta", "--keep-alive", "2h", "--ctx-size", "300", "--save-options").returncode == 0
    assert [m["model_name"] for m in of()] == ["user.beta"] and 7100 < of()[0]["unloads_in_seconds"] <= 7200
    assert server.get("/v1/models/user.beta").json["recipe_options"]["ctx_size"] == 300
    assert json.loads(cli("pin", "beta", "--json").out) == {"status": "success", "model_name": "user.beta",
                                                            "pinned": True}
    assert cli("unload", "user.beta").returncode == 0 and of() == []
    done = cli("load", "user.beta", "--keep-alive", "soon")
    assert done.returncode == 1 and "soon" in done.err


def test_import(cli, tmp_path, house):
    from conftest import fake_model
    path = fake_model(tmp_path)
    named = path.rename(tmp_path / "My Model \u00e9.gguf")
    done = cli("import", str(named))
    assert done.returncode == 0, done.err
    assert "Imported user.My-Model-e from" in done.out and "quince run user.My-Model-e\n" in done.out
    assert cli("import", str(named), "--name", "x").out.startswith("Imported user.x from ")
    assert json.loads(cli("import", str(named), "--name", "user.y", "--json").out)
    assert named.exists()
    for args, part in [((str(tmp_path / "none.gguf"),), "none.gguf"),
                       ((str(named), "--name", "n" * 300), "")]:
        done = cli("import", *args)
        assert done.returncode == 1 and done.out == "" and part in done.err
        assert json.loads(cli("import", *args, "--json").out)["error"]["message"]


def test_import_finds_readable_names(cli, tmp_path):
    def named(name, title):
        path = tmp_path / name
        path.write_bytes(gguf({"general.architecture": "llama", "general.name": title, "fake.options": "{}"}))
        done = cli("import", str(path))
        assert done.returncode == 0, done.err
        return done.out.splitlines()[-1].removeprefix("Chat with it: quince run ")
    assert named("Qwen3-0.6B-Q8_0.gguf", "other") == "user.Qwen3-0.6B-Q8_0"
    assert named("\u6a21\u578b.gguf", "Small Model 7B") == "user.Small-Model-7B"
    assert named("\u6a21\u578b.gguf", "Small Model 7B") == "user.Small-Model-7B"  # the same file again
    assert named("\u6a21\u578b-Q4.gguf", "Small Model 7B") == "user.Small-Model-7B-2"
    assert named("\u6a21-Q4.gguf", "\u5927") == "user.model-Q4"
    assert named("\u578b.gguf", "") == "user.model" and named("\u043c.gguf", "\u043c") == "user.model-2"
    assert named("...gguf", "") == "user.model-3" and named("na\u00efve \u00dc.gguf", "x") == "user.naive-U"


def test_names_of_other_programs(house, tmp_path):
    server = house.start()
    model = house.model(server, "alpha")
    cli = Cli(tmp_path, server.port)
    assert cli("ls").out == cli("list").out and "user.alpha" in cli("ls").out
    assert cli("help", "rm").out == cli("help", "delete").out
    assert cli("load", model).returncode == 0
    assert "user.alpha" in cli("ps").out
    done = cli("stop", model)
    assert done.returncode == 0 and server.get("/v1/health").json["all_models_loaded"] == []
    assert server.get("/live").status == 200
    done = cli("load", "user.alhpa")
    assert done.returncode == 1 and "did you mean 'user.alpha'?" in done.err
    assert "did you mean" not in cli("load", "something-else").err
    assert cli("rm", model, "--yes").returncode == 0 and "user.alpha" not in cli("ls").out


def test_unknown_model(cli):
    for args in (("run", "nobody", "hello"), ("load", "nobody")):
        done = cli(*args)
        assert done.returncode == 1 and done.out == ""
        assert "nobody" in done.err and "quince list" in done.err
        assert json.loads(cli(*args, "--json").out)["error"]["code"] == "not_found"


def test_logs(cli, server):
    lines = cli("logs", "--lines", "2").out.splitlines()
    assert len(lines) == 2 or len(server.logs().splitlines()) < 2
    for line in cli("logs", "--json").out.splitlines():
        assert set(json.loads(line)) >= {"seq", "timestamp", "severity", "line"}
    assert cli("logs", "--lines", "0").out == ""
    with subprocess.Popen([QUINCE, "--port", str(server.port), "logs", "--follow", "--lines", "0"],
                          stdout=subprocess.PIPE, env=environment(cli.home),
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as following:
        def spoken():
            server.chat("nobody")  # again and again: what came before it followed is not shown
            return select.select([following.stdout], [], [], 0.2)[0]
        wait_until(spoken, what="a line")
        while b"nobody" not in following.stdout.readline():
            pass  # the server may have something else to say meanwhile
        following.send_signal(signal.SIGINT)
        assert following.wait(PATIENCE_S) == -signal.SIGINT


def test_tables_fit_and_are_harmless(house, tmp_path):
    server = house.start()
    house.model(server, "a-very-long-name-" + "x" * 100 + "-Q4_K_M")
    for name in ("\u65e5\u672c\u8a9e" * 12, "red\u001b[31m\u009b2J\u202e"):
        with contextlib.suppress(AssertionError):  # the server may refuse such a name
            house.model(server, name)
    cli = Cli(tmp_path, server.port)
    cli("load", "user.a-very-long-name-" + "x" * 100 + "-Q4_K_M")
    for command in ("list", "status"):
        out = cli(command).out
        assert "\u2026" in out and "-Q4_K_M" in out
        for line in out.splitlines():
            wide = len(re.findall("[\u3000-\u9fff]", line))
            assert len(line) + wide <= 80, line
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", out)


# One answer

def test_run_prints_the_answer(house, tmp_path):
    server = house.start()
    cli = Cli(tmp_path, server.port)
    model = house.model(server, "m", tokens=3, word="w\u00f6rt ")
    for args, stdin in [(("hello",), None), ((), b"hello\n"), (("hello",), b"piped"), (("hello",), b"")]:
        done = cli("run", model, *args, stdin=stdin)
        assert (done.returncode, done.out, done.err) == (0, "w\u00f6rt w\u00f6rt w\u00f6rt \n", "")
    assert cli("chat", "hello").out == "w\u00f6rt w\u00f6rt w\u00f6rt \n"
    answer = json.loads(cli("run", model, "hello", "--json").out)
    assert answer == {"model": model, "content": "w\u00f6rt w\u00f6rt w\u00f6rt ", "finish_reason": "stop",
                      "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
    answer = json.loads(cli("run", model, "hello", "--json", "--max-tokens", "2").out)
    assert answer["finish_reason"] == "length" and answer["usage"]["completion_tokens"] == 2
    for stdin in (b"", b"\n", b"\xff\xfe", b"a\0b"):
        done = cli("run", model, stdin=stdin)
        assert done.returncode == 1 and done.out == "" and done.err.startswith("quince: ")


@contextlib.contextmanager
def stranger(reply, content_type="text/event-stream", status=200):
    """A server that is not ours: answers /live as quince does when it streams, and keeps what it is sent."""
    bodies = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.answer(b'{"status":"ok"}' if content_type == "text/event-stream" else reply)

        def do_POST(self):
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.answer(reply)

        def answer(self, body):
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield httpd.server_address[1], bodies
        httpd.shutdown()


def chunk(**delta):
    return b"data: " + json.dumps({"choices": [{"delta": delta}]}).encode() + b"\n\n"


def test_what_is_asked(tmp_path):
    with stranger(chunk(content="yes\n") + b"data: [DONE]\n\n") as (port, bodies):
        cli = Cli(tmp_path, port)
        done = cli("run", "m", "sum this up:", "--system", "be \u65e5", "--temperature", "0.5", "--max-tokens",
                   "9", stdin="first \"line\"\nsecond\n\n".encode())
        assert (done.returncode, done.out) == (0, "yes\n")
        assert bodies[0]["messages"] == [
            {"role": "system", "content": "be \u65e5"},
            {"role": "user", "content": "sum this up:\n\nfirst \"line\"\nsecond"}]
        assert (bodies[0]["model"], bodies[0]["temperature"], bodies[0]["max_tokens"]) == ("m", 0.5, 9)
        cli("run", "m", stdin=b"x" * 1000000)
        assert bodies[1]["messages"] == [{"role": "user", "content": "x" * 1000000}]


@pytest.mark.parametrize("reply, kept, part", [
    (chunk(content="half an ans"), "half an ans\n", "ended early"),
    (chunk(content="half ") + b"data: {nonsense\n\n", "half \n", "reply is invalid"),
    (b'data: {"error":{"message":"it \\u001b[2J broke"}}\n\n', "", "it ?[2J broke"),
    (b"", "", "ended early"),
])
def test_answers_that_break(tmp_path, reply, kept, part):
    with stranger(reply) as (port, _):
        done = Cli(tmp_path, port)("run", "m", "hello")
        assert done.returncode == 1 and done.out == kept and part in done.err
        done = Cli(tmp_path, port)("run", "m", "hello", "--json")
        assert done.returncode == 1 and json.loads(done.out)["error"]["message"]


@pytest.mark.parametrize("reply, content_type, status", [
    (b"<html>hello</html>", "text/html", 200), (b"<html>no</html>", "text/html", 404),
    (b"[1, 2]", "application/json", 200), (b"", "text/plain", 500)])
def test_a_stranger_at_the_port(tmp_path, reply, content_type, status):
    with stranger(reply, content_type, status) as (port, _):
        for args in (("run", "m", "hello"), ("load", "m"), ("chat", "x")):
            done = Cli(tmp_path, port)(*args)
            assert done.returncode == 1 and done.out == ""
            assert "is not a quince server" in done.err and "--port" in done.err
            assert "starting" not in done.err
        if reply.startswith(b"<") or not reply:
            done = Cli(tmp_path, port)("list")
            assert done.returncode == 1 and "is not a quince server" in done.err


def test_something_that_is_not_http(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def greet():
            with contextlib.suppress(OSError):
                while True:
                    with listener.accept()[0] as c:
                        c.sendall(b"220 mail.example.org ESMTP\r\n")
                        c.recv(1000)
        threading.Thread(target=greet, daemon=True).start()
        done = Cli(tmp_path, listener.getsockname()[1])("run", "m", "hello")
        assert done.returncode == 1 and "is not a quince server" in done.err


def test_no_server(tmp_path):
    cli = Cli(tmp_path, free_port())
    for args in (("status",), ("list",), ("logs",), ("unload",)):
        done = cli(*args)
        assert done.returncode == 1 and done.out == "" and "quince serve" in done.err
        assert json.loads(cli(*args, "--json").out)["error"]["code"] == "io"
    done = cli("--host", "no-such-host.invalid", "run", "m", "hello", http_proxy="", HTTP_PROXY="", ALL_PROXY="")
    assert done.returncode == 1 and "starting" not in done.err


def test_server_stops_in_mid_answer(house, tmp_path):
    server = house.start("--drain", "0")
    model = house.model(server, "m", tokens=100000, token_ms=20)
    with subprocess.Popen([QUINCE, "--port", str(server.port), "run", model, "hello"], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment(tmp_path)) as quince:
        assert quince.stdout.read(5) == "word "
        server.kill()
        out, err = quince.communicate(timeout=PATIENCE_S)
        assert quince.returncode == 1 and out.endswith("\n")
        assert "has it stopped?" in err or "has the server stopped?" in err


def test_a_reader_that_leaves(house, tmp_path):
    server = house.start()
    model = house.model(server, "m", tokens=100000, token_ms=5)
    with subprocess.Popen([QUINCE, "--port", str(server.port), "run", model, "hello"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment(tmp_path)) as quince:
        quince.stdout.read(5)
        quince.stdout.close()
        assert quince.wait(PATIENCE_S) == 1
        assert quince.stderr.read() == b""
    wait_until(lambda: "cancelled" in server.logs(), what="cancelling")
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([QUINCE, "--port", str(server.port), "list"], stdout=write, stderr=subprocess.PIPE,
                          env=environment(tmp_path))
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")
    with open("/dev/full", "w") as full:
        done = subprocess.run([QUINCE, "--port", str(server.port), "list"], stdout=full,
                              stderr=subprocess.PIPE, env=environment(tmp_path))
    assert done.returncode == 1 and b"cannot be written" in done.stderr


# Where the server is

def test_hosts(server, tmp_path):
    def status(*args, **env):
        return subprocess.run([QUINCE, *args, "status"], capture_output=True, env=environment(tmp_path, **env))
    port = str(server.port)
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"http://localhost:{port}/"):
        assert status(QUINCE_HOST=host).returncode == 0
        assert status("--host", host, QUINCE_PORT="1").returncode == 0
    assert status("--host", "127.0.0.1", QUINCE_PORT=port).returncode == 0
    assert status(f"--port={port}", QUINCE_HOST="0.0.0.0:1").returncode == 0
    (tmp_path / "data").mkdir(exist_ok=True)
    config = tmp_path / "data" / "config.json"
    config.write_text(json.dumps({"port": server.port}))
    assert status().returncode == 0
    assert status("--port", "1").returncode == 1
    config.write_text("{broken")
    assert status("--port", port).returncode == 0


def test_starts_a_server(home):
    from conftest import fake_model
    cli = Cli(home, free_port())
    done = cli("import", str(fake_model(home)), "--name", "m")
    try:
        assert done.returncode == 0 and done.out.startswith("Imported user.m")
        assert f"No server runs at http://localhost:{cli.port}: starting one" in done.err
        assert (home / "data" / "server.log").stat().st_mode & 0o777 == 0o600
        again = cli("run", "user.m", "hello")
        assert again.returncode == 0 and again.err == ""
    finally:
        stop_background_server(done.err)
    assert cli("status").returncode == 1


def test_a_started_server_survives_the_terminal(home):
    from conftest import fake_model
    path = fake_model(home)
    cli = Cli(home, free_port())
    terminal = Terminal(cli, "load", "user.none")
    assert terminal.status() == 1  # no such model; and its terminal is gone now
    try:
        assert cli("status").returncode == 0
        assert cli("import", str(path), "--name", "m").returncode == 0
    finally:
        stop_background_server(terminal.screen)


def test_two_commands_start_one_server(home):
    cli = Cli(home, free_port())
    results = []
    threads = [threading.Thread(target=lambda: results.append(cli("load", "user.none"))) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    said = "\n".join(r.err for r in results)
    try:
        assert all("user.none" in r.err and "did not start" not in r.err for r in results), said
    finally:
        stop_background_server(said)


def test_a_server_that_cannot_start(home):
    cli = Cli(home, free_port())
    done = cli("load", "m", QUINCE_NONSENSE="1")
    assert done.returncode == 1 and "did not start" in done.err and "QUINCE_NONSENSE" in done.err
    done = cli("load", "m", QUINCE_NONSENSE="1", QUINCE_DATA_DIR="/proc/no")
    assert done.returncode == 1 and "/proc/no" in done.err


def test_serve_hands_options_on(home):
    port = free_port()
    with subprocess.Popen([QUINCE, "--port", "1", "serve", "--port", str(port)], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, env=environment(home)) as server:
        assert f":{port} " in server.stdout.readline()
        server.terminate()
        assert server.wait(PATIENCE_S) == 0
    for args, env in [((f"--host=127.0.0.1", "--port", str(port)), {}), ((), {"QUINCE_HOST": f"127.0.0.1:{port}"})]:
        with subprocess.Popen([QUINCE, *args, "serve"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, env=environment(home, **env)) as server:
            assert f"http://127.0.0.1:{port} " in server.stdout.readline()
            server.terminate()
            assert server.wait(PATIENCE_S) == 0


# The chat in a terminal

def test_chat_in_the_terminal(house, tmp_path):
    server = house.start()
    model = house.model(server, "m", tokens=3, word="w\u00f6rt ")
    cli = Cli(tmp_path, server.port)
    t = Terminal(cli, "run", model)
    t.wait_for(">>> ")
    t.type("h\u00e9llo \u65e5\u672c \U0001f389\r")
    t.wait_for("w\u00f6rt w\u00f6rt w\u00f6rt ")
    t.wait_for(">>> ")
    t.type('"""first\r')
    t.wait_for("... ")
    t.type('second"""\r')
    t.wait_for("w\u00f6rt w\u00f6rt ")
    t.wait_for(">>> ")
    for line, answer in [("/help", "/system"), ("/stats", "reply: 3 tokens"), ("/system be brief", "is set"),
                         ("/clear ", "is cleared"), ("/nonsense", "no such command")]:
        t.type(line + "\r")
        t.wait_for(answer)
        t.wait_for(">>> ")
    t.type("/exit\r")
    assert t.status() == 0
    history = tmp_path / "data" / "history"
    assert history.stat().st_mode & 0o777 == 0o600
    # Another chat begins with the history of this one.
    t = Terminal(cli, "chat")
    t.wait_for(">>> ")
    t.type(UP + UP + UP + UP + UP + UP + b"\r")
    t.wait_for("first")
    t.wait_for("w\u00f6rt ")
    t.wait_for(">>> ")
    t.type(CTRL_D)
    assert t.status() == 0


def test_pasted_text_stays_together(tmp_path):
    with stranger(chunk(content="yes\n") + b"data: [DONE]\n\n") as (port, bodies):
        t = Terminal(Cli(tmp_path, port), "run", "m")
        t.wait_for(">>> ")
        t.type("see: \x1b[200~def f():\r\treturn '\u65e5'\n\x1b[201~ok?\r")
        t.wait_for("yes")
        t.wait_for(">>> ")
        t.type("\x1b[Dx\r")  # an arrow key is no paste
        t.wait_for("yes")
        t.wait_for(">>> ")
        t.type(CTRL_D)
        assert t.status() == 0
        assert [b["messages"][-1]["content"] for b in bodies] == ["see: def f():\n\treturn '\u65e5'\nok?", "x"]
        assert t.screen.rindex("\x1b[?2004l") > t.screen.rindex("\x1b[?2004h")


def test_ctrl_c(house, tmp_path):
    server = house.start()
    model = house.model(server, "m", tokens=100000, token_ms=10)
    t = Terminal(Cli(tmp_path, server.port), "run", model)
    t.wait_for(">>> ")
    t.type("half a line" + CTRL_C.decode())
    t.wait_for("Ctrl-D")
    t.wait_for(">>> ")
    t.type("hello\r")
    t.wait_for("word word ")
    t.type(CTRL_C)
    t.wait_for("(stopped)")
    t.wait_for(">>> ")
    wait_until(lambda: "cancelled" in server.logs(), what="cancelling")
    t.type("again\r")
    t.wait_for("word word ")
    t.type(CTRL_C)
    t.wait_for(">>> ")
    t.type(CTRL_D)
    assert t.status() == 0
    t = Terminal(Cli(tmp_path, server.port), "run", model, "one answer")
    t.wait_for("word word ")
    t.type(CTRL_C)
    assert t.status() == -signal.SIGINT


def test_chat_goes_on_after_failures(house, tmp_path):
    server = house.start()
    model = house.model(server, "m", crash_after=2)
    t = Terminal(Cli(tmp_path, server.port), "run", model)
    t.wait_for(">>> ")
    t.type("hello\r")
    t.wait_for("quince: ")
    t.wait_for(">>> ")
    server.stop()
    t.type("hello\r")
    t.wait_for("no server runs")
    t.wait_for(">>> ")
    t.type(CTRL_D)
    assert t.status() == 0


def test_a_note_while_loading(house, tmp_path):
    server = house.start()
    go = tmp_path / "go"
    model = house.model(server, "m", load_until=str(go))
    cli = Cli(tmp_path, server.port)
    t = Terminal(cli, "run", model, "hello")
    t.wait_for(f"loading {model}")
    go.touch()
    t.wait_for("\r\x1b[K")
    assert t.status() == 0
    assert "word word" in t.screen.rsplit("\x1b[K", 1)[1]
    cli("unload")
    done = cli("run", model, "hello")
    assert done.returncode == 0 and done.err == ""


def test_a_note_while_a_model_waits_for_another(house, tmp_path):
    server = house.start()
    busy = house.model(server, "x", tokens=100000, token_ms=20)
    model = house.model(server, "m")
    connection, response = server.stream(busy)
    next(events(response))
    t = Terminal(Cli(tmp_path, server.port), "load", model)
    t.wait_for("queued: max-loaded-models allows 1 llm model at once, and user.x is busy (")
    connection.close()
    t.wait_for(f"{model} is loaded")
    assert t.status() == 0


def test_models_cannot_steer_the_terminal(house, tmp_path):
    server = house.start()
    model = house.model(server, "m", tokens=2, word="a\x1b[31mb\x07\u009bc\td\n")
    cli = Cli(tmp_path, server.port)
    t = Terminal(cli, "run", model, "hello")
    assert t.status() == 0
    assert "a[31mbc\td" in t.screen and "\x1b[31m" not in t.screen and "\x07" not in t.screen
    # A file gets what the model wrote.
    assert cli("run", model, "hello").out == "a\x1b[31mb\x07\u009bc\td\n" * 2


def test_json_in_a_terminal_needs_a_prompt(cli):
    t = Terminal(cli, "--json", "run", "m")
    assert t.status() == 2
    assert "needs a prompt" in t.screen


THOUGHTFUL = [{"ev": "reasoning", "index": 0, "text": "\nLet me \x1b[31msee."}, {"ev": "text", "index": 0, "text": "It is 42."},
              {"ev": "done", "index": 0, "reason": "stop"}]


def test_thoughts_are_shown_on_a_terminal_alone(house, tmp_path):
    server = house.start()
    model = house.model(server, "m", script=THOUGHTFUL)
    cli = Cli(tmp_path, server.port)
    t = Terminal(cli, "run", model, "hello")
    assert t.status() == 0
    assert "\x1b[2mLet me [31msee.\x1b[22m\r\n\r\nIt is 42.\r\n" in t.screen
    t = Terminal(cli, "run", model, "hello", "--hide-thinking")
    assert t.status() == 0 and "Let me" not in t.screen and "It is 42." in t.screen
    assert cli("run", model, "hello").out == "It is 42.\n"
    answer = json.loads(cli("--json", "run", model, "hello").out)
    assert answer["content"] == "It is 42." and "Let me" in answer["reasoning"]
    assert cli("run", model, "hello", "--think", "--no-think").returncode == 2


def test_thinking_can_be_switched(house, tmp_path):
    server = house.start()
    model = house.model(server, "m", echo_job=True)
    cli = Cli(tmp_path, server.port)
    assert '"think":1' in cli("run", model, "hello", "--think").out
    assert '"think":0' in cli("run", model, "hello", "--no-think").out
    assert '"think"' not in cli("run", model, "hello").out
    t = Terminal(cli, "run", model)
    t.wait_for(">>> ")
    t.type("/think off\r")
    t.wait_for("without reasoning")
    t.type("hello\r")
    t.wait_for('"think":0')
    t.type("/think perhaps\r")
    t.wait_for("needs one of")
    t.type("/exit\r")
    assert t.status() == 0
