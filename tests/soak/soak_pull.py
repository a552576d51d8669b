#!/usr/bin/env python3
"""kill -9 of the router at 50 random moments of a download of several files: scripts/dev soak pull [KILLS [SEED]].
The next start must go on each time; the hub counts what it sends, and no byte may come twice beyond one buffer
of each connection."""
import os
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))
from conftest import BUILD, Depot, House  # noqa: E402
from hub_server import Hub  # noqa: E402
from kill_pull import kill_and_finish  # noqa: E402


def main():
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    print(f"kills={kills} seed={seed} build={BUILD}", flush=True)
    hub = Hub()
    with tempfile.TemporaryDirectory(prefix="quince-soak-") as folder:
        folder = pathlib.Path(folder)
        backends = folder / "backends"
        backends.mkdir()
        shutil.copy(BUILD / "tests" / "fake_backend", backends / "quince-llm")
        shutil.copy(BUILD / "bin" / "quince-inspect", backends)
        house = House(folder, backends)
        began = time.monotonic()
        try:
            twice = kill_and_finish(Depot(house, hub), kills, seed, lambda n, sent, total: print(
                f"  kill {n + 1}: {sent} of {total} bytes", flush=True))
        finally:
            for server in house.servers:
                server.kill()
            hub.close()
        print(f"passed: {kills} kills in {time.monotonic() - began:.0f} s, {twice} bytes came twice, the sums are right")


if __name__ == "__main__":
    main()
