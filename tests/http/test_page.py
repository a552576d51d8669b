"""The browser page as the server sends it: which addresses give it, its headers, its forms. What the page does is
tested in tests/browser."""
import base64
import gzip
import hashlib
import re

import pytest
from conftest import ROOT
from test_doors import BOTH

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
           "Accept-Encoding": "gzip, deflate, br, zstd"}
POLICY = {  # what the page may do: each directive of its Content-Security-Policy
    "default-src": "'none'", "script-src": "'self' 'sha256-{map}'", "style-src": "'self'",
    "img-src": "'self' blob: data:", "media-src": "'self' blob:", "connect-src": "'self'", "font-src": "'self'",
    "manifest-src": "'self'", "worker-src": "'self'", "base-uri": "'none'", "form-action": "'none'",
    "frame-ancestors": "'none'", "require-trusted-types-for": "'script'", "trusted-types": "quince dompurify"}


@pytest.fixture
def server(house):
    return house.start()


def plain(server, path, **headers):
    return server.get(path, headers={"Accept": "text/html", **headers})


def build_of(server):
    return re.search(r'src="/ui/([0-9a-f]{16})/app\.js"', plain(server, "/").body.decode())[1]


def check_policy(reply, page):
    import_map = re.search(r'<script type="importmap">(.*?)</script>', page, re.S)[1]
    checksum = base64.b64encode(hashlib.sha256(import_map.encode()).digest()).decode()
    policy = dict(d.strip().split(" ", 1) for d in reply.headers["Content-Security-Policy"].split(";"))
    assert policy == {k: v.format(map=checksum) for k, v in POLICY.items()}
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert reply.headers["Referrer-Policy"] == "no-referrer"
    assert reply.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert reply.headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_every_address_of_the_page(server):
    """A link into the page opens it, whatever it names: the page itself reads its address."""
    page = plain(server, "/")
    assert page.status == 200 and page.headers["Content-Type"] == "text/html; charset=utf-8"
    for path in ("/app", "/app/", "/app/chat", "/app/chat/0123", "/app/models/user.a/b?x=1", "/app/server/logs"):
        reply = plain(server, path)
        assert (reply.status, reply.body) == (200, page.body), path
        check_policy(reply, page.body.decode())
    assert server.get("/app/chat").body == page.body  # there no client of an API asks
    assert plain(server, "/apps").status == 404
    assert server.post("/app/chat", {}).status == 405


def test_clients_of_an_api_get_what_they_know(server):
    """Programs ask for / to see whether Ollama runs."""
    for headers in ({}, {"Accept": "*/*"}, {"Accept": "application/json"}, {"Accept-Encoding": "gzip"}):
        reply = server.get("/", headers=headers)
        assert (reply.status, reply.body) == (200, b"Ollama is running"), headers
        assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert "Content-Security-Policy" not in reply.headers
    head = server.request("HEAD", "/")
    assert (head.status, head.body, head.headers["Content-Length"]) == (200, b"", "17")


def test_both_forms_of_a_file(server):
    path = f"/ui/{build_of(server)}/vendor/preact.mjs"
    source = (ROOT / "ui/vendor/preact.mjs").read_bytes()
    for coding, packed in ((None, False), ("identity", False), ("gzip;q=0", False), ("gzip", True),
                           ("gzip, deflate, br, zstd", True)):
        headers = {"Accept-Encoding": coding} if coding else {}
        reply = server.get(path, headers=headers or {"Accept-Encoding": "identity"})
        assert reply.status == 200 and reply.headers["Vary"] == "Accept-Encoding"
        assert reply.headers["Content-Type"] == "text/javascript; charset=utf-8"
        assert (reply.headers["Content-Encoding"] == "gzip") == packed, coding
        assert (gzip.decompress(reply.body) if packed else reply.body) == source
        assert reply.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        head = server.request("HEAD", path, headers=headers or {"Accept-Encoding": "identity"})
        assert head.body == b"" and head.headers["Content-Length"] == str(len(reply.body))
        assert head.headers["ETag"] == reply.headers["ETag"]


def test_a_file_that_does_not_get_smaller(server):
    reply = server.get(f"/ui/{build_of(server)}/vendor/temml/Temml.woff2", headers={"Accept-Encoding": "gzip"})
    assert reply.status == 200 and reply.headers["Content-Type"] == "font/woff2"
    assert "Content-Encoding" not in reply.headers
    assert reply.body == (ROOT / "ui/vendor/temml/Temml.woff2").read_bytes()


def test_the_page_is_asked_for_again_and_not_sent_again(server):
    for path, headers in (("/", BROWSER), ("/app/chat", BROWSER), ("/favicon.svg", {}), ("/manifest.webmanifest", {})):
        first = server.get(path, headers=headers)
        assert first.status == 200 and first.headers["Cache-Control"] == "no-cache", path
        tag = first.headers["ETag"]
        for sent in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            again = server.get(path, headers={**headers, "If-None-Match": sent})
            assert (again.status, again.body) == (304, b""), (path, sent)
            assert again.headers["ETag"] == tag and again.headers["Cache-Control"] == "no-cache"
            assert again.headers["Vary"] == first.headers["Vary"]
        assert server.get(path, headers={**headers, "If-None-Match": '"other"'}).body == first.body
    packed = server.get("/", headers=BROWSER).headers["ETag"]
    reply = plain(server, "/", **{"If-None-Match": packed, "Accept-Encoding": "identity"})
    assert reply.status == 200 and reply.headers["ETag"] != packed  # the other form is another representation


def test_a_file_of_another_version(server):
    build = build_of(server)
    for path in (f"/ui/{'0' * 16}/app.js", "/ui/x", f"/ui/{build}", f"/ui/{build}x/app.js"):
        reply = server.get(path)
        assert reply.status == 404 and b"another version of the page" in reply.body, path
        assert reply.headers["Cache-Control"] == "no-store"
    for path in (f"/ui/{build}/", f"/ui/{build}/no.js", f"/ui/{build}/../ui/app.js", f"/ui/{build}/vendor/LOCK",
                 f"/ui/{build}/index.html", f"/ui/{build}/app.js/"):
        reply = server.get(path)
        assert reply.status == 404 and b"no such file" in reply.body, path
    assert server.get("/index.html").status == 404


def test_everything_that_the_page_names_is_there(server):
    """Every address in index.html, and every module that a module imports by its path."""
    page = plain(server, "/").body.decode()
    todo = set(re.findall(r'(?:href|src)="(/[^"]+)"|"(/ui/[^"]+)"', page))
    todo = {a or b for a, b in todo}
    seen = set()
    while todo:
        path = todo.pop()
        seen.add(path)
        if path.endswith("/"):  # a prefix of the import map
            continue
        reply = server.get(path)
        assert reply.status == 200, path
        check_policy(reply, page)
        if path.endswith(".js"):
            folder = path.rsplit("/", 1)[0]
            for name in re.findall(r'(?:from|import)\s*\(?"(\.[^"]+)"', reply.body.decode()):
                parts = folder.split("/")
                for piece in name.split("/"):
                    parts = parts[:-1] if piece == ".." else parts if piece == "." else [*parts, piece]
                todo |= {"/".join(parts)} - seen
    assert len(seen) > 20


def test_keys_do_not_hide_the_page(house):
    """The page is where a key is typed; behind it every answer needs one."""
    server = house.start(env=BOTH)
    page = plain(server, "/app/chat")
    assert page.status == 200
    assert server.get(f"/ui/{build_of(server)}/app.js").status == 200
    assert server.get("/v1/models").status == 401
    assert plain(server, "/", Host="evil.example").status == 403
    assert server.get(f"/ui/{build_of(server)}/app.js", headers={"Sec-Fetch-Site": "cross-site"}).status == 403
