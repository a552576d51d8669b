"""Small jobs on the user's own words: the answer is made from the question."""
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
JOBS = []


def job(name, block, make):
    JOBS.append((name, lines(block), make))


def _word(r):
    return r.choice(WORDS)


def _list(r, pool=WORDS, lo=3, hi=5):
    return r.sample(pool, r.randint(lo, hi))


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
""", lambda r: (lambda v: ({"l": ", ".join(v)}, ", ".join(v[::-1])))(_list(r)))
job("reverse_word", """
spell {w} backwards
write {w} backwards
{w} backwards
reverse the word {w}
what is {w} backwards
turn the word {w} around
say the word {w} backwards
""", lambda r: (lambda w: ({"w": w}, "".join(w[::-1])))(r.choice([w for w in WORDS if len(w) < 6])))
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
""", lambda r: (lambda v: ({"l": ", ".join(v)}, ", ".join(sorted(v))))(
    _list(r, NAMES if r.random() < .4 else WORDS, 3, 4)))
job("first_of", """
what is the first word of {l}
which is the first: {l}
first item of {l}
the first of {l}
which word comes first in {l}
name the first item of the list {l}
take the first of {l}
""", lambda r: (lambda v: ({"l": ", ".join(v)}, f"The first is {v[0]}."))(_list(r)))
job("last_of", """
what is the last word of {l}
which is the last: {l}
last item of {l}
the last of {l}
which word comes last in {l}
name the last item of the list {l}
take the last of {l}
""", lambda r: (lambda v: ({"l": ", ".join(v)}, f"The last is {v[-1]}."))(_list(r)))
job("count_items", """
how many words are in {l}
count the words {l}
how many items are in the list {l}
how many items: {l}
count the items in {l}
number of words in {l}
how many things are {l}
""", lambda r: (lambda v: ({"l": ", ".join(v)}, f"There are {len(v)}."))(_list(r, lo=2, hi=7)))
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
""", lambda r: (lambda a, b: ({"a": a, "b": b}, a + b))(*r.sample(WORDS, 2)))
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
""", lambda r: (lambda v: ({"l": ", ".join(v)}, "\n".join("- " + w for w in v)))(_list(r, lo=2, hi=4)))


def sample(rng, test, name=None):
    """(intent name, question, answer, keys) or None."""
    name, pats, make = rng.choice(JOBS) if name is None else next(j for j in JOBS if j[0] == name)
    pats = [p for p in pats if held_out(name, p) == test]
    if not pats:
        return None
    row, answer = make(rng)
    return name, expand(rng.choice(pats), rng, row), answer, [answer.lower()]
