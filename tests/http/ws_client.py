"""A WebSocket client (RFC 6455) of the tests' own, with the standard library alone, written from the
RFC: it checks what the server sends, and can send what no proper client would."""
import base64
import contextlib
import hashlib
import json
import os
import socket
import struct

from conftest import PATIENCE_S

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # section 1.3


class Refused(Exception):
    """The server answered the handshake with something else than 101."""

    def __init__(self, status, headers, body):
        super().__init__(f"{status} {body[:300]!r}")
        self.status, self.headers, self.body = status, headers, body


class Closed(Exception):
    """The server closed: its code (None: without a close frame) and reason."""

    def __init__(self, code, reason=""):
        super().__init__(f"{code} {reason}")
        self.code, self.reason = code, reason


def head(path, key, port, headers=(), version="13"):
    lines = [f"GET {path} HTTP/1.1", f"Host: localhost:{port}", "Upgrade: websocket",
             "Connection: keep-alive, Upgrade", f"Sec-WebSocket-Key: {key}",
             f"Sec-WebSocket-Version: {version}", *(f"{n}: {v}" for n, v in headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def frame(opcode, payload=b"", fin=True, masked=True, reserved=0, length=None):
    """A frame's bytes. length: what the header claims, where it shall lie."""
    n = len(payload) if length is None else length
    first = bytes([(0x80 if fin else 0) | reserved << 4 | opcode])
    mark = 0x80 if masked else 0
    if n < 126:
        size = bytes([mark | n])
    elif n < 65536:
        size = bytes([mark | 126]) + struct.pack(">H", n)
    else:
        size = bytes([mark | 127]) + struct.pack(">Q", n)
    if not masked:
        return first + size + payload
    mask = os.urandom(4)
    return first + size + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload))


class WebSocket:
    def __init__(self, port, path, headers=(), protocols=(), timeout=PATIENCE_S, behind=b"", buffer=None):
        """behind: bytes sent in one go with the head; buffer: of the system, for what is not read yet."""
        self.socket = socket.socket()
        if buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(timeout)
        self.socket.connect(("127.0.0.1", port))
        self.bytes = b""
        self.pings = []
        key = base64.b64encode(os.urandom(16)).decode()
        if protocols:
            headers = [*headers, ("Sec-WebSocket-Protocol", ", ".join(protocols))]
        self.socket.sendall(head(path, key, port, headers) + behind)
        self._handshake(key)

    def _handshake(self, key):
        while b"\r\n\r\n" not in self.bytes:
            self._read()
        raw, self.bytes = self.bytes.split(b"\r\n\r\n", 1)
        status, *lines = raw.decode().split("\r\n")
        self.headers = {n.strip().lower(): v.strip() for n, v in (x.split(":", 1) for x in lines)}
        code = int(status.split()[1])
        if code != 101:
            wanted = int(self.headers.get("content-length", 0))
            while len(self.bytes) < wanted:
                self._read()
            self.socket.close()
            raise Refused(code, self.headers, self.bytes[:wanted])
        expected = base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()
        assert self.headers["sec-websocket-accept"] == expected
        assert self.headers["upgrade"].lower() == "websocket"
        assert "upgrade" in self.headers["connection"].lower()
        self.protocol = self.headers.get("sec-websocket-protocol")

    def _read(self):
        got = self.socket.recv(65536)
        if not got:
            raise Closed(None)
        self.bytes += got

    def _take(self, n):
        while len(self.bytes) < n:
            self._read()
        got, self.bytes = self.bytes[:n], self.bytes[n:]
        return got

    def frame(self):
        """The next frame: opcode, whether it is a message's last, payload."""
        a, b = self._take(2)
        assert not a & 0x70, "reserved bits"
        assert not b & 0x80, "frames of a server are not masked"
        n = b & 0x7F
        if n == 126:
            n, = struct.unpack(">H", self._take(2))
            assert n > 125
        elif n == 127:
            n, = struct.unpack(">Q", self._take(8))
            assert n > 65535
        if a & 8:
            assert n < 126 and a & 0x80, "control frames are short and whole"
        return a & 15, bool(a & 0x80), self._take(n)

    def receive(self):
        """The next message: str or bytes. Answers pings and closes; raises Closed."""
        kind, parts = None, []
        while True:
            opcode, fin, payload = self.frame()
            if opcode == PING:
                self.pings.append(payload)
                self.send_raw(frame(PONG, payload))
            elif opcode == PONG:
                return PONG, payload
            elif opcode == CLOSE:
                code = struct.unpack(">H", payload[:2])[0] if payload else 1005
                with contextlib.suppress(OSError):
                    self.send_raw(frame(CLOSE, payload[:2]))
                assert self.ended(), "the server sends nothing behind its close frame"
                raise Closed(code, payload[2:].decode())
            else:
                assert (opcode == 0) == bool(kind), "continuation"
                kind = kind or opcode
                parts.append(payload)
                if fin:
                    whole = b"".join(parts)
                    return whole.decode() if kind == TEXT else whole

    def json(self):
        return json.loads(self.receive())

    def send(self, message):
        if isinstance(message, (dict, list)):
            message = json.dumps(message)
        text = isinstance(message, str)
        self.send_raw(frame(TEXT if text else BINARY, message.encode() if text else message))

    def send_raw(self, data):
        self.socket.sendall(data)

    def ended(self):
        """True when the server has ended its direction, with nothing more to read."""
        try:
            return self.bytes == b"" and self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def close(self, code=1000):
        """A proper end; the code the server answers with."""
        self.send_raw(frame(CLOSE, struct.pack(">H", code)))
        try:
            while True:
                self.receive()
        except Closed as e:
            return e.code
        finally:
            self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
