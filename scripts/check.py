#!/usr/bin/env python3
"""Runs the stages of the test suite, prints what each did, and adds up their results.

A stage is a command and the way to count its tests. A stage that cannot be built or started counts
as one failure, so nothing is lost in silence. `scripts/check STAGE...` runs only the stages named;
`scripts/check --all` runs every long variant too.
"""
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPORTS = ROOT / "build" / "reports"
FUZZ_SEED = "1"  # a failure of this check can be repeated; other seeds: scripts/dev fuzz NAME SECONDS
FUZZ_SECONDS = os.environ.get("QUINCE_TEST_FUZZ_SECONDS", "5")
FUZZ_SECONDS_OF_ALL = "20"
CORES = len(os.sched_getaffinity(0))
PYTEST_WORKERS = 2 * CORES  # most of a test over HTTP is waiting
SLOWEST_SHOWN = 20


class Counts:
    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def run(command, **environment):
    """Runs a command with its output shown; returns its exit status."""
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}).returncode


def build(folder, *options, **environment):
    configure = ["cmake", "-S", ".", "-B", folder, "-G", "Ninja", *options]
    quiet = subprocess.run(configure, cwd=ROOT, env={**os.environ, **environment},
                           capture_output=True, text=True)
    if quiet.returncode != 0:
        print(quiet.stdout + quiet.stderr)
        return False
    return run(["cmake", "--build", folder, "--", "--quiet"]) == 0


def count_junit(path, status):
    """Adds up a JUnit file, whichever of its two dialects; a missing one is a failure."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return Counts(failed=1)
    counts = Counts()
    for case in root.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            counts.failed += 1
        elif case.find("skipped") is not None or case.get("status") in ("disabled", "notrun"):
            counts.skipped += 1
        else:
            counts.passed += 1
    if status != 0 and counts.failed == 0:
        counts.failed = 1
    return counts


def slowest(report, how_many=SLOWEST_SHOWN):
    """Prints the tests of a JUnit file that took longest."""
    cases = ElementTree.parse(report).getroot().iter("testcase") if report.exists() else []
    times = sorted(((float(c.get("time") or 0), c.get("name")) for c in cases), reverse=True)
    for seconds, name in times[:how_many]:
        print(f"    {seconds:7.1f} s  {name}")


def ctest(folder, *options, **environment):
    report = REPORTS / (folder.replace("/", "-") + ".xml")
    report.unlink(missing_ok=True)
    status = run(["ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error", f"-j{CORES}",
                  "--output-junit", str(report), *options], **environment)
    slowest(report)
    return count_junit(report, status)


def pytest(name, folders, **environment):
    report = REPORTS / f"{name}.xml"
    report.unlink(missing_ok=True)
    status = run(["/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(PYTEST_WORKERS),
                  f"--junitxml={report}", *folders], **environment)
    slowest(report)
    return count_junit(report, status)


def stage_layers(_long_variants):
    counts = Counts(passed=1) if run([sys.executable, "scripts/check_layers.py"]) == 0 else Counts(failed=1)
    counts.add(pytest("layers", ["tests/layers"]))
    return counts


def stage_unit(_long_variants):
    if not build("build", "-DCMAKE_BUILD_TYPE=Release", "-DQUINCE_TESTS=ON"):
        return Counts(failed=1)
    return ctest("build")


def stage_http(_long_variants):
    if not build("build", "-DCMAKE_BUILD_TYPE=Release", "-DQUINCE_TESTS=ON"):
        return Counts(failed=1)
    return pytest("http", ["tests/http", "tests/contract", "tests/templates"], QUINCE_TEST_BUILD=str(ROOT / "build"))


def stage_node(_long_variants):
    node = ROOT / "tests" / "node"
    if not (node / "node_modules" / ".package-lock.json").exists():
        if run(["npm", "ci", "--prefix", str(node), "--no-audit", "--no-fund"]) != 0:
            print("check: npm could not install tests/node (see above): is its registry reachable?")
            return Counts(failed=1)
    files = sorted(str(p) for p in node.glob("*.test.mjs"))
    done = subprocess.run(["node", "--test", "--test-reporter=tap", *files], cwd=ROOT, text=True,
                          env={**os.environ, "QUINCE_TEST_BUILD": str(ROOT / "build")},
                          stdout=subprocess.PIPE)
    totals = {k: int(v) for k, v in re.findall(r"^# (pass|fail|cancelled|skipped) (\d+)$", done.stdout, re.M)}
    counts = Counts(totals.get("pass", 0), totals.get("fail", 0) + totals.get("cancelled", 0),
                    totals.get("skipped", 0))
    if done.returncode != 0 or not totals:
        print(done.stdout)
        counts.failed = max(counts.failed, 1)
    return counts


def stage_asan(long_variants):
    options = ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DQUINCE_SANITIZE=address,undefined", "-DQUINCE_TESTS=ON"]
    if not build("build/asan", *options):
        return Counts(failed=1)
    counts = ctest("build/asan", *([] if long_variants else ["-LE", "slow"]), ASAN_OPTIONS="detect_leaks=1")
    counts.add(pytest("http-asan", ["tests/http", "tests/contract"], QUINCE_TEST_BUILD=str(ROOT / "build/asan"),
                      QUINCE_TEST_QUICK="0" if long_variants else "1"))
    return counts


def stage_tsan(long_variants):
    options = ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DQUINCE_SANITIZE=thread", "-DQUINCE_TESTS=ON"]
    if not build("build/tsan", *options):
        return Counts(failed=1)
    counts = ctest("build/tsan", "-L", "tsan")
    counts.add(pytest("http-tsan", ["tests/http", "tests/contract"], QUINCE_TEST_BUILD=str(ROOT / "build/tsan"),
                      QUINCE_TEST_QUICK="0" if long_variants else "1"))
    return counts


def stage_fuzz(long_variants):
    options = ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DQUINCE_FUZZ=ON", "-DCMAKE_C_COMPILER=clang-14",
               "-DQUINCE_TESTS=ON"]
    if not build("build/fuzz", *options):
        return Counts(failed=1)
    seconds = FUZZ_SECONDS_OF_ALL if long_variants else FUZZ_SECONDS

    def fuzz(target):
        return run(["scripts/dev", "fuzz", target.name.removeprefix("fuzz_"), seconds, FUZZ_SEED])

    counts = Counts()
    with ThreadPoolExecutor(max_workers=CORES) as pool:
        for status in pool.map(fuzz, sorted((ROOT / "build" / "fuzz" / "fuzz").glob("fuzz_*"))):
            counts.add(Counts(passed=1) if status == 0 else Counts(failed=1))
    return counts


STAGES = {"layers": stage_layers, "unit": stage_unit, "http": stage_http, "node": stage_node,
          "asan": stage_asan, "tsan": stage_tsan, "fuzz": stage_fuzz}


def main():
    long_variants = "--all" in sys.argv[1:]
    if long_variants:
        os.environ["QUINCE_TEST_ALL"] = "1"
    wanted = [name for name in sys.argv[1:] if name != "--all"] or list(STAGES)
    unknown = [name for name in wanted if name not in STAGES]
    if unknown:
        sys.exit(f"check: no stage {unknown[0]}; there are: {' '.join(STAGES)}")
    REPORTS.mkdir(parents=True, exist_ok=True)
    total, summary = Counts(), []
    for name in wanted:
        print(f"==> {name}", flush=True)
        started = time.monotonic()
        counts = STAGES[name](long_variants)
        total.add(counts)
        summary.append(f"    {name:8} {counts} in {time.monotonic() - started:.0f} s")
        print(summary[-1], flush=True)
    print("\n".join(["==> all stages", *summary]))
    print(total)
    sys.exit(1 if total.failed else 0)


if __name__ == "__main__":
    main()
