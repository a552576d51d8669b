"""Clients whose machine has vanished without a word, as when it loses its power or its network."""
import contextlib
import ctypes
import http.client
import os
import socket
import struct
import time

import pytest
from conftest import raw_connection, wait_until

SO_ATTACH_FILTER = 26
ESTABLISHED = "01"  # in /proc/net/tcp
FOUND_S = 120  # what the documents promise
STREAMS = {"lines of the log": ("/logs/stream?lines=0&level=critical", "text/plain"),
           "events of the log": ("/logs/stream?lines=0&level=critical", "text/event-stream"),
           "events of chats": ("/internal/chats/events", "text/event-stream")}


def vanish(s):
    """From now on the kernel drops all that comes for this socket, and the server gets no answer from it."""
    nothing = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))  # BPF: return 0, no byte is taken
    program = struct.pack("HP", 1, ctypes.addressof(nothing))
    s.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)


def stream_of(server, path, accept):
    s = raw_connection(server)
    s.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\n\r\n".encode())
    response = http.client.HTTPResponse(s)
    response.begin()
    assert response.status == 200
    return s


def connected(server):
    """The ports of the clients whose connections the server has."""
    with open("/proc/net/tcp") as table:
        rows = [line.split() for line in table][1:]
    at = f":{server.port:04X}"
    return {int(r[2].rsplit(":", 1)[1], 16) for r in rows if r[1].endswith(at) and r[3] == ESTABLISHED}


@pytest.mark.skipif(os.environ.get("QUINCE_TEST_ALL") != "1", reason="two minutes of waiting: scripts/check --all")
def test_idle_streams_of_vanished_clients_end(server):
    with contextlib.ExitStack() as stack:
        here = [stack.enter_context(stream_of(server, *how)) for how in STREAMS.values()]
        deaf = stack.enter_context(socket.socket())  # is there, and reads nothing
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", server.port))
        deaf.sendall(b"".join(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
                              for path in ["/v1/logs"] * 20 + ["/logs/stream"]))
        here.append(deaf)
        gone = [stack.enter_context(stream_of(server, *how)) for how in STREAMS.values()]
        stay, go = ({s.getsockname()[1] for s in some} for some in (here, gone))
        assert connected(server) >= stay | go
        for s in gone:
            vanish(s)
        wait_until(lambda: not connected(server) & go, timeout=FOUND_S, what="the end of the streams of nobody")
        time.sleep(20)  # clients that are there have got comments or probes since
        assert connected(server) >= stay
    wait_until(lambda: not connected(server) & stay, what="closing")
