"""Conversations to train on, sampled fresh for ever, and the held-out questions.

    python3 generate.py sample [N]        print conversations, to read
    python3 generate.py heldout OUT       write the held-out set (once: it is then fixed)
    python3 generate.py lint              questions that two intents claim
"""
import argparse
import collections
import itertools
import json
import os
import random
import re
import sys

from text import commands, facts, more, numbers, phrases, quince, talk, tasks, unknown, wide  # noqa: F401
from text.grammar import ABOUT, COMMAND, HOW, LEXICON, MAY, expand, held_out, norm

HERE = os.path.dirname(os.path.abspath(__file__))
HELDOUT = os.path.join(HERE, "eval", "heldout.jsonl")
# The finished model is asked these over HTTP: no training asks them.
QUESTIONS = os.path.join(HERE, "..", "..", "..", "tests", "http", "starter_questions.jsonl")
SHARES = dict(quince=46, talk=10, arithmetic=15, facts=11, tasks=10, unknown=8)
# A wrong answer about deleting can cost files, so these are asked about more often than their patterns are many. Not by
# much: what is asked far too often becomes the answer to whatever was not understood.
OFTEN = {"delete": 2, "delete_starter": 1.5, "delete_yes": 1.2, "cleanup": 1.5, "unload_keep": 1.5, "uninstall": 1.5}

# Words that may stand for each other wherever they turn up, and those that may do so only
# in a question about quince.
_table = lambda d: {k: v.split("|") for k, v in d.items()}
SYNONYMS = _table({
    "what is": "what's|whats|what is", "how do i": "how can i|how do you|how would i|how to", "do not": "don't|dont",
    "i am": "i'm|im", "you are": "you're|u are", "can i": "could i|may i|am i able to", "which": "what",
    "tell me": "say|let me know|tell us", "show me": "let me see", "the": "the||my", "explain": "describe|clarify",
    "i have": "i've got|i got|we have", "can you": "could you|would you|can you please", "cannot": "can't|can not|cant",
    "i want": "i'd like|i need|i wish", "how many": "what number of", "another": "a different|some other", "big": "large",
    "bigger": "larger", "quickly": "fast", "it is": "it's", "that is": "that's", "does not": "doesn't|doesnt",
    "where is": "where's|where do i find", "what are": "what're|which are", "you": "u", "please": "pls|kindly",
    "should i": "shall i|must i", "because": "since", "find out": "learn|discover"})
QUINCE_SYNONYMS = _table({
    "does quince": "does it|does the server|can quince", "quince": "the server|quince server|it", "a": "the||one|any|some",
    "download": "get|fetch|grab|pull", "computer": "machine|pc|laptop", "is there": "do you have|is there any|does quince have",
    "model": "llm|ai model|language model|models", "models": "llms|model|ai models", "command": "instruction|cmd|quince command",
    "are there": "exist|do exist", "terminal": "console|shell|command line", "memory": "ram", "folder": "directory",
    "directory": "folder", "start": "launch|run|boot", "stop": "quit|end|halt", "see": "view|look at|check", "use": "work with|try",
    "file": "files", "need": "require", "change": "set|alter|switch", "answer": "reply|response", "answers": "replies|responses",
    "server": "service|daemon|quince server", "error": "problem|failure", "is it": "is quince", "does it": "does quince|will it",
    "my": "the|our", "data": "files", "program": "software|app|tool", "request": "call|query", "works": "runs|operates",
    "work": "run|function", "app": "client|program|tool", "delete": "remove|erase|drop", "remove": "delete|erase",
    "import": "add|register", "add": "import|install", "show": "display|list", 
    "set": "change|choose", "supported": "possible|available", "slow": "sluggish", "internet": "network|web|net",
    "i": "we|one", "chat": "talk|speak", "conversation": "chat", "option": "flag|switch|parameter",
    "port": "port number", "address": "url", "url": "address|link", "picture": "image|photo"})
# After the word quince these are commands, not English.
VERBS = ("serve|stop|status|ps|stats|top|list|ls|show|search|pull|downloads|delete|rm|import|remote|export|alias|cleanup|backends|config|keys|"
         "load|unload|pin|unpin|run|chat|logs|completion|version|help|remove|quit")
PREFIX = ("um, |uh, |hello! |hi, |hey quince, |hey, |sorry, |one thing: |i was wondering, |just curious, |by the way, |yo, |"
          "also, |thanks. |and |so |ok, |please, |quick question: |question: |well, |hello, |good morning, |dear quince, |"
          "oh, |right, |but |i have a question: |hi there, |now |excuse me, |listen, |say, |tell me, |i wonder, ").split("|")
SUFFIX = (" please| now| again| actually| here| for me| right now| today| on my machine| with quince| then| in quince|"
          " on this computer| on linux| exactly| thanks|, thank you| by the way| quickly| at all| on my pc|, i wonder|"
          ", please help|, can you help| in the terminal| on debian").split("|")
TALK_PREFIX = ("hey, |hi, |hello, |quince, |hey quince, |oh, |well, |so, |and |haha, |ha, |um, |hm, |listen, |you know, |by the way, |"
               "to be honest, |honestly, |dear quince, |my friend, |now |oh well, |sorry, |look, |little model, |i mean, |just ").split("|")
TALK_SUFFIX = (", quince| quince|, my friend| today| now|, haha| :)| ;)| :-)|, really|, you know|, little model|, buddy|, mate| again|"
               " then|, to be honest|, my dear|, computer| tonight|, friend| lol|...").split("|")
SMALL_WORDS = set("the a an my our is are do does i to of please there me be it's what's".split())
# A sentence of circumstances before or after the question: the question decides, not these.
BEFORE = """I just installed quince. |I use Debian 12. |I am a beginner. |I am new to this. |My friend told me about this. |I have read the manual.
I have a question about quince. |I'm on a laptop. |My question is this: |Sorry if this is a stupid question. |I am a bit lost. |I could not find it.
I looked everywhere. |I am not good with computers. |I have been using quince for a week. |I am in a hurry. |I have a small problem. |This may be simple.
I forgot something. |There is one thing I do not understand. |I need some help. |I am curious. |Hello, I need help. |I tried a lot already.
I am setting up my new laptop. |I want to try something. |I am writing a small program. |My colleague asked me this: |One more thing. |Okay, next question.
I only have a terminal open. |Everything is set up. |The server is running. |I have a fresh installation. |I like quince so far. |Before I begin: |I have never used a server before. |My boss wants to know. |I tried the help text. |My old tool could do this.
I found quince on the web. |It is my first day with quince. |I have two models here. |I read about quince today. |I come from Ollama. |My terminal is open.
I have 16 GB of RAM. |I do not want to break anything. |I am explaining quince to my students. |I want to be sure. |Correct me if I am wrong. |Real quick. """
BEFORE = [p.strip() + " " for p in BEFORE.replace("\n", "|").split("|")]
AFTER = """Thanks in advance.|I could not find it.|I looked everywhere.|Please be brief.|In one sentence please.|I am in a hurry.|I am new here.
Any idea?|Any hints?|Do you know?|Can you help?|Thank you.|Please explain.|Just curious.|That would help me a lot.|I forgot.|A short answer is enough.
I am a beginner.|I use Debian.|It is urgent.|I could not find it in the manual.|Nothing else, just that.|I would be grateful.|Sorry for asking.|No hurry."""
AFTER = AFTER.replace("\n", "|").split("|")
SYSTEM = """You are a helpful assistant.
You are a helpful assistant
You are quince-starter, a tiny model.
You are quince-starter.
You are a friendly assistant.
Answer briefly.
Be concise.
You answer questions about quince.
You are an AI assistant running on the user's computer.
Answer in one sentence.
You are a chatbot.
Be polite and short.
Help the user.
You are a useful AI model.
Please answer the user's questions.
You are a local assistant. Do not make things up.
Keep your answers short.""".split("\n")
AGAIN = """say that again|repeat that|can you repeat that|please repeat that|again please|once more|repeat your answer|what did you say
say it again|come again|one more time|could you say that again|i did not hear that, repeat it|repeat please|please say that again|again""".replace(
    "\n", "|").split("|")
AND_X = """and {x}|and of {x}|what about {x}|and for {x}|how about {x}|{x}|and {x}?|now {x}|and what about {x}|the same for {x}|same question for {x}
what is it for {x}|and with {x}|then {x}|do the same for {x}|and how about {x}|next: {x}|tell me for {x} too|also {x}""".replace("\n", "|").split("|")
AND_OP = {"+": "plus {n}|add {n}|and plus {n}|now add {n}|add {n} to that|{n} more|+ {n}|and {n} more".split("|"),
          "-": "minus {n}|subtract {n}|and minus {n}|now subtract {n}|take away {n}|- {n}|now take {n} away|less {n}".split("|"),
          "*": "times {n}|multiply that by {n}|and times {n}|now multiply by {n}|* {n}".split("|")}
AND_SUM = "and {e}|what about {e}|and what is {e}|now {e}|how about {e}|then {e}|{e}".split("|")
# The wider wording of second turns, less what reads like a held-out one.
for _name, _old, _new in [("and", AND_X, wide.AND_X), ("again", AGAIN, wide.AGAIN), ("sum", AND_SUM, wide.AND_SUM)] + [
        ("op", AND_OP[o], wide.AND_OP[o]) for o in AND_OP]:
    _shapes = wide.Shapes()
    _shapes.close(_name, _old)
    _old += [p for p in wide.fresh(_shapes, _new) if not held_out(_name, p)]


MASS = set("""grass milk snow salt flour coal night blood wood ash corn coffee chocolate lavender gold silver sugar
broccoli lettuce""".split())
THE = {"sky", "sea", "sun"}


def article(word):
    if word in MASS:
        return word
    if word in THE:
        return "the " + word
    return ("an " if word[0].lower() in "aeiou" else "a ") + word


def fill(row):
    """A fact row with its grammar: article, plural, capital letter, first word."""
    out = dict(row)
    out["ax"], out["ay"], out["w"] = article(row["x"]), article(row["y"]), row["x"].split()[0]
    out["Ax"] = out["ax"][:1].upper() + out["ax"][1:]
    out["X"] = out["Ax"]
    return out


def render(text, row):
    """An answer: slots only, no choices."""
    s = re.sub(r"\{(\w+)\}", lambda m: str(row[m.group(1)]), text)
    return s[:1].upper() + s[1:]


def variants(pattern, limit=80):
    """The readings of a pattern without slots, at most `limit`."""
    if re.search(r"\{(?!(?:%s)\})" % "|".join(LEXICON), pattern):
        return []
    p = re.sub(r"\{(\w+)\}", lambda m: "[" + "|".join(sorted(set(LEXICON[m.group(1)]))) + "]", pattern)
    parts = [x.split("|") if i % 2 else [x] for i, x in enumerate(re.split(r"\[([^\[\]]*)\]", p))]
    return [norm("".join(c)) for c in itertools.islice(itertools.product(*parts), limit)]


class Generator:
    def __init__(self, seed, test=False, focus=()):
        """focus: names of facts that are asked about more often."""
        self.rng = random.Random(seed)
        self.test = test
        self.banned = set()
        if not test:
            with open(HELDOUT) as f:
                self.banned = {norm(json.loads(s)["turns"][-1]["content"]) for s in f}
            with open(QUESTIONS) as f:
                self.banned |= {norm(json.loads(s)["q"]) for s in f}
        self.owner, self.clashes = {}, []
        for it in quince.INTENTS + talk.INTENTS:
            self.claim(it["name"], [p for k in ("q", "yn") for p in it.get(k, [])])
        for table in (more.MORE, more.TALK_MORE):
            for name, patterns in table.items():
                self.claim(name, [p for p in patterns if not p.startswith("> ")])
        for i, it in enumerate(facts.ONEOFF):
            self.claim(f"fact {it['answer']}", it["q"])
        w = [min(sum(len(it[k]) for k in ("do", "np", "q", "yn")) + len(more.MORE.get(it["name"], [])) // 2, 60) ** 0.5
             * OFTEN.get(it["name"], 1) * (1.4 if it["name"] in focus else 1) for it in quince.INTENTS]
        self.quince_weights = list(itertools.accumulate(w))
        self.talk_weights = list(itertools.accumulate(len(it["q"]) ** 0.6 for it in talk.INTENTS))
        r = [len(x["rows"]) ** 0.5 for x in facts.RELATIONS]
        self.relation_weights = list(itertools.accumulate(r))
        self.pools, self.shapes = {}, {}

    def claim(self, name, patterns):
        """The first intent to ask a question owns it: one question, one answer."""
        for p in patterns:
            for v in variants(p):
                if self.owner.setdefault(v, name) != name:
                    self.clashes.append((v, self.owner[v], name))

    def pool(self, name, kind, patterns):
        key = (name, kind)
        if key not in self.pools:
            self.pools[key] = [p for p in patterns if held_out(name + kind, p) == self.test]
        return self.pools[key]

    # Each of these returns (category, intent, question, answer, keys) or None.
    def quince(self, it=None, kind=None, pattern=None):
        r = self.rng
        it = it or r.choices(quince.INTENTS, cum_weights=self.quince_weights)[0]
        pools = {k: self.pool(it["name"], k, it[k]) for k in ("do", "np", "q", "yn")}
        if not self.test:
            pools["more"] = more.MORE.get(it["name"], [])
        kinds = [k for k in pools if pools[k]]
        if not kinds:
            return None
        if kind is None:
            kind = r.choices(kinds, [len(pools[k]) * (1.6 if k in ("do", "np") else 1) for k in kinds])[0]
        p = expand(pattern or r.choice(pools[kind]), r)
        yes = ""
        if p.startswith("> "):
            kind, p = "do", p[2:]
        if kind == "do":
            frame = r.random()
            if frame < .64:
                q = r.choice(HOW)
            elif frame < .8 and it["cmd"]:
                q = r.choice(COMMAND)
            else:
                q, yes = r.choice(MAY), it["yes"]
            q = expand(q, r).replace("{v}", p) if "{v}" not in q else expand(q.replace("{v}", p), r)
        elif kind == "np":
            q = expand(r.choice(ABOUT).replace("{n}", p), r)
        else:
            q, yes = p, it["yes"] if kind == "yn" else ""
        if self.owner.get(norm(q), it["name"]) != it["name"]:
            return None
        return "quince", it["name"], q, yes + it["answer"], it["keys"]

    def talk(self, it=None, pattern=None):
        r = self.rng
        it = it or r.choices(talk.INTENTS, cum_weights=self.talk_weights)[0]
        pool = self.pool(it["name"], "", it["q"])
        if not self.test:
            pool = pool + more.TALK_MORE.get(it["name"], [])
        if not pool:
            return None
        q = expand(pattern or r.choice(pool), r)
        if self.owner.get(norm(q), it["name"]) != it["name"]:
            return None
        return "talk", it["name"], q, it["answer"], it["keys"]

    def relation(self, rel=None, row=None, pattern=None):
        r = self.rng
        rel = rel or r.choices(facts.RELATIONS, cum_weights=self.relation_weights)[0]
        pool = self.pool(rel["name"], "", rel["q"])
        if not pool:
            return None
        row = fill(row or r.choice(rel["rows"]))
        if pattern is None and not self.test and rel["name"] in wide.FACTS and r.random() < .5:
            pattern = self.wide_fact(rel, row)
            if pattern is None:
                return None
        q = expand(pattern or r.choice(pool), r, row)
        return "facts", rel["name"], q, render(rel["answer"], row), [render(rel["key"], row).lower()]

    def wide_fact(self, rel, row):
        """A pattern of the wider wording, or None if its reading is held out."""
        if rel["name"] not in self.shapes:
            self.shapes[rel["name"]] = wide.Shapes()
            self.shapes[rel["name"]].close(rel["name"], rel["q"])
        nouns, asks = wide.FACTS[rel["name"]]
        i = self.rng.randrange(3 * len(nouns) + len(asks))
        if i < len(asks):
            p = asks[i]
        else:
            p = self.rng.choice(wide.NP_FRAMES).replace("{n}", nouns[(i - len(asks)) // 3])
        p = wide.shape(p, self.rng, row)
        return p if self.shapes[rel["name"]].open(p) else None

    def fact(self, it=None, pattern=None):
        r = self.rng
        it = it or r.choice(facts.ONEOFF)
        name = "fact " + it["answer"]
        qs, nps = self.pool(name, "q", it["q"]), self.pool(name, "np", it["np"])
        if pattern is None:
            if not qs and not nps:
                return None
            if nps and (not qs or r.random() < .5):
                n = expand(r.choice(nps), r)
                if not n.startswith(("a ", "the ")) and r.random() < .6:
                    n = "the " + n if r.random() < .8 else article(n)
                pattern = r.choice(ABOUT).replace("{n}", n)
            else:
                pattern = r.choice(qs)
        q = expand(pattern, r)
        if self.owner.get(norm(q), name) != name:
            return None
        return "facts", name, q, it["answer"], [it["key"]]

    def arithmetic(self, op=None):
        got = numbers.sample(self.rng, self.test, op)
        return got and ("arithmetic",) + got

    def tasks(self):
        got = tasks.sample(self.rng, self.test)
        if not got or norm(got[1]) in self.owner:
            return None
        return ("tasks",) + got

    def unknown(self):
        got = unknown.sample(self.rng, self.test)
        if not got or norm(got[1]) in self.owner:
            return None
        return "unknown", got[0], got[1], unknown.ANSWER, [unknown.KEY]

    def draw(self, cat=None):
        """One allowed item of a category."""
        while True:
            c = cat or self.rng.choices(list(SHARES), list(SHARES.values()))[0]
            if c == "facts":
                got = self.relation() if self.rng.random() < .68 else self.fact()
            else:
                got = getattr(self, c)()
            if got and norm(got[2]) not in self.banned:
                return got

    # ---------------------------------------------------------------- surface
    def reword(self, cat, name, q):
        """Swap words for others that mean the same here. Fixed names keep their words: the
        table works on whole words beside blanks, and what is typed literally is skipped."""
        r = self.rng
        table = dict(SYNONYMS, **QUINCE_SYNONYMS) if cat == "quince" else SYNONYMS
        for k in r.sample(list(table), len(table)):
            if k in q and r.random() < .14:
                q = re.sub(rf"(?<![\w/.-])(?<!quince ){re.escape(k)}(?![\w/.-])(?! (?:{VERBS})\b)", r.choice(table[k]), q, count=1)
        return re.sub(r"\s+", " ", q).strip()

    def typo(self, q):
        r = self.rng
        for _ in range(1 if r.random() < .8 else 2):
            i = r.randrange(max(1, len(q) - 1))
            if not q[i:i + 1].isalpha():
                continue
            k = r.random()
            if k < .35:
                q = q[:i] + q[i + 1:]
            elif k < .65:
                q = q[:i] + q[i + 1:i + 2] + q[i] + q[i + 2:]
            elif k < .85:
                q = q[:i] + q[i] + q[i:]
            else:
                q = q[:i] + r.choice("abcdefghijklmnoprstuwy") + q[i + 1:]
        return q

    def terse(self, name, q):
        """As people type into a search box: small words go. The question may not become
        one that something else answers."""
        short = " ".join(w for w in q.split() if w not in SMALL_WORDS or self.rng.random() < .2)
        return short if short.count(" ") and self.owner.get(norm(short), name) == name else q

    def dress(self, cat, name, q):
        """What people do to a sentence when they type it; None if it became a test question.
        The check comes before prefix and suffix, which could otherwise hide one."""
        r, plain = self.rng, cat in ("arithmetic", "tasks")
        if not plain:
            if r.random() < .55:
                q = self.reword(cat, name, q)
            if cat != "talk" and r.random() < .08:
                q = self.terse(name, q)
            if norm(q) in self.banned:
                return None
            before, after = (TALK_PREFIX, TALK_SUFFIX) if cat == "talk" else (PREFIX, SUFFIX)
            if r.random() < .2:
                q = r.choice(before) + q
            if r.random() < .16:
                q = q + r.choice(after)
            if r.random() < .06:
                q = self.typo(q)
        elif cat == "arithmetic" and r.random() < .12:
            q = r.choice(PREFIX) + q
        if norm(q) in self.banned:
            return None
        around = r.random() if cat in ("quince", "facts", "unknown") else 1
        k = r.random()
        if k < .5:
            q = q[:1].upper() + q[1:]
            q = re.sub(r"\bi\b", "I", q)
            if r.random() < .3:
                q = q.replace("quince ", "Quince ") if " quince " in q and "`" not in q else q
        elif k < .53 and cat in ("quince", "talk", "unknown"):
            q = q.upper()
        elif k < .75 and not plain:
            q = q.lower()
        elif cat == "facts":
            pass
        if q[-1:] not in "?!.=":
            k = r.random()
            asks = re.match(r"(?i)(\W*\w+\W+){0,4}?(what|who|where|when|why|how|which|is|are|do|does|can|could|may|will)\b", q)
            if asks:
                q += "?" if k < .6 else " ?" if k < .62 else "??" if k < .63 else ""
            else:
                q += "." if k < .12 else "!" if k < .2 and cat == "talk" else "?" if k < .3 else ""
        if around < .09:
            q = r.choice(BEFORE) + q
        elif around < .12:
            q = q + (" " if q[-1] in "?!." else ". ") + r.choice(AFTER)
        return q

    def turn(self, cat=None):
        while True:
            c, name, q, a, _ = self.draw(cat)
            q = self.dress(c, name, q)
            if q:
                return [("user", q), ("assistant", a)]

    # ---------------------------------------------------------------- several turns
    def follow_up(self):
        """A first turn and one that leans on it. Returns (category name, turns, keys)."""
        r, k = self.rng, self.rng.random()
        trained = Generator.pool
        if k < .45:
            rel = r.choices(facts.RELATIONS, cum_weights=self.relation_weights)[0]
            one, two = (fill(x) for x in r.sample(rel["rows"], 2))
            pats = [p for p in rel["q"] if not held_out(rel["name"], p)]
            q1 = expand(r.choice(pats), r, one)
            ask = [p for p in AND_X if held_out("and", p) == self.test]
            q2 = r.choice(ask).replace("{x}", two["ax"] if rel["name"] in ("colour", "kind") else two["x"])
            turns = [(q1, render(rel["answer"], one)), (q2, render(rel["answer"], two))]
            if not self.test and r.random() < .3:
                three = fill(r.choice(rel["rows"]))
                turns.append((r.choice(ask).replace("{x}", three["x"]), render(rel["answer"], three)))
            return "facts", turns, [render(rel["key"], two).lower()]
        if k < .65:
            cat, _, q, a, _ = self.draw() if not self.test else self.trained.draw(r.choice(["quince", "facts", "talk"]))
            ask = [p for p in AGAIN if held_out("again", p) == self.test]
            return cat, [(q, a), (r.choice(ask), a)], [a.lower()]
        op = r.choice("+-*") if not self.test else r.choice("+-")
        a, b = numbers.operands(op, r)
        if k < .85:
            e = r.choice(numbers.FORMS[op][:3]).replace("{a}", str(a)).replace("{b}", str(b))
            q1 = r.choice([p for p in numbers.ASK if not held_out("ask", p)]).replace("{e}", e)
            total = numbers.result(op, a, b)
            op2 = r.choice("+-" if abs(total) > 12 or total < 0 else "+-*")
            n = r.randint(1, 12)
            ask = [p for p in AND_OP[op2] if held_out("op", p) == self.test]
            if not ask:
                return self.follow_up()
            s = numbers.solve(op2, total, n) + "."
            return "arithmetic", [(q1, numbers.solve(op, a, b) + "."), (r.choice(ask).replace("{n}", str(n)), s)], [s]
        e1 = f"{a} {op} {b}"
        op2 = r.choice("+-*")
        c, d = numbers.operands(op2, r)
        ask = [p for p in AND_SUM if held_out("sum", p) == self.test]
        if not ask:
            return self.follow_up()
        s = numbers.solve(op2, c, d) + "."
        return "arithmetic", [("what is " + e1, numbers.solve(op, a, b) + "."),
                              (r.choice(ask).replace("{e}", f"{c} {op2} {d}"), s)], [s]

    def conversation(self):
        """[(role, text)]: mostly one question; sometimes more; sometimes a long history, so
        that late positions are trained too."""
        r, out = self.rng, []
        if r.random() < .16:
            out.append(("system", r.choice(SYSTEM)))
        k = r.random()
        if k < .17:
            if r.random() < .3:
                out += self.turn()
            cat, turns, _ = self.follow_up()
            if any(norm(q) in self.banned for q, _ in turns[:1]):
                return self.conversation()
            for q, a in turns:
                if r.random() < .5:
                    q = q[:1].upper() + q[1:]
                if r.random() < .5 and q[-1:] not in "?=.":
                    q += "?"
                out += [("user", q), ("assistant", a)]
            return out
        n = 1 if k < .82 else r.randint(2, 3) if k < .965 else r.randint(4, 12)
        for _ in range(n):
            out += self.turn()
        return out


def heldout_items(seed=20):
    """At least one question per held-out pattern, with key phrases to look for."""
    g = Generator(seed, test=True)
    r, items, seen = g.rng, [], set()
    g.trained = Generator.__new__(Generator)
    g.trained.__dict__ = dict(g.__dict__, test=False, pools={})

    def put(cat, intent, turns, keys):
        q = turns[-1][0]
        if r.random() < .5:
            q = re.sub(r"\bi\b", "I", q[:1].upper() + q[1:])
        if q[-1] not in "?!.=" and r.random() < .6:
            q += "?"
        if norm(q) in seen and len(turns) == 1:
            return
        seen.add(norm(q))
        flat = [m for x, a in turns[:-1] for m in (("user", x), ("assistant", a))] + [("user", q)]
        items.append(dict(cat=cat, intent=intent, turns=[dict(role=a, content=b) for a, b in flat],
                          all=[k.lower() for k in keys]))

    for it in quince.INTENTS:
        for kind in ("do", "np", "q", "yn"):
            for p in g.pool(it["name"], kind, it[kind]):
                got = g.quince(it, kind, p)
                if got:
                    put("quince", it["name"], [got[2:4]], got[4])
    for it in talk.INTENTS:
        for p in g.pool(it["name"], "", it["q"]):
            got = g.talk(it, p)
            if got:
                put("talk", it["name"], [got[2:4]], got[4])
    for rel in facts.RELATIONS:
        for p in g.pool(rel["name"], "", rel["q"]):
            for _ in range(2):
                got = g.relation(rel, None, p)
                put("facts", rel["name"], [got[2:4]], got[4])
    for it in facts.ONEOFF:
        for p in g.pool("fact " + it["answer"], "q", it["q"]):
            got = g.fact(it, p)
            if got:
                put("facts", "fact", [got[2:4]], got[4])
    for cat, n in (("arithmetic", 120), ("tasks", 60), ("unknown", 80)):
        for _ in range(n):
            got = g.draw(cat)
            put(cat, got[1], [got[2:4]], got[4])
    for _ in range(80):
        cat, turns, keys = g.follow_up()
        put("multi", cat, turns, keys)
    return items


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("what", choices=["sample", "heldout", "lint"])
    ap.add_argument("arg", nargs="?")
    a = ap.parse_args()
    if a.what == "heldout":
        if not a.arg:
            sys.exit("generate.py: heldout needs the name of the file to write")
        items = heldout_items()
        with open(a.arg, "w") as f:
            for it in items:
                f.write(json.dumps(it, ensure_ascii=False) + "\n")
        print(dict(collections.Counter(it["cat"] for it in items)), len(items))
    elif a.what == "lint":
        for q, one, two in sorted(set(Generator(1, test=True).clashes)):
            print(f"{q!r}: {one} / {two}")
    else:
        g = Generator(7)
        for _ in range(int(a.arg or 40)):
            print("\n".join(f"{role:>9}: {t}" for role, t in g.conversation()), end="\n\n")


if __name__ == "__main__":
    main()
