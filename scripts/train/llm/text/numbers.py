"""Arithmetic and sorting numbers: everything whose answer is computed, not looked up."""
from . import wide
from .grammar import expand, held_out, lines

ONES = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen").split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()


def word(n):
    """A number in words, up to 999."""
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10] + ("-" + ONES[n % 10] if n % 10 else "")
    rest = n % 100
    return ONES[n // 100] + " hundred" + (" and " + word(rest) if rest else "")


ASK = """what is {e}|what's {e}|whats {e}|calculate {e}|compute {e}|{e}|{e} =|{e} = ?|how much is {e}|{e} is what|work out {e}
solve {e}|tell me {e}|can you calculate {e}|what does {e} make|what does {e} equal|what does {e} give|please calculate {e}|{e} equals
{e} makes what|the result of {e}|what is the result of {e}|i need {e}|do you know what {e} is|can you tell me what {e} is
give me the answer to {e}|what do i get for {e}|find {e}|evaluate {e}|how much does {e} make|{e} equals what|{e} is|quick: {e}
what would {e} be|could you work out {e}|{e} please|what is the answer to {e}|how much would {e} be|and what is {e}
do the sum {e}|help me with {e}|so what is {e}|say {e}|i want to know {e}"""
ASK = [p for row in ASK.split("\n") for p in row.split("|")]
# {a} and {b} stand for the numbers; {e} forms go into the carriers above.
FORMS = {
    "+": ["{a} + {b}", "{a}+{b}", "{a} plus {b}", "{a} and {b}", "{a} added to {b}", "the sum of {a} and {b}"],
    "-": ["{a} - {b}", "{a}-{b}", "{a} minus {b}", "{a} less {b}", "{b} subtracted from {a}",
          "the difference between {a} and {b}", "{b} from {a}", "{b} taken from {a}"],
    "*": ["{a} * {b}", "{a}*{b}", "{a} x {b}", "{a} times {b}", "{a} multiplied by {b}", "{a}x{b}",
          "the product of {a} and {b}"],
    "/": ["{a} / {b}", "{a}/{b}", "{a} divided by {b}", "{a} over {b}", "{a} : {b}"],
}
# Whole questions that fit no carrier.
WHOLE = {
    "+": lines("""
add {a} and {b}
add {a} to {b}
add up {a} and {b}
add {b} more to {a}
if i add {a} and {b}, what do i get
what do {a} and {b} make [together|]
what do you get when you add {a} and {b}
sum {a} and {b}
sum up {a} and {b}
i have {a} {t} and get {b} more, how many {t} do i have
i have {a} {t} and buy {b} more. how many {t} are there
there are {a} {t} in a box and {b} on the table. how many {t} are there in all
{N} has {a} {t} and gets {b} more. how many {t} does {N} have
{N} has {a} {t}. {M} has {b} {t}. how many {t} do they have together
if you have {a} {t} and i give you {b}, how many have you got
{a} {t} and {b} {t} are how many {t}
put {a} and {b} together
how many {t} are {a} {t} plus {b} {t}
what number is {b} more than {a}
increase {a} by {b}
"""),
    "-": lines("""
subtract {b} from {a}
take {b} away from {a}
take {b} from {a}
take away {b} from {a}
if i take {b} away from {a}, what is left
if i subtract {b} from {a}, what do i get
what is left of {a} when i take away {b}
what is left when i take {b} from {a}
what remains of {a} after taking {b} away
reduce {a} by {b}
lower {a} by {b}
i have {a} {t} and give away {b}. how many {t} are left
i have {a} {t} and lose {b}, how many {t} do i have left
i had {a} {t} and ate {b}. how many {t} remain
{N} has {a} {t} and gives {b} to {M}. how many {t} does {N} have left
there are {a} {t} and {b} are gone. how many {t} are left
how much more is {a} than {b}
how many more is {a} than {b}
what number is {b} less than {a}
{a} {t} minus {b} {t} are how many
{a} take away {b}
"""),
    "*": lines("""
multiply {a} by {b}
multiply {a} and {b}
multiply {a} with {b}
if i multiply {a} by {b}, what do i get
what do you get when you multiply {a} by {b}
there are {a} boxes with {b} {t} each. how many {t} are there
{N} buys {a} bags with {b} {t} in each. how many {t} is that
{a} people have {b} {t} each, how many {t} is that
how many {t} are in {a} boxes of {b}
{a} groups of {b} are how many
{a} rows of {b} {t}, how many {t}
"""),
    "/": lines("""
divide {a} by {b}
divide {a} among {b}
split {a} into {b} [equal|] parts
share {a} {t} among {b} people. how many does each get
{b} children share {a} {t}. how many does each child get
how often does {b} go into {a}
how many times does {b} go into {a}
how many times does {b} fit into {a}
if i divide {a} by {b}, what do i get
{a} {t} shared by {b} people, how many each
"""),
}
THINGS = ("apples pears plums books coins pens cards stones eggs cookies marbles balls oranges stamps keys cups shells "
          "tickets flowers nuts stickers pencils sweets bottles boxes birds").split()
PEOPLE = "Anna Ben Tom Lisa Mary John Emma Paul Sara Max Nina Peter Eva Leo Mia Sam Kate Jack Lucy Adam".split()

OTHER = []


def other(name, block, make, keys=None):
    OTHER.append((name, lines(block), make, keys))


def _n(rng, top=100):
    return rng.randint(0, 20) if rng.random() < 0.4 else rng.randint(0, top)


other("double", """
what is twice {a}
what is double {a}
double {a}
what is two times {a}
twice {a}
what is the double of {a}
how much is twice {a}
{a} doubled
""", lambda r: (lambda a: ({"a": a}, f"Twice {a} is {2 * a}."))(_n(r)))
other("half", """
what is half of {a}
half of {a}
halve {a}
what is the half of {a}
how much is half of {a}
divide {a} in half
{a} halved
what is one half of {a}
""", lambda r: (lambda a: ({"a": a}, f"Half of {a} is {a // 2}."))(2 * r.randint(0, 50)))
other("square", """
what is {a} squared
{a} squared
what is the square of {a}
square {a}
the square of {a}
what is {a} to the power of 2
{a}^2
calculate the square of {a}
""", lambda r: (lambda a: ({"a": a}, f"{a} squared is {a * a}."))(r.randint(0, 20)))
other("root", """
what is the square root of {a}
square root of {a}
the root of {a}
what is the root of {a}
calculate the square root of {a}
which number squared is {a}
""", lambda r: (lambda a: ({"a": a * a}, f"The square root of {a * a} is {a}."))(r.randint(1, 15)))
other("parity", """
is {a} even or odd
is {a} odd or even
is {a} [an even|an odd] number
is {a} even
is {a} odd
is the number {a} even or odd
tell me whether {a} is even or odd
even or odd: {a}
what is {a}, even or odd
""", lambda r: (lambda a: ({"a": a}, f"{a} is {'odd' if a % 2 else 'even'}."))(r.randint(0, 200)))
other("bigger", """
which is [bigger|larger|greater|more], {a} or {b}
what is [bigger|larger|greater|more], {a} or {b}
is {a} or {b} [bigger|larger|greater]
which number is [bigger|larger|greater], {a} or {b}
is {a} [bigger|larger|greater|more] than {b}
{a} or {b}, which is [bigger|larger|more]
which is the [bigger|larger|greater] number, {a} or {b}
""", lambda r: (lambda a, b: ({"a": a, "b": b + (a == b)},
                              f"{max(a, b + (a == b))} is bigger than {min(a, b + (a == b))}."))(_n(r), _n(r)))
other("smaller", """
which is [smaller|less|lower], {a} or {b}
what is [smaller|less|lower], {a} or {b}
which number is [smaller|lower], {a} or {b}
is {a} [smaller|less|lower] than {b}
{a} or {b}, which is [smaller|less]
which is the [smaller|lower] number, {a} or {b}
""", lambda r: (lambda a, b: ({"a": a, "b": b + (a == b)},
                              f"{min(a, b + (a == b))} is smaller than {max(a, b + (a == b))}."))(_n(r), _n(r)))
other("next", """
which number comes after {a}
what number comes after {a}
what is the number after {a}
which number follows {a}
the number after {a}
what number follows {a}
count one up from {a}
what comes after the number {a}
""", lambda r: (lambda a: ({"a": a}, f"The number after {a} is {a + 1}."))(_n(r, 300)))
other("previous", """
which number comes before {a}
what number comes before {a}
what is the number before {a}
the number before {a}
which number is right before {a}
what comes before the number {a}
count one down from {a}
""", lambda r: (lambda a: ({"a": a}, f"The number before {a} is {a - 1}."))(1 + _n(r, 300)))
other("in_words", """
write {a} in words
spell out the number {a}
how do you write {a} in words
what is {a} in words
{a} in words
say {a} in words
the number {a} in words
""", lambda r: (lambda a: ({"a": a}, f"{a} in words is {word(a)}."))(_n(r)))
other("in_digits", """
write {w} in digits
write {w} as a number
what is {w} in digits
{w} in digits
{w} as a number
which number is {w}
""", lambda r: (lambda a: ({"w": word(a)}, f"{word(a).capitalize()} is {a}."))(_n(r)), )
other("count_to", """
count to {a}
count up to {a}
can you count to {a}
please count to {a}
count from 1 to {a}
count from one to {a}
""", lambda r: (lambda a: ({"a": a}, ", ".join(map(str, range(1, a + 1))) + "."))(r.randint(2, 15)))
other("sort", """
sort {l}
sort the numbers {l}
sort these numbers: {l}
put {l} in order
put the numbers {l} in order
order the numbers {l}
order these numbers: {l}
arrange {l} from small to large
please sort {l}
can you sort {l}
sort {l} in ascending order
bring {l} into order
""", lambda r: (lambda v: ({"l": ", ".join(map(str, v))}, ", ".join(map(str, sorted(v)))))(
    r.sample(range(1, 100 if r.random() < .6 else 20), r.randint(3, 5))))
other("largest", """
what is the [largest|biggest|highest] of {l}
which is the [largest|biggest|highest] number: {l}
find the [largest|biggest] number in {l}
the [maximum|largest] of {l}
what is the maximum of {l}
""", lambda r: (lambda v: ({"l": ", ".join(map(str, v))}, f"The largest is {max(v)}."))(
    r.sample(range(1, 100), r.randint(3, 4))))
other("smallest", """
what is the [smallest|lowest|least] of {l}
which is the [smallest|lowest] number: {l}
find the [smallest|lowest] number in {l}
the [minimum|smallest] of {l}
what is the minimum of {l}
""", lambda r: (lambda v: ({"l": ", ".join(map(str, v))}, f"The smallest is {min(v)}."))(
    r.sample(range(1, 100), r.randint(3, 4))))
other("percent", """
what is {p} percent of {a}
what is {p}% of {a}
{p} percent of {a}
{p}% of {a}
calculate {p} percent of {a}
how much is {p} percent of {a}
""", lambda r: (lambda p, a: ({"p": p, "a": a}, f"{p} percent of {a} is {a * p // 100}."))(
    r.choice([10, 20, 25, 50, 100]), 20 * r.randint(1, 20)))
other("zero_div", """
what is {a} / 0
{a} / 0
divide {a} by 0
what is {a} divided by 0
what is {a} divided by zero
divide {a} by zero
can i divide {a} by zero
can you divide by zero
what happens if i divide by zero
""", lambda r: ({"a": r.randint(1, 100)}, "You cannot divide by zero."))
other("big_sum", """
what is {a} [+|-|*|times|plus|minus] {b}
{a} [+|*|-] {b}
calculate {a} [+|*|-|times] {b}
how much is {a} [plus|minus|times] {b}
""", lambda r: ({"a": r.randint(1000, 99999), "b": r.randint(1000, 99999)},
                "That sum is too big for me. I can only work with small numbers."))


def operands(op, rng):
    """Small numbers are cheap to learn; pairs of two-digit numbers are ten thousand, so
    they get most of the rows."""
    k = rng.random()
    if op == "+":
        if k < .25:
            return rng.randint(0, 20), rng.randint(0, 20)
        if k < .85:
            return rng.randint(1, 99), rng.randint(1, 99)
        return rng.randint(1, 999), rng.randint(1, 99)
    if op == "-":
        if k < .25:
            b, c = rng.randint(0, 20), rng.randint(0, 20)
            return b + c, b
        a, b = rng.randint(1, 99), rng.randint(1, 99)
        if k < .92:
            return max(a, b), min(a, b)
        return a, b  # sometimes below zero
    if op == "*":
        if k < .8:
            return rng.randint(0, 12), rng.randint(0, 12)
        return (rng.randint(2, 9), rng.randint(10, 30)) if k < .9 else (rng.randint(10, 30), rng.randint(2, 9))
    b, c = rng.randint(1, 12), rng.randint(0, 12)
    return b * c, b


def result(op, a, b):
    return {"+": a + b, "-": a - b, "*": a * b, "/": a // b if b else 0}[op]


def solve(op, a, b):
    return f"{a} {op} {b} = {result(op, a, b)}"


SHAPES = wide.Shapes()
SHAPES.close("ask", ASK)
for _op in WHOLE:
    SHAPES.close("whole", WHOLE[_op])
    SHAPES.close("form", FORMS[_op])
for _name, _pats, _, _ in OTHER:
    SHAPES.close(_name, _pats)
TRAINED = dict(
    ask=[p for p in ASK if not held_out("ask", p)] + wide.fresh(SHAPES, wide.SUM_ASK),
    whole={op: [p for p in WHOLE[op] if not held_out("whole", p)] + wide.fresh(SHAPES, wide.SUM_WHOLE[op]) for op in WHOLE},
    form={op: [p for p in FORMS[op] if not held_out("form", p)] for op in FORMS},
    other={name: [p for p in pats if not held_out(name, p)] + wide.fresh(SHAPES, wide.OTHER_ASK[name])
           for name, pats, _, _ in OTHER})


def sample(rng, test, op=None):
    """One (intent name, question, answer, keys); test picks the held-out patterns."""
    if op is None and rng.random() < .3:
        name, pats, make, _ = rng.choice(OTHER)
        pats = [p for p in pats if held_out(name, p)] if test else TRAINED["other"][name]
        if not pats:
            return None
        row, answer = make(rng)
        return name, expand(rng.choice(pats), rng, row), answer, [answer.lower().rstrip(".")]
    op = op or rng.choices("+-*/", (34, 32, 22, 12))[0]
    a, b = operands(op, rng)
    row = {"a": a, "b": b, "t": rng.choice(THINGS), "N": rng.choice(PEOPLE), "M": rng.choice(PEOPLE)}
    if rng.random() < .15 and 0 <= a < 100 and b < 100:
        row["a"], row["b"] = (word(x).replace("-", rng.choice("- ")) for x in (a, b))
    pick = rng.random()
    if test:
        asks = [p for p in ASK if held_out("ask", p)]
        whole = [p for p in WHOLE[op] if held_out("whole", p)]
        forms = [p for p in FORMS[op] if held_out("form", p)]
        pool = [(p, f) for p in asks for f in FORMS[op]] + [(p, "") for p in whole] * 6
        pool += [(p, f) for p in ASK for f in forms]
        p, f = rng.choice(pool)
    elif pick < .3:
        p, f = rng.choice(TRAINED["whole"][op]), ""
    else:
        p, f = rng.choice(TRAINED["ask"]), rng.choice(TRAINED["form"][op])
    q = expand(p.replace("{e}", f), rng, row)
    s = solve(op, a, b)
    return {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}[op], q, s + ".", [s]
