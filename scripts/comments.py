#!/usr/bin/env python3
"""Draws comments at random, for a reading without the code around them.

  scripts/dev comments COUNT SEED [ROOM...]

COUNT comments of each room (all rooms if none is named): those of more than one line, or of whole sentences. Each is
printed with its file and line. The same seed draws the same comments from the same tree.
"""
import argparse
import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check_layers  # noqa: E402

# A string or character literal is taken first, so that a comment's marks within one begin nothing.
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|(?://[^\n]*\n?[ \t]*)+', re.S)
WORDS_OF_A_SENTENCE = 6


def plain(comment):
    """A comment's text without its marks, one line of text a line."""
    lines = [re.sub(r"^\s*(?:/\*+|\*(?!/)|//+)?\s?", "", line) for line in comment.strip().splitlines()]
    return "\n".join(line.rstrip() for line in lines).removesuffix("*/").strip()


def comments(text):
    """(line, text) of each comment of more than one line or of whole sentences."""
    for found in TOKEN.finditer(text):
        if found.group()[0] != "/":
            continue
        said = plain(found.group())
        sentence = said[:1].isupper() and said.endswith(".") and len(said.split()) >= WORDS_OF_A_SENTENCE
        if "\n" in said or sentence:
            yield text.count("\n", 0, found.start()) + 1, said


def by_room():
    rooms = {room: [] for room in check_layers.ROOMS}
    for path, name, room in check_layers.files_of((".c", ".h", ".inc")):
        if room:
            rooms[room] += [(name, line, said) for line, said in comments(path.read_text())]
    return rooms


def main():
    parser = argparse.ArgumentParser(prog="scripts/dev comments", description="Draws comments at random.")
    parser.add_argument("count", type=int, help="comments of each room")
    parser.add_argument("seed", type=int, help="the same seed draws the same comments")
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help="only these rooms")
    args = parser.parse_args()
    rooms = by_room()
    for room in args.rooms:
        if room not in rooms:
            parser.error(f"there is no room {room}; there are: {' '.join(rooms)}")
    for room in args.rooms or rooms:
        # A generator of its own: a comment that is added to one room changes no other room's draw.
        drawn = random.Random(f"{args.seed} {room}").sample(rooms[room], min(args.count, len(rooms[room])))
        print(f"== {room}: {len(drawn)} of {len(rooms[room])}")
        for name, line, said in sorted(drawn):
            print(f"{name}:{line}")
            print("    " + said.replace("\n", "\n    ") + "\n")


if __name__ == "__main__":
    main()
