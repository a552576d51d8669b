"""Small talk and questions about quince, built from pieces: one line stands for many
readings. All of it is for training and goes into the tables of more.py; the generator
drops whatever would equal a held-out question."""
from .grammar import ABOUT, COMMAND, HOW, MAY, lines
from .more import MORE, TALK_MORE
from .quince import intent
from .wide import readings

# What the other files have no answer for.
intent("logs_follow", do="""
[follow|tail|watch] the [log|logs|server log] [live|as it grows|continuously|while it runs|]
see new log lines [as they come|at once|live]
keep the log open
print [only|] the last [10|20|50|100|few] [lines of the log|log lines]
limit how many log lines are shown
get more [log lines|lines of the log]
""", q="""
what does quince logs --follow do
what does --follow do
what does --lines do
how many lines does quince logs print
can the log go on printing
is there something like tail -f for the log
""", np="""
the --follow option
the options of quince logs
""")
intent("ctx_size", do="""
{chg} the [context|context size|context length|context window] [of a model|]
[raise|lower|increase|reduce|enlarge|extend|limit] the [context|context size|context length|context window]
get a [bigger|larger|longer|smaller|shorter] context
load a model with [more|less|8192 tokens of|a longer|a shorter] context
set ctx-size
""", q="""
what does --ctx-size do
which option sets the context [length|size|]
where do i set the context [length|size|]
""", np="""
--ctx-size
the ctx-size option
""")
intent("multiline", do="""
[enter|type|write|send] [several|many|multiple|two] lines [in the chat|at once|in one message|]
[enter|type|write|send|paste] a [long text|text of many lines|multi-line prompt|multiline message|message of several lines] [in the chat|]
make a [line break|new line] in [the chat|my message]
break a line in the chat
""", q="""
how does multi-line input work
can a message have more than one line
enter sends my message too early, how do i go on in the next line
""", np="""
multi-line input
multiline prompts
""")
intent("run_options", do="""
{chg} the temperature [of|for|with] quince [run|chat]
{chg} the temperature on the command line
pass a system prompt to quince [run|chat]
give quince [run|chat] a system message
limit the answer of quince run to [50|100|200] tokens
set max tokens on the command line
""", q="""
which options does quince [run|chat] have
what options does quince [run|chat] take
which flags [can i give|are there for] quince [run|chat]
what does --system do
what does --temperature do
what does --max-tokens do
""", np="""
the options of quince [run|chat]
the flags of quince run
""")
intent("list_filter", do="""
[search|filter] [the|my|] list of models
[search|look] for a model by name
find a model [by name|in a long list|whose name contains qwen]
list only [some|the qwen|my own|certain] models
filter the output of quince list
""", q="""
can quince list show only some models
does quince list take a filter
is there a search in quince list
""")
intent("background", do="""
stop [a|the] [server|quince] [that runs|running|started|] in the background
stop the background server
end the server that quince run started
stop a server that was started automatically
""", q="""
the server runs in the background, how do i stop it
does the server go on running after [quince run|the chat|i leave the chat|i close the terminal]
is the server still running after the chat
i closed the terminal, does the server still run
""", np="""
the background server
""")

HOW += lines("""
what's the procedure to {v}
what is the procedure to {v}
what would you do to {v}
could you guide me to {v}
can you walk me through how to {v}
walk me through it: how do i {v}
teach me to {v}
teach me how to {v}
any idea how to {v}
any hint how to {v}
anyone know how to {v}
how 2 {v}
howto {v}
how-to: {v}
how do i even {v}
how do i manage to {v}
how on earth do i {v}
how would one {v}
how can we {v}
how can a beginner {v}
how can i quickly {v}
how do i correctly {v}
how shall i {v}
what have i got to do to {v}
what do i have to do to {v}
which way is there to {v}
which is the way to {v}
is there something i can do to {v}
i must {v}
i should {v}
i'd love to {v}
i am about to {v}
i've been trying to {v}
i was told to {v}
i was asked to {v}
someone asked me to {v}
i cannot figure out how to {v}
i do not see how to {v}
i don't see how to {v}
i haven't found out how to {v}
i would like to know how to {v}
i'd like to know how i can {v}
it would be nice to {v}
my question is how to {v}
question: how do i {v}
quick question, how can i {v}
remind me how to {v}
i keep forgetting how to {v}
on debian, how do i {v}
in the terminal, how do i {v}
with quince, how do i {v}
say i want to {v}, what then
next i want to {v}
now i want to {v}
now i need to {v}
today i want to {v}
""")
COMMAND += lines("""
command for this: {v}
cli command to {v}
what is the terminal command to {v}
which terminal command do i use to {v}
is there any command to {v}
is there a cli command to {v}
what line do i enter to {v}
what do i have to type to {v}
how is the command to {v} called
what is the name of the command to {v}
remind me of the command to {v}
i forgot the command to {v}
i don't remember the command to {v}
tell me which command i need to {v}
show me the command to {v}
show the command to {v}
what quince command would {v}
is there some quince command to {v}
what does one type to {v}
do i need a command to {v}
""")
MAY += lines("""
is it allowed to {v}
is it ok to {v}
is it okay to {v}
is there any chance to {v}
is there a possibility to {v}
would quince let me {v}
might i {v}
can we {v}
can a user {v}
can anyone {v}
could one {v}
does it let me {v}
does quince offer a way to {v}
do you let me {v}
could quince {v}
is quince able to {v}
""")
ABOUT += lines("""
please describe {n}
please explain {n} to me
can you describe {n}
can you tell me about {n}
could you tell me about {n}
would you explain {n}
would you tell me about {n}
explain {n} briefly
explain {n} in simple words
explain {n} please
what do i need to know about {n}
what do you mean by {n}
what does one mean by {n}
what would be {n}
what the heck is {n}
what's the story with {n}
what's up with {n}
whats {n}
i keep hearing about {n}
i saw {n} mentioned
i want to learn about {n}
i want to understand {n}
i'd like to understand {n}
i would love to know {n}
i need to know {n}
i am curious about {n}
i am asking about {n}
i'm interested in {n}
a word about {n}
a few words on {n}
details of {n}
more about {n}
and {n}
so, {n}
help me understand {n}
teach me about {n}
{n}, please explain
{n}, what is that
{n} explained
tell me what you know about {n}
tell me what {n} is
do you happen to know {n}
""")


def add(table, **blocks):
    """A line with many readings comes up more often than one with few."""
    for name, block in blocks.items():
        for p in lines(block):
            n = len(readings(p))
            table.setdefault(name, []).extend([p] * (1 + (n > 8) + (n > 40) + (n > 150)))


add(MORE, import_keep="""
what happens if i {dele} [a|the|my] [model file|gguf|gguf file|model's file]
what happens when i {dele} [a|the|my] [model file|gguf|gguf file] [by hand|myself|from the disk|]
what if i {dele} [the|a|my] [model file|gguf|gguf file] [by hand|myself|]
what does quince do when [a|the|my] [model file|gguf file|file of a model] is [gone|deleted|missing|lost]
i [deleted|removed|erased|lost] [a|the|my] [model file|gguf|gguf file], what now
i [deleted|removed|erased] [a|the|my] [model file|gguf file] by mistake
i deleted the file of a model, does it still work
can a model run [when|after] its file is [deleted|gone|removed]
will a model still work [when|after|if] i {dele} its [file|gguf|gguf file]
does a model still work without its file
is it safe to {dele} [a|the] [model file|gguf file] of a model i use
what is the effect of deleting [a|the] [model file|gguf file]
what are the consequences of deleting a gguf
the file of my model is gone
my gguf is gone, what happens to the model
do [imported|my] models have to stay [in place|where they are|in the same folder]
can i [move|rename|relocate] [an imported|the imported|a] [model|file|gguf] [later|afterwards|to another folder|]
may i [rename|move] the gguf [once it is known|after import|]
does quince [remember|know] where my file [is|lies] when i move it
i moved [the|a] gguf [file|] [to another folder|elsewhere], is that a problem
must an imported file stay in [the same|its] [folder|place]
""", delete="""
my [ssd|disk|hard disk|hard drive|drive|storage|home folder|root partition] is [full|nearly full|almost full|too full|running full|out of space]
my [ssd|disk|hard drive|storage] is [full|nearly full] [of|because of|with] [models|ggufs|model files|old models]
the [ssd|disk|hard disk|hard drive|drive|storage] is [full|nearly full|almost full], [what now|what can i do|what do i do|how do i get space|help]
i [have|got] [no|too little|not enough|hardly any] [disk space|space on my disk|space on the ssd|storage|space on my drive] left
i am [out of|running out of|low on|short of] [disk space|storage|space on the ssd|hard disk space]
[no|not enough|too little] space left on [the device|the disk|my ssd|my drive|the hard drive]
there is no [space|room] left on my [disk|ssd|drive|hard drive]
how do i [make room|make space|free space|get space back|get more space|clean up|save space|tidy up] on my [disk|ssd|hard drive|drive]
models [take|use|need|eat] [too much|all my|so much] [disk space|space on my ssd|storage], what can i do
[free|clear|reclaim|recover] [disk space|space on the disk|storage|space on my ssd]
disk full
ssd full
disk full, what now
i [want|need|would like] to [get rid of|throw away|erase|remove] [old|unused|big|some|two|my] [models|ggufs|model files] [from the disk|from my ssd|for good|forever|]
[old|unused|imported] models [should go|must go|are in the way], how do i {dele} them
how do i {dele} a model [for good|forever|completely|permanently|from the disk|from my ssd|from my hard drive|and its file]
is there [an rm|a remove|a delete|a prune|a clean|an uninstall] command [for models|]
quince [rm|prune|clean|purge|erase]
what is quince [delete|remove|rm|prune|clean]
which command [deletes|removes|erases] [a model|models|the model file|old models]
does quince [delete|remove|erase|clean up] [model files|my files|files|old models] [by itself|on its own|automatically|ever|]
will quince ever [delete|remove|erase] my [files|models|gguf files]
""", unload="""
remove [a|the|my|this|that] model from [ram|memory|the memory|the ram|main memory]
how do i [remove|get|take|drop|throw|kick|clear|flush] [a|the|my|this] model [out of|from] [ram|memory|the memory|main memory]
can i [remove|get|take|drop] [a|the|my] model [out of|from] [ram|memory] [without deleting it|but keep it on disk|again|]
i want [a|the|my] model out of [ram|memory]
my [ram|memory] is [full|nearly full|almost full], how do i [unload|free it|get the model out]
[a|the|my] model [uses|eats|takes|fills|occupies|blocks] [all|too much of|most of] my [ram|memory], how do i unload it
the model should leave [the memory|my ram]
take [the|a] model out of [the memory|ram|my ram]
which command [unloads a model|frees the memory|frees ram|clears memory|empties the ram]
what does [quince|] unload do
unload [the|my|this|a|every] model [please|now|]
how do i get [my|the] [ram|memory] back [from a model|after chatting|]
i need [my|the] [ram|memory] back
how do i clear [the|] [ram|memory] without [deleting|removing] anything
""", pull="""
[download|get|fetch|grab] [llama|qwen|mistral|a model|gemma|phi] [from hugging face|from the internet|for me|with quince]
can quince [download|get|fetch] [models|a model|qwen|llama] [from hugging face|from the internet|by itself|]
where [do|can] i [get|find|download] [a|another|a bigger|new|more] [model|models|gguf|gguf files]
how do i get [a bigger|a better|another|a new|a smarter|a second] model [for quince|into quince|]
i [want|need] [a bigger|a better|another|a new|more] model
does quince have a [model store|shop|model library|download command|pull command]
is there a [download|pull|fetch|get] command
quince [pull|download|fetch|get] does not work
""", **{"import": """
i have [a gguf|a gguf file|a model file|a downloaded model], [what now|what do i do with it|how do i use it|how do i add it]
i [downloaded|got|copied] [a gguf|a gguf file|a model], [what now|what next|how do i run it|how do i use it with quince]
how do i make [a gguf|a file|my model|my file] known [to quince|]
how do i [bring|get|put] [a gguf|my model|a model file|my own model] into quince
[add|register|import] [my own|a local|a downloaded] [model|gguf|gguf file|file]
use [my own|a local|a downloaded|an existing] [gguf|model|gguf file] with quince
the gguf is in my downloads folder, how do i [use|add] it
what does quince import do
there is a gguf on my disk, how does quince learn of it
"""}, start="""
how do i get [quince|the server|it] [going|up|running|started]
[boot|launch|bring up|get up] [quince|the server] [again|after a reboot|]
after a reboot, how do i start [quince|the server] again
what do i [type|enter|run] to get [quince|the server] [going|running|up]
i [installed|built] quince, how do i start it
[quince|the server] is not running, how do i start it
which command [starts|launches|runs] the server
""", stop="""
how do i get [quince|the server] to [end|quit|shut down|exit]
[end|quit|terminate] [the server|quince] [cleanly|now|gracefully|please]
which keys [end|stop|quit] the server
what is the [proper|clean|right|safe] way to [end|stop|quit] [quince|the server]
i want to [switch|turn] [quince|the server] off [for today|now|]
how do i exit quince serve
""", run="""
how do i [talk|speak|chat] [to|with] [a|the|my|another] model [in the terminal|]
how do i try [a|the|my new] model
how do i start a chat with [{mname}|a model|my model]
which command starts a [chat|conversation] [with a model|]
[open|begin|start] a [chat|conversation] with [{mname}|a certain model|my own model]
let me [talk|chat] [to|with] {mname}
what does quince run do
""", list="""
which models [do i have|have i got|are there|are installed|can i use|are on this machine|does quince know]
what models [do i have|are there|are installed|are available|can i choose from]
[show|list|print|name] [me|] [all|my|the|every] [models|known models|installed models]
my models
models?
how many models [do i have|are installed|does quince know]
what is [installed|in the list|available] here
""", status="""
is [the server|quince|it] [up|running|alive|on|working|active]
how [do|can] i [check|see|tell|know] [if|whether|that] [the server|quince|it] [is running|runs|is up|is alive|works]
[which|what] model is [loaded|in memory|in ram|active] [now|right now|at the moment|]
[which|what] models are [loaded|in memory|in ram|active] [now|right now|at the moment|]
is [a|any|my|the] model [loaded|in memory|in ram]
[what|how much] is loaded [now|at the moment|]
""", slow="""
[quince|it|the model|my model|everything] [answers|writes|responds|thinks|runs|works] [slowly|too slowly|very slowly|like a snail|far too slowly]
it [writes|gives|makes] only [one|two|three|a few] [words|tokens] per second
[few|only few|too few] tokens per second
how do i [speed up|accelerate|make faster] [answers|generation|quince|the model]
why [are|is] [the answers|the output|generation|it] so slow [on my laptop|on my pc|today|]
the [answers|replies] take [minutes|ages|too long|half a minute]
how do i get more tokens per second
""", oom="""
[not enough|too little|insufficient|out of] [memory|ram] [for this model|to load the model|error|]
i have [4|8|6|2] gb [of ram|ram|of memory], the model [is too big|does not fit|will not load]
[the|my] model is [bigger than|too big for|too large for] my [ram|memory]
my [computer|laptop|pc] [swaps|freezes|hangs] [with|because of] a [big|large] model
the [oom killer|kernel] killed [quince|the model|it]
[quince|a model] [was killed|got killed|dies] because memory [ran out|was full]
""", unreachable="""
[connection|the connection is|my connection is] [refused|reset|lost]
[cannot|can't|can not] [connect to|reach|find|talk to] [the server|quince|localhost:13305|port 13305|the api]
[my app|the client|curl|my script|the browser] [cannot|can't|does not] [connect|reach the server|reach quince]
[the server|quince|localhost:13305|the api] does not [answer|respond|react]
no [answer|response|reply] from [the server|quince|port 13305|the api]
could not connect to [the server|quince|localhost]
curl says connection refused
""", not_found="""
it says [model not found|unknown model|no such model]
[model not found|unknown model|no such model], [what now|what does it mean|why|help]
quince does not [find|know|recognise] [my|the|this] model
the [api|server|app] says the model does not exist
i get a 404 for [my|the] model
what is the [exact|right|correct] name of [my|the|a] model
""", offline="""
does [quince|it] [need|require|use] [the internet|a network|a connection|wifi]
can i [use|run] [quince|it] [without internet|offline|on a plane|without wifi|on a train|in a cabin]
[does|will|can] [quince|it] [work|run] [without internet|offline|with no connection|without a network|in flight mode]
is an internet connection [needed|required|necessary]
what if my internet is [down|gone|off]
""", privacy="""
is my [data|chat|text|conversation|prompt] [safe|private|secret|shared|sent anywhere|uploaded|recorded]
[does|will] [quince|it|the server] [send|upload|share|leak|sell|report] [my|any] [data|prompts|chats|texts]
who [can see|sees|reads|gets] my [prompts|chats|questions|data]
does anything leave my [computer|machine|laptop]
does quince [phone home|collect data|track me|spy on me|use telemetry]
""", gpu="""
does [quince|it] [use|need|support|work with] [my|a|an|the] [gpu|graphics card|nvidia card|amd card|rtx|radeon|cuda]
can [quince|it] [use|run on] [my|a|an|the] [gpu|graphics card|nvidia card|amd card]
is [a gpu|a graphics card|cuda|rocm|vulkan] [needed|required|used|supported]
[gpu|cuda|rocm|vulkan|nvidia|graphics card] support
how do i [enable|turn on|use] [the|my] [gpu|graphics card]
""", port_change="""
how do i [run|start] [quince|the server] on [another|a different|port 8080 instead of the usual|my own] port
[quince|the server] should [listen|run] on [another|a different] port
which [flag|option|setting] [sets|changes|is for] the port
[use|set|choose|pick] [another|a different|my own] port [for quince|for the server|]
""", api="""
how do i [connect|use|link|hook up] [my app|my program|an openai client|python|my editor|my script] [to|with] quince
what is the [base url|api address|api url|endpoint] [for|of] [quince|openai clients|my app|]
[base url|api url|openai base url]
does quince have [an|a rest|an http|an openai] api
which api does [quince|the server|it] [speak|offer|have|support]
""", help="""
[show|list|print|give] [me|] [all|the|the list of] commands
what [commands|subcommands] [are there|exist|does quince have|can i use]
where is the [manual|documentation|help|man page]
how do i get help [on|with|for] [quince|a command|the commands]
is there a [manual|man page|list of commands|help command]
""", install="""
how do i [set up|build|compile|get started with|put] [quince|it] [from source|on debian|on my machine|]
what do i need to [build|compile|install] quince
[quince|] [installation|setup|build] [steps|guide|instructions]
i [cloned|have|downloaded] the source [tree|code], what now
""", who="""
who [are you|am i talking to|is this|is answering|is there] [really|exactly|here|]
what [are you|is your name|should i call you|model are you|model is this|ai are you]
[introduce|present|describe] yourself [please|briefly|]
what's your [name|model name]
do you have a name
""", cando="""
what [else|all] can you do
[show|tell] me [what|some things] you can do
what are you [there|here|used] for
what do you know [about|] so far
what [things|tasks|jobs] can you do [for me|]
can you be useful to me
""", limits="""
are you [any good|very smart|as clever as chatgpt|trustworthy|always correct|often wrong|good at maths]
how [often are you wrong|good are you|much do you know|far can i trust you]
do you [always tell the truth|ever make errors|get things wrong|invent things]
why [are you wrong|do you make errors|do you know so few things]
can i believe [you|what you say|your answers]
""", clock="""
what [time|day|date|year|month|weekday] is it [now|today|]
what's the [time|date|day|weather] [now|today|like|]
[how is|what is|what's] the weather [like|] [today|tomorrow|outside|in berlin|]
will it [rain|snow|be sunny|be warm|be cold] [today|tomorrow|]
what is in the news [today|]
any news [today|]
what [happened|is happening] [today|in the world|in the news]
do you have [a clock|the time|internet access|access to the internet]
can you [look up|google|search] [something|this|it] [on the internet|online|on the web]
""")

add(TALK_MORE, hello="""
[hello|hi|hey|hiya|howdy|greetings] [again|to you|from me|out there|over there|in there|little one|machine|starter|quince-starter|dear model]
[hello|hi|hey], [it's me|it is me|me again|i am back|here i am|i'm new here|i am new|how nice to see you|anyone home|is this working|can we talk]
[just|only] [saying hi|saying hello|dropping by|popping in|checking in|a quick hello]
[hi|hello|hey] [hi|hello|hey] [hi|hello|hey]
[good|lovely] to [see|have] you [again|here|back]
hellooo
heyyy
hii
helo
hola amigo
g'day
wassup
what's up
what is up
wazzup
can we [chat|talk] [a bit|now|]
i [want|would like] to [chat|talk] [with you|a bit|]
let's [chat|talk] [a bit|]
""", morning="""
[good|a good|a very good|a lovely|a beautiful] morning [to you|to everyone|little model|all|computer|mate]
[gd|gud|goood] morning
[top of the morning|morning all|morning mate|morning, my friend|hello and good morning|hi, good morning|good morning and hello|hey, good morning]
rise and shine
i just [woke up|got up]
""", evening="""
[good|a good|a very good|a lovely] evening [to you|to everyone|little model|all|computer|mate]
[hello and good evening|hi, good evening|evening all|good evening and hello|hey, good evening|evening, my friend]
""", afternoon="""
[good|a good|a very good|a lovely] afternoon [to you|to everyone|little model|all|computer|mate]
[hello and good afternoon|hi, good afternoon|afternoon all|hey, good afternoon|good afternoon and hello]
""", night="""
[good|have a good|have a nice|i wish you a good] night [to you|little model|mate|computer|all|now]
[i am|i'm] [going|off] to [bed|sleep] [now|]
[time|it is time] [for bed|to sleep|to go to bed] [for me|]
[sleep|rest] [well|tight]
sweet dreams
nighty night
gn
night night
i will [sleep|go to bed] now
""", bye="""
[bye|goodbye|farewell|cheerio|so long|cya|see ya|later|ciao] [for now|then|quince|my friend|and thanks|and take care|little model|everyone|for today]
[see|talk to|catch|speak to] you [soon|later|tomorrow|around|next time|again|next week]
[i have|i've got|i need|i got] to [go|leave|run|stop here|get going|log off]
[i am|i'm] [leaving|off|going|done|finished] [now|for today|]
that [is|was|will be] all [for today|for now|from me|]
until [next time|tomorrow|later|we meet again]
[take care|stay well|all the best|have fun] [and bye|quince|]
it was [nice|good|great|fun] [talking|chatting] [to|with] you[|, bye]
time to [go|leave|say goodbye]
""", how_are_you="""
how [are|r] [you|u] [doing|feeling|getting on|holding up] [today|now|these days|]
how is [it going|life|everything|your day|the day|all] [with you|today|]
how's [it going|life|everything|your day|things]
how do you feel [today|now|this morning|this evening|]
how have you been [lately|]
are you [ok|okay|well|fine|alright|good|doing well|feeling well] [today|]
[everything|all] [ok|okay|fine|good|alright|well] [with you|there|]
what's new
how goes it
how are things [going|with you|]
you [ok|okay|good|alright|well]
hope you are well
i hope you are [well|fine|doing well]
[and|so] how are you
""", thanks="""
[thanks|thank you|thx|ty|many thanks|cheers] [a lot|so much|very much|a million|again|for everything|for that|for the help|for your help|for the answer|for your time|for explaining|quince|my friend|indeed|kindly|anyway]
[that|this|it] [was|is] [very|really|so|quite|] [helpful|useful|kind of you to explain|a great help], [thanks|thank you|thx]
i [thank|appreciate] [you|it|your help|that|your time]
[much|very much] [appreciated|obliged]
you [helped|have helped] me [a lot|very much|]
[great|super|perfect|nice|wonderful|good|ok|cool], [thanks|thank you|thx|ty]
[i am|i'm] [very|so|] grateful
thankyou
tysm
tnx
merci
danke
gracias
""", sorry="""
[sorry|apologies|my apologies|i apologise|i apologize|excuse me|pardon] [for that|for this|about that|for the mess|for my typo|for my english|for the trouble|for asking|for being slow|for the wait]
[i am|i'm] [so|very|really|truly|] sorry [for that|about that|for this|for my question|]
[that was|it was|this is] my [fault|mistake|bad|error]
[oops|ups|whoops|uh oh], [sorry|my bad|my mistake|wrong window|typo]
i did not mean [it|that|to be rude]
forgive me [please|]
please [forgive|excuse] me
i made a [mistake|typo]
""", praise="""
[you are|you're|u are|ur] [really|so|very|pretty|quite|truly|incredibly] [good|great|smart|nice|helpful|clever|kind|cool|funny|fast|useful|cute|amazing|sweet|friendly]
what a [good|great|smart|clever|nice|sweet|helpful|cute|lovely] [model|bot|answer|machine|little model|thing|program]
[that|this|it] [was|is] [a|a very|a really|such a] [good|great|nice|clever|perfect|excellent|wonderful] [answer|reply|explanation|one]
[good|great|nice|well|excellent|fantastic|brilliant|super|amazing] [job|work|answer|reply]
i [like|love|adore|admire] [you|your answers|this model|your style|talking to you|this program|this little model]
[correct|exactly right|spot on|you got it right|you were right|you are right], [well done|good job|great|bravo]
[i am|i'm] [impressed|amazed|a fan of yours]
you [did|do] [well|great|a great job|a good job]
you [are|were] [a great help|very helpful|so helpful|a star|a genius|a gem]
bravo
wow, you are [good|smart|fast|clever]
""", insult="""
[you are|you're|u are|ur] [really|so|very|pretty|quite|totally|completely] [bad|dumb|stupid|useless|boring|annoying|silly|slow|terrible|awful|wrong|lame|weak|poor]
what a [bad|stupid|dumb|silly|useless|terrible|poor|lame] [model|bot|answer|machine|program|reply|thing]
[that|this|it] [was|is] [a|a very|a really|such a] [bad|stupid|dumb|silly|wrong|terrible|useless|poor] [answer|reply|one|response]
[bad|terrible|awful|poor|wrong|lousy|horrible] [job|answer|reply|work|model|bot]
i [hate|dislike|cannot stand|can't stand] [you|this|your answers|this model|this program|this bot]
you [know|understand|can do] [nothing|nothing at all]
you [do not|don't|never] [know anything|understand anything|help|help me|get it right|listen|work]
you [are|were] [no help|of no use|a waste of time|not helping|wrong again|wrong]
[that is|that's] [wrong|not true|false|incorrect|nonsense|rubbish|not correct|not right]
[shut up|go away|be quiet|stupid bot|dumb machine|silly model|idiot]
""", nice_meet="""
[it is|it's|it was] [nice|good|great|lovely|a pleasure|wonderful] [to meet|meeting|to get to know] you [too|little model|quince|]
[glad|happy|pleased|delighted] to [meet|know|make the acquaintance of] you [too|quince|]
a pleasure
pleasure to meet you
""", joke="""
[please|can you|could you|would you] [tell|give] [me|us] a [joke|funny joke|good joke|short joke|joke please|computer joke]
[a|one|another|your best] joke [please|for me|now|]
[make|let] me laugh [please|]
do you know [any|some|good|funny] jokes
i [want|need|would like|would love] [a|to hear a] [joke|laugh|good joke|funny joke]
say something [funny|hilarious|amusing]
be funny
joke please
entertain me with a joke
got any jokes
tell us something [funny|to laugh about]
""", bored="""
[i am|i'm|im] [so|very|really|terribly|a bit|a little|getting] bored [now|today|at home|here|]
[i have|i've] nothing to do [today|now|]
[this is|it is|it's|life is] [so|very|a bit|] boring
what [can|should|could] i do [now|against boredom|when i am bored|for fun]
[give|tell] me something to do
entertain me
i do not know what to do [today|now|]
boredom is killing me
""", happy="""
[i am|i'm|im|i feel] [so|very|really|quite|super|] [happy|glad|cheerful|great|good|wonderful|proud|excited|relaxed|content|lucky] [today|now|right now|this morning|]
[i am|i'm|im] [fine|well|good|doing fine|doing well|doing great|okay|great|all right], [thanks|thank you|thanks for asking|and you are kind to ask]
[i|we] [won|passed my exam|got the job|got a new job|made it|did it|finished my work|got good news|fell in love|bought a house|got married|have a baby]
[today|this|it] [was|is] a [great|good|wonderful|lovely|beautiful|perfect|happy] day
[everything|all|life] is [fine|good|great|wonderful|going well|perfect]
[my|the] day [was|is] [good|great|wonderful|fine|lovely]
[i had|i have had] a [good|great|lovely|wonderful] [day|night|weekend|time|holiday]
the sun is shining
""", sad="""
[i am|i'm|im|i feel] [so|very|really|quite|a bit|a little|] [sad|down|lonely|unhappy|upset|depressed|miserable|hurt|lost|worried|sick|ill|afraid|stressed|angry|nervous] [today|now|tonight|right now|]
[i|we] [lost my job|failed my exam|had a bad day|had a fight|broke up|lost my keys|lost my dog|feel terrible|miss my friend|miss my family|cried today]
[my|the] [dog|cat|grandmother|grandfather|friend|hamster] [died|is sick|is ill|is in hospital|left me]
[today|this|it] [was|is] a [bad|terrible|sad|horrible|awful|hard|rough] day
[everything|all|life] is [bad|terrible|going wrong|hard|awful|sad]
[my|the] day [was|is] [bad|terrible|awful|horrible]
nobody [likes|loves|understands] me
i [have|'ve got] [a headache|a cold|a fever|pain|no friends|problems]
""", tired="""
[i am|i'm|im|i feel] [so|very|really|quite|a bit|a little|too|extremely|] [tired|sleepy|exhausted|worn out|weary|drained] [today|now|tonight|already|]
i [need|want] [a break|some rest|a nap|some sleep|a holiday|to rest|to sleep]
i [slept badly|did not sleep|hardly slept|worked all day|worked too much|worked all night]
i [cannot|can't] keep my eyes open
what a [long|tiring|exhausting] day
i could [sleep|nap] [now|all day|]
""", hungry="""
[i am|i'm|im|i feel] [so|very|really|quite|a bit|a little|terribly|getting|] [hungry|starving|thirsty|peckish] [now|already|today|]
i [need|want|could eat|would like|crave] [something to eat|food|a snack|a pizza|a burger|breakfast|lunch|dinner|a sandwich]
[my|the] stomach is [empty|growling|rumbling]
[what|where] [should|can|shall] i eat [now|today|for lunch|for dinner|tonight]
i [have not|haven't] eaten [yet|today|since morning]
it is [lunch|dinner|breakfast] time
""", feelings="""
do you [feel|have|know] [love|pain|fear|joy|happiness|sadness|hate|anger|emotions|any feelings|real feelings|a heart|a soul]
are you [happy|sad|angry|lonely|bored|afraid|in love|tired|hungry|conscious|alive|sentient|scared|jealous] [sometimes|right now|today|]
can you [feel|love|hate|suffer|cry|be sad|be happy|get bored|get tired|feel pain|fall in love|dream]
do you [love|like|hate|miss] [me|people|humans|your work|anyone|being a model]
do you have a favourite [film|song|book|animal|number|season|city|day]
what do you [feel|like|love|hate|enjoy|dream of] [most|]
""", age="""
how [old|young] are you [really|now|exactly|]
what is your age [now|exactly|]
tell me your age [please|]
when were you [born|made|built|created]
what year were you [born|made]
are you [old|young|new|older than me|younger than me]
""", live="""
where [are|do] you [live|located|right now|from|come from|at home|at the moment]
where is your [home|house|place|server]
do you live [in the cloud|in berlin|in a house|on the internet|in my computer|on my disk|far away]
are you [in the cloud|on the internet|in a data center|in my computer|on my machine|inside my computer|here]
which [country|city|place] are you [from|in]
""", user_name="""
[do|did] you [know|remember|recall] [my name|who i am|me|what i am called]
what [is|was] my name [again|]
who [am|was] i [again|]
can you [remember|recall] [my name|me|our last chat|what i said]
tell me my name
say my name
how old am i
where do i live
""", ok="""
[ok|okay|alright|all right|fine|right|sure|great|good|cool|nice|perfect|super|wonderful|excellent|fantastic], [ok|okay|alright|got it|i see|i understand|understood|let's go on|go on|thanks for now|that is it|that's clear|makes sense|i get it now]
[i|now i|yes, i|ok, i] [see|understand|get it|got it|know now|agree|believe you|think so|guess so|hope so]
[that|this|it] [makes sense|is good|is great|is interesting|helps|is true|sounds good|is fine|is perfect|is nice to know|is what i thought|works|worked|works now]
[interesting|good to know|nice to know|noted|understood|agreed|of course|certainly|absolutely|exactly|indeed|true|yep|yup|yeah|yes|aha|ah|oh|i see|hm|hmm|wow|really|no way|incredible]
[ah|oh|aha|hm|well|yes|yeah], [ok|okay|i see|now i understand|that makes sense|good|interesting|got it|right]
so that is how [it works|it is]
""", poem="""
[please|can you|could you|would you] [write|recite|tell|make|give] [me|us] a [poem|short poem|little poem|verse|rhyme]
[a|one|another] [short|little|nice|] poem [please|for me|about you|]
i [want|need|would like] a [poem|verse|short poem]
do you know [a|any|some] [poem|poems|verses]
poetry please
""", story="""
[please|can you|could you|would you] [tell|write|make up|give] [me|us] a [story|short story|little story|tale|fairy tale|bedtime story]
[a|one|another] [short|little|nice|] story [please|for me|about you|]
i [want|need|would like] [a|to hear a] [story|short story|tale|bedtime story]
do you know [a|any|some] [story|stories|tales|good stories]
tell us a tale
""", sing="""
[please|can you|could you|would you] [sing|hum] [me|us|] [a song|something|a lullaby|a tune|for me]
[a|one|another] song [please|for me|]
i [want|would like] [you to sing|to hear a song|a song]
do you [sing|know any songs|know a tune]
let me hear you sing
""", meaning="""
what is the [meaning|sense|purpose|point|goal] of [life|it all|our life|existence|living|everything]
why [are we|am i|are people] here [on earth|]
what is life for
does life make sense
why do we [live|exist]
tell me the [meaning|purpose|sense] of life
""", human="""
are you [a real|really a|a] [person|human|human being|man in a box|living being|robot|machine|people]
are you [human|real|a bot|an ai|a robot or a human|a machine or a human|made by humans|a computer|a computer program]
am i [talking|speaking|chatting] [to|with] [a|a real] [human|person|machine|robot|bot|computer]
is there a [human|person|real person] [behind this|there|on the other side]
do you have [a body|hands|eyes|legs|a face|a brain]
""", confused="""
i [do not|don't|did not|didn't|cannot|can't] [understand|get|follow] [your answer|what you said|that at all|this answer|you at all|what that means]
[that|this|it|your answer] [makes no sense|is confusing|confuses me|is unclear|is not clear to me]
what do you mean [by that|exactly|with this|]
[huh|what|pardon|sorry, what|eh|hm, what|excuse me, what]
[i am|i'm] [confused|lost|puzzled] [now|by that|]
can you [explain|say] [that|it|this] [differently|in other words|again in simple words|more simply|better]
""", advice="""
[can|could] you [give|offer] me [medical|legal|financial|health|tax|money] [advice|help]
what [should|do] i do about [my back pain|my divorce|my taxes|my debts|my boss|my marriage|my headache]
should i [take this pill|see a doctor|invest in gold|sue my landlord|change my job|quit my job|marry him|buy this stock]
is this [legal|illegal|healthy|a good investment|tax free]
i need a [lawyer|doctor|diagnosis]
""", gender="""
are you [more of|] a [he|she|man|woman|boy|girl|lady|gentleman] [really|]
what is your [gender|sex]
are you [male|female|masculine|feminine]
do you have a gender
""")
