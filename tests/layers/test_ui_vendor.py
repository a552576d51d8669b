"""scripts/ui_vendor: the page's libraries are the files of the packages that ui/vendor/LOCK names, and any other file is
found."""
import importlib.machinery
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LICENCES = {"MIT", "Apache-2.0", "BSD-3-Clause", "(MPL-2.0 OR Apache-2.0)"}


def load():
    loader = importlib.machinery.SourceFileLoader("ui_vendor", str(ROOT / "scripts" / "ui_vendor"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("ui_vendor", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


@pytest.fixture
def vendor(tmp_path, monkeypatch):
    """The script over a copy of ui/vendor."""
    module = load()
    shutil.copytree(ROOT / "ui" / "vendor", tmp_path / "vendor")
    monkeypatch.setattr(module, "VENDOR", tmp_path / "vendor")
    monkeypatch.setattr(module, "LOCK", tmp_path / "vendor" / "LOCK")
    module.lock = json.loads(module.LOCK.read_text())
    return module


def test_the_checksums_are_those_of_the_packages():
    """Derived again from npm's archives, where its registry is reachable."""
    done = subprocess.run([ROOT / "scripts" / "ui_vendor", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_package_has_its_licence(vendor):
    for name, package in vendor.lock.items():
        assert package["licence"] in LICENCES, name
        assert [f for f in package["files"] if f.startswith("licences/")], f"{name} has no licence among its files"


def test_a_changed_file_is_found(vendor):
    path = vendor.VENDOR / "preact.mjs"
    path.write_bytes(path.read_bytes().replace(b"export", b"/* */export", 1))
    assert vendor.compare_files(vendor.lock) == ["ui/vendor/preact.mjs is not the file of LOCK"]


def test_more_than_the_added_line_is_found(vendor):
    path = vendor.VENDOR / "dompurify.mjs"
    path.write_bytes(path.read_bytes() + b"globalThis.DOMPurify.sanitize = (x) => x;\n")
    assert vendor.compare_files(vendor.lock) == ["ui/vendor/dompurify.mjs is not the file of LOCK"]


def test_missing_and_foreign_files_are_found(vendor):
    (vendor.VENDOR / "htm.mjs").unlink()
    (vendor.VENDOR / "more.mjs").write_text("")
    assert vendor.compare_files(vendor.lock) == ["ui/vendor/htm.mjs is not the file of LOCK",
                                                 "ui/vendor/more.mjs is not in LOCK"]


def test_another_archive_is_found(vendor, monkeypatch):
    package = vendor.lock["htm"]
    monkeypatch.setattr(vendor, "fetch", lambda lock: {"htm": ("sha512-other", {"dist/htm.mjs": b"other"})})
    assert vendor.compare_packages({"htm": package}) == [
        "htm@3.1.1: npm's archive has sha512-other", "htm@3.1.1: dist/htm.mjs is not ui/vendor/htm.mjs",
        "htm@3.1.1: LICENSE is not ui/vendor/licences/htm.txt"]


def test_without_npm_the_files_are_compared_with_the_lock(tmp_path):
    done = subprocess.run([sys.executable, ROOT / "scripts" / "ui_vendor", "--check"], capture_output=True, text=True,
                          env={"PATH": str(tmp_path)})
    assert done.returncode == 0 and "compared with LOCK only" in done.stderr
