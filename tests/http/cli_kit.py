"""What the tests of the command line share: `quince` in a pipe and on a terminal of 80 columns, and
a server that says what a test wants."""
import contextlib
import fcntl
import http.server
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
import urllib.parse

from conftest import BUILD, PATIENCE_S, pid_alive, wait_until

QUINCE = str(BUILD / "bin" / "quince")
CTRL_C, CTRL_D, UP = b"\x03", b"\x04", b"\x1b[A"


def environment(home, **more):
    """Nothing of the tester's own settings; a data directory that belongs to the test."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("QUINCE_") and k != "LANG"
             and not k.startswith("LC_")}
    return {**clean, "TERM": "xterm", "HOME": str(home), "QUINCE_DATA_DIR": str(home / "data"),
            "QUINCE_OLLAMA_PORT": "off", "TZ": "UTC", **more}


class Cli:
    """`quince` for one server."""

    def __init__(self, home, port):
        self.home, self.port = home, port

    def __call__(self, *args, stdin=None, timeout=PATIENCE_S, **env):
        given = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
        done = subprocess.run([QUINCE, "--port", str(self.port), *args], capture_output=True,
                              timeout=timeout, env=environment(self.home, **env), **given)
        done.out, done.err = done.stdout.decode(errors="surrogateescape"), done.stderr.decode()
        assert done.returncode >= 0, f"ended by a signal: {done.err}"
        assert "Sanitizer" not in done.err and "runtime error" not in done.err, done.err
        return done


def started_pid(said):
    """The process of the server that the CLI said it started."""
    return int(re.search(r"\(pid (\d+)\)", said).group(1))


def stop_background_server(said):
    """Ends the server that the CLI said it started."""
    pid = started_pid(said)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not pid_alive(pid), what="the server's end")


class Terminal:
    """A program (`quince`, unless a command says otherwise) on a terminal of its own. `screen` is everything it has
    written."""

    def __init__(self, cli, *args, command=None, lines=24, columns=80, **env):
        self.screen, self.mark = "", 0
        pid, fd = pty.fork()
        if pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
                signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored where the tests run in the background
                command = command or [QUINCE, "--port", str(cli.port), *args]
                os.execve(command[0], command, environment(cli.home, **env))
            finally:
                os._exit(127)  # without the program, this child would go on with the tests as well
        self.pid, self.fd = pid, fd

    def read(self, timeout):
        if not select.select([self.fd], [], [], timeout)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.screen += data.decode(errors="replace")
        return bool(data)

    def wait_for(self, text, timeout=PATIENCE_S):
        """Waits for text after the last one waited for; returns what came up to it."""
        deadline = time.monotonic() + timeout
        while text not in self.screen[self.mark:]:
            ended = self.ended()  # looked at first: what it wrote before can be read then
            if (not self.read(0 if ended else 0.2) and ended) or time.monotonic() > deadline:
                assert text in self.screen[self.mark:], (
                    f"{text!r} did not come; after the mark: {self.screen[self.mark:]!r}")
        begin, self.mark = self.mark, self.screen.index(text, self.mark) + len(text)
        return self.screen[begin:self.mark]

    def shown(self):
        """What a person sees in the end: the lines after carriage returns, wiping and moving up."""
        lines, row, column = [[]], 0, 0
        text = re.sub(r"\x1b\[\??[0-9;]*[hlm]", "", self.screen)
        for code, count, letter, char in re.findall(r"(\x1b\[(\d*)([KJA]))|(.)", text, re.S):
            if letter == "K":
                del lines[row][column:]
            elif letter == "J":
                del lines[row][column:], lines[row + 1:]
            elif letter == "A":
                row -= int(count or 1)
            elif char == "\r":
                column = 0
            elif char == "\n":
                row, column = row + 1, 0
                if row == len(lines):
                    lines.append([])
            else:
                assert column < 80, f"wider than the terminal: {''.join(lines[row])!r}"
                lines[row] += [" "] * (column - len(lines[row]))
                lines[row][column:column + 1] = [char]
                column += 1
        return ["".join(line).rstrip() for line in lines]

    def ended(self):
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def type(self, data):
        os.write(self.fd, data.encode() if isinstance(data, str) else data)

    def status(self, timeout=PATIENCE_S):
        """Waits for the end and returns the exit status."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline and not self.ended():
            self.read(0.05)
        while self.read(0):
            pass
        if not self.ended():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            raise AssertionError(f"did not end: {self.screen!r}")
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        return status


class Stub:
    """A server of fixed answers. `routes` maps "METHOD /path" to what it answers: a value (sent as
    JSON), a pair (status, value), bytes (sent as an event stream), or a function of the query and the
    body that returns one of these. `asked` keeps every request."""

    def __init__(self, routes):
        self.routes, self.asked = {"GET /live": {"status": "ok"}, **routes}, []
        stub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                url = urllib.parse.urlsplit(self.path)
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                body, query = json.loads(raw) if raw else None, dict(urllib.parse.parse_qsl(url.query))
                name = f"{self.command} {urllib.parse.unquote(url.path)}"
                if name != "GET /live":
                    stub.asked.append((name, query, body))
                reply = stub.routes.get(name, (404, {"error": {"message": f"the stub has no {name}"}}))
                if callable(reply):
                    reply = reply(query, body)
                status, reply = reply if isinstance(reply, tuple) else (200, reply)
                streamed = hasattr(reply, "__next__")
                self.send_response(status)
                events = isinstance(reply, bytes) or streamed
                self.send_header("Content-Type", "text/event-stream" if events else "application/json")
                self.end_headers()
                with contextlib.suppress(OSError):
                    for piece in reply if streamed else [reply if events else json.dumps(reply).encode()]:
                        self.wfile.write(piece)
                        self.wfile.flush()

            do_GET = do_POST = do_DELETE = answer

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 128

        self.http = Server(("127.0.0.1", 0), Handler)
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()

    def bodies(self, name):
        return [body for asked, _, body in self.asked if asked == name]

    def queries(self, name):
        return [query for asked, query, _ in self.asked if asked == name]

    def close(self):
        self.http.shutdown()
        self.http.server_close()


def event(name, **data):
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()
