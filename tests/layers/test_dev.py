"""Each verb of scripts/dev works from a clean checkout: it installs what its commands need before it calls them.

The commands around it are replaced: dpkg-query knows what this test has installed, apt-get installs, and cmake fails as
the real one does where a package is missing that the configuration asks for."""
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMANDS = {
    "dpkg-query": 'for name; do :; done; grep -qx -- "$name" "$WORLD/installed" && echo "install ok installed"',
    "apt-get": 'for name; do case "$name" in -*|install|update) ;; *) echo "$name" >>"$WORLD/installed";; esac; done',
    "cmake": '''echo "cmake $*" >>"$WORLD/calls"
case "$*" in
*--build*) ;;
*QUINCE_TESTS=OFF*) grep -qx cmake "$WORLD/installed" ;;
*) grep -qx libcmocka-dev "$WORLD/installed" || { echo "No package 'cmocka' found"; exit 1; } ;;
esac
case "$*" in *clang-14*) grep -qx clang-14 "$WORLD/installed" ;; esac''',
    "python3": 'echo "python3 $*" >>"$WORLD/calls"',
    "sudo": '"$@"',
}


@pytest.fixture
def checkout(tmp_path):
    """A clean checkout, with the scripts alone, on a machine without a package; returns how a verb is called."""
    world = tmp_path / "world"
    (world / "bin").mkdir(parents=True)
    (world / "installed").write_text("")
    (world / "calls").write_text("")
    for name, text in COMMANDS.items():
        command = world / "bin" / name
        command.write_text(f"#!/bin/bash\n{text}\n")
        command.chmod(0o755)
    tree = tmp_path / "tree"
    shutil.copytree(ROOT / "scripts", tree / "scripts", ignore=shutil.ignore_patterns("train", "gguf", "__pycache__"))
    (tree / "tests" / "fuzz").mkdir(parents=True)
    (tree / "tests" / "fuzz" / "fuzz_sse.c").write_text("")

    def call(*arguments):
        """Runs a script; returns its output and the commands that it called."""
        done = subprocess.run(["bash", *arguments], cwd=tree, capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{world / 'bin'}:/usr/bin:/bin", "WORLD": str(world)})
        return done.stdout + done.stderr, (world / "calls").read_text()
    return call


@pytest.mark.parametrize("before", [[], ["scripts/start"]])
@pytest.mark.parametrize("verb", [["build"], ["run"], ["fuzz", "sse", "1"], ["mutate"], ["coverage", "unit"], ["soak", "60"]])
def test_a_verb_installs_what_it_builds_with(checkout, verb, before):
    before_it = len(checkout(*before)[1]) if before else 0
    said, calls = checkout("scripts/dev", *verb)
    assert "cmake failed" not in said, said
    assert "cmake --build" in calls[before_it:] or "coverage.py unit" in calls, said


def test_build_after_start_builds_the_tests(checkout):
    checkout("scripts/start")
    _, calls = checkout("scripts/dev", "build")
    assert "QUINCE_TESTS=OFF" in calls.splitlines()[0]
    assert "QUINCE_TESTS=ON" in calls.splitlines()[2]
