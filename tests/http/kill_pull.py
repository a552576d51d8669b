"""kill -9 of the router at random moments of a download of several files: each next start must go on where
the last one was cut off. Used by test_pull.py in a short form, and by tests/soak/soak_pull.py."""
import hashlib
import random
import time

from conftest import model_file, wait_until

BYTES_A_KILL = (600_000, 400_000, 500_000)  # of each file
RATE = 2_000_000  # bytes a second of each connection
BUFFER = 128 * 1024  # what a connection has that is not noted yet: one buffer and what the sockets hold


def kill_and_finish(depot, kills, seed, report=lambda *_: None):
    """Ends with the model complete; returns the bytes that the hub sent more than once."""
    rng = random.Random(seed)
    name = f"owner/kills-{seed}"
    sizes = [size * kills for size in BYTES_A_KILL]
    files = {f"m-Q4_0-0000{i + 1}-of-00003.gguf": rng.randbytes(size) for i, size in enumerate(sizes)}
    first = next(iter(files))
    head = model_file(f"kills {seed}", 0)
    files[first] = head + files[first][len(head):]
    depot.hub.repo(name, files)
    total = sum(len(data) for data in files.values())
    # Each kill comes when so much of it is here, and before much more can be: also where the server is slow to start.
    marks = sorted(rng.uniform(0.01, 0.9) for _ in range(kills))
    fault = depot.hub.fault(".gguf", rate=RATE, hold_all=0, host="files")
    model = f"user.kills-{seed}"
    began, asked, allowed = depot.hub.sent(host="files"), len(depot.hub.requests(host="files")), 0
    fault.options["hold_all"] = began
    server = depot.start()
    reply = server.post("/v1/pull", {"model_name": model, "checkpoint": f"{name}:Q4_0", "recipe": "llamacpp",
                                     "stream": True, "subscribe": False})
    assert reply.status == 200, reply.body
    done = 0
    for n in range(kills):
        fault.options["hold_all"] = began + total * marks[n]
        wait_until(lambda: depot.hub.sent(host="files") >= began + total * marks[n], what="so much of the download")
        time.sleep(rng.uniform(0, 0.1))  # at any moment of what follows
        server.kill()
        requests = len(depot.hub.requests(host="files"))
        allowed, asked = allowed + (requests - asked) * BUFFER, requests
        server.log.close()
        server.process.stdout.close()
        sent = depot.hub.sent(host="files") - began
        report(n, sent, total)
        server = depot.start()
        state = {j["id"]: j for j in server.get("/v1/downloads?all=true").json}.get("model:" + model)
        assert state and state["status"] in ("downloading", "completed"), state  # nothing is forgotten
        done += state["status"] == "completed"
    fault.options.clear()
    wait_until(lambda: server.get(f"/v1/models/{model}").status == 200, what="the model")
    blobs = depot.blobs(name)
    for data in files.values():
        sha = hashlib.sha256(data).hexdigest()
        assert (blobs / sha).read_bytes() == data
    assert not depot.leftovers(), depot.leftovers()
    sent = depot.hub.sent(host="files") - began
    extra = sent - total
    assert extra >= 0
    assert extra <= allowed < total, f"{extra} of {total} bytes came twice in {kills} kills, {allowed} may"
    assert done <= kills / 2, "the download was over too early: nothing was tested"
    server.stop()
    return extra
