"""`quince open`: the page's address goes to the desktop's browser, or is printed. xdg-open is played here."""
import configparser
import json
import os
import time

import pytest
from cli_kit import Cli, stop_background_server
from conftest import ROOT, free_port, pid_alive, wait_until

DESKTOP = {"DISPLAY": ":7", "WAYLAND_DISPLAY": ""}
NO_DESKTOP = {"DISPLAY": "", "WAYLAND_DISPLAY": ""}


@pytest.fixture
def opener(tmp_path):
    """Puts an xdg-open of this text into a folder; returns the PATH with it, and where it writes what it is given."""
    def put(script):
        folder, given = tmp_path / "bin", tmp_path / "given"
        folder.mkdir(exist_ok=True)
        program = folder / "xdg-open"
        program.write_text(f'#!/bin/sh\necho "$#" "$@" > {given}.new\nmv {given}.new {given}\n{script}\n')
        program.chmod(0o755)
        return f"{folder}:{os.environ['PATH']}", given
    return put


def test_the_desktop_opens_the_page(server, tmp_path, opener):
    path, given = opener("exit 0")
    url = f"http://localhost:{server.port}/"
    for display in (DESKTOP, {"DISPLAY": "", "WAYLAND_DISPLAY": "wayland-0"}):
        done = Cli(tmp_path, server.port)("open", PATH=path, **display)
        assert (done.returncode, done.out, done.err) == (0, f"Opened {url}\n", "")
        assert given.read_text() == f"1 {url}\n"
        given.unlink()
    assert json.loads(Cli(tmp_path, server.port)("open", "--json", PATH=path, **DESKTOP).out) == {
        "url": url, "opened": True}
    assert b"quince" in server.get("/", headers={"Accept": "text/html"}).body


def test_without_a_desktop_the_address_is_printed(server, tmp_path, opener):
    path, given = opener("exit 0")
    cli, url = Cli(tmp_path, server.port), f"http://localhost:{server.port}/"
    for args, display, said in (((), NO_DESKTOP, f"Open {url} in a browser\n"), (("--print",), DESKTOP, f"{url}\n")):
        done = cli("open", *args, PATH=path, **display)
        assert (done.returncode, done.out, done.err) == (0, said, "")
    assert json.loads(cli("open", "--json", PATH=path, **NO_DESKTOP).out) == {"url": url, "opened": False}
    assert not given.exists()


def test_no_browser(server, tmp_path, opener):
    url = f"http://localhost:{server.port}/"
    failing, _ = opener("exit 3")
    for path in (failing, str(tmp_path / "empty")):
        done = Cli(tmp_path, server.port)("open", PATH=path, **DESKTOP)
        assert (done.returncode, done.out, done.err) == (0, f"Open {url} in a browser\n", "")


def test_a_browser_that_stays(server, tmp_path, opener):
    """Where no browser runs yet, xdg-open may become it: the command does not wait for its end."""
    path, _ = opener(f"echo $$ > {tmp_path}/pid\nexec sleep 60")
    began = time.monotonic()
    done = Cli(tmp_path, server.port)("open", PATH=path, **DESKTOP)
    assert done.out.startswith("Opened ") and time.monotonic() - began < 50
    pid = int((tmp_path / "pid").read_text())
    assert pid_alive(pid)
    os.kill(pid, 15)
    wait_until(lambda: not pid_alive(pid))


def test_it_starts_a_server(tmp_path, opener):
    path, given = opener("exit 0")
    cli = Cli(tmp_path, free_port())
    done = cli("open", PATH=path, **DESKTOP)
    try:
        assert done.returncode == 0 and given.read_text() == f"1 http://localhost:{cli.port}/\n", done.err
    finally:
        stop_background_server(done.err)


def test_no_server_elsewhere(tmp_path, opener):
    path, given = opener("exit 0")
    done = Cli(tmp_path, 1)("--host", "192.0.2.1:1", "open", PATH=path, **DESKTOP)
    assert done.returncode == 1 and "no server answers" in done.err and not given.exists()


def test_the_desktop_entry():
    """Its command is one of the command line's, by a path that the installation fills in."""
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str
    entry.read(ROOT / "dist" / "desktop" / "quince.desktop")
    (section,) = entry.sections()
    assert section == "Desktop Entry" and entry[section]["Type"] == "Application"
    assert entry[section]["Exec"] == "@BINDIR@/quince open" and entry[section]["Terminal"] == "false"
    for key in ("Name", "Comment", "Icon", "Categories"):
        assert entry[section][key]
