#!/usr/bin/env python3
"""A child that breaks the contract, each time as its model file's "fake.options" say: {"rude": KIND}. In the definition
of a remote model they are its "model"."""
import json
import os
import re
import socket
import sys
import threading
import time

control = socket.socket(fileno=4)
listener = socket.socket(fileno=3)
listener.setblocking(True)  # the router binds it non-blocking, and that belongs to the socket


def say(line):
    control.sendall(line if isinstance(line, bytes) else (json.dumps(line) + "\n").encode())


lines = control.makefile("r")
load = json.loads(lines.readline())


def obey():
    """Ends at a `stop` line or with the router, so that eviction need not wait for the kill."""
    for line in lines:
        if '"stop"' in line:
            break
    os._exit(0)


threading.Thread(target=obey, daemon=True).start()
text = open(load["files"][0], "rb").read()
options = json.loads(re.search(rb'\{.*\}', text).group())
kind = json.loads(options["model"])["rude"] if "model" in options else options["rude"]

READY = {"msg": "ready", "context": 100, "memory_bytes": 1, "slots": 1, "threads": 1}
CONTROL = {
    "control-garbage": b"this is no JSON\n",
    "control-unknown": {"msg": "sing"},
    "control-endless-line": b"x" * 3000000,
    "control-wrong-type": {"msg": "ready", "slots": "many"},
    "control-failed-twice": b'{"msg":"failed","error":{"code":"format","param":"","message":"no"}}\n' * 2,
}
if kind in CONTROL:
    try:
        say(CONTROL[kind])
    except OSError:
        pass
    time.sleep(3600)
    sys.exit(0)
if kind == "control-flood":
    while True:
        say(b'{"msg":"loading","progress":0.5}\n' * 1000)
if kind == "silent":
    time.sleep(3600)
say(READY)

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nConnection: close\r\n\r\n"
TEXT = b'{"ev":"text","index":0,"text":"hi"}\n'
REPLIES = {
    "not-http": b"hello there\r\n\r\n",
    "status-500": b"HTTP/1.1 500 Oops\r\nContent-Length: 3\r\n\r\nbad",
    "status-401": b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n",
    "frame-garbage": HEAD + TEXT + b"garbage\n",
    "frame-unknown-event": HEAD + b'{"ev":"sing"}\n',
    "frame-wrong-type": HEAD + b'{"ev":"text","text":5}\n',
    "frame-bad-utf8": HEAD + b'{"ev":"text","text":"\xff\xfe"}\n',
    "frame-negative-bytes": HEAD + b'{"ev":"text","text":"a","bytes":-5}\n',
    "frame-huge-bytes": HEAD + b'{"ev":"text","text":"a","bytes":99999999999}\n',
    "frame-wild-index": HEAD + b'{"ev":"text","index":15,"text":"a"}\n{"ev":"end"}\n',
    "frame-bytes-of-a-text": HEAD + b'{"ev":"text","text":"a","bytes":3}\nabc',
    "frame-sound-without-bytes": HEAD + b'{"ev":"audio","format":"pcm","rate_hz":8000}\n',
    "cut-in-bytes": HEAD + b'{"ev":"audio","format":"pcm","rate_hz":8000,"bytes":9}\nabc',
    "cut-at-once": HEAD,
    "cut-in-a-frame": HEAD + TEXT + b'{"ev":"te',
    "end-without-done": HEAD + TEXT + b'{"ev":"end"}\n',
    "text-after-end": HEAD + TEXT + b'{"ev":"done","index":0,"reason":"stop"}\n{"ev":"end"}\n' + TEXT * 10,
    "redirect": b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
    "nothing": b"",
    # One piece: the router hears of the error in the turn in which the first vectors have come.
    "vectors-then-error": HEAD + b'{"ev":"vectors","index":0,"count":1,"bytes":16}\n' + bytes(16) +
    b'{"ev":"error","error":{"code":"invalid","param":"input","message":"no such word"}}\n',
}


def hear(connection):
    """The whole request: what is left unread when a socket is closed destroys the answer."""
    got = b""
    while True:
        head, end, body = got.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: *(\d+)", head)
        if end and b"chunked" in head:
            if body.endswith(b"\r\n0\r\n\r\n"):
                return
        elif end and len(body) >= int(length[1] if length else 0):
            return
        piece = connection.recv(65536)
        if not piece:
            return
        got += piece


while True:
    connection, _ = listener.accept()
    hear(connection)
    try:
        connection.sendall(REPLIES[kind])
    except OSError:
        pass
    connection.close()
