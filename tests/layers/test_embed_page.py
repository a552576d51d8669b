"""scripts/embed_page.cmake: what the build makes of the page's files."""
import base64
import hashlib
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
INDEX = '<meta name="build" content="@BUILD@"><script type="importmap">{"a": "/ui/@BUILD@/a.js"}</script>\n'


@pytest.fixture
def page(tmp_path):
    """Embeds files, {path: text}; returns the C file's text, or what the script complains about."""
    def embed(files):
        source, out = tmp_path / "ui", tmp_path / "out"
        for path, text in {"index.html": INDEX, **files}.items():
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            (source / path).write_text(text)
        done = subprocess.run(["cmake", f"-DSOURCE={source}", f"-DOUT={out}", "-DGZIP=gzip", "-P",
                               ROOT / "scripts" / "embed_page.cmake"], capture_output=True, text=True)
        return (out / "page_files.c").read_text() if done.returncode == 0 else done.stderr
    return embed


def build_of(text):
    return re.search(r'qn_page_build\[.*\] = "([0-9a-f]{16})"', text)[1]


def test_every_change_of_a_file_is_another_build(page):
    builds = [build_of(page({"a.js": a, "lib/b.js": "1"})) for a in ("1", "2", "1")]
    assert builds[0] == builds[2] != builds[1]
    assert build_of(page({"lib/c.js": ""})) != builds[2]


def test_the_page_is_stamped_and_its_import_map_summed(page, tmp_path):
    text = page({"sw.js": "const BUILD = '@BUILD@'; [1; 2]\n", "a.js": "'@BUILD@'"})
    build, files = build_of(text), tmp_path / "out" / "files"
    assert (files / "index.html").read_text() == INDEX.replace("@BUILD@", build)
    assert (files / "sw.js").read_text() == f"const BUILD = '{build}'; [1; 2]\n"
    assert (files / "a.js").read_text() == "'@BUILD@'"  # only files of the root need to know the build
    checksum = base64.b64encode(hashlib.sha256(f'{{"a": "/ui/{build}/a.js"}}'.encode()).digest()).decode()
    assert f'qn_page_map_hash[QN_PAGE_HASH_MAX + 1] = "{checksum}"' in text


def test_what_cannot_be_served_stops_the_build(page):
    assert "ui/b.exe: the ending has no Content-Type" in page({"b.exe": ""})


def test_a_path_that_is_too_long_stops_the_build(page):
    assert "the path is longer than 79 bytes" in re.sub(r"\s+", " ", page({"x" * 77 + ".js": ""}))


def test_a_page_without_import_map_stops_the_build(page):
    assert 'ui/index.html has no <script type="importmap">' in re.sub(r"\s+", " ", page({"index.html": "<p>x</p>"}))


def test_what_belongs_to_the_source_alone_is_left_out(page):
    text = page({"vendor/LOCK": "{}", "package.json": "{}", ".hidden.js": "", "a.js~": "", "vendor/a.mjs": "1"})
    assert re.findall(r'^    \{"([^"]+)"', text, re.M) == ["index.html", "vendor/a.mjs"]


def test_all_that_the_start_imports_is_asked_for_at_once(page, tmp_path):
    files = {"index.html": INDEX + "@PRELOAD@\n", "a.js": "", "late.js": "", "lib/b.js": 'import "a";\nexport * from "../app.js";',
             "app.js": 'import { b } from "./lib/b.js";\nimport("./late.js");'}
    build = build_of(page(files))
    links = re.findall(r'<link rel="modulepreload" href="([^"]+)">\n', (tmp_path / "out" / "files" / "index.html").read_text())
    assert sorted(links) == [f"/ui/{build}/{path}" for path in ("a.js", "app.js", "lib/b.js")]
    assert 'index.html has no "c" in its import map' in re.sub(r"\s+", " ", page({**files, "a.js": 'import "c";'}))


def test_comments_are_left_out(page, tmp_path):
    code = ("/* The start,\n * of two lines. */\n/***/\nconst a = \"image/*\", b = '*/'; /* both */\n  /* inner */\n"
            "const c = `[/*x*/; ]`; /* of\n two lines */\nf(/* here */ 1); // a \\n line\n\n/* last */\n")
    page({"a.js": code, "a.css": "/* x */\na { b: c } /* y */\n", "vendor/a.js": "/* licence */\n"})
    files = tmp_path / "out" / "files"
    assert (files / "a.js").read_text() == ("const a = \"image/*\", b = '*/';\nconst c = `[/*x*/; ]`;\n"
                                            "f(/* here */ 1); // a \\n line\n\n")
    assert (files / "a.css").read_text() == "a { b: c }\n"
    assert (files / "vendor" / "a.js").read_text() == "/* licence */\n"
