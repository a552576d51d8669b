"""Small jobs on the user's own words: the answer is made from the question."""
from . import wide
from .grammar import expand, held_out, lines

WORDS = """apple bread chair dog eagle fish garden house island jungle king lemon mouse night ocean piano queen river
stone table uncle village water yellow zebra cat bird tree flower sun moon star cloud rain snow wind fire earth book
pen paper school music dance song happy green blue red black white brown quick slow small large round sweet salty cold
warm bear wolf tiger lion horse sheep goat duck hen owl ant bee spider snake frog train car bike boat plane road bridge
tower castle church market bakery cheese butter milk sugar salt pepper onion tomato potato carrot banana cherry orange
peach plum grape melon quince model server window door floor wall roof kitchen bottle glass spoon fork knife plate cup
friend mother father sister brother baby child doctor teacher farmer summer winter spring autumn monday friday
hello world computer linux debian terminal memory letter number answer question circle square""".split()
NAMES = "Anna Ben Carla David Emma Frank Greta Hans Ida John Karl Lisa Mary Nina Otto Paul Rosa Sam Tina Walter".split()
EVERY = list(dict.fromkeys(WORDS + wide.WORDS))
NAMES += wide.NAMES
JOBS = []


def job(name, block, make):
    JOBS.append((name, lines(block), make))


def _word(r):
    return r.choice(WORDS if r.random() < .6 else wide.WORDS)


def _list(r, pool=None, lo=3, hi=5):
    return r.sample(pool or (WORDS if r.random() < .6 else EVERY), r.randint(lo, hi))


def _short(r, longest=5):
    while True:
        w = _word(r)
        if len(w) <= longest:
            return w


def _quote(r, w):
    k = r.random()
    return f'"{w}"' if k < .15 else f"'{w}'" if k < .25 else w


job("upper", """
write {w} in [capital letters|capitals|upper case|uppercase|big letters|all caps]
put {w} in [upper case|capitals|capital letters|uppercase]
upper case {w}
uppercase {w}
make {w} [upper case|uppercase|all caps]
{w} in [capital letters|capitals|upper case|uppercase]
turn {w} into [capital letters|capitals|upper case|uppercase]
convert {w} to [uppercase|upper case|capitals]
capitalise all letters of {w}
what is {w} in [upper case|capital letters|capitals]
can you write {w} in [capitals|capital letters|uppercase]
change {w} to [upper case|uppercase|capitals]
all caps: {w}
""", lambda r: (lambda w: ({"w": _quote(r, w)}, w.upper()))(_word(r)))
job("lower", """
write {w} in [small letters|lower case|lowercase]
put {w} in [lower case|lowercase|small letters]
lower case {w}
lowercase {w}
make {w} [lower case|lowercase]
turn {w} into [small letters|lower case|lowercase]
convert {w} to [lowercase|lower case|small letters]
{w} in [lower case|small letters|lowercase]
what is {w} in [lower case|small letters]
change {w} to [lower case|lowercase]
""", lambda r: (lambda w: ({"w": w.upper()}, w))(_word(r)))
job("spell", """
spell {w}
spell the word {w}
how do you spell {w}
how is {w} spelled
how do i spell {w}
can you spell {w}
please spell {w}
spell {w} for me
spell out {w}
what is the spelling of {w}
which letters are in {w}
say the letters of {w}
letter by letter: {w}
could you spell the word {w}
""", lambda r: (lambda w: ({"w": _quote(r, w)}, "-".join(w.upper())))(_word(r)))
job("first_letter", """
what is the first letter of {w}
first letter of {w}
which letter does {w} start with
with which letter does {w} begin
what letter does {w} begin with
the first letter of {w}
what does {w} start with
tell me the first letter of {w}
which is the first letter of the word {w}
name the first letter of {w}
the word {w} begins with which letter
""", lambda r: (lambda w: ({"w": _quote(r, w)}, f"The first letter is {w[0].upper()}."))(_word(r)))
job("last_letter", """
what is the last letter of {w}
last letter of {w}
which letter does {w} end with
with which letter does {w} end
what letter does {w} end with
the last letter of {w}
what does {w} end with
tell me the last letter of {w}
which is the last letter of the word {w}
name the last letter of {w}
""", lambda r: (lambda w: ({"w": _quote(r, w)}, f"The last letter is {w[-1].upper()}."))(_word(r)))
job("length", """
how many letters does {w} have
how many letters has {w}
how many letters are in {w}
how long is the word {w}
number of letters in {w}
the number of letters in {w}
count the letters in {w}
count the letters of {w}
what is the length of the word {w}
how many letters are there in the word {w}
""", lambda r: (lambda w: ({"w": _quote(r, w)}, f"The word {w} has {len(w)} letters."))(_word(r)))
job("repeat", """
repeat {w}
say {w}
repeat after me: {w}
repeat the word {w}
say the word {w}
please say {w}
write {w}
please repeat {w}
echo {w}
print {w}
can you say {w}
just say {w}
answer with {w}
reply with {w}
type {w}
copy this: {w}
repeat this: {w}
say this: {w}
""", lambda r: (lambda w: ({"w": w}, w))(" ".join(_list(r, lo=1, hi=4))))
job("repeat_n", """
say {w} {n} times
repeat {w} {n} times
write {w} {n} times
print {w} {n} times
{n} times {w}
say the word {w} {n} times
please write {w} {n} times
""", lambda r: (lambda w, n: ({"w": w, "n": r.choice((str(n), ["two", "three", "four", "five"][n - 2]))},
                             " ".join([w] * n)))(_word(r), r.randint(2, 5)))
job("reverse_list", """
reverse the [list|order of|words] {l}
reverse the order: {l}
reverse this list: {l}
put {l} in reverse order
{l} in reverse order
turn the list around: {l}
say {l} backwards
give me {l} in reverse order
write {l} in the opposite order
list {l} from last to first
""", lambda r: (lambda v: ({"l": wide.listed(r, v)}, ", ".join(v[::-1])))(_list(r)))
job("reverse_word", """
spell {w} backwards
write {w} backwards
{w} backwards
reverse the word {w}
what is {w} backwards
turn the word {w} around
say the word {w} backwards
""", lambda r: (lambda w: ({"w": w}, "".join(w[::-1])))(_short(r)))
job("sort_words", """
sort {l}
sort the words {l}
sort these words: {l}
sort {l} alphabetically
put {l} in alphabetical order
put the words {l} in order
order the words {l}
{l} in alphabetical order
please sort {l} by alphabet
arrange {l} alphabetically
alphabetise {l}
sort the names {l}
sort this list: {l}
""", lambda r: (lambda v: ({"l": wide.listed(r, v)}, ", ".join(sorted(v))))(
    _list(r, NAMES if r.random() < .4 else None, 3, 4)))
job("first_of", """
what is the first word of {l}
which is the first: {l}
first item of {l}
the first of {l}
which word comes first in {l}
name the first item of the list {l}
take the first of {l}
""", lambda r: (lambda v: ({"l": wide.listed(r, v)}, f"The first is {v[0]}."))(_list(r)))
job("last_of", """
what is the last word of {l}
which is the last: {l}
last item of {l}
the last of {l}
which word comes last in {l}
name the last item of the list {l}
take the last of {l}
""", lambda r: (lambda v: ({"l": wide.listed(r, v)}, f"The last is {v[-1]}."))(_list(r)))
job("count_items", """
how many words are in {l}
count the words {l}
how many items are in the list {l}
how many items: {l}
count the items in {l}
number of words in {l}
how many things are {l}
""", lambda r: (lambda v: ({"l": wide.listed(r, v)}, f"There are {len(v)}."))(_list(r, lo=2, hi=7)))
job("my_name", """
my name is {N}
i am called {N}
call me {N}
hello, my name is {N}
hi, i am {N}
hello, i'm {N}
please call me {N}
people call me {N}
you can call me {N}
i'm {N}, nice to meet you
the name is {N}
this is {N} speaking
hey, {N} here
""", lambda r: (lambda w: ({"N": w}, f"Hello {w}, nice to meet you!"))(r.choice(NAMES)))
job("greet", """
greet {N}
say hello to {N}
say hi to {N}
welcome {N}
can you greet {N}
please greet my friend {N}
say hello to my friend {N}
""", lambda r: (lambda w: ({"N": w}, f"Hello {w}!"))(r.choice(NAMES)))
job("join", """
join {a} and {b}
put the words {a} and {b} together
make one word of {a} and {b}
combine {a} and {b} into one word
glue {a} and {b} together
""", lambda r: (lambda a, b: ({"a": a, "b": b}, a + b))(*_list(r, None, 2, 2)))
job("letter_after", """
which letter comes after {c}
what letter comes after {c}
the letter after {c}
what is the letter after {c}
next letter after {c}
which letter follows {c}
""", lambda r: (lambda i: ({"c": chr(65 + i)}, f"After {chr(65 + i)} comes {chr(66 + i)}."))(r.randrange(25)))
job("yes_or_no", """
say yes
just say yes
answer yes
please answer with yes
say yes please
reply yes
""", lambda r: ({}, "Yes."))
job("bullet", """
make a list of {l}
write {l} as a list
turn {l} into a list
{l} as a bullet list
make bullet points of {l}
list {l}
""", lambda r: (lambda v: ({"l": wide.listed(r, v)}, "\n".join("- " + w for w in v)))(_list(r, lo=2, hi=4)))

# ---------------------------------------------------------------- jobs that are asked in wide.py only
RHYMES = """cat hat|dog frog|house mouse|tree bee|sun fun|star car|moon spoon|rain train|snow blow|light night|book cook|king ring
bed red|ball wall|boat goat|cake lake|bear chair|day way|fish dish|hand sand|hill mill|nose rose|pen ten|pig wig|rock sock
shoe blue|tall small|tea sea|tower flower|bell shell|bone stone|coat goat|door floor|drum plum|eye sky|face place
fire wire|game name|green queen|head bread|hot pot|jam ham|kite white|land hand|map cap|nest best|nut hut|park dark|queen green
run sun|sing ring|sky fly|sleep sheep|toy boy|two blue|wet net|wine line|year ear""".replace("\n", "|")
RHYMES = [p.split() for p in RHYMES.split("|")]
EXAMPLES = dict(p.split("=") for p in """fruits=apple, pear and plum|vegetables=carrot, onion and potato|animals=dog, cat and horse
birds=robin, owl and eagle|colours=red, green and blue|colors=red, green and blue|trees=oak, pine and birch|flowers=rose, tulip and lily
drinks=water, tea and milk|countries=France, Italy and Japan|cities=Paris, Rome and London|fish=salmon, trout and tuna
insects=ant, bee and fly|tools=hammer, saw and drill|metals=iron, gold and silver|sports=soccer, tennis and swimming
planets=Mercury, Venus and Mars|languages=English, French and German|months=January, February and March
days of the week=Monday, Tuesday and Wednesday|instruments=piano, guitar and violin|clothes=shirt, coat and socks
family members=mother, father and sister|body parts=hand, foot and head|shapes=circle, square and triangle
pets=dog, cat and rabbit|jobs=teacher, doctor and baker|vehicles=car, bus and bicycle|rivers=Thames, Nile and Danube
boys' names=Ben, Tom and Max|girls' names=Anna, Mia and Lisa|things in a kitchen=pot, spoon and plate|letters=A, B and C
numbers=1, 2 and 3|seasons=spring, summer and winter|continents=Europe, Asia and Africa|oceans=Atlantic, Pacific and Indian""".replace(
    "\n", "|").split("|"))
FIRST_WITH = """Apple Bread Cat Dog Egg Fish Garden House Island Jam King Lemon Moon Night Orange Pen Queen Rain Sun Table Uncle
Village Water Xylophone Yellow Zebra""".split()
ORDINALS = "first second third fourth fifth".split()


def _sentence(make):
    return lambda r: (lambda s: ({"s": r.choice((s, s, f'"{s}"', s[0].upper() + s[1:]))}, make(s.split())))(wide.sentence(r))


def _nth(r):
    w = _word(r)
    n = r.randrange(1, min(4, len(w)))
    return {"w": _quote(r, w), "o": ORDINALS[n]}, f"The {ORDINALS[n]} letter is {w[n].upper()}."


def _letter_in(r):
    """A word and a letter, in it or not; as people write letters."""
    w = _word(r)
    c = r.choice(w) if r.random() < .6 else r.choice("abcdefghiklmnoprstuwy")
    return w, c, r.choice((c, c.upper()))


def _contains(r):
    w, c, shown = _letter_in(r)
    yes = c in w
    return ({"w": _quote(r, w), "c": shown},
            f"{'Yes' if yes else 'No'}, {w} {'has' if yes else 'does not have'} the letter {c.upper()}.")


def _count_letter(r):
    w, c, shown = _letter_in(r)
    n = w.count(c)
    return {"w": _quote(r, w), "c": shown}, f"The letter {c.upper()} occurs {n} time{'' if n == 1 else 's'} in {w}."


def _row(r):
    """An arithmetic row, up or down."""
    step = r.choice((1, 1, 2, 2, 3, 4, 5, 10, 10, -1, -2))
    start = r.randint(0, 20) + (20 if step < 0 else 0) if r.random() < .6 else abs(step) * r.randint(1, 6) + (20 if step < 0 else 0)
    return [start + step * i for i in range(r.randint(4, 6))]


def _next(r):
    v = _row(r)
    return {"l": ", ".join(map(str, v[:-1]))}, f"Next comes {v[-1]}."


def _missing(r):
    v = _row(r)
    at = r.randrange(1, len(v) - 1)
    gap = r.choice(("_", "__", "___", "?", "..."))
    return {"l": ", ".join(gap if i == at else str(n) for i, n in enumerate(v))}, f"The missing number is {v[at]}."


def _by_length(r, pick, name):
    while True:
        v = _list(r, None, 3, 4)
        best = pick(v, key=len)
        if sum(len(w) == len(best) for w in v) == 1:
            return {"l": wide.listed(r, v)}, f"The {name} is {best}."


def _drop(r):
    v = _list(r, None, 3, 5)
    w = r.choice(v)
    return {"l": ", ".join(v), "w": w}, ", ".join(x for x in v if x != w)


def _add(r):
    v = _list(r, None, 3, 5)
    return {"l": ", ".join(v[:-1]), "w": v[-1]}, ", ".join(v)


job("first_word", "", _sentence(lambda s: f"The first word is {s[0]}."))
job("last_word", "", _sentence(lambda s: f"The last word is {s[-1]}."))
job("sentence_count", "", _sentence(lambda s: f"There are {len(s)}."))
job("repeat_sentence", "", lambda r: (lambda s: ({"w": s}, s))((lambda s: s if r.random() < .5 else s[0].upper() + s[1:] + ".")(
    wide.sentence(r))))
job("letter_before", "", lambda r: (lambda i: ({"c": chr(65 + i)}, f"Before {chr(65 + i)} comes {chr(64 + i)}."))(r.randrange(1, 26)))
job("nth_letter", "", _nth)
job("contains", "", _contains)
job("count_letter", "", _count_letter)
job("title", "", lambda r: (lambda w: ({"w": _quote(r, w)}, w[0].upper() + w[1:]))(_word(r)))
job("next_number", "", _next)
job("missing_number", "", _missing)
job("second_of", "", lambda r: (lambda v: ({"l": wide.listed(r, v)}, f"The second is {v[1]}."))(_list(r)))
job("longest", "", lambda r: _by_length(r, max, "longest"))
job("shortest", "", lambda r: _by_length(r, min, "shortest"))
job("drop_item", "", _drop)
job("add_item", "", _add)
job("in_sentence", "", lambda r: (lambda w: ({"w": _quote(r, w)}, f"This is a sentence with the word {w}."))(_word(r)))
job("starts_with", "", lambda r: (lambda w: ({"c": r.choice((w[0], w[0].lower()))}, f"{w} starts with {w[0]}."))(r.choice(FIRST_WITH)))
job("rhyme", "", lambda r: (lambda p: ({"w": p[0]}, f"{p[0].capitalize()} rhymes with {p[1]}."))(r.choice(RHYMES)))
job("examples", "", lambda r: (lambda k: ({"k": k}, f"For example {EXAMPLES[k]}."))(r.choice(list(EXAMPLES))))
job("say_no", "", lambda r: ({}, "No."))

# How often a job comes up: what is worked out letter by letter takes more practice.
WEIGHTS = [{"spell": 3, "reverse_word": 4, "length": 3, "sort_words": 4, "reverse_list": 3, "repeat": 3, "count_items": 3}.get(
    name, 2 if pats else 1) * (.3 if name in ("yes_or_no", "say_no") else 1) for name, pats, _ in JOBS]
SHAPES = wide.Shapes()
for _name, _pats, _ in JOBS:
    SHAPES.close(_name, _pats)


def _widely(rng, name, row):
    """A question from the wider wording, or None if that one is held out."""
    if name in ("repeat", "repeat_sentence"):
        p, frames = rng.choice(wide.COPY if name == "repeat" else wide.SENTENCE_COPY), wide.COPY_FRAMES
    else:
        do, ask = wide.JOBS[name]
        i = rng.randrange(len(do) + len(ask))
        p, frames = (do[i], wide.DO_FRAMES) if i < len(do) else (ask[i - len(do)], wide.ASK_FRAMES)
    if frames is wide.ASK_FRAMES and p.endswith("}"):
        frames = wide.BEFORE_FRAMES  # what follows a word to work on would read as one more
    p = wide.shape(p, rng, row)
    framed = rng.choice(frames).replace("{d}", p)
    if not SHAPES.open(p) or not SHAPES.open(framed):
        return None
    return expand(framed, rng, row)


def sample(rng, test, name=None):
    """(intent name, question, answer, keys) or None."""
    name, pats, make = rng.choices(JOBS, WEIGHTS)[0] if name is None else next(j for j in JOBS if j[0] == name)
    pats = [p for p in pats if held_out(name, p) == test]
    widely = not test and (not pats or rng.random() < .6) and (name in wide.JOBS or name.startswith("repeat"))
    if not pats and not widely:
        return None
    row, answer = make(rng)
    if widely:
        q = _widely(rng, name, row)
        if q is None:
            return None
    else:
        q = expand(rng.choice(pats), rng, row)
    return name, q, answer, [answer.lower()]
