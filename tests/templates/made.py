"""Random templates for the differential test: a grammar over the constructs of the language, with values of every
type, seeded."""
import random

VARIABLES = {
    "a": [3, 1, 2], "s": "hello World", "n": None, "d": {"x": 1, "y": [1, 2], "items": 5}, "t": True, "f": 2.5,
    "e": [], "w": "  \n two  lines\n here\t", "u8": "h\u00e9\u00df \u01c5 \U0001f600\u0130", "h": "<b>&amp; 'q' \"x\"</b>",
    "ms": [{"role": "user", "content": "hi", "k": 2}, {"role": "assistant", "content": None, "k": 1},
           {"role": "User", "content": "", "k": 10, "tool_calls": [{"function": {"name": "f"}}]}],
    "words": ["b", "A", "a", "B", "c"], "big": 12345678901, "neg": -7, "zero": 0, "nest": {"a": {"b": [{"c": 1}]}},
    "num": "42", "bad": "4x2", "fl": "1.5e3", "long": "The quick brown fox jumps over the lazy-dog and runs away. " * 3,
}
NAMES = list(VARIABLES) + ["undefined_name"]
STRINGS = ["''", "'a'", "'b c'", "'%s-%s'", "'{} {}'", "'x,y,,z'", "'\\n'", "\"it's\"", "'é'", "'<i>'", "'role'", "'k'",
           "'content'", "'Hello'", "' '", "'%d'", "'{:>4}|{!r}'", "'lo'", "'o'", "'1'", "'3.7'"]
FILTERS = ["upper", "lower", "title", "capitalize", "trim", "string", "length", "count", "first", "last", "list", "reverse",
           "sort", "unique|list", "min", "max", "sum", "tojson", "int", "float", "abs", "round", "join", "e", "escape",
           "forceescape", "striptags", "urlencode", "wordcount", "items|list", "dictsort", "pprint", "xmlattr", "safe",
           "default", "filesizeformat", "urlize", "indent", "center", "truncate", "wordwrap", "reverse|list"]
FILTERS_WITH = ["join({})", "default({})", "default({}, true)", "d({})", "replace({}, {})", "replace({}, {}, 1)",
                "trim({})", "attr({})", "map('upper')|list", "map(attribute={})|list", "select|list", "reject|list",
                "selectattr('role')|list", "selectattr('role', 'equalto', {})|list", "rejectattr({})|list",
                "map('string')|join({})", "select('in', {})|list", "batch(2)|list", "batch(2, {})|list", "slice(2)|list",
                "slice(2, {})|list", "groupby('k')|list", "groupby({})", "sort(attribute='k')", "sort(reverse=true)",
                "sort(case_sensitive=true)", "sum(attribute='k')", "unique(attribute='role')|map(attribute='k')|list",
                "round(1)", "round(0, 'ceil')", "round({})", "int({})", "int(7, 16)", "float({})", "tojson(indent=2)",
                "tojson(sort_keys=true)", "tojson(separators=(',', ':'))", "tojson(ensure_ascii=true)", "truncate(9)",
                "truncate(9, true)", "truncate(11, false, '!')", "wordwrap(7)", "wordwrap(5, false)", "indent(2)",
                "indent(2, true)", "indent(2, first=true, blank=true)", "indent('> ')", "center(20)", "dictsort(by='value')",
                "dictsort(reverse=true)", "format({})", "format({}, {})", "filesizeformat(true)", "min(attribute='k')",
                "max(attribute='k')", "xmlattr(false)", "map('default', {})|list", "map('int')|sum", "join(', ', attribute='role')",
                "urlize(5)", "first|default({})", "string|length", "map('length')|list", "select('string')|list",
                "reject('none')|list", "select('number')|map('abs')|list", "list|length", "list|first"]
TESTS = ["defined", "undefined", "none", "string", "number", "integer", "float", "boolean", "true", "false", "mapping",
         "sequence", "iterable", "callable", "odd", "even", "lower", "upper", "divisibleby(2)", "divisibleby 3",
         "in [1, 'a', none]", "eq({})", "equalto {}", "ne({})", "gt({})", "lt 3", "ge(2)", "sameas none", "sameas(true)",
         "escaped", "filter", "test", "in(s)"]
METHODS = ["strip()", "lstrip('\\n')", "rstrip()", "upper()", "lower()", "title()", "capitalize()", "swapcase()",
           "split()", "split({})", "split('\\n')", "split(' ', 1)", "rsplit(' ', 1)", "rsplit(None, 1)", "splitlines()",
           "splitlines(true)", "startswith({})", "endswith({})", "startswith(('h', 'x'))", "find({})", "rfind('o')",
           "index('l')", "count('l')", "count({})", "replace({}, {})", "replace('l', '', 1)", "join({})", "join(words)",
           "format({}, {})", "format(1, 2.5)", "isdigit()", "isalpha()", "isalnum()", "isspace()", "isupper()", "islower()",
           "istitle()", "isnumeric()", "isdecimal()", "zfill(7)", "ljust(5)", "rjust(14, '*')", "center(16, '-')",
           "partition('l')", "rpartition({})", "removeprefix('he')", "removesuffix('ld')", "expandtabs(4)", "casefold()",
           "get('x')", "get({}, {})", "get('zz', 0)", "items()", "keys()|list", "values()|list", "copy()", "index(2)", "count(1)",
           "strip({})", "isidentifier()", "isascii()", "isprintable()", "encode", "append", "update({})", "bit_length()",
           "is_integer()", "items()|list", "lstrip()", "rstrip({})"]
MEMBERS = ["x", "role", "items", "k", "y", "content", "zz", "real", "length", "__class__", "a", "upper"]
OPS = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", ">", "<=", ">=", "in", "not in", "and", "or"]
NUMBERS = ["0", "1", "2", "-3", "2.5", "10", "1e3", "0.1", "100", "7", "1_000", "0x1F", "-0.0"]
SPECS = ["'%s'", "'%d'", "'%5.1f'", "'%-6s|'", "'%+03d'", "'%r'", "'%x'", "'%e'", "'%g'", "'%c'", "'%%'", "'%5s%s'", "'%o'", "'%.3s'",
         "'%#x'", "'% d'", "'%i'"]
FORMATS = ["{:d}", "{:>8}", "{:<5}|", "{:^9}", "{:*^9}", "{:+}", "{:,}", "{:.2f}", "{:08.3f}", "{:e}", "{:g}", "{:%}", "{:x}", "{:#b}",
           "{:s}", "{!r:>10}", "{:.3}", "{:05d}", "{:_}", "{0}{0}", "{0[0]}", "{0.x}", "{:>{w}}", "{{}}", "{x}", "{:c}", "{:=+8}"]


# Expressions by the type they have: T a text, N a number, I an integer, L a list, D a dictionary, B a truth, A anything.
TYPED = {
    "T": ["{T}|upper", "{T}|lower", "{T}|title", "{T}|capitalize", "{T}|trim", "{T}|replace({T}, {T})", "{T}|indent(2)",
          "{T}|indent(3, true, true)", "{T}|center(20)", "{T}|truncate(9)", "{T}|truncate(12, true, '~', 0)", "{T}|wordwrap(7)",
          "{T}|wordwrap(11, false)", "{T}|striptags", "{T}|urlencode", "{T}|e", "{T}|urlize", "{T}.strip()", "{T}.lstrip('\\n')",
          "{T}.rstrip('d.')", "{T}[1:3]", "{T}[::-1]", "{T}[-4:]", "{T}[::2]", "{L}|join({T})", "{L}|join", "{A}|string", "{A}|tojson",
          "{A}|tojson(indent=2)", "{A}|tojson(ensure_ascii=true, sort_keys=true)", "({T} ~ {A})", "({T} + {T})", "({T} * 2)",
          "('%s-%r' % ({A}, {A}))", "'{} {!r}'.format({A}, {A})", "{A}|pprint", "(undefined_name|default({T}))", "('%5.2f|%d|%x' % ({N}, {I}, {I2}))",
          "'{:>8}|{:<5}|{:^7}'.format({T}, {T}, {T})", "'{:,.2f} {:+d} {:e} {:g}'.format({N}, {I}, {N}, {N})", "{T}.title()",
          "{T}.swapcase()", "{T}.replace({T}, '#')", "{T}.zfill(9)", "{T}.center(15, '*')", "{T}|reverse", "{I}|filesizeformat",
          "{T}.expandtabs(3)", "{T}.casefold()", "{T}.ljust(9, '.')", "{T}|format({A})|default('')", "{D}|xmlattr",
          "({T} if {B} else {T})", "{T}.removeprefix({T})", "{T}.join({L}|map('string'))", "{N}|string", "('%e %g %i' % ({N}, {N}, {N}))",
          "'{:05d}{:>+9.3f}{:x}'.format({I}, {N}, {I2})", "{L}|map('upper')|join(',')", "({T}|escape ~ {T})", "('%-9s|%9s|%.2s' % ({T}, {T}, {T}))"],
    "N": ["{L}|length", "{T}|length", "({N} + {N})", "({N} - {N})", "({N} * {N})", "({N} // 3)", "({N} % 7)", "({N} // -2.5)", "({N} % -3)",
          "({I2} ** {I2})", "({N} / 4)", "{N}|abs", "{N}|round(1)", "{N}|round", "{N}|round(2, 'floor')", "{N}|int", "{T}|int", "{T}|float",
          "{T}.find({T})", "{T}.count('l')", "{T}|wordcount", "[{I}, {N}]|sum", "[{N}, {N}]|max", "[{N}, {N}]|min", "(-{N})", "{I}",
          "ms|sum(attribute='k')", "{T}.rfind('o')", "({N} if {B} else {I})", "{N}|round(-1)"],
    "I": ["1", "2", "-3", "10", "zero", "neg", "big", "a|length", "{T}|length", "({I} + {I})", "({I} * {I})", "({I} // 2)", "{N}|int", "true"],
    "I2": ["0", "1", "2", "3", "7"],
    "L": ["{T}.split()", "{T}.split(',')", "{T}.split(' ', 1)", "{T}.rsplit(None, 1)", "{L}|list", "{L}|reverse|list", "[{A}, {A}]", "[{T}, {T}]",
          "({A}, {A})", "{L}|map('string')|list", "{L}[1:]", "words|unique|list", "{L}|batch(2)|list", "{L}|batch(3, {A})|list",
          "{L}|slice(2)|list", "{L}|slice(3, '-')|list", "{D}|dictsort", "{D}.items()|list", "{D}.keys()|list", "{D}|items|list",
          "ms|map(attribute='k')|list", "ms|selectattr('content')|list", "ms|rejectattr('role', 'equalto', {T})|list", "ms|groupby('k')",
          "ms|groupby('zz', default=0)", "words|sort", "words|sort(case_sensitive=true, reverse=true)", "ms|sort(attribute='role,k')",
          "{T}|list", "{T}.splitlines()", "{T}.splitlines(true)", "{T}.partition(' ')", "{L}|select('string')|list", "{L}|reject('none')|list",
          "range({I2})|list", "({L}|list + {L}|list)", "{L}|map('length')|list" , "[{N}, {N}, {N}]|sort", "ms|map(attribute='content', default='-')|list",
          "{L}|select|list", "[1, 2, 3, 4]|select('even')|list", "{L}|map('default', 'x')|list"],
    "D": ["d", "nest", "nest.a", "ms[0]", "ms[2]", "{'q': {A}, 1: {A}}", "dict(k={A}, z={A})", "dict(d, x={A})", "{}", "{ {T}: {A} }"],
    "B": ["({A} is defined)", "({A} is string)", "({A} is mapping)", "({A} is none)", "({A} is not number)", "({N} < {N})", "({T} <= {T})",
          "({A} == {A})", "({A} != {A})", "({T} in {T})", "({A} in {L})", "(not {A})", "({B} and {B})", "({B} or {B})", "{T}.startswith({T})",
          "{T}.isdigit()", "{T}.isupper()", "({I} is odd)", "({I} is divisibleby 3)", "({N} < {N} <= {N})", "{T}.istitle()", "({T} is lower)",
          "({A} is iterable)", "({A} is sequence)", "({A} is boolean)", "{T}.isalnum()", "({A} is sameas none)", "(1 == true)", "({L} == {L})"],
}
SIMPLE = {
    "T": ["s", "w", "u8", "h", "num", "bad", "fl", "long", "'a'", "'x,y,,z'", "'é'", "''", "'lo'", "' '", "ms[0].role", "\"it's\""],
    "N": ["f", "big", "neg", "zero", "1", "2.5", "1e3", "0.1", "7", "-0.0", "1e16", "3.0"], "I": ["1", "2", "-3", "neg", "zero"],
    "I2": ["0", "1", "2", "3"], "L": ["a", "ms", "words", "e", "[1, 'b']", "(1, 2)", "range(4)"], "D": ["d", "nest", "ms[0]"],
    "B": ["true", "false", "t", "s", "e"],
}


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.names = list(NAMES)
        self.loops = 0
        self.macros = []
        self.wild = self.pick([0, 0, 0.05, 0.5, 1])  # how much of it has no regard for types

    def pick(self, items):
        return self.r.choice(items)

    def fill(self, form, depth):
        while "{}" in form:
            form = form.replace("{}", self.expr(depth - 1), 1)
        return form

    def atom(self):
        kind = self.r.random()
        if kind < 0.5:
            return self.pick(self.names)
        if kind < 0.7:
            return self.pick(STRINGS)
        if kind < 0.85:
            return self.pick(NUMBERS)
        return self.pick(["none", "true", "false", "[]", "{}", "()", "range(4)", "a", "s", "d"])

    def typed(self, kind, depth):
        if kind == "A":
            kind = self.pick("TTNLDB")
        if depth <= 0:
            return self.pick(SIMPLE[kind])
        form, out = self.pick(TYPED[kind]), ""
        while form:
            for name in ("{I2}", "{T}", "{N}", "{I}", "{L}", "{D}", "{B}", "{A}"):
                if form.startswith(name):
                    part = self.typed(name[1:-1], depth - 1)
                    out += part if part.isidentifier() or part[0] in "'\"" and part.count(part[0]) == 2 and part[-1] == part[0] else f"({part})"
                    form = form[len(name):]
                    break
            else:
                out += form[0]
                form = form[1:]
        return out

    def expr(self, depth):
        if self.wild < self.r.random():
            return self.typed("A", depth)
        if depth <= 0:
            return self.atom()
        kind = self.r.randrange(20)
        e = lambda: self.expr(depth - 1)
        if kind < 3:
            return f"({e()} {self.pick(OPS)} {e()})"
        if kind < 6:
            return f"{e()}|{self.pick(FILTERS)}"
        if kind < 9:
            return f"{e()}|{self.fill(self.pick(FILTERS_WITH), depth - 1)}"
        if kind == 9:
            return f"({e()} is {self.pick(['', 'not '])}{self.fill(self.pick(TESTS), 0)})"
        if kind < 13:
            return f"{self.pick(self.names) if self.r.random() < 0.7 else '(' + e() + ')'}.{self.fill(self.pick(METHODS), depth - 1)}"
        if kind == 13:
            return f"{self.pick(self.names)}.{self.pick(MEMBERS)}"
        if kind == 14:
            part = self.pick(["0", "-1", "1", "'x'", "'role'", "1:", ":2", "::-1", "1:3", "-2:", "::2", "5", ":-1", "3:0:-1", "none"])
            return f"{self.pick(self.names)}[{part}]"
        if kind == 15:
            return self.pick([f"[{e()}, {e()}]", f"({e()}, {e()})", "{" + f"{self.atom()}: {e()}" + "}", f"dict(q={e()})"])
        if kind == 16:
            return f"({e()} if {e()} else {e()})"
        if kind == 17:
            return self.pick([f"(not {e()})", f"(-{e()})", f"(+{self.atom()})", f"({e()} < {e()} < {e()})"])
        if kind == 18:
            return self.pick([f"({self.pick(SPECS)} % {e()})", f"({self.pick(SPECS)} % ({e()}, {e()}))",
                              f"({repr(self.pick(FORMATS))}.format({e()}, w=7, x={self.atom()}))"])
        if self.macros and self.r.random() < 0.5:
            return f"{self.pick(self.macros)}({e()})"
        return self.pick(["range(3)|list", "range(1, 8, 3)|list", "namespace(a=1).a", "cycler(1, 2).next()", "joiner('|')()",
                          "loop.index" if self.loops else "1", "loop.last" if self.loops else "2",
                          "loop.nextitem" if self.loops else "3", "dict(a)|length"])

    def dash(self):
        return self.pick(["", "", "", "-"])

    def tag(self, text):
        return f"{{%{self.dash()} {text} {self.dash()}%}}"

    def body(self, depth):
        return "".join(self.statement(depth - 1) for _ in range(self.r.randint(1, 3)))

    def text(self):
        return self.pick([" ", "\n", "x", "\n  ", "a\n", "\t", "{# c #}", "  {#- c -#} ", "", "é\r\n", "{% raw %}{{ r }}{% endraw %}"])

    def loop(self, depth):
        target, over = self.pick([("i", self.expr(1)), ("i", "a"), ("i", "ms"), ("k, v", "d.items()"), ("i", "s"), ("i", "range(3)"),
                                  ("(k, v)", "d|dictsort"), ("i", self.expr(2))])
        test = self.pick(["", "", f" if {self.expr(1)}", " if i != 1"])
        saved = list(self.names)
        self.names += ["i", "k", "v"] if "," not in target else ["k", "v"]
        self.loops += 1
        extra = self.pick(["", "", f"{self.tag('if ' + self.expr(1))}{self.tag(self.pick(['break', 'continue']))}{self.tag('endif')}"])
        attribute = self.pick(["index", "index0", "revindex", "revindex0", "first", "last", "length", "previtem", "nextitem", "depth",
                               "depth0", "cycle('a', 'b')", "changed(i)", "zz"])
        inner = self.body(depth) + extra + self.pick(["", f"{{{{ loop.{attribute} }}}}"])
        self.loops -= 1
        self.names = saved
        other = self.pick(["", "", self.tag("else") + self.body(depth - 1)])
        return self.tag(f"for {target} in {over}{test}") + inner + other + self.tag("endfor")

    def macro(self, depth):
        name = f"m{len(self.macros)}"
        signature = self.pick(["p", "p, q=1", "p=none", "", "p, q='z'"])
        saved, loops = list(self.names), self.loops
        self.loops = 0
        self.names += ["p", "q", "varargs", "kwargs"]
        inner = self.body(depth) + self.pick(["", "{{ p }}", "{{ caller() if caller }}", "{{ q }}{{ varargs }}"])
        self.names, self.loops = saved, loops
        self.macros.append(name)
        return self.tag(f"macro {name}({signature})") + inner + self.tag("endmacro")

    def assign(self, depth):
        name = self.pick(["v1", "v2", "s", "i", "a"])
        kind = self.r.randrange(5)
        self.names += [name]
        if kind == 0:
            return self.tag(f"set {name}{self.pick(['', ' | upper', ' | trim'])}") + self.body(depth) + self.tag("endset")
        if kind == 1:
            return (self.tag("set ns = namespace(c=0, t='')") + self.tag("for i in [1, 2]") +
                    self.tag(f"set ns.c = {self.expr(1)}") + self.tag("endfor") + "{{ ns.c }}")
        if kind == 2:
            return self.tag(f"set {name}, v3 = {self.expr(1)}, {self.expr(1)}")
        return self.tag(f"set {name} = {self.expr(depth)}")

    def statement(self, depth):
        kind = self.r.randrange(16)
        if depth <= 0 or kind < 6:
            return self.text() + f"{{{{{self.dash()} {self.expr(2)} {self.dash()}}}}}"
        if kind < 8:
            return (self.tag(f"if {self.expr(1)}") + self.body(depth) +
                    self.pick(["", self.tag("else") + self.body(depth - 1),
                               self.tag(f"elif {self.expr(1)}") + self.body(depth - 1) + self.tag("else") + "E"]) + self.tag("endif"))
        if kind < 10:
            return self.loop(depth)
        if kind < 12:
            return self.assign(depth)
        if kind == 12:
            return self.macro(depth)
        if kind == 13:
            return self.tag(f"with v1 = {self.expr(1)}") + self.body(depth) + self.tag("endwith")
        if kind == 14:
            if self.macros and self.r.random() < 0.6:
                return self.tag(f"call {self.pick(self.macros)}({self.expr(1)})") + self.body(depth) + self.tag("endcall")
            return self.tag(f"filter {self.pick(['upper', 'trim', 'indent(2)', 'title', 'length|string'])}") + self.body(depth) + self.tag("endfilter")
        return self.pick([self.tag("generation") + self.body(depth) + self.tag("endgeneration"), self.text(),
                          self.tag("autoescape true") + "{{ h }}{{ " + self.expr(1) + " }}" + self.tag("endautoescape")])


def template(seed):
    """(source, variables)"""
    maker = Maker(seed)
    return "".join(maker.statement(3) for _ in range(maker.r.randint(1, 4))), VARIABLES
