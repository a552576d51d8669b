"""A child process as the router sees it: descriptors 3 and 4, the secret, jobs by POST /run."""
import json
import os
import pathlib
import secrets
import select
import socket
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("QUINCE_TEST_BUILD", ROOT / "build"))
# subprocess has descriptors of its own between fork and exec: with 3 and 4 taken, none of them is there.
while (_taken := os.open("/dev/null", os.O_RDONLY)) < 4:
    pass
PATIENCE = 150  # seconds for anything that should take far less, sanitizers included


class Child:
    """Starts PROGRAM (in build/bin) and loads FILES; `ready` is what it said of itself."""

    def __init__(self, program, files, name="test", load=True, quiet=False, **fields):
        self.secret = secrets.token_hex(32)
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        self.port = listener.getsockname()[1]
        self.control, theirs = socket.socketpair()
        def place():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        # Out of the way of 3 and 4 first: a socket may have one of these numbers here.
        high = [os.dup2(s.fileno(), 200 + i, inheritable=False) for i, s in enumerate((listener, theirs))]
        self.process = subprocess.Popen([str(BUILD / "bin" / program), "--name", name], close_fds=False,
                                        preexec_fn=place,
                                        stderr=subprocess.DEVNULL if quiet else sys.stderr)
        for fd in high:
            os.close(fd)
        theirs.close()
        listener.close()
        self.rest = b""
        self.loading = []
        self.ready = None
        if load:
            self.load(files, name, **fields)

    def load(self, files, name="test", threads=2, context=0, options=None):
        self.say(msg="load", secret=self.secret, name=name, files=[str(f) for f in files], threads=threads,
                 context=context, options=options or {})
        while True:
            message = self.hear()
            if message["msg"] != "loading":
                break
            self.loading.append(message["progress"])
        self.ready = message

    def say(self, **message):
        self.control.sendall(json.dumps(message).encode() + b"\n")

    def hear(self):
        while b"\n" not in self.rest:
            assert select.select([self.control], [], [], PATIENCE)[0], "no control line came"
            got = self.control.recv(65536)
            assert got, "the child closed its control socket"
            self.rest += got
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def ping(self, seq=1):
        self.say(msg="ping", seq=seq)
        message = self.hear()
        assert message["msg"] == "pong" and message["seq"] == seq
        return message

    def post(self, job, secret=None):
        body = json.dumps(job).encode() + b"\n" + bytes(job.get("bytes", 0))
        return Reply(self, body, self.secret if secret is None else secret)

    def run(self, job):
        """All events of the job."""
        return self.post(job).events()

    def stop(self, grace_ms=5000):
        if self.process.poll() is None:
            self.say(msg="stop", grace_ms=grace_ms)
        status = self.process.wait(PATIENCE)
        self.control.close()
        return status

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.control.close()


class Reply:
    """One POST /run; events as they come."""

    def __init__(self, child, body, secret):
        self.socket = socket.create_connection(("127.0.0.1", child.port), PATIENCE)
        self.socket.sendall(b"POST /run HTTP/1.1\r\nHost: child\r\nAuthorization: Bearer " + secret.encode() +
                            b"\r\nConnection: close\r\nContent-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body)
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        self.headers = {}
        while (line := self.file.readline().strip()):
            key, value = line.decode().split(": ", 1)
            self.headers[key.lower()] = value
        self.rest = b""

    def __iter__(self):
        chunked = self.headers.get("transfer-encoding") == "chunked"
        while True:
            if chunked:
                size = int(self.file.readline(), 16)
                data = self.file.read(size)
                self.file.readline()
            else:
                data = self.file.read()
            if not data:
                break
            self.rest += data
            while b"\n" in self.rest:
                line, self.rest = self.rest.split(b"\n", 1)
                yield json.loads(line)
        assert not self.rest
        self.close()

    def events(self):
        return list(self)

    def close(self):
        self.file.close()
        self.socket.close()


def chat(content, task_id="r1", **sampling):
    """A user who says a text, or messages of a role and a text each."""
    pairs = [("user", content)] if isinstance(content, str) else [(m["role"], m["content"]) for m in content]
    messages = [{"role": role, "parts": [{"kind": "text", "text": text}]} for role, text in pairs]
    return {"task": "chat", "id": task_id, "sampling": sampling, "chat": {"messages": messages}}


def shown(size=1):
    """A user who shows a picture of so many bytes."""
    return {"task": "chat", "id": "r1", "attachments": [{"role": "image", "type": "image/png", "bytes": size}],
            "bytes": size, "chat": {"messages": [{"role": "user", "parts": [{"kind": "picture", "attachment": 0}]}]}}


def complete(prompt, task_id="r1", echo=False, suffix=None, **sampling):
    what = {"prompt_tokens": prompt} if isinstance(prompt, list) else {"prompt": prompt}
    return {"task": "complete", "id": task_id, "sampling": sampling, "complete": {**what, "echo": echo, "suffix": suffix}}


def of(events, kind):
    return [e for e in events if e["ev"] == kind]


def text(events, index=0):
    return "".join(e["text"] for e in of(events, "text") if e.get("index", 0) == index)
