#!/usr/bin/python3
"""Writes backends/text/unicode_ranges.inc from the Unicode Character Database.

    scripts/unicode_classes.py /usr/share/unicode > backends/text/unicode_ranges.inc

Needs UnicodeData.txt and PropList.txt of Unicode 15.0 (Debian 12: unicode-data); what 15.1 added is
written down here. A range holds until the next one begins; the classes are those of
backends/text/unicode.h.
"""
import sys

CLASSES = {"Lu": "UPPER", "Ll": "LOWER", "Lt": "TITLE", "Lm": "MODIFIER", "Lo": "LETTER",
           "Mn": "MARK", "Mc": "MARK", "Me": "MARK", "Nd": "DIGIT", "Nl": "NUMBER", "No": "NUMBER"}
LIMIT = 0x110000
ADDED = [(0x2EBF0, 0x2EE5D, "LETTER"), (0x2FFC, 0x2FFF, "SYMBOL"), (0x31EF, 0x31EF, "SYMBOL")]


def main():
    folder = sys.argv[1]
    classes = ["OTHER"] * LIMIT
    first = None
    for line in open(f"{folder}/UnicodeData.txt", encoding="ascii"):
        field = line.split(";")
        point, name, category = int(field[0], 16), field[1], field[2]
        begin = first if name.endswith(", Last>") else point
        first = point if name.endswith(", First>") else None
        kind = CLASSES.get(category) or {"P": "PUNCT", "S": "SYMBOL"}.get(category[0], "OTHER")
        for p in range(begin, point + 1):
            classes[p] = kind
    for line in open(f"{folder}/PropList.txt", encoding="utf-8"):
        field = line.split("#")[0].split(";")
        if len(field) == 2 and field[1].strip() == "White_Space":
            ends = field[0].strip().split("..")
            for p in range(int(ends[0], 16), int(ends[-1], 16) + 1):
                classes[p] = "SPACE"
    for begin, end, kind in ADDED:
        classes[begin:end + 1] = [kind] * (end + 1 - begin)
    classes[ord("\n")] = classes[ord("\r")] = "NEWLINE"
    print("/* Made by scripts/unicode_classes.py from the Unicode Character Database; not edited. */")
    print("/* clang-format off */")
    row = ""
    for p in range(LIMIT):
        if p == 0 or classes[p] != classes[p - 1]:
            item = f"{{{p:#x},{classes[p]}}},"
            if len(row) + len(item) > 118:
                print(row)
                row = ""
            row += item
    print(row)
    print("/* clang-format on */")


main()
