"""What a text about quince names, against what the product has.

    python3 claims.py [BUILD]       check text/quince_facts.txt (BUILD: a build folder; default build)

Commands, options and settings come from the programs' own help, routes from the server's table of
them, paths from the manual. A text must not name one that is not there, nor deny what is there.
"""
import json
import os
import re
import subprocess
import sys

from text import known

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
PREFIXES = ("/api/v1", "/api/v0", "/v1", "/v0")  # qn_path_unversioned
DENIAL = re.compile(r"\b(cannot|can't|can not|not yet|no \w+ command|no command|no such|not in this version|"
                    r"not supported|does not support|unsupported|not possible|impossible|is missing)\b", re.I)
# Words that follow "quince" in sentences of the facts without being commands.
PROSE = frozenset("a also and answers command downloaded is itself on or own program repository server serves shows so started stays "
                  "that to the when".split())
# Other programs' command lines; they stand in docs/using.md.
FOREIGN = ("cmake --install build --prefix ~/.local", "systemctl --user enable --now quinced")
FREE_FILES = {"FILE.gguf"}


def run(program, *args):
    done = subprocess.run([program, *args], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def options_in(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


# What an answer holds that advises to delete models, files or programs.
DELETES = re.compile(r"quince (?:delete|rm|cleanup|backends uninstall)\b|/v1/delete\b|/api/delete\b|delete its programs", re.I)


def answer_errors(product, question, answer, right):
    """What is wrong with a model's answer beyond not being the expected one: what it denies or invents, any wrong
    answer to a question about deleting, and advice to delete where nothing of that kind was asked.
    question: a line of starter_questions.jsonl; right: whether the answer is an expected one."""
    out = product.errors(answer)
    if right or answer.startswith("I do not know"):
        return out
    if question.get("deletes"):
        out.append("a wrong answer about deleting")
    elif DELETES.search(answer):
        out.append("advice to delete that nobody asked for")
    return out


class Product:
    """The tables of one build: commands with their options and second words, settings, routes, words of the chat, paths."""

    def __init__(self, build):
        quince, quinced = (os.path.join(build, "bin", p) for p in ("quince", "quinced"))
        overview = run(quince, "help")
        table = overview.split("\n\n")[2] if overview.count("\n\n") > 2 else overview
        self.commands = re.findall(r"^  ([a-z]+) {2,}\S", table, re.M)
        self.synonyms = {a: b for a, b in re.findall(r"\b([a-z]+) is ([a-z]+)", overview) if b in self.commands}
        self.common = options_in(overview[overview.index("options for every command"):])
        self.help = {c: run(quince, "help", c) for c in self.commands}
        self.options = {c: options_in(t) for c, t in self.help.items()}
        self.seconds = {c: self.second_words(t.split("\n")[0]) for c, t in self.help.items()}
        self.all_seconds = set().union(*self.seconds.values())
        settings = run(quinced, "--help")
        self.settings = set(re.findall(r"^  (--[a-z][a-z-]*)", settings, re.M))
        with open(os.path.join(ROOT, "docs", "quince.1")) as f:
            manual = f.read().replace("\\-", "-").replace("\\fR", "").replace("\\fI", "").replace("\\fB", "")
        with open(os.path.join(ROOT, "docs", "using.md")) as f:
            self.using = f.read()
        said = "\n".join([overview, settings, manual, self.using, *self.help.values()])
        self.variables = set(re.findall(r"\b[A-Z][A-Z]*_[A-Z_]+\b", said))
        self.paths = {p.rstrip(".,;:)") for p in re.findall(r"~/[\w./-]+", said)}
        self.files = set(re.findall(r"\b[\w-]+\.(?:json|db|log|gguf)\b", said)) | FREE_FILES
        self.chat = set(re.findall(r"(?<!\S)/[a-z]+", self.help["run"]))
        self.ports = {0, *map(int, re.findall(r"\b(13305|11434)\b", settings))}
        self.routes = self.read_routes()
        with open(os.path.join(ROOT, "registry", "packs.json")) as f:
            packs = json.load(f)
        self.engines = {w for w in re.findall(r"[a-z-]+:[a-z-]+", json.dumps(packs)) if "//" not in w} | {"llamacpp:cpu"}

    @staticmethod
    def second_words(usage):
        """What the usage line offers behind the command itself: `keys [list | add NAME | remove NAME]`."""
        words = re.findall(r"(?:[\[|]|\w \b) *([a-z]{3,})(?= [A-Z\[|{]|[|\]]| \||$)", usage.replace("...", ""))
        head = usage.split()[2:3]
        return {w for w in words if w not in head}

    @staticmethod
    def read_routes():
        with open(os.path.join(ROOT, "router", "routes.c")) as f:
            rows = re.findall(r'\{"([A-Z]+)", "(/[^"]*)", QN_AT_(\w+),', f.read())
        out = set()
        for method, pattern, places in rows:
            if places in ("ROOT", "BOTH"):
                out.add((method, pattern))
            if places in ("PREFIXES", "BOTH"):
                out |= {(method, p + pattern) for p in PREFIXES}
        return out

    def route(self, method, path):
        return any(p == path and method in (None, m) for m, p in self.routes)

    # ------------------------------------------------------------------ texts
    def errors(self, text):
        """What the text names and the product lacks, as sentences; and what it denies."""
        out, said = [], text
        for phrase in FOREIGN:
            if phrase in self.using:
                said = said.replace(phrase, "")
        out += [f"denies: '{m.group(0)}'" for m in DENIAL.finditer(said)]
        out += self.commands_of(said)
        known_options = set().union(self.common, self.settings, *self.options.values())
        out += [f"no option {o}" for o in options_in(said) if o not in known_options]
        out += self.routes_of(said)
        out += [f"no variable {v}" for v in re.findall(r"\b[A-Z]+_[A-Z_]+\b", said) if v not in self.variables]
        out += [f"no path {p}" for p in (q.rstrip(".,;:)") for q in re.findall(r"~/[\w./-]+", said))
                if p not in self.paths]
        out += [f"no file {f}" for f in re.findall(r"\b[\w-]+\.(?:json|db|log|gguf)\b", said) if f not in self.files]
        out += [f"no port {n}" for n in re.findall(r"(?:localhost:|(?<!-)\bport )(\d+)", said, re.I) if int(n) not in self.ports]
        out += [f"no file {p}" for p in re.findall(r"\bscripts/[\w/.-]*\w", said) if not os.path.exists(os.path.join(ROOT, p))]
        out += [f"no engine {e}" for e in re.findall(r"\b(?:llamacpp|whispercpp|sd-cpp|kokoro):[a-z-]+", said)
                if e not in self.engines]
        return out

    def commands_of(self, said):
        """`quince WORD`: is there such a command, has it this second word and these options?"""
        out = []
        for m in re.finditer(r"(?<![\w/.-])quince ((?:--[a-z-]+ (?:[A-Z]+ )?)*)([a-z]+)(?: ([a-z]+)\b)?([^.;,()]*)", said):
            word, second = self.synonyms.get(m.group(2), m.group(2)), m.group(3)
            if word in PROSE and word not in self.commands:
                continue
            if word not in self.commands:
                out.append(f"no command quince {m.group(2)}")
                continue
            if second in self.all_seconds and second not in self.seconds[word] and self.seconds[word]:
                out.append(f"no command quince {m.group(2)} {second}")
            mine = self.options[word] | self.common | (self.settings if word == "serve" else set())
            clause = re.split(r" (?:and|or|to) (?=quince )", m.group(4))[0]
            out += [f"quince {word} has no option {o}" for o in options_in(clause) if o not in mine]
        return out

    def routes_of(self, said):
        out = []
        said = re.sub(r"https?://(?!localhost|127\.0\.0\.1)\S+", "", said)
        said = re.sub(r"http://(?:localhost|127\.0\.0\.1):\d+", "", said)
        for m in re.finditer(r"(?:\b(GET|POST|PUT|PATCH|DELETE) )?(?<![\w~./-])(/[a-z0-9][\w/{}-]*)", said):
            method, path = m.groups()
            if method is None and (path in self.chat or path in PREFIXES):
                continue
            if not self.route(method, path):
                out.append(f"no route {method + ' ' if method else ''}{path}")
        return out

    def shown(self, how):
        """Errors of one `shows`: a command, a request or a file of the repository."""
        if re.match(r"quinced? ", how):
            return [] if how == "quinced --help" else self.errors(how)
        if re.match(r"[A-Z]+ /", how):
            return self.errors(how)
        return [] if os.path.exists(os.path.join(ROOT, how)) else [f"neither a command nor a request nor a file: {how}"]

    def facts_errors(self, facts):
        """All that is wrong with the facts, one sentence each."""
        out = []
        for name, fact in facts.items():
            out += [f"[{name}] say: {e}" for e in self.errors(fact["say"])]
            out += [f"[{name}] shows: {e}" for how in fact["shows"] for e in self.shown(how)]
            out += [f"[{name}] keys: the answer does not hold '{k}'" for k in fact["keys"]
                    if k.lower() not in fact["say"].lower()]
        said = "\n".join(f["say"] for f in facts.values())
        out += [f"no fact mentions quince {c}" for c in [*self.commands, *self.synonyms]
                if not re.search(rf"\bquince {c}\b", said)]
        return out


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build")
    if not os.path.exists(os.path.join(build, "bin", "quince")):
        sys.exit(f"claims.py: no {build}/bin/quince: build first, or name the build folder")
    facts = known.read()
    wrong = Product(build).facts_errors(facts)
    print("\n".join(wrong) if wrong else f"{len(facts)} facts agree with the product")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
