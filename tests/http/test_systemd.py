"""Under a service manager: what the server tells it, sockets that it opens, and the unit files that come with
quince. The manager is played here, by its documented protocols: sd_notify(3) and sd_listen_fds(3)."""
import contextlib
import http.client
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys

import pytest
from conftest import BUILD, PATIENCE_S, ROOT, free_port

# Becomes quinced with the process number that the variables have to name, and descriptors from 3 on.
LAUNCHER = """
import os, sys
n = int(sys.argv[1])
for i, fd in enumerate(int(x) for x in sys.argv[2].split(",")):
    os.dup2(fd, 100 + i)
for i in range(n):
    os.dup2(100 + i, 3 + i)
    os.set_inheritable(3 + i, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(n), LISTEN_FDNAMES=sys.argv[3])
os.execv(sys.argv[4], sys.argv[4:])
"""


class Manager:
    """Reads what the server tells."""

    def __init__(self, folder):
        self.path = str(folder / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(PATIENCE_S)

    def heard(self, word):
        """The variables of the next message that has one; signs of life in between are passed over."""
        while True:
            message = dict(line.split("=", 1) for line in self.socket.recv(4096).decode().splitlines())
            if word in message:
                return message


@pytest.fixture
def manager(tmp_path):
    m = Manager(tmp_path)
    yield m
    m.socket.close()


def listening(address="127.0.0.1"):
    try:
        s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        s.bind((address, 0))
    except OSError:
        pytest.skip(f"this machine has no {address}")
    s.listen(16)
    return s


def activated(house, sockets, names="", args=(), **how):
    fds = [s.fileno() for s in sockets]
    return house.start(*args, pass_fds=fds, launcher=(
        sys.executable, "-c", LAUNCHER, str(len(fds)), ",".join(map(str, fds)), names), **how)


def get(port, path="/live", host="127.0.0.1"):
    with contextlib.closing(http.client.HTTPConnection(host, port, timeout=PATIENCE_S)) as c:
        c.request("GET", path)
        reply = c.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read()


def test_a_socket_of_both_kinds(house):
    """ListenStream=PORT opens IPv6 with IPv4 in it: a program of the user's own is known over either."""
    try:
        both = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    except (OSError, ValueError):
        pytest.skip("this machine has no IPv6")
    with both:
        activated(house, [both], args=("--insecure",))
        port = both.getsockname()[1]
        assert get(port, "/internal/config")[0] == 200
        assert get(port, "/internal/config", "::1")[0] == 200


def test_ready_and_stopping(house, manager):
    server = house.start("--drain", "7", env={"NOTIFY_SOCKET": manager.path})
    ready = manager.heard("READY")
    assert ready == {"READY": "1", "MAINPID": str(server.process.pid), "STATUS": f"Answering on port {server.port}"}
    server.process.send_signal(signal.SIGTERM)
    stopping = manager.heard("STOPPING")
    assert stopping["STOPPING"] == "1"
    assert int(stopping["EXTEND_TIMEOUT_USEC"]) >= 7_000_000  # what is running may finish
    assert server.stop() == 0


def test_reloading(house, manager):
    """SIGHUP, as ExecReload sends it: the manager hears when it begins and when it has ended."""
    server = house.start(env={"NOTIFY_SOCKET": manager.path})
    ready = manager.heard("READY")
    (server.data_dir / "config.json").write_text('{"log-level": "warn"}')
    server.process.send_signal(signal.SIGHUP)
    reloading = manager.heard("RELOADING")
    assert reloading["RELOADING"] == "1" and int(reloading["MONOTONIC_USEC"]) > 0
    assert manager.heard("READY") == {**ready, "STATUS": "Settings read again"}
    (server.data_dir / "config.json").write_text("{")  # what is wrong changes nothing, and the server is as ready
    server.process.send_signal(signal.SIGHUP)
    assert manager.heard("RELOADING") and manager.heard("READY")
    assert server.get("/live").status == 200


def test_a_loop_that_hangs_gives_no_sign_of_life(house, manager):
    server = house.start(env={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "200000"})
    for _ in range(3):
        assert manager.heard("WATCHDOG")["WATCHDOG"] == "1"
    server.process.send_signal(signal.SIGSTOP)
    manager.socket.settimeout(1)
    with pytest.raises(TimeoutError):
        while True:  # those on their way before it stopped
            manager.heard("WATCHDOG")
    server.process.send_signal(signal.SIGCONT)
    manager.socket.settimeout(PATIENCE_S)
    assert manager.heard("WATCHDOG")


def test_children_learn_nothing_of_the_manager(house, manager):
    """They could speak in the server's name."""
    server = house.start(env={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "30000000"})
    assert server.chat(house.model(server, "m")).status == 200
    for pid in server.children():
        environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
        assert b"NOTIFY" not in environment and b"WATCHDOG" not in environment


def test_a_manager_that_is_gone(house, tmp_path):
    server = house.start(env={"NOTIFY_SOCKET": str(tmp_path / "nobody")})
    assert server.get("/live").status == 200
    assert "socket=" in server.logs() and "unusable" in server.logs()


def test_passed_sockets(house):
    """The main port and Ollama's come from the manager; a request that came before the server did is answered."""
    with listening() as main, listening("::1") as main6, listening() as ollama:
        early = socket.create_connection(main.getsockname())
        early.sendall(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        server = activated(house, [main, main6, ollama], "quinced.socket:quinced.socket:ollama")
        assert early.recv(4096).startswith(b"HTTP/1.1 200")
        early.close()
        assert server.port == main.getsockname()[1]
        assert get(server.port)[0] == 200
        assert get(main6.getsockname()[1], host="::1")[0] == 200
        status, headers, body = get(ollama.getsockname()[1], "/api/version")
        assert status == 200 and headers["X-API-Profile"] == "ollama"
        assert get(server.port, "/v1/health")[1]["X-API-Profile"] == "lemonade"
        assert server.chat(house.model(server, "m")).status == 200


def test_passed_sockets_outlive_the_server(house):
    """A restart refuses no connection: those made meanwhile wait for the next server."""
    with listening() as main:
        server = activated(house, [main])
        assert get(server.port)[0] == 200
        assert server.stop() == 0
        waiting = socket.create_connection(main.getsockname())
        waiting.sendall(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        activated(house, [main])
        assert waiting.recv(4096).startswith(b"HTTP/1.1 200")
        waiting.close()


def test_a_passed_port_is_not_opened_twice(house):
    with listening() as ollama:
        port = ollama.getsockname()[1]
        server = activated(house, [ollama], "ollama", args=("--ollama-port", str(port)))
        assert get(port, "/api/version")[0] == 200
        assert get(server.port)[0] == 200


def test_a_passed_socket_that_strangers_reach(house):
    """It is not opened by the setting host, and still needs a key or --insecure."""
    with listening("0.0.0.0") as main:
        with pytest.raises(RuntimeError, match="can be reached from other machines"):
            activated(house, [main])
        server = activated(house, [main], args=("--insecure",))
        assert get(server.port)[0] == 200


def test_the_port_for_websockets_counts_as_open(house):
    """The main port is the manager's; the other one is opened by the setting host."""
    with listening() as main:
        server = activated(house, [main], args=("--insecure", "--host", "0.0.0.0"))
        port = server.get("/v1/health").json["websocket_port"]
        assert port != server.port
        assert server.request("GET", "/live", headers={"Host": f"192.0.2.1:{port}"}).status == 200


def test_what_is_no_socket(house, tmp_path):
    with open(tmp_path / "a file", "w") as file, pytest.raises(RuntimeError, match="ListenStream="):
        activated(house, [file])


def test_sockets_for_another_process(house):
    port = free_port()
    server = house.start("--port", str(port), env={"LISTEN_PID": "1", "LISTEN_FDS": "1"})
    assert server.port == port


@pytest.mark.parametrize("kind", ["user", "system"])
def test_unit_files(tmp_path, kind):
    """systemd reads them without complaint, and they name what the server does."""
    units = []
    for source in sorted((ROOT / "dist" / "systemd" / kind).iterdir()):
        unit = tmp_path / source.name
        unit.write_text(source.read_text().replace("@BINDIR@", str(BUILD.resolve() / "bin")))
        units.append(str(unit))
    service = (tmp_path / "quinced.service").read_text()
    for line in ("Type=notify", "WatchdogSec=30", "KillMode=mixed", "OOMPolicy=continue"):
        assert line in service.splitlines()
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not here")
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *(["--user"] if kind == "user" else []), *units],
                          env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
