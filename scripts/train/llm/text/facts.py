"""Everyday facts: relations (one set of patterns over many rows) and one-off facts."""
from .grammar import lines

RELATIONS = []
ONEOFF = []


def relation(name, rows, answer, key, block, slots="x y"):
    """rows: text of 'x=y' pairs, one per line or separated by ';'."""
    names = slots.split()
    table = []
    for item in rows.replace("\n", ";").split(";"):
        if item.strip():
            table.append(dict(zip(names, (s.strip() for s in item.split("=")))))
    RELATIONS.append(dict(name=name, rows=table, answer=answer, key=key, q=lines(block)))


def cap(s):
    return s[:1].upper() + s[1:]


CAPITALS = """
Germany=Berlin; France=Paris; Italy=Rome; Spain=Madrid; Portugal=Lisbon; Austria=Vienna; Switzerland=Bern
Belgium=Brussels; the Netherlands=Amsterdam; Denmark=Copenhagen; Sweden=Stockholm; Norway=Oslo; Finland=Helsinki
Iceland=Reykjavik; Ireland=Dublin; the United Kingdom=London; England=London; Scotland=Edinburgh; Wales=Cardiff
Poland=Warsaw; the Czech Republic=Prague; Slovakia=Bratislava; Hungary=Budapest; Romania=Bucharest; Bulgaria=Sofia
Greece=Athens; Turkey=Ankara; Russia=Moscow; Ukraine=Kyiv; Belarus=Minsk; Lithuania=Vilnius; Latvia=Riga
Estonia=Tallinn; Croatia=Zagreb; Serbia=Belgrade; Slovenia=Ljubljana; Albania=Tirana; Malta=Valletta; Cyprus=Nicosia
Luxembourg=Luxembourg; Monaco=Monaco; the United States=Washington, D.C.; the USA=Washington, D.C.; Canada=Ottawa
Mexico=Mexico City; Cuba=Havana; Jamaica=Kingston; Panama=Panama City; Guatemala=Guatemala City; Brazil=Brasilia
Argentina=Buenos Aires; Chile=Santiago; Peru=Lima; Colombia=Bogota; Venezuela=Caracas; Ecuador=Quito
Uruguay=Montevideo; Paraguay=Asuncion; China=Beijing; Japan=Tokyo; South Korea=Seoul; North Korea=Pyongyang
India=New Delhi; Pakistan=Islamabad; Bangladesh=Dhaka; Nepal=Kathmandu; Thailand=Bangkok; Vietnam=Hanoi
Indonesia=Jakarta; Malaysia=Kuala Lumpur; the Philippines=Manila; Singapore=Singapore; Mongolia=Ulaanbaatar
Iran=Tehran; Iraq=Baghdad; Saudi Arabia=Riyadh; Syria=Damascus; Lebanon=Beirut; Jordan=Amman
Qatar=Doha; Afghanistan=Kabul; Kazakhstan=Astana; Georgia=Tbilisi; Armenia=Yerevan; Egypt=Cairo; Morocco=Rabat
Algeria=Algiers; Tunisia=Tunis; Libya=Tripoli; Sudan=Khartoum; Ethiopia=Addis Ababa; Kenya=Nairobi
Uganda=Kampala; Ghana=Accra; Nigeria=Abuja; Senegal=Dakar; Mali=Bamako; Angola=Luanda; Zambia=Lusaka
Zimbabwe=Harare; Namibia=Windhoek; Rwanda=Kigali; Somalia=Mogadishu; Australia=Canberra; New Zealand=Wellington
"""
relation("capital", CAPITALS, "The capital of {x} is {y}.", "{y}", """
what is the capital of {x}
what is the capital of {x}
what's the capital of {x}
whats the capital of {x}
what is the capital city of {x}
capital of {x}
the capital of {x}
{x}'s capital
what is {x}'s capital
capital city of {x}
which city is the capital of {x}
what city is the capital of {x}
name the capital of {x}
tell me the capital of {x}
tell me the capital city of {x}
do you know the capital of {x}
can you tell me the capital of {x}
could you name the capital of {x}
give me the capital of {x}
i need the capital of {x}
what capital does {x} have
which capital does {x} have
the capital of {x} is
the capital of {x} is called what
what is the name of the capital of {x}
which is the capital of {x}
i want to know the capital of {x}
from which city is {x} governed
how is the capital of {x} called
what do they call the capital of {x}
please name the capital of {x}
capital {x}
what city is {x}'s capital
where is the government of {x}
""")
relation("capital_of", CAPITALS.replace("England=London; Scotland=Edinburgh; Wales=Cardiff", "").replace(
    "the USA=Washington, D.C.;", "").replace("Luxembourg=Luxembourg; Monaco=Monaco;", "").replace(
    "Singapore=Singapore;", ""), "{y} is the capital of {x}.", "{x}", """
which country has the capital {y}
{y} is the capital of which country
{y} is the capital of what
of which country is {y} the capital
what country is {y} the capital of
which country is {y} the capital of
{y} is the capital of
what is {y} the capital of
whose capital is {y}
in which country is {y}
in what country is {y}
which country is {y} in
what country is {y} in
where is {y}
where is the city of {y}
to which country does {y} belong
in which country lies {y}
tell me which country {y} is in
where can i find {y}
where does {y} lie
""")
relation("continent", """
Germany=Europe; France=Europe; Italy=Europe; Spain=Europe; Portugal=Europe; Austria=Europe; Switzerland=Europe
Belgium=Europe; Denmark=Europe; Sweden=Europe; Norway=Europe; Finland=Europe; Iceland=Europe; Ireland=Europe
Poland=Europe; Hungary=Europe; Romania=Europe; Bulgaria=Europe; Greece=Europe; Ukraine=Europe; Croatia=Europe
Serbia=Europe; England=Europe; Scotland=Europe; the Netherlands=Europe; Latvia=Europe; Estonia=Europe
the United States=North America; the USA=North America; Canada=North America; Mexico=North America; Cuba=North America
Brazil=South America; Argentina=South America; Chile=South America; Peru=South America; Colombia=South America
Venezuela=South America; Ecuador=South America; Uruguay=South America; China=Asia; Japan=Asia; India=Asia
Pakistan=Asia; Nepal=Asia; Thailand=Asia; Vietnam=Asia; Indonesia=Asia; Malaysia=Asia; South Korea=Asia; Iran=Asia
Iraq=Asia; Mongolia=Asia; Saudi Arabia=Asia; Egypt=Africa; Morocco=Africa; Algeria=Africa; Tunisia=Africa
Kenya=Africa; Uganda=Africa; Ghana=Africa; Nigeria=Africa; Ethiopia=Africa; Senegal=Africa; Zambia=Africa
Namibia=Africa; Australia=Oceania; New Zealand=Oceania
""", "{x} is in {y}.", "{y}", """
on which continent is {x}
which continent is {x} on
which continent is {x} in
what continent is {x} on
what continent is {x} in
in which continent is {x}
in which part of the world is {x}
in what part of the world is {x}
to which continent does {x} belong
on what continent does {x} lie
continent of {x}
the continent of {x}
tell me the continent of {x}
what is the continent of {x}
which continent does {x} lie on
do you know the continent of {x}
{x} is on which continent
{x} is in which continent
is {x} in [europe|asia|africa|america]
what part of the world is {x} in
""")
relation("language", """
Germany=German; Austria=German; France=French; Italy=Italian; Spain=Spanish; Portugal=Portuguese; Brazil=Portuguese
England=English; the USA=English; the United States=English; Australia=English; Mexico=Spanish; Argentina=Spanish
Chile=Spanish; Peru=Spanish; Colombia=Spanish; Cuba=Spanish; Sweden=Swedish; Norway=Norwegian; Denmark=Danish
Finland=Finnish; Iceland=Icelandic; the Netherlands=Dutch; Poland=Polish; Hungary=Hungarian; Greece=Greek
Turkey=Turkish; Russia=Russian; Ukraine=Ukrainian; Romania=Romanian; Bulgaria=Bulgarian; Japan=Japanese
China=Chinese; Korea=Korean; Thailand=Thai; Vietnam=Vietnamese; Egypt=Arabic; Saudi Arabia=Arabic; Croatia=Croatian
""", "People in {x} speak {y}.", "{y}", """
which language do people speak in {x}
what language do people speak in {x}
what language is spoken in {x}
which language is spoken in {x}
what do they speak in {x}
language of {x}
the language of {x}
what is the language of {x}
which language do they speak in {x}
what language do they speak in {x}
what is the main language of {x}
what is the official language of {x}
in {x}, which language is spoken
how do people talk in {x}
which tongue is spoken in {x}
tell me the language of {x}
do you know the language of {x}
{x} speaks which language
""")
relation("currency", """
Germany=the euro; France=the euro; Italy=the euro; Spain=the euro; Austria=the euro; Ireland=the euro; Greece=the euro
the USA=the dollar; the United States=the dollar; Canada=the Canadian dollar; Australia=the Australian dollar
Japan=the yen; China=the yuan; India=the rupee; Russia=the ruble; England=the pound; the United Kingdom=the pound
Switzerland=the Swiss franc; Sweden=the Swedish krona; Norway=the Norwegian krone; Denmark=the Danish krone
Poland=the zloty; Hungary=the forint; Turkey=the lira; Mexico=the peso; Brazil=the real; South Korea=the won
Thailand=the baht; South Africa=the rand; the Czech Republic=the koruna
""", "The currency of {x} is {y}.", "{y}", """
what is the currency of {x}
which currency does {x} use
which currency does {x} have
what money do they use in {x}
what money is used in {x}
currency of {x}
the currency of {x}
the currency in {x}
how do people pay in {x}
what do people pay with in {x}
with which money do you pay in {x}
which money do i need in {x}
what currency is used in {x}
what is the money of {x} called
tell me the currency of {x}
{x}'s currency
""")
COLOURS = """
banana=yellow; lemon=yellow; carrot=orange; tomato=red; strawberry=red; cherry=red; raspberry=red; cucumber=green
frog=green; leaf=green; grass=green; lime=green; broccoli=green; lettuce=green; pea=green; cactus=green; sky=blue
sea=blue; blueberry=blue; snow=white; milk=white; salt=white; flour=white; swan=white; cloud=white; coal=black
night=black; raven=black; crow=black; blood=red; fire engine=red; ruby=red; emerald=green; sapphire=blue
sun=yellow; sunflower=yellow; corn=yellow; chick=yellow; chocolate=brown; coffee=brown; wood=brown; bear=brown
potato=brown; elephant=grey; mouse=grey; ash=grey; orange=orange; pumpkin=orange; plum=purple; eggplant=purple
lavender=purple; flamingo=pink; pig=pink; quince=yellow; gold=golden; silver=silver; sugar=white; polar bear=white
"""
relation("colour", COLOURS, "{X} is {y}.", "{y}", """
what [colour|color] is {ax}
which [colour|color] is {ax}
what [colour|color] does {ax} have
which [colour|color] does {ax} have
what is the [colour|color] of {ax}
the [colour|color] of {ax}
[colour|color] of {ax}
tell me the [colour|color] of {ax}
{ax} has which [colour|color]
{ax} has what [colour|color]
in what [colour|color] is {ax}
do you know the [colour|color] of {ax}
name the [colour|color] of {ax}
say the [colour|color] of {ax}
what's the [colour|color] of {ax}
can you tell me the [colour|color] of {ax}
which [colour|color] would you give {ax}
{ax} is what [colour|color]
""")
relation("sound", """
dog=barks; cat=meows; cow=moos; sheep=baas; duck=quacks; horse=neighs; pig=oinks; lion=roars; rooster=crows
wolf=howls; bee=buzzes; snake=hisses; frog=croaks; mouse=squeaks; owl=hoots; donkey=brays; hen=clucks; bird=sings
goat=bleats; bear=growls; tiger=roars; goose=honks; crow=caws; elephant=trumpets; turkey=gobbles
""", "A {x} {y}.", "{y}", """
what sound does a {x} make
which sound does a {x} make
what noise does a {x} make
what does a {x} say
how does a {x} sound
what sound does the {x} make
the sound of a {x}
sound of a {x}
what noise do {x}s make
what do you hear from a {x}
what does the {x} say
tell me the sound of a {x}
how does a {x} go
which noise does a {x} make
""")
relation("young", """
dog=puppy; cat=kitten; cow=calf; horse=foal; sheep=lamb; goat=kid; pig=piglet; hen=chick; duck=duckling; goose=gosling
bear=cub; lion=cub; wolf=cub; deer=fawn; kangaroo=joey; frog=tadpole; swan=cygnet; elephant=calf; whale=calf
butterfly=caterpillar; owl=owlet; rabbit=kitten
""", "A young {x} is called a {y}.", "{y}", """
what is a young {x} called
what is a baby {x} called
what do you call a young {x}
what do you call a baby {x}
how do you call a young {x}
the name of a baby {x}
a baby {x} is called what
what is the young of a {x}
what is the baby of a {x} called
what is the child of a {x} called
name for a young {x}
word for a baby {x}
how is a baby {x} called
what is the name of a baby {x}
""")
relation("home", """
bird=nest; bee=hive; dog=kennel; horse=stable; fox=den; spider=web; rabbit=burrow; lion=den; ant=anthill; cow=barn
pig=sty; hen=coop; bear=cave; mole=burrow; wasp=nest; beaver=lodge; fish=water
""", "A {x} lives in a {y}.", "{y}", """
where does a {x} live
what is the home of a {x}
in what does a {x} live
home of a {x}
what is the house of a {x} called
where do {x}s live
where can i find a {x}'s home
what do you call the home of a {x}
where does the {x} sleep
where is a {x} at home
""")
relation("legs", """
dog=4; cat=4; horse=4; cow=4; elephant=4; lion=4; frog=4; mouse=4; sheep=4; pig=4; bird=2; chicken=2; duck=2; human=2
spider=8; ant=6; bee=6; fly=6; beetle=6; butterfly=6; crab=10; octopus=8; snake=0; fish=0; worm=0; person=2; ostrich=2
""", "A {x} has {y} legs.", "{y} legs", """
how many legs does a {x} have
how many legs has a {x}
how many legs has a {x} got
number of legs of a {x}
the number of legs of a {x}
legs of a {x}
a {x} has how many legs
on how many legs does a {x} walk
how many feet does a {x} have
tell me how many legs a {x} has
do you know how many legs a {x} has
count the legs of a {x}
what number of legs does a {x} have
how many legs do you count on a {x}
""")
relation("kind", """
dog=mammal; cat=mammal; whale=mammal; dolphin=mammal; bat=mammal; horse=mammal; elephant=mammal; mouse=mammal
eagle=bird; penguin=bird; owl=bird; duck=bird; swan=bird; ostrich=bird; parrot=bird; sparrow=bird; shark=fish
salmon=fish; trout=fish; tuna=fish; snake=reptile; crocodile=reptile; lizard=reptile; turtle=reptile; frog=amphibian
toad=amphibian; bee=insect; ant=insect; fly=insect; beetle=insect; butterfly=insect; mosquito=insect; oak=tree
birch=tree; rose=flower; tulip=flower; daisy=flower; apple=fruit; banana=fruit; pear=fruit; cherry=fruit
carrot=vegetable; potato=vegetable; onion=vegetable; cabbage=vegetable; violin=instrument; piano=instrument
guitar=instrument; trumpet=instrument; hammer=tool; saw=tool; chair=piece of furniture; table=piece of furniture
""", "{Ax} is {ay}.", "{y}", """
what is {ax}
what kind of [thing|animal|being] is {ax}
what sort of thing is {ax}
what type of thing is {ax}
what exactly is {ax}
is {ax} a mammal or a bird
what group does {ax} belong to
to what group does {ax} belong
what are {x}s
what's {ax}
tell me what {ax} is
explain what {ax} is
define {x}
do you know what {ax} is
how would you classify {ax}
""")
OPPOSITES = """
hot=cold; big=small; fast=slow; high=low; old=young; new=old; light=dark; good=bad; happy=sad; rich=poor; strong=weak
hard=soft; long=short; wet=dry; full=empty; open=closed; early=late; loud=quiet; near=far; thick=thin; day=night
black=white; up=down; left=right; yes=no; clean=dirty; easy=difficult; heavy=light; first=last; inside=outside
love=hate; war=peace; begin=end; buy=sell; win=lose; true=false; deep=shallow; sweet=sour; wide=narrow; warm=cool
always=never; above=below; before=after; front=back; alive=dead; brave=afraid; cheap=expensive; clever=stupid
cold=hot; small=big; slow=fast; low=high; sad=happy; poor=rich; weak=strong; soft=hard; short=long; dry=wet; empty=full
late=early; night=day; white=black; down=up; right=left; dirty=clean; last=first; peace=war; end=begin; false=true
"""
relation("opposite", OPPOSITES, "The opposite of {x} is {y}.", "{y}", """
what is the opposite of {x}
what's the opposite of {x}
opposite of {x}
the opposite of {x}
what is the contrary of {x}
the contrary of {x}
name the opposite of {x}
tell me the opposite of {x}
what is the antonym of {x}
antonym of {x}
which word means the opposite of {x}
what word is the opposite of {x}
{x} is the opposite of what
give me the opposite of {x}
what is not {x} but the opposite
do you know the opposite of {x}
find the opposite of {x}
say the opposite of {x}
""")
GERMAN = """
dog=Hund; cat=Katze; house=Haus; water=Wasser; bread=Brot; milk=Milch; tree=Baum; book=Buch; sun=Sonne; moon=Mond
thank you=danke; hello=hallo; good morning=guten Morgen; good night=gute Nacht; yes=ja; no=nein; please=bitte; red=rot
blue=blau; green=grün; one=eins; two=zwei; three=drei; friend=Freund; school=Schule; apple=Apfel; bird=Vogel
fish=Fisch; love=Liebe; time=Zeit; day=Tag; night=Nacht
"""
FRENCH = """
dog=chien; cat=chat; house=maison; water=eau; bread=pain; milk=lait; tree=arbre; book=livre; sun=soleil; moon=lune
thank you=merci; hello=bonjour; good night=bonne nuit; yes=oui; no=non; please=s'il vous plaît; red=rouge; blue=bleu
green=vert; one=un; two=deux; three=trois; friend=ami; school=école; apple=pomme; bird=oiseau; fish=poisson; love=amour
"""
SPANISH = """
dog=perro; cat=gato; house=casa; water=agua; bread=pan; milk=leche; tree=árbol; book=libro; sun=sol; moon=luna
thank you=gracias; hello=hola; good night=buenas noches; yes=sí; no=no; please=por favor; red=rojo; blue=azul
green=verde; one=uno; two=dos; three=tres; friend=amigo; school=escuela; apple=manzana; bird=pájaro; fish=pez
"""
for _lang, _rows in (("German", GERMAN), ("French", FRENCH), ("Spanish", SPANISH)):
    relation(_lang.lower(), _rows, "The " + _lang + " word for {x} is {y}." , "{y}", """
what is {x} in L
what's {x} in L
how do you say {x} in L
how do i say {x} in L
what is the L word for {x}
{x} in L
translate {x} into L
translate {x} to L
translate the word {x} into L
say {x} in L
what does {x} mean in L
L word for {x}
the L word for {x}
what is L for {x}
how is {x} called in L
tell me the L word for {x}
L for {x}
""".replace("L", _lang))

MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
NUMBER = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
_m = lambda f: ";".join(f"{MONTHS[i]}={f(i)}" for i in range(12))
_d = lambda f: ";".join(f"{DAYS[i]}={f(i)}" for i in range(7))
relation("month_after", _m(lambda i: MONTHS[(i + 1) % 12]), "After {x} comes {y}.", "{y}", """
which month comes after {x}
what month comes after {x}
what comes after {x}
which month follows {x}
what month follows {x}
what is the month after {x}
the month after {x}
month after {x}
after {x} comes which month
what follows {x}
which is the next month after {x}
tell me the month after {x}
name the month after {x}
what comes next after {x}
which month is next after {x}
when {x} is over, which month begins
""")
relation("month_before", _m(lambda i: MONTHS[i - 1]), "Before {x} comes {y}.", "{y}", """
which month comes before {x}
what month comes before {x}
what comes before {x}
what is the month before {x}
the month before {x}
month before {x}
before {x} comes which month
which month is before {x}
tell me the month before {x}
name the month before {x}
which month ends when {x} begins
what month is right before {x}
""")
relation("month_days", ";".join(f"{m}={d}" for m, d in zip(
    MONTHS, ("31", "28 or 29", "31", "30", "31", "30", "31", "31", "30", "31", "30", "31"))),
    "{x} has {y} days.", "{y}", """
how many days does {x} have
how many days has {x}
how many days are in {x}
how many days are there in {x}
how long is {x}
number of days in {x}
the number of days in {x}
{x} has how many days
days in {x}
how many days has the month of {x}
how many days long is {x}
what is the length of {x}
tell me how many days {x} has
what is the last day of {x}
""")
relation("month_number", _m(lambda i: NUMBER[i]), "{x} is the {y} month of the year.", "{y}", """
which number is {x}
what number is the month {x}
which month of the year is {x}
what number month is {x}
which month number is {x}
what is the number of {x}
{x} is which month of the year
is {x} the first month
what number does {x} have
at which place in the year is {x}
""")
relation("nth_month", ";".join(f"{NUMBER[i]}={MONTHS[i]}" for i in range(12)), "The {x} month is {y}.", "{y}", """
what is the {x} month
which is the {x} month
what is the {x} month of the year
which is the {x} month of the year
the {x} month
name the {x} month
which month is the {x}
tell me the {x} month of the year
{x} month of the year
what month is {x} in the year
""")
relation("day_after", _d(lambda i: DAYS[(i + 1) % 7]), "After {x} comes {y}.", "{y}", """
which day comes after {x}
what day comes after {x}
what comes after {x}
which day follows {x}
what day follows {x}
what is the day after {x}
the day after {x}
day after {x}
if today is {x}, what is tomorrow
if today is {x}, what day is tomorrow
today is {x}, what is tomorrow
after {x} comes which day
what follows {x}
which weekday comes after {x}
tell me the day after {x}
name the day after {x}
what comes next after {x}
if it is {x}, which day comes tomorrow
""")
relation("day_before", _d(lambda i: DAYS[i - 1]), "Before {x} comes {y}.", "{y}", """
which day comes before {x}
what day comes before {x}
what comes before {x}
what is the day before {x}
the day before {x}
day before {x}
which day is before {x}
if today is {x}, what was yesterday
if today is {x}, what day was yesterday
today is {x}, what was yesterday
before {x} comes which day
which weekday comes before {x}
tell me the day before {x}
what day is right before {x}
""")
relation("nth_day", ";".join(f"{NUMBER[i]}={DAYS[i]}" for i in range(7)), "The {x} day of the week is {y}.", "{y}", """
what is the {x} day of the week
which is the {x} day of the week
the {x} day of the week
name the {x} day of the week
{x} day of the week
which weekday is the {x}
tell me the {x} day of the week
what day is the {x} of the week
""")
relation("season", _m(lambda i: ["winter", "winter", "spring", "spring", "spring", "summer", "summer", "summer",
                                 "autumn", "autumn", "autumn", "winter"][i]),
         "In the north, {x} is in {y}.", "{y}", """
in which season is {x}
which season is {x} in
what season is {x}
what season is it in {x}
is {x} in summer or winter
season of {x}
the season of {x}
to which season does {x} belong
which season is it in {x}
{x} is in which season
""")
relation("unit", """
seconds in a minute=60 seconds=a minute; minutes in an hour=60 minutes=an hour; hours in a day=24 hours=a day
days in a week=7 days=a week; days in a year=365 days=a year; weeks in a year=52 weeks=a year
months in a year=12 months=a year; years in a decade=10 years=a decade; years in a century=100 years=a century
years in a millennium=1000 years=a millennium; centimetres in a metre=100 centimetres=a metre
millimetres in a centimetre=10 millimetres=a centimetre; metres in a kilometre=1000 metres=a kilometre
grams in a kilogram=1000 grams=a kilogram; kilograms in a ton=1000 kilograms=a ton
millilitres in a litre=1000 millilitres=a litre; cents in a euro=100 cents=a euro; cents in a dollar=100 cents=a dollar
pence in a pound=100 pence=a pound; inches in a foot=12 inches=a foot; feet in a yard=3 feet=a yard
bits in a byte=8 bits=a byte; bytes in a kilobyte=1000 bytes=a kilobyte; things in a dozen=12 things=a dozen
eggs in a dozen=12 eggs=a dozen; degrees in a circle=360 degrees=a circle; minutes in a day=1440 minutes=a day
quarters in a year=4 quarters=a year; millimetres in a metre=1000 millimetres=a metre
milliseconds in a second=1000 milliseconds=a second; seconds in an hour=3600 seconds=an hour; hours in a week=168 hours=a week
megabytes in a gigabyte=1000 megabytes=a gigabyte; ounces in a pound=16 ounces=a pound; pints in a gallon=8 pints=a gallon
""", "There are {y} in {z}.", "{y}", """
how many {x}
how many {x} are there
how many {w} are in {z}
how many {w} are there in {z}
how many {w} does {z} have
how many {w} has {z}
how many {w} make {z}
how many {w} make up {z}
{z} has how many {w}
how many {w} fit in {z}
{z} in {w}
what is {z} in {w}
number of {x}
the number of {x}
tell me how many {w} are in {z}
convert {z} to {w}
how many {w} is {z}
do you know how many {w} are in {z}
how many {w} go into {z}
how many {w} to {z}
""", "x y z")
relation("planet", """
closest to the sun=Mercury; second from the sun=Venus; third from the sun=the Earth; fourth from the sun=Mars
largest=Jupiter; biggest=Jupiter; smallest=Mercury; hottest=Venus; farthest from the sun=Neptune; red=Mars
with the most famous rings=Saturn; with rings=Saturn; where we live=the Earth; nearest to the sun=Mercury
""", "It is {y}.", "{y}", """
which planet is {x}
what planet is {x}
name the planet that is {x}
tell me which planet is {x}
the planet that is {x}
what is the name of the planet that is {x}
""")
relation("plural", """
dog=dogs; cat=cats; house=houses; mouse=mice; child=children; man=men; woman=women; foot=feet; tooth=teeth; goose=geese
book=books; box=boxes; city=cities; baby=babies; knife=knives; leaf=leaves; wolf=wolves; sheep=sheep; fish=fish; bus=buses
tree=trees; car=cars; apple=apples; cherry=cherries; tomato=tomatoes; potato=potatoes; person=people; ox=oxen; lady=ladies
class=classes; dish=dishes; watch=watches; toy=toys; key=keys; day=days; story=stories; wife=wives; life=lives; hero=heroes
model=models; file=files; computer=computers; window=windows; server=servers; glass=glasses; country=countries; shelf=shelves
""", "The plural of {x} is {y}.", "{y}", """
what is the plural of {x}
what's the plural of {x}
plural of {x}
the plural of {x}
plural: {x}
give me the plural of {x}
form the plural of {x}
one {x}, two what
one {x}, many what
what is more than one {x} called
make {x} plural
put {x} in the plural
how do you write the plural of {x}
tell me the plural of {x}
which word is the plural of {x}
what do you call several of a {x}
""")
relation("past", """
go=went; see=saw; eat=ate; drink=drank; run=ran; write=wrote; come=came; take=took; give=gave; have=had; be=was
do=did; say=said; make=made; know=knew; think=thought; find=found; buy=bought; bring=brought; sing=sang; swim=swam
begin=began; speak=spoke; drive=drove; sleep=slept; play=played; walk=walked; work=worked; ask=asked; call=called
""", "The past tense of {x} is {y}.", "{y}", """
what is the past tense of {x}
past tense of {x}
the past tense of {x}
put {x} in the past tense
what is the past of {x}
past of {x}
what is {x} in the past tense
today i {x}, yesterday i what
give me the past tense of {x}
what is the past form of {x}
tell me the past tense of {x}
""")
relation("symbol", """
water=H2O; gold=Au; silver=Ag; iron=Fe; oxygen=O; hydrogen=H; carbon=C; salt=NaCl; copper=Cu; lead=Pb; helium=He
nitrogen=N; sodium=Na; carbon dioxide=CO2; mercury=Hg; zinc=Zn; tin=Sn; aluminium=Al
""", "The chemical symbol of {x} is {y}.", "{y}", """
what is the chemical symbol of {x}
what is the chemical symbol for {x}
chemical symbol of {x}
the symbol of {x}
what is the symbol for {x}
which symbol does {x} have
what is the formula of {x}
the chemical formula of {x}
tell me the chemical symbol of {x}
chemical sign of {x}
""")
relation("author", """
Romeo and Juliet=William Shakespeare; Hamlet=William Shakespeare; Macbeth=William Shakespeare; Faust=Goethe
Harry Potter=J. K. Rowling; The Lord of the Rings=J. R. R. Tolkien; The Hobbit=J. R. R. Tolkien; Don Quixote=Cervantes
War and Peace=Leo Tolstoy; Oliver Twist=Charles Dickens; Moby Dick=Herman Melville; the Odyssey=Homer
Robinson Crusoe=Daniel Defoe; Alice in Wonderland=Lewis Carroll; Pippi Longstocking=Astrid Lindgren
Sherlock Holmes=Arthur Conan Doyle; Frankenstein=Mary Shelley; Dracula=Bram Stoker; Pinocchio=Carlo Collodi
Peter Pan=J. M. Barrie; Tom Sawyer=Mark Twain; The Little Prince=Saint-Exupéry; 1984=George Orwell
""", "{x} was written by {y}.", "{y}", """
who wrote {x}
who is the author of {x}
author of {x}
the author of {x}
by whom is {x}
by whom was {x} written
which author wrote {x}
which writer wrote {x}
who has written {x}
do you know who wrote {x}
tell me who wrote {x}
name the author of {x}
who is the writer of {x}
{x} was written by whom
""")
relation("river", """
London=Thames; Paris=Seine; Rome=Tiber; Vienna=Danube; Budapest=Danube; Cologne=Rhine; Hamburg=Elbe; Dresden=Elbe
Prague=Vltava; Cairo=Nile; Warsaw=Vistula; Berlin=Spree; Frankfurt=Main; Lisbon=Tagus; New York=Hudson; Basel=Rhine
""", "{x} lies on the {y}.", "{y}", """
which river flows through {x}
what river flows through {x}
which river runs through {x}
on which river is {x}
on which river does {x} lie
river of {x}
the river of {x}
what is the river in {x}
which river is in {x}
tell me the river of {x}
""")


def fact(answer, key, block):
    ONEOFF.append(dict(answer=answer, key=key, q=lines(block)))


for _row in """
What is the largest ocean?|biggest ocean;largest ocean;which ocean is the [largest|biggest]|The largest ocean is the Pacific.|Pacific
x|longest river [in the world|];which river is the longest|The longest river is the Nile.|Nile
x|highest mountain [in the world|];tallest mountain;which mountain is the highest|The highest mountain is Mount Everest.|Everest
x|largest country [in the world|];biggest country;which country is the largest|The largest country is Russia.|Russia
x|smallest country [in the world|];tiniest country;which country is the smallest|The smallest country is Vatican City.|Vatican
x|largest animal [in the world|];biggest animal;heaviest animal;which animal is the biggest|The largest animal is the blue whale.|blue whale
x|fastest animal [on land|];fastest land animal;which animal is the fastest|The fastest land animal is the cheetah.|cheetah
x|tallest animal;which animal is the tallest;animal with the longest neck|The tallest animal is the giraffe.|giraffe
x|largest continent;biggest continent;which continent is the largest|The largest continent is Asia.|Asia
x|smallest continent;which continent is the smallest|The smallest continent is Australia.|Australia
x|largest desert;biggest hot desert;which desert is the largest|The largest hot desert is the Sahara.|Sahara
x|largest lake;which lake is the largest;biggest lake|The largest lake is the Caspian Sea.|Caspian
x|hardest natural material;hardest stone;which stone is the hardest|The hardest natural material is diamond.|diamond
x|largest organ of the body;biggest human organ;which organ is the largest|The largest organ is the skin.|skin
x|king of [animals|the jungle|beasts];which animal is called the king of animals|The lion is called the king of animals.|lion
x|largest bird;biggest bird;which bird is the largest|The largest bird is the ostrich.|ostrich
x|speed of light;how fast is light;how fast does light travel|Light travels about 300,000 kilometres per second.|300,000
x|speed of sound;how fast is sound;how fast does sound travel|Sound travels about 340 metres per second in air.|340
x|boiling point of water;when does water boil;at what temperature does water boil;how hot is boiling water|Water boils at 100 degrees Celsius.|100 degrees
x|freezing point of water;when does water freeze;at what temperature does water freeze;at what temperature does ice melt|Water freezes at 0 degrees Celsius.|0 degrees
x|normal body temperature;temperature of the human body;how warm is the human body|The human body is about 37 degrees Celsius warm.|37
x|number pi;value of pi;what is pi;pi|Pi is about 3.14159.|3.14
x|number of continents;how many continents are there;how many continents exist|There are seven continents.|seven
x|names of the continents;name all continents;list the continents;which continents are there;seven continents|The continents are Africa, Antarctica, Asia, Australia, Europe, North America and South America.|antarctica
x|number of planets;how many planets are there;how many planets are in the solar system;how many planets has our solar system|There are eight planets in the solar system.|eight
x|names of the planets;name the planets;list the planets;which planets are there;planets of the solar system|The planets are Mercury, Venus, Earth, Mars, Jupiter, Saturn, Uranus and Neptune.|Neptune
x|number of oceans;how many oceans are there|There are five oceans.|five
x|number of letters in the alphabet;how many letters are in the alphabet;how many letters does the alphabet have|The alphabet has 26 letters.|26
x|alphabet;abc;say the alphabet;recite the alphabet;letters of the alphabet|A B C D E F G H I J K L M N O P Q R S T U V W X Y Z|x y z
x|first letter of the alphabet;which letter comes first in the alphabet|The first letter of the alphabet is A.|is a
x|last letter of the alphabet;which letter comes last in the alphabet|The last letter of the alphabet is Z.|is z
x|vowels;which letters are vowels;name the vowels|The vowels are A, E, I, O and U.|a, e, i, o
x|days of the week;name the days of the week;list the weekdays;list all days of the week|The days are Monday, Tuesday, Wednesday, Thursday, Friday, Saturday and Sunday.|wednesday
x|months of the year;name the months;list the months;list all months;name all months|The months are January, February, March, April, May, June, July, August, September, October, November and December.|november
x|seasons;four seasons;name the seasons;which seasons are there;seasons of the year|The seasons are spring, summer, autumn and winter.|autumn
x|number of seasons;how many seasons are there;how many seasons has a year|There are four seasons.|four
x|colours of the rainbow;rainbow colors;which colours are in a rainbow;what colours has a rainbow|Red, orange, yellow, green, blue, indigo and violet.|indigo
x|primary colours;primary colors;which colours are primary|The primary colours are red, yellow and blue.|yellow and blue
x|[colour|color] you get from blue and yellow;mix blue and yellow;what do blue and yellow make;what colour do blue and yellow give|Blue and yellow make green.|green
x|[colour|color] you get from red and yellow;mix red and yellow;what do red and yellow make|Red and yellow make orange.|orange
x|[colour|color] you get from red and blue;mix red and blue;what do red and blue make|Red and blue make purple.|purple
x|[colour|color] you get from black and white;mix black and white;what do black and white make|Black and white make grey.|grey
x|[colour|color] you get from red and white;mix red and white;what do red and white make|Red and white make pink.|pink
x|first man on the moon;who was first on the moon;who walked on the moon first;first person on the moon|Neil Armstrong was the first man on the moon.|Armstrong
x|first man in space;who was first in space;first human in space;first person in space|Yuri Gagarin was the first man in space.|Gagarin
x|year of the moon landing;when was the moon landing;when did people land on the moon;in which year did man land on the moon|The first moon landing was in 1969.|1969
x|inventor of the light bulb;who invented the light bulb;who made the light bulb|Thomas Edison made the light bulb practical.|Edison
x|inventor of the telephone;who invented the telephone|Alexander Graham Bell patented the telephone.|Bell
x|inventor of printing;who invented printing with movable type;who invented the printing press|Johannes Gutenberg invented the printing press.|Gutenberg
x|inventor of the web;who invented the world wide web;who invented the web|Tim Berners-Lee invented the World Wide Web.|Berners-Lee
x|creator of linux;who made linux;who wrote linux;who started linux;who created linux|Linus Torvalds started Linux.|Torvalds
x|creator of c;who made the language c;who wrote c;who invented c|Dennis Ritchie made the C language.|Ritchie
x|discoverer of gravity;who found gravity;who discovered gravity;who described gravity|Isaac Newton described gravity.|Newton
x|theory of relativity;who made the theory of relativity;who found relativity|Albert Einstein made the theory of relativity.|Einstein
x|theory of evolution;who made the theory of evolution;who described evolution|Charles Darwin described evolution.|Darwin
x|discoverer of America;who discovered america;who sailed to america in 1492|Christopher Columbus reached America in 1492.|Columbus
x|painter of the mona lisa;who painted the mona lisa;whose painting is the mona lisa|Leonardo da Vinci painted the Mona Lisa.|Leonardo
x|painter of the sunflowers;who painted the sunflowers;who painted the starry night|Vincent van Gogh painted it.|Gogh
x|first president of the [usa|united states];who was the first president of the [usa|united states];first american president|George Washington was the first president of the United States.|Washington
x|end of the second world war;when did the second world war end;when did world war 2 end;year the second world war ended|The Second World War ended in 1945.|1945
x|start of the second world war;when did the second world war begin;when did world war 2 start|The Second World War began in 1939.|1939
x|start of the first world war;when did the first world war begin;when did world war 1 start|The First World War began in 1914.|1914
x|fall of the berlin wall;when did the berlin wall fall;in which year did the berlin wall fall|The Berlin Wall fell in 1989.|1989
x|currency of europe;money of europe;what money is used in europe|The euro is used in much of Europe.|euro
x|place of the eiffel tower;where is the eiffel tower;where does the eiffel tower stand;city of the eiffel tower|The Eiffel Tower is in Paris.|Paris
x|place of big ben;where is big ben;in which city is big ben|Big Ben is in London.|London
x|place of the colosseum;where is the colosseum;in which city is the colosseum|The Colosseum is in Rome.|Rome
x|place of the statue of liberty;where is the statue of liberty;in which city is the statue of liberty|The Statue of Liberty is in New York.|New York
x|place of the brandenburg gate;where is the brandenburg gate;in which city is the brandenburg gate|The Brandenburg Gate is in Berlin.|Berlin
x|place of the great wall;where is the great wall;which country has the great wall|The Great Wall is in China.|China
x|place of the pyramids;where are the pyramids;which country has the pyramids;where do i find the pyramids|The great pyramids are in Egypt.|Egypt
x|place of the kremlin;where is the kremlin;in which city is the kremlin|The Kremlin is in Moscow.|Moscow
x|animal that gives milk;where does milk come from;who gives milk;what gives us milk|Milk comes from cows.|cow
x|animal that lays eggs;where do eggs come from;who lays eggs|Eggs come from hens.|hen
x|animal that makes honey;who makes honey;where does honey come from;what makes honey|Bees make honey.|bees
x|thing bread is made of;what is bread made of;what do you need for bread;how is bread made|Bread is made of flour, water, salt and yeast.|flour
x|thing cheese is made of;what is cheese made of;how is cheese made;what do you make cheese from|Cheese is made of milk.|milk
x|thing wine is made of;what is wine made of;what do you make wine from|Wine is made of grapes.|grapes
x|thing paper is made of;what is paper made of;what do you make paper from|Paper is made of wood.|wood
x|thing glass is made of;what is glass made of;what do you make glass from|Glass is made of sand.|sand
x|thing chocolate is made of;what is chocolate made of;what do you make chocolate from|Chocolate is made of cocoa beans.|cocoa
x|thing ice is made of;what is ice made of;what is ice;what is frozen water called|Ice is frozen water.|frozen water
x|steam;what is steam made of;what does water become when it boils|Steam is water as a gas.|gas
x|[gas|air] we breathe;what do we breathe;which gas do we need to breathe;what gas do people need|We need oxygen to breathe.|oxygen
x|thing plants need to grow;what do plants need;what do plants need to grow;what does a plant need|Plants need light, water and air.|light
x|photosynthesis;how do plants make food;what do plants do with light|In photosynthesis plants use light to make sugar from water and carbon dioxide.|light
x|reason why the sky is blue;why is the sky blue;what makes the sky blue|The air scatters blue light more than red light.|scatters
x|reason for rain;why does it rain;how does rain form;what makes rain|Water vapour in clouds turns into drops, which fall as rain.|drops
x|reason for day and night;why is there day and night;why does it get dark at night|The Earth turns around itself once a day.|turns
x|cause of the seasons;why are there seasons;what causes the seasons|The axis of the Earth is tilted on its way around the sun.|tilted
x|reason for the tides;what causes the tides;why are there tides|The moon's gravity causes the tides.|moon
x|sun;what is the sun made of;is the sun a star;is the sun a planet|The sun is a star, a hot ball of gas.|star
x|moon;does the moon shine;what does the moon orbit;what goes around the earth|The moon goes around the Earth and reflects the light of the sun.|around the earth
x|earth;what shape is the earth;is the earth flat;is the earth round|The Earth is a planet, round like a ball.|round
x|time the earth takes around the sun;how long does the earth take around the sun;how long is a trip around the sun|The Earth goes around the sun in one year.|one year
x|distance to the sun;how far is the sun;how far away is the sun|The sun is about 150 million kilometres away.|150 million
x|distance to the moon;how far is the moon;how far away is the moon|The moon is about 384,000 kilometres away.|384,000
x|number of bones;how many bones does a human have;how many bones are in the body|An adult human has 206 bones.|206
x|number of teeth;how many teeth does an adult have;how many teeth does a human have|An adult has 32 teeth.|32
x|number of fingers;how many fingers do people have;how many fingers does a person have;how many fingers are on two hands|People have ten fingers.|ten
x|number of toes;how many toes do people have;how many toes are on two feet|People have ten toes.|ten
x|number of eyes;how many eyes do people have;how many eyes does a human have|People have two eyes.|two
x|heart;what does the heart do;what is the heart for;why do we have a heart|The heart pumps blood through the body.|pumps
x|lungs;what do lungs do;what are lungs for|The lungs take oxygen from the air.|oxygen
x|brain;what does the brain do;what is the brain for|The brain thinks and controls the body.|thinks
x|stomach;what does the stomach do;what is the stomach for|The stomach digests food.|digests
x|thing to see with;what do we see with;with what do we see;what are eyes for|We see with our eyes.|eyes
x|thing to hear with;what do we hear with;with what do we hear;what are ears for|We hear with our ears.|ears
x|thing to smell with;what do we smell with;with what do we smell;what is the nose for|We smell with the nose.|nose
x|five senses;name the senses;which senses are there;how many senses are there|The five senses are sight, hearing, smell, taste and touch.|hearing
x|number of sides of a triangle;how many sides has a triangle;how many corners does a triangle have;how many sides does a triangle have|A triangle has three sides.|three
x|number of sides of a square;how many sides has a square;how many corners does a square have|A square has four sides.|four
x|number of sides of a hexagon;how many sides has a hexagon;how many corners does a hexagon have|A hexagon has six sides.|six
x|number of sides of a pentagon;how many sides has a pentagon;how many corners does a pentagon have|A pentagon has five sides.|five
x|number of sides of a cube;how many faces does a cube have;how many sides does a cube have|A cube has six faces.|six
x|shape of a ball;what shape has a ball;what shape is a ball|A ball is round.|round
x|smallest prime number;what is the first prime number;which is the smallest prime|The smallest prime number is 2.|2
x|prime number;what is a prime number;what does prime mean|A prime number can be divided only by 1 and itself.|1 and itself
x|number of players in a football team;how many players has a football team;how many players are in a soccer team|A football team has eleven players.|eleven
x|number of strings of a guitar;how many strings does a guitar have;how many strings has a guitar|A guitar has six strings.|six
x|number of keys on a piano;how many keys does a piano have;how many keys has a piano|A piano has 88 keys.|88
x|number of wheels of a car;how many wheels does a car have;how many wheels has a car|A car has four wheels.|four
x|number of wheels of a bicycle;how many wheels does a bicycle have;how many wheels has a bike|A bicycle has two wheels.|two
x|number of squares on a chess board;how many squares has a chess board;how many squares does a chessboard have|A chess board has 64 squares.|64
x|number of cards in a deck;how many cards are in a deck;how many cards does a deck have|A deck has 52 cards.|52
x|days in a leap year;how many days has a leap year;how long is a leap year|A leap year has 366 days.|366
x|leap year;what does leap year mean;when is a leap year|A leap year has 366 days and comes every four years.|366
x|date of christmas;when is christmas;on which day is christmas;what day is christmas|Christmas is on 25 December.|25 december
x|date of new year;when is new year;when does the year begin;first day of the year|The year begins on 1 January.|1 january
x|date of halloween;when is halloween;on which day is halloween|Halloween is on 31 October.|31 october
x|date of valentine's day;when is valentine's day|Valentine's Day is on 14 February.|14 february
x|weekend;which days are the weekend;what days are on the weekend|The weekend is Saturday and Sunday.|saturday and sunday
x|shortest month;which month is the shortest;month with the fewest days|February is the shortest month.|february
x|computer;what does a computer do;what is a computer for|A computer is a machine that runs programs.|runs programs
x|cpu;what does cpu mean;what does cpu stand for;what is a processor|The CPU is the part of a computer that carries out programs.|programs
x|operating system;what is an operating system;what does an operating system do|An operating system is the software that runs the computer and its programs.|software
x|linux;what is linux;what kind of thing is linux|Linux is a free operating system.|operating system
x|debian;what is debian;what kind of system is debian|Debian is a Linux distribution.|linux
x|ram;what does ram mean;what does ram stand for;what is ram for|RAM is the memory a computer works with.|memory
x|server;what is a server;what does a server do|A server is a program that answers requests of other programs.|requests
x|internet;what is the internet;what does the internet do|The internet is a worldwide network of computers.|network
x|http;what is http;what does http stand for|HTTP is the protocol that web browsers and servers speak.|protocol
x|api;what does api mean;what does api stand for;what is an api|An API is a way for programs to talk to each other.|programs
x|json;what is json;what does json stand for;what does json mean|JSON is a simple text format for data.|text format
x|terminal;what is a terminal;what does a terminal do|A terminal is a window where you type commands.|commands
x|port number in networks;what is a port in a network;what does port mean|A port is a number that tells which program on a computer gets a network message.|number
x|localhost;what is localhost;what does localhost mean|localhost means your own computer.|own computer
x|open source;what does open source mean;what is open source software|Open source means that everyone may read and change the source code.|source code
x|browser;what is a browser;what is a web browser|A browser is a program that shows web pages.|web pages
x|file;what is a file;what does file mean|A file is a piece of data with a name on a disk.|data
x|directory;what is a directory;what is a folder|A directory is a place that holds files.|files
x|artificial intelligence;what is ai;what does ai mean;what does ai stand for;what is artificial intelligence|AI means artificial intelligence: programs that do things for which people need thinking.|artificial intelligence
x|neural network;what is a neural network;how does a neural network work|A neural network is a program that learns from examples with many simple numbers.|learns
x|python;what is python|Python is a programming language, and a snake too.|programming language
x|programming;what is a program;what is programming|A program is a list of instructions for a computer.|instructions
x|bug in a program;what is a bug;what does bug mean in software|A bug is a mistake in a program.|mistake
x|quince fruit;what is a quince fruit;fruit called quince;is quince a fruit|A quince is a yellow fruit, like an apple and a pear. Here it is also an AI server.|fruit
x|gravity;what is gravity;why do things fall;what makes things fall|Gravity pulls things towards the Earth.|pulls
x|atom;what is an atom;what is everything made of|An atom is the smallest part of an element.|smallest
x|water;what is water made of;what is water|Water is made of hydrogen and oxygen.|hydrogen
x|air;what is air made of;what is air|Air is mostly nitrogen and oxygen.|nitrogen
x|volcano;what is a volcano;what does a volcano do|A volcano is a mountain from which hot lava comes.|lava
x|island;what is an island|An island is land with water all around.|water
x|desert;what is a desert|A desert is a dry place with very little rain.|dry
x|rainbow;what is a rainbow;how does a rainbow form|A rainbow appears when sunlight shines through drops of rain.|sunlight
x|thermometer;what is a thermometer for;what does a thermometer measure|A thermometer measures temperature.|temperature
x|clock;what is a clock for;what does a clock show|A clock shows the time.|time
x|telescope;what is a telescope for;what does a telescope do|A telescope makes far things look near.|far
x|microscope;what is a microscope for;what does a microscope do|A microscope makes small things look big.|small
x|umbrella;what is an umbrella for;what do you use against rain|An umbrella keeps the rain off.|rain
x|dentist;what does a dentist do|A dentist looks after teeth.|teeth
x|baker;what does a baker do;who makes bread|A baker makes bread.|bread
x|teacher;what does a teacher do|A teacher teaches pupils.|teaches
x|doctor;what does a doctor do|A doctor helps sick people.|sick
x|pilot;what does a pilot do;who flies a plane|A pilot flies planes.|flies
x|farmer;what does a farmer do|A farmer grows food and keeps animals.|food
x|library;what is a library;what is in a library|A library is a place with many books.|books
x|school;what is a school;what do children do at school|A school is a place where children learn.|learn
x|hospital;what is a hospital|A hospital is a place where sick people are treated.|sick
x|soccer;what is soccer;what is football|Soccer is a game in which two teams kick a ball into goals.|ball
x|chess;what is chess;what kind of game is chess|Chess is a board game for two players.|board game
x|tea;what is tea made of;what is tea|Tea is made from the leaves of a plant and hot water.|leaves
x|coffee drink;what is coffee made of;what is coffee|Coffee is made from roasted beans and hot water.|beans
x|pizza;what is pizza;what is a pizza|Pizza is a flat bread with tomato and cheese from Italy.|italy
x|home country of pizza;where does pizza come from;which country invented pizza|Pizza comes from Italy.|italy
x|home country of sushi;where does sushi come from|Sushi comes from Japan.|japan
x|animal with a trunk;which animal has a trunk|The elephant has a trunk.|elephant
x|animal with stripes;which animal has black and white stripes|The zebra has black and white stripes.|zebra
x|animal called man's best friend;what is man's best friend|The dog is called man's best friend.|dog
x|ship of the desert;which animal is the ship of the desert|The camel is the ship of the desert.|camel
x|food of pandas;what do pandas eat;what does a panda eat|Pandas eat bamboo.|bamboo
x|food of rabbits;what do rabbits eat;what does a rabbit eat|Rabbits eat grass and vegetables.|grass
x|food of cows;what do cows eat;what does a cow eat|Cows eat grass.|grass
x|food of cats;what do cats eat;what does a cat eat|Cats eat meat and fish.|meat
x|food of dogs;what do dogs eat;what does a dog eat|Dogs eat meat and dog food.|meat
x|place where penguins live;where do penguins live;home of penguins|Penguins live in the south, many in Antarctica.|antarctica
x|place where polar bears live;where do polar bears live;home of polar bears|Polar bears live in the Arctic.|arctic
x|place where kangaroos live;where do kangaroos live;home of kangaroos|Kangaroos live in Australia.|australia
x|direction of sunrise;where does the sun rise;in which direction does the sun rise|The sun rises in the east.|east
x|direction of sunset;where does the sun set;in which direction does the sun set|The sun sets in the west.|west
x|four directions;name the directions;which compass directions are there;points of the compass|North, east, south and west.|north, east
x|color of a traffic light to go;when may i go at a traffic light|At green you may go.|green
x|emergency number in europe;which number do i call in an emergency|In Europe the emergency number is 112.|112
x|dozen;what is a dozen;how many is a dozen|A dozen is twelve.|twelve
x|century;how long is a century;what is a century|A century is 100 years.|100 years
x|decade;how long is a decade;what is a decade|A decade is 10 years.|10 years
""".strip().split("\n"):
    _parts = _row.replace("[colour|color]", "\1").replace("[usa|united states]", "\2").replace(
        "[in the world|]", "\3").replace("[on land|]", "\4").replace("[animals|the jungle|beasts]", "\5").replace(
        "[largest|biggest]", "\6").replace("[gas|air]", "\7").split("|")
    _back = {"\1": "[colour|color]", "\2": "[usa|united states]", "\3": "[in the world|]", "\4": "[on land|]",
             "\5": "[animals|the jungle|beasts]", "\6": "[largest|biggest]", "\7": "[gas|air]"}
    _asks = _parts[1]
    for _k, _v in _back.items():
        _asks = _asks.replace(_k, _v)
    _asks = [s.strip() for s in _asks.split(";")]
    _noun, _rest = _asks[0], _asks[1:]
    fact(_parts[2], _parts[3].lower(), "\n".join(_rest))
    # What starts like a question stands alone; anything else is a noun phrase for the carriers.
    _q = [s for s in _rest if s.split()[0] in (
        "what which who where when how why is are on in at from whose with by does do name list mix say recite convert").split()]
    ONEOFF[-1].update(q=_q, np=[_noun] + [s for s in _rest if s not in _q])
