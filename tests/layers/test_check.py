"""scripts/check.py: no part and no test is lost without a word, and what its lists name exists."""
import ast
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import check  # noqa: E402


@pytest.fixture
def lanes(monkeypatch, tmp_path):
    """Sets the parts of both lanes and what builds say; reports go to a folder of this test."""
    monkeypatch.setattr(check, "ROOT", tmp_path)
    monkeypatch.setattr(check, "REPORTS", tmp_path)

    def set_them(waiting=(), computing=(), builds=True, stages=("http", "unit")):
        monkeypatch.setattr(check, "WAITING", list(waiting))
        monkeypatch.setattr(check, "COMPUTING", list(computing))
        monkeypatch.setattr(check, "build", lambda output, name, run: builds)
        run = check.Run(list(stages), False)
        run.whole()
        return run.summary()
    return set_them


def passing(_output, _run):
    return check.Counts(passed=3)


def test_the_sum_of_both_lanes(lanes):
    total = lanes([("http", "http", "release", passing)], [("unit", "unit", "release", passing)])
    assert str(total) == "6 passed, 0 failed, 0 skipped"


def test_a_build_that_fails_fails_every_part_that_needs_it(lanes):
    total = lanes([("http", "http", "release", passing)], [("unit", "unit", "release", passing)], builds=False)
    assert str(total) == "0 passed, 2 failed, 0 skipped"


def test_a_part_that_breaks_is_a_failure_and_its_output_is_shown(lanes, capfd):
    def broken(output, _run):
        output.run(["echo", "the words before the end"])
        raise RuntimeError("gone")
    total = lanes([("http", "http", None, broken)], [("unit", "unit", None, passing)])
    assert str(total) == "3 passed, 1 failed, 0 skipped"
    shown = capfd.readouterr().out
    assert "the words before the end" in shown and "RuntimeError: gone" in shown


def test_only_the_stages_that_are_named(lanes):
    total = lanes([("http", "http", None, passing)], [("unit", "unit", None, passing)], stages=["unit"])
    assert str(total) == "3 passed, 0 failed, 0 skipped"


JUNIT = '<testsuite><testcase name="a" time="2.5"/><testcase name="b" time="7"><failure/></testcase>' \
        '<testcase name="c" time="0"><skipped/></testcase></testsuite>'


def test_reports_are_counted_and_the_slowest_come_first(lanes, tmp_path):
    (tmp_path / "http.xml").write_text(JUNIT)
    assert str(check.count_junit(tmp_path / "http.xml", 1)) == "1 passed, 1 failed, 1 skipped"
    assert [name for _, _, name in check.slowest(["http"])] == ["b", "a", "c"]


def test_a_missing_report_or_a_status_without_a_failed_test_is_a_failure(tmp_path):
    assert check.count_junit(tmp_path / "none.xml", 0).failed == 1
    (tmp_path / "all_well.xml").write_text('<testsuite><testcase name="a"/></testsuite>')
    assert check.count_junit(tmp_path / "all_well.xml", 139).failed == 1


@pytest.mark.parametrize("name", check.NOT_UNDER_ASAN + check.UNDER_TSAN)
def test_what_the_lists_name_exists(name):
    assert (ROOT / "tests" / "http" / f"test_{name}.py").exists()


@pytest.mark.parametrize("name", check.CONTRACT_UNDER_TSAN)
def test_what_the_list_of_the_contract_names_exists(name):
    assert (ROOT / "tests" / "contract" / f"test_{name}.py").exists()


@pytest.mark.parametrize("target", sorted((ROOT / "tests" / "fuzz").glob("fuzz_*.c")), ids=lambda p: p.stem)
def test_each_fuzz_target_has_a_corpus_and_a_dictionary(target):
    """tests/fuzz/replay.c needs both."""
    corpus = target.parent / "corpus" / target.stem.removeprefix("fuzz_")
    assert any(p.is_file() for p in corpus.glob("*")), corpus
    assert target.with_suffix(".dict").exists()


def each_test(path):
    """Each test of a file over HTTP: its name and its lines, decorators included."""
    text = path.read_text()
    lines = text.split("\n")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            first = min(d.lineno for d in [node, *node.decorator_list])
            yield node.name, "\n".join(lines[first - 1:node.end_lineno])


def names_of_quick(path):
    """QUICK, and what a file derives from it."""
    text = path.read_text()
    lines = text.split("\n")
    return ["QUICK"] + [target.id for node in ast.parse(text).body if isinstance(node, ast.Assign)
                        and "QUICK" in "\n".join(lines[node.lineno - 1:node.end_lineno]) for target in node.targets]


def test_what_is_weaker_under_sanitizers_runs_on_the_release_build():
    """A test that leaves something out under sanitizers (SANITIZED), or is shorter there (QUICK), is marked."""
    for path in sorted((ROOT / "tests" / "http").glob("test_*.py")):
        if path.stem.removeprefix("test_") in check.NOT_UNDER_ASAN:
            continue
        weaker = re.compile(r"\b(" + "|".join(["SANITIZED", *names_of_quick(path)]) + r")\b")
        for name, text in each_test(path):
            if weaker.search(text):
                assert "@pytest.mark.release" in text, f"{path.name}: {name}"


def test_a_short_run_shares_tests_out_between_its_builds(monkeypatch):
    asked = []
    monkeypatch.setattr(check, "pytest", lambda output, part, chosen, **_: asked.append((part, chosen)) or check.Counts())
    monkeypatch.setattr(check, "ctest", lambda output, part, folder, *options, **_: asked.append((part, list(options))))

    def what(stages, long_variants):
        asked.clear()
        run = check.Run(stages, long_variants)
        check.unit(None, run)
        check.http(None, run)
        return asked
    for run in (what(["unit", "http"], False), what(["unit", "http", "asan"], True)):
        assert [part for part, _ in run] == ["unit", "http"]
        assert "release" not in run[0][1] and "tests/http" in run[1][1]
    (_, unit), (_, whole), (_, measured) = what(["unit", "http", "asan"], False)
    assert unit[-2:] == ["-L", "release"]
    assert "tests/http/test_starter.py" in whole and "tests/http" not in whole
    assert measured[:3] == ["tests/http", "-m", "release or heavy"] and "--ignore=tests/http/test_starter.py" in measured


def test_every_stage_has_a_part():
    assert {part[1] for part in check.WAITING + check.COMPUTING} == set(check.STAGES)


def test_what_is_heavy_under_sanitizers_is_left_out_there_in_a_short_run_alone(monkeypatch):
    asked = []
    monkeypatch.setattr(check, "pytest", lambda output, part, chosen, **_: asked.append(chosen))
    for long_variants in (False, True):
        run = check.Run(["asan", "tsan"], long_variants)
        check.http_asan(None, run)
        check.http_tsan(None, run)
    short, whole = asked[:2], asked[2:]
    assert all(chosen[-2:] == ["-m", "not heavy"] for chosen in short)
    assert whole == [["tests/http", "tests/contract"]] * 2


def test_a_short_run_of_all_stages_needs_no_build_for_libfuzzer():
    for stages, long_variants, wanted in ((check.STAGES, False, False), (check.STAGES, True, True), (["fuzz"], False, True)):
        run = check.Run(stages, long_variants)
        assert ("fuzz" in [part[1] for part in run.wanted(check.COMPUTING)]) == wanted
