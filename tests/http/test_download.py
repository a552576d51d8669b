"""registry/download.c against a hub that misbehaves: each fault a download can meet, what is left after
kill -9 at any moment, full disks. tests/tools/fetch_probe runs the engine on a plan."""
import email.utils
import hashlib
import json
import os
import random
import shutil
import signal
import ssl
import subprocess
import textwrap
import threading
import time
import zlib

import pytest
from conftest import BUILD, PATIENCE_S, QUICK, SANITIZED
from hub_server import TOKEN, Hub, git_sha1

PROBE = BUILD / "tests" / "fetch_probe"
BUFFER = 256 * 1024
CHUNK = 16 << 20


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Fetch:
    """Runs the probe on files of a hub, in a folder of its own."""

    def __init__(self, hub, folder):
        self.hub, self.folder = hub, folder

    def path(self, name):
        return self.folder / name

    def file(self, name, data=None, url=None, **more):
        """A plain file of the hub, with its size and sum unless they are given (None: not told)."""
        if data is not None:
            self.hub.files[name] = data
        else:
            data = self.hub.files.get(name, b"")
        entry = {"url": url or self.hub.plain(name), "partial": f"{self.path(name)}.partial",
                 "size": len(data), "sha256": sha256(data), **more}
        return {k: v for k, v in entry.items() if v is not None}

    def plan(self, *files, **options):
        return json.dumps({"allow_private": True, "pause_ms": 20, "complete": True, "files": files, **options})

    def start(self, *files, **options):
        p = subprocess.Popen([PROBE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        p.stdin.write(self.plan(*files, **options))
        p.stdin.close()
        p.stdin = None
        return p

    def run(self, *files, timeout=PATIENCE_S, **options):
        return self.end(self.start(*files, **options), timeout)

    def end(self, process, timeout=PATIENCE_S):
        out, log = process.communicate(timeout=timeout)
        assert process.returncode == 0, log
        for word in ("Sanitizer", "runtime error:"):
            assert word not in log, log
        return json.loads(out) | {"log": log}

    def ok(self, *files, **options):
        r = self.run(*files, **options)
        assert r["end"] == "done", r
        for f, told in zip(files, r["files"]):
            name = f["partial"].rsplit("/", 1)[1].removesuffix(".partial")
            data = self.path(name).read_bytes()
            assert sha256(data) == sha256(self.hub.files[name]), name
            assert told["complete"] and told["done_bytes"] == told["size_bytes"] == len(data)
            if "git_sha1" not in f:
                assert told["sum"] == sha256(data)
        assert not [p.name for p in self.folder.iterdir() if ".partial" in p.name]
        return r

    def partial(self, name):
        return self.path(name + ".partial")

    def ranges(self, name):
        return self.path(name + ".partial.ranges")


def wait_for(condition, seconds=PATIENCE_S):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.fixture
def fetch(hub, tmp_path):
    return Fetch(hub, tmp_path)


NOISE = random.Random(5).randbytes(80 << 20)


def noise(n, salt=0):
    return NOISE[salt:salt + n]


@pytest.mark.release
def test_files_of_all_sizes(fetch, hub):
    sizes = [0, 1, 1000, BUFFER, BUFFER + 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5]
    files = [fetch.file(f"f{n}", noise(n, n % 7)) for n in sizes]
    r = fetch.ok(*files)
    assert hub.sent() == sum(sizes)  # nothing twice
    if not SANITIZED:
        assert r["peak_kib"] < 40000


def test_unknown_sizes_and_checksums(fetch):
    fetch.ok(*[fetch.file(f"f{n}", noise(n), size=None, sha256=None) for n in (0, 1, CHUNK, CHUNK + 1, 2 * CHUNK + 3)])


def test_sums_of_git(fetch, hub):
    data = noise(300000)
    r = fetch.ok(fetch.file("a", data, sha256=None, git_sha1=git_sha1(data)))
    assert r["files"][0]["sum"] == git_sha1(data)
    r = fetch.run(fetch.file("b", data, sha256=None, git_sha1=git_sha1(b"other")))
    assert r["end"] == "damaged" and git_sha1(data) in r["message"]


def test_a_large_file_comes_by_several_connections_and_a_small_one_by_one(fetch, hub):
    held = hub.fault("large", hold=100_000)
    plan = fetch.file("large", noise(3 * CHUNK)), fetch.file("small", noise(1000))
    p = fetch.start(*plan, connections=3)
    # The second and third range are asked for while the first is still coming.
    wait_for(lambda: len(hub.requests("large")) == 3)
    del held.options["hold"]
    assert fetch.end(p)["end"] == "done"
    assert len(hub.requests("large")) == 3 and len(hub.requests("small")) == 1
    assert all(fetch.path(name).read_bytes() == hub.files[name] for name in ("large", "small"))


def test_many_small_files_with_few_descriptors(fetch, hub):
    files = [fetch.file(f"f{i}", noise(100 + i, i)) for i in range(200)]
    command = ["sh", "-c", 'ulimit -n 128; exec "$0"', str(PROBE)]
    out = subprocess.run(command, input=fetch.plan(*files), capture_output=True, text=True, timeout=PATIENCE_S)
    assert json.loads(out.stdout)["end"] == "done", out.stdout + out.stderr
    assert all(fetch.path(f"f{i}").read_bytes() == noise(100 + i, i) for i in range(200))


# Cut connections

@pytest.mark.parametrize("connections", [1, 4])
@pytest.mark.parametrize("cut", [0, 1, 4095, BUFFER, BUFFER + 1, CHUNK // 2, CHUNK - 1])
def test_connections_that_break(fetch, hub, cut, connections):
    size = 2 * CHUNK + 1234
    hub.fault("a", cut=cut, times=3)
    fetch.ok(fetch.file("a", noise(size)), connections=connections)
    assert hub.sent() - size <= 4 * BUFFER


@pytest.mark.parametrize("raw", [b"", b"H", b"HTTP/1.1 206", b"HTTP/1.1 206 Partial Content\r\nContent-Le",
                                 b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-16777215/16777217\r\n\r\n",
                                 b"nonsense\r\n\r\n", b"\0" * 1000], ids=range(7))
def test_replies_that_break_in_their_heads(fetch, hub, raw):
    hub.fault("a", raw=raw, times=2)
    fetch.ok(fetch.file("a", noise(CHUNK + 1)))


def test_connections_that_always_break_are_given_up(fetch, hub):
    hub.fault("a", cut=10)
    r = fetch.run(fetch.file("a", noise(5000)), retries=3)
    assert (r["end"], r["error"]) == ("network", "io") and "given up after 4 tries" in r["message"]
    assert r["files"][0]["done_bytes"] == 40  # what came is kept
    hub.heal()
    fetch.ok(fetch.file("a"))
    assert hub.sent() == 5000


def test_breaking_without_progress_is_given_up_though_bytes_come(fetch, hub):
    hub.fault("a", no_ranges=True, cut=CHUNK)
    r = fetch.run(fetch.file("a", noise(2 * CHUNK)), retries=2)
    assert r["end"] == "network" and len(hub.requests("a")) <= 5


# Sizes and sums

LENGTHS = {"total": {"total": 99 << 20}, "length": {"no_ranges": True, "length": 99}, "data": {"data": noise(99)}}


@pytest.mark.parametrize("what,size", [("total", CHUNK + 1000), ("length", 1000), ("length", CHUNK + 1000), ("data", 1000),
                                       ("data", CHUNK + 1000)])
def test_another_length_than_promised(fetch, hub, what, size):
    fault = LENGTHS[what]
    hub.fault("a", **fault)
    r = fetch.run(fetch.file("a", noise(size)))
    assert (r["end"], r["error"]) == ("damaged", "format"), r
    assert f'{fault.get("total", 99)} bytes where' in r["message"]


def test_a_body_without_end(fetch, hub):
    hub.fault("a", endless=True)
    r = fetch.run(fetch.file("a", noise(1000)))
    assert (r["end"], r["error"]) == ("damaged", "limit") and "more than the 1000 bytes" in r["message"]
    hub.fault("b", no_length=True, data=noise(1001))
    r = fetch.run(fetch.file("b", noise(1000)))
    assert r["end"] == "damaged" and "more than the 1000 bytes" in r["message"]


def test_a_wrong_sum_is_fetched_once_more(fetch, hub):
    data = noise(CHUNK + 7)
    hub.fault("a", data=b"x" + data[1:], times=2)  # both ranges of the first time
    fetch.ok(fetch.file("a", data), connections=2)
    assert hub.sent() == 2 * len(data)


def test_a_sum_that_stays_wrong_is_an_error_and_leaves_nothing(fetch, hub):
    data = noise(50000)
    hub.fault("a", data=data[:-1] + b"x")
    r = fetch.run(fetch.file("a", data))
    assert (r["end"], r["error"]) == ("damaged", "format")
    assert sha256(data) in r["message"] and sha256(data[:-1] + b"x") in r["message"]
    assert len(hub.requests("a")) == 2 and not os.listdir(fetch.folder)


# Other files than before

def test_a_file_that_changes_starts_anew(fetch, hub):
    old, new = noise(3 * CHUNK, 1), noise(3 * CHUNK, 2)
    hub.files["a"] = old
    hub.fault("a", cut=1000, from_byte=CHUNK)
    r = fetch.run(fetch.file("a", size=None, sha256=None), connections=1, retries=-1)
    assert r["end"] == "network" and r["files"][0]["done_bytes"] >= CHUNK
    hub.heal()
    hub.files["a"] = new
    fetch.ok(fetch.file("a", size=None, sha256=None), connections=2)
    assert fetch.path("a").read_bytes() == new


def test_a_file_without_etag_and_sum_is_known_by_its_date(fetch, hub):
    old, new = noise(3 * CHUNK, 1), noise(3 * CHUNK, 2)
    hub.files["a"] = old
    hub.fault("a", cut=1000, from_byte=CHUNK, etag=None, headers={"Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT"})
    hub.fault("a", etag=None, headers={"Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT"})
    r = fetch.run(fetch.file("a", size=None, sha256=None), connections=1, retries=-1)
    assert r["end"] == "network" and r["files"][0]["done_bytes"] >= CHUNK
    hub.heal()
    hub.files["a"] = new
    hub.fault("a", etag=None, headers={"Last-Modified": "Thu, 22 Oct 2015 07:28:00 GMT"})
    fetch.ok(fetch.file("a", size=None, sha256=None), connections=2)
    assert fetch.path("a").read_bytes() == new


def test_servers_that_disregard_if_range_are_caught_by_the_etag(fetch, hub):
    data = noise(4 * CHUNK)
    hub.fault("a", etag='"other"', no_if_range=True, from_byte=2 * CHUNK, times=1)
    fetch.ok(fetch.file("a", data), connections=1)
    assert hub.sent() > len(data)


def test_a_file_that_keeps_changing_is_an_error(fetch, hub):
    for i in range(40):
        hub.fault("a", etag=f'"{i}"', no_if_range=True, times=1)
    r = fetch.run(fetch.file("a", noise(2 * CHUNK)), connections=1)
    assert r["end"] == "damaged" and "keeps changing" in r["message"]


def test_servers_without_ranges(fetch, hub):
    size = 2 * CHUNK + 99
    hub.fault("a", no_ranges=True)
    fetch.ok(fetch.file("a", noise(size)))
    assert hub.sent() == size and len(hub.requests("a")) == 1
    # Cut in the middle, it begins anew: there is no other way.
    hub.fault("b", no_ranges=True, cut=CHUNK, times=1)
    hub.fault("b", no_ranges=True)
    fetch.ok(fetch.file("b", noise(size, 3)))
    assert hub.sent("b") == size + CHUNK


def test_bodies_that_do_not_say_how_long_they_are(fetch, hub):
    hub.fault("a", no_ranges=True, no_length=True)
    fetch.ok(fetch.file("a", noise(3_000_000)), fetch.file("b", noise(100)))
    fetch.ok(fetch.file("a", noise(3_000_000), size=None, sha256=None))


@pytest.mark.parametrize("known", [True, False])
def test_ranges_that_cannot_be_satisfied(fetch, hub, known):
    """The file has become shorter: what was there is worth nothing."""
    hub.fault("a", cut=1000, from_byte=CHUNK)
    hub.files["a"] = noise(2 * CHUNK, 1)
    r = fetch.run(fetch.file("a", size=None, sha256=None), connections=1, retries=-1)
    assert r["end"] == "network" and r["files"][0]["done_bytes"] > CHUNK
    hub.heal()
    new = noise(CHUNK - 5, 2)
    hub.files["a"] = new
    fetch.ok(fetch.file("a", **({} if known else {"size": None, "sha256": None})))
    assert fetch.path("a").read_bytes() == new


def test_416_for_everything(fetch, hub):
    hub.fault("a", status=416)
    r = fetch.run(fetch.file("a", noise(2 * CHUNK)), retries=3)
    assert r["end"] in ("network", "refused") and "416" in r["message"]


def test_servers_that_answer_416_to_ranges_give_the_whole(fetch, hub):
    hub.fault("a", status=416, times=1)
    hub.fault("a", no_ranges=True)
    fetch.ok(fetch.file("a", noise(2 * CHUNK)))


@pytest.mark.parametrize("fault", [{"first": 5}, {"encoding": "gzip"}, {"headers": {"Content-Range": "bytes"}}], ids=str)
def test_odd_replies_are_asked_again(fetch, hub, fault):
    hub.fault("a", times=2, **fault)
    fetch.ok(fetch.file("a", noise(CHUNK + 5)))
    hub.fault("b", **fault)
    r = fetch.run(fetch.file("b", noise(CHUNK + 5)), retries=2)
    assert r["end"] == "network", r


# Refusals and pauses

@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 408])
def test_errors_that_pass(fetch, hub, status):
    hub.fault("a", status=status, times=3)
    fetch.ok(fetch.file("a", noise(CHUNK + 1)))
    hub.fault("b", status=status)
    r = fetch.run(fetch.file("b", noise(10)), retries=2)
    assert r["end"] == "network" and str(status) in r["message"]
    assert len(hub.requests("b")) == 3


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("date", [False, True])
def test_retry_after_is_obeyed(fetch, hub, status, date):
    when = email.utils.formatdate(time.time() + 3, usegmt=True) if date else "1"
    due = time.monotonic() + 3 - 1  # such a date has whole seconds
    hub.fault("a", status=status, headers={"Retry-After": when}, times=1)
    fetch.ok(fetch.file("a", noise(10)))
    first, second = hub.requests("a")
    assert second.at >= (due if date else first.at + 1)


def test_retry_after_for_ever_is_an_error(fetch, hub):
    hub.fault("a", status=429, headers={"Retry-After": "86400"})
    r = fetch.run(fetch.file("a", noise(10)))
    assert (r["end"], r["error"]) == ("network", "busy") and "600 s" in r["message"]


@pytest.mark.parametrize("status,error", [(401, "invalid"), (403, "invalid"), (404, "not_found"), (410, "not_found"), (451, "invalid")])
def test_refusals_are_final(fetch, hub, status, error):
    hub.fault("a", status=status)
    r = fetch.run(fetch.file("a", noise(10)))
    assert (r["end"], r["error"], r["http_status"]) == ("refused", error, status)
    assert len(hub.requests("a")) == 1


def test_a_slow_drip_is_given_up_and_asked_again(fetch, hub):
    hub.fault("a", rate=300, times=1)
    fetch.ok(fetch.file("a", noise(100000)), stall_s=1)
    first, *others = hub.requests("a")
    assert others and 0 < first.sent < 50000


def test_silence_is_given_up(fetch, hub):
    hub.fault("a", hang=600)
    r = fetch.run(fetch.file("a", noise(10)), stall_s=1, retries=1)
    assert r["end"] == "network" and "less than 1000 bytes a second" in r["message"]


# Redirects, tokens, addresses

def lfs(hub, fetch, data, **repo):
    hub.repo("o/m", {"m.gguf": data}, **repo)
    hub.files["m"] = data
    return fetch.file("m", url=f"{hub.url}/o/m/resolve/main/m.gguf")


def test_the_token_stays_with_its_host(fetch, hub):
    file = lfs(hub, fetch, noise(3 * CHUNK), gated=True) | {"token": TOKEN}
    hub.fault("m.gguf", host="api", redirect="/o/m/resolve/main/m.gguf?again", times=1)
    fetch.ok(file)
    api, files = hub.requests(host="api"), hub.requests(host="files")
    assert len(api) >= 2 and len(files) >= 3
    assert all(r.headers.get("Authorization") == f"Bearer {TOKEN}" for r in api)
    assert not any("Authorization" in r.headers for r in files)
    # Where redirects lead is remembered: the hub is not asked for each range.
    assert len(api) < len(files)


def test_the_token_never_goes_over_http_to_the_internet(fetch, hub):
    url = "http://1.1.1.1:9/a"  # nothing is sent there
    r = ask(fetch, url, token=TOKEN, endpoints=["http://1.1.1.1:9"], allow_private=False, retries=-1)
    assert r["error"] == "invalid" and "plain http" in r["message"]
    r = fetch.run(fetch.file("a", b"a", url=url, token=TOKEN), retries=-1)
    assert r["end"] == "refused" and "plain http" in r["message"]
    # Without a token, or within the user's own network, http is the user's choice.
    assert ask(fetch, f"{hub.url}/plain/a", token=TOKEN)["status"] == 200


def test_addresses_that_have_run_out_are_asked_for_again(fetch, hub):
    file = lfs(hub, fetch, noise(3 * CHUNK))
    hub.fault("m.gguf", host="files", status=403, skip=1, times=1)
    fetch.ok(file, connections=1)
    assert len(hub.requests(host="api")) == 2


def test_a_gated_file_without_a_token_says_what_to_do(fetch, hub):
    r = fetch.run(lfs(hub, fetch, noise(10), gated=True))
    assert (r["end"], r["http_status"]) == ("refused", 401) and "HF_TOKEN" in r["message"]


def test_redirect_loops(fetch, hub):
    hub.fault("a", redirect="/plain/a")
    r = fetch.run(fetch.file("a", noise(10)))
    assert (r["end"], r["error"]) == ("refused", "limit") and "redirected more than 10 times" in r["message"]
    assert len(hub.requests("a")) == 11


@pytest.mark.parametrize("where,why", [
    ("http://127.0.0.1:1/x", "private network"), ("https://127.0.0.1:1/x", "private network"),
    ("https://[::1]:1/x", "private network"), ("https://[::ffff:10.0.0.1]/x", "private network"),
    ("https://169.254.169.254/latest/meta-data", "private network"), ("https://0x7f.1/", "private network"),
    ("https://2130706433/", "private network"), ("https://localhost:1/x", "private network"),
    ("https://u:p@example.com/", "user name"), ("file:///etc/passwd", "not an address of the web"), ("ftp://example.com/x", "https"),
    ("gopher://example.com/", "https"), ("", "without a valid address"), ("http://[", "without a valid address"),
    ("https://0.0.0.0/", "private"),
    ("https://a" + "b" * 9000, "without a valid address")], ids=lambda v: v[:30])
def test_redirects_into_the_house_are_refused(fetch, hub, where, why):
    """The hub itself is on the loopback, and configured: that permits it, and nothing else."""
    hub.fault("a", redirect=where)
    r = fetch.run(fetch.file("a", noise(10)), allow_private=False, endpoints=[hub.url], retries=-1)
    assert r["end"] == "refused" and why in r["message"], r
    assert len(hub.requests("a")) == 1


def test_the_second_host_of_a_private_hub_must_be_permitted_too(fetch, hub):
    file = lfs(hub, fetch, noise(1000))
    r = fetch.run(file, allow_private=False, endpoints=[hub.url])
    assert r["end"] == "refused" and not hub.requests(host="files")
    fetch.ok(file, allow_private=False, endpoints=[hub.url, hub.files_url])


def test_nothing_private_without_permission(fetch, hub):
    r = fetch.run(fetch.file("a", noise(10)), allow_private=False)
    assert r["end"] == "refused" and not hub.log


def test_offline_touches_no_network(fetch, hub):
    r = fetch.run(fetch.file("a", noise(10)), offline=True)
    assert (r["end"], r["error"]) == ("refused", "unsupported") and "offline" in r["message"] and not hub.log


def test_a_proxy_of_the_environment_is_used(fetch, hub, monkeypatch):
    """The hub as a proxy: it gets the whole address. no_proxy keeps a host away from it."""
    asked = []

    def proxy(h, url):
        if h.path.startswith("http://"):
            asked.append(h.path)
            h.reply(200, b"by proxy")
            return True
        return False
    hub.routes.append(proxy)
    monkeypatch.setenv("http_proxy", hub.url)
    file = fetch.file("a", b"by proxy", url="http://example.test/a", sha256=None)
    fetch.ok(file)
    assert asked == ["http://example.test/a"]
    monkeypatch.setenv("no_proxy", "other.test, .example.test")
    r = fetch.run(fetch.file("a", b"by proxy", url="http://example.test/a"), retries=-1)
    assert r["end"] == "network" and len(asked) == 1


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A self-signed certificate for 127.0.0.1."""
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl")
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=hub", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key", "-out", folder / "cert"],
                   check=True, capture_output=True)
    return folder


def test_https(certificate, tmp_path):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert", certificate / "key")
    hub, plain = Hub(context), Hub()
    try:
        fetch = Fetch(hub, tmp_path)
        file, options = lfs(hub, fetch, noise(CHUNK + 5)), {"endpoints": [hub.url, hub.files_url], "allow_private": False}
        r = fetch.run(file, **options)
        assert r["end"] == "refused" and "certificate" in r["message"] and not hub.log  # once, and for good
        fetch.ok(file, ca_file=str(certificate / "cert"), **options)
        # Never from https down to http, not even to a configured hub.
        plain.files["b"] = noise(10)
        hub.fault("b", redirect=plain.plain("b"))
        options["endpoints"].append(plain.url)
        r = fetch.run(fetch.file("b", noise(10)), ca_file=str(certificate / "cert"), **options)
        assert r["end"] == "refused" and "from https to plain http" in r["message"] and not plain.log
    finally:
        hub.close()
        plain.close()


# Stopping, killing, going on

def settled(hub):
    """Waits until the hub has noticed which clients are gone: nothing more is sent to them."""
    wait_for(lambda: all(r.ended for r in hub.requests()))


def test_stopping_is_quick_and_loses_nothing(fetch, hub):
    size = 3 * CHUNK
    held = hub.fault("a", hold=1200 << 10)
    p = fetch.start(fetch.file("a", noise(size)), connections=3)
    ends = [slice(at + (1 << 20) - 16, at + (1 << 20)) for at in range(0, size, CHUNK)]
    wait_for(lambda: hub.sent("a") >= 3 * held.options["hold"])
    wait_for(lambda: all(fetch.partial("a").read_bytes()[e] == hub.files["a"][e] for e in ends))
    p.send_signal(signal.SIGTERM)
    r = fetch.end(p)  # all of it would never come
    kept = r["files"][0]["done_bytes"]
    assert (r["end"], r["error"]) == ("stopped", "cancelled") and kept >= 3 << 20  # what the file had, at the least
    settled(hub)
    before = hub.sent()
    del held.options["hold"]
    fetch.ok(fetch.file("a"))
    assert hub.sent() - before == size - kept


@pytest.mark.parametrize("ranges", [True, False])
def test_a_file_that_would_begin_again_is_known(fetch, hub, ranges):
    """So that a download which others wait for is not stopped for nothing."""
    held = hub.fault("a", hold=1 << 20, **({} if ranges else {"no_ranges": True}))
    p = fetch.start(fetch.file("a", noise(3 * CHUNK)), connections=1)
    wait_for(lambda: hub.sent("a") >= held.options["hold"])
    wait_for(lambda: fetch.ranges("a").exists())
    p.send_signal(signal.SIGTERM)
    r = fetch.end(p)
    assert r["end"] == "stopped" and r["files"][0]["whole_only"] == (not ranges)


def test_stopping_while_waiting(fetch, hub):
    hub.fault("a", hang=600)
    hub.fault("b", status=503, headers={"Retry-After": "500"})
    for name in "ab":
        p = fetch.start(fetch.file(name, noise(10)))
        wait_for(lambda: hub.requests(name))
        time.sleep(0.05)
        p.send_signal(signal.SIGTERM)
        assert fetch.end(p)["end"] == "stopped"


@pytest.mark.release
def test_killed_at_any_moment(fetch, hub):
    """No byte is fetched twice but for a buffer of each connection at each kill."""
    connections, kills, rng = 3, 0, random.Random(7)
    files = [fetch.file("a", noise(2 * CHUNK + 1)), fetch.file("b", noise(CHUNK, 3)), fetch.file("c", noise(70000, 9))]
    hub.rate = (4 if QUICK else 5) << 20
    wanted = 6 if QUICK else 15
    while kills < wanted:
        p = fetch.start(*files, connections=connections, complete=False)
        time.sleep(rng.uniform(0.02, 0.35) * (2 if SANITIZED else 1))
        if p.poll() is not None:
            break
        p.kill()
        p.wait()
        p.stdout.close()
        p.stderr.close()
        settled(hub)
        kills += 1
    settled(hub)
    hub.rate = 0
    assert kills >= 3
    fetch.ok(*files, connections=connections)
    extra = hub.sent() - sum(f["size"] for f in files)
    assert extra <= kills * connections * (BUFFER + 2 * 65536), (extra, kills)


def test_files_that_were_complete_are_only_summed_again(fetch, hub):
    file = fetch.file("a", noise(CHUNK + 3))
    assert fetch.run(file, complete=False)["end"] == "done"
    fetch.ok(file)
    assert hub.sent() == CHUNK + 3


def half_done(fetch, hub, size=2 * CHUNK):
    hub.fault("a", cut=1000, from_byte=CHUNK)
    file = fetch.file("a", noise(size))
    r = fetch.run(file, connections=1, retries=-1)
    assert r["end"] == "network" and r["files"][0]["done_bytes"] == CHUNK + 1000
    hub.heal()
    hub.log.clear()
    return file


def test_going_on_fetches_what_is_missing_only(fetch, hub):
    fetch.ok(half_done(fetch, hub))
    assert [r.range[0] for r in hub.requests("a")] == [CHUNK + 1000] and hub.sent() == CHUNK - 1000


@pytest.mark.parametrize("how", ["gone", "empty", "short", "long", "head", "key", "etag", "slot", "other slot", "garbage", "link", "folder"])
def test_a_damaged_ranges_file_is_never_trusted(fetch, hub, how):
    file = half_done(fetch, hub)
    path, rng = fetch.ranges("a"), random.Random(how)
    data = bytearray(path.read_bytes())
    slots = len(data) - 8 * 3
    if how == "gone":
        path.unlink()
    elif how == "link":
        path.rename(path.with_suffix(".moved"))
        path.symlink_to(path.with_suffix(".moved"))
    elif how == "folder":
        path.unlink()
        path.mkdir()
    elif how == "garbage":
        path.write_bytes(rng.randbytes(len(data)))
    elif how in ("empty", "short", "long"):
        path.write_bytes({"empty": b"", "short": data[:-8], "long": data + b"\0" * 8}[how])
    else:
        at = {"head": 3, "key": 25, "etag": 85, "slot": slots + 8 + 2, "other slot": slots + 16}[how]
        data[at] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
    if how == "folder":
        r = fetch.run(file)
        assert r["end"] == "local" and "ranges" in r["message"]
        return
    fetch.run(file)
    assert fetch.path("a").read_bytes() == noise(2 * CHUNK)
    assert hub.sent() == 2 * CHUNK  # all of it


def test_slots_do_not_fit_elsewhere(fetch, hub):
    """Two slots that change places, or come from another download, are not believed."""
    file = half_done(fetch, hub)
    data = bytearray(fetch.ranges("a").read_bytes())
    data[-16:-8], data[-8:] = data[-8:], data[-16:-8]
    fetch.ranges("a").write_bytes(data)
    fetch.ok(file)
    assert hub.sent() == 2 * CHUNK


def test_what_a_kill_leaves_of_a_ranges_file_is_written_over(fetch):
    fetch.path("a.partial.ranges.new").write_bytes(b"half a file")
    fetch.ok(fetch.file("a", noise(CHUNK + 1)))  # leaves nothing


@pytest.mark.parametrize("how", ["gone", "cut", "longer"])
def test_a_partial_that_is_not_what_it_was_starts_anew(fetch, hub, how):
    file = half_done(fetch, hub)
    if how == "gone":
        fetch.partial("a").unlink()
    else:
        os.truncate(fetch.partial("a"), 5 if how == "cut" else 3 * CHUNK)
    fetch.ok(file)
    assert hub.sent() == 2 * CHUNK


def test_after_a_power_failure_only_what_was_synced_counts(fetch, hub):
    """The ranges file names the kernel's boot. Another one there, and bytes in memory may be lost."""
    file = half_done(fetch, hub)
    data = bytearray(fetch.ranges("a").read_bytes())
    boot = open("/proc/sys/kernel/random/boot_id").read().strip().encode()
    at = data.index(boot)
    data[at:at + 4] = b"0000" if data[at:at + 4] != b"0000" else b"1111"
    head = data[:len(data) - 24]
    head[12:16] = b"\0" * 4
    data[12:16] = zlib.crc32(head).to_bytes(4, "little")
    fetch.ranges("a").write_bytes(data)
    fetch.ok(file)
    assert hub.sent() == 2 * CHUNK


def test_two_programs_do_not_fetch_one_file(fetch, hub):
    held = hub.fault("a", hold=1 << 20)
    p = fetch.start(fetch.file("a", noise(CHUNK)))
    wait_for(lambda: hub.sent("a"))
    r = fetch.run(fetch.file("a"))
    assert (r["end"], r["error"]) == ("local", "busy") and "another program" in r["message"]
    p.send_signal(signal.SIGTERM)
    fetch.end(p)
    del held.options["hold"]
    fetch.ok(fetch.file("a"))


def test_a_partial_that_is_a_link_is_not_followed(fetch, hub):
    victim = fetch.path("victim")
    victim.write_bytes(b"precious")
    fetch.partial("a").symlink_to(victim)
    r = fetch.run(fetch.file("a", noise(10)))
    assert r["end"] == "local" and victim.read_bytes() == b"precious"


# Disks and rates

def on_small_disk(tmp_path, megabytes, script):
    """Runs a shell script in a name space of its own with a small disk mounted at $DISK."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if not shutil.which("unshare"):
        pytest.skip("there is no unshare")
    mount = f"mount -t tmpfs -o size={megabytes}m none {disk}"
    if subprocess.run(["unshare", "-rm", "sh", "-c", mount], capture_output=True).returncode:
        pytest.skip("this system does not permit mounting a small disk")
    script = f"set -e; {mount}; DISK={disk}\n" + textwrap.dedent(script)
    out = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True, timeout=PATIENCE_S)
    assert out.returncode == 0, out.stderr
    return [json.loads(line) for line in out.stdout.splitlines() if line.startswith("{")]


def test_a_disk_that_is_too_small_is_said_before_anything_is_fetched(fetch, hub, tmp_path):
    file = fetch.file("a", noise(20 << 20)) | {"partial": str(tmp_path / "disk" / "a.partial")}
    (tmp_path / "plan").write_text(fetch.plan(file))
    r, = on_small_disk(tmp_path, 8, f"{PROBE} <{tmp_path}/plan")
    assert (r["end"], r["error"]) == ("disk_full", "io") and "the disk is full" in r["message"]
    assert r["need_bytes"] == 20 << 20 and 7 << 20 < r["free_bytes"] <= 8 << 20 and not hub.log


def test_a_disk_that_fills_up_meanwhile_and_goes_on_afterwards(fetch, hub, tmp_path):
    size, full, ended = 6 << 20, tmp_path / "full", tmp_path / "ended"  # what the script tells
    held = hub.fault("a", hold=1 << 20)
    file = fetch.file("a", noise(size)) | {"partial": str(tmp_path / "disk" / "a.partial")}
    (tmp_path / "plan").write_text(fetch.plan(file))

    def let_go():
        wait_for(full.exists)
        held.options.update(hold=2 << 20)
        wait_for(ended.exists)
        del held.options["hold"]
    threading.Thread(target=let_go, daemon=True).start()
    first, second = on_small_disk(tmp_path, 8, f"""
        (until [ "$(stat -c %b $DISK/a.partial 2>/dev/null || echo 0)" -ge 1024 ]; do sleep 0.05; done
         dd if=/dev/zero of=$DISK/other bs=1M 2>/dev/null || true; touch {full}) &
        {PROBE} <{tmp_path}/plan
        wait; rm $DISK/other; touch {ended}
        {PROBE} <{tmp_path}/plan
        sha256sum $DISK/a | grep -q {sha256(noise(size))}
        """)
    assert first["end"] == "disk_full" and 0 < first["need_bytes"] < size, first
    kept, again = first["files"][0]["done_bytes"], hub.requests("a")[1:]
    assert 512 << 10 <= kept < size  # what the disk had before it was full
    assert second["end"] == "done" and [(r.range[0], r.sent) for r in again] == [(kept, size - kept)], again
    assert first["message"].count("disk is full") == 1 and "the download resumes" in first["message"]


def test_files_that_are_too_large_for_the_system(fetch, hub):
    command = ["sh", "-c", 'ulimit -f 1024; exec "$0"', str(PROBE)]
    out = subprocess.run(command, input=fetch.plan(fetch.file("a", noise(2 << 20))), capture_output=True, text=True)
    r = json.loads(out.stdout)
    assert r["end"] == "local" and "File too large" in r["message"]


def test_the_rate_is_kept(fetch, hub):
    began = time.monotonic()
    r = fetch.ok(fetch.file("a", noise(4 << 20)), rate=2 << 20)
    took = time.monotonic() - began
    assert took > 1.5
    assert 2 <= r["progress_calls"] <= 5 + 10 * took  # again and again, at most every 100 ms


# Documents

def ask(fetch, url, **more):
    options = {k: more.pop(k) for k in ("allow_private", "endpoints", "offline", "retries", "stall_s") if k in more}
    out = subprocess.run([PROBE], input=fetch.plan(ask={"url": url, **more}, **options), capture_output=True, text=True, timeout=PATIENCE_S)
    assert out.returncode == 0, out.stderr
    return json.loads(out.stdout)


def test_documents(fetch, hub):
    hub.repo("o/m", {"README.md": b"# hi\n", "m.gguf": b"GGUF"}, gated=True)
    r = ask(fetch, f"{hub.url}/api/models/o/m?blobs=true")
    assert (r["error"], r["status"]) == (None, 200) and json.loads(r["body"])["siblings"][0]["size"] == 5
    readme = f"{hub.url}/o/m/resolve/main/README.md"
    assert ask(fetch, readme)["status"] == 401
    r = ask(fetch, readme, token=TOKEN)
    assert (r["status"], r["body"], r["etag"]) == (200, "# hi\n", f'"{git_sha1(b"# hi" + bytes([10]))}"')
    r = ask(fetch, f"{hub.url}/o/m/resolve/main/m.gguf", token=TOKEN)
    assert r["status"] == 200 and r["body"] == "GGUF" and r["url"].startswith(hub.files_url)
    assert "Authorization" not in hub.requests(host="files")[0].headers
    r = ask(fetch, f"{hub.url}/o/m/resolve/main/m.gguf", token=TOKEN, stay=True, method="HEAD")
    assert r["status"] == 302 and r["location"].startswith(hub.files_url) and r["body"] == ""


def test_documents_that_fail(fetch, hub):
    hub.files["a"] = noise(10000)
    hub.fault("a", status=500, times=2)
    assert ask(fetch, hub.plain("a"))["status"] == 200
    assert ask(fetch, hub.plain("a"), limit=9999)["error"] == "limit"
    assert ask(fetch, hub.plain("none"))["status"] == 404
    hub.fault("a", status=429)
    assert ask(fetch, hub.plain("a"), retries=-1)["error"] == "busy"
    hub.heal()
    hub.fault("a", redirect="/plain/a")
    assert ask(fetch, hub.plain("a"))["error"] == "limit"
    assert ask(fetch, hub.plain("a"), offline=True)["error"] == "unsupported"
    assert ask(fetch, hub.plain("a"), allow_private=False)["error"] == "invalid"
    hub.fault("b", hang=600)
    hub.files["b"] = b"x"
    assert ask(fetch, hub.plain("b"), retries=-1, stall_s=1)["error"] == "timeout"
