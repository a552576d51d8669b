"""The data folder is its user's alone: modes of what the server finds and makes, and folders it refuses."""
import os
import pathlib
import pwd
import shutil
import stat
import subprocess

import pytest
from conftest import BUILD, PROGRAM

LIMIT_S = 120


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def open_to_others(folder):
    """What below a data folder a stranger could read, were the folder open; what is fetched lies open on purpose."""
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = [f for f in folders if f not in ("home", "hub", "engines")]
        found += [pathlib.Path(place) / f for f in files if f != "test-server.log"
                  and mode(pathlib.Path(place) / f) & 0o077]
    return found


def refused(folder, *command):
    """What a server says that does not start; one that does is stopped."""
    process = subprocess.Popen([*command, *([] if command else [PROGRAM]), "--port", "0", "--ollama-port", "off", "--data-dir",
                                str(folder), "--no-discovery"], text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    started = process.stdout.readline()
    if started:
        process.kill()
    said = process.communicate(timeout=LIMIT_S)[1]
    assert not started and process.returncode != 0, started
    return said


def test_a_folder_that_others_may_read_is_closed(house):
    server = house.start()
    data = server.data_dir
    assert server.stop() == 0
    for path in data.glob("catalog.db*"):
        path.chmod(0o644)
    data.chmod(0o755)
    server = type(server)(data, house.backend_dir, house.models_dir)
    house.servers.append(server)
    data_modes = {p.name: oct(mode(p)) for p in data.glob("catalog.db*")}
    assert set(data_modes) >= {"catalog.db", "catalog.db-wal"} and set(data_modes.values()) == {"0o600"}, data_modes
    assert mode(data) == 0o700
    assert "others could read" in server.logs()


def test_an_empty_folder_that_others_may_read_is_closed(house):
    folder = house.tmp_path / "new"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    process = subprocess.Popen([PROGRAM, "--port", "0", "--ollama-port", "off", "--data-dir", str(folder), "--backend-dir",
                                str(house.backend_dir), "--builtin-dir", str(house.models_dir)], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert "ready" in process.stdout.readline()
        assert mode(folder) == 0o700 and not open_to_others(folder)
        assert (folder / "catalog.db").exists()
    finally:
        process.terminate()
        process.communicate(timeout=LIMIT_S)


def test_what_a_server_writes_is_its_users_alone(house):
    server = house.start()
    model = house.model(server, "m")
    assert server.chat(model).status == 200
    assert server.post("/v1/responses", {"model": model, "input": "x", "store": True}).status == 200
    assert server.post("/api/create", {"model": "p", "from": model, "system": "s", "stream": False}).status == 200
    assert server.post("/internal/set", {"log_level": "info"}).status in (200, 404)
    assert not open_to_others(server.data_dir)
    assert server.stop() == 0
    assert not open_to_others(server.data_dir)


def test_folders_of_other_things_are_refused(house):
    folder = house.tmp_path / "shared"
    folder.mkdir()
    (folder / "letters.txt").write_text("x")
    folder.chmod(0o755)
    said = refused(folder)
    assert str(folder) in said and "chmod 700" in said
    assert mode(folder) == 0o755 and not (folder / "catalog.db").exists()
    sticky = house.tmp_path / "everybodys"
    sticky.mkdir()
    sticky.chmod(0o1777)
    assert "--data-dir" in refused(sticky)
    assert mode(sticky) == 0o1777 and not os.listdir(sticky)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root: two users")
def test_a_folder_of_another_user_is_refused(house):
    """Who may write into a folder that is another's, but not close it, is told so."""
    nobody = pwd.getpwnam("nobody")
    place = pathlib.Path(subprocess.run(["mktemp", "-d", "/tmp/quince-two-users-XXXXXX"], text=True, check=True,
                                        stdout=subprocess.PIPE).stdout.strip())
    try:
        place.chmod(0o755)
        folder = place / "data"
        folder.mkdir()
        folder.chmod(0o777)
        program = place / "quinced"
        shutil.copy(PROGRAM, program)
        said = refused(folder, "setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups",
                       str(program))
        assert "another user" in said, said
        assert not os.listdir(folder)
    finally:
        shutil.rmtree(place)


def test_a_lock_that_is_no_file(house):
    folder = house.tmp_path / "pipe"
    folder.mkdir(mode=0o700)
    os.mkfifo(folder / "quinced.lock")
    said = refused(folder)
    assert "quinced.lock" in said and "regular file" in said
    done = subprocess.run([BUILD / "bin" / "quince", "stop"], env={**os.environ, "QUINCE_DATA_DIR": str(folder),
                                                                    "QUINCE_PORT": "1"}, timeout=LIMIT_S,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    assert done.returncode != 0
