"""Model files are parsed by quince-inspect and never by the server: a file that becomes shorter meanwhile, that
wants memory out of proportion, or that takes a parser's fault with it, costs a registration and no more."""
import os
import pathlib
import struct
import threading



STRING, ARRAY = 8, 9


def text(s):
    return struct.pack("<Q", len(s)) + s.encode()


def string_arrays(path, arrays, items):
    """A sparse GGUF of arrays of empty strings: eight bytes of zeros for each item."""
    with open(path, "wb") as f:
        f.write(b"GGUF" + struct.pack("<IQQ", 3, 0, arrays + 1))
        f.write(text("general.architecture") + struct.pack("<I", STRING) + text("llama"))
        for i in range(arrays):
            f.write(text(f"list.{i}") + struct.pack("<IIQ", ARRAY, STRING, items))
            f.seek(8 * items, os.SEEK_CUR)
        f.truncate(f.tell())


def register(server, name, path):
    return server.post("/v1/models/register", {"model_name": f"user.{name}", "checkpoint": str(path),
                                               "recipe": "llamacpp"})


def peak_bytes(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) * 1024


def test_a_file_that_is_cut_off_while_it_is_read(house):
    server = house.start()
    path = house.tmp_path / "shrinks.gguf"
    string_arrays(path, 2, 1000000)
    whole = path.read_bytes()
    done = threading.Event()

    def toggle():
        while not done.is_set():
            with open(path, "r+b") as f:
                f.truncate(4096)
                f.write(whole)

    thread = threading.Thread(target=toggle)
    thread.start()
    try:
        for i in range(40):
            reply = register(server, "shrinks", path)
            assert reply.status in (200, 400), reply.body
    finally:
        done.set()
        thread.join()
    assert server.get("/live").status == 200
    assert server.process.poll() is None
    assert house.model(server, "sound")
    assert server.chat("user.sound").status == 200


def test_a_small_file_that_wants_gigabytes(house):
    server = house.start()
    path = house.tmp_path / "greedy.gguf"
    string_arrays(path, 8, 16 * 1024 * 1024)
    assert path.stat().st_blocks * 512 < 256 * 1024
    before = peak_bytes(server.process.pid)
    reply = register(server, "greedy", path)
    assert reply.status == 400, reply.body
    assert "strings" in reply.json["message"]
    assert peak_bytes(server.process.pid) - before < 100e6
