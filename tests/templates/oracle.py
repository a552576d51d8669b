"""Both interpreters behind one interface: ours, as the program template_render, and Python's jinja2, set up
as Transformers sets it up for chat templates. Two things differ, because templates of models need them: lists and
dictionaries may be changed (Kimi K2 Thinking appends to one), and tojson takes generators (llama.cpp's DeepSeek R1)."""
import datetime
import json
import os
import pathlib
import re
import subprocess
import types

import jinja2
import jinja2.ext
import jinja2.sandbox

BUILD = pathlib.Path(os.environ.get("QUINCE_TEST_BUILD", "build"))
PROGRAM = BUILD / "tests" / "template_render"


class Raised(Exception):
    """raise_exception of a template."""


class Generation(jinja2.ext.Extension):
    """{% generation %}: renders what it holds."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_render"), [], [], body).set_lineno(line)

    def _render(self, caller):
        return caller()


def environment():
    env = jinja2.sandbox.SandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])

    def raise_exception(message):
        raise Raised(str(message))

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys,
                          default=generated)

    def generated(value):
        if isinstance(value, (types.GeneratorType, type(reversed([])))):
            return list(value)
        raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda form: datetime.datetime(1970, 1, 1).strftime(form)
    return env


ENV = environment()
COMPILED = {}


def render_reference(source, variables):
    """{"text"}, or {"error", "raised"}."""
    try:
        if source not in COMPILED:
            if len(COMPILED) > 200:
                COMPILED.clear()
            COMPILED[source] = ENV.from_string(source)
        text = COMPILED[source].render(**json.loads(json.dumps(variables)))
        return {"text": text.encode("utf-8", "replace").decode()}
    except Raised as error:
        return {"error": str(error), "raised": True}
    except Exception as error:  # whatever Python says: it is an error
        return {"error": f"{type(error).__name__}: {error}", "raised": False}


def render_ours(requests):
    """Renders all of them, [(source, variables)], in one run of the program."""
    lines = "".join(json.dumps({"template": s, "vars": v, "wall_ms": 0}) + "\n" for s, v in requests)
    done = subprocess.run([PROGRAM], input=lines.encode(), stdout=subprocess.PIPE, check=True,
                          env={**os.environ, "TZ": "UTC"})
    return [json.loads(line) for line in done.stdout.splitlines()]


ADDRESS = re.compile(r"( |%20)at( |%20)0x[0-9a-f]+", re.IGNORECASE)  # through upper, urlencode, too


def difference(reference, ours):
    """None, or what differs. Errors are errors on both sides; raised texts are the same."""
    if ("error" in reference) != ("error" in ours):
        return f"jinja2: {reference!r}\nours:   {ours!r}"
    if "error" in reference:
        raised = ours["code"] == "invalid"
        if reference["raised"] != raised or (raised and reference["error"] != ours["error"]):
            return f"jinja2: {reference!r}\nours:   {ours!r}"
        return None
    if reference["text"] == ours["text"] or ADDRESS.search(reference["text"]):
        return None
    return f"jinja2: {reference['text']!r}\nours:   {ours['text']!r}"


def compare(requests):
    """Yields (number, source, variables, difference) of those that differ."""
    for i, ((source, variables), ours) in enumerate(zip(requests, render_ours(requests))):
        found = difference(render_reference(source, variables), ours)
        if found:
            yield i, source, variables, found
