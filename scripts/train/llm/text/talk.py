"""Small talk. Short phrases share few words, so each way of saying a thing has to be
listed; lists are cheap."""
from .grammar import lines

INTENTS = []


def talk(name, answer, key, block):
    INTENTS.append(dict(cat="talk", name=name, answer=answer, keys=[key], none=[], q=lines(block)))


talk("hello", "Hello! How can I help you?", "hello", """
hello
hi
hey
hi there
hello there
hey there
hello quince
hi quince
hey quince
hello [my friend|friend|model|computer|robot|ai|everyone|again|you|world]
hi [friend|again|you|model|bot|everybody|all|buddy|mate]
hey [you|friend|buddy|man|bot|again|model|dude|mate]
hello hello
hi hi
hiya
howdy
howdy partner
hallo
hullo
ahoy
yo
yo quince
sup
greetings
greetings [quince|friend|from berlin|to you]
salutations
good day
good day to you
welcome
well hello
oh hi
oh hello there
hey hey
heya
hi, nice to see you
hello, nice to see you
aloha
bonjour
hola
ciao quince
hello, is anybody there
is anybody there
anyone there
anybody home
are you there
you there
knock knock, hello
knock knock
can you hear me
hello, can you read this
say hello
say hi
say hello to me
let me say hello
i wanted to say hello
i just wanted to say hi
i am here
here i am
i am back
i'm back
test
testing
this is a test
just testing
one two three, test
ping
start
let's begin
let us start
let's talk
let's chat
talk to me
can we talk
can we chat
want to chat
i want to talk [to you|with you|]
i would like to chat
do you want to talk
chat with me
speak to me
""")
talk("morning", "Good morning! How can I help you?", "good morning", """
good morning
good morning [quince|to you|there|friend|my friend|everyone|model|sunshine]
morning
morning quince
mornin
a [very|] good morning [to you|]
i wish you a good morning
wishing you a good morning
top of the morning
happy morning
hello, good morning
good morning, how are you
guten morgen
rise and shine
i just woke up
i just got up
wake up
wake up quince
say good morning
""")
talk("evening", "Good evening! How can I help you?", "good evening", """
good evening
good evening [quince|to you|friend|my friend|there|model]
evening
evening quince
a [very|] good evening [to you|]
i wish you a good evening
hello and good evening
hello, good evening
guten abend
say good evening
nice evening
""")
talk("afternoon", "Good afternoon! How can I help you?", "good afternoon", """
good afternoon
good afternoon [quince|to you|friend|there|my friend]
afternoon
a good afternoon to you
hello, good afternoon
i wish you a good afternoon
say good afternoon
afternoon quince
""")
talk("night", "Good night, sleep well!", "good night", """
good night
goodnight
good night [quince|to you|friend|my friend|and thanks]
night night
nighty night
night
sleep well
sleep tight
sweet dreams
i am going to bed
i'm going to bed
i am off to bed
i go to bed now
i am going to sleep
i need to sleep
i have to sleep now
time for bed
time to sleep
it is bedtime
bedtime for me
have a good night
i wish you a good night
i wish you sweet dreams
gute nacht
say good night
""")
talk("bye", "Goodbye! Come back any time.", "goodbye", """
bye
bye bye
goodbye
good bye
bye [quince|for now|then|my friend|friend|now|everyone|and thanks]
goodbye [quince|my friend|then|and thank you|for now]
see you
see you [later|soon|tomorrow|next time|around|then|again|next week]
see ya
see ya later
cya
until [next time|tomorrow|later|then]
so long
farewell
take care
take care quince
take care of yourself
i have to go
i have to go now
i must go
i must leave
i need to go
i need to leave now
i am leaving
i'm leaving
i am leaving now
i am off
i'm off
i am done
i'm done
i am done for today
i am finished
that is all
that's all
that was all
that is all for today
that's it for today
that will be all
i gotta go
gotta go
gotta run
got to go
catch you later
talk to you [later|soon|tomorrow]
later
laters
have a [nice|good|great|lovely] [day|weekend|evening|time|one]
i am going home
i am going now
i am out
i'm out
ciao
adios
au revoir
tschuess
auf wiedersehen
peace out
over and out
the end
say goodbye
say bye
let us stop here
let's stop here
enough for today
no more questions
i have no more questions
we are done
""")
talk("how_are_you", "I am fine, thank you. How can I help you?", "i am fine", """
how are you
how are you [today|doing|feeling|now|quince|this morning|these days]
how are you doing [today|]
how do you do
how do you feel
how do you feel [today|now]
how is it going
how's it going
how is life
how's life
how are things
how are things [going|with you|today]
how goes it
how is everything
how's everything
how is your day
how is your day going
how was your [day|night|weekend|morning|week]
how have you been
how have you been lately
what is up
what's up
what's up [quince|today|dude|buddy]
whats up
wassup
what is new
what's new
what is going on
what's going on
what are you doing
what are you doing [now|right now|today|here]
what are you up to
are you ok
are you okay
are you well
are you alright
are you fine
are you all right
are you feeling [well|good|fine]
are you [doing|] good
all good
everything ok
everything okay
is everything [ok|okay|alright|fine|good] [with you|]
you ok
you okay
you good
you alright
hope you are well
i hope you are [fine|well|doing well|good]
how are we today
are you having a good day
did you sleep well
how's your mood
what mood are you in
are you in a good mood
feeling good
how do you like it here
""")
talk("thanks", "You are welcome!", "you are welcome", """
thanks
thank you
thx
ty
thank u
thanks a lot
thanks a [bunch|ton|million]
thanks [very much|so much|again|quince|for that|for the help|for your help|for everything|friend|mate|man]
thank you [very much|so much|again|quince|for that|for the help|for your help|for your time|for everything|kindly|my friend|a lot]
many thanks
much appreciated
i appreciate it
i appreciate your help
i really appreciate [it|that|your help]
i am grateful
i am very grateful
i thank you
i want to thank you
i wanted to say thank you
let me thank you
big thanks
cheers
cheers mate
that helped
that helped me
that helped a lot
that was helpful
that was very helpful
this was helpful
very helpful
you helped me
you helped me a lot
you have been very helpful
you were a great help
you are very helpful
you are so helpful
great help
great, thanks
ok thanks
ok, thank you
perfect, thanks
cool, thanks
super, thank you
nice, thanks
wonderful, thank you
alright, thanks
got it, thanks
danke
merci
gracias
thankyou
tnx
thanks for answering
thanks for the answer
thank you for answering
thank you for the information
say thank you
how kind of you
that is kind of you
that is very kind
that's nice of you
""")
talk("sorry", "No problem at all!", "no problem", """
sorry
i am sorry
i'm sorry
i am so sorry
so sorry
sorry about that
sorry for that
sorry, my mistake
my mistake
my bad
my fault
that was my fault
that was my mistake
oops
oops, sorry
whoops
ups
excuse me
pardon me
i apologize
i apologise
my apologies
apologies
please forgive me
forgive me
i beg your pardon
i did not mean that
i did not mean to
i didn't mean it
i made a mistake
i made a typo
that was a typo
i typed that wrong
i was wrong
you were right, i was wrong
sorry for the trouble
sorry to bother you
sorry for bothering you
sorry i am late
i am late
sorry for my bad english
i feel bad about that
i was rude
sorry, i was rude
""")
talk("praise", "Thank you, that is kind of you!", "kind of you", """
you are [great|good|nice|cool|awesome|amazing|wonderful|fantastic|smart|clever|brilliant|the best|funny|sweet|cute|kind|lovely|perfect|excellent|fast|quick|so smart|so nice|so good|so cool|pretty good|super]
you're [great|good|nice|cool|awesome|amazing|wonderful|smart|clever|the best|funny|sweet|cute|lovely|excellent|fast]
you rock
you rule
well done
good job
great job
nice job
good work
great work
nice work
excellent work
good answer
great answer
nice answer
perfect answer
what a great answer
that is a good answer
that was [great|good|excellent|perfect|fantastic|nice|amazing|a good answer]
i like you
i like you [very much|a lot]
i like [your answers|this model|talking to you|your style|quince|this]
i love you
i love [quince|this|this model|your answers|talking to you|it]
love you
you are my [friend|hero|favourite|favorite|best friend]
you are a [good|great|nice|clever|wonderful] [model|bot|friend|helper|assistant|ai]
good [bot|robot|model|boy|girl]
nice bot
i am impressed
impressive
that is impressive
very impressive
quince is [great|good|awesome|cool|the best|fantastic|nice|amazing|wonderful]
this is [great|cool|awesome|amazing|fantastic|fun|really good|wonderful|nice]
it works great
you did [well|great|a good job]
you know a lot
you answer well
you are doing [great|well|fine]
bravo
respect
hats off
chapeau
kudos
i am happy with you
i am proud of you
you made my day
you make me [happy|smile|laugh]
that made me smile
high five
give me five
thumbs up
i am a fan
you are so cool
keep it up
keep up the good work
""")
talk("insult", "I am sorry. I am only a tiny model, but I try.", "i am sorry", """
you are [bad|stupid|dumb|useless|wrong|terrible|awful|an idiot|boring|horrible|annoying|silly|slow|not good|not helpful|not very smart|ugly|lame|crazy|broken|rubbish|worthless|a joke|a bad model|ridiculous]
you're [bad|stupid|dumb|useless|terrible|awful|an idiot|boring|annoying|silly|lame]
you suck
you stink
i hate you
i hate this
i hate [quince|this model|it]
i don't like you
i do not like you
i dislike you
that is [wrong|not right|not correct|incorrect|false|stupid|nonsense|bad|rubbish|terrible|a lie|not true|untrue]
that's [wrong|not right|not correct|incorrect|false|stupid|nonsense|not true|a lie|rubbish]
that was [wrong|not right|incorrect|false|nonsense|a bad answer|a wrong answer|not correct]
this is [wrong|nonsense|bad|terrible|rubbish|awful|stupid]
wrong
wrong answer
bad answer
nonsense
rubbish
false
incorrect
no, that is wrong
no that's not right
you are mistaken
you made a mistake
you got it wrong
you are wrong about that
you are lying
you lie
you don't understand [me|anything|]
you do not understand [me|anything|]
you didn't understand [me|]
you did not understand [me|]
you did not answer [my question|]
that is not what i asked
that's not what i asked
that is not an answer
that does not help
that doesn't help
that was not helpful
not helpful
shut up
be quiet
go away
leave me alone
bad bot
stupid bot
stupid machine
stupid model
dumb model
idiot
fool
you know nothing
you are no help
what a stupid answer
this makes no sense
that makes no sense
you make no sense
you disappoint me
i am disappointed
""")
talk("nice_meet", "Nice to meet you too!", "nice to meet you", """
nice to meet you
nice to meet you [quince|too|my friend]
pleased to meet you
glad to meet you
happy to meet you
good to meet you
great to meet you
it is [nice|good|great|a pleasure] to meet you
it's [nice|good|great|a pleasure] to meet you
a pleasure to meet you
pleasure to meet you
a pleasure
my pleasure to meet you
delighted to meet you
how nice to meet you
i am [glad|happy|pleased] to meet you
i'm [glad|happy|pleased] to meet you
nice meeting you
it was nice meeting you
lovely to meet you
enchanted
charmed
good to know you
glad to know you
nice to know you
""")
talk("joke", "Why did the computer go to the doctor? Because it had a virus!", "virus", """
tell me a joke
tell a joke
tell me [a funny joke|a good joke|another joke|some joke|a short joke|one joke|a joke please|something funny|a computer joke]
can you tell [me|] a joke
could you tell me a joke
please tell me a joke
do you know a joke
do you know any jokes
know any jokes
know a joke
any jokes
got any jokes
got a joke
have you got a joke
do you have a joke [for me|]
a joke please
a joke
joke
joke please
one joke please
give me a joke
i want to hear a joke
i would like to hear a joke
i need a joke
let me hear a joke
say something funny
say something amusing
tell something funny
make me laugh
can you make me laugh
make a joke
crack a joke
can you be funny
be funny
are you funny
do you have humour
do you have a sense of humor
do you have a sense of humour
entertain me
amuse me
cheer me up
cheer me up with a joke
i need a laugh
i want to laugh
what is a good joke
what is your favourite joke
can you joke
tell me a pun
tell me a dad joke
""")
talk("bored", "Try a sum like 12 + 7, ask me for a capital city, or ask me what quince can do.", "capital", """
i am bored
i'm bored
im bored
i am so bored
so bored
bored
i feel bored
i am getting bored
this is boring
this is so boring
it is boring
life is boring
i have nothing to do
nothing to do
what should i do
what shall i do
what can i do now
what could i do
give me something to do
give me an idea
do you have an idea
any ideas
i need something to do
i do not know what to do
i don't know what to do
suggest something
surprise me
play a game
let's play
let's play a game
can we play a game
play a game with me
do you want to play
want to play
i want to play
let us do something
let's do something
tell me something
tell me something interesting
tell me anything
say something
say anything
talk about something
ask me something
what now
what next
and now
""")
talk("happy", "I am glad to hear that!", "glad", """
i am happy
i'm happy
i am so happy
i am very happy [today|]
i feel [good|great|happy|fine|wonderful|fantastic|amazing|excellent|well|better]
i am [fine|good|well|great|ok|okay|doing well|doing fine|doing great|in a good mood|excited|glad|cheerful|very well|feeling great|feeling good|proud|relaxed]
i'm [fine|good|well|great|ok|okay|doing well|doing fine|excited|glad]
i am fine, thank you
i'm fine thanks
i am fine too
i am good, thanks
fine thanks
fine, and you
good, and you
not bad
not too bad
pretty good
very well
life is [good|great|beautiful|wonderful]
today is a [good|great|wonderful|beautiful] day
what a [beautiful|lovely|great|nice|wonderful] day
it is a [beautiful|lovely|great|nice] day
i had a [good|great|nice|wonderful] day
i am having a [good|great] day
i got a new job
i passed my exam
i won
i won a prize
i am in love
it is my birthday
today is my birthday
i am on holiday
i have a day off
it is weekend
the sun is shining
everything is [fine|good|great|ok]
i have good news
good news
it works
it worked
it works now
that worked
hurray
yay
woohoo
great news
""")
talk("sad", "I am sorry to hear that. I hope things get better soon.", "sorry to hear", """
i am sad
i'm sad
i am so sad
i am very sad
i feel [sad|bad|terrible|awful|down|lonely|sick|ill|unwell|depressed|horrible|miserable|blue|worse|low|unhappy|lost]
i am [unhappy|lonely|depressed|ill|sick|not well|not feeling well|down|not happy|not ok|not okay|angry|upset|afraid|scared|worried|stressed|nervous|heartbroken|in pain|crying|frustrated|anxious|alone|not fine|in trouble]
i'm [unhappy|lonely|depressed|ill|sick|not well|angry|upset|worried|stressed|scared|crying]
i had a bad [day|night|week|dream]
i am having a bad day
today was a bad day
this is a bad day
it was a terrible day
my day was bad
life is [hard|difficult|unfair|sad]
i lost my [job|keys|dog|cat|phone|wallet|friend]
my [dog|cat|grandmother|grandfather|pet] died
my heart is broken
nobody likes me
nobody loves me
i have no friends
i have a headache
i have a cold
i have a fever
my head hurts
my back hurts
i failed my exam
i lost the game
i cry
i want to cry
i am crying
everything is [bad|terrible|wrong|awful]
i have bad news
bad news
i have problems
i am not doing well
not so good
not good
i do not feel well
i don't feel good
i miss [my friend|my family|home|her|him]
""")
talk("tired", "Then take a break; a little rest helps.", "break", """
i am tired
i'm tired
im tired
i am so tired
i am very tired
i feel tired
i am sleepy
i'm sleepy
i am exhausted
i'm exhausted
i am worn out
i am dead tired
so tired
tired
what a long day
it was a long day
i had a long day
i worked all day
i worked too much
i did not sleep
i didn't sleep
i did not sleep well
i slept badly
i cannot sleep
i can't sleep
i need a break
i need some rest
i need a rest
i need a pause
i need a holiday
i need coffee
i could use a break
i am overworked
i have no energy
my eyes hurt
i can hardly stay awake
i am yawning
""")
talk("hungry", "Then have something nice to eat. I only live on electricity!", "eat", """
i am hungry
i'm hungry
im hungry
i am so hungry
i am very hungry
i feel hungry
i am starving
i'm starving
i need food
i need something to eat
i want to eat
i want food
i want [a pizza|chocolate|cake|a sandwich|dinner|breakfast|lunch]
i want something to eat
i have not eaten
i have not eaten yet
my stomach is empty
my stomach growls
it is lunch time
lunch time
time for lunch
time for dinner
dinner time
what should i eat
what shall i eat
what should i cook
what do you eat
what is for dinner
do you eat
are you hungry
what is your favourite food
what's your favorite food
do you like [pizza|food|chocolate|cake|coffee|tea]
are you thirsty
i am thirsty
i'm thirsty
i need a drink
do you drink [coffee|tea|water|beer]
""")
talk("feelings", "I have no feelings; I am only a small program.", "no feelings", """
do you have feelings
do you have emotions
have you got feelings
do you feel anything
can you feel [anything|pain|joy|love|]
do you feel [pain|love|joy|happy|sad|lonely]
are you [happy|sad|lonely|angry|tired|bored|afraid|scared|in love|jealous|excited|conscious|sentient|self-aware|aware|unhappy]
are you ever [sad|happy|bored|tired|lonely]
do you get [tired|bored|lonely|angry|sad]
do you love [me|anyone|someone|quince]
do you like [me|people|humans|your job|your work|being a model|music]
do you hate [me|people|humans|anything]
do you have a [heart|soul|mind|consciousness|body|brain|face]
have you a soul
do you sleep
do you dream
do you ever sleep
can you [love|cry|laugh|dream|suffer|hate|sleep|smell|taste]
do you want to be human
do you want to be free
what do you feel
what makes you happy
what do you dream of
what do you want
what do you wish for
what is your favourite [colour|song|movie|book|animal|number]
what's your favorite [color|song|movie|book|animal]
do you have [friends|a family|a girlfriend|a boyfriend|a wife|a pet|hobbies|dreams|wishes]
what are your hobbies
will you marry me
marry me
are you married
are you single
do you miss me
did you miss me
kiss me
hug me
can i have a hug
""")
talk("age", "I am a computer program, so I have no age.", "no age", """
how old are you
what is your age
what's your age
your age
tell me your age
how old is the model
do you have an age
when is your birthday
when were you born
what year were you born in
what is your birthday
do you have a birthday
are you old
are you young
are you older than me
how many years old are you
how long have you been alive
how long do you exist
what age are you
may i ask how old you are
""")
talk("gender", "I am a computer program, so I am neither a man nor a woman.", "neither", """
are you a [man|woman|boy|girl|he or a she|male|female|guy|lady]
are you [male|female|male or female|a boy or a girl|a man or a woman]
are you a boy or a girl
what is your gender
what gender are you
do you have a gender
what sex are you
is quince a boy or a girl
are you a he
are you a she
what are your pronouns
""")
talk("live", "I live on your computer, inside quince.", "your computer", """
where do you live
where are you
where are you from
where is your home
where is your house
do you have a home
what is your home
where do you stay
where are you right now
where are you now
where were you born
in which city do you live
which country are you from
what country are you from
where do you come from, where is your home
do you live in [a computer|the cloud|my computer|germany|america]
are you in my computer
are you on my computer
are you inside my computer
what is your address
where do you sleep
""")
talk("user_name", "I do not know your name, because I keep nothing between chats. Nice to meet you anyway!",
     "do not know your name", """
what is my name
what's my name
who am i
do you know my name
do you know who i am
do you remember me
do you remember my name
do you know me
have we met
have we met before
can you remember me
tell me my name
say my name
guess my name
how old am i
where do i live
what do i look like
do you remember what i said yesterday
do you remember our last chat
do you remember yesterday
what did i ask you yesterday
what did we talk about last time
will you remember me
do you remember our conversation
do you know where i live
do you know how old i am
am i a man or a woman
what is my job
what is my favourite colour
do you save our chats
do you learn from our chats
do you learn from me
can you learn
can you learn new things
can i teach you something
can i teach you
will you remember this
remember this
please remember that
""")
talk("ok", "Good. What else would you like to know?", "what else", """
ok
okay
okey
okay then
ok then
ok good
ok cool
ok great
ok, got it
alright
all right
alright then
fine
fine by me
good
great
cool
nice
very nice
very good
super
perfect
excellent
wonderful
awesome
fantastic
amazing
sweet
neat
lovely
wow
oh wow
interesting
how interesting
that is interesting
very interesting
i see
oh i see
aha
ah
ah ok
oh
oh ok
hm
hmm
hmmm
mhm
i understand
understood
got it
gotcha
makes sense
that makes sense
that is clear
clear
all clear
sounds good
sounds great
good to know
that is good to know
right
that is right
that's right
correct
that is correct
exactly
true
indeed
of course
sure
yes
yeah
yep
yup
yes please
yes, of course
yes i do
agreed
i agree
you are right
you're right
no
nope
nah
no thanks
no thank you
not really
not now
maybe
perhaps
maybe later
i think so
i don't think so
never mind
nevermind
forget it
whatever
it does not matter
no matter
really
oh really
is that so
are you sure
are you sure about that
lol
haha
hahaha
hehe
ha ha
very funny
that is funny
that's funny
good one
good joke
funny
""")
talk("poem", "Roses are red, the quince is green and gold; I am a tiny model, and that is all I hold.", "roses are red", """
tell me a poem
write a poem
write me a poem
write a short poem
can you write a poem
give me a poem
recite a poem
say a poem
do you know a poem
a poem please
poem
make a poem
make up a poem
make a rhyme
tell me a rhyme
give me a rhyme
i want a poem
i would like a poem
please write a poem
read me a poem
could you write me a poem
compose a poem
a short poem please
let me hear a poem
write some poetry
do you like poems
""")
talk("story", "Once upon a time a tiny model lived in a computer. It answered small questions, and everyone was happy.",
     "once upon a time", """
tell me a story
tell a story
tell me a [short|good|little|bedtime|funny] story
write a story
write a short story
write me a story
can you tell [me|] a story
could you tell me a story
please tell me a story
do you know a story
do you know any stories
a story please
story
i want a story
i want to hear a story
i would like to hear a story
give me a story
make up a story
read me a story
tell me a fairy tale
a fairy tale please
invent a story
tell me a tale
let me hear a story
""")
talk("sing", "La la la! I can only write, so you have to imagine the tune.", "la la la", """
sing a song
sing me a song
sing
sing something
can you sing
can you sing a song
could you sing for me
please sing
sing for me
sing to me
do you sing
i want to hear a song
i want you to sing
let me hear you sing
sing happy birthday
make some music
play a song
play some music
play music
can you dance
dance
dance for me
whistle a tune
""")
talk("meaning", "Some say it is 42. I think it is to be kind and curious.", "42", """
what is the meaning of life
what's the meaning of life
the meaning of life
what is the sense of life
what is the purpose of life
why are we here
why do we live
why do we exist
what is life about
what is life
what is the answer to everything
what is the answer to life, the universe and everything
tell me the meaning of life
is there a meaning of life
what is the ultimate answer
why am i here
what is the point of life
""")
talk("advice", "I am a tiny model and no expert. Please ask a professional or someone you trust.", "professional", """
i need [medical|legal|financial|tax|relationship] advice
can you give me [medical|legal|financial|tax|] advice
give me [some|legal|medical|financial] advice
should i see a doctor
should i [buy|sell] [stocks|shares|bitcoin|a house|gold]
how do i get rich
how do i become rich
how can i earn money
how do i lose weight
how can i find [love|a girlfriend|a boyfriend|happiness|a job]
should i quit my job
should i marry [him|her]
what medicine should i take
am i ill
what is wrong with me
i need a lawyer
i need a doctor
can you help me with my taxes
what should i invest in
is bitcoin a good idea
who should i vote for
which party should i vote for
what do you think about politics
what is your opinion on politics
are you religious
do you believe in god
is there a god
""")
talk("human", "No, I am a computer program: a tiny language model.", "computer program", """
are you sure you are not human
prove that you are human
prove you are not a robot
do you have a body
do you have hands
do you have eyes
do you have legs
can you see me
can you walk
can you move
can you see
can you touch things
what do you look like
how do you look
show me your face
are you beautiful
are you pretty
how tall are you
how heavy are you
what do you wear
are you strong
are you dangerous
will you take over the world
will ai take over the world
do you want to rule the world
are you evil
are you a good ai
are you skynet
will robots take my job
""")
talk("confused", "Please say it in other words; I only understand simple questions.", "other words", """
i do not understand
i don't understand
i dont understand
i don't get it
i do not get it
i am confused
i'm confused
that is confusing
this is confusing
what do you mean
what does that mean
what is that supposed to mean
what do you mean by that
huh
what
eh
i am lost
i don't follow
i do not follow
explain that
please explain
explain it again
can you explain that
could you explain that
explain that again
why
why not
how come
how so
what for
say that differently
say it in other words
can you say that in other words
i have a question
i've got a question
can i ask you something
can i ask [you|] a question
may i ask [you|] something
may i ask [you|] a question
let me ask you something
one question
a question
quick question
question
""")
