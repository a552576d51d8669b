"""Slot grammars: how a pattern becomes a question.

A pattern is one line of text. [a|b|] chooses, and may nest; {name} is a slot, filled from
the row of data at hand or from LEXICON. Sampling is fresh each time: nothing is
enumerated, so the text never repeats itself in a fixed order.
"""
import re
import zlib

LEXICON = {k: v.split("|") for k, v in dict(
    srv="the server|quince|the quince server|the ai server|my server|the service",
    q="quince|quince|it|this program|this|the program|this tool|the server|this thing|the software",
    pc="computer|machine|pc|laptop|desktop|system|box",
    get="download|get|fetch|grab|obtain",
    dele="delete|remove|erase|get rid of|throw away|wipe|uninstall|trash|drop",
    see="see|show|view|display|check|find out|look up|look at|print|get|find",
    chg="change|set|adjust|modify|alter|configure|pick|choose|switch|edit",
    start="start|launch|run|boot|fire up|bring up|turn on|begin|open|spin up|start up",
    stop="stop|quit|shut down|end|terminate|kill|turn off|close|halt|exit|switch off|shutdown",
    mod="model|language model|llm|ai model|model",
    mods="models|language models|llms|ai models|models",
    app="app|program|client|application|script|tool|software|code|project|editor|plugin",
    term="terminal|console|shell|command line|cli|terminal window",
    mem="memory|ram|main memory",
    ans="answer|reply|response|output",
    folder="folder|directory|dir|place|path",
    store="store|keep|save|put|hold|write",
    net="internet|network connection|internet connection|web connection|wifi|online connection",
    free="free|release|give back|reclaim|clear|empty|recover",
    sup="support|have|offer|provide|come with|include|know|do|handle",
    works="work|run|function",
    slow="slow|so slow|very slow|too slow|sluggish|taking ages|taking forever|crawling",
    broke="failed|broke|crashed|stopped working|does not work|went wrong|died|is broken",
    big="bigger|larger|better|smarter|stronger|more capable",
    need="need|require|have to have|must have",
    quick="quickly|fast|easily|simply|directly",
    many="several|many|multiple|two|more than one|a couple of|three",
).items()}

CHOICE = re.compile(r"\[([^\[\]]*)\]")
SLOT = re.compile(r"\{(\w+)\}")
BLANKS = re.compile(r"\s+")


def expand(pattern, rng, row=None):
    """One random reading of the pattern; row = {slot: text} goes before the lexicon."""
    def slot(m):
        name = m.group(1)
        if row is not None and name in row:
            return str(row[name])
        if name in LEXICON:
            return rng.choice(LEXICON[name])
        raise KeyError(f"no slot {name!r} in pattern {pattern!r}")
    text = SLOT.sub(slot, pattern)
    while True:
        text, n = CHOICE.subn(lambda m: rng.choice(m.group(1).split("|")), text)
        if not n:
            return BLANKS.sub(" ", text).strip()


def lines(block):
    """The patterns of a block of text, one a line."""
    return [BLANKS.sub(" ", s).strip() for s in block.strip().split("\n") if s.strip()]


def held_out(intent, pattern, share=10):
    """About one pattern in ten is kept for the test, chosen by a hash of its own text: the
    choice stays the same when other patterns come and go."""
    return zlib.crc32(f"{intent}\0{pattern}".encode()) % share == 0


def norm(text):
    """What makes two questions the same question for the split."""
    return BLANKS.sub(" ", re.sub(r"[^a-z0-9+*/=. -]", "", text.lower())).strip(" .")


# Carriers: sentence frames around a verb phrase {v} or a noun phrase {n}, shared by all
# intents and by the negatives, so that no frame by itself gives the answer away.
HOW = lines("""
how do i {v}
how do i {v}
how can i {v}
how to {v}
how would i {v}
how do you {v}
how does one {v}
how could i {v}
how should i {v}
how might i {v}
how am i supposed to {v}
what do i do to {v}
what must i do to {v}
what do i need to do to {v}
what should i do to {v}
what is the way to {v}
what's the [best|easiest|right|quickest] way to {v}
tell me how to {v}
tell me how i can {v}
show me how to {v}
explain how to {v}
explain to me how i {v}
can you tell me how to {v}
could you explain how to {v}
can you show me how to {v}
do you know how to {v}
do you know how i can {v}
i want to {v}
i need to {v}
i would like to {v}
i'd like to {v}
i wish to {v}
i'm trying to {v}
i am trying to {v}
i have to {v}
i want to know how to {v}
i don't know how to {v}
i do not know how to {v}
i forgot how to {v}
help me {v}
help me to {v}
please help me {v}
i need help to {v}
what if i want to {v}
what if i need to {v}
let me {v}
how do i go about it if i want to {v}
my goal is to {v}
where do i {v}
please {v}
is there a way to {v}
is there any way to {v}
any way to {v}
steps to {v}
instructions to {v}
guide me to {v}
how do we {v}
how is it possible to {v}
we want to {v}
""")
COMMAND = lines("""
what command do i use to {v}
which command do i use to {v}
what is the command to {v}
which command lets me {v}
what do i type to {v}
what do i [enter|write|run] to {v}
what should i type to {v}
is there a command to {v}
command to {v}
what's the command to {v}
which [quince|] command is there to {v}
give me the command to {v}
tell me the command to {v}
i need the command to {v}
what is the quince command to {v}
what is the [right|correct] command to {v}
with which command can i {v}
""")
MAY = lines("""
can i {v}
could i {v}
may i {v}
can you {v}
is it possible to {v}
am i able to {v}
am i allowed to {v}
does quince let me {v}
does quince allow me to {v}
can quince {v}
is it possible for me to {v}
can i {v} with quince
can one {v}
will i be able to {v}
do i get to {v}
would it be possible to {v}
could i somehow {v}
can quince help me {v}
""")
ABOUT = lines("""
what is {n}
what is {n}
what's {n}
what are {n}
tell me {n}
tell me about {n}
tell me more about {n}
tell me something about {n}
explain {n}
explain {n} to me
can you explain {n}
could you describe {n}
describe {n}
give me {n}
i want to know {n}
i'd like to know about {n}
i would like to know {n}
what about {n}
what do you know about {n}
show me {n}
i need {n}
please tell me {n}
please explain {n}
do you know {n}
i do not understand {n}
remind me of {n}
i forgot {n}
give me details on {n}
say something about {n}
what can you say about {n}
can you tell me {n}
could you tell me {n}
may i know {n}
i am looking for {n}
where can i read about {n}
{n}
{n} please
info on {n}
information about {n}
i have a question about {n}
question about {n}
help with {n}
""")
HOW += lines("""
so how exactly do i {v}
what's the trick to {v}
which steps do i take to {v}
where can i {v}
when i want to {v}, what do i do
if i want to {v}, what should i [type|do|run]
is there some way i could {v}
i would love to {v}
i was hoping to {v}
my plan is to {v}
could you help me {v}
how does a user {v}
suppose i want to {v}
{v}, how
{v}, how do i do that
in order to {v}, what do i do
i can't figure out how to {v}
i'm not sure how to {v}
i am not sure how to {v}
need to {v}
want to {v}
trying to {v}
how do people {v}
what is needed to {v}
what would i do to {v}
what's a good way to {v}
in what way can i {v}
how do i go about to {v}
how exactly can i {v}
what are the steps to {v}
is it hard to {v}
is it easy to {v}
how do i best {v}
i have no idea how to {v}
would you tell me how to {v}
how could one {v}
we need to {v}, how
""")
COMMAND += lines("""
what would i run to {v}
what's the cli command to {v}
what should i enter to {v}
which line do i type to {v}
is there a quince command that lets me {v}
what do i run in the terminal to {v}
which subcommand do i need to {v}
what command would {v}
i am looking for the command to {v}
how is the command called to {v}
which quince command do i use to {v}
do you know the command to {v}
""")
ABOUT += lines("""
what is the deal with {n}
what is meant by {n}
{n}: what is it
could you give me {n}
i'd like to hear about {n}
where is {n}
where do i find {n}
where can i find {n}
how about {n}
anything about {n}
can you help me with {n}
i wonder about {n}
what can you tell me about {n}
is there {n}
what exactly is {n}
i have heard of {n}, what is it
i read about {n}, what is it
do you know anything about {n}
what should i know about {n}
i would like some information about {n}
how would you explain {n}
i need help with {n}
""")
# Wider choice for some slots: the rarer words, a list apart so that it reads as one.
for _slot, _words in dict(
    dele="purge|destroy|discard|scrap|clear out|clean out|nuke|dump|eliminate|take away|bin",
    get="pull|acquire|retrieve|load down|find and download",
    see="list|inspect|examine|look into|read|discover|watch",
    chg="override|customise|tweak|replace|redefine|assign",
    start="execute|initiate|power up|wake|get running|restart",
    stop="finish|abort|power down|bring down|interrupt|take down",
    app="chatbot|extension|library|web app|ide|bot|frontend|integration|chat client|sdk",
    slow="lagging|not fast|far too slow|painfully slow|taking long|dead slow|slower than i hoped",
    broke="gave an error|threw an error|hangs|froze|exited|got killed|shows an error|is stuck|freezes|fails|failed with an error",
    pc="notebook|workstation|home computer|device|desktop pc|hardware",
    mods="ggufs|gguf models|local models|gguf files",
    big="more powerful|more clever|more intelligent|real|proper|much larger",
    store="place|leave|persist|locate|write down",
    mem="working memory|the ram", folder="location|path on disk",
).items():
    LEXICON[_slot] += _words.split("|")
LEXICON["disk"] = "disk|hard disk|ssd|hard drive|drive|storage|computer|laptop".split("|")
LEXICON["mname"] = """quince-starter|user.x|user.llama|qwen|qwen3|llama|mistral|gemma|user.qwen3-4b|phi|llama 3.2|deepseek|user.big|user.cat
user.mymodel|qwen2|qwen2.5|the starter model|llama 3|user.test|tinyllama|smollm|user.foo|that llama|my qwen|user.coder""".replace(
    "\n", "|").split("|")
