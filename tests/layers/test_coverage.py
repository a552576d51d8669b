"""scripts/coverage.py: lines belong to the room of the longest folder."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import coverage  # noqa: E402


@pytest.mark.parametrize("name,room", [("router/program.c", "router"), ("router/models/residency.c", "models"),
                                       ("lib/base/json.c", "base"), ("backends/llm/scheduler/batch.c", "llm"),
                                       ("tests/unit/test_json.c", None), ("build/coverage/generated/schema.c", None)])
def test_the_room_of_a_file(name, room):
    assert coverage.room_of(name) == room


def test_the_table(capsys):
    coverage.show({"io": [200, 50], "base": [100, 100]})
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [["room", "lines", "ran"], ["base", "100", "100", "100.0%"], ["io", "200", "50", "25.0%"],
                     ["all", "300", "150", "50.0%"]]
