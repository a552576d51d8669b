"""The short form of `scripts/dev soak steps`: random steps against an oracle, see steps.py. Always the same ones, so that
a failure can be repeated; the soak takes others each time."""
import os

import pytest
from conftest import QUICK
from steps import Steps

STEPS = 120 if QUICK else 400


@pytest.mark.release
def test_what_is_loaded_is_what_the_rules_say(house):
    seed = int(os.environ.get("QUINCE_TEST_SEED", "1"))
    server = house.start()
    steps = Steps(house, server, seed)
    steps.run(STEPS)
    steps.rest()
    steps.no_strangers()
