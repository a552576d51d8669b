#!/usr/bin/python3
"""A server that answers as llama-server, whisper-server and sd-server do, and misbehaves as it is told.

As a program: started with their arguments (--model FILE --port N, or --listen-port); the model file is JSON
and says how it behaves. In a test: `with serving(**behaviour) as server`, then server.url, server.requests.

Behaviour: tokens, token_ms (words of an answer), load_ms, word, reasoning, tool (name of a function that is
called), key (wanted as Bearer), models (names), owned_by, context, slots, status (answer with this error),
message (its text), die_before (requests that are hung up on before a byte), die_after (words, then the
connection breaks), crash_after (words, then the process dies), say (lines sent as they are), hold (nothing follows
them until the client hangs up), whole (no
stream), choices (how many at most), echo (the answer is the request's body), break_out (as in fake_backend.c)."""
import argparse
import base64
import contextlib
import http.server
import json
import os
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
import zlib


def png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b""))


def break_out(how):
    if how == "exec":
        return subprocess.run(["/bin/true"]).returncode
    if how == "connect":
        return socket.create_connection(("127.0.0.1", 1), 1)
    return open(how, "rb").read(1)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address, **behaviour):
        super().__init__(address, Handler)
        self.b = behaviour
        self.began = time.monotonic()
        self.requests = []
        self.port = self.server_address[1]

    def handle_error(self, request, client_address):
        pass  # a client that hangs up is what some tests are about


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def reply(self, status, body, kind="application/json"):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def error(self, status, message, kind="server_error"):
        self.reply(status, {"error": {"code": status, "message": message, "type": kind}})

    def hang_up(self, reset=True):
        """A reset takes along what the other side has not read yet."""
        if reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        else:
            self.connection.shutdown(socket.SHUT_WR)
        self.close_connection = True

    def refused(self):
        b = self.server.b
        if b.get("key") and self.headers.get("Authorization") != f"Bearer {b['key']}":
            self.error(401, "Invalid API Key", "authentication_error")
            return True
        return False

    def do_GET(self):
        b = self.server.b
        if b.get("down"):
            return self.hang_up()
        if self.path == "/health":
            if time.monotonic() - self.server.began < b.get("load_ms", 0) / 1000:
                return self.error(503, "Loading model", "unavailable_error")
            return self.reply(200, {"status": "ok"})
        if self.refused():
            return None
        if self.path == "/props":
            return self.reply(200, {"total_slots": b.get("slots", 4),
                                    "default_generation_settings": {"n_ctx": b.get("context", 2048)}})
        if self.path == "/asked":  # what has been asked so far, for a test that did not start it
            return self.reply(200, [{"path": path, "body": body.decode("utf-8", "replace")}
                                    for path, _, body in self.server.requests])
        if self.path == "/v1/models":
            if "say_models" in b:
                return self.reply(200, b["say_models"].encode())
            return self.reply(200, {"object": "list", "data": [
                {"id": name, "object": "model", "owned_by": b.get("owned_by", "llamacpp"),
                 "meta": {"n_ctx_train": b.get("context", 2048)}} for name in b.get("models", ["fake"])]})
        return self.error(404, "File Not Found", "not_found_error")

    def do_POST(self):
        b = self.server.b
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append((self.path, dict(self.headers), body))
        if self.refused():
            return None
        if b.get("down"):
            return self.hang_up()
        if b.get("die_before", 0) > 0:
            b["die_before"] -= 1
            return self.hang_up()
        if "status" in b:
            return self.error(b["status"], b.get("message", "it went wrong"), b.get("type", "server_error"))
        if "break_out" in b:
            try:
                break_out(b["break_out"])
                return self.error(500, "broke out")
            except OSError as e:
                return self.error(500, f"held: {e.strerror}")
        handler = {"/v1/chat/completions": self.chat, "/v1/completions": self.complete,
                   "/v1/embeddings": self.embed, "/v1/rerank": self.rerank, "/inference": self.transcribe,
                   "/v1/audio/transcriptions": self.transcribe, "/v1/audio/speech": self.speak,
                   "/v1/images/generations": self.paint, "/v1/images/edits": self.paint}.get(self.path)
        return handler(body) if handler else self.error(404, "File Not Found", "not_found_error")

    # ---- texts ----

    def begin_stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def line(self, text):
        raw = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))

    def say(self, **chunk):
        self.line("data: " + json.dumps({"object": "chat.completion.chunk", "model": "fake", **chunk}) + "\n\n")

    def words(self, rq):
        b = self.server.b
        if b.get("echo"):
            return [json.dumps(rq)], "stop"
        n = b.get("tokens", 5)
        limit = rq.get("max_tokens")
        word = b.get("word", "word ")
        return ([word] * n, "stop") if limit is None or limit >= n else ([word] * limit, "length")

    def generate(self, rq, delta):
        """Streams all choices side by side; delta(word) is a chunk's choice."""
        b = self.server.b
        words, reason = self.words(rq)
        choices = range(min(rq.get("n") or 1, b.get("choices", 128)))
        usage = {"prompt_tokens": 7, "completion_tokens": len(words) * len(choices),
                 "prompt_tokens_details": {"cached_tokens": 3}}
        timings = {"cache_n": 3, "prompt_n": 4, "prompt_ms": 1.5, "predicted_n": len(words), "predicted_ms": 2.5}
        if b.get("whole") or not rq.get("stream"):
            text = "".join(words)
            choice = delta(text)
            choice["message"] = {"role": "assistant", **choice.pop("delta", {})}
            return self.reply(200, {"choices": [{"index": i, **choice, "finish_reason": reason} for i in choices],
                                    "usage": usage})
        self.begin_stream()
        for text in b.get("say", []):
            self.line(text)
        if b.get("hold"):
            self.connection.recv(1)
            return None
        if rq.get("return_progress"):
            self.say(choices=[], prompt_progress={"total": 7, "cache": 3, "processed": 7, "time_ms": 1})
        if b.get("reasoning"):
            for i in choices:
                self.say(choices=[{"index": i, "delta": {"reasoning_content": b["reasoning"]}, "finish_reason": None}])
        for at, word in enumerate(words):
            if b.get("die_after") == at:
                return self.hang_up(reset=False)
            if b.get("crash_after") == at:
                os.kill(os.getpid(), signal.SIGKILL)
            for i in choices:
                self.say(choices=[{"index": i, **delta(word), "finish_reason": None}])
            time.sleep(b.get("token_ms", 0) / 1000)
        if b.get("tool"):
            reason = "tool_calls"
            first = {"index": 0, "id": "call_1", "type": "function", "function": {"name": b["tool"], "arguments": ""}}
            for i in choices:
                self.say(choices=[{"index": i, "delta": {"tool_calls": [first]}, "finish_reason": None}])
                for piece in ['{"city":', '"Paris"}']:
                    self.say(choices=[{"index": i, "delta": {"tool_calls": [
                        {"index": 0, "function": {"arguments": piece}}]}, "finish_reason": None}])
        for i in choices:
            self.say(choices=[{"index": i, "delta": {}, "text": "", "finish_reason": reason}])
        self.say(choices=[], usage=usage, timings=timings)
        self.line("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")
        return None

    def chat(self, body):
        rq = json.loads(body)

        def delta(word):
            logprobs = {"content": [{"id": 5, "token": word, "bytes": list(word.encode()), "logprob": -0.5,
                                     "top_logprobs": [{"id": 5, "token": word, "bytes": list(word.encode()),
                                                       "logprob": -0.5}]}]}
            return {"delta": {"content": word}, **({"logprobs": logprobs} if rq.get("logprobs") else {})}
        return self.generate(rq, delta)

    def complete(self, body):
        return self.generate(json.loads(body), lambda word: {"text": word})

    # ---- the rest ----

    def embed(self, body):
        rq = json.loads(body)
        self.reply(200, {"data": [{"index": i, "embedding": [float(len(str(text))), 0.5, -1.0]}
                                  for i, text in reversed(list(enumerate(rq["input"])))],
                         "usage": {"prompt_tokens": len(rq["input"]), "total_tokens": len(rq["input"])}})

    def rerank(self, body):
        rq = json.loads(body)
        self.reply(200, {"results": [{"index": i, "relevance_score": float(len(text))}
                                     for i, text in enumerate(rq["documents"])], "usage": {"prompt_tokens": 9}})

    def transcribe(self, body):
        assert b"verbose_json" in body and b"filename=" in body
        self.reply(200, {"task": "transcribe", "language": "en", "duration": 2.0, "text": " Hello there.", "segments": [
            {"id": 0, "start": 0.0, "end": 1.0, "text": " Hello", "temperature": 0.0, "avg_logprob": -0.1,
             "no_speech_prob": 0.01, "words": [{"word": " Hello", "start": 0.0, "end": 0.9}]},
            {"id": 1, "start": 1.0, "end": 2.0, "text": " there.", "temperature": 0.0, "avg_logprob": -0.2,
             "no_speech_prob": 0.01, "words": [{"word": " there.", "start": 1.0, "end": 1.9}]}]})

    def speak(self, body):
        self.reply(200, b"RIFF....WAVEsound of " + json.loads(body)["input"].encode(), "audio/wav")

    def paint(self, body):
        n = json.loads(body).get("n") or 1 if body.startswith(b"{") else 1
        self.reply(200, {"created": 1, "data": [{"b64_json": base64.b64encode(png()).decode()}] * n})


@contextlib.contextmanager
def serving(certificate=None, port=0, **behaviour):
    server = Server(("127.0.0.1", port), **behaviour)
    scheme = "http"
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    server.url = f"{scheme}://127.0.0.1:{server.port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--port", "--listen-port", dest="port", type=int, required=True)
    known, rest = parser.parse_known_args()
    raw = open(known.model, "rb").read()
    at = raw.rfind(b'{"fake_llama"')
    behaviour = json.loads(raw[at:].decode()) if at >= 0 else {}
    if os.environ.get("LLAMA_API_KEY"):
        behaviour["key"] = os.environ["LLAMA_API_KEY"]
    print("fake server:", " ".join(rest), flush=True)
    if "exit" in behaviour:
        print("fake server: error: cannot load the model", file=sys.stderr)
        sys.exit(behaviour["exit"])
    if behaviour.get("show_args"):
        behaviour["word"] = " ".join(rest)
        behaviour["tokens"] = 1
    Server(("127.0.0.1", known.port), **behaviour).serve_forever(0.05)


if __name__ == "__main__":
    main()
