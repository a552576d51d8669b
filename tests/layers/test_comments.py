"""scripts/comments.py: which comments are drawn, and that a draw can be repeated."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import comments  # noqa: E402

TEXT = """/* What this file is for:
 * two lines of it. */
int a; /* short */
const char *s = "/* no comment at all, although it looks like one. */";
char quote = '"'; /* This comment stands behind a quotation mark in quotes. */
int b; /* a phrase about a member, without a verb or an end */
// The first line of two,
// and the second.
"""


def test_comments_of_several_lines_and_whole_sentences():
    assert list(comments.comments(TEXT)) == [
        (1, "What this file is for:\ntwo lines of it."),
        (5, "This comment stands behind a quotation mark in quotes."),
        (7, "The first line of two,\nand the second."),
    ]


def draw(*arguments):
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "comments.py"), *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout


def test_a_seed_draws_the_same_and_another_draws_others():
    status, first = draw("3", "7", "io")
    assert status == 0 and first.startswith("== io: 3 of ")
    assert first.count("\nlib/io/") == 3
    assert draw("3", "7", "io") == (0, first)
    assert draw("3", "8", "io")[1] != first
    assert first in draw("3", "7", "base", "io")[1]


def test_where_a_comment_is():
    _, drawn = draw("1", "3", "io")
    where, said = drawn.splitlines()[1:3]
    name, line = where.split(":")
    assert said.split()[0] in (ROOT / name).read_text().splitlines()[int(line) - 1]


def test_an_unknown_room_is_refused():
    assert draw("1", "1", "cellar")[0] == 2
