"""What the model was never taught, on the same carriers as what it was: the carrier alone
must not decide. Known names turn up in unknown questions here too, because a name pulls
towards everything learned about it."""
from .facts import CAPITALS, lines
from .grammar import ABOUT, HOW, MAY, held_out

ANSWER = "I do not know that. I am only a tiny starter model."
KEY = "do not know that"
COUNTRIES = [s.split("=")[0].strip() for s in CAPITALS.replace("\n", ";").split(";") if s.strip()]
CITIES = [s.split("=")[1].strip() for s in CAPITALS.replace("\n", ";").split(";") if s.strip()]
ADJ = """old new famous french german digital ancient modern cheap healthy wild royal electric secret public young tropical
medical legal classical nuclear italian american military musical chemical social economic political solar local golden
wooden plastic frozen spicy vegan organic silent broken hidden foreign national russian japanese chinese english greek
roman medieval industrial commercial private personal professional annual daily second third next previous strange
beautiful ugly dangerous rare common simple complex advanced basic""".split()
NOUN = """bridge novel garden engine algorithm battle king empire recipe soup painting religion theory equation protein virus
galaxy mountain river forest company bank contract salary train ship airport camera phone poem actor singer player team
match festival holiday exam student medicine disease muscle diet wine sauce insect flower metal oil gas price market tax
law court police crime myth god temple church castle tower road map border war treaty party vote minister nation grammar
verb film series puzzle lottery horoscope compiler function loop matrix integral triangle probability robot drone sensor
battery blockchain bitcoin vaccine molecule enzyme reactor turbine violinist orchestra symphony ballet sculpture museum
gallery palace pharaoh emperor knight samurai pirate viking dinosaur fossil mammoth comet asteroid nebula black
inflation stock bond mortgage insurance pension visa passport embassy senator parliament constitution republic marathon
olympics tournament champion racket stadium referee coach jacket sweater perfume jewel necklace carpet curtain sofa oven
blender fridge dishwasher lasagna curry pancake noodle burrito cocktail whisky vitamin allergy migraine surgery dentistry
psychology philosophy sociology biology chemistry physics astronomy geology archaeology linguistics algebra calculus
geometry topology statistics thermodynamics electron neutron quark laser magnet circuit transistor antenna
satellite rocket shuttle spaceship volleyball cricket rugby tennis golf hockey boxing yoga sailing surfing
fishing hunting knitting sewing pottery carpentry plumbing welding farming beekeeping brewing""".split()
TASK = """write|draft|make|create|build|design|fix|plan|book|find|buy|sell|cook|paint|repair|review|solve|prove|compose|correct
improve|analyze|compare|calculate the value of|research|order|invest in|understand|teach me|recommend|predict|imagine
program|bake|grow|clean|wash|cut|draw|fry|boil|measure|weigh|drive|fly|paint|rent|hire|apply for|register for|renew|cancel
return|replace|train for|win|play|practise|perform|rehearse|organise|celebrate|decorate|photograph|film|record|publish
patent|license|insure|tax|import|export|install|download|load|run|start|stop|delete|remove|open|close|update|use|find
save|store|change|set up|list|check|see|connect|get|add""".replace("\n", "|").split("|")
PLAIN = [p for p in lines("""
who invented {n}
when was {n} made
when was {n} invented
where can i buy {n}
why do people like {n}
how old is {n}
how much does {n} cost
what does {n} cost
what is the price of {n}
who owns {n}
how big is {n}
how large is {n}
when did {n} begin
who is the best {n0}
what happened to {n}
how heavy is {n}
is {n} dangerous
is {n} free
is {n} open source
is {n} running
is {n} good for me
what year was {n} found
how do people use {n}
why is {n} so popular
why is {n} slow
how many {n0}s are there in the world
what causes {n}
who wrote about {n}
which {n0} is the best
which {n0} should i buy
how many people have {n}
when does {n} start
does {n} exist
should i get {n}
what are the parts of {n}
where is {n}
where is {n} made
who plays {n}
is it true that {n} is bad
what is {n} made of
who discovered {n}
how fast is {n}
how long is {n}
how does {n} work
how do i make {n} faster
what is the best {n0} in {C}
what is the difference between {n} and {m}
which is better, {n} or {m}
what colour is {n}
what sound does {n} make
what is the opposite of {n}
where does {n} come from
who won {n}
how many {n0}s does {N} have
what is the name of the {n0} in {C}
""") ]
NAMED = lines("""
who is the [king|queen|president|prime minister|chancellor|leader|mayor|pope] of {C}
who was the [king|queen|first president|last emperor] of {C}
who rules {C}
who governs {C}
what is the population of {C}
how many people live in {C}
how many people live in {c}
what is the population of {c}
population of {C}
how big is {C}
how large is {C}
what is the area of {C}
what is the highest mountain of {C}
what is the longest river of {C}
what is the biggest city in {C}
what is the second largest city of {C}
what is the national animal of {C}
what is the flag of {C}
what colours has the flag of {C}
what is the national anthem of {C}
when was {C} founded
when was {c} founded
how old is {c}
what is the history of {C}
tell me about the history of {c}
what do people eat in {C}
what is the best hotel in {c}
how do i get to {c}
how far is {c} from {d}
how far is it from {c} to {d}
how long is the flight to {c}
what is the weather like in {C} in summer
is {C} a rich country
is {C} a member of the european union
does {C} have a king
which countries border {C}
what are the neighbours of {C}
is {c} a nice city
what can i see in {c}
what is {c} famous for
what is {C} famous for
should i travel to {C}
what is the dialling code of {C}
what is the time zone of {C}
which religion do people have in {C}
who is the most famous person of {C}
who won the war between {C} and {D}
how is the economy of {C}
what is the gdp of {C}
what is the postal code of {c}
who is the mayor of {c}
who is {P}
who was {P}
tell me about {P}
when was {P} born
where was {P} born
when did {P} die
how old is {P}
is {P} still alive
what did {P} do
what is {P} famous for
who is {P} married to
what do you know about {P}
what do you think of {P}
do you know {P}
have you heard of {P}
how tall is {P}
which songs did {P} write
which films did {P} make
what is the capital of {W}
which language do people speak in {W}
what is the currency of {W}
on which continent is {W}
where is {W}
what is {W}
who is {W}
tell me about {W}
what does {w} mean
what is a {w}
what colour is a {w}
how many legs does a {w} have
what sound does a {w} make
what is the plural of {W} {w}
how do you say {w} in [german|french|spanish]
how do you say {n0} in [japanese|chinese|russian|italian|latin|arabic]
translate this text into [german|french|italian|chinese]
what is quince {w}
what does quince {w} do
how do i use quince {w}
what does --{w} do
what is the --{w} option
what does /{w} do
what is {w}.json
""")
# Things about quince and computers that this model was not taught; the honest answer is the same.
NEAR = lines("""
how do i update quince
how do i upgrade quince to a new version
when is the next release of quince
what is the release date of quince
how do i report a bug in quince
where is the quince forum
is there a quince newsletter
who is the boss of quince
does quince support https
how do i use tls with quince
does quince work with docker
is there a docker image of quince
how do i run quince in docker
how do i run quince in kubernetes
can quince use my calendar
can quince read my email
can quince read pdf files
how many users can quince serve
how many people use quince
how many stars does quince have on github
what is the difference between quince and lm studio
what is the difference between quince and llama.cpp
is quince better than [ollama|lm studio|chatgpt]
how do i convert a model to gguf
how do i quantise a model
how do i merge two models
what is a lora
does quince support lora
what is the fastest cpu for quince
which laptop should i buy for quince
how do i make my own gguf file
how do i format my disk
how do i install a printer
how do i change my wallpaper
how do i connect a bluetooth mouse
how do i set up a vpn
how do i update debian
how do i install python
how do i write a for loop
how do i exit vim
how do i use git
how do i undo a commit
how do i sort a list in python
what is a pointer in c
what is the latest version of linux
which editor is the best
how do i reset my password
how do i take a screenshot
how do i delete my browser history
how do i delete a partition
how do i remove a program from debian
how do i delete my facebook account
how do i uninstall windows
how do i recover deleted files
""")
PEOPLE = ["Barack Obama", "Angela Merkel", "Napoleon", "Cleopatra", "Julius Caesar", "Beethoven", "Mozart", "Michael Jackson",
          "Elvis Presley", "Madonna", "Taylor Swift", "Lionel Messi", "Cristiano Ronaldo", "Roger Federer", "Brad Pitt",
          "Elon Musk", "Bill Gates", "Steve Jobs", "Marie Curie", "Nikola Tesla", "Galileo", "Aristotle", "Plato",
          "Gandhi", "Nelson Mandela", "Queen Elizabeth", "Winston Churchill", "Karl Marx", "Sigmund Freud", "Picasso",
          "Bob Dylan", "John Lennon", "Martin Luther King", "Donald Trump", "Joe Biden", "Greta Thunberg", "Alan Turing",
          "Ada Lovelace", "Stephen Hawking", "Walt Disney", "Charlie Chaplin", "Marilyn Monroe", "Usain Bolt", "Pele"]
SYLL = ("ba be bo da de do fa fi ga go ka ki la le li lo ma me mi mo na ne no pa pe po ra re ri ro sa se so ta te ti to "
        "va vi wa xa ya za zo zu bri cla dro fle gra plo sti tran quo ver ton mer lin dor").split()


def _made_up(r):
    return "".join(r.choice(SYLL) for _ in range(r.randint(2, 4)))


def _noun(r):
    n = r.choice(NOUN) if r.random() < .5 else r.choice(ADJ) + " " + r.choice(NOUN)
    return n, r.choice(["a ", "the ", "the ", "my ", "this ", ""]) + n


def sample(rng, test):
    """(intent name, question) or None."""
    pick = rng.random()
    n0, n = _noun(rng)
    if pick < .22:
        name, pats = "plain", PLAIN
    elif pick < .48:
        name, pats = "named", NAMED
    elif pick < .60:
        name, pats = "near", NEAR
    elif pick < .78:
        name = "about"
        v = rng.choice(["", "", "", "the history of ", "the meaning of ", "the price of ", "the rules of ",
                        "the science of ", "the size of ", "the name of ", "the number of "]) + n
        pats = [rng.choice(ABOUT).replace("{n}", v)]
    else:
        name = "task"
        v = rng.choice(TASK) + " " + n
        pats = [rng.choice(HOW if rng.random() < .8 else MAY).replace("{v}", v)]
    if name in ("about", "task"):
        if test:
            return None  # frames are shared with the intents, nothing here is held out
        return name, pats[0]
    pats = [p for p in pats if held_out(name, p) == test]
    q = rng.choice(pats)
    w = _made_up(rng)
    for slot, text in (("{n0}", n0), ("{n}", n), ("{m}", _noun(rng)[1]), ("{C}", rng.choice(COUNTRIES)),
                       ("{D}", rng.choice(COUNTRIES)), ("{c}", rng.choice(CITIES)), ("{d}", rng.choice(CITIES)),
                       ("{P}", rng.choice(PEOPLE)), ("{w}", w), ("{W}", w.capitalize()),
                       ("{N}", rng.choice(PEOPLE))):
        q = q.replace(slot, text)
    from .grammar import expand
    return name, expand(q, rng)
