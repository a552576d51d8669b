"""Questions about quince. The answers stand in quince_facts.txt: one fixed answer each, since a
model this small learns one wording well and two wordings badly.

do: verb phrases for the carriers, np: noun phrases for the carriers, q: whole questions,
yn: whole yes/no questions (and the "can I" carriers), which put the fact's `yes` before the answer.
"""
from . import known
from .grammar import lines

FACTS = known.read()
INTENTS = []


def intent(name, *, do="", np="", q="", yn="", cmd=True):
    fact = FACTS[name]
    INTENTS.append(dict(
        cat="quince", name=name, answer=fact["say"], keys=fact["keys"], do=lines(do),
        np=lines(np), q=lines(q), yn=lines(yn), yes=fact["yes"], cmd=cmd))


# ------------------------------------------------------------------ what it is
intent("what", np="""
quince
[this|the] [program|software|tool|project|application]
quince in [short|brief|one sentence|a few words|simple words]
the purpose of quince
the idea behind quince
an overview of quince
a summary of quince
the quince [project|program|server|software]
the point of [quince|this program]
""", q="""
what [exactly|] is this [program|software|tool|thing]
what does {q} do
what does {q} do exactly
what is quince [for|good for|used for|about]
what is this [for|good for|all about]
i am new here, what is quince
i have never heard of quince
never heard of quince, what is it
what kind of [program|software|tool|server] is quince
what sort of [thing|software] is this
why would i use quince
why should i use {q}
what can i use quince for
what is [quince|it] used for
define quince
quince?
so what is this quince
what have i [just|] installed
what did i just [install|start|download]
what am i talking to here, what is quince
is quince a [program|server|model|website]
what does the word quince mean here
who or what is quince
what can quince do [for me|]
what can i do with {q}
what are the features of quince
what does quince offer [me|]
what is quince able to do
what does this [server|program|software] do for me
introduce quince
give me a [short|quick|brief] introduction to quince
what problem does quince solve
what is [special|good|great|interesting] about quince
why quince
how would you describe quince to a [friend|child|beginner]
how does quince work
""")
intent("start", do="""
{start} {srv}
{start} quince
start [up|] the [quince|ai|local|] server
get [the server|quince] [running|going|up|started]
make the server run
run quince [on my {pc}|here|]
begin using quince
get started [with quince|]
put the server [on|online]
start the [daemon|service|backend|http server|api server]
turn [quince|the server] on
switch [quince|the server] on
restart [the server|quince]
start [quince|the server] again
wake up the server
boot up quince
""", np="""
quince serve
the serve command
the command quince serve
the start command
the command that starts the server
""", q="""
what does quince serve do
what is quince serve for
what [command|] starts {srv}
which command starts {srv}
which command brings {srv} up
the server is [not running|down|off], how do i start it
start the server
launch quince
what do i [type|enter|run] first
what is the first [step|thing to do|command]
how does {srv} start
how is {srv} started
where do i begin
[i am new|i just arrived], where do i start
how to start
how do i get going
how do i begin
i just cloned the [repository|source|code], what now
how do i run quince from [source|the source tree]
what starts the [server|whole thing]
when do i use quince serve
what do i run to have a server
serve
""")
intent("stop", do="""
{stop} {srv}
{stop} quince
stop [the server|quince] [safely|cleanly|again|for today]
get the server to stop
make [the server|quince] stop
turn [quince|the server] off
switch [quince|the server] off
shut [the server|quince] down
take the server down
end the [server|quince] process
stop the [daemon|service|backend|running server]
close [quince|the server] [properly|]
quit quince
leave quince serve
""", np="""
the way to stop the server
the key that stops the server
the shutdown of the server
""", q="""
which key stops {srv}
what stops {srv}
what key do i press to stop the server
stop the server
shut down
how does the server stop
how is the server stopped
what happens when i press ctrl-c in the server's terminal
what does ctrl-c do to the server
what happens when i stop the server
does the server finish [running|open|current] answers when it stops
what happens to running answers when i stop the server
what does [sigterm|sigint] do
what happens on [sigterm|sigint]
is there a stop command
is there a [quince stop|quince quit] command
i am done for today, how do i turn it off
i am finished, how do i close the server
i do not need the server any more, how do i end it
how do i stop it
how do i turn this off
""")
intent("address", np="""
the port
the port number
the default port
the address of {srv}
the url of {srv}
the server's [address|port|url]
the [base|server|local|http|default] [address|url]
the port {srv} uses
the [port|address] {srv} listens on
the address and port
the localhost [address|url|port]
port 13305
the network port
the link to the server
""", q="""
what port does {q} [use|listen on|run on]
which port is {srv} on
which port does {srv} [listen on|use|run on|open|bind to|take]
on [which|what] port does {srv} [listen|answer|run]
at [which|what] [address|url] can i reach {srv}
where can i reach {srv}
where does {srv} listen
where is {srv} [running|listening|reachable]
under which [address|url] does {srv} run
what url do i [put|enter|type] in my [{app}|browser]
which [port|address] should my {app} [use|connect to]
which address should my {app} use
i need the port [number|] [of the server|]
port of {srv}
port number
port?
the port please
what is 13305
what is on port 13305
is it port [8080|8000|11434|80|3000|5000]
does quince use port [8080|8000|11434|80|3000|5000]
what [address|url] do i open
what host and port does {srv} use
where do i find {srv} on the network
how do i reach {srv}
how do i connect to {srv}
where do i connect
which tcp port is open
what port number [should|must] i remember
localhost [what|which port]
what number comes after localhost:
which ip address does {srv} use
""")
intent("port_change", do="""
{chg} the port
{chg} the port [number|of the server|quince uses|it listens on]
use [another|a different|my own|some other|a custom] port
run [the server|quince] on [another|a different|some other] port
run quince on port [8080|9000|8000|4000|5000|7777]
make {srv} listen on [another|a different] port
make {srv} use port [8080|9000|8000|4000|5000|7777]
move the server to port [8080|9000|8000|4000|5000|7777]
start [the server|quince] on [another|a different|port 8080|port 9000] port
tell quince which port to use
give the server a [new|different|fixed] port
""", np="""
the port option
the --port option
the port setting
QUINCE_PORT
the variable QUINCE_PORT
the option for the port
""", q="""
what does --port do
which option sets the port
what option changes the port
where is the port [set|configured|defined]
which environment variable sets the port
which variable changes the port
which config key sets the port
what is QUINCE_PORT [for|]
i do not like port 13305
i do not want port 13305
i need the server on [port 8080|another port]
the port should be [8080|9000|different]
port change
""", yn="""
can the port be changed
is the port [configurable|fixed|changeable]
can quince [use|listen on|run on] [another|a different] port
can i pick the port myself
is there an option for the port
""")
intent("port_taken", np="""
the message that the port is taken
the error address already in use
a port conflict
""", q="""
the port is [already|] [taken|in use|used|busy|occupied|blocked]
port 13305 is [already|] [taken|in use|used|busy|occupied]
what if the port is [taken|in use|busy|already used|occupied]
what can i do if the port is [taken|in use|busy]
what do i do when port 13305 is [busy|not free|taken]
it says the port is [taken|in use|busy]
it says address already in use
error: address already in use
the server [does not|will not|cannot] start because the port is [taken|in use|busy]
another program uses [port 13305|the same port|that port|the port]
something else [is on|runs on|blocks|occupies] port 13305
someone else uses my port
the server cannot bind to the port
bind failed, address in use
port conflict, what now
two programs want the same port
quince says that its port is in use
my port is not free
""")
intent("port_zero", np="""
port 0
port zero
--port 0
a random free port
""", q="""
what does port 0 mean
what does --port 0 do
what happens with port 0
can quince [pick|choose|find|select] a free port [itself|by itself|automatically|on its own]
how do i get a random [free|] port
can the server choose any free port
i want any free port
let the server pick a [free|] port
automatic port
which port do i give to get a free one
""")
intent("remote", do="""
reach {srv} from [another|a different|my other] {pc}
use {srv} from my [phone|tablet|other laptop|network]
open the server to [my network|the lan|others|other computers]
share the server with [others|my family|my network|a friend|colleagues]
access quince [over|from] the [network|lan|local network]
{chg} the [host|listen address|bind address|ip address]
make {srv} listen on [all addresses|0.0.0.0|my network address|another address]
bind to another address
connect from another {pc}
make the server [public|visible to others]
""", np="""
the --host option
the host setting
QUINCE_HOST on the server
the listen address
the bind address
remote access
access from other computers
""", q="""
is the server [visible|open|reachable|exposed] [to|from] [others|the internet|the network|other computers|outside]
who can reach {srv}
who can connect to {srv}
can other [people|computers|machines|devices] [reach|use|see|connect to] {srv}
can my phone use {srv}
can someone on my [network|wifi] use {srv}
is {q} [only|] local
does it listen on localhost only
does {q} listen on ipv6
is ipv6 supported
what is 127.0.0.1
which addresses does it listen on
does quince listen on all interfaces
is quince exposed to the internet
can i use it from another room
what does --host do
what is --host for
is my server secure from outside
""")
# ------------------------------------------------------------------ data and settings
intent("data_dir", do="""
{chg} the data {folder}
move the data directory
use another [data|] [directory|folder] for the data
{see} the data {folder}
find [the files of quince|the data of quince|quince's files]
{store} the data [somewhere else|elsewhere|on another disk|in another place]
locate the data directory
put the data on another disk
""", np="""
the data {folder}
the data directory of quince
the location of [the data|quince's files]
the --data-dir option
QUINCE_DATA_DIR
the [folder|directory] where quince [writes|stores] [files|its data|things]
quince's [home|data|storage|files] [folder|directory]
""", q="""
where does {q} {store} [its|] [data|files|things|stuff|settings|state]
where does {q} [write|put] [its files|things|stuff]
where [is|are] [the data|quince's files|the files of quince|its data]
in which {folder} does {q} {store} [data|files|its data]
which {folder} does {q} use
where on [disk|my disk|my {pc}] does {q} {store} [things|data]
what is in ~/.local/share/quince
what [is|lives] in the data directory
what does the data directory [contain|hold]
which files does {q} [write|create|make]
what files are created
where can i find the data
where is everything [stored|saved|kept]
what does --data-dir do
where does it save [stuff|data|my things]
does quince write files anywhere
where are my settings [saved|stored|kept]
what is QUINCE_DATA_DIR
what do i [back up|copy] to keep my data
""")
intent("config", do="""
{chg} [the|my|a] settings
{chg} the [configuration|config|options|defaults]
configure [quince|the server]
edit the config [file|]
make a setting permanent
keep a setting [for next time|for ever]
{see} the [config file|configuration|settings]
set options permanently
customise quince
""", np="""
config.json
the config file
the configuration [file|]
the settings [file|]
the options of the server
the preferences
the file with the settings
""", q="""
where is the config [file|]
where is the configuration
where are the settings
which file holds the [settings|configuration|options|preferences]
is there a [config|configuration|settings] file
does quince have a config file
how is quince configured
what is config.json
where do i find config.json
what can i configure
which settings are there
which keys are in config.json
what goes into config.json
what is the name of the config file
""")
intent("catalog", np="""
catalog.db
the catalog
the [database|database file] [of quince|]
the model [catalog|database]
the file catalog.db
the sqlite file
""", q="""
what is catalog.db
what is catalog.db for
where is the database
which database does {q} use
what database is [used|behind quince]
does {q} use [a database|sqlite|mysql|postgres]
where is the list of models [stored|saved|kept]
what kind of database is it
is there a database
where does quince remember [my|the] models
how does quince remember imported models
""")
intent("env", np="""
the environment variables
the env vars
the variables quince [reads|knows|uses]
environment variables
""", q="""
which environment variables [are there|does quince read|does it know|can i set|exist]
what environment variables does {q} [use|read|have|support]
does quince [use|read|support] environment variables
which env vars can i set
list the environment variables
are there environment variables
what variables can i export
""")
intent("several_servers", do="""
run {many} servers [at once|side by side|at the same time|together|]
start a second server
start another server [next to the first|]
have two servers [running|]
run quince twice
run two instances [of quince|]
keep two servers apart
""", np="""
running {many} servers
a second server
two servers at once
several instances
""", q="""
can {many} servers run [at once|side by side|at the same time|together|in parallel]
can quince run twice
is a second server possible
how many servers can i run
can i have two [servers|instances]
is it possible to run two [servers|instances] [of quince|]
what do i need for a second server
""")
# ------------------------------------------------------------------ API
intent("api", do="""
connect [my|an|another] {app} [to quince|to the server|]
use [quince|the server] from [my|an] {app}
use quince [from|in|with] [python|javascript|node|go|rust|curl|my editor|vs code]
call [quince|the server|the model] from [code|python|a script|my program|javascript]
use the [openai|] api
use an openai [client|app|library|sdk]
point my {app} at [quince|the server]
talk to [quince|the server] over http
write a program that uses quince
build an app on quince
integrate quince [in|into] my {app}
access the api
send requests to the [server|api]
configure my openai [client|app|sdk]
set the base url in my {app}
connect [open webui|a chat app|langchain|my chat client]
""", np="""
the api
the [http|rest|web|openai|server] api
the api of quince
the [openai|] base url
the api [address|url|endpoint|base url]
openai compatibility
the openai [endpoint|interface]
the api documentation
the supported [apis|api|protocol]
api access
/v1
the programming interface
""", q="""
which api does {q} {sup}
what api does {q} {sup}
what kind of api is it
what base url do i [use|set|enter|need]
which base url does the [openai|python] [client|library|sdk] need
where is the api
i have an openai [app|client|script], can i connect it
i have an {app} that [speaks|uses|needs] openai
which url goes into the openai [client|sdk|library]
where do i point my openai [client|sdk|app]
which api format [is used|works|is supported]
with which api is quince compatible
to which address do i send [api|] requests
what do i put as base_url
what is the openai base url
how do other programs use quince
how can programs talk to quince
""", yn="""
is {q} openai compatible
is {q} compatible with [openai|the openai api|openai clients]
does {q} {sup} [the|an] openai api
does {q} {sup} openai
does {q} have an api
does the openai [python library|sdk|client] work [with quince|here|]
do openai [apps|clients|libraries] work [with quince|here|]
is there an api
is there an http api
can my {app} use quince
does it work like openai
can i use the openai python [library|package|module]
will my openai code work
is there a rest api
""")
intent("endpoints", np="""
the endpoints
the [api|http] endpoints
the routes
the api routes
a list of [endpoints|routes|api calls|urls]
the available [endpoints|routes|paths]
all [endpoints|routes]
the paths of the api
""", q="""
which endpoints [are there|exist|does quince have|does the server have|does the api have]
what endpoints does {q} {sup}
which routes does the server answer
what urls does the api have
list the endpoints
which http [calls|requests|paths] are [supported|there]
how many endpoints are there
what requests can i send
what can i call over http
which paths does the api [have|offer|know]
""")
intent("ep_chat", do="""
send a chat [message|request] over http
chat over [http|the api]
ask the model over [http|the api]
make a chat request
get an answer over the api
use the chat [api|endpoint]
send a prompt with curl
chat with curl
post a message to the api
""", np="""
the chat endpoint
the chat completions endpoint
/v1/chat/completions
chat completions
the url for chat [requests|messages|]
the path for chat
""", q="""
which endpoint [is for|does|handles|answers] chat
which endpoint do i use [for chat|to chat]
where do i send [chat|] messages
where do i post chat requests
what is the path for chat [requests|completions]
is there a chat [completions|] endpoint
which url answers chat messages
what url do i post to for a chat
show me [a curl example|an example request]
to which endpoint do i send a conversation
""")
intent("ep_completions", do="""
complete [text|a text|plain text] over [the api|http]
use the [text|plain|legacy] completion endpoint
""", np="""
/v1/completions
the [text|plain|legacy|old] completion endpoint
text completion
plain completions
raw completion
""", q="""
is there a [plain|text|legacy|raw] completion endpoint
which endpoint completes [text|a text|plain text]
where do i send a prompt without chat [format|]
does {q} {sup} [text|plain] completion
how do i get a completion without the chat template
""")
intent("ep_models", do="""
list the models over [http|the api]
get the [models|model list] [over|through|from] the api
ask the api which models there are
see the models over http
get details of one model over the api
""", np="""
/v1/models
the models endpoint
the endpoint for [models|the model list]
the model list over http
""", q="""
which endpoint lists the models
what endpoint shows [the models|all models|available models]
is there a models endpoint
where does the api list [its|the] models
which url [gives|returns] the [models|model list]
what does [GET|] /v1/models [do|return|give]
how does my {app} find the models
""")
intent("ep_health", do="""
check the [health|server's health] over [http|the api]
test over http whether the server [is up|lives|runs]
do a health check
monitor the server
probe the server
""", np="""
the health endpoint
the health check
/v1/health
/health
/live
the live endpoint
the liveness probe
""", q="""
is there a health [endpoint|check|url]
which endpoint [checks|shows|reports] [the health|if the server is up|the state]
which url tells me whether the server is [alive|healthy|up]
what does [GET|] /v1/health [do|return]
what does /live do
how can a monitor check {srv}
how can my {app} check that the server is [up|alive|there]
""")
intent("ep_load", do="""
load a model over [http|the api]
unload a model over [http|the api]
load and unload models [over|through] the api
load a model with curl
unload a model with curl
""", np="""
/v1/load
/v1/unload
the load endpoint
the unload endpoint
""", q="""
which endpoint loads a model
which endpoint unloads a model
is there an endpoint to [load|unload] a model
what does POST /v1/load do
what does POST /v1/unload do
can the api [load|unload] models
can my {app} [load|unload] a model over http
""")
intent("prefixes", np="""
/api/v1
/api/v0
/v0
the prefix of the api
the api prefixes
the path prefixes
""", q="""
is /api/v1 supported
does /api/v1 work [too|]
does /v0 work
is there an /api/v1
which prefixes does the api have
under which prefixes is the api
what is the difference between /v1 and /api/v1
can i use /api/v1 [instead of /v1|]
""")
intent("stream", do="""
stream [the|an|] {ans}
stream answers
get the {ans} [piece by piece|word by word|token by token|bit by bit|as it is written]
turn on streaming
enable streaming
use streaming
see the {ans} while it is [written|made|generated]
""", np="""
streaming
the stream [option|parameter|flag|field]
streamed answers
streaming over the api
server sent events
""", q="""
what does stream true do
how does streaming work
what do i put in the request to stream
how do i get tokens one by one
""", yn="""
does {q} {sup} streaming
is streaming [supported|possible|available]
does the api stream
can answers be streamed
can quince stream [answers|tokens|]
does it stream [tokens|text|the answer]
""")
intent("api_key", do="""
{get} an api key
find my api key
set an api key
create an api key
enter a key
log in to the api
skip the api key
""", np="""
the api key
my api key
the key for the api
the api [token|secret|password]
authentication
the openai key
the api key field
the --api-key option
--api-key
""", q="""
do i {need} an api key
do i {need} a [key|token|openai key]
is an api key [needed|required|necessary]
which api key do i [use|enter|need]
what do i [enter|put|type] as api key
what api key should i [use|enter|give]
my {app} [wants|asks for|insists on|needs|requires] [an api key|a key|a token]
where do i get [an|the|my] api key
does {q} need an api key
does the api need [authentication|a key|a password]
is there a password
is the api protected
what key goes into the openai client
the client says api key missing
can i leave the api key empty
do i have to pay for an api key
what is the api key of quince
""")
# ------------------------------------------------------------------ not in this version
intent("ollama", do="""
use [the ollama|the anthropic|ollama's|anthropic's|the claude|the gemini] api
use an [ollama|anthropic] client
connect [an ollama app|an anthropic client|claude code]
use quince [like|as|in place of|instead of] ollama
replace ollama [with quince|]
use the [messages api|anthropic sdk|ollama library]
call /api/generate
call /v1/messages
""", np="""
the ollama api
the anthropic api
the messages api
ollama compatibility
anthropic support
/api/generate
/api/tags
/v1/messages
""", q="""
does {q} {sup} [the|an] [ollama|anthropic|claude|gemini] api
does {q} {sup} [ollama|anthropic]
is {q} [ollama|anthropic] compatible
is {q} compatible with [ollama|anthropic|claude]
do [ollama|anthropic] [clients|apps|tools] work [with quince|here|]
is there an [ollama|anthropic] [api|endpoint]
can quince [act|pose|behave] as ollama
does it have a messages endpoint
what about [ollama|anthropic|claude]
will my ollama [app|client|plugin] work
does the anthropic sdk work
is the ollama api there
""")
intent("pull", do="""
{get} a [new|] {mod}
{get} [new|more|other|another|some|any] {mods}
download a {mod}
download [qwen|llama|a bigger model|another model|more models] [with quince|]
pull a {mod}
pull [qwen|llama|models]
{get} {mods} from [hugging face|huggingface|the internet|the web|the hub|a website]
download something from hugging face
install a [new|] {mod} from the internet
use quince pull
""", np="""
quince pull
the pull command
model downloads
downloading models
the download [command|function|feature]
""", q="""
what does quince pull do
what is quince pull
why does quince pull not [work|exist]
quince pull does not work
is there a [pull|download] command
does quince pull exist
does {q} download {mods} [by itself|automatically|]
does {q} fetch {mods} from the internet
does {q} [have|come with] a [model store|downloader|model library|model hub|model browser]
where can i [download|get|find] {mods}
where do i get {mods}
where do i get [more|other|bigger] {mods}
where do {mods} come from
from where can i download {mods}
will quince download {mods} for me
can quince {get} {mods} [by itself|for me|from the internet|from hugging face|]
which command downloads a model
what command downloads {mods}
how do downloads work
""")
intent("delete", do="""
{dele} a {mod}
{dele} the {mod}
{dele} [my|old|some|all|unused|the] {mods}
{dele} [an imported|an old|this|that|a big|a|one] model
{dele} a model [from disk|from my disk|for good|for ever|completely|permanently]
{dele} a [model|gguf] file
{dele} [qwen|llama|user.mymodel|mistral]
{free} disk space
{free} [some|] [disk space|storage|space on my disk|hard disk space]
make [room|space] on [the|my] [disk|drive|hard drive]
clean up [my|old|the] models
unregister a model
take a model off [my|the] [list|disk|computer]
reduce the disk usage
use quince [delete|remove|rm]
""", np="""
quince delete
quince remove
quince rm
the delete command
the command that deletes a model
the remove command
deleting {mods}
removing {mods}
model deletion
disk cleanup
""", q="""
what does quince [delete|remove|rm] do
quince delete does not work
is there a [delete|remove|uninstall] command
does quince delete [exist|files|model files|models|my files|anything]
will quince [ever|] delete my [files|models|model files]
can quince delete [my|] files
which command {dele}s a model
what command deletes {mods}
my disk is [full|almost full|nearly full|running out of space]
i am [out of|running out of|low on] [disk space|storage]
i have no space left on [my|the] disk
there is no space left on the device
i do not [need|want|use] [a|this|that] model any more
i no longer need [a|this|the] model
how do i get my disk space back
models [take|use|eat] too much disk space
does anything delete my gguf file
what happens to the file when i delete a model
how do models get deleted
where is the delete button
delete a model
remove a model
delete all models
how do you uninstall a model
""")
intent("uninstall", do="""
uninstall quince
remove quince [from my {pc}|completely|again|]
get rid of quince
delete quince [from my {pc}|]
""", np="""
the uninstaller
uninstalling quince
the removal of quince
""", q="""
how is quince uninstalled
is there an uninstaller
what is left after i remove quince
""")
intent("gpu", do="""
use [my|a|the] [gpu|graphics card|nvidia card|video card|amd card]
run [models|it|quince] on [the|my|a] [gpu|graphics card]
turn on the gpu
enable [cuda|vulkan|rocm|gpu support|the gpu]
speed it up with a gpu
offload layers to the gpu
""", np="""
gpu support
the gpu
cuda
vulkan
rocm
graphics cards
hardware acceleration
nvidia support
""", q="""
does {q} {sup} [a gpu|gpus|cuda|vulkan|rocm|nvidia cards|amd cards|graphics cards|an npu]
does {q} use [a|my|the] [gpu|graphics card]
do i {need} a [gpu|graphics card|nvidia card|video card|powerful graphics card]
is a [gpu|graphics card] [needed|required|necessary|used|supported]
is there gpu [support|acceleration]
will my [graphics card|gpu] be used
does it run on the [gpu|cpu]
cpu or gpu
what hardware does {q} use
why is my gpu idle
which gpus are supported
does my nvidia card help
""")
intent("embeddings", do="""
make embeddings
compute [an embedding|embeddings|vectors for text]
get [text|] embeddings
embed [a text|text|documents|my files]
build a vector [search|database|index]
do rag
use /v1/embeddings
""", np="""
embeddings
the embeddings [endpoint|api]
/v1/embeddings
embedding models
text vectors
semantic search
""", q="""
does {q} {sup} embeddings
are embeddings [supported|available|possible]
is there an embeddings endpoint
can quince [make|compute|create] embeddings
which embedding models [work|are there]
does /v1/embeddings [work|exist]
does rag work
""")
intent("speech", do="""
talk to [quince|you|the model] with my voice
use [my voice|a microphone|speech|voice input]
transcribe [audio|a recording|speech|a podcast|my voice]
turn speech into text
turn text into speech
have the answer read aloud
make it speak
dictate [text|a letter]
recognise speech
play [sound|audio]
""", np="""
speech
speech recognition
voice input
text to speech
speech to text
transcription
audio
whisper
voice [output|chat|mode]
""", q="""
does {q} {sup} [speech|audio|voice|transcription|whisper|text to speech|speech recognition]
can quince [speak|talk aloud|hear me|listen to me|transcribe audio|read aloud]
can you [hear me|speak aloud|talk with a voice|hear my voice]
is there [speech|voice|audio] [support|input|output]
is [speech|voice|audio] [supported|possible|available]
do you have a voice
""")
intent("images", do="""
make [images|pictures|a picture|an image|a photo]
create [images|pictures|a picture|an image|art]
generate [images|pictures|a picture|an image|a logo]
draw [a picture|an image|a cat|me something|something]
paint me a picture
show the model [a picture|an image|a photo]
send [a picture|an image|a photo|a screenshot]
upload [a picture|an image|a photo]
describe [a picture|an image|my photo]
use stable diffusion
look at [a picture|my photo|an image]
""", np="""
images
image generation
pictures
picture support
vision
vision models
stable diffusion
image input
""", q="""
does {q} {sup} [images|pictures|image generation|vision|stable diffusion|photos]
can quince [make|create|generate|draw|see|read|understand] [images|pictures]
can you [draw|paint|make pictures|see images|see pictures|see me|look at a photo]
can you draw [me a picture|a cat|something]
is image generation [supported|possible|available]
are images supported
is there [image|vision] support
draw me a [cat|dog|house|picture]
""")
intent("web", do="""
open quince in [the|my|a] browser
use [a|the] [web page|web interface|graphical interface|gui|window|web ui]
chat in the browser
see the web [page|interface]
open the [web ui|dashboard|web page]
use it without the terminal
""", np="""
the web page
the web interface
the web ui
the gui
the graphical interface
the dashboard
the browser interface
the desktop app
""", q="""
is there a [web page|web interface|web ui|gui|graphical interface|dashboard|desktop app|window|browser interface|chat page]
does {q} have a [web page|web interface|web ui|gui|graphical interface|dashboard|desktop app|website to chat|user interface]
where is the [web page|web interface|web ui|gui|dashboard]
can i use [quince|it] in [the|my] browser
can i open it in [firefox|chrome|a browser]
what do i see when i open localhost:13305 in a browser
is there something to click
do i have to use the terminal
why is there no web page
""")
intent("missing", np="""
the missing features
the features that are missing
what is missing
the limits of quince
the limitations of quince
the planned features
the roadmap
""", q="""
what can quince not do [yet|]
what is quince missing
what does {q} not {sup} [yet|]
which features are missing [in this version|]
what is not supported [yet|]
what is not possible yet
what does not work yet
which things are not in this version
what will come later
""")
# ------------------------------------------------------------------ models
intent("import", do="""
import a {mod}
import a [gguf|model|] file
import [a model|a file] from [disk|my disk|a folder|my downloads folder|a usb stick]
add a {mod}
add [a new|another|a second|my own|a local|an existing|one more] {mod}
add a [gguf|model] file
install a {mod}
install [a new|another|my own|a bigger] {mod}
register a [{mod}|file|gguf file]
use [my own|another|a different|a local|some other|my] {mod}
use a [gguf file|model file|downloaded model]
use a {big} {mod}
switch to [another|a different|a {big}] model
bring my own model
make quince [know|see|use|find] [my|a] [model|gguf file|file]
tell quince about [my|a] [model|gguf file|file]
load my own gguf file
load a gguf file from disk
try [another|a different|a {big}] {mod}
get a {big} {mod} [running|]
replace the starter model
upgrade to a {big} model
put another model [in|into quince]
""", np="""
quince import
the import command
importing a model
the command that imports a model
importing a gguf file
""", q="""
what does quince import do
what is quince import for
how does [quince import|the import|importing] work
i have a [gguf|model] file, [what now|how do i use it|what do i do with it]
i have a gguf
i [downloaded|already downloaded|just downloaded|got] a [model|gguf|gguf file|model file], [what now|how do i use it|how do i add it|what next]
there is a gguf file in my downloads [folder|], what now
here is my gguf file, what do i do
which command [adds|imports|registers|installs] a model
what do i do with a gguf file
how do models get into quince
how do i use llama 3 with quince
how do i use qwen [with quince|]
how do i get [qwen|llama|a big model] into quince
where do i put [my|a] [gguf|model] file
where must model files be
where should i put models
the model i want is not [there|in the list]
i want smarter answers, how do i add a bigger model
this model is too [dumb|stupid|small|weak], how do i get a better one
the starter model is too [dumb|stupid|small|weak]
""", yn="""
can quince use [my own|other|a local] [model|models|gguf file]
can quince use a model [i already have|from my disk]
can i use [my own|another|other] [model|models|gguf file]
can other models be used
can more models be added
""")
intent("import_copy", q="""
does [quince import|importing|the import] [copy|move|duplicate|change|touch|rename] [the|my] file
does it [copy|move|duplicate] [the|my|a] [file|model|gguf] [on import|]
is [the|my] [file|model|gguf] [copied|moved|duplicated|changed] [on import|when i import it|by quince import|]
will my [gguf|model] file be [copied|moved|duplicated]
does importing [need|take|use|cost] [extra|more|double|additional|twice the] [disk space|space|storage]
do i need twice the disk space to import
does quince make a copy [of my file|of the model|when importing|]
will i have two copies of the [model|file]
after importing, is there a second copy
does import eat disk space
does quince copy models into its [data|] [directory|folder]
does quince import move my gguf
""", np="""
copying on import
the copy made by import
""")
intent("import_keep", q="""
can i {dele} the [gguf|model|] file after [importing it|the import|import]
can i move the [gguf|model|] file after [importing it|the import|import]
may i move the file later
must the gguf file stay [where it is|there|in place]
do i have to keep the [gguf|model|downloaded|original] file [after importing|after the import|]
what happens [if|when] i [move|rename|delete] the [gguf|model] file [after importing|]
do i still need the [gguf|downloaded|original] file [after the import|once it is imported]
where are [imported|my|the] models [stored|kept|saved]
where does quince {store} [imported|the|my] {mods}
where are the model files
where do [imported|] models live [on disk|]
in which {folder} are the models
""", np="""
the location of the models
the place of imported models
the folder of the models
""")
intent("name", do="""
name [a|my|the] model
give [a|my|the] model [a name|another name|a nickname|my own name|a short name|an alias]
choose [a|the] name [of|for] [a|my|an imported] model
rename [a|my|the] model
{chg} the name of [a|my|the] model
call my model something else
import a model under [a|another|my own] name
set [a|the] model name
""", np="""
the --name option
the name option of import
the name of an imported model
model names
the user. prefix
""", q="""
what does --name do
which option names a model
how do imported models get their names
under which name is my model imported
what is user.X
what does user. mean [in front of a name|]
why does the name start with user
can models be renamed
what name will my model have
""")
intent("formats", np="""
the supported [formats|models|model formats|file formats|architectures|model types]
the model [format|formats|architectures|families]
the file format
the kind of model files quince reads
the architectures
supported models
""", q="""
which [model|file|] formats does {q} {sup}
which [kinds|types|sorts] of [models|model files] does {q} {sup}
which {mods} does {q} {sup}
which {mods} [work|run|can i use|can i import|are supported|are compatible] [with quince|]
what {mods} can i [run|use|import|try]
which architectures [are supported|does quince support|work]
what architectures does {q} {sup}
which model families [are supported|work]
what file [type|format|formats] does {q} {need}
in which format must [the|a] model be
what format [do|must] models have
does {q} {sup} [safetensors|pytorch files|onnx|ggml|bin files|pytorch models]
does {q} {sup} [gguf|gguf files|qwen|llama|qwen2|qwen3]
does {q} {sup} [mistral|gemma|phi|deepseek|falcon|gpt-oss]
can quince [run|load|use|import] [mistral|gemma|phi|deepseek|safetensors|onnx]
can quince [run|load|use] [qwen|llama|qwen3|gguf files]
can i [run|use|import] [mistral|gemma|phi|deepseek|a safetensors file|an onnx model]
can i [run|use|import] [a qwen model|a llama model|qwen3|llama 3]
is [qwen|llama|mistral|gemma|phi|safetensors|qwen3] supported
do [qwen|llama|mistral|gemma] models work
which model should i [get|download|try|use|take]
can you recommend a model
what is a good model [for quince|]
recommend me a model
""")
intent("quants", np="""
the supported [quantisations|quantizations|quant types|tensor types|data types|quants]
the quantisation types
the [quants|quantizations] quince [reads|supports|knows]
supported quants
""", q="""
which [quantisations|quantizations|quants|tensor types|quantisation types|weight types] [are supported|does quince support|work|can i use|does quince read]
what [quantisations|quantizations|quants] does {q} {sup}
does {q} {sup} [q4|q8|q4_k_m|q4_k|q5_k|q6_k|q8_0|bf16|f16|int8|4 bit models]
can quince [read|load|run] [q4_k_m|q8_0|q6_k|bf16|4 bit] [files|models|]
is [q4_k_m|q8_0|q5_k|q6_k|bf16|f16|4 bit|8 bit] supported
which bit widths are supported
is [q2_k|q3_k|iq4_xs] supported
""")
intent("gguf", np="""
gguf
a gguf [file|]
the gguf format
gguf files
the word gguf
""", q="""
what does gguf mean
what is a gguf
what kind of file is a gguf
what is inside a gguf file
what is in a gguf
why gguf
what does a gguf file contain
define gguf
""")
intent("quantisation", np="""
[quantisation|quantization]
a quantised model
a quant
q4
the meaning of q4
Q8_0
Q4_K
4 bit models
[quantised|quantized] models
""", q="""
what does [quantisation|quantization|quantised|q4|q8|q4_k|q8_0] mean
what is the difference between q4 and q8
why are models [quantised|quantized]
what does the q4 in a file name mean
what is [quantisation|quantization] for
why would i quantise a model
should i take q4 or q8
""")
intent("list", do="""
list [my|the|all|all my] {mods}
{see} [my|the|all|all the] {mods}
{see} which {mods} [there are|i have|are installed|are available|are there|quince knows]
{see} what {mods} [there are|i have|are installed|are available]
{see} the list of {mods}
{see} the [model list|model names|names of my models|installed models|known models|available models]
get a list of {mods}
know which models i have
find the name of a model
find out the name of my model
check that a model is there
list everything i imported
""", np="""
quince list
the list command
the [list of|] installed {mods}
the list of {mods}
my models
the known models
the available models
all models
the models on this {pc}
the command that lists models
the names of the models
""", q="""
which {mods} [do i have|are installed|are there|are available|are known|can i choose from|can i use here]
what {mods} [do i have|are installed|are there|are available|are known]
what does quince list [do|show|print]
what is quince list for
which command [lists|shows] [the|my|all] {mods}
how many {mods} [do i have|are installed|are there]
is there a list of {mods}
where [is|do i find] the list of {mods}
what is installed
where can i see [my|the] {mods}
did my import work, where do i see it
what are the names of my models
list models
show models
do i have any models
""")
intent("status", do="""
{see} [if|whether] {srv} is [running|up|alive|on|working|started]
{see} the [state|status] of {srv}
{see} the status
{see} [which|what] {mods} are [loaded|in memory|running|active]
{see} [what is|what's] [loaded|in memory|running]
{see} the [loaded|running|active] {mods}
know [if|whether] {srv} is [running|up|alive|on]
make sure [that|] {srv} is [running|up]
test [if|whether] {srv} [runs|is up|works]
know which model is [loaded|in memory|active|running]
check on the server
verify that the server runs
""", np="""
quince status
the status
the status command
the state of {srv}
the server status
the loaded {mods}
the model in memory
""", q="""
is {srv} [running|up|alive|on|working|there|started]
is {srv} [running|up|alive|on] [right now|now|already|at the moment]
is a {mod} loaded
is anything loaded
which {mods} are [loaded|in memory|running|active] [right now|now|at the moment|currently|]
what {mods} are [loaded|in memory|running] [right now|now|at the moment|currently|]
which {mod} is [loaded|in memory|running|active] [right now|now|at the moment|currently|]
what does quince status [do|show|print|tell me]
what is quince status for
which command shows [the status|the state|whether the server runs|what is loaded|loaded models]
what is running
what is loaded
did the server start
does the server run
status
are you running
how is the server doing
""")
intent("logs", do="""
{see} the [log|logs|log file|server log|server logs|server's log|log messages]
{see} the [error messages|errors|messages of the server|server messages|warnings]
{see} what the server [is doing|does|did|says|wrote]
read the [log|logs|server log]
follow the [log|logs]
find [the|] [error messages|errors|logs|log]
debug [a problem|the server|quince|an error]
find out [what went wrong|why it failed|what happened|why it crashed]
troubleshoot [quince|a problem]
track down an error
""", np="""
quince logs
the logs
the log
the log file
the server log
the logs command
the error messages
the error log
""", q="""
where are the logs
where is the log [file|]
where [are|do i find|can i see] [the|] [logs|log messages|error messages|errors]
where does {srv} write [its log|logs|messages|errors]
where do [errors|the logs|log messages|messages] go
what does quince logs [do|show]
which command shows the [log|logs|errors|server messages]
something {broke}, where do i look
{srv} {broke}
{srv} {broke}, what now
it {broke}
it {broke}, what can i do
i [get|see|got] an error
i got an error, what now
there is an error
something is wrong
something went wrong
how do i see what went wrong
why did it [fail|crash]
why did the server [fail|crash|stop]
what happened to the server
what can i do when something goes wrong
nothing works
quince does not work
it does not work
i have a problem
i have a problem with quince
help, it {broke}
a model [fails|failed] to load
the model does not load
""")
intent("load", do="""
load a {mod}
load [the|my|another|this] {mod}
load a {mod} [into memory|before i use it|in advance|ahead of time|now]
put a {mod} [in|into] {mem}
bring a {mod} into {mem}
get a {mod} into {mem}
preload a {mod}
warm up a {mod}
make a {mod} ready [for use|]
prepare a {mod}
activate a {mod}
load quince-starter
have a model ready in memory
""", np="""
quince load
the load command
loading a model
the command that loads a model
""", q="""
what does quince load [do|mean]
what is quince load for
which command loads a {mod}
what command [puts|brings] a model into {mem}
what does it mean to load a model
what does loading [a model|] mean
load a model
load the model
do i have to load a model [first|before chatting|]
must i load a model [first|]
do models load [by themselves|automatically|on their own]
when [is|does] a model [loaded|load|get loaded]
when do models load
does the model load by itself
are models loaded automatically
is quince load necessary
""")
intent("unload", do="""
unload a {mod}
unload [the|my|this|a loaded] {mod}
unload all [models|of them|]
unload [everything|every model]
{free} [the|some|my|] {mem}
{free} the {mem} [of|used by|taken by] [a|the] model
remove a model from {mem}
take a {mod} out of {mem}
get a model out of {mem}
throw a model out of {mem}
drop a model from {mem}
clear a model from {mem}
kick a model out of memory
stop a {mod}
eject a {mod}
make room in {mem}
get my {mem} back
stop the model but keep the file
""", np="""
quince unload
the unload command
unloading a model
the command that unloads a model
the command that frees memory
""", q="""
what does quince unload [do|mean]
what is quince unload for
what does quince unload do without a name
what happens when i unload a model
which command unloads [a|the|all] {mod}
what command [frees|gives back|clears] {mem}
unload the model
the model uses [too much|all my|a lot of|all the] {mem}
[a|the] model is still in {mem}
how do i stop a model
how do i get my ram back
do i [have to|need to] unload models
which command removes a model from memory
what does unloading [a model|] [do|mean]
free memory
""")
intent("unload_keep", q="""
does unload[ing|] [delete|remove|erase] [the|my|a] [model|file|model file]
does quince unload [delete|remove|erase] [the|my|a|] [model|file|files|models]
is the [file|model] [deleted|removed|gone|lost] [after|when] [unloading|i unload it|quince unload]
will unload[ing|] [delete|remove|lose] my [model|file]
do i lose [the|my] model when i unload it
does unloading free disk space
is unload the same as delete
after unload, is the model [gone|still there|deleted]
what happens to the file when i unload a model
does the model file survive an unload
""", np="""
the difference between unload and delete
unload versus delete
""")
intent("max_loaded", do="""
keep {many} {mods} [in {mem}|loaded]
keep {many} {mods} loaded [at once|at the same time|together|]
load {many} {mods} [at once|at the same time|together|]
have {many} {mods} in {mem}
use {many} {mods} at [once|the same time]
run {many} {mods} at [once|the same time]
{chg} the [number|limit|maximum] of loaded models
raise the limit of loaded models
limit how many models are loaded
hold two models in memory
""", np="""
--max-loaded-models
the --max-loaded-models option
the limit of loaded models
the number of loaded models
the maximum number of models in memory
""", q="""
how many {mods} can be [loaded|in memory|active] [at once|at the same time|together|]
how many {mods} can i load [at once|at the same time|]
how many models fit in memory at once
what does --max-loaded-models do
which option [allows|lets me keep] {many} models in memory
can {many} {mods} be loaded [at once|at the same time|together|]
can two models be in memory
is there a limit [on|of|for] loaded models
why can only one model be loaded
only one model stays loaded, why
""")
intent("lru", np="""
the rule for unloading
automatic unloading
the way quince unloads models [by itself|]
eviction
model eviction
""", q="""
why was my model unloaded
why did my model disappear from memory
why is my model [no longer|not] loaded [any more|]
who unloaded my model
when does {q} unload a model [by itself|automatically|]
does {q} unload models [by itself|automatically|on its own]
are models unloaded automatically
which model is unloaded [first|]
which model gets unloaded when another is loaded
what happens when i load [another|a second] model
what happens to the first model when i load [another|a second] one
can a busy model be unloaded
is a model unloaded while it [answers|is busy|is answering|is working]
will quince unload a busy model
what happens when i switch models
""")
intent("first_slow", q="""
why is the first [answer|reply|message|response|question] [so|] slow
why does the first [answer|reply|message|response|question] take [so|] [long|longer]
why do i have to wait [at the beginning|at first|before the first answer]
the first answer takes [ages|long|forever]
the first answer is slow
only the first [answer|message] is slow
is it normal that the first answer is slow
why is it slow at first
what happens on first use
what happens when i use a model for the first time
""", np="""
the delay before the first answer
the wait at the first answer
""")
# ------------------------------------------------------------------ terminal
intent("run", do="""
run a {mod}
run [my|the|another|this|an imported] {mod}
chat with a {mod}
chat with [my|another|a certain|a particular|an imported|one] model
talk to a {mod}
talk to [my|another|an imported] model
use a {mod} in the {term}
try [a|my] {mod} [out|in the terminal|quickly]
test a {mod} [in the terminal|quickly]
start a chat with a model
open a chat with a {mod}
converse with a model
speak with a model in the {term}
ask a model [something|questions|a question]
run quince-starter
""", np="""
quince run
the run command
the command that runs a model
running a model
""", q="""
what does quince run do
what is quince run for
which command [runs|opens a chat with] a {mod}
how is a model run
what command lets me [talk to|chat with|use] a model
now that i imported a model, how do i use it
i imported a model, what now
i imported a model, how do i chat with it
run a model
does quince run load the model
does quince run start the server
what is the difference between quince run and quince load
what do i do after the import
""")
intent("oneshot", do="""
ask [one|a single|just one] question [from the {term}|and leave|]
get one answer [only|] [from the {term}|]
ask [a model|] [a question|something] without [a chat|opening a chat|chatting]
use a model in a [script|shell script|pipeline|cron job]
pipe a [prompt|text|file|question] [into|to] [quince|a model]
pipe [text|a file|the output of a command] into quince
send a prompt from a script
answer [one|a single] prompt
run a single prompt
give the prompt on the command line
pass a prompt [as an argument|on the command line]
summarise a file from the shell
""", np="""
one-shot mode
a single question on the command line
pipes
piping a prompt
a prompt from a pipe
a prompt as an argument
""", q="""
can a prompt be piped in
can i pipe [text|a prompt|a file] [in|into quince|to quince]
does quince read from [a pipe|stdin|standard input]
does {q} {sup} [pipes|stdin]
how do i use quince in a [shell|bash] script
can quince answer [once|just once|a single question] and [exit|quit]
is there a non-interactive mode
how do i get an answer without a chat
""")
intent("chat", do="""
start a chat
open a chat
chat
start chatting
chat in the {term}
chat with quince
chat with the [last|default|same|last used] model
open a chat in the {term}
talk to quince
talk to the [default|last] model
have a conversation [in the {term}|]
begin a [conversation|chat]
chat without naming a model
continue with the last model
""", np="""
quince chat
the chat command
the terminal chat
the chat in the terminal
the chat program
""", q="""
what does quince chat do
what is quince chat for
which command opens a chat [in the terminal|]
which model does quince chat use
is there a chat [in the terminal|program|]
can i chat in the {term}
can i chat from the {term}
what is the difference between quince chat and quince run
where can i chat
how do i talk to you in the terminal
what is the quickest way to chat
""")
intent("slash", np="""
the chat commands
the commands in the chat
the slash commands
the commands inside the chat
the commands that start with a slash
""", q="""
which commands [are there|work|exist|can i use] [in|inside] the chat
what can i type in the chat
what commands does the chat [have|know|understand]
which slash commands [are there|exist]
what does /help do
list the chat commands
which commands start with a slash
is there help in the chat
how do i get help in the chat
""")
intent("clear", do="""
clear the [chat|conversation|history|context|chat history]
forget the [conversation|chat|history]
start [a new|a fresh|another] conversation [in the chat|]
reset the [chat|conversation]
erase the conversation
begin again in the chat
make [the model|you] forget [what i said|everything|the chat]
start over [in the chat|]
""", np="""
/clear
the /clear command
the command that clears the chat
""", q="""
what does /clear do
what is /clear for
which [chat|] command clears the [chat|conversation|history]
how do i start a new chat
how do i wipe the chat history
""")
intent("system", do="""
set [a|the|my own] system prompt
{chg} the system prompt
give [the model|you] a [role|personality|system prompt]
give the model [general|standing] instructions
use a system [prompt|message]
tell the model how to behave
""", np="""
/system
the /system command
the system prompt [in the chat|]
a system prompt
system prompts
the system message
""", q="""
what does /system do
what is /system for
what is a system prompt
which chat command sets the system prompt
where do i [set|enter|put] the system prompt
can i set a system prompt
""")
intent("stats", do="""
{see} [the|] [statistics|stats|speed|tokens per second] [in the chat|]
{see} how fast the model is
measure the speed [of a model|]
know how many tokens per second i get
""", np="""
/stats
the /stats command
the statistics in the chat
the tokens per second
""", q="""
what does /stats do
what is /stats for
which chat command shows [statistics|the speed|stats|figures]
how fast is the model
how many tokens per second do i get
""")
intent("leave", do="""
leave the chat
{stop} the chat
quit the chat
exit [the|this] chat
close the [chat|conversation]
get out of the chat
end the [chat|conversation|session]
go back to the shell
return to the shell
""", np="""
/exit
the /exit command
the command that ends the chat
ctrl-d
the way out of the chat
""", q="""
what does /exit do
what does ctrl-d do [in the chat|]
which key [leaves|ends|quits] the chat
which command [leaves|ends|quits] the chat
how do i leave
how do i get out [of here|]
i am stuck in the chat
i cannot leave the chat
i want out of the chat
/quit does not work
""")
intent("interrupt", do="""
{stop} [an|the|a long|a running] {ans}
stop the model [from talking|while it answers|in the middle of an answer]
interrupt [an|the|a long] {ans}
interrupt the model
cancel [an|the] {ans}
abort [an|the|a long] {ans}
cut an answer short
stop generation
stop generating
make the model shut up
""", np="""
ctrl-c in the chat
interrupting an answer
""", q="""
what does ctrl-c do in the chat
does ctrl-c [end|quit|leave|close] the chat
which key stops [an|the] {ans}
the answer is too long, how do i stop it
the model [does not stop|keeps talking|talks too much|will not stop]
the answer goes on and on
how do i stop it from talking
can i interrupt [an answer|you|the model]
""")
intent("version", do="""
{see} the version [number|of quince|]
{see} which version i have
know which version [this is|i have|is installed]
find the version [number|]
""", np="""
quince version
the version
the version number
the version of quince
the installed version
the quince version
""", q="""
which version [is this|do i have|of quince is this|is installed|am i using|am i running]
what version [is this|do i have|of quince is this|is installed|am i using|are you]
what does quince version do
which command shows the version
is this the latest version
what release is this
version
""")
intent("help", do="""
{see} [all|the|all the] commands
get help
get help [with quince|with the commands|on the command line|in the terminal]
read the [manual|documentation|man page|docs|instructions]
learn [the commands|how to use quince|more about quince]
list [the|all] commands
find the [documentation|manual|docs]
learn quince
""", np="""
quince help
the help
the help command
the manual
the man page
the documentation
the docs
the [list of|] commands
all commands
the commands of quince
the quince commands
the command line options
the cli
a cheat sheet
""", q="""
which commands [are there|does quince have|exist|can i use|do you know]
what commands [are there|does quince have|exist|can i use]
what are [the|all] commands
list [the|all] commands
is there a [manual|man page|documentation|handbook|help command|help]
where is the [manual|documentation|man page|help]
does {q} have a [manual|man page|help]
what can i type
what can the quince command do
what subcommands does quince have
where can i read more
where do i find help
how does the command line work
man page
show help
""")
intent("json", do="""
get [json|machine-readable|machine readable] output
get the output as json
print json
parse the output [in a script|of quince]
read the output with a program
use the output [of quince list|] in a script
make quince print json
""", np="""
--json
the --json option
json output
the json option
machine-readable output
""", q="""
what does --json do
what is --json for
which option [gives|prints] json
does quince list print json
is there [json|machine-readable] output
can the [cli|commands] print json
does the cli {sup} json
""")
intent("cli_remote", do="""
point the [quince command|cli|command line] at another server
use the quince command with [another|a remote|a different] server
make the cli talk to another server
tell the cli where the server is
talk to a server on another port from the cli
use quince run with a server on another port
connect the cli to [another|a remote|a different] server
""", np="""
the server the cli talks to
QUINCE_HOST
the --host option of the cli
""", q="""
how does the cli find the server
which server does the quince command use
my server runs on another port, how do i tell the cli
the cli does not find my server on the other port
what is QUINCE_HOST
what is QUINCE_HOST for
the server is on [another|a different] port, what do i tell quince status
""")
intent("auto_start", q="""
do i [have to|need to] start the server [first|before quince run|myself|before i chat]
do i [have to|need to] run quince serve [first|before quince run|]
does the server start [by itself|automatically|on its own]
does quince [run|chat|load] start the server [by itself|too|]
what happens if no server runs
what happens when i use quince run without a server
does quince run need a running server
does quince chat need a running server
can i chat without starting the server
must the server run before i chat
is quince serve needed before quince run
""", np="""
starting the server automatically
the automatic start
""")
intent("programs", np="""
quinced
quince-llm
the programs of quince
the parts of quince
the quinced program
the quince-llm process
the processes of quince
the components
the architecture of quince
""", q="""
what is quinced
what is quince-llm
what does quinced do
what does quince-llm do
which programs does quince [have|consist of|come with]
which processes does {q} run
what is the difference between quince and quinced
why is there a process quince-llm
why do i see quince-llm in my process list
what is that quince-llm process
how many processes are there
what runs a model
""")
# ------------------------------------------------------------------ install, platform, licence, privacy
intent("install", do="""
install quince
install quince on [debian|linux|my {pc}|ubuntu]
build quince
build quince from [source|the source code|the source tree]
compile quince
compile [the source|it|the code]
set up quince
set quince up
get quince [onto|on] my {pc}
make quince from source
""", np="""
the installation
the installation of quince
the build
scripts/start
the script scripts/start
the installer
the install steps
the setup
""", q="""
what does scripts/start do
what is scripts/start for
how is quince [installed|built|compiled]
how do i install it
how do i build it
is there an installer
which script [builds|installs] quince
what do i need to build quince
does it need [cmake|gcc|apt|build packages]
i cloned the repository, how do i build it
where do i get quince
""")
intent("tests", do="""
run the tests
run [all|the] tests
test quince
test the source code
check the build
run the test suite
verify my build
""", np="""
scripts/check
the tests
the test suite
the script scripts/check
""", q="""
what does scripts/check do
what is scripts/check for
which script runs the tests
where are the tests
how is quince tested
are there tests
""")
intent("platform", do="""
run quince on [windows|a mac|macos|android|ubuntu|fedora|arch|debian|linux|a raspberry pi]
use quince on [windows|a mac|macos|android|ubuntu|fedora|arch|debian|linux|my phone]
install quince on [windows|a mac|macos]
""", np="""
the supported [systems|platforms|operating systems]
the operating system
the platform
the system requirements
windows support
mac support
debian
""", q="""
which [systems|platforms|operating systems|linux distributions] [are supported|does quince support|does it run on]
which [os|operating system|linux|distribution] do i need
on which [systems|platforms|operating systems] does {q} {works}
does {q} {works} on [windows|a mac|macos|android|ubuntu|fedora|arch|debian|linux|a raspberry pi|windows 11|freebsd]
is there a [windows|mac|macos|android|linux] version
is [windows|macos|linux|debian|ubuntu] supported
i have [windows|a mac|ubuntu|debian], [can i use quince|does it work]
is quince for [windows|linux|mac]
what is quince tested on
what are the requirements
will it run on my [mac|windows pc|linux laptop]
which debian version
""")
intent("licence", np="""
the [licence|license]
the [licence|license] of quince
the source code [licence|license]
the copyright
the legal terms
""", q="""
which [licence|license] does {q} have
what [licence|license] is {q} under
under which [licence|license] is {q}
is {q} open source
is {q} [free|open] software
is the source [code|] [open|available|public]
can i see the source [code|]
may i [change|modify|share|sell|redistribute] quince
can i use {q} [commercially|at work|in my company|for business]
is commercial use allowed
am i allowed to use it at work
who made quince
who wrote quince
who is behind quince
who develops quince
who owns quince
is it apache or mit
""")
intent("cost", np="""
the price
the price of quince
the cost
the cost of quince
the fee
""", q="""
how much does {q} cost
what does {q} cost
what is the price [of quince|]
is {q} free
is {q} free of charge
is {q} for free
is it expensive
do i have to pay [for quince|for it|anything|]
do i need to pay [for quince|anything|]
does {q} cost [anything|money|something]
is there a [subscription|paid version|monthly fee|free trial|fee|premium version]
do i need a [subscription|credit card|licence key|paid plan]
do i pay per token
how much money do i need
is using {q} free
what will it cost me
are there hidden costs
""")
intent("account", do="""
sign up
create an account
log in
register [with quince|]
make an account
sign in
""", np="""
my account
the account
registration
the login
""", q="""
do i {need} an account
do i {need} to [register|sign up|log in|sign in|create an account]
do i have to [register|sign up|log in|sign in|make an account]
is an account [needed|required|necessary]
is registration [needed|required]
does {q} need [an account|a login|a registration|my email]
which email do i use to sign up
where do i sign up
what is my [password|login|user name]
can i use {q} without [an account|registering|logging in|signing up]
""")
intent("language", np="""
the programming language
the programming language of quince
the language quince is written in
the source language
""", q="""
in which [programming|] language is {q} written
which [programming|] language is {q} written in
what [programming|] language is {q} [written|made|programmed|coded] in
what is {q} [written|made|programmed|coded] in
is {q} written in [c|rust|python|go|c++|java]
is it a [python|rust|go|c] program
which language was used to [write|make|build] quince
does it need python
is there [python|rust|javascript] in quince
""")
intent("offline", do="""
use {q} [offline|without internet|without the internet|without a network]
run {q} [offline|without internet|on a plane|without wifi]
chat [offline|without internet]
work offline
""", np="""
offline use
offline mode
working without internet
the internet connection
""", q="""
does {q} {need} [the|an|] {net}
does {q} {need} internet
do i {need} [the|an|] {net}
do i {need} internet [for quince|to chat|to use it|]
is [the|an|] {net} [needed|required|necessary]
does {q} {works} [offline|without internet|without the internet|on a plane|without wifi]
is {q} offline
will it {works} [without internet|offline|on a plane|in a train]
is this cloud based
does {q} run in the cloud
is {q} a cloud service
do you run in the cloud
where does the model run
where do models run
where do you run
on which computer does the model run
is there a cloud
can i unplug the network
do i have to be online
what if my internet is down
does it {works} when i am offline
""")
intent("privacy", np="""
privacy
data protection
my privacy
the privacy policy
telemetry
tracking
the telemetry
what happens to my data
""", q="""
is {q} private
is {q} [safe|secure|trustworthy] [to use|]
is my data [safe|private|secure|sent anywhere|shared|collected|stored in the cloud]
are my [chats|prompts|messages|questions|conversations|data] [private|sent anywhere|uploaded|stored in the cloud|shared|safe|secret|collected]
who [sees|reads|can see|can read] [my|what i] [chats|prompts|messages|questions|type]
who can read my [chats|prompts|messages|conversations]
where do my [prompts|messages|questions|chats] go
where does my data go
do my [prompts|messages|questions|chats|data] leave [my|the|this] {pc}
does {q} send [data|my data|anything|my prompts|my chats|something] [anywhere|to anyone|home|to a company|to the cloud|over the internet|]
does {q} [spy|spy on me|track me|phone home|collect data|have telemetry|share my data|upload anything|report usage]
does quince collect [data|statistics|usage data|telemetry|information about me]
is there [telemetry|tracking|any tracking|analytics]
can anyone [read|see] what i write
do you [spy on me|tell anyone|share my data|collect my data|send my data away]
is what i type sent to [a company|the internet|openai|google|a server]
can i trust {q} with [secrets|private data|my data]
can i type confidential things
what about privacy
will you keep my secret
""")
# ------------------------------------------------------------------ the starter model about itself
intent("who", np="""
your name
yourself
you
the name of this model
the starter model
this model
quince-starter
the model that ships with quince
the default model
""", q="""
who are you
what are you
who is this
who am i talking to
who am i chatting with
what am i talking to
what is your name
what's your name
do you have a name
may i ask your name
how should i call you
what should i call you
what do i call you
tell me who you are
introduce yourself
can you introduce yourself
please introduce yourself
which model are you
what model are you
what model is this
which model is this
which model am i [using|talking to|chatting with]
what kind of [model|ai|program|bot|thing] are you
are you [a robot|a bot|an ai|a human|a person|human|real|a machine|a computer|a program|alive]
are you [chatgpt|gpt|claude|gemini|llama|siri|alexa|qwen|gpt-4|openai|copilot]
am i talking to [a human|a person|a robot|an ai|a machine|chatgpt]
is this [chatgpt|gpt|claude|a human|a bot|an ai|a real person]
who is quince-starter
what is quince-starter
which model ships with quince
which model comes with quince
which model is [the default|included|preinstalled|there from the start|built in]
what is the [default|built-in|included] model
what is the starter model
what is the starter model [for|called]
name yourself
identify yourself
what do people call you
who is there
""")
intent("trained", np="""
your training
your training data
the way you were trained
the data you were trained on
the text you learned from
your origin
""", q="""
how were you [trained|made|created|built|born]
who [trained|made|created|built|programmed|wrote|developed] you
who is your [maker|creator|father|mother|boss|developer|inventor]
what were you trained on
on what were you trained
what data were you trained on
which data was used to train you
where do you come from
where does your knowledge come from
where did you learn [this|that|everything]
how did you learn [this|that|to talk]
what is your training data
when were you [trained|made|born|created]
did you read the internet
were you trained on the internet
are you based on [llama|gpt|qwen|another model]
are you a fine-tune
what are you based on
do you have parents
what did you learn from
how was the starter model trained
""")
intent("size", np="""
your size
your parameters
the number of your parameters
your architecture
the size of the starter model
the architecture of this model
""", q="""
how big are you
how large are you
how small are you
what size are you
how many parameters do you have
how many parameters does [the starter model|quince-starter|this model] have
what is your [size|parameter count|architecture]
which architecture [do you have|are you|does the starter model have]
are you a [big|large|small|tiny] model
are you [big|large|small|tiny]
how big is [the starter model|quince-starter|this model]
how many weights do you have
how many neurons do you have
what is inside you
how do you work [inside|]
why are you so [small|tiny]
""")
intent("cando", np="""
your skills
your abilities
your knowledge
your talents
your features
the things you can do
the things you know
the topics you know
what you can do
""", q="""
what can you do
what can you do for me
what do you know
what are you [good at|able to do|capable of|made for|for|useful for]
how can you help [me|]
what can you help [me|] with
can you help me
help
help me
what can i ask [you|]
what should i ask [you|]
what may i ask you
which questions can you answer
what questions can i ask
what kind of questions [can you answer|do you understand]
what topics do you know
what do you know about
what do you understand
tell me what you can do
give me an example of what you can do
give me some examples of questions
what are your skills
what are your strengths
what is the starter model good for
what can the starter model do
i do not know what to ask
i don't know what to say
what could we talk about
what shall we talk about
what do you want to talk about
""")
intent("limits", np="""
your limits
your weaknesses
your limitations
the things you cannot do
the things you do not know
the quality of your answers
""", q="""
what can you not do
what can't you do
what do you not know
what are you bad at
why do you know so little
why are you so [dumb|stupid|limited|bad|weak]
why are you [wrong|often wrong|always wrong]
why is your answer wrong
why are your answers so [bad|short|wrong|poor|strange]
why do you [make mistakes|get things wrong|not know this|not know that]
how [smart|clever|good|reliable|accurate|intelligent] are you
are you [smart|clever|intelligent|reliable|always right|as good as chatgpt|dumb|stupid|smarter than me]
are you as [good|smart|clever] as [chatgpt|gpt-4|a big model]
are your answers [correct|reliable|true|always right|accurate]
can i trust [you|your answers|what you say|this model]
can i rely on you
can i rely on your answers
do you make mistakes
do you ever lie
do you know everything
do you sometimes make things up
do you hallucinate
is everything you say true
should i believe you
how do i get better answers
how can i get [better|smarter|longer|more useful] answers
is there a better model
is quince-starter a good model
how good is the starter model
can the starter model be trusted
can you write [code|a program|python|an essay|a poem|a story|a letter|my homework]
can you [translate|summarise|program|code|write essays]
do you speak [german|french|spanish|chinese|other languages|italian|russian]
which languages do you [speak|know|understand]
can you think
""")
intent("clock", np="""
today's date
the date
the time
the current time
the time [right now|now]
the weather
the weather [today|tomorrow|outside|in london|in paris|in berlin]
the news
the latest news
today's news
the weather forecast
the current [date|year|month|weather]
""", q="""
what time is it
what time is it [now|right now|in london|in tokyo|in new york]
what is the time
what's the time
what day is [it|today|it today]
what is today
what is the date [today|]
what's the date
which day is it [today|]
what year is it
which year is it
what month is it
which month do we have
what is today's date
tell me the time
tell me the date
how late is it
is it [monday|friday|sunday|christmas|weekend|morning|night|late] [today|now|already|]
what is the weather [like|today|like today|tomorrow|outside|in berlin|in paris]
how is the weather [today|outside|]
will it rain [today|tomorrow|]
is it raining
is it [cold|hot|warm|sunny|raining] [outside|today]
do i need an umbrella
what is new in the world
what happened today
what happened yesterday
any news
what is in the news
who won [the game|the match|yesterday|the election|the world cup]
do you know what time it is
do you have a clock
do you have [internet|internet access|access to the internet|a connection to the internet]
can you [search|browse|google|look on|surf] the [web|internet]
can you search the web
can you look something up [online|on the internet]
can you open a [website|web page|link]
look it up on the internet
google something for me
are you [online|connected to the internet]
how many days until christmas
when is my birthday
what is the temperature outside
""")
# ------------------------------------------------------------------ settings of an answer
intent("max_tokens", do="""
limit the [length|size] of [an|the] {ans}
make the answers [shorter|longer]
get [longer|shorter] answers
cap the answer length
{chg} the [maximum|] length of the answer
stop answers from getting too long
""", np="""
max_tokens
the max_tokens [parameter|setting|option|field]
max tokens
the maximum answer length
the limit of the answer length
""", q="""
what does max_tokens [do|mean]
what is max_tokens for
which parameter limits the [answer|length|length of the answer|output]
why [is|was] my answer cut off
the answer [is cut off|stops in the middle|ends too early]
why does the answer stop in the middle
which setting [controls|sets|limits] the answer length
what limits the length of an answer
""")
intent("temperature", do="""
make [the|] answers [more|less] [random|creative|varied|predictable]
get the same answer every time
{chg} the temperature
{chg} the [randomness|creativity]
get [deterministic|repeatable|creative|varied] answers
""", np="""
temperature
the temperature [parameter|setting|option|of a model]
temperature 0
the randomness
the sampling temperature
a temperature of zero
""", q="""
what does temperature [do|mean]
what does [the|] temperature [setting|parameter] do
what is [the|] temperature for
what does temperature 0 [do|mean]
what happens at temperature 0
which temperature should i use
which parameter [sets|controls] [the|] [randomness|creativity]
why do i get the same answer every time
why is the answer always the same
why do answers differ each time
what is a good temperature
""")
intent("context", np="""
the context length
context length
the context
the context window
the context size
a context window
n_ctx
""", q="""
what does context length mean
what does context [window|size] mean
what is the context [of a model|]
how much [text|context] can a model [see|remember|read] [at once|]
how much can a model see at once
how much [text|] can you [remember|read|see]
how long can a [conversation|chat|prompt] be
how long may my [prompt|text|message] be
why does the model forget [the beginning|what i said|things]
why do you forget what i said
is there a limit for the length of [a chat|the prompt]
how many tokens can a model see
the model forgot what i said
""")
intent("token", np="""
a token
tokens
the word token
tokenization
a tokenizer
""", q="""
what does token mean
what are tokens in a language model
how long is a token
is a token a word
define token
why do models use tokens
""")
intent("llm", np="""
a language model
a large language model
an llm
llms
the term llm
language models
an ai model
a model
""", q="""
what does llm [mean|stand for]
how does a language model work
how do language models work
how do llms work
what is a model [in quince|exactly|]
define llm
what is meant by a model
""")
# ------------------------------------------------------------------ trouble
intent("not_found", np="""
the error model not found
model not found
the message model not found
an unknown model error
""", q="""
it says model not found
quince says model not found
error: model not found
model not found
model not found, what now
what does model not found mean
why is my model not found
why can quince not find my model
quince cannot find my model
quince does not find [my|the] model
quince does not know my model
it says unknown model
my model is missing
my model is not [found|known]
the model name is wrong
i mistyped the model name
i forgot [the name of my model|the model name|the name of the model|what my model is called]
the server does not know the model
how do i find the right model name
which name do i use for the model
i get a 404 for the model
which name do i put in the model field
what do i put as model in the request
""")
intent("oom", do="""
save {mem}
use less {mem}
run a model with little {mem}
reduce the memory [use|usage|consumption]
run a big model on a small {pc}
fix out of memory errors
""", np="""
the error not enough memory
not enough memory
the out of memory error
low memory
memory problems
the memory use
""", q="""
it says not enough {mem}
not enough {mem}
there is not enough {mem}
i do not have enough {mem}
i have too little {mem}
i am [out of|running out of|low on] {mem}
out of memory
error: out of memory
the model does not fit [in memory|into memory|in my ram|]
the model is too big [for my computer|for my ram|]
my model is too [big|large]
what [can|do|should] i do [if|when] [there is not enough|i run out of|i have too little] {mem}
what if i [run out of|have too little|do not have enough] {mem}
my {pc} [runs out of|has only 4 gb of|has too little|has not enough] {mem}
loading fails because of memory
the model needs too much {mem}
how much {mem} does [a model|quince|it] need
how much {mem} do i need
does it need a lot of {mem}
my {pc} freezes when i load a model
""")
intent("slow", do="""
make [it|quince|the model|answers] faster
speed [it|quince|the model|things|answers] up
get faster answers
speed up [the model|the answers|quince]
improve the speed
get more speed
""", np="""
slow answers
the slow speed
the speed of quince
performance
the performance
performance tips
""", q="""
why is [it|quince|the model|everything|my model] {slow}
[it|quince|the model|everything|my model] is {slow}
it is {slow}, what can i do
the {ans} is {slow}
the answers are {slow}
the answers [come|appear|arrive] very slowly
answers take [too long|forever|ages|minutes|very long]
why does it take so long
why do answers take so long
it takes [too long|forever|ages]
what can i do if the model is {slow}
what [can|should] i do when it is {slow}
how can it be faster
quince is lagging
my big model is {slow}
generation is {slow}
i wait too long for answers
only two words per second
""")
intent("unreachable", np="""
connection refused
the error connection refused
the connection error
a connection problem
""", q="""
connection refused
it says connection refused
i get connection refused
error: connection refused
{srv} [is not reachable|cannot be reached|is unreachable|does not answer|does not respond|is not responding]
{srv} [is not there|does not react|is down|is offline]
i cannot [reach|connect to|access] {srv}
i can't [reach|connect to|access] {srv}
my {app} [cannot|can't|does not] connect
my {app} cannot [reach|find] {srv}
my {app} says the server is [down|offline|unreachable]
why can i not [reach|connect to] {srv}
why does my {app} not connect
no connection to {srv}
could not connect to [the server|localhost|quince]
failed to connect [to the server|]
curl says it [failed|could not connect]
localhost:13305 does not [answer|respond|load|work]
nothing answers [on port 13305|]
what if {srv} is not reachable
what do i do when {srv} does not [answer|respond]
the connection [fails|failed|is refused|times out]
""")
