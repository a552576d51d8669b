"""`quince stop`: the server ends when nothing runs any more, and the words say what was done or why not."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile

from cli_kit import QUINCE, Cli, Stub, Terminal, environment, started_pid, stop_background_server
from conftest import PATIENCE_S, events, fake_model, free_port, pid_alive, wait_until


def test_stops_the_server_it_started(home):
    port = free_port()
    cli = Cli(home, port)
    started = cli("import", str(fake_model(home)), "--name", "m")
    pid = started_pid(started.err)
    try:
        assert "`quince stop` stops it" in started.err
        # Without an address, the server of this data folder is meant, whatever its port is.
        done = subprocess.run([QUINCE, "stop"], capture_output=True, text=True, timeout=PATIENCE_S,
                              env=environment(home, QUINCE_PORT=str(free_port())))
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"The server at http://localhost:{port} (pid {pid}) has stopped\n"
        assert not pid_alive(pid)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    done = cli("stop")
    assert done.returncode == 1 and f"no server runs at http://localhost:{port}" in done.err
    assert json.loads(cli("stop", "--json").out)["error"]["code"] == "not_found"


def test_waits_for_running_answers(house, tmp_path):
    server, go = house.start("--drain", "3600"), tmp_path / "go"
    model = house.model(server, "m", second_until=str(go))
    connection, response = server.stream(model)
    stream = events(response)
    next(stream)
    t = Terminal(Cli(tmp_path, server.port), "stop")
    t.wait_for("Finishing 1 request (")
    go.touch()
    assert list(stream)[-1] == "[DONE]"
    connection.close()
    t.wait_for(f"(pid {server.process.pid}) has stopped")
    assert t.status() == 0 and server.process.wait(PATIENCE_S) == 0


def test_now_ends_answers(house, tmp_path):
    server = house.start("--drain", "3600")
    model = house.model(server, "m", tokens=1000000, token_ms=20)
    connection, response = server.stream(model)
    next(events(response))
    done = Cli(tmp_path, server.port)("stop", "--now", "--json")
    assert done.returncode == 0
    assert json.loads(done.out) == {"status": "stopped", "url": f"http://localhost:{server.port}",
                                    "pid": server.process.pid}
    connection.close()


def test_a_server_that_does_not_answer(home):
    cli = Cli(home, free_port())
    pid = started_pid(cli("load", "user.none").err)
    os.kill(pid, signal.SIGSTOP)

    def told():  # a stopped process keeps the signal
        with open(f"/proc/{pid}/status") as status:
            pending = next(line for line in status if line.startswith("ShdPnd:"))
        return int(pending.split()[1], 16) & 1 << signal.SIGTERM - 1
    try:
        with subprocess.Popen([QUINCE, "--port", str(cli.port), "stop"], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.PIPE, env=environment(home)) as stopping:
            wait_until(told, what="SIGTERM")
            os.kill(pid, signal.SIGCONT)
            out, err = stopping.communicate(timeout=PATIENCE_S)
        assert (stopping.returncode, err) == (0, "") and f"(pid {pid}) has stopped" in out
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def program_for_all_users():
    """A copy of the program that every user may run; the folder of the build may be private."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield shutil.copy(QUINCE, folder)


def refused(tmp_path, as_user=None, **server):
    stub = Stub({"GET /status": {"all_models_loaded": [], "server": server},
                 "POST /internal/shutdown": {"status": "success"}})
    try:
        with program_for_all_users() as program:
            done = subprocess.run([program, "--port", str(stub.port), "stop"], capture_output=True, text=True,
                                  timeout=PATIENCE_S, env=environment(tmp_path), user=as_user)
        assert done.returncode == 1 and done.stdout == "" and not stub.bodies("POST /internal/shutdown")
        return done.stderr
    finally:
        stub.close()


def test_servers_that_are_not_stopped(tmp_path):
    said = refused(tmp_path, pid=1, uid=os.getuid(), unit="quinced.service",
                   stop_command="systemctl --user stop quinced.service")
    assert "systemd" in said and "`systemctl --user stop quinced.service` stops it" in said
    said = refused(tmp_path, as_user=65534 if os.getuid() == 0 else None, pid=1, uid=1)
    assert "another user (" in said and "QUINCE_ADMIN_API_KEY" in said
    done = Cli(tmp_path, free_port())("--host", "http://localhost:1", "stop")
    assert done.returncode == 1 and "nothing to stop" in done.err


def test_what_systemd_started_says_so(house):
    plain = house.start().get("/status").json["server"]
    assert plain["unit"] is None and plain["stop_command"] is None and plain["uid"] == os.getuid()
    # The shell becomes the server, as a unit's program does: its own process number is in the variable.
    launcher = ("/bin/sh", "-c", 'SYSTEMD_EXEC_PID=$$ exec "$@"', "sh")
    by_unit = house.start(launcher=launcher).get("/status").json["server"]
    assert isinstance(by_unit["unit"], str) and " stop " in by_unit["stop_command"]
    keyed = house.start(env={"QUINCE_API_KEY": "s" * 32})
    assert "server" not in keyed.get("/status").json
    assert keyed.get("/status", headers={"Authorization": "Bearer " + "s" * 32}).json["server"]["pid"] == keyed.process.pid


def test_the_log_of_a_started_server_is_trimmed(home):
    limit = 10_000_000
    log, previous = home / "data" / "server.log", home / "data" / "server.log.1"
    log.write_bytes((b"an old line" * 9 + b"\n") * (limit // 100))
    cli = Cli(home, free_port())
    started = cli("load", "user.none")
    try:
        wait_until(lambda: cli("load", "user.none").returncode == 1 and previous.exists(), what="a second file")
        assert cli("run", "user.last", "hello").returncode == 1
        lines = cli("logs").out.splitlines()
        of_requests = [line for line in lines if " warn loop " not in line]  # a busy machine adds such lines
        assert "user.last" in of_requests[-1]
        written = previous.read_text() + log.read_text()
        assert all(written.count(line + "\n") == 1 for line in lines)
        assert log.stat().st_size < limit and previous.stat().st_size < limit + 4096
        assert log.stat().st_mode & 0o777 == 0o600
        assert cli("stop").returncode == 0 and "stopped=1" in log.read_text()
    finally:
        stop_background_server(started.err)
