#!/usr/bin/env python3
"""Line coverage per room: builds with clang's counters, runs the tests, and prints what they have run.

  scripts/dev coverage [PART...] [--only EXPRESSION]

Parts are `unit` (tests/unit, tests/kernels, tests/golden) and `http` (tests/http, tests/contract, tests/templates); both
if none is named. --only takes the unit tests whose name matches, and the tests over HTTP that pytest's -k would take.
Counters are kept in mapped files (CMakeLists.txt), so killed processes and those in a sandbox are counted too. A test that
fails does not stop the measurement; the exit status says that one did.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check_layers  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "coverage"
CORES = len(os.sched_getaffinity(0))
TOOLS = "14"  # of the version of clang that builds: an older or newer one does not read its counters


def build():
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_COMPILER=clang-14", "-DQUINCE_COVERAGE=ON", "-DQUINCE_TESTS=ON"]
    subprocess.run(["cmake", "-S", ".", "-B", str(BUILD), "-G", "Ninja", *options], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(BUILD), "--", "--quiet"], cwd=ROOT, check=True)


def run_unit(only):
    chosen = ["-R", only] if only else ["-LE", "short"]
    return subprocess.run(["ctest", "--test-dir", str(BUILD), f"-j{CORES}", "--output-on-failure", "--no-tests=ignore",
                           *chosen], cwd=ROOT).returncode


def run_http(only):
    chosen = ["-k", only] if only else []
    status = subprocess.run(["/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(2 * CORES),
                             *chosen, "tests/http", "tests/contract", "tests/templates"], cwd=ROOT,
                            env={**os.environ, "QUINCE_TEST_BUILD": str(BUILD)}).returncode
    return 0 if status == 5 and only else status  # 5: no test has that name


PARTS = {"unit": run_unit, "http": run_http}


def room_of(name):
    """The room of a file: that of the longest folder it lies in."""
    folders = sorted(((folder, room) for room, (folder, _) in check_layers.ROOMS.items()), key=lambda f: -len(f[0]))
    return next((room for folder, room in folders if name.startswith(folder + "/")), None)


def lines_by_room(profiles):
    """{room: [lines, lines that ran]} of every function of every room, also of those that no program links."""
    merged = BUILD / "merged.profdata"
    subprocess.run([f"llvm-profdata-{TOOLS}", "merge", "-sparse", "-o", str(merged), *map(str, profiles)], check=True)
    command = [f"llvm-cov-{TOOLS}", "export", "-summary-only", f"-instr-profile={merged}",
               str(BUILD / "tests" / "all_rooms")]
    for path in sorted((BUILD / "bin").iterdir()):  # their main.c
        command += ["-object", str(path)]
    told = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    rooms = collections.defaultdict(lambda: [0, 0])
    for file in told["data"][0]["files"]:
        name = os.path.relpath(file["filename"], ROOT)
        room = room_of(name)
        if room and name.endswith(".c"):
            rooms[room][0] += file["summary"]["lines"]["count"]
            rooms[room][1] += file["summary"]["lines"]["covered"]
    return rooms


def show(rooms):
    print(f"{'room':12}{'lines':>8}{'ran':>8}{'':>9}")
    for room in [name for name in check_layers.ROOMS if name in rooms]:
        lines, ran = rooms[room]
        print(f"{room:12}{lines:8}{ran:8}{100 * ran / max(lines, 1):8.1f}%")
    lines, ran = (sum(of[i] for of in rooms.values()) for i in (0, 1))
    print(f"{'all':12}{lines:8}{ran:8}{100 * ran / max(lines, 1):8.1f}%")


def main():
    parser = argparse.ArgumentParser(prog="scripts/dev coverage", description="Line coverage per room.")
    parser.add_argument("parts", nargs="*", metavar="PART", help="unit, http; both if none is named")
    parser.add_argument("--only", help="only tests whose names match")
    args = parser.parse_args()
    for part in args.parts:
        if part not in PARTS:
            parser.error(f"there is no part {part}; there are: {' '.join(PARTS)}")
    build()
    profiles = BUILD / "profiles"
    shutil.rmtree(profiles, ignore_errors=True)
    profiles.mkdir()
    failed = [part for part in args.parts or PARTS if PARTS[part](args.only) != 0]
    show(lines_by_room(sorted(profiles.glob("*.profraw"))))
    for part in failed:
        print(f"coverage: tests of the part {part} failed, see above")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
