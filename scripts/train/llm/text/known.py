"""Reads quince_facts.txt, see there for its form."""
import os

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "quince_facts.txt")
FIELDS = ("say", "keys", "shows", "yes")


def read(path=PATH):
    """{name: {"say": text, "keys": [text], "shows": [text], "yes": text}}"""
    facts, name = {}, None
    with open(path) as f:
        for n, line in enumerate(f, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            if line.startswith("[") and line.endswith("]"):
                name = line[1:-1]
                if name in facts:
                    raise ValueError(f"{path}:{n}: [{name}] stands there twice")
                facts[name] = {"yes": ""}
                continue
            field, colon, text = line.partition(": ")
            if name is None or not colon or field not in FIELDS:
                raise ValueError(f"{path}:{n}: neither [name] nor one of {', '.join(FIELDS)}")
            facts[name][field] = text.split(" | ") if field in ("keys", "shows") else text
    for name, fact in facts.items():
        missing = [k for k in FIELDS if k not in fact]
        if missing:
            raise ValueError(f"{path}: [{name}] lacks {', '.join(missing)}")
        if fact["yes"]:
            fact["yes"] += " "
    return facts
