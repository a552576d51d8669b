"""Questions about commands, APIs and settings: those of the facts that quince.py and more.py do
not ask about. Written without looking at the held-out questions, the free ones and those of
tests/http/starter_questions.jsonl; the generator refuses whatever would equal one of them."""
from .grammar import lines
from .quince import intent

# ------------------------------------------------------------------ starting and stopping
intent("stop_now", do="""
stop {srv} [at once|immediately|right away|without waiting]
stop {srv} [and not wait for|before it finishes] [running answers|the answers]
[kill|end|stop] the server now, even if it is answering
force the server to stop
stop without waiting for answers
use quince stop --now
""", np="""
quince stop --now
the --now option
the option --now of quince stop
""", q="""
what does [quince stop|] --now do
the server takes too long to stop
quince stop waits [too long|for answers|forever]
which option makes quince stop not wait
does quince stop wait for running answers
can quince stop break off running answers
""")
intent("systemd", do="""
[run|start|install] quince as a [systemd|user|system|background] service
start quince [at boot|at login|automatically when i log in|when the computer starts|on startup]
keep the server running [all the time|for ever|permanently|after a reboot]
use quince with systemd
enable the systemd [unit|service] of quince
install quince [for good|permanently|into my home|system wide]
autostart quince
""", np="""
the systemd [unit|service|files]
systemd
autostart
the quince service unit
installing for good
""", q="""
does quince [have|come with] [a systemd unit|systemd units|a systemd service|a service file]
how do i run quince as a systemd service
how do i start quince at boot
which systemctl command [starts|enables] quince
what keeps the server running after a reboot
can quince start by itself when i log in
is there a service file
""")

# ------------------------------------------------------------------ keys
intent("keys", do="""
[make|create|add|generate|get] [a|an|a new|my own] [api key|key|access key]
[make|create|add|generate] a key for [my phone|a friend|an app|another program|my laptop]
[list|show|see] [the|my|all] [keys|api keys]
[remove|revoke|withdraw|take back|delete] [a|an|the|an old] [key|api key]
protect {srv} with a [key|password]
require [an api key|a key|a password]
lock the server with a key
say who may use the server
restrict access [to the server|]
use quince keys
""", np="""
quince keys
the keys command
api keys of quince
the keys of the server
access control
the command for keys
quince keys add
quince keys remove
""", q="""
what does quince keys do
what is quince keys add for
who may use the server
how are keys made
how do i revoke a key
is there access control
can the server ask for a key
i lost my key, how do i make a new one
i want a key for my phone
i gave someone a key and want it back
which command [makes|lists|removes] [a key|keys|api keys]
can i protect my server
""")
intent("keys_admin", do="""
[make|create|add] an admin key
[make|create|add] a key [with admin rights|that may change settings|that may change everything|for an administrator]
give a key admin rights
allow a key to [delete models|change settings|change models]
use --admin
""", np="""
admin keys
an admin key
the --admin option
quince keys add --admin
the rights of a key
""", q="""
what does --admin do
what is an admin key
what may an admin key do
what is the difference between a key and an admin key
why may my key not change settings
it says admin_key_required
my key may not delete models
which keys may change the server
""")
intent("key_use", do="""
[use|send|pass|give] [a|the|my] [key|api key] [with|in|from] [a request|curl|my app|the command line|quince]
tell the quince command my key
authenticate with a key
put the key into a request
set QUINCE_API_KEY
""", np="""
the --api-key option
QUINCE_API_KEY
the authorization header
bearer tokens
the variable for the key
""", q="""
what does --api-key do
what is QUINCE_API_KEY for
the server wants a key, how do i send it
i have a key, where does it go
how does an app send its key
it says 401 unauthorized
i get 401
which header holds the key
where do i put the key for curl
""")
intent("allow_origins", do="""
[use|call|reach] quince from [a web page|my web page|my website|a browser app|javascript on a page]
allow [a web page|my web page|a website|an origin] [to use the server|]
fix cors [errors|problems|]
""", np="""
cors
the --allow-origins option
allowed origins
web pages that use the server
""", q="""
what does --allow-origins do
my web page is [refused|blocked] by the server
i get a cors error
the browser says cors
which option is for cors
may a web page call the server
""")
intent("rate_limit", do="""
limit [the|how many] requests [of a client|per minute|of each client|]
slow down clients that ask too often
set a rate limit
""", np="""
the rate limit
rate limits
the --rate-limit option
""", q="""
what does --rate-limit do
can clients be limited
i get 429 too many requests
is there a rate limit
one client asks too often
""")

# ------------------------------------------------------------------ settings
intent("config_reset", do="""
reset [a|the|my] [setting|settings]
[undo|take back|revert] a [changed setting|config change|setting]
get the default of a setting back
set a setting back to its default
remove a setting from config.json
use quince config reset
""", np="""
quince config reset
config reset
the default of a setting
""", q="""
what does quince config reset do
i changed a setting and want the default again
how do i get the default settings back
which command resets a setting
""")
intent("settings_list", do="""
list all settings [with their meaning|of the server|]
learn what [a setting|each setting|each option of the server] means
find the name of a setting
see all options of quinced
see which settings exist
""", np="""
quinced --help
the help of quinced
the list of all settings
the meaning of a setting
the options of quince serve
the flags of the server
""", q="""
what does quinced --help show
which options does quince serve take
which flags does the server have
where are all settings explained
where is each setting explained
how many settings are there
""")
intent("history", do="""
find what i typed in earlier chats
see the chat history
bring back earlier input
search [my|the] chat history
repeat my last input in the chat
get an earlier question back
""", np="""
the chat history
the history file
the history of the chat
earlier input
""", q="""
where is the chat history [kept|stored|saved]
does the chat keep a history
is what i type saved
which key brings back earlier input
what does ctrl-r do in the chat
do the arrow keys work in the chat
""")
intent("page_chats", do="""
find [the|my] [old|earlier|saved|stored] chats of the page
[keep|save|store] [a|the|my] [conversation|chat] [in|of] the [page|browser]
see [my|the] chats of the page [again|from another browser]
back up [the|my] chats of the page
""", np="""
chats.db
the file chats.db
the page's chats
the chats of the page
the conversations in the page
""", q="""
where [are|does quince keep] the chats of the page
where does the page [keep|save|store] [my|its|the] [chats|conversations]
are [my|the] [chats|conversations] in the [page|browser] [kept|saved|stored]
does the page [keep|save|remember] [my|old] [chats|conversations]
can other users [read|see] my chats in the page
who [sees|can read|can see] my conversations in the page
do my chats leave my computer when i use the page
are [chats|conversations] in the page lost when i close the [browser|tab]
which file holds the page's [chats|conversations]
""")
intent("mcp", do="""
[use|add|connect|set up|configure] [an mcp server|mcp servers|mcp|mcp tools]
[use|add] tools of [an mcp server|mcp servers]
let [a|the|my] model [call|use] tools in [a chat|the page|the browser]
give [a|the|my] model tools in the page
choose the tools of a chat
paste an mcpServers object
connect the [chat|page] to [an mcp server|my tools]
""", np="""
mcp
mcp servers
an mcp server
the model context protocol
mcp tools
tools in the page
tools in a chat
""", q="""
does quince [support|speak|have|know] mcp
does quince support [the model context protocol|mcp servers|mcp tools]
can models [call|use] tools in the [page|chat|browser]
can quince use [an mcp server|mcp servers|mcp]
where do i add an mcp server
where are [the tools|mcp servers] in the page
how does a chat get tools
is there mcp support
what does server > tools do
""")
intent("mcp_permission", do="""
allow [a|the] tool [once|always] in a chat
refuse a tool in a chat
decide [which|what] tools may run
keep [a|the] model from running tools [by itself|without asking]
""", np="""
the permission for tools
the permission to run a tool
permission of mcp tools
tools that ask for permission
""", q="""
why does the chat ask before a tool runs
does [a|the] tool [run|start] without [asking|my permission|my consent]
are mcp tools run without asking
is there a question before a tool [runs|is run]
can a model run tools [without asking|by itself|on its own]
who decides whether a tool [runs|is run] in the chat
are tools in the page safe
""")
intent("offline_setting", do="""
[make|keep] {srv} offline
forbid [all|] downloads
keep quince from [using|asking] the internet
stop quince from going online
block the network for quince
make sure quince asks no other machine
set offline mode
use --offline
""", np="""
the offline setting
the --offline option
offline mode
the setting offline
""", q="""
what does --offline do
what does the setting offline do
can i forbid quince the internet
is there an offline mode
how do i switch downloads off
how do i stop it from downloading anything
""")
intent("threads", do="""
{chg} the number of [threads|cpu threads|processor threads|cores used]
use [fewer|more|all|only two|only 4] [cores|threads|cpu cores]
limit the cpu use
leave some cores free
keep quince from using all cores
""", np="""
the --threads option
the number of threads
cpu threads
the threads setting
""", q="""
what does --threads do
how many [threads|cores] does quince use
quince uses all my cores
the cpu is at 100 percent
which option sets the threads
can i limit the cpu cores
""")
intent("slots", do="""
answer [several|many|more] requests at once [with one model|]
serve [several|many|two] users at [once|the same time] with one model
{chg} the number of [slots|parallel requests]
run requests in parallel
""", np="""
the --slots option
slots
parallel requests
the number of slots
""", q="""
what does --slots do
what is a slot
how many requests does a model work on at once
can one model answer two people at the same time
how many users can talk to one model at once
do requests run in parallel
""")
intent("memory_limit", do="""
limit the {mem} of [the models|all models|quince]
{chg} the memory limit
set a limit for memory
keep models below 8 gb
""", np="""
the --memory-limit option
the memory limit
a limit for the models' memory
""", q="""
what does --memory-limit do
can i limit the memory of all models
which option limits memory
how do i cap the ram of quince
""")
intent("log_level", do="""
{chg} the log level
log [more|less|only errors|debug messages|everything]
see debug [messages|output|lines]
make the log [quieter|more detailed|more verbose|less chatty]
filter the log by level
show only errors in the log
""", np="""
the log level
the --log-level option
debug logging
verbose logging
quince logs --level
""", q="""
what does --log-level do
which log levels are there
how do i get debug output
is there a verbose mode
the log is too long
which option makes the log more detailed
""")
intent("cache_type", do="""
use less memory for the context
store the context in q8_0
{chg} the cache type
quantise the kv cache
""", np="""
the --cache-type option
the kv cache type
the type of the context cache
""", q="""
what does --cache-type do
the context takes too much memory
which type does the kv cache have
can the kv cache be quantised
""")

# ------------------------------------------------------------------ APIs
intent("apis", q="""
which apis does {q} [speak|have|offer|support|understand]
what apis are there
how many apis does quince speak
which [protocols|interfaces] does {q} speak
is quince only for openai [clients|apps]
does quince only speak openai
only the openai api
does it speak more than the openai api
which [programs|apps|clients] can talk to quince
what kinds of clients work
name the apis
list all apis [of quince|]
which servers can quince stand in for
whose api does quince speak
""", np="""
the apis of quince
all apis
the list of apis
the supported apis
the protocols of quince
""")
intent("ollama_port", do="""
{chg} the ollama port
turn [off|on] port 11434
switch the ollama port [off|on]
free port 11434
keep quince off port 11434
run quince beside ollama
use another port for ollama programs
""", np="""
port 11434
the ollama port
the --ollama-port option
11434
""", q="""
what is port 11434
what does --ollama-port do
why does quince use port 11434
on which port do ollama programs find quince
which port is for ollama
does quince listen on 11434
can ollama and quince run at the same time
why does quince not use port 11434
does quince use two ports
""")
intent("ep_ollama", q="""
which [ollama routes|ollama endpoints|routes of ollama] are there
which of ollama's routes does {q} {sup}
is there [/api/chat|/api/ps|/api/show|an /api/chat route]
what is the path for an ollama chat
where do i post an ollama chat
how do i call ollama's chat [route|endpoint]
""", np="""
ollama's routes
the ollama endpoints
the routes under /api
/api/chat
/api/ps
/api/show
the ollama chat route
""", do="""
call [/api/chat|/api/show|/api/ps|ollama's chat route]
send an ollama chat request
list models [as ollama does|with ollama's route]
""")
intent("anthropic", do="""
use [claude code|the claude sdk|anthropic's sdk|an anthropic app] with quince
point [claude code|an anthropic client|the anthropic sdk] at quince
set ANTHROPIC_BASE_URL
connect claude code to quince
""", np="""
the base address for anthropic clients
ANTHROPIC_BASE_URL
claude code
the anthropic sdk
anthropic's messages
""", q="""
what is the base url for [anthropic|claude] [clients|code|apps]
which url does claude code need
which address do i give anthropic's clients
where do i send anthropic messages
what do i set ANTHROPIC_BASE_URL to
""")
intent("lemonade", do="""
use [the lemonade api|lemonade's api|a lemonade client|lemonade apps]
connect [a lemonade app|lemonade clients]
replace lemonade [with quince|]
""", np="""
the lemonade api
lemonade
lemonade's api
lemonade clients
lemonade compatibility
""", q="""
does {q} {sup} [the lemonade api|lemonade]
is quince [lemonade compatible|compatible with lemonade]
do lemonade [apps|clients] work
where is the lemonade api
is there a lemonade api
i come from lemonade, what works
""")
intent("llamacpp_api", do="""
use [the llama.cpp api|llama.cpp's api|a llama.cpp client|an app made for llama-server]
replace [llama-server|llama.cpp's server] [with quince|]
""", np="""
the llama.cpp api
llama-server compatibility
llama.cpp's api
the api of llama-server
""", q="""
does {q} {sup} [the llama.cpp api|llama.cpp's api|the api of llama-server]
is quince compatible with [llama-server|llama.cpp]
do [apps|clients] for [llama-server|llama.cpp] work
my app is made for llama-server
is there a /slots [route|endpoint]
is there a /tokenize [route|endpoint]
how do i count tokens over the api
which route tokenizes text
""")
intent("ep_pull", do="""
[download|pull|fetch] a model over [the api|http]
[delete|remove] a model over [the api|http]
see the downloads over [the api|http]
manage models over the api
call /v1/pull
call /v1/delete
""", np="""
/v1/pull
/v1/delete
/v1/downloads
the route that downloads a model
the route that deletes a model
the pull endpoint
the delete endpoint
""", q="""
which route downloads a model
which [route|request|endpoint] [deletes|removes] a model
which endpoint shows downloads
is there an endpoint for downloads
can the api download models
can a program delete a model over the api
what does post /v1/pull do
what does post /v1/delete do
""")
intent("ep_responses", do="""
use the responses api
call /v1/responses
""", np="""
the responses api
/v1/responses
openai's responses
""", q="""
does {q} {sup} the responses api
is there a responses [api|endpoint|route]
where is the responses api
what is /v1/responses
""")
intent("ep_rerank", do="""
rerank [documents|results|search results|texts]
order documents by [a question|a query|relevance]
call /v1/rerank
use a reranker
""", np="""
reranking
rerank
/v1/rerank
rerankers
a reranking model
""", q="""
does {q} {sup} [reranking|rerankers]
is there a rerank [endpoint|route]
can quince rerank documents
what is /v1/rerank
""")
intent("ep_metrics", do="""
monitor {srv} [with prometheus|with grafana|]
get [metrics|figures for prometheus|counters]
scrape the server
""", np="""
/metrics
the metrics
prometheus
the metrics endpoint
metrics for grafana
""", q="""
does {q} {sup} [prometheus|metrics]
is there a metrics [endpoint|route]
where are the metrics
what does get /metrics show
which route is for prometheus
""")
intent("ep_stats", do="""
read the log over [the api|http]
get the figures of the last answer over http
call /v1/stats
call /v1/logs
""", np="""
/v1/stats
/v1/logs
the stats endpoint
the log over http
""", q="""
which route has the [log|stats|statistics]
is there an endpoint for [statistics|the log|stats]
what is /v1/stats
what is /v1/logs
""")
intent("tools", do="""
use [tools|tool calling|function calling|functions] [over the api|]
let the model call [a tool|tools|a function|functions]
force a tool call
give a model tools
build an agent [with quince|]
""", np="""
tool calling
function calling
tools
tool_choice
tool calls
""", q="""
does {q} {sup} [tool calling|function calling|tools|tool calls|agents]
does quince support tool calling
does quince support function calling
are tools supported
can models call functions
how do i pass tools
what does tool_choice do
can i build an agent
""")
intent("json_mode", do="""
get json [answers|as the answer|from a model]
make the model answer in json
force [json|a json schema|valid json]
use structured output
constrain the answer [to a schema|]
""", np="""
json mode
structured output
json schemas
response_format
structured outputs
""", q="""
does {q} {sup} [json mode|structured output|json schemas|response_format]
does quince support json mode
can the answer follow a schema
how do i get valid json
what does response_format do
can a model be forced to answer in json
""")
intent("presets", do="""
make a model with [its own|a|another] system message
make a preset
create a [custom model|preset|character]
save a system prompt as a model
call /api/create
""", np="""
presets
/api/create
a model preset
custom models with a system message
modelfiles
""", q="""
what is a preset
does {q} {sup} [presets|modelfiles]
can i save a system prompt as a model
what does post /api/create do
is there something like a modelfile
""")

# ------------------------------------------------------------------ getting models
intent("pull_hf", do="""
search [for models|hugging face|the hub] [from the terminal|]
find a model on [hugging face|huggingface|the hub]
download [a repository|from a repository|a repo] of hugging face
search for [a coder model|qwen|a small model|llama] on hugging face
look for models online
use quince search
""", np="""
quince search
the search command
searching hugging face
model search
hugging face repositories
""", q="""
what does quince search do
which command searches [hugging face|for models]
is there a search [command|for models]
can quince search hugging face
how do i find models on hugging face
can i pull from a hugging face repository
""")
intent("pull_ollama", do="""
download a model [by its ollama name|of ollama's library|from ollama]
pull llama3.2:1b
get a model from [ollama|the ollama library]
use an ollama model name
""", np="""
ollama's library
ollama model names
models of the ollama library
""", q="""
can i pull [ollama models|models of ollama|from ollama's library]
does quince know ollama's model names
how do i get llama3.2 as in ollama
do ollama names work with quince pull
which names of ollama can i pull
""")
intent("variants", do="""
choose [a variant|a quantisation|the quantisation] [for a download|when pulling|]
download [the q4_k_m|a q8|a certain|another] [variant|quantisation] [of a model|]
pick between variants
get a smaller variant
""", np="""
variants
the variants of a model
the choice of a quantisation
quince pull with a variant
""", q="""
which variant does quince pull take
what is a variant
how do i pull a certain quantisation
quince asks which variant i want
can i choose q4_k_m
a repository has many files, which one is taken
how do i get q8_0 instead of q4
""")
intent("downloads", do="""
[see|watch|show|check] [the|my|running] downloads
see [what is being downloaded|how far a download is|the progress of a download]
[pause|resume|cancel|stop|abort|interrupt] [a|the|my] download
go on with a paused download
use quince downloads
""", np="""
quince downloads
the downloads
the downloads command
running downloads
the progress of a download
""", q="""
what does quince downloads [do|show]
which command shows downloads
how far is my download
is something being downloaded
can i pause a download
can a download be cancelled
the download should stop for now
how do i stop a download
""")
intent("pull_resume", do="""
continue [a|an] [broken|interrupted|aborted|failed] download
go on with a broken download
resume a download that broke off
repair a broken download
""", np="""
broken downloads
an interrupted download
resuming a broken download
""", q="""
my download [broke off|was interrupted|failed|stopped half way|was cut]
the connection dropped during a download
what happens when a download breaks off
does an interrupted download start from zero
do i have to download everything again
i closed the terminal during a download
is a broken download lost
""")
intent("pull_where", do="""
{chg} the folder of downloads
{store} downloads [on another disk|somewhere else|elsewhere]
find downloaded models [on disk|]
move the model cache
use another folder for downloaded models
""", np="""
the download folder
the folder of downloads
the --models-dir option
the folder of downloaded models
~/.cache/huggingface/hub
the model cache
""", q="""
where do downloads go
where are downloaded models [kept|stored|saved]
in which folder are downloaded models
where does quince pull put [the files|models|a model]
what does --models-dir do
what is in ~/.cache/huggingface/hub
where is the model cache
can downloads go to another disk
""")
intent("discovery", do="""
use [my ollama models|models of lm studio|models that ollama has|models of llama.cpp|my lm studio models]
share models with [ollama|lm studio|llama.cpp]
use models that are in another folder
add a folder of models
list models of other programs
use --extra-models-dir
""", np="""
models of other programs
the models of lm studio
my ollama models
the --extra-models-dir option
names that begin with extra.
a folder full of gguf files
""", q="""
does quince find [my ollama models|models of lm studio|models of other programs]
do i have to download my ollama models again
what does extra. mean in the list
what does --extra-models-dir do
why are there models i never imported
can i add a whole folder of models
where do the extra models come from
""")
intent("export", do="""
export a model [definition|]
copy a model's definition to another machine
write a model's definition to a file
move a model definition to another {pc}
save the definition of a model as json
use quince export
""", np="""
quince export
the export command
a model definition
exporting a model
""", q="""
what does quince export do
which command exports a model
can i export a model
how do i take a model's settings to another computer
what is a definition of a model
""")
intent("alias", do="""
give a model [a second name|another name|a further name|a short name|an alias]
make an alias
[remove|list] [an alias|aliases]
use a shorter name for a model
call a model by another name
use quince alias
""", np="""
quince alias
an alias
aliases
the alias command
short names of models
a nickname for a model
""", q="""
what does quince alias do
what is an alias
which command makes an alias
can a model have two names
how do i shorten a long model name
my app insists on the name gpt-4
how do i take back an alias
""")
intent("remote_models", do="""
use [a remote server|a server elsewhere|vllm|another quince|a model on another server|a cloud server]
add a remote [model|server]
connect quince to [vllm|another server|a remote server|openai's servers]
hand requests on to another server
use quince remote
share work among several servers
""", np="""
quince remote
remote servers
remote models
the remote command
a model on another server
servers elsewhere
""", q="""
what does quince remote do
which command adds a remote server
can quince use [a remote server|vllm|another server]
can a model be computed elsewhere
i have a big server, how do i use it from here
can quince forward requests
""")

# ------------------------------------------------------------------ deleting
intent("delete_starter", do="""
{dele} quince-starter
{dele} the starter model
get rid of the starter model
remove the model that ships with quince
""", np="""
deleting the starter model
removing quince-starter
""", q="""
can quince-starter be [deleted|removed]
can the starter model be [deleted|removed]
why does quince-starter stay
why can the starter model not be deleted
quince delete quince-starter
how do i get the starter model off my list
i do not need the starter model any more
""")
intent("delete_yes", do="""
{dele} a model without [a question|being asked|confirmation|asking]
delete models in a script
skip the question of quince delete
answer yes to quince delete automatically
""", np="""
quince delete --yes
the --yes option of quince delete
deleting without a question
""", q="""
what does quince delete --yes do
how do i delete a model in a script
quince delete asks, how do i skip that
which option of quince delete does not ask
can quince delete run without asking
""")
intent("cleanup", do="""
clean up after downloads
{dele} [partial|broken|unfinished|leftover] [downloads|files|download files]
{dele} [files|what] that no model uses
{dele} [what downloads left behind|leftovers of downloads]
clean the cache
see what cleanup would delete
use quince cleanup
tidy the download folder
""", np="""
quince cleanup
the cleanup command
leftovers of downloads
partial files
unused download files
quince cleanup --dry-run
""", q="""
what does quince cleanup do
what does quince cleanup delete
what does quince cleanup --dry-run do
which command cleans up after downloads
how do i get rid of half downloaded files
half a download is still on my disk
are partial downloads removed
does quince cleanup delete my models
does quince cleanup ask first
""")

# ------------------------------------------------------------------ looking
intent("show", do="""
see [everything|details|all details|more|information] about [a|one|my] model
see [how big|how large] a model is
see where a model's files are
see the [options|details|parameters] of a model
inspect a model
use quince show
""", np="""
quince show
the show command
the details of a model
information about one model
the properties of a model
""", q="""
what does quince show [do|tell]
which command shows details of a model
what quantisation does my model have
how large is my model on disk
where are the files of one model
which architecture does my model have
how do i learn more about one model
""")
intent("ps", do="""
see the [processes|process ids] of the models
see how much memory [a model uses|each model uses|models take]
list the models in memory [with their processes|and what they use]
use quince ps
see the memory use of a loaded model
""", np="""
quince ps
the ps command
the processes of the models
the memory use of loaded models
""", q="""
what does quince ps [do|show]
which command shows the processes of models
how much memory does my loaded model use
is there something like ollama ps
how do i see what each model takes
""")
intent("top", do="""
watch {srv} [live|as it works|all the time]
get a live view
see the load of the server live
monitor the server in the terminal
use quince top
leave quince top
""", np="""
quince top
the top command
a live view
a live monitor
the live view of the server
""", q="""
what does quince top [do|show]
is there a live view
is there something like htop
which command watches the server
how do i leave quince top
which key ends quince top
""")
intent("cli_stats", do="""
see how fast the last answer was [on the command line|outside the chat|]
see figures of the server since it started
use quince stats
see the speed of all answers together
""", np="""
quince stats
the stats command
figures of the last answer
the speed of the last answer
""", q="""
what does quince stats [do|show]
which command shows how fast the last answer was
how fast was the last answer
which command shows the speed
how many tokens were made since the start
""")

# ------------------------------------------------------------------ memory
intent("pin", do="""
pin [a|my|the] model
unpin [a|my|the] model
keep a model in memory [for ever|always|all the time|]
keep a model from being [unloaded|thrown out|displaced]
protect a model from being unloaded
let a pinned model go
use quince pin
make sure a model stays loaded
""", np="""
quince pin
quince unpin
the pin command
the unpin command
pinned models
pinning
""", q="""
what does quince pin do
what does quince unpin do
what is a pinned model
which command keeps a model in memory
can a model stay in memory for ever
my model should never be unloaded
how do i undo quince pin
another model keeps taking its place
""")
intent("keep_alive", do="""
keep a model loaded for [an hour|ten minutes|two hours|some time]
{chg} how long a model stays [in memory|loaded]
load a model for [an hour|ten minutes] only
set keep_alive
use --keep-alive
""", np="""
keep_alive
the --keep-alive option
keep-alive
the time a model stays loaded
""", q="""
what does --keep-alive do
what does keep_alive do
how long does a model stay loaded
how long does a model stay in memory
when does a model leave memory by itself
what does -1 mean for keep_alive
""")
intent("idle", do="""
unload models [automatically|by themselves] [after a while|when unused|]
unload idle models
free memory after some idle time
set an idle time
use --idle
""", np="""
the --idle option
the idle time
the setting idle
idle models
""", q="""
what does --idle do
are unused models unloaded
does quince unload idle models
how do i get unused models unloaded
after how long is an unused model unloaded
""")
intent("preload", do="""
load a model [at start|when the server starts|at startup]
have a model ready at start
preload [a model|models]
start the server with a model loaded
use --preload
""", np="""
the --preload option
preloading
models to load at start
""", q="""
what does --preload do
can a model be loaded at start
which option loads a model at start
the first answer should be fast right after the start
""")

# ------------------------------------------------------------------ engines of others
intent("backends", do="""
install [an engine|another engine|llama.cpp|a backend|llama-server]
[list|see|show] [the|all] [engines|backends]
add an engine [of another project|]
use quince backends
update an engine
see which engines work here
""", np="""
quince backends
the backends command
engines
the engines of quince
backends
other engines
engines of other projects
llama-server
""", q="""
what does quince backends do
which engines are there
which backends does {q} {sup}
which command installs an engine
can quince use [llama.cpp|another engine|engines of others]
what is a backend
does quince have its own engine
why is an engine unsupported here
how do i get llama.cpp's engine
""")
intent("backend_use", do="""
run a model with [llama.cpp|llama-server|another engine]
choose the engine [of a model|for a model]
load a model with llama-server
{chg} the engine of a model
use llama.cpp instead of quince's own engine
""", np="""
the --llamacpp option
the engine of a model
a model with another engine
""", q="""
what does --llamacpp do
how do i choose the engine
which option picks the engine
which engine runs my model
can one model use another engine
""")
intent("backend_remove", do="""
{dele} [an engine|a backend|llama-server|llama.cpp's engine]
uninstall [an engine|a backend|llama-server]
get rid of an installed engine
""", np="""
quince backends uninstall
uninstalling an engine
the removal of an engine
""", q="""
what does quince backends uninstall do
which command removes an engine
can an engine be uninstalled
how do i uninstall an engine
what happens to models when i remove their engine
""")

# ------------------------------------------------------------------ the chat, the command line
intent("think", do="""
make a model [think|reason] [before it answers|first|]
turn [thinking|reasoning] [on|off]
get an answer without [thinking|reasoning]
stop the model from thinking
use --think
use --no-think
""", np="""
thinking
reasoning
the --think option
the --no-think option
/think
the think command
reasoning models
""", q="""
what does --think do
what does --no-think do
what does /think do
can models reason
how do i switch thinking off in the chat
the model thinks too long
does quince support reasoning models
""")
intent("slash_model", do="""
switch the model [in the chat|during a chat|inside a chat]
go on with another model in the chat
{chg} the model without leaving the chat
ask another model the same in the chat
""", np="""
/model
the /model command
another model in the chat
""", q="""
what does /model do
can i switch the model inside the chat
which chat command changes the model
does the conversation stay when i switch the model
""")
intent("synonyms", q="""
what does quince ls do
what does quince ls mean
is quince rm the same as quince delete
is quince ls the same as quince list
which short names do commands have
are there short names for commands
are there short forms of commands
does quince ls work
is there a short form of quince list
""", np="""
quince ls
short forms of commands
the short names of commands
""")
intent("completion", do="""
complete commands with tab
get tab completion
{chg} my shell so that it completes quince commands
complete quince commands in [bash|zsh]
set up completion
use quince completion
""", np="""
quince completion
tab completion
shell completion
bash completion
zsh completion
""", q="""
what does quince completion do
does quince have tab completion
is there completion for [bash|zsh]
how do i get completion in zsh
which line goes into my bashrc
why does tab not complete quince commands
""")

# Questions of the old files' intents that came with the new answers.
from .more import MORE  # noqa: E402


def _more(name, block):
    MORE.setdefault(name, []).extend(lines(block))


_more("pull", """
how do i download [a model|models|qwen|another model] [with quince|from the terminal|]
which command downloads [a model|models]
what is quince pull [for|good for]
[quince|] pull [a model|qwen3|Qwen3-0.6B-GGUF]
can models be downloaded
can i download models with quince
does quince download models
which models can be downloaded
which models can i download
where do i see the models that can be downloaded
how do i install a model
""")
_more("delete", """
how do i [delete|remove|erase] [a|one|that|this] model
[delete|remove] a model from [this machine|the disk|my computer]
which command [deletes|removes] models
[quince|] [delete|rm] [user.x|user.mymodel|a model|qwen]
does quince rm exist
does quince rm delete a model
what does quince rm do
does quince delete ask first
will quince delete ask before it deletes
which files does quince delete remove
what stays when i delete a model
what goes when i delete a model
is a downloaded file deleted with its model
does quince delete remove downloaded files
does quince delete free disk space
can i delete a model that i downloaded
can i delete a model with quince
is there a command that deletes a model
""")
_more("stop", """
which command stops the server
what does quince stop do
stop the server from another terminal
how do i stop the server from another terminal
is there a command to stop the server
quince stop
use quince stop
does quince stop let answers finish
""")
_more("background", """
how do i stop a server that runs in the background
which command stops the background server
the server still runs after i closed everything
who stops the server that quince run started
""")
_more("ollama", """
does quince speak [ollama's|anthropic's] api
can [ollama|anthropic] [apps|clients|programs] use quince
does quince answer ollama's requests
does quince answer anthropic's requests
is quince only openai compatible
""")
_more("config", """
which command [shows|changes] [the settings|a setting]
what does quince config do
what does quince config set do
change a setting of the running server
how do i change a setting without a restart
""")
_more("gpu", """
how do i use my graphics card with quince
can quince use vulkan
which engine uses the gpu
does quince's own engine use the gpu
install the vulkan engine
""")
_more("embeddings", """
which route computes embeddings
which model makes embeddings
what do i need for embeddings
""")
_more("speech", """
which engine transcribes speech
how do i transcribe audio with quince
what do i need to transcribe a recording
""")
_more("images", """
which engine makes pictures
what do i need to make pictures
how do i use a vision model
""")
_more("web", """
how do i chat in the browser
is there a chat page
which address do i open in the browser
""")
_more("list", """
which models can i [get|have] [here|]
what does quince list --all [do|show]
the --all option of quince list
show models that can be downloaded
""")
_more("slash", """
which commands work in the chat
is there /load in the chat
is there /ps in the chat
""")
_more("remote", """
may other machines use the server once there is a key
what do other computers need to use my server
""")

# What stays when an imported model is deleted.
_more("delete", """
does quince delete remove [an imported file|my own file|my gguf|the file i imported]
does deleting [an imported model|a model i imported] [delete|remove|erase] [its|the] file
what happens to [my gguf|the file|my own file] when i delete an imported model
will quince delete erase [my own gguf|the gguf i imported]
does [deleting|removing] a model [delete|remove|erase] my own [file|gguf]
is [my file|the gguf] deleted [too|as well] when i delete an imported model
does the gguf stay when i delete the imported model
do imported files survive quince delete
i imported a file and want quince to forget it
make quince forget an imported model
> forget an imported model
> remove an imported model but keep [its|the] file
> delete an imported model without losing the [file|gguf]
> unregister an imported file
> undo an import and keep the file
deleting an imported model
the file of an imported model that i delete
""")

# ------------------------------------------------------------------ wider wording
_more("stop_now", """
[end|stop|quit] the server [instantly|immediately|right this moment|this second]
the server [will not|does not] stop because an answer is still running
i cannot wait for the running answers
what is the fast way to stop the server
hard stop of the server
emergency stop
abort everything and stop the server
skip the waiting when stopping
stop even while a model is answering
""")
_more("systemd", """
[a|the] [service|unit] that keeps quince running
[should|can|may] quince [run|start] [as a daemon|by itself|automatically|with the system|in the background permanently]
quince should [start|run] [when my computer starts|after booting|always|on login|every day without me]
after a [reboot|restart|power cut] the server [should be there|must be back|has to run again]
which [service|unit] file belongs to quince
set quince up [as a service|for always|to start at login]
systemctl quince
what do i type for systemctl
install the programs [to ~/.local|for my user|into my home folder]
where do i install quince after building
""")
_more("keys", """
[give|hand] [a friend|an app|my phone|somebody|another machine] a key
[i want|i need|i would like] [a new key|an api key|keys for two people]
[new|another] [api key|access key] please
how do [keys|api keys] get [made|created|removed|listed]
which keys [do i have|are there|exist|did i make]
[somebody|a friend|an old app] should no longer have access
take access away from [a friend|an app|my old phone]
my key was stolen
replace a key
[password|protection|security|login] for the server
how do i secure the server
show me who has a key
a key for every device
rename or remove a key
""")
_more("keys_admin", """
[a key|which key] that may do everything
[a key|i need a key] for [administration|the administrator|managing models]
rights of [a normal key|an admin key]
what can a normal key not change
how do i let an app change the settings
my app should be allowed to [manage|load and delete|change] models
the key needs more rights
""")
_more("key_use", """
[where|how] [do i enter|do i give|do i type|does one send] the key
[curl|python|my script|my app] with a key
the server asks for a key
the server answers 401
authorization bearer what
how does the cli know my key
quince says that a key is needed
which variable holds the key for the command line
pass my secret to quince
""")
_more("allow_origins", """
a [site|page|web app|browser extension] [is not allowed|is refused|gets blocked]
cross origin requests
javascript in my page cannot reach the server
access-control-allow-origin
let a page of another address ask the server
""")
_more("rate_limit", """
[restrict|throttle|brake] [clients|greedy clients|requests]
too many requests of one program
requests per minute
how many requests may a client make
protect the server from too many requests
""")
_more("config_reset", """
[go|get] back to the [default|standard|original] [value|setting]
[forget|drop|discard] a changed setting
what i set was wrong, back to the default
remove my change of a setting
restore defaults
factory settings
""")
_more("settings_list", """
[every|each] setting [explained|with help]
overview of [all|the] settings
which [values|settings|keys] can i set
documentation of the settings
what can be configured and how
explain the flags of quinced
i look for a setting but do not know its name
""")
_more("history", """
my [earlier|old|former] [inputs|messages|lines] in the chat
up arrow in the chat
where does the chat keep what i wrote
can i search what i typed before
recall my last question
ctrl-r
""")
_more("offline_setting", """
[no|never any] [contact to other machines|network traffic|connection to the outside]
[cut|disconnect] quince from the net
the server must not [phone out|go online|download anything|connect to the internet]
airplane mode
turn off all network access of the server
quince should never contact hugging face
a setting for machines without internet
""")
_more("threads", """
[number|count] of [cpu cores|processors|threads] [for models|to use]
my [fans|other programs] suffer, use [less cpu|fewer cores]
quince [needs|takes|eats] [too much cpu|every core|all processors]
only half of my cores
how parallel does quince compute
cpu limit
pin it to four threads
""")
_more("slots", """
[parallel|simultaneous|concurrent] [requests|answers|chats] [of one model|]
[several|three|many] [people|clients|apps] ask the same model at once
do clients wait for each other
work on more than one request
how many conversations does a model serve at the same time
concurrency of a model
""")
_more("memory_limit", """
[maximum|most|upper limit of] [memory|ram] [for models|of all models]
models may use at most [8|16|4] gb
keep some ram free for other programs
restrict how much ram the models take together
ram limit
memory cap
""")
_more("log_level", """
[more|fewer] [log lines|messages in the log]
[debug|trace|verbose] [output|messages|mode]
the log [says too little|is too detailed|has too many lines]
only warnings in the log
set the level of the log
loglevel
""")
_more("cache_type", """
[smaller|compressed|quantised] [kv cache|context memory]
save memory with long contexts
precision of the kv cache
kv cache in 8 bits
f16 or q8_0 for the cache
""")
_more("apis", """
[what|which] [interfaces|protocols|api standards|kinds of api] [are supported|can i use|are there]
[openai|ollama], [anthropic|lemonade] and what else
is it compatible with other servers than openai's
which other servers' clients can i use
how many [protocols|interfaces] are spoken
does one port serve all apis
can different kinds of apps use the same server
""")
_more("ollama_port", """
[what|who] [uses|listens on|sits on] [port|] 11434
quince [blocks|occupies|took] [port 11434|ollama's port]
is 11434 [taken|used|open]
ollama [cannot start|does not start] because the port is taken
a second port besides 13305
i run ollama, too
keep ollama's port free
stop listening on ollama's port
which setting is for the ollama port
""")
_more("ep_ollama", """
[ollama's|the ollama] [paths|requests|calls|urls]
[chat|generate|list models|pull] [in ollama's way|with ollama's api]
/api/generate or /api/chat
which /api paths exist
the requests that ollama clients send
what can an ollama client call
""")
_more("anthropic", """
[claude code|anthropic's python library|an anthropic tool|the claude cli] [needs|wants|asks for] [a url|an address|a base url]
how do i run claude code on local models
use claude code locally
the url for the anthropic library
address for messages clients
anthropic base address
""")
_more("lemonade", """
[lemonade|a lemonade program|the lemonade sdk] [with|and] quince
the path /api/v1
where do lemonade clients connect
is it a replacement for lemonade server
what does lemonade's client need
an app asks for a lemonade server
""")
_more("llamacpp_api", """
[llama-server|llama.cpp] [replacement|drop-in|clients]
clients of llama-server
are there routes of llama.cpp
turn text into tokens over http
see the slots over http
routes that llama-server has
""")
_more("ep_pull", """
[start|begin|trigger] a download [by http|with a request|from a program]
the http request for [downloading|deleting|removing] a model
which url [downloads|fetches|deletes|removes] models
a program wants to [fetch|remove|get] a model
rest call to [pull|delete] a model
watch downloads over http
""")
_more("ep_responses", """
the newer api of openai
can i use openai responses
post /v1/responses
client.responses.create
stateful responses
""")
_more("ep_rerank", """
[sort|rank|order] [texts|passages|hits] by how well they match
ranking of search results
relevance scores
cross encoder
which request reranks
jina rerank or cohere rerank
""")
_more("ep_metrics", """
[counters|gauges|numbers] for monitoring
grafana dashboard for the server
prometheus target
what does the server count
export metrics
""")
_more("ep_stats", """
[statistics|tokens per second|log lines] by http
json with the last answer's speed
read log lines from a program
which url has the log
""")
_more("tools", """
[pass|offer|hand] [functions|tools] to [a|the] model
models that [call functions|use tools|call tools]
openai tools
function call
tool use
agents with local models
make the model call my function
how does tool_choice work
""")
_more("json_mode", """
[answers|replies|output] [as|in] json
[valid|strict|guaranteed] json
the answer must [match|follow|fit] [a schema|my schema|a json schema]
schema for the answer
parseable answers
json_schema
force the format of the answer
""")
_more("presets", """
a model with [a fixed|my own] [character|system prompt|system message|role]
[store|keep] a system prompt [for good|with a model]
derive a model from another one
make a variant of a model with other parameters
create a persona
own model from an existing one
""")
_more("pull_hf", """
[look|search] [around|] on hugging face
which models does hugging face have for [coding|chat|translation]
[find|discover] [new|good|small|other] models
is there a catalogue of models online
model hub search
i know a repository on hugging face
get a gguf repository
huggingface.co
""")
_more("pull_ollama", """
ollama pull [for quince|in quince]
i only know the ollama name
ollama's registry
name:tag as in ollama
get gemma3:4b
pull mistral:7b
""")
_more("variants", """
[q4|q5|q6|q8|f16] [version|file|variant] of a model
which quantisation is downloaded
[smaller|larger|more exact] variant
pull only one file of a repository
how do i say which quantisation
choose the file of a repository
""")
_more("downloads", """
[how long|how much] [will the|is left of the] download
[percent|progress|speed] of the download
is [a|my] download still [running|going]
[halt|hold|interrupt] a download
go on with the download later
i do not want this download any more
list of downloads
what is quince downloading right now
""")
_more("pull_resume", """
[network|wifi|internet] [failed|gone|broke] [while|during] [downloading|a download]
the download [stopped|died|hangs] in the middle
half a model has come
does it start all over
go on where it stopped
must i fetch it all again
retry a download
""")
_more("pull_where", """
[place|location|path] of [downloaded models|downloads|fetched models]
[on which disk|where exactly] are the downloaded files
big models need another disk
the hub folder
downloads fill my home folder, use another place
hugging face cache
shared folder of downloads
""")
_more("discovery", """
[lm studio|ollama|llama.cpp] [models|files] [in quince|are found]
reuse [what ollama downloaded|my lm studio models|files of other programs]
see models of other tools
a directory with my gguf files
models i did not import show up
extra models
folder of models
scan a folder
""")
_more("export", """
[write|dump|save] [the description|the definition|the settings] of a model
[json|file] that describes a model
[same|my] model settings on [my laptop|a second machine|another pc]
share a model definition
back up a model definition
""")
_more("alias", """
[nickname|second name|short form|other name] [of|for] a model
call qwen simply q
my app only knows [gpt-3.5-turbo|gpt-4o|a certain name]
[names|aliases] of models
the model's name is too long to type
map a name to a model
delete an alias
""")
_more("remote_models", """
[use|add|reach] a [gpu server|bigger machine|server of my company|cloud model] [through|with|from] quince
[forward|pass|send] requests [to|on to] [another|a bigger|a remote] [machine|server]
models that are computed elsewhere
an openai compatible server somewhere else
put a second server behind quince
load balancing over servers
sglang
my workstation computes, my laptop asks
""")
_more("delete", """
is the gguf lost when i delete its model
my file must not be lost when i remove the model
delete the entry but not the file
the model should leave the list and the file should stay
does rm erase a file that i imported
""")
_more("delete_starter", """
it refuses to delete quince-starter
quince-starter cannot be removed, why
i only want my own models in the list, not the starter
remove the small model that came with quince
""")
_more("delete_yes", """
[unattended|automatic|scripted] [deletion|delete] of a model
no question when deleting
quince rm --yes
delete without confirm
suppress the question when deleting
""")
_more("delete", """
[remove|delete|erase] a [downloaded|pulled|fetched] model
[get rid of|throw away|kick out] a model
what is the command for deleting
quince delete MODEL
quince rm MODEL
how do i undo a pull
remove several models
delete two models at once
is deleting a model safe for my files
does delete ask me
can i remove a model from the list
free the disk of an old model
""")
_more("cleanup", """
[junk|garbage|rubbish|remains|leftovers] [of downloads|in the cache]
[incomplete|partial|aborted] files
[free|win] space without deleting models
remove files nobody needs
files of models that are gone
show me first what would be deleted
dry run of cleanup
clear the download cache
""")
_more("show", """
[details|properties|facts|data] of [a|one|the] model
[tell me|show me] [all|everything] about {mname}
[context length|parameters|licence|template] of my model
what does quince know about a model
where does this model come from
which file belongs to a model
quince show {mname}
""")
_more("ps", """
[process|pid] of [a|the] model
[ram|memory] of [each|every|a] model in memory
models that run now with their memory
which model takes the most memory
what is in memory and how big is it
ollama ps
""")
_more("top", """
[watch|observe|follow] the server [live|in real time|continuously]
live [figures|display|monitor|dashboard in the terminal]
top for models
tokens per second live
see requests come in
how do i quit top
""")
_more("cli_stats", """
[speed|tokens per second] of the last answer in the terminal
how quick was that answer
numbers since the server started
performance figures of the server
how many requests were answered
""")
_more("pin", """
[hold|fix|lock|nail] a model in memory
this model must [stay|remain|never leave|not be unloaded]
never unload my favourite model
[make|keep] a model permanent in memory
release a pinned model
undo pinning
the model is thrown out all the time
a model that always stays
""")
_more("keep_alive", """
[stay|remain|be kept] loaded for [5 minutes|an hour|a day]
[how long|for what time] is a model kept
time until a model is unloaded
unload it after 30 minutes without use
keep it loaded for ever
ollama's keep_alive
""")
_more("idle", """
[automatic|timed] unloading
models that nobody uses
free ram when i do nothing
unload after inactivity
timeout of unused models
when nobody asks for an hour
""")
_more("preload", """
[warm|ready|loaded] [model|] [at|from] the start
the model should be there when the server comes up
no waiting at the first question after a start
load on startup
start with a model already in memory
""")
_more("backends", """
[another|a different|a faster] engine
[llama.cpp|whisper|stable diffusion|vulkan] [engine|backend]
[which|what] engines [exist|can i install|work on my machine]
fetch an engine
add llama.cpp to quince
is llama.cpp inside
state of the engines
plugins for quince
update llama-server
""")
_more("backend_use", """
[switch|set] a model to [llama-server|llama.cpp]
this model should run with llama.cpp
which option of quince load sets the engine
prefer llama-server for one model
quince load with another engine
""")
_more("backend_remove", """
[throw away|drop|deinstall] [an engine|llama-server|the vulkan engine]
i no longer need the engine of llama.cpp
get rid of a backend
free the disk of an engine
""")
_more("think", """
[no|without|less] [thinking|reasoning]
[show|hide] what the model thinks
the model [reasons|thinks] for minutes
let the model think longer
chain of thought
reasoning off
answer at once
""")
_more("slash_model", """
[another|a different|the next] model in the same [chat|conversation]
change models in the running chat
switch to {mname} in the chat
ask a bigger model without leaving the chat
""")
_more("synonyms", """
short for list
ls or list
rm or delete
abbreviations of commands
is there an ls command
""")
_more("completion", """
[tab|autocomplete|auto completion] [for|in] [bash|zsh|my shell|the terminal]
pressing tab does nothing
complete model names with tab
bashrc line
zshrc line
""")
_more("uninstall", """
remove quince completely from my {pc}
deinstall quince
how do i throw quince away
what do i delete to be rid of quince
which folders does quince leave behind
""")
_more("unload_keep", """
does unload delete anything
is the model gone after unload
do i lose the model when i unload it
is the file still there after unloading
is unload the same as delete
does stop delete my model
""")
_more("missing", """
what do i need other engines for
what is left to other engines
which things need an engine of others
""")
_more("auto_start", """
does quince pull start the server
does quince import need a running server
which commands start the server by themselves
""")
_more("programs", """
what is quince-bridge
what is quince-llm
which programs does quince consist of
name the programs of quince
""")
_more("privacy", """
does quince send telemetry
is there telemetry
who can see my prompts
do remote servers see my prompts
""")

# ------------------------------------------------------------------ deleting, told apart
# Written after seeing which kinds of questions about deleting were mistaken for each other.
_more("delete", """
[am i|will i be|is one] asked before [a model is deleted|something is deleted|deleting]
does [rm|quince rm|delete|it] ask [me|first|before|for confirmation]
is there a question before a model [goes|is removed|is deleted]
can i still say no when i delete a model
i [pulled|fetched|downloaded] a model [yesterday|last week|once|by mistake] and [do not want it any more|do not need it now|it is bad]
i tried a model and do not like it, how do i remove it
[away|off] with a model that i [pulled|downloaded]
a model that i pulled should go
remove one of my models, not quince
are the files of a downloaded model deleted too
does the download go when i delete the model
are files deleted together with a downloaded model
what becomes of the files when a model is deleted
which files are deleted with a model
does quince delete remove files from disk
delete one model
quince delete, what does it do to files
the command that removes one model
how do models get removed
quince delete does nothing for me
""")
_more("delete_yes", """
quince delete --yes
the option --yes when deleting
which option stops quince delete from asking
a script deletes models, no questions please
delete with --yes
""")
_more("delete", """
[if|when] i delete an imported model, what [happens to|becomes of] [the file|its file|my gguf]
is the imported [file|gguf] touched when its model is deleted
imported by accident, [is the file safe|what about the file] when i delete the model
an import was a mistake, does deleting it [harm|remove] my file
does the file that i imported [stay|survive|remain] when the model is deleted
wrong file imported, does delete keep the file
undo a wrong import
""")
_more("uninstall", """
[get rid of|remove|erase|wipe] quince and [its data|all its data|everything of it]
remove the program itself, not a model
[delete|remove] the quince program and its folder
i do not want quince any more
all of quince should go
how is quince itself removed
throw out quince with data and all
""")
_more("cleanup", """
a [failed|cancelled|stopped|broken] download left files behind, [remove them|clean up]
[clean|tidy|sweep] up after [failed|cancelled|aborted|broken] [downloads|pulls]
remove what a [failed|cancelled|broken] pull left on the disk
[leftovers|rests|remains] of a broken download
free the space of half downloads
preview of what cleanup removes
what would cleanup delete
cleanup without deleting anything
""")
_more("pull_resume", """
a download broke, how do i go on
continue a pull that failed
finish a download that stopped
""")
_more("unload_keep", """
does unload remove files
will unloading take the model off my disk
""")
_more("backend_remove", """
take an installed engine off my machine
remove the engine that i installed
""")
_more("keys", """
delete a key
remove my key
take a key back from an app
a key must not work any more
""")
_more("alias", """
remove an alias
take an alias away again
undo an alias
get rid of an alias
the alias should go, not the model
""")
_more("ep_pull", """
a program deletes a model with which request
delete a model by http
post /v1/delete
""")
_more("stream", """
[word by word|token by token|piece by piece] over the api
see words while they are made, in my app
one word after the other by http
""")
