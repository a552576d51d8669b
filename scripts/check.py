#!/usr/bin/env python3
"""Builds and runs the stages of the test suite, and adds up their results.

`scripts/check` runs every stage, `scripts/check STAGE...` only those named, `scripts/check --all` the long variants
too. A stage has one or two parts, and parts run in two lanes side by side: what computes (builds, unit tests, fuzzing)
in one, at a lower priority, and what mostly waits (tests over HTTP) in the other. So builds and computing take the
processor time that waiting leaves. What a part prints goes to build/reports/PART.log and is shown when the part fails;
a part that cannot be built or started counts as one failure, so nothing is lost in silence.
"""
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
import traceback
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPORTS = ROOT / "build" / "reports"
FUZZ_SEED = "1"  # a failure of this check can be repeated; other seeds: scripts/dev fuzz NAME SECONDS
FUZZ_SECONDS = os.environ.get("QUINCE_TEST_FUZZ_SECONDS", "5")
FUZZ_SECONDS_OF_ALL = "20"
CORES = len(os.sched_getaffinity(0))
BROWSERS = 3  # test files of the page at a time, each with a browser and a server
PYTEST_WORKERS = 2 * CORES  # most of a test over HTTP is waiting
COMPUTING_NICENESS = 10
TEST_TIMEOUT_S = 300  # of a C test that has no limit of its own
SLOWEST_SHOWN = 20

# Each build: folder, options, and the target that the stages of a short run need (None: all).
BUILDS = {
    "release": ("build", ["-DCMAKE_BUILD_TYPE=Release", "-DQUINCE_TESTS=ON"], "for_release"),
    "asan": ("build/asan", ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DQUINCE_SANITIZE=address,undefined",
                            "-DQUINCE_TESTS=ON"], None),
    "tsan": ("build/tsan", ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DQUINCE_SANITIZE=thread", "-DQUINCE_TESTS=ON"],
             "for_tsan"),
    "fuzz": ("build/fuzz", ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DQUINCE_FUZZ=ON", "-DCMAKE_C_COMPILER=clang-14",
                            "-DQUINCE_TESTS=ON"], "for_fuzz"),
}

# A short run that includes the stage asan runs most tests only on that build, because it finds more faults. The release
# build then runs only tests of kernels and networks (label "release" in tests/CMakeLists.txt), tests that are shorter or
# weaker under sanitizers (@pytest.mark.release) or take long there (@pytest.mark.heavy), and the files below: examples
# from documents, whose endpoints have tests of their own, and the real engine's answers, whose C code also runs in
# tests/contract and tests/golden.
NOT_UNDER_ASAN = ["neighbours", "prompt_owners", "seed_kolosal", "seed_lemonade", "starter", "starter_facts",
                  "starter_truth"]

# Files of tests/browser that every run has, beside those without a browser (tests/browser/unit): conversations, models
# that are here, keys and settings, and a look at every view with axe, in less than 3 minutes. `--all` runs every journey.
BROWSER_ALWAYS = ["chat", "chat_ask", "chat_list", "chat_stream", "chat_wait", "key", "models_here", "server_settings",
                  "shell", "texts", "views"]

# Tests over HTTP that run under the thread sanitizer: those in which the loop, the workers, the catalog's thread and a
# child's threads meet in ways of their own. `--all` runs every one.
UNDER_TSAN = ["api", "bridge", "config", "faults", "found", "hostile_clients", "inspect", "install", "kills",
              "log_stream", "metrics", "openai", "owners", "pull", "queue", "residency", "rude_child", "shares", "steps",
              "metadata_scan"]
CONTRACT_UNDER_TSAN = ["child", "prefix"]


class Counts:
    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


class Output:
    """Where a part's commands write, and how they are started: one log, one priority."""

    def __init__(self, name, niceness):
        self.path, self.niceness = REPORTS / f"{name}.log", niceness
        self.processor_s = 0.0  # of the commands that have ended
        self.path.write_text("")

    def say(self, text):
        with self.path.open("a") as log:
            print(text, file=log)

    def run(self, command, **environment):
        """Runs a command with its output in the log; returns its exit status."""
        with self.path.open("a") as log:
            nice = ["nice", "-n", str(self.niceness)] if self.niceness else []
            process = subprocess.Popen([*nice, *command], cwd=ROOT, env={**os.environ, **environment},
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.processor_s += used.ru_utime + used.ru_stime
        return process.returncode


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


def slowest(parts):
    """The tests of these parts that took longest: (seconds, part, test)."""
    times = []
    for part in parts:
        report = REPORTS / f"{part}.xml"
        if report.exists():
            times += [(float(case.get("time") or 0), part, case.get("name"))
                      for case in ElementTree.parse(report).getroot().iter("testcase")]
    return sorted(times, reverse=True)[:SLOWEST_SHOWN]


def build(output, name, run):
    folder, options, target = BUILDS[name]
    if name == "release" and not run.shared:
        target = None
    return (output.run(["cmake", "-S", ".", "-B", folder, "-G", "Ninja", *options]) == 0 and
            output.run(["cmake", "--build", folder, *(["--target", target] if target else []), "--", "--quiet"]) == 0)


def ctest(output, part, folder, *options, **environment):
    report = REPORTS / f"{part}.xml"
    status = output.run(["ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error", f"-j{CORES}",
                         "--timeout", str(TEST_TIMEOUT_S),
                         "--output-junit", str(report), *options], **environment)
    return count_junit(report, status)


def pytest(output, part, chosen, **environment):
    report = REPORTS / f"{part}.xml"
    status = output.run(["/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(PYTEST_WORKERS),
                         f"--junitxml={report}", *chosen], **environment)
    return count_junit(report, status)


def layers(output, _run):
    counts = Counts(passed=1) if output.run([sys.executable, "scripts/check_layers.py"]) == 0 else Counts(failed=1)
    counts.add(pytest(output, "layers", ["tests/layers"]))
    return counts


def unit(output, run):
    # All cases run; the short choice of them adds nothing.
    return ctest(output, "unit", "build", "-LE", "short", *(["-L", "release"] if run.shared else []))


def unit_asan(output, run):
    # Runs every golden test, but each case on one or two instruction sets only, also with --all; with --all the release
    # build runs them on all instruction sets and at more sizes.
    return ctest(output, "unit-asan", "build/asan", "-LE", "short" if run.long_variants else "slow",
                 ASAN_OPTIONS="detect_leaks=1", QUINCE_TEST_ALL="", **quick(run))


def unit_tsan(output, _run):
    return ctest(output, "unit-tsan", "build/tsan", "-L", "tsan")


def http(output, run):
    folders, build_folder = ["tests/contract", "tests/templates"], str(ROOT / "build")
    if not run.shared:
        return pytest(output, "http", ["tests/http", *folders], QUINCE_TEST_BUILD=build_folder)
    files = [f"tests/http/test_{name}.py" for name in NOT_UNDER_ASAN]
    counts = pytest(output, "http", [*files, *folders], QUINCE_TEST_BUILD=build_folder)
    counts.add(pytest(output, "http-measured", ["tests/http", "-m", "release or heavy", *left_out()],
                      QUINCE_TEST_BUILD=build_folder))
    return counts


def left_out():
    return [f"--ignore=tests/http/test_{name}.py" for name in NOT_UNDER_ASAN]


def quick(run):
    return {} if run.long_variants else {"QUINCE_TEST_QUICK": "1"}


def sanitized_http(output, part, chosen, run):
    return pytest(output, f"http-{part}", [*chosen, *([] if run.long_variants else ["-m", "not heavy"])],
                  QUINCE_TEST_BUILD=str(ROOT / "build" / part), **quick(run))


def http_asan(output, run):
    chosen = ["tests/http", "tests/contract", *([] if run.long_variants else left_out())]
    return sanitized_http(output, "asan", chosen, run)


def http_tsan(output, run):
    chosen = ["tests/http", "tests/contract"] if run.long_variants else [
        *(f"tests/http/test_{name}.py" for name in UNDER_TSAN), *(f"tests/contract/test_{name}.py" for name in CONTRACT_UNDER_TSAN)]
    return sanitized_http(output, "tsan", chosen, run)


def run_on_node(output, name, *options, only=None):
    """The tests of tests/NAME, a folder with a package-lock.json of its own. only: the names of the files in this folder
    that are run; None: all. Files in folders below are always run."""
    folder = ROOT / "tests" / name
    lock, installed = folder / "package-lock.json", folder / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
        if output.run(["npm", "ci", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts"]) != 0:
            output.say(f"check: npm could not install tests/{name} (see above): is its registry reachable?")
            return Counts(failed=1)
    files = sorted(str(p) for p in folder.rglob("*.test.mjs") if "node_modules" not in p.parts
                   and (only is None or p.parent != folder or p.name.removesuffix(".test.mjs") in only))
    status = output.run(["node", "--test", "--test-reporter=tap", *options, *files],
                        QUINCE_TEST_BUILD=str(ROOT / "build"))
    totals = {k: int(v) for k, v in re.findall(r"^# (pass|fail|cancelled|skipped) (\d+)$", output.path.read_text(), re.M)}
    counts = Counts(totals.get("pass", 0), totals.get("fail", 0) + totals.get("cancelled", 0),
                    totals.get("skipped", 0))
    if status != 0 or not totals:
        counts.failed = max(counts.failed, 1)
    return counts


def node(output, _run):
    return run_on_node(output, "node")


def browser(output, run):
    return run_on_node(output, "browser", f"--test-concurrency={BROWSERS}",
                       only=None if run.long_variants else BROWSER_ALWAYS)


def fuzz(output, run):
    seconds = FUZZ_SECONDS_OF_ALL if run.long_variants else FUZZ_SECONDS

    def one(target):
        return output.run(["scripts/dev", "fuzz", target.name.removeprefix("fuzz_"), seconds, FUZZ_SEED])

    counts = Counts()
    with ThreadPoolExecutor(max_workers=CORES) as pool:
        for status in pool.map(one, sorted((ROOT / "build" / "fuzz" / "fuzz").glob("fuzz_*"))):
            counts.add(Counts(passed=1) if status == 0 else Counts(failed=1))
    return counts if counts.passed + counts.failed else Counts(failed=1)


# Each part: its name, its stage, the build it needs, what it does. A lane runs its parts in this order.
WAITING = [("layers", "layers", None, layers), ("http", "http", "release", http), ("node", "node", "release", node),
           ("browser", "browser", "release", browser),
           ("http-asan", "asan", "asan", http_asan), ("http-tsan", "tsan", "tsan", http_tsan)]
COMPUTING = [("unit", "unit", "release", unit), ("unit-asan", "asan", "asan", unit_asan),
             ("unit-tsan", "tsan", "tsan", unit_tsan), ("fuzz", "fuzz", "fuzz", fuzz)]
STAGES = ["layers", "unit", "http", "node", "browser", "asan", "tsan", "fuzz"]


class Run:
    """One run of the suite: two lanes, what they have built, and what their parts have counted."""

    def __init__(self, stages, long_variants):
        self.stages, self.long_variants = stages, long_variants
        self.shared = "asan" in stages and not long_variants  # tests are split between the release and sanitizer builds
        self.built = {name: (threading.Event(), []) for name in BUILDS}
        self.results, self.began, self.printing = {}, time.monotonic(), threading.Lock()

    def say(self, text):
        with self.printing:
            print(f"[{time.monotonic() - self.began:5.0f} s] {text}", flush=True)

    def wanted(self, lane):
        # The build with the address sanitizer already runs the fuzz targets, on their corpora and random changes of
        # these.
        return [part for part in lane if part[1] in self.stages and not (self.shared and part[1] == "fuzz")]

    def build_one(self, name):
        done, verdict = self.built[name]
        started = time.monotonic()
        output = Output(f"build-{name}", COMPUTING_NICENESS)
        try:
            verdict.append(build(output, name, self))
        finally:
            done.set()  # before printing, which raises an error if the output is closed
            self.say(f"build {name}: {'done' if verdict == [True] else 'FAILED'} in {time.monotonic() - started:.0f} s, "
                     f"{output.processor_s:.0f} s of processors")
            if verdict != [True]:
                self.show(output)

    def show(self, output):
        with self.printing:
            print(output.path.read_text(errors="replace"), flush=True)

    def part(self, name, needed, what, niceness):
        """Waits for the build, runs the part, and says how it went."""
        if needed:
            done, verdict = self.built[needed]
            done.wait()
            if verdict != [True]:
                self.results[name] = Counts(failed=1)
                return
        (REPORTS / f"{name}.xml").unlink(missing_ok=True)
        started, output = time.monotonic(), Output(name, niceness)
        self.say(f"{name}: begins, see {output.path.relative_to(ROOT)}")
        try:
            counts = what(output, self)
        except Exception:  # a part that breaks is a failure, and the others go on
            output.say(traceback.format_exc())
            counts = Counts(failed=1)
        self.results[name] = counts
        if counts.failed:
            self.show(output)
        self.say(f"{name}: {counts} in {time.monotonic() - started:.0f} s, {output.processor_s:.0f} s of processors")

    def computing(self):
        """Builds in the order in which the other lane waits for them, then the parts; fuzzing has the last build."""
        parts = self.wanted(COMPUTING)
        needed = {part[2] for part in [*parts, *self.wanted(WAITING)]}
        for name in BUILDS:
            if name in needed and name != "fuzz":
                self.build_one(name)
        for name, _, build_name, what in parts:
            if build_name == "fuzz":
                self.build_one(build_name)
            self.part(name, build_name, what, COMPUTING_NICENESS)

    def waiting(self):
        for name, _, build_name, what in self.wanted(WAITING):
            self.part(name, build_name, what, 0)

    def whole(self):
        lanes = [threading.Thread(target=lane, daemon=True) for lane in (self.computing, self.waiting)]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()

    def summary(self):
        """Prints every part's counts and the slowest tests; returns the sum."""
        total = Counts()
        parts = [*self.wanted(WAITING), *self.wanted(COMPUTING)]
        print(f"==> the {SLOWEST_SHOWN} slowest tests")
        for seconds, part, test in slowest([part[0] for part in parts]):
            print(f"    {seconds:7.1f} s  {part:9}  {test}")
        print(f"==> all stages, in {time.monotonic() - self.began:.0f} s")
        for stage in self.stages:
            for name in (part[0] for part in parts if part[1] == stage):
                counts = self.results.get(name, Counts(failed=1))
                print(f"    {name:9} {counts}")
                total.add(counts)
        return total


def main():
    long_variants = "--all" in sys.argv[1:]
    if long_variants:
        os.environ["QUINCE_TEST_ALL"] = "1"
    # pytest compiles each file of tests once, not once for each worker of each stage. In build/, because sources stay
    # free of files that a run writes.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(ROOT / "build" / "pycache")
    wanted = [name for name in sys.argv[1:] if name != "--all"]
    unknown = [name for name in wanted if name not in STAGES]
    if unknown:
        sys.exit(f"check: no stage {unknown[0]}; there are: {' '.join(STAGES)}")
    REPORTS.mkdir(parents=True, exist_ok=True)
    run = Run([name for name in STAGES if name in wanted] or STAGES, long_variants)
    run.whole()
    total = run.summary()
    print(total)
    sys.exit(1 if total.failed else 0)


if __name__ == "__main__":
    main()
