"""scripts/check_layers.py sees each fault that it is there to see, in a small tree made for it."""
import pathlib
import shutil
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_layers.py"
sys.path.insert(0, str(SCRIPT.parent))
import check_layers  # noqa: E402

HEADER = "#ifndef QN_BASE_BUF_H\n#define QN_BASE_BUF_H\nstruct qn_buf {\n    int n;\n};\n#endif\n"
SOUND = {
    "lib/base/buf.h": HEADER,
    "lib/io/stream.c": '#include "base/buf.h"\n#include <stdio.h>\n',
    "router/models/instance.c": '#include "base/buf.h"\n',
    "router/api/models.c": '#include "base/buf.h"\n',
}
for beginning, owners in check_layers.OWNERS.items():
    for owner in owners:  # each foreign header where the table says that it is
        name = owner + "uses_it.c" if owner.endswith("/") else owner
        guard = name.removeprefix("lib/").upper().replace("/", "_").replace(".", "_")
        begins, ends = (f"#ifndef QN_{guard}\n#define QN_{guard}\n", "#endif\n") if name.endswith(".h") else ("", "")
        header = beginning if beginning.endswith(".h") else beginning + "x.h"
        SOUND[name] = SOUND.get(name, "") + begins + f"#include <{header}>\n" + ends
PAGE = "# House\n\n" + check_layers.PICTURE_BEGINS + check_layers.PICTURE_ENDS + "\nMore.\n"


def check(folder, files, script=None, draw=True):
    """The checker's exit status and output for a tree of these files, whose picture is drawn before if draw says so."""
    (folder / "scripts").mkdir()
    copy = folder / "scripts" / "check_layers.py"
    shutil.copy(SCRIPT, copy)
    if script:
        copy.write_text(script(copy.read_text()))
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    page = folder / "docs" / "architecture.md"
    page.parent.mkdir()
    page.write_text(PAGE)
    if draw:
        subprocess.run([sys.executable, str(copy), "--draw"], check=True)
    done = subprocess.run([sys.executable, str(copy)], capture_output=True, text=True)
    return done.returncode, done.stdout


def test_a_sound_tree_passes(tmp_path):
    assert check(tmp_path, SOUND) == (0, "layers: 0 violations\n")


PROFILES = {
    "router/answers/profile.h": '#ifndef QN_ANSWERS_PROFILE_H\n#define QN_ANSWERS_PROFILE_H\n#define QN_PROFILE_MAIN_NAME "plain"\n#endif\n',
    "router/answers/profile.c": 'static const char *const rows[] = {\n    .name = QN_PROFILE_MAIN_NAME,\n    .name = "phone",\n'
                                '    .name = "auto",\n};\n',
}

FAULTS = {
    "an arrow that points up": ({"lib/base/str.c": '#include "io/stream.h"\n', "lib/io/stream.h": ""},
                                "lib/base/str.c: room base may not include io"),
    "an arrow up inside the router": ({"router/models/x.c": '#include "api/api.h"\n', "router/api/api.h": ""},
                                      "router/models/x.c: room models may not include api"),
    "a room that the table does not name": ({"cli/x.c": '#include "io/stream.h"\n', "lib/io/stream.h": ""},
                                            "cli/x.c: room cli may not include io"),
    "an include that climbs": ({"lib/io/x.c": '#include "../base/buf.h"\n'}, "lib/io/x.c: include of ../base/buf.h climbs"),
    "an include without its room": ({"lib/base/x.c": '#include "buf.h"\n'}, "lib/base/x.c: include of buf.h does not name its room"),
    "a file that lies elsewhere": ({"router/api/x.c": '#include "models/buf.h"\n'},
                                   "router/api/x.c: models/buf.h is not in the room that it names"),
    "an unknown room": ({"router/api/x.c": '#include "cellar/buf.h"\n'}, "router/api/x.c: cellar/buf.h is in no room"),
    "a file in no room": ({"backends/x.c": "int x;\n"}, "backends/x.c is in no room"),
    "a foreign header outside its file": ({"router/api/x.c": "#include <sqlite3.h>\n"}, "router/api/x.c: sqlite3.h belongs to lib/database/database.h"),
    "the router parses a model file": ({"router/models/x.c": '#include "formats/gguf.h"\n', "lib/formats/gguf.h": ""},
                                       "router/models/x.c: formats/gguf.h belongs to lib/formats/"),
    "a guard of another path": ({"lib/base/other.h": HEADER.replace("struct qn_buf", "struct other")},
                                "lib/base/other.h: its guard should be QN_BASE_OTHER_H"),
    "a profile's constant outside its table": ({**PROFILES, "router/api/x.c": "int a = QN_PROFILE_PHONE;\n"},
                                               "router/api/x.c: QN_PROFILE_PHONE names a profile"),
    "a profile's name outside its table": ({**PROFILES, "router/api/x.c": 'const char *a = "not phone";\n'},
                                           'router/api/x.c: "not phone" names a profile'),
    "an include of another room's file by a name that is not there": (
        {"router/api/x.c": '#include "base/nothing.h"\n'}, "router/api/x.c: base/nothing.h is not in the room that it names"),
    "an owner that has moved": ({"lib/base/json.c": "int x;\n"},
                                "the table: lib/base/json.c owns cjson/ and does not include it"),
    "two structs of one tag": ({"cli/x.c": "struct qn_buf {\n    int n;\n};\n"}, "qn_buf names 2 types: cli/x.c, lib/base/buf.h"),
}


def test_words_that_only_look_like_a_profile_pass(tmp_path):
    files = {"router/api/x.c": 'int a = QN_PROFILE_COUNT;\nconst char *b[] = {"phone_total", "phone-realtime", "auto"};\n'}
    assert check(tmp_path, {**SOUND, **PROFILES, **files}) == (0, "layers: 0 violations\n")


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found(tmp_path, fault):
    files, line = FAULTS[fault]
    status, output = check(tmp_path, {**SOUND, **files})
    assert status == 1
    assert any(found.startswith(line) for found in output.splitlines()), output


def test_the_table_has_an_order(tmp_path):
    status, output = check(tmp_path, SOUND, lambda script: script.replace('"base": ("lib/base", [])', '"base": ("lib/base", ["io"])'))
    assert status == 1
    assert "the table: base names io, which is not before it" in output


def test_the_picture_shows_the_arrows_of_the_includes(tmp_path):
    """Of three arrows, that from the router's `api` to `base` follows from the two others and is left out."""
    status, output = check(tmp_path, {
        **SOUND, "lib/io/loop.h": HEADER.replace("QN_BASE_BUF_H", "QN_IO_LOOP_H").replace("qn_buf", "qn_loop") +
        '#include "base/buf.h"\n', "router/api/models.c": '#include "io/loop.h"\n#include "base/buf.h"\n'})
    assert (status, output) == (0, "layers: 0 violations\n")
    page = (tmp_path / "docs" / "architecture.md").read_text()
    assert page.startswith("# House\n") and page.endswith("\nMore.\n")
    arrows = [line.strip() for line in page.splitlines() if "-->" in line and "arrows" not in line]
    assert arrows == ["api --> io", "models --> base", "io --> base"]


def test_a_picture_out_of_date_is_found(tmp_path):
    status, output = check(tmp_path, SOUND, draw=False)
    assert status == 1
    assert output.startswith("docs/architecture.md: the picture of the arrows is not that of the includes"), output


def test_no_arrow_of_this_tree_points_up():
    rooms = list(check_layers.ROOMS)
    assert all(rooms.index(room) > rooms.index(other) for room, other in check_layers.arrows())
