"""A hub of the tests' own: real HTTP on two loopback ports, one for the API and one for the files that it
redirects to, as Hugging Face does it. It misbehaves on request, and remembers every request, with the
bytes of each body that it handed to the system.

    hub = Hub()
    hub.repo("owner/name", {"model.gguf": b"...", "config.json": b"{}"})
    hub.files["plain.bin"] = b"..."                   # GET {hub.url}/plain/plain.bin
    hub.fault("model.gguf", cut=1000, times=3)        # the next three replies break after 1000 bytes

A fault's key is the end of a request's path, or of the repository's path of a file. Files larger than
LFS_BYTES, and those whose names end as models' do, are redirected to the second port.

`python3 hub_server.py` runs a hub by itself and prints its addresses."""
import contextlib
import gzip
import functools
import hashlib
import http.server
import json
import pathlib
import select
import socket
import socketserver
import ssl
import threading
import time
import urllib.parse

LFS_BYTES = 1 << 20
LFS_ENDS = (".gguf", ".bin", ".safetensors", ".onnx", ".zip", ".gz", ".zst", ".7z")
TOKEN = "hf_test_token"


@functools.lru_cache(maxsize=64)
def digest(kind, data):
    """The digest of a file; each is asked for many times."""
    return hashlib.new(kind, data).hexdigest()


@functools.lru_cache(maxsize=64)
def git_sha1(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class Fault:
    """What is different about some replies. Options that are not given leave the reply as it is.

    times      how often; None: always            skip      leave so many requests alone first
    status, headers, body                         an error instead of the file
    redirect   a Location (absolute or relative)  cut       close after so many bytes of the body
    hang       seconds before anything is said    rate      bytes a second, which may change meanwhile
    raw        these bytes instead of a reply, then the connection is closed
    etag       instead of the right one; None: no ETag at all
    data       other bytes than the file's        length    another Content-Length
    no_ranges  Range is disregarded               no_length the body ends with the connection
    endless    the body goes on for ever          total     another total in Content-Range
    first      another first byte in Content-Range, and the bytes from there
    encoding   a Content-Encoding to claim        host      only on this server: "api" or "files"
    no_if_range  If-Range is disregarded          from_byte only for requests from there on
    hold       say nothing after so many bytes of the body until the option is taken away
    hold_all   the same after so many bytes of all bodies that this server has sent
    """

    def __init__(self, key, times=None, skip=0, host=None, from_byte=0, **options):
        self.key, self.times, self.skip, self.host = key, times, skip, host
        self.from_byte, self.options = from_byte, options

    def takes(self, host, names, first):
        if (self.host and self.host != host) or not any(n.endswith(self.key) for n in names):
            return False
        if first < self.from_byte:
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        if self.times is not None:
            if self.times <= 0:
                return False
            self.times -= 1
        return True


class Repo:
    def __init__(self, name, files, gated=False, private=False, revision="main", commit=None, **card):
        self.name, self.gated, self.private, self.card = name, gated, private, card
        self.revisions = {}
        self.add(files, revision, commit)

    def add(self, files, revision="main", commit=None):
        """One more commit, at a branch or tag."""
        commit = commit or hashlib.sha1(repr((self.name, revision, sorted(files))).encode()).hexdigest()
        self.revisions[revision] = self.revisions[commit] = (commit, dict(files))
        return commit

    def info(self, revision, blobs):
        commit, files = self.revisions[revision]
        siblings = []
        for path, data in files.items():
            data = read(data)
            entry = {"rfilename": path}
            if blobs:
                entry.update(size=len(data), blobId=git_sha1(data))
                if is_lfs(path, data):
                    entry["lfs"] = {"sha256": digest("sha256", data), "size": len(data),
                                    "pointerSize": 134}
            siblings.append(entry)
        return {"_id": "0", "id": self.name, "modelId": self.name, "sha": commit, "private": self.private,
                "gated": self.gated, "disabled": False, "downloads": 1, "likes": 0, "tags": ["gguf"],
                "pipeline_tag": "text-generation", "siblings": siblings, **self.card}

    def tree(self, revision, folder, recursive):
        files = self.revisions[revision][1]
        out, folders = [], set()
        for path, data in files.items():
            rest = path[len(folder) + 1:] if folder else path
            if folder and not path.startswith(folder + "/"):
                continue
            if "/" in rest and not recursive:
                folders.add((folder + "/" if folder else "") + rest.split("/")[0])
                continue
            data = read(data)
            entry = {"type": "file", "oid": git_sha1(data), "size": len(data), "path": path}
            if is_lfs(path, data):
                entry["lfs"] = {"oid": digest("sha256", data), "size": len(data), "pointerSize": 134}
            out.append(entry)
        return [{"type": "directory", "oid": "0" * 40, "size": 0, "path": f} for f in sorted(folders)] + out


def read(data):
    return data.read_bytes() if isinstance(data, pathlib.Path) else data


def is_lfs(path, data):
    return len(data) > LFS_BYTES or path.endswith(LFS_ENDS)


class Request:
    """One request as the hub saw it. `sent` is what the system has taken of the body: a client that has received a byte finds
    it counted."""

    def __init__(self, host, handler):
        self.host, self.method, self.path = host, handler.command, handler.path
        self.headers = dict(handler.headers.items())
        self.range = parse_range(handler.headers.get("Range"))
        self.status, self.at, self.ended = 0, time.monotonic(), None
        self.counting, self.counted = threading.Lock(), 0

    @property
    def sent(self):
        with self.counting:
            return self.counted

    def __repr__(self):
        return f"<{self.host} {self.method} {self.path} {self.range} -> {self.status} {self.sent}>"


def parse_range(text):
    if not text or not text.startswith("bytes=") or "," in text:
        return None
    first, _, last = text[6:].partition("-")
    return (int(first), int(last) if last else None) if first else None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "hub", ""

    def log_message(self, *_):
        pass

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # What a client has not read is not to pile up here, also where the machine is busy: it counts as sent. One
        # packet of the loopback device must fit (64 KiB), or each waits for the acknowledgement of the last.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 * 1024)

    @property
    def hub(self):
        return self.server.hub

    def do_GET(self):
        seen = Request(self.server.host, self)
        with self.hub.lock:
            self.hub.log.append(seen)
        self.seen = seen
        try:
            self.hub.answer(self, urllib.parse.urlsplit(self.path))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            seen.ended = time.monotonic()

    do_HEAD = do_POST = do_PUT = do_GET

    def send(self, data):
        """Sends bytes of a body, and counts them before anybody can look."""
        writable, view = select.poll(), memoryview(data)
        writable.register(self.connection, select.POLLOUT)
        flags = 0 if isinstance(self.connection, ssl.SSLSocket) else socket.MSG_DONTWAIT
        while view:
            writable.poll()
            with self.seen.counting, contextlib.suppress(BlockingIOError):
                n = self.connection.send(view[:65536], flags)
                self.seen.counted += n
                view = view[n:]

    def gone(self):
        """Whether the client has closed the connection."""
        closed = select.poll()
        closed.register(self.connection, select.POLLRDHUP)
        return bool(closed.poll(0))

    def body_sent(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def reply(self, status, body=b"", headers=()):
        headers = dict(headers)
        self.seen.status = status
        self.send_response(status)
        headers.setdefault("Content-Length", str(len(body)))
        for k, v in headers.items():
            if v is not None:
                self.send_header(k, v)
        self.end_headers()
        if self.command != "HEAD":
            self.send(body)

    def reply_json(self, value, status=200, headers=()):
        self.reply(status, json.dumps(value).encode(), {"Content-Type": "application/json", **dict(headers)})

    def reply_error(self, status, text, code=None):
        self.reply_json({"error": text}, status, {"X-Error-Code": code, "X-Error-Message": text})

    def reply_file(self, data, etag, fault, headers=()):
        """The file, or the range of it that was asked for, as the fault has it."""
        o = fault.options if fault else {}
        if "hang" in o:
            time.sleep(o["hang"])
        if "raw" in o:
            self.wfile.write(o["raw"])
            self.close_connection = True
            return
        if "redirect" in o:
            self.reply(o.get("status", 302), b"", {"Location": o["redirect"], **o.get("headers", {})})
            return
        if "status" in o:
            self.reply(o["status"], o.get("body", b"no"), o.get("headers", {}))
            return
        data = o.get("data", data)
        etag = o.get("etag", etag)
        head = {"ETag": etag, "Accept-Ranges": "bytes", "Content-Type": "application/octet-stream",
                **dict(headers)}
        status, first, last = 200, 0, len(data) - 1
        wanted = self.seen.range
        if_range = self.headers.get("If-Range")
        if wanted and not o.get("no_ranges") and (not if_range or if_range == etag or o.get("no_if_range")):
            first, last = wanted[0], min(wanted[1] if wanted[1] is not None else last, last)
            if first >= len(data):
                self.reply(416, b"", {"Content-Range": f"bytes */{o.get('total', len(data))}"})
                return
            first = o.get("first", first)
            status = 206
            head["Content-Range"] = f"bytes {first}-{last}/{o.get('total', len(data))}"
        body = data[first:last + 1]
        if "encoding" in o:
            body = gzip.compress(body)
            head["Content-Encoding"] = o["encoding"]
        if not o.get("no_length") and not o.get("endless"):
            head["Content-Length"] = str(o.get("length", len(body)))
        else:
            head["Connection"] = "close"
        head.update(o.get("headers", {}))
        self.seen.status = status
        self.send_response(status)
        for k, v in head.items():
            if v is not None:
                self.send_header(k, v)
        self.end_headers()
        if self.command == "HEAD":
            return
        if o.get("endless"):
            while not self.hub.closing:
                self.send(b"\0" * 65536)
        self.send_body(body, o)
        if "cut" in o or "no_length" in o or o.get("length", len(body)) != len(body):
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    def send_body(self, body, o):
        if "cut" in o:
            body = body[:o["cut"]]
        view, at = memoryview(body), 0
        while view and not self.hub.closing:
            hold = o.get("hold", len(body))
            if at >= hold or ("hold_all" in o and self.hub.sent(host=self.server.host) >= o["hold_all"]):
                if self.gone():
                    return
                time.sleep(0.01)
                continue
            rate = o.get("rate") or self.hub.rate
            n = min(hold - at, max(1, min(65536, int(rate / 50))) if rate else 1 << 20)
            self.send(view[:n])
            if rate:
                time.sleep(len(view[:n]) / rate)
            view, at = view[n:], at + n


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, hub, host, tls=None):
        self.hub, self.host, self.scheme = hub, host, "https" if tls else "http"
        super().__init__(("127.0.0.1", 0), Handler)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        pass  # clients that go away are what these tests are about


class Hub:
    """tls: an ssl.SSLContext for both servers, which are https then."""

    def __init__(self, tls=None):
        self.repos, self.files, self.faults, self.log = {}, {}, [], []
        self.routes = []  # functions (handler, split url) -> True when they have answered
        self.lock, self.closing, self.rate = threading.Lock(), False, 0
        self.sums = {}
        self.api, self.cdn = Server(self, "api", tls), Server(self, "files", tls)

    @property
    def url(self):
        return self.api.url

    @property
    def files_url(self):
        return self.cdn.url

    def repo(self, name, files, **more):
        self.repos[name] = Repo(name, files, **more)
        return self.repos[name]

    def fault(self, key, **options):
        f = Fault(key, **options)
        with self.lock:
            self.faults.append(f)
        return f

    def heal(self):
        """Nothing is wrong any more."""
        with self.lock:
            self.faults.clear()

    def plain(self, name):
        return f"{self.url}/plain/{name}"

    def requests(self, end="", host=None):
        with self.lock:
            return [r for r in self.log if r.path.partition("?")[0].endswith(end) and host in (None, r.host)]

    def sent(self, end="", host=None):
        """Bytes of bodies that were handed over for paths that end so."""
        return sum(r.sent for r in self.requests(end, host))

    def close(self):
        self.closing = True
        for server in (self.api, self.cdn):
            server.shutdown()
            server.server_close()

    def fault_for(self, host, names, first=0):
        with self.lock:
            return next((f for f in self.faults if f.takes(host, names, first)), None)

    def answer(self, h, url):
        path = urllib.parse.unquote(url.path)
        query = urllib.parse.parse_qs(url.query, keep_blank_values=True)
        for route in self.routes:
            if route(h, url):
                return
        first = h.seen.range[0] if h.seen.range else 0
        if path.startswith("/plain/"):
            name = path[7:]
            fault = self.fault_for(h.server.host, [path], first)
            if name not in self.files:
                h.reply_error(404, "no such file")
            else:
                data = read(self.files[name])
                h.reply_file(data, f'"{digest("md5", data)}"', fault)
        elif h.server.host == "files":
            self.answer_lfs(h, path, query, first)
        elif path == "/api/models":
            self.answer_search(h, query)
        elif path.startswith("/api/models/"):
            self.answer_api(h, path, query)
        elif "/resolve/" in path:
            self.answer_resolve(h, path, first)
        else:
            h.reply_error(404, "Not Found")

    def allowed(self, h, repo):
        return not (repo.gated or repo.private) or h.headers.get("Authorization") == f"Bearer {TOKEN}"

    def answer_search(self, h, query):
        words = query.get("search", [""])[0].lower().split()
        found = [r.info("main", False) for r in self.repos.values() if all(w in r.name.lower() for w in words)]
        h.reply_json(found[:int(query.get("limit", ["100"])[0])])

    def answer_api(self, h, path, query):
        parts = path[len("/api/models/"):].split("/")
        repo = self.repos.get("/".join(parts[:2]))
        fault = self.fault_for("api", [path])
        if fault:
            o = fault.options
            time.sleep(o.get("hang", 0))
            h.reply(o.get("status", 200), o.get("body", b"{}"), o.get("headers", {}))
            return
        if not repo or (repo.private and not self.allowed(h, repo)):
            h.reply_error(401, "Repository not found", "RepoNotFound")
            return
        what, rest = (parts[2], parts[3:]) if len(parts) > 3 else (None, [])
        revision = rest[0] if rest else "main"
        if revision not in repo.revisions:
            h.reply_error(404, "Revision not found", "RevisionNotFound")
        elif what == "tree":
            h.reply_json(repo.tree(revision, "/".join(rest[1:]), query.get("recursive", [""])[0] in ("1", "true")))
        else:
            h.reply_json(repo.info(revision, query.get("blobs", [""])[0] in ("1", "true")))

    def answer_resolve(self, h, path, first):
        name, _, rest = path[1:].partition("/resolve/")
        revision, _, file = rest.partition("/")
        repo = self.repos.get(name)
        if not repo or revision not in repo.revisions:
            h.reply_error(404, "Revision not found", "RevisionNotFound")
            return
        if not self.allowed(h, repo):
            h.reply_error(401, f"Access to model {name} is restricted", "GatedRepo")
            return
        commit, files = repo.revisions[revision]
        if file not in files:
            h.reply_error(404, "Entry not found", "EntryNotFound")
            return
        data = read(files[file])
        fault = self.fault_for("api", [path], first)
        if not is_lfs(file, data):
            h.reply_file(data, f'"{git_sha1(data)}"', fault, {"X-Repo-Commit": commit})
            return
        if fault:
            h.reply_file(data, '"x"', fault)
            return
        sha256 = digest("sha256", data)
        with self.lock:
            self.sums[sha256] = (data, f"{name}/{file}")
        h.reply(302, b"Found", {"Location": f"{self.files_url}/lfs/{sha256}?signature=secret",
                                "X-Repo-Commit": commit, "X-Linked-Size": str(len(data)),
                                "X-Linked-ETag": f'"{sha256}"'})

    def answer_lfs(self, h, path, query, first):
        data, name = self.sums.get(path.rpartition("/")[2], (None, ""))
        if data is None or query.get("signature") != ["secret"]:
            h.reply_error(403, "Forbidden")
            return
        fault = self.fault_for("files", [path, "/" + name], first)
        h.reply_file(data, f'"{digest("md5", data)}"', fault)


if __name__ == "__main__":
    one = Hub()
    one.repo("quince/example", {"README.md": b"# example\n"})
    print(one.url, one.files_url, flush=True)
    threading.Event().wait()
