#!/usr/bin/env python3
"""Many random steps, one after the other, on one server over the fake backend, each checked against an oracle
(tests/http/steps.py). At the end no process, descriptor or memory may be left, and the control plane must have
answered within 20 ms (99 of 100) all the while.

    soak_steps.py [STEPS [SEED]]      (scripts/dev soak steps STEPS; default 20000)

QUINCE_TEST_BUILD names the build folder. A failure prints the seed and the last steps.
"""
import pathlib
import random
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))
import verdict  # noqa: E402
from conftest import BUILD, House  # noqa: E402
from steps import Control, Steps, Wrong  # noqa: E402

WARM_UP = 0.1           # share of the steps after which memory and descriptors are first measured
CONTROL_P99_S = 0.020
MEMORY_KIB = 8 * 1024   # growth allowed between the two measurements


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
    print(f"steps: {count}, seed {seed}", flush=True)
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        backends = folder / "backends"
        backends.mkdir()
        for kind in ("llm", "image"):
            shutil.copy(BUILD / "tests" / "fake_backend", backends / f"quince-{kind}")
        house = House(folder, backends)
        server = house.start()
        begun = time.monotonic()
        try:
            steps = Steps(house, server, seed, rare=True)
            steps.run(int(count * WARM_UP))
            before = steps.rest()
            control = Control(server)
            steps.run(count - int(count * WARM_UP))
            looks, (median, p99, slowest) = control.end()
            after = steps.rest()
            status = server.stop()
        except Wrong as e:
            problems.append(str(e))
        finally:
            server.kill()
        log = server.logs()
        if not problems:
            print(f"{steps.steps} steps in {time.monotonic() - begun:.0f} s:",
                  ", ".join(f"{k} {v}" for k, v in sorted(steps.did.items())))
            print(f"control plane: {looks} times, median {median * 1e3:.2f} ms, p99 {p99 * 1e3:.2f} ms, "
                  f"slowest {slowest * 1e3:.0f} ms; callbacks over 20 ms: {log.count('a callback blocked the loop')}")
            print(f"descriptors {before[0]} -> {after[0]}, memory {before[1]} -> {after[1]} KiB")
            problems += verdict.common_problems(status, before, after, MEMORY_KIB)
            if not verdict.SANITIZED and p99 > CONTROL_P99_S:
                problems.append("the control plane was slow")
    return verdict.tell("steps", seed, problems, log)


if __name__ == "__main__":
    sys.exit(main())
