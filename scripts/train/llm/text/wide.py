"""Wider wording for the jobs on words, arithmetic and facts: frames that multiply what the
other files ask, and more ways to ask it. All of it is for training. It was written after
the held-out questions were fixed; a reading that equals a held-out pattern is dropped here,
by its shape with the slots still open, because there the words asked about change."""
from .grammar import CHOICE, expand, held_out, lines, norm


class Shapes:
    """The readings of held-out patterns, slots open: what training must not ask."""

    def __init__(self):
        self.closed = set()

    def close(self, name, patterns):
        for p in patterns:
            if held_out(name, p):
                self.closed.update(norm(s) for s in readings(p))

    def open(self, shape):
        return norm(shape) not in self.closed


def readings(pattern):
    """Every choice made in every way; slots stay."""
    m = CHOICE.search(pattern)
    if not m:
        return [pattern]
    return [s for c in m.group(1).split("|")
            for s in readings(pattern[:m.start()] + c + pattern[m.end():])]


def shape(pattern, rng, row):
    """One reading of the choices; slots stay."""
    return expand(pattern, rng, {k: "{" + k + "}" for k in row}).replace(" :", ":")


def fresh(shapes, patterns):
    """The patterns none of whose readings is held out."""
    return [p for p in patterns if all(shapes.open(s) for s in readings(p))]


# ------------------------------------------------------------------ frames for jobs
# Around an imperative ("sort {l}").
DO_FRAMES = lines("""
{d}
{d}
{d}
{d}
please {d}
{d} please
{d}, please
{d} for me
{d} for me, please
can you {d}
can you {d} for me
could you {d}
could you please {d}
would you {d}
would you please {d}
can you please {d}
i want you to {d}
i would like you to {d}
i'd like you to {d}
i need you to {d}
you should {d}
your task: {d}
task: {d}
now {d}
next, {d}
ok, {d}
and now {d}
help me {d}
help me to {d}
let's {d}
let us {d}
try to {d}
are you able to {d}
do you know how to {d}
just {d}
quickly {d}
kindly {d}
go ahead and {d}
be so kind and {d}
here is a little job: {d}
do this: {d}
a small exercise: {d}
exercise: {d}
will you {d}
pls {d}
plz {d}
hey, {d}
hi, can you {d}
hello, please {d}
quince, {d}
thanks, now {d}
show me how you {d}
""")
# A copy must not take the frame along: only frames that stand before it.
COPY_FRAMES = [f for f in DO_FRAMES if f.endswith("{d}")]
# Around a question or a noun phrase.
ASK_FRAMES = lines("""
{d}
{d}
{d}
{d}
{d}
{d}
tell me: {d}
please tell me: {d}
question: {d}
one question: {d}
a question: {d}
quick question: {d}
hey, {d}
so {d}
and {d}
ok, {d}
now {d}
well, {d}
hello, {d}
a riddle: {d}
do you know: {d}
can you tell me: {d}
quiz: {d}
i wonder: {d}
let me ask: {d}
{d}, do you know
{d}, can you tell me
{d}, please
""")
BEFORE_FRAMES = [f for f in ASK_FRAMES if f.endswith("{d}")]
NP_FRAMES = lines("""
{n}
{n}
{n} please
what is {n}
what is {n}
what's {n}
whats {n}
what would be {n}
what might {n} be
tell me {n}
please tell me {n}
can you tell me {n}
could you tell me {n}
would you tell me {n}
can you name {n}
could you name {n}
please name {n}
name {n}
give me {n}
please give me {n}
could you give me {n}
can you give me {n}
i need {n}
i need to know {n}
i want to know {n}
i would like to know {n}
i'd like to know {n}
do you know {n}
do you happen to know {n}
you know {n}, right
say {n}
state {n}
find {n}
write down {n}
remind me of {n}
i forgot {n}
i have forgotten {n}
i am looking for {n}
may i ask {n}
quiz question: {n}
for my homework: {n}
for a crossword: {n}
in one word: {n}
tell me, what is {n}
please, what is {n}
so what is {n}
and what is {n}
hey, what is {n}
well, what is {n}
do you remember {n}
question: what is {n}
{n} is what
{n}, what is it
what exactly is {n}
let me know {n}
""")

# ------------------------------------------------------------------ second turns
AND_X = """and {x}, please|and {x} too|and what is it for {x}|and the same for {x}|ok, and {x}|ok and {x}|now what about {x}|now the same for {x}
and again for {x}|what would it be for {x}|and in the case of {x}|how is it with {x}|good, and {x}|thanks, and {x}|tell me about {x} too|{x} too
{x} as well|and {x} as well|then what about {x}|so what about {x}|and if i ask for {x}|let's try {x}|try {x}|next {x}|{x} next""".replace("\n", "|").split("|")
AGAIN = """say it once more|please say it again|please say it once more|tell me again|tell me that again|can you say that again|can you say it again
repeat your last answer|your answer again please|what was that|what was that again|what was your answer|sorry, what did you say|pardon, again please
i missed that, say it again|once again|once again please|and again|again, please|could you repeat|could you repeat that please|repeat
would you repeat that|i forgot, say it again|show me your answer again|same again|write it again|one more time please""".replace("\n", "|").split("|")
AND_OP = {"+": "then plus {n}|then add {n}|ok, plus {n}|add another {n}|and another {n}|increase it by {n}|plus {n} more|what if i add {n}|and if i add {n}".split("|"),
          "-": "then minus {n}|then subtract {n}|ok, minus {n}|take {n} off|take {n} from that|reduce it by {n}|subtract {n} from that|what if i take {n} away|now minus {n}".split("|"),
          "*": "then times {n}|then multiply by {n}|ok, times {n}|multiply it by {n}|now times {n}|what if i multiply it by {n}|that times {n}".split("|")}
AND_SUM = "ok, and {e}|ok, {e}|next: {e}|next, {e}|and now {e}|and how much is {e}|now what is {e}|what is {e} then|also {e}|{e} too|let's try {e}|try {e}".split("|")

# ------------------------------------------------------------------ arithmetic
SUM_ASK = """what will {e} be|how much will {e} be|what do you get for {e}|what do we get for {e}|what comes out of {e}|what comes out when i do {e}
can you do {e}|can you solve {e}|could you calculate {e}|could you solve {e}|would you calculate {e}|please work out {e}|please solve {e}
please compute {e}|can you compute {e}|can you work out {e}|could you tell me what {e} is|could you tell me {e}|please tell me what {e} is
i need to know {e}|i need to calculate {e}|i want to calculate {e}|i would like to know what {e} is|i'd like to know {e}|let's calculate {e}
help me calculate {e}|help me work out {e}|my homework says {e}|homework: {e}|maths: {e}|math question: {e}|a sum: {e}|an easy one: {e}
here is a sum: {e}|next sum: {e}|try {e}|now try {e}|what about {e}|how about {e}|{e}, what is that|{e}, how much is it|{e}, please
{e} makes|{e} gives|{e} gives what|{e} gives how much|{e} = what|{e} = how much|{e} ?|{e} = x, what is x|the answer to {e}|the value of {e}
what is the value of {e}|what is the solution of {e}|give me {e}|give me the result of {e}|show me {e}|show me the result of {e}
do you know {e}|do you know how much {e} is|i forgot what {e} is|is it hard to work out {e}|how do you work out {e}|what number is {e}
which number is {e}|find the value of {e}|find out what {e} is|quick, what is {e}|quickly: {e}|hey, what is {e}|hi, what is {e}|ok, what is {e}
then what is {e}|and how much is {e}|calc {e}|calculate: {e}|compute: {e}|solve: {e}|answer this: {e}|question: {e}|question: what is {e}
tell me the answer: {e}|tell me the result of {e}|tell me how much {e} is|what's the answer to {e}|what's the result of {e}|do the math: {e}
can you do this sum: {e}|please do {e}|do {e}|do {e} for me|calculate {e} for me|solve {e} for me|work out {e} for me""".replace("\n", "|").split("|")
SUM_WHOLE = {
    "+": lines("""
[please|can you|could you] add {a} and {b}
[please|can you|could you] add {b} to {a}
what is {a} when you add {b}
what is {a} with {b} added
what is {a} increased by {b}
{a} increased by {b}
what is the total of {a} and {b}
the total of {a} and {b}
how many are {a} and {b} together
how much are {a} and {b} together
{a} and another {b} make how much
start with {a} and add {b}, what do you get
i had {a} {t} and found {b} more. how many {t} do i have now
{N} has {a} {t} and finds {b} more. how many {t} does {N} have now
{N} had {a} {t} and bought {b} more, how many {t} is that
on monday {N} got {a} {t}, on tuesday {b}. how many {t} in all
{a} {t} here and {b} {t} there, how many {t} in total
there are {a} {t}, and {N} brings {b} more. how many {t} are there now
{N} ate {a} {t} and {M} ate {b}. how many {t} did they eat
what do i get if i put {a} {t} and {b} {t} together
how many {t} do {a} and {b} {t} make
which number do i get when i add {b} to {a}
"""),
    "-": lines("""
[please|can you|could you] subtract {b} from {a}
[please|can you|could you] take {b} away from {a}
what is {a} reduced by {b}
{a} reduced by {b}
{a} decreased by {b}
decrease {a} by {b}
what is {a} with {b} taken away
what remains when i take {b} from {a}
how much is left of {a} after {b}
start with {a} and take away {b}, what is left
{N} had {a} {t} and lost {b}. how many {t} are left
{N} has {a} {t} and eats {b}, how many {t} are left
{N} had {a} {t} and sold {b}. how many {t} does {N} still have
there were {a} {t}, {N} took {b}. how many {t} remain
i bought {a} {t} and used {b}. how many {t} do i still have
of {a} {t}, {b} are broken. how many {t} are not
{a} {t} lie on the table and {b} fall down. how many {t} stay
which number do i get when i subtract {b} from {a}
what must i add to {b} to get {a}
"""),
    "*": lines("""
[please|can you|could you] multiply {a} by {b}
[please|can you|could you] multiply {a} and {b}
what is {a} multiplied with {b}
{a} multiplied with {b}
which number do i get when i multiply {a} by {b}
{a} lots of {b}
{a} lots of {b} are how many
{a} bags of {b} {t}, how many {t} in all
one box has {b} {t}. how many {t} are in {a} boxes
each of {a} children has {b} {t}. how many {t} do they have
{N} has {a} boxes with {b} {t} each. how many {t} does {N} have
i buy {a} packs of {b} {t}. how many {t} do i have
{a} tables with {b} {t} on each, how many {t} is that
if {a} people bring {b} {t} each, how many {t} are there
what do {a} times {b} {t} make
"""),
    "/": lines("""
[please|can you|could you] divide {a} by {b}
what is {a} split by {b}
which number do i get when i divide {a} by {b}
what do i get when i divide {a} by {b}
what do you get when you divide {a} by {b}
what is {a} shared between {b}
share {a} between {b}
{N} shares {a} {t} among {b} friends. how many {t} does each get
{a} {t} go into {b} equal bags. how many {t} are in each bag
{a} {t} are split into {b} equal groups. how big is a group
how many {t} does each of {b} people get from {a} {t}
i cut {a} {t} into {b} equal heaps, how many in each heap
"""),
}
OTHER_ASK = {k: lines(v) for k, v in dict(
    double="""
[please|can you|could you] double {a}
two times {a}
{a} times two
how much is double {a}
the double of {a}
what do i get when i double {a}
""", half="""
[please|can you|could you] halve {a}
the half of {a}
what do i get when i halve {a}
one half of {a}
cut {a} in half
what is {a} halved
""", square="""
[please|can you|could you] square {a}
{a} to the power of 2
how much is {a} squared
{a} to the second power
what do i get when i square {a}
what is {a}^2
""", root="""
[please|can you|could you] find the square root of {a}
find the root of {a}
sqrt {a}
what is sqrt({a})
the square root of {a}
how much is the square root of {a}
""", parity="""
can you tell me if {a} is even or odd
do you know if {a} is odd or even
{a}: even or odd
is {a} an odd or an even number
{a}, odd or even
check whether {a} is even
does {a} count as even or odd
""", bigger="""
which of {a} and {b} is [bigger|larger|greater]
{a} and {b}, which one is [bigger|larger|more]
what number is [bigger|larger], {a} or {b}
compare {a} and {b}, which is [bigger|larger]
the [bigger|larger] one of {a} and {b}
what is more, {a} or {b}
""", smaller="""
which of {a} and {b} is [smaller|less|lower]
{a} and {b}, which one is [smaller|less]
what number is [smaller|lower], {a} or {b}
compare {a} and {b}, which is [smaller|less]
the [smaller|lower] one of {a} and {b}
""", next="""
what comes right after {a}
the number that follows {a}
tell me the number after {a}
i count: {a}, and then
name the number after {a}
which number is next after {a}
what is the next number after {a}
""", previous="""
which number stands before {a}
tell me the number before {a}
the number right before {a}
name the number before {a}
what is one less than the number {a}
which number do i count before {a}
""", in_words="""
[please|can you|could you] write {a} in words
how is {a} written in words
write the number {a} as a word
{a} as a word
the word for {a}
what is the word for {a}
how do i write {a} in words
""", in_digits="""
[please|can you|could you] write {w} in digits
write {w} with digits
how do i write {w} in digits
the digits of {w}
{w} in numbers
turn {w} into a number
convert {w} to digits
""", count_to="""
could you count to {a}
count to {a} please
let's count to {a}
count up to {a} please
can you count up to {a}
count for me up to {a}
say the numbers from 1 to {a}
list the numbers from 1 to {a}
numbers 1 to {a}
""", sort="""
could you sort {l}
sort {l} please
sort by size: {l}
sort from small to large: {l}
order {l} by size
put these in order: {l}
numbers to sort: {l}
can you put {l} in order
rank {l} from lowest to highest
{l} sorted
{l} in order
""", largest="""
which is the [largest|biggest|highest] of {l}
name the [largest|biggest|highest] of {l}
[largest|biggest|highest] of {l}
which number is the [largest|biggest|highest]: {l}
max of {l}
tell me the [largest|biggest] of {l}
{l}: which is the [largest|biggest]
""", smallest="""
which is the [smallest|lowest] of {l}
name the [smallest|lowest] of {l}
[smallest|lowest] of {l}
which number is the [smallest|lowest]: {l}
min of {l}
tell me the [smallest|lowest] of {l}
{l}: which is the [smallest|lowest]
""", percent="""
[please|can you|could you] calculate {p} percent of {a}
work out {p}% of {a}
how much is {p}% of {a}
tell me {p} percent of {a}
what do {p} percent of {a} make
what are {p} percent of {a}
""", zero_div="""
how much is {a} / 0
calculate {a} / 0
{a} divided by zero
{a} by zero
split {a} into 0 parts
how often does 0 go into {a}
what do i get when i divide {a} by 0
is {a} / 0 possible
{a} over 0
""", big_sum="""
solve {a} [+|-|*] {b}
work out {a} [+|-|*|plus|minus|times] {b}
{a} [plus|minus|times] {b}
tell me {a} [+|-|*] {b}
can you calculate {a} [+|-|*] {b}
{a} [+|-|*] {b} =
""").items()}

# ------------------------------------------------------------------ facts
# Noun phrases for NP_FRAMES, and whole questions after the line "--".
FACTS = {k: [lines(p) for p in (v + "\n--\n").split("--\n")[:2]] for k, v in dict(
    capital="""
the capital of {x}
the capital city of {x}
{x}'s capital
{x}'s capital city
the seat of government of {x}
the main city of {x}
--
which city is [the capital|the capital city|capital] of {x}
what city is [the capital|the capital city|capital] of {x}
[what|which] is the capital city in {x}
in {x}, [what|which] city is the capital
{x}: what is its capital
which city do you call the capital of {x}
where is the capital of {x} and what is it called
i travel to {x}, what is the capital there
what is {x}'s capital called
""", capital_of="""
the country whose capital is {y}
the country of which {y} is the capital
the country with the capital {y}
--
which country is governed from {y}
{y} is the capital of what country
{y}, which country is that the capital of
of what country is {y} the capital
which land has {y} as its capital
what country has {y} as its capital
i am in {y}, in which country am i
{y}: which country
""", continent="""
the continent of {x}
the continent {x} is on
the continent {x} lies on
the continent where {x} lies
{x}'s continent
--
which continent contains {x}
which continent has {x}
{x}: which continent
{x} belongs to which continent
{x} lies on which continent
what continent does {x} belong to
on which continent can i find {x}
on which continent would i find {x}
if i fly to {x}, on which continent do i land
""", language="""
the language of {x}
the language people speak in {x}
the language spoken in {x}
{x}'s language
the main language of {x}
the official language of {x}
--
what do people speak in {x}
which language should i learn for {x}
in {x}, what language is spoken
{x}: which language
what language would i hear in {x}
which tongue do people speak in {x}
i go to {x}, which language do they speak there
""", currency="""
the currency of {x}
the money of {x}
the currency used in {x}
{x}'s currency
the name of the money in {x}
--
what do people pay with in {x}
with what money do you pay in {x}
which money do i need in {x}
what is {x}'s money called
{x}: which currency
which currency is used in {x}
what currency do they have in {x}
i travel to {x}, what money do i take
""", colour="""
the [colour|color] of {ax}
the usual [colour|color] of {ax}
the normal [colour|color] of {ax}
--
{ax} is what [colour|color]
what is the usual [colour|color] of {ax}
in which [colour|color] do i paint {ax}
what [colour|color] would you paint {ax}
which [colour|color] would {ax} have
{ax}: what [colour|color]
what [colour|color] is {ax} usually
""", sound="""
the sound a {x} makes
the noise a {x} makes
the noise of a {x}
--
a {x} makes what sound
which noise does a {x} make
what noise comes from a {x}
what do you hear from a {x}
how does a {x} make itself heard
what does the {x} say
a {x}: what sound
""", young="""
the word for a young {x}
the word for a baby {x}
the name for a young {x}
the young of a {x}
--
how is a young {x} called
how is a baby {x} called
what is the baby {x} called
what are young {x}s called
what are baby {x}s called
a young {x}: what is it called
which word is used for a baby {x}
""", home="""
the home of a {x}
the place where a {x} lives
the word for the home of a {x}
--
a {x} lives where
where does a {x} have its home
where does a {x} stay
in what kind of home does a {x} live
which home has a {x}
""", legs="""
the number of legs of a {x}
the count of legs of a {x}
the number of legs a {x} has
--
what number of legs does a {x} have
how many legs do {x}s have
how many legs can you count on a {x}
a {x}: how many legs
tell me how many legs a {x} has
do you know how many legs a {x} has
""", opposite="""
the opposite of {x}
the antonym of {x}
the contrary of {x}
the word that means the opposite of {x}
an opposite of {x}
an antonym for {x}
the opposite word of {x}
--
if it is not {x}, what is it
not {x} but what
{x} and its opposite
what word means the opposite of {x}
which word is the contrary of {x}
what's an antonym of {x}
opposite: {x}
antonym: {x}
{x}: what is the opposite
{x}, opposite
say the opposite of {x}
which word is opposite to {x}
what is opposite to {x}
what do you call the opposite of {x}
""", german="""
the German word for {x}
the German translation of {x}
{x} in German
--
how is {x} called in German
what do Germans call {x}
what do Germans say for {x}
say {x} in German
German for {x}
how would i say {x} in German
German: {x}
put {x} into German
""", french="""
the French word for {x}
the French translation of {x}
{x} in French
--
how is {x} called in French
what do the French call {x}
say {x} in French
French for {x}
how would i say {x} in French
French: {x}
put {x} into French
""", spanish="""
the Spanish word for {x}
the Spanish translation of {x}
{x} in Spanish
--
how is {x} called in Spanish
what do the Spanish call {x}
say {x} in Spanish
Spanish for {x}
how would i say {x} in Spanish
Spanish: {x}
put {x} into Spanish
""", month_after="""
the month after {x}
the month that follows {x}
the next month after {x}
the month following {x}
--
{x} is over, which month is it now
it is {x}, what is the next month
which month do we have after {x}
{x}, and then which month
what month is next after {x}
""", month_before="""
the month before {x}
the month that comes before {x}
the month right before {x}
--
it is {x}, what was last month
which month do we have before {x}
which month is right before {x}
what month precedes {x}
""", month_days="""
the number of days in {x}
the length of {x} in days
the number of days {x} has
--
how long is {x}
how many days long is {x}
what number of days has {x}
{x}: how many days
""", day_after="""
the day after {x}
the day that follows {x}
the next day after {x}
the weekday after {x}
--
it is {x}, what day is tomorrow
today is {x}. what day will it be tomorrow
{x} is over, which day is it now
which weekday comes after {x}
which weekday follows {x}
{x}, and then which day
""", day_before="""
the day before {x}
the day that comes before {x}
the weekday before {x}
the day right before {x}
--
it is {x}, what day was yesterday
today is {x}. what day was it yesterday
which weekday comes before {x}
what day precedes {x}
""", season="""
the season of {x}
the season in {x}
the season {x} belongs to
--
which season has {x}
{x}: which season
what time of year is {x}
which season do we have in {x}
in {x}, which season is it
""", unit="""
the number of {x}
the amount of {x}
--
how many {w} go into {z}
how many {w} fit into {z}
how many {w} do i have in {z}
tell me how many {w} are in {z}
do you know how many {w} are in {z}
convert {z} to {w}
{z} in {w}
what is {z} in {w}
""", plural="""
the plural of {x}
the plural form of {x}
the plural of the word {x}
the plural of the noun {x}
--
one {x}, but two what
one {x} and two what
one {x}, two how
what do you say for more than one {x}
how is the plural of {x} formed
which plural does {x} have
what are several of {x} called
{x} in the plural
put {x} in the plural
put {x} into the plural
make {x} plural
make the plural of {x}
plural {x}
plural for {x}
{x}: plural
what word do i use for many of {x}
""", past="""
the past tense of {x}
the past form of {x}
the past tense of the verb {x}
--
{x} in the past tense
which past tense does {x} have
{x}: past tense
now i {x}, yesterday i what
put the verb {x} into the past
make the past tense of {x}
""", symbol="""
the chemical symbol of {x}
the chemical symbol for {x}
the symbol chemists use for {x}
--
how do chemists write {x}
what do chemists write for {x}
{x}: chemical symbol
how is {x} written in chemistry
""", author="""
the author of {x}
the writer of {x}
the name of the author of {x}
--
whose book is {x}
{x}: who wrote it
{x} was written by whom
i am reading {x}, who wrote it
which person wrote {x}
""", river="""
the river in {x}
the river of {x}
the river that flows through {x}
the river on which {x} lies
--
{x} lies on which river
{x}: which river
which river do i see in {x}
which river passes through {x}
what is the name of the river in {x}
""").items()}

# ------------------------------------------------------------------ jobs on words
# do: imperatives for DO_FRAMES; after the line "--" questions and noun phrases for ASK_FRAMES.
JOBS = {k: [lines(p) for p in (v + "\n--\n").split("--\n")[:2]] for k, v in dict(
    upper="""
[write|type|print|put|say|give me|show me] {w} in [capitals|capital letters|upper case|uppercase|uppercase letters|big letters|all caps|block letters|block capitals]
[write|type|print] the word {w} in [capitals|capital letters|upper case|uppercase|all caps]
[turn|change|convert|transform|make|set] {w} [to|into] [capitals|capital letters|upper case|uppercase|all caps|big letters]
[turn|change|convert|transform] the word {w} [to|into] [capitals|capital letters|upper case|uppercase]
make {w} [all caps|all uppercase|all capitals|big]
make all letters of {w} [big|uppercase|capital letters]
shout {w}
uppercase the word {w}
upper-case {w}
write {w} with capital letters only
use capital letters for {w}
raise {w} to upper case
--
{w} in [all caps|big letters|block letters|upper case letters|uppercase letters]
{w}, but in [capitals|upper case|uppercase|all caps]
{w} uppercase
{w}, uppercase
uppercase of {w}
how does {w} look in [capitals|capital letters|upper case|uppercase|all caps]
how do i write {w} in [capitals|capital letters|upper case|uppercase]
what does {w} look like in [capitals|upper case|uppercase]
uppercase: {w}
upper case: {w}
capitals: {w}
to uppercase: {w}
""", lower="""
[write|type|print|put|say|give me|show me] {w} in [small letters|lower case|lowercase|lowercase letters|little letters]
[write|type|print] the word {w} in [small letters|lower case|lowercase]
[turn|change|convert|transform|make|set] {w} [to|into] [small letters|lower case|lowercase|lowercase letters]
make {w} [all lowercase|small|all small]
make all letters of {w} [small|lowercase]
lowercase the word {w}
lower-case {w}
write {w} with small letters only
write {w} without capital letters
use small letters for {w}
stop shouting {w}
--
{w} in [small letters|little letters|lowercase letters]
{w}, but in [small letters|lower case|lowercase]
{w} lowercase
{w}, lowercase
lowercase of {w}
how does {w} look in [small letters|lower case|lowercase]
how do i write {w} in [small letters|lower case|lowercase]
lowercase: {w}
lower case: {w}
small letters: {w}
to lowercase: {w}
""", spell="""
spell {w}
spell the word {w}
spell {w} [letter by letter|slowly|aloud|out loud|correctly]
spell [out|] the word {w} [letter by letter|slowly|]
tell me how to spell {w}
show me how {w} is spelled
say {w} letter by letter
write {w} letter by letter
write {w} with hyphens between the letters
list the letters of {w}
name the letters of {w}
give me the letters of {w}
break {w} into letters
split {w} into letters
take {w} apart into letters
--
how do you spell the word {w}
how is the word {w} spelled
how is {w} spelt
how is {w} written letter by letter
how would you spell {w}
what are the letters of {w}
what letters are in {w}
which letters make up {w}
which letters does {w} have
the letters of {w}
the letters in {w}
spelling of {w}
the spelling of {w}
{w} letter by letter
{w}, letter by letter
{w} spelled out
letters of {w}
spelling: {w}
""", first_letter="""
[tell me|give me|say|name|write|show me|find] the first letter of [{w}|the word {w}]
take the first letter of {w}
--
the first letter in {w}
the first letter of the word {w}
the starting letter of {w}
the initial of {w}
{w}: first letter
{w}, first letter
what is the [first|starting|initial] letter [of|in] [the word|] {w}
what's the [first|starting|initial] letter [of|in] [the word|] {w}
[what|which] letter is [at the start|at the beginning|at the front|first] [of|in] {w}
[what|which] letter [starts|begins|opens] [the word|] {w}
with [what|which] letter does [the word|] {w} [start|begin]
{w} [starts|begins] with [what|which letter|what letter]
how does the word {w} begin
by which letter does {w} start
[what|which] letter does the word {w} [start|begin] with
[what|which] letter comes first in {w}
""", last_letter="""
[tell me|give me|say|name|write|show me|find] the last letter of [{w}|the word {w}]
take the last letter of {w}
--
the last letter in {w}
the last letter of the word {w}
the final letter of {w}
the ending letter of {w}
{w}: last letter
{w}, last letter
what is the [last|final|ending] letter [of|in] [the word|] {w}
what's the [last|final|ending] letter [of|in] [the word|] {w}
[what|which] letter is [at the end|at the back|last] [of|in] {w}
[what|which] letter [ends|closes|finishes] [the word|] {w}
with [what|which] letter does [the word|] {w} [end|stop|finish]
{w} [ends|finishes] with [what|which letter|what letter]
how does the word {w} end
[what|which] letter does the word {w} [end|finish] with
[what|which] letter comes last in {w}
""", length="""
count the [letters|characters] [in|of] {w}
count the [letters|characters] [in|of] the word {w}
count how many letters {w} has
count how many letters are in {w}
tell me how many letters {w} has
tell me how many letters are in {w}
tell me how long {w} is
tell me the [length|number of letters] of {w}
say how many letters the word {w} has
find the length of {w}
give me the [length|number of letters] of {w}
--
how many [letters|characters] does the word {w} have
how many [letters|characters] has the word {w}
how many [letters|characters] are in the word {w}
how many [letters|characters] are there in {w}
how many [letters|characters] can you count in {w}
how many letters long is {w}
how many letters make up {w}
how many letters do i need for {w}
what is the [length|number of letters] of {w}
what's the length of {w}
what length has {w}
length of {w}
the length of {w}
letter count of {w}
letters in {w}
{w} has how many letters
{w}: how many letters
{w}, how many letters
{w} is how many letters long
of how many letters does {w} consist
""", repeat_n="""
[write|print|say|repeat|type|give me|show me|echo] {w} {n} times
[write|print|say|repeat|type|echo] the word {w} {n} times
[write|print|say|type] {n} times {w}
repeat {w} exactly {n} times
write {w} {n} times in a row
say {w} {n} times in a row
copy {w} {n} times
--
{w} {n} times
{n} times the word {w}
{w}, {n} times
""", reverse_list="""
reverse {l}
reverse [the|these] [words|items|entries]: {l}
[put|bring|set] {l} [in|into] [reverse|reversed|opposite|inverse|backward] order
[put|bring|set] these in [reverse|reversed|opposite] order: {l}
[write|list|say|print|show|name|give] [me|] {l} [in reverse|backwards|in reversed order|from back to front|from the end|the other way round|the other way around]
turn {l} around
turn around the order of {l}
flip the order of {l}
flip the list {l}
flip {l}
invert the order of {l}
start with the last and list {l}
read {l} from the end
change the order of {l} to the reverse
--
{l} backwards
{l} reversed
{l}, but backwards
{l} from last to first
{l} the other way round
what is {l} in reverse order
how is {l} in reverse order
reverse: {l}
reversed: {l}
backwards: {l}
the reverse of {l}
""", reverse_word="""
[write|type|print|say|spell|read|put] [the word|] {w} [backwards|in reverse|backward|from the end|from back to front|the other way round]
reverse {w}
reverse [the letters|letters|the characters] of {w}
reverse the letters in {w}
turn {w} [around|backwards|round]
flip the word {w}
flip the letters of {w}
mirror the word {w}
--
the word {w} backwards
{w} reversed
{w} in reverse
{w}, but backwards
{w} spelled backwards
what is {w} [reversed|spelled backwards|in reverse|written backwards]
what is the reverse of the word {w}
how is {w} written backwards
how do you spell {w} backwards
how does {w} read backwards
reverse word: {w}
backwards: {w}
""", sort_words="""
sort {l} [by alphabet|from a to z|by name|in alphabetical order|a to z|abc|in abc order|by the first letter]
sort [the|these] [words|items|entries] [alphabetically|by alphabet|from a to z|in alphabetical order|]: {l}
sort this [alphabetically|by alphabet|from a to z]: {l}
[put|bring|set|place] {l} [in|into] [alphabetical|alphabetic|abc|dictionary|the right alphabetical] order
[put|bring] [these words|this list|the words|the list|them] [in|into] alphabetical order: {l}
[order|arrange|organise|organize|rank] {l} [alphabetically|by alphabet|from a to z|in alphabetical order]
[order|arrange|organise|organize] [the|these] [words|items] [alphabetically|by alphabet|from a to z]: {l}
alphabetize {l}
alphabetise these words: {l}
alphabetize the list {l}
list {l} alphabetically
list {l} in alphabetical order
write {l} in alphabetical order
make {l} alphabetical
--
{l} sorted
{l} [alphabetically|sorted alphabetically|from a to z|sorted by alphabet|in abc order]
{l}: sort
{l}, sorted please
what is {l} in alphabetical order
how do i sort {l} alphabetically
what is the alphabetical order of {l}
which is the alphabetical order of {l}
the alphabetical order of {l}
alphabetical order: {l}
sort: {l}
sorted: {l}
words to sort: {l}
""", first_of="""
[tell me|give me|say|name|write|pick|show me|find|read me] the first [word|item|entry|element|thing|one|] of [the list|] {l}
[tell me|give me|say|name|pick] the first [word|item|one|]: {l}
--
the first [word|item|entry|element|thing] [of|in|from] [the list|] {l}
{l}: which is [the first|first]
{l}: [what|which] comes first
{l}: first [word|item|one|]
[what|which] [word|item|one|entry] is [the first|first] in {l}
[what|which] [word|item|one|entry] is at the [start|beginning|front|top] of {l}
[what|which] is the first [item|entry|element|thing|one] [of|in] {l}
what comes first in {l}
what stands first in {l}
how does the list {l} start
with which word does the list {l} begin
""", last_of="""
[tell me|give me|say|name|write|pick|show me|find|read me] the last [word|item|entry|element|thing|one|] of [the list|] {l}
[tell me|give me|say|name|pick] the last [word|item|one|]: {l}
--
the last [word|item|entry|element|thing] [of|in|from] [the list|] {l}
the final [word|item] of {l}
{l}: which is [the last|last]
{l}: [what|which] comes last
{l}: last [word|item|one|]
[what|which] [word|item|one|entry] is [the last|last] in {l}
[what|which] [word|item|one|entry] is at the [end|bottom|back] of {l}
[what|which] is the last [item|entry|element|thing|one] [of|in] {l}
what comes last in {l}
what stands last in {l}
how does the list {l} end
with which word does the list {l} end
""", count_items="""
count {l}
count [these|the|my] [words|items|things|entries]: {l}
count the [words|items|things|entries] [in|of] [the list|this list|] {l}
count how many [words|items|things] there are: {l}
tell me how many [words|items|things] are in {l}
tell me how many [words|items|things] these are: {l}
tell me the number of [words|items] in {l}
say how many words you see: {l}
--
how many [words|items|things|entries] are [there|these|this|here]: {l}
how many [words|items|things|entries] are there in [the list|] {l}
how many [words|items|things|entries] does the list {l} have
how many [words|items|things] do you [see|count] in {l}
how many words is {l}
{l}: how many [words|items|things|are there|are these]
{l}, how many [words|items|things] is that
the number of [words|items|entries] in {l}
number of [items|entries|things] in {l}
word count: {l}
what is the number of [words|items] in {l}
how long is the list {l}
""", greet="""
[greet|welcome] [my|our] [friend|brother|sister|colleague|neighbour] {N}
say [hello|hi|good day] to [my|our] [brother|sister|colleague|neighbour|boss|teacher] {N}
say [hello|hi] to {N} [from me|now|here]
give {N} [a greeting|a hello|a warm welcome]
greet {N} [politely|nicely|warmly]
write a greeting for {N}
write [hello|hi] to {N}
--
{N} is here, say hello
this is my friend {N}, say hello
a greeting for {N}
""", join="""
[join|glue|put|stick|merge|combine|connect|add|concatenate] {a} and {b} [into one word|to one word|to make one word|together as one word|without a space]
[join|glue|merge|combine|connect|concatenate] the words {a} and {b}
[make|form|build] one word [from|out of|of] {a} and {b}
write {a} and {b} as one word
write {a} and {b} without a space
concatenate {a} and {b}
append {b} to {a}
put {b} right after {a}
--
{a} and {b} as one word
{a} and {b} in one word
what do i get when i join {a} and {b}
what is {a} and {b} as one word
one word from {a} and {b}
""", letter_after="""
[tell me|give me|name|say] the [letter after|next letter after|letter that follows] {c}
--
[what|which] letter [comes|is|stands] [right|directly|next|just|] after {c}
[what|which] letter is next after {c}
[what|which] [is|comes] [the letter|] after {c} in the alphabet
{c}, and then which letter
after {c} comes which letter
the [next letter|letter] after {c} [in the alphabet|]
which letter of the alphabet follows {c}
the letter following {c}
what follows {c} in the alphabet
the successor of {c} in the alphabet
""", bullet="""
[write|make|create|give me|show me|print|format] a [list|bullet list|bulleted list|list with bullets|list with dashes] [of|from|out of|with] {l}
[turn|change|format|put|convert] {l} [into|to] a [list|bullet list|bulleted list]
[write|show|print|format|list|give me] {l} as [a list|a bullet list|bullets|bullet points|a bulleted list]
[write|put|list|print] {l} one [per|in each|on each|a] line
make bullets [of|from] {l}
make a bulleted list: {l}
list these: {l}
list the items {l}
--
{l} as [a list|bullets|bullet points|a bulleted list]
{l}, one per line
bullet points: {l}
bullet list: {l}
list: {l}
a list of {l}
a bullet list of {l}
""", yes_or_no="""
[say|write|type|answer|answer with|reply with] [the word|] yes
say [just|only|simply] yes
answer [just|only|simply] [with|] yes
--
""",
    first_word="""
[tell me|give me|say|name|find] the first word [of|in] [the sentence|this sentence|the line|]: {s}
--
[what|which] is the first word [of|in] [the sentence|this sentence|the line|]: {s}
[what|which] word comes first [here|]: {s}
with which word does this sentence begin: {s}
{s}. what is the first word
{s}: first word
first word: {s}
""", last_word="""
[tell me|give me|say|name|find] the last word [of|in] [the sentence|this sentence|the line|]: {s}
--
[what|which] is the last word [of|in] [the sentence|this sentence|the line|]: {s}
[what|which] word comes last [here|]: {s}
with which word does this sentence end: {s}
{s}. what is the last word
{s}: last word
last word: {s}
""", sentence_count="""
count the words [of|in] [the sentence|this sentence|the line|]: {s}
count the words: {s}
--
how many words [has|are in|does] [the|this] sentence [have|]: {s}
how many words are there in: {s}
{s}. how many words are that
number of words: {s}
""", letter_before="""
[tell me|give me|name|say] the letter before {c}
--
[what|which] letter [comes|is|stands] [right|directly|just|] before {c}
the letter before {c} [in the alphabet|]
which letter of the alphabet comes before {c}
what comes before {c} in the alphabet
before {c} comes which letter
which letter precedes {c}
""", nth_letter="""
[tell me|give me|name|say] the {o} letter of [the word|] {w}
--
[what|which] is the {o} letter [of|in] [the word|] {w}
what's the {o} letter of {w}
[what|which] letter is {o} in {w}
the {o} letter [of|in] {w}
{w}: {o} letter
""", contains="""
[check|tell me] [if|whether] {w} [has|contains] [the letter|a|an] {c}
--
does [the word|] {w} [have|contain|include] [the letter|a|an] {c} [in it|]
is [the letter|a|an] {c} in [the word|] {w}
is there [the letter|a|an] {c} in [the word|] {w}
has [the word|] {w} [got|] [the letter|a|an] {c}
can you find [the letter|a|an] {c} in [the word|] {w}
""", count_letter="""
count the letter {c} in [the word|] {w}
count how often {c} is in {w}
tell me how often {c} is in {w}
--
how often [is|does] the letter {c} [in|occur in|appear in] [the word|] {w}
how many times is {c} in [the word|] {w}
how many times does {c} [occur|appear] in [the word|] {w}
how many {c}s are in [the word|] {w}
how many {c}'s are there in [the word|] {w}
how many {c}s does [the word|] {w} have
""", title="""
[capitalise|capitalize] {w}
[capitalise|capitalize] the word {w}
[capitalise|capitalize] the first letter of {w}
make the first letter of {w} [big|a capital|uppercase]
[write|start|begin|type|put] {w} with a capital [letter|first letter]
write {w} with a [big|capital] first letter
give {w} a capital letter at the start
--
{w} with a capital [letter|first letter]
{w} with a big first letter
how do i write {w} with a capital letter
""", next_number="""
continue [the row|the series|the sequence|the list|the pattern|]: {l}
continue {l}
go on [with|]: {l}
[complete|extend] the [row|series|sequence|pattern]: {l}
[tell me|find|name] the next number: {l}
--
what comes next: {l}
what [number|] is next: {l}
[which|what] number comes next [in|]: {l}
[which|what] number comes next in the [row|series|sequence] {l}
{l}, what is next
{l}, and then
{l}, ...
{l}: next number
next number: {l}
what is the next number in {l}
""", missing_number="""
fill [in|] the [gap|blank]: {l}
fill in the missing number: {l}
[find|tell me|name|give me] the missing number: {l}
complete: {l}
--
[which|what] number is missing [here|]: {l}
[which|what] number is missing in {l}
what goes in the [gap|blank]: {l}
what is the missing number [in|]: {l}
{l}: which number is missing
""", second_of="""
[tell me|give me|say|name|pick|take] the second [word|item|one|] of [the list|] {l}
--
[what|which] is the second [word|item|one] of {l}
[which|what] [word|item] is second in {l}
the second [word|item|entry] of {l}
{l}: second [word|item|]
[which|what] [word|item] comes second [in|]: {l}
""", longest="""
[tell me|find|name|pick|give me] the longest word [of|in]: {l}
--
[which|what] is the longest word [of|in|]: {l}
[which|what] word is the longest [of|in|]: {l}
[which|what] of these words is the longest: {l}
which has the most letters: {l}
the longest word of {l}
longest word: {l}
""", shortest="""
[tell me|find|name|pick|give me] the shortest word [of|in]: {l}
--
[which|what] is the shortest word [of|in|]: {l}
[which|what] word is the shortest [of|in|]: {l}
[which|what] of these words is the shortest: {l}
which has the fewest letters: {l}
the shortest word of {l}
shortest word: {l}
""", drop_item="""
[leave out|take out|skip|drop|cross out|strike out] {w} [in|of|from] the list {l}
[take|strike|cross] {w} [off|out of|from] the list {l}
write the list without {w}: {l}
say {l} without {w}
write {l} but not {w}
--
{l} without {w}
{l}, but without {w}
{l} minus {w}
what is the list {l} without {w}
""", add_item="""
[add|append|attach] {w} to the list {l}
[add|append] {w} at the end of [the list|] {l}
put {w} at the end of the list {l}
extend the list {l} with {w}
--
the list {l} with {w} at the end
what is the list {l} with {w} added
""", in_sentence="""
[put|use|place] {w} in a sentence
[put|use] the word {w} in a [short|simple|full|] sentence
[write|make|give me|build|form|say] a [short|simple|nice|full|] sentence with [the word|] {w}
[write|make|give me] an example sentence with {w}
write a sentence that [uses|contains|has] [the word|] {w}
make up a sentence with {w}
show me {w} in a sentence
--
a sentence with {w}
an example sentence with {w}
{w} in a sentence
example sentence: {w}
how do i use {w} in a sentence
how is {w} used in a sentence
""", starts_with="""
[name|say|give me|tell me|find|write] a word that [starts|begins] with [the letter|] {c}
[name|say|give me|tell me|find] a word [with|beginning with|starting with|on] [the letter|] {c}
--
a word with {c}
a word that [starts|begins] with {c}
[which|what] word [starts|begins] with {c}
do you know a word [with|that starts with|that begins with] {c}
which words start with the letter {c}
""", rhyme="""
[name|say|give me|tell me|find] a [word|rhyme] [that rhymes with|for|on] {w}
[name|say|give me|tell me] a word rhyming with {w}
find a rhyme for {w}
--
what rhymes with {w}
which word rhymes with {w}
what [word|] rhymes with the word {w}
a rhyme for {w}
rhyme for {w}
rhymes with {w}
what is a rhyme for {w}
do you know a rhyme for {w}
is there a rhyme for {w}
""", examples="""
[name|list|give me|tell me|say|write] [three|some|a few|3] {k}
[give|name|list] [me|] [some|three|a few] examples of {k}
[name|give me] examples for {k}
list [different|common|] {k}
--
[which|what] {k} do you know
what are [some|three|a few] {k}
what {k} are there
what are examples of {k}
examples of {k}
three {k}
some {k}
which are {k}
do you know [some|a few|three] {k}
""", say_no="""
[say|write|type|answer|answer with|reply with] [the word|] no
say [just|only|simply] no
answer [just|only|simply] [with|] no
""").items()}
# What is copied stands last; the frames stand before it.
COPY = lines("""
[repeat|copy|echo|say|write|print|type|quote|return|output] {w}
[repeat|copy|echo|say|write|print|type|quote|return|output]: {w}
[repeat|copy|echo|say|write|print|type|return] [this|the following|exactly this|what i write|these words|the words|the text|the following words|the following text|the line]: {w}
[repeat|copy|echo|say|write] [exactly|only|just|simply|word for word|literally]: {w}
[repeat|say|write|print] after me: {w}
[repeat|say|write|echo] back to me: {w}
[answer|reply|respond] with [this|the words|the text|exactly this|only this|the following]: {w}
[answer|reply|respond] only with {w}
[answer|reply|respond] just with {w}
give me back: {w}
give back these words: {w}
send back: {w}
parrot this: {w}
say what i say: {w}
write what i write: {w}
write down: {w}
write down {w}
your answer is: {w}
""")
SENTENCE_COPY = lines("""
[repeat|copy|echo|say|write|print|type|quote] [the|this|my] [sentence|line|text|phrase]: {w}
[repeat|copy|echo|say|write|quote] [the|this] following sentence: {w}
[repeat|copy|write] this sentence [word for word|exactly|once|without changes]: {w}
[repeat|say|write] after me: {w}
copy this: {w}
echo: {w}
""")

# ------------------------------------------------------------------ words to work on
WORDS = """anchor angel arrow autumn badger bank barn basket battery beach beard bell belt berry bicycle blanket blossom board
bone boots bottle bowl box branch brave breeze bright broom bucket button cabin cable cactus cake calm camel camera camp
candle candy canoe captain carpet cart cave ceiling cellar chalk cheek chest chicken chimney city clay clean clever cliff
clock coat coffee coin comet cookie copper coral corner cotton cousin crab crane crayon cream crown curtain cushion dawn
deer desert desk diamond dish dolphin donkey dragon drawer dream dress drum dust eagle early egg elbow elephant engine
evening face fair feather fence field finger flag flame flute fog folder forest fountain fox fresh fridge fruit funny
future galaxy game gate gentle giant ginger giraffe glove goal gold grain grandma granite grass guitar hammer hand harbour
hat hay heart heavy hedge helmet hill hobby honey hook hotel hour ice ink insect iron ivory jacket jam jar jewel juice
jump kettle key kind kite kitten ladder lake lamp lantern laptop leaf leather lemonade library light lily lizard lobster
long loud lunch magnet map marble mask meadow medal melody mill mirror mitten monkey month morning moss mountain museum
mushroom nail napkin neck needle nest nickel noodle nose nut oak oat office oil olive oven owner oyster paddle page paint
palm pan panda parrot pasta path peanut pearl pebble pencil penguin perfect pigeon pillow pilot pine pirate planet plant
pocket pond pony poppy port present prince print puppet purple puzzle rabbit radio radish raven ribbon rice ring robot
rocket rope rose ruby ruler saddle sail salad salmon sand scarf screen season seed shadow shark shell shelf shirt shoe
shovel silent silk silver sink skirt sleep smile soap sock sofa soft soup spark sponge squirrel stamp star station steam
stick storm straw street strong sunny swan sweater swim table tea tent thread thunder ticket toast tomorrow tool tooth
towel toy tractor treasure tulip tunnel turtle valley vase velvet violet violin voice wagon walnut wave wheel whale
wheat whistle wild willow window wing winner wise wool worm wrist yard young zoo""".split()
NAMES = """Adam Alex Alice Amy Anton Bella Bob Chris Clara Daniel Diana Edward Ella Eric Eva Felix Finn Fiona George Grace
Hannah Harry Helen Henry Iris Isaac Jack Jane Jim Julia Kate Kevin Laura Leo Lily Linda Lucy Luke Maria Mark Max Mia Mike
Noah Nora Oliver Olivia Peter Rachel Robert Ruth Sarah Simon Sofia Susan Tom Tim Vera Victor Will Zoe""".split()
SUBJECT = """the cat|the dog|my brother|my sister|the old man|a small bird|the teacher|our neighbour|the child|the green frog
my friend|the black horse|a young girl|the baker|the farmer|a happy boy|the red fox|my uncle|the little duck|the doctor
anna|ben|tom|she|he|the pilot|our cat|a brown bear|the king|the queen|a tired student""".replace("\n", "|").split("|")
VERB = """likes|sees|finds|buys|paints|carries|wants|loves|has|brings|holds|needs|takes|sells|draws|hides|washes|opens
watches|remembers""".replace("\n", "|").split("|")
OBJECT = """a red apple|the blue car|warm bread|an old book|the big house|cold milk|two eggs|a new hat|the moon|fresh water
a long letter|green tea|the yellow flower|three coins|a wooden chair|hot soup|the white boat|sweet cherries|a round table
the garden|a small box|good music""".replace("\n", "|").split("|")
WHEN = """|||today|every day|in the morning|at night|in the garden|on monday|at home|in summer|again|very much|by the river""".split("|")


def sentence(r):
    return " ".join(x for x in (r.choice(SUBJECT), r.choice(VERB), r.choice(OBJECT), r.choice(WHEN)) if x)


def listed(r, items):
    """A list as people type it."""
    k = r.random()
    if k < .72:
        return ", ".join(items)
    if k < .84:
        return ", ".join(items[:-1]) + " and " + items[-1]
    if k < .9:
        return " ".join(items)
    return (";" if k < .92 else "; " if k < .94 else "," if k < .97 else " and ").join(items)
