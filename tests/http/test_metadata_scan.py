"""Sums of models' files are made in the background, and only of models that are listed."""
import hashlib
import os

import pytest

from conftest import fake_model, wait_until

GIB = 1024 ** 3


def digests(server):
    return {m["name"]: m["digest"] for m in server.get("/api/tags").json["models"]}


def test_the_sum_of_a_deleted_model_is_given_up(house):
    server = house.start("--log-level", "debug")
    large, small = fake_model(house.tmp_path), fake_model(house.tmp_path)
    try:
        os.truncate(large, 12 * GIB)  # holes: many seconds of work, and no place on the disk
    except OSError:
        pytest.skip("this file system has no files of that size")
    server.register("user.a", large)
    server.register("user.b", small)
    assert server.post("/v1/delete", {"model_name": "user.a"}).status == 200
    wait_until(lambda: "was cancelled" in server.logs(), what="the end of the checksum")
    expected = hashlib.sha256(small.read_bytes()).hexdigest()
    wait_until(lambda: expected in digests(server).values(), what="the sum of the next model")


def test_a_file_of_holes_holds_up_no_other_sum(house):
    server = house.start("--log-level", "debug")
    hollow, small = fake_model(house.tmp_path), fake_model(house.tmp_path)
    try:
        os.truncate(hollow, 512 * GIB)  # more than is summed in the test's patience; sanitizers map no more
    except OSError:
        pytest.skip("this file system has no files of that size")
    server.register("user.a", hollow)
    server.register("user.b", small)
    expected = hashlib.sha256(small.read_bytes()).hexdigest()
    wait_until(lambda: expected in digests(server).values(), what="the sum of the next model")
