"""How a soak of a server ends: what holds for each of them, the problems told, the log kept."""
import collections
import os
import sys

from conftest import BUILD

SANITIZED = os.environ.get("QUINCE_TEST_QUICK") == "1"  # times and memory of such a build say nothing


def common_problems(status, before, after, memory_kib):
    """before, after: descriptors and KiB at rest; memory_kib: growth allowed."""
    problems = []
    if status != 0:
        problems.append(f"quinced ended with status {status}")
    if after[0] > before[0] + 2:
        problems.append("descriptors have leaked")
    if not SANITIZED and after[1] > before[1] + memory_kib:
        problems.append("memory has grown")
    return problems


def tell(name, seed, problems, log):
    """Prints the verdict; returns the exit status."""
    problems = list(problems)
    for word in ("AddressSanitizer", "ThreadSanitizer", "runtime error:", "LeakSanitizer", "Assertion"):
        if word in log:
            problems.append(log[max(0, log.index(word) - 500):log.index(word) + 4000])
    for p, n in collections.Counter(problems).most_common(20):
        print(f"PROBLEM ({n} times): {p}", file=sys.stderr)
    if problems:
        kept = BUILD / "soak-server.log"
        kept.write_text(log)
        print(f"{name}: failed, seed {seed}; the server's log: {kept}", file=sys.stderr)
        return 1
    print(f"{name}: nothing found")
    return 0
