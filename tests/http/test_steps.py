"""The short form of `scripts/dev soak steps`: random steps against an oracle, see steps.py."""
import os
import random

from conftest import QUICK
from steps import Steps

STEPS = 120 if QUICK else 400


def test_what_is_loaded_is_what_the_rules_say(house):
    seed = int(os.environ.get("QUINCE_TEST_SEED", random.randrange(10**6)))
    print(f"seed {seed} (QUINCE_TEST_SEED repeats it)")
    server = house.start()
    steps = Steps(house, server, seed)
    steps.run(STEPS)
    steps.rest()
    steps.no_strangers()
