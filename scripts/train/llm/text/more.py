"""More ways to ask, written after the held-out questions were fixed and without looking at
what the model got wrong there. All of it is for training; the generator drops whatever
would equal a held-out question."""
from .grammar import lines
from .quince import intent

# Differences and choices between things that have intents of their own.
intent("starter_included", q="""
do i {need} to [download|get|import|install|fetch] a model [first|before i start|to begin|to try quince|]
do i have to [download|get|import|install] a model [first|before i can chat|]
must i [download|get|import|find] a model [first|before chatting|]
do i need my own model to [start|begin|try it]
is it empty after the installation
is a model missing after the installation
is quince useless without a download
will i have to fetch a model before my first chat
do i need to bring a model
""")
intent("choose_model", do="""
choose [a|the|which] model
select [a|the|which] model
pick [a|the|which] model
switch between models
change the model [in the chat|for a request|]
tell the api which model to use
say which model answers
choose the model in a request
select a model over the api
""", q="""
where do i name the model
how does the api know which model i want
which field of the request holds the model
how do i switch from one model to the other
""", np="""
the model field
choosing a model
""")
intent("list_vs_status", q="""
what is the difference between [quince|] list and [quince|] status
what is the difference between [quince|] status and [quince|] list
list or status, which one
is quince list the same as quince status
how does list differ from status
do list and status show the same
""", np="""
list versus status
the difference between list and status
""")
intent("import_vs_load", q="""
what is the difference between [quince|] import and [quince|] load
what is the difference between [quince|] load and [quince|] import
is import the same as load
is importing the same as loading
how does import differ from load
import or load, which one
do i import or load a new file
""", np="""
import versus load
the difference between import and load
""")
intent("unload_vs_stop", q="""
what is the difference between unloading [a model|] and stopping the server
is unload the same as stop
does quince unload stop the server
does unloading stop the server
does the server stop when i unload the last model
does the server keep running after unload
""", np="""
unload versus stop
""")
intent("curl", do="""
use curl [with quince|]
try the api with curl
test the api [with curl|quickly|]
call the api from the {term}
""", np="""
a curl example
an example of an api call
curl
an example request with curl
""", q="""
what does a curl call look like
show a curl command
which curl command can i try
how do i check that the api works
""")
intent("train_models", do="""
train a model [with quince|on my data|]
train my own model
fine-tune a model [with quince|on my texts|]
fine tune a model
finetune a model
teach the model new [facts|things]
""", np="""
fine-tuning
training models
model training
""", q="""
can quince train models
does {q} {sup} [training|fine-tuning]
is training [supported|possible]
""")
MORE = {}


def more(name, block):
    MORE[name] = lines(block)


more("what", """
i found quince on my [computer|laptop], what is it
a friend told me about quince, what is it
in one sentence, what is quince
who needs quince
what would i need quince for
explain quince like i am five
what does a local ai server do
what is meant by local ai server
is quince an ai
is quince an app or a server
what happens when i use quince
what is the job of this program
what can this software do on my computer
give me the elevator pitch for quince
what is this quince thing all about
my boss asks what quince is
what are the main features
what is the use of this
is this a chatbot
is quince a chatbot
what am i running here
""")
more("start", """
i installed quince and want to [use|start|launch] it now
what is the very first command
how do i fire this thing up
i rebooted my computer, how do i get the server back
the server was stopped, how do i bring it back
how do i make quince serve requests
what command makes the server listen
quince is not started yet
after building, how do i run it
i have the source tree, how do i launch the server
how do i kick off the server
how can i get the daemon going
which subcommand starts the server
which command makes quince listen
what must i enter so that the server starts
how do i run the server in the foreground
the very first time, what do i run
can you start the server
how do i make the ai server available
what do i execute to begin
starting the server
launching quince
start up
""")
more("stop", """
i pressed nothing yet, how do i end the server
how do i properly shut quince down
what is the clean way to stop quince
how do i terminate quince serve
how can i end quince serve
the server occupies my terminal, how do i get out
how do i kill quince
which key combination ends the server
what keys do i press to quit the server
does it finish answers before it exits
will running answers be lost when i stop the server
is it safe to press ctrl-c in the server terminal
how do i bring the server down
stopping the server
shutting down quince
i want my terminal back from the server
what signal stops the server
can i stop it with kill
how do i abort the server
is there a graceful shutdown
""")
more("address", """
where does my app find the server
what do i enter as server address
what is the network address of quince
my client asks for a host and a port
my app asks for a server url
which localhost port
what is the number of the port
how do i address the server
which url opens the server
tell me host and port
on what port is the server reachable
the default port, please
which socket does it listen on
how do i get to the server from a program on this computer
what port was it again
i forgot the port
remind me which port it was
what is the standard port
give me the server url
what is the full address with port
which port must my firewall know
""")
more("port_change", """
13305 does not suit me, how do i use a different number
how can i have it listen on 8080
i would like port 9090 instead
we need the server on port 80
what flag do i pass to get a different port
which flag changes the port
which switch sets the port
how do i override the default port
i want to pick my own port number
where do i set a permanent port
how can the default port be replaced
is there a setting for the port number
change 13305 to something else
change the port to 8000
set port 5000
how do i assign another port
""")
more("port_taken", """
it cannot start since the port is occupied
some other service sits on 13305
the server quits with address in use
quince refuses to start, port in use
an old server still holds the port
docker already uses 13305
there is already something listening on 13305
how do i solve a port conflict
what should i do about a busy port
cannot bind to 127.0.0.1:13305
my port is blocked by another server
13305 is not available
what happens if 13305 is occupied
""")
more("remote", """
i want my roommate to use my server
how do i let my phone talk to the server
can my tablet chat with it
can the whole office use my server
how do i expose quince to my home network
my other computer cannot reach the server
why can i not open it from my other laptop
how do i listen on all interfaces
can i bind to 0.0.0.0
does it accept connections from outside
is it reachable over the network
can the neighbours reach my server
which option changes the address it listens on
how do i use another ip address
is it limited to this machine
does the server only serve this computer
how do i access it from a second machine
can a colleague connect to my quince
how do i host it for others
""")
more("data_dir", """
where does quince keep everything
where are its files on my disk
which directory holds the data
in what directory can i find the configuration and the catalog
where does the server write to
how do i relocate the data directory
my home is small, can the data go elsewhere
how do i use a different data folder
what is the default data directory
what path does quince use for its files
where in my home directory does it put things
i want the data on an external drive
does quince create folders
where is the state kept
which flag sets the data directory
what flag changes where data goes
where are config.json and catalog.db
does it use xdg_data_home
""")
more("config", """
how do i keep my port setting for ever
i do not want to type the options each time
where can i write down my settings
which file do i edit to change settings
is there a file for the options
how do i set the port in a file
where do permanent settings go
what format does the config file have
how do i set defaults
which config options exist
is the configuration in json
where do i put the port key
""")
more("several_servers", """
can i start quince a second time
may two servers run on one computer
i want a test server beside my normal one
how do i separate two servers
two users want their own server
how do i keep instances from clashing
can i have a work and a private server
is it possible to run more than one instance
""")
more("api", """
which software can talk to quince
i want to use quince from vs code
how do i hook up my chat app
which base_url do i give to the openai library
how do i use the openai python library with quince
what do i set OPENAI_BASE_URL to
how do i make my script use the local server
my tool wants an openai endpoint
my editor plugin asks for an openai url
what is the address of the openai api
where do i send openai requests
can langchain use quince
can i use open webui with quince
does continue work with quince
i am a developer, how do i use quince in my program
is the interface like the one of openai
which protocol does quince speak
how do third party apps connect
what is the api like
which api standard does it follow
can existing openai programs be used
does it understand openai requests
is it a drop-in replacement for openai
what url do i use instead of api.openai.com
how do i replace openai with quince in my code
what is the root of the api
""")
more("endpoints", """
what are the http paths of the server
which urls can my program call
which api calls exist
give me the api reference
what does the api contain
name the endpoints of the server
which get and post requests are there
what rest endpoints are offered
""")
more("ep_chat", """
where do chat requests go
what is the full url for chat completions
where does my program post its messages
i want to send a conversation as json
to what path do i post the messages
which request gives me a chat answer
how do i get a chat answer by http
""")
more("ep_health", """
how can a script tell that the server is alive
what url is good for a health probe
is there a url that says whether all is well
how does my load balancer check quince
what does the health endpoint say
which path is for monitoring
""")
more("stream", """
i want to see the words as they appear
can i read along while the model writes
my app should show the answer live
how do i receive tokens as they are generated
why does the answer come all at once
the answer arrives only at the end, how do i get it live
is there live output over the api
does the api send partial answers
which field turns streaming on
how do i set stream
""")
more("api_key", """
what do i put in the key field
the openai library demands a key
which token should i send
must i authenticate
is there any authentication
can i use a fake key
will any key do
is a dummy key ok
what should OPENAI_API_KEY be
where is my secret key
who gives me a key
my client will not start without an api key
is a login needed for the api
do requests need a bearer token
the field api key must not be empty
can i use my openai key
""")
more("ollama", """
i come from ollama, does my setup work
can i use my ollama scripts
will claude code work with quince
does it speak the claude protocol
is there a messages api like the one of anthropic
can it replace my ollama server
does quince offer the same api as ollama
which other apis are there besides openai
does it understand anthropic requests
""")
more("pull", """
can you download llama for me
fetch me a bigger model
i want quince to download a model for me
how do i get a model from the internet with quince
can i get models straight from hugging face
does quince have something like ollama pull
quince pull says unknown command
i typed quince pull and nothing happened
why can i not download a model
is there a command for downloading
which command fetches models from the web
where can i find models to use
where do i find gguf files
which website has models
where do people get gguf models
can it download automatically
does quince get missing models itself
will it fetch models when i name them
is downloading supported
is model download available
when i run an unknown model, is it downloaded
downloading a model
how do i obtain a new model
how can i acquire more models
""")
more("delete", """
how do i throw out a model i no longer want
i imported a model by mistake, how do i get rid of it
how do i take a model away again
i want to see a model gone
can a model be deleted
can models be removed
can i delete models with quince
can quince remove a model for me
please delete my model
please remove all models
which subcommand removes a model
does a delete subcommand exist
what is the command to erase a model
how do i clear old models from the disk
my models fill my disk
my hard drive is nearly full because of models
how do i save disk space
how do i get back the disk space of a model
how do i shrink the disk usage
what is the opposite of import
how do i undo an import
how do i reverse an import
can i deregister a model
how do i forget a model
does removing a model delete its file
is my gguf file ever deleted
is there a danger that quince deletes my files
does quince touch my files
will my model files be erased by quince
who deletes model files
can you delete a file for me
delete this model
how do i wipe everything
i do not want this model any longer
get this model off my computer
deleting a model
removing a model
what if i want to remove a model
how do i purge models
how do i discard a model
how do i dispose of a model
""")
more("gpu", """
i have an rtx 4090, will it be used
my computer has no graphics card, is that a problem
do i need special hardware
does it take advantage of my graphics card
can it use vulkan
why does it not use my nvidia card
is a gpu version planned
does it run without a gpu
does it need cuda
what about gpu acceleration
does it use the processor or the graphics card
is my gpu used
will a better graphics card make it faster
my radeon is idle
""")
more("embeddings", """
i want vectors for my documents
can it make vectors from text
is there an endpoint for embeddings
can i use quince for semantic search
i need embeddings for a search engine
can it compute sentence vectors
""")
more("speech", """
can i speak with it instead of typing
can it read the answer to me
is there a microphone mode
can i use whisper models
can it listen
can it convert an audio file to text
does it understand spoken words
can it generate a voice
i want to dictate
can you speak
can you talk
""")
more("images", """
can it look at a photo
can i show it a picture
make me a picture of a cat
generate an image of a house
can it describe a screenshot
does it do pictures
can it create art
does it understand images
i want a logo
can you make a photo
""")
more("web", """
i do not like terminals, is there a window
where can i click
is there an interface with buttons
can i chat with it in firefox
the browser shows nothing useful on that port
is there a chat page
do you have a nice interface
is there a graphical program
can i use a mouse with quince
does it open in a browser
""")
more("import", """
i saved a gguf from hugging face, how do i make quince aware of it
i have got a model on a usb stick, how do i use it
how do i get my downloaded file into the list of models
how does quince learn about my file
how do i make my own file available
the gguf is in my downloads, what is the next step
my model file is on another disk, how do i add it
which command makes a file known to quince
which subcommand registers a file
what do i type to add a file i downloaded
how can i try a bigger model
i would like something smarter than the starter
i want a model that knows more
how do i get a cleverer model
how do i replace you with a better model
is there a way to get a better model than you
how do i run llama with quince
how can i use qwen3 here
i have qwen3 as gguf
i have a llama gguf on disk
how do i set up another model
how do i hook my own gguf in
getting another model
adding a model
importing
import file
where do i drop my gguf files
which folder do i copy models to
what do i do after downloading a gguf
i got a gguf in my browser, and now
can it use the models of lm studio
can i use a gguf that ollama downloaded
how can i extend the list of models
the list has only one model, how do i get another
only quince-starter is in the list, how do i add more
""")
more("import_copy", """
is the file copied anywhere when i import it
does import put a copy in the data directory
will importing fill my disk
does the import leave my file alone
does importing a 10 gb file take another 10 gb
does my file get moved by the import
is anything done to my file at import
""")
more("import_keep", """
may i throw away the gguf once it is imported
what if the file is gone later
can the gguf live on an external drive
do the models stay where i put them
on which disk are my models
where does the imported file end up
is the gguf needed after the import
the file moved to another folder after import
""")
more("name", """
can i choose how my model is called
the name is too long, how do i set a shorter one
how do i import with my own name
can i pick the name myself
which flag gives a model a name
what decides the name of a model
i want to call it user.cat
""")
more("formats", """
will a mistral gguf work
does gemma run on it
is my model supported
which kinds of gguf can it open
can it open safetensors
what sort of models can i use
which model architecture do i need
which models from hugging face can i use
does it load pytorch checkpoints
are qwen models ok
are llama models ok
which families of models does it know
can i use any gguf
does every gguf work
what must i look for when i choose a model
is deepseek possible
does it take onnx files
my gguf is rejected as unknown architecture
it says unsupported architecture
""")
more("quants", """
does q4_k_m work
will a q5_k_m file load
can it read q8 files
which quant should i download
does it accept bf16 weights
are iq quants supported
is q3 possible
which types of weights can it read
unsupported tensor type
it says the quantisation is not supported
""")
more("list", """
what have i got in the way of models
which names can i give to quince run
how can i look up the model names
show me what i can run
what models could i use now
give me an overview of my models
where are all my models listed
i forgot which models i imported
i want an overview of the models on this machine
does quince know my model
how do i check whether the import worked
what does quince have on offer
models?
my models please
which ones are there
enumerate the models
let me see all models
print the model names
""")
more("status", """
how can i tell if the server is up
how do i find out whether quince is alive
is it on
is it up
is the thing running
how do i check on quince
what is in memory right now
which model sits in memory
which model occupies my ram
how do i see what is currently loaded
how do i know if a model is loaded
is my model in memory
what is quince doing now
what is the server's condition
did it come up
how do i verify that it started
does it run in the background
i am not sure the server is running
is the daemon alive
show what is loaded
which model is in use
""")
more("logs", """
quince behaves strangely, where do i look
i see a failure, how do i learn the cause
where can i read what went wrong
how do i get more details about an error
what do i do about a crash
the server exited by itself
the server died, why
quince crashed
the model crashed
my request failed
my request got an error 500
i get an internal server error
the answer never came
where are warnings shown
does quince write a log
is there a log file
how do i see the messages of the server
can i watch the server output
how do i diagnose a problem
how do i find the cause of a failure
what did the server say
it stopped with an error
what does the error mean
loading a model failed
something is broken here
""")
more("load", """
how do i have the model ready before the first question
can i get the model into memory beforehand
i want no delay at the first question
how do i avoid the wait at the first message
does a model load when i first use it
do i need to load models by hand
is loading automatic
which subcommand puts a model in ram
how do i make a model resident
how do i keep a model warm
load qwen
load it now
bring the model up
""")
more("unload", """
how do i get a model out of the way
how do i release the ram a model uses
my ram is full of models
i need my ram for something else
how do i give memory back to the system
can i drop all models from memory
how do i empty the memory
the model sits in memory, how do i get it out
how do i put a model to sleep
how do i free up ram without stopping the server
how do i close a model
which subcommand frees ram
how do i remove a model from memory but keep the file
remove the model from ram
stop using a model
i am done with the model, free the memory
unload everything at once
""")
more("max_loaded", """
i have lots of ram and want two models in it
how do i have two models ready at once
why is my first model thrown out
can more than one model stay loaded
how many models stay in memory
which setting controls how many models stay loaded
i want to switch between two models without waiting
raise the number of models in memory
what is the default number of loaded models
can i keep both models loaded
""")
more("lru", """
why does my other model vanish when i load a new one
my model was thrown out of memory
what decides which model is thrown out
does loading a second model unload the first
does the first model stay when i use a second
who decides which model has to go
will a model that is answering be unloaded
is a model unloaded in the middle of an answer
""")
more("first_slow", """
why did the first question take so long
it takes a while until the first answer comes
after the start the first reply is slow, why
the second answer is fast but the first was slow
why is there a delay when i begin
is the slow start normal
""")
more("run", """
how do i use the model i imported
how do i get to chat with user.x
i want to test my new model
now i have a model, how do i talk to it
let me chat with another model
which command starts a chat with a certain model
how do i use a certain model in the terminal
how do i open a conversation with my model
try out a model
how do i start my model
start a model
launch a model
execute a model
how do i make my model answer
""")
more("oneshot", """
how do i ask one thing and get back to my shell
i want the answer in a shell script
can i feed a file to the model
how do i send the contents of a file to a model
can i use quince in a pipeline
can i do cat file and pipe it to quince
how do i ask without entering the chat
is there a batch mode
how do i use it from cron
can i run a prompt and exit
echo a question into quince
""")
more("chat", """
how do i simply start talking
i just want to chat
the easiest way to chat please
where do i type my questions
how do i get a chat window in the terminal
how do i begin a conversation with the default model
can i just chat
open the chat
let me chat
is there a command for chatting
how do i continue chatting with the model from last time
""")
more("leave", """
how do i end our conversation
how do i get back to my prompt
how do i get back to the command line
the chat will not close
how do i shut the chat
how do i say goodbye to the chat program
what do i type to end the chat
what do i press to leave the chat
/bye does not work
ctrl-c does not end the chat
i typed exit but nothing happens
""")
more("interrupt", """
it writes and writes, how do i make it stop
can i cut it off
how do i stop a long reply in the terminal
the model rambles, how do i stop it
how can i break off the answer
does ctrl-c kill the chat program
if i press ctrl-c in the chat, does it quit
how do i halt the output
stop writing
""")
more("clear", """
i want to talk about something else, how do i start clean
how do i begin a new topic
can i delete the chat history
how do i empty the conversation
how do i make it forget our talk
which command resets the chat
erase what we said
new chat
""")
more("system", """
how do i tell the model to be short
can i give you a character
how do i make it answer like a pirate
where do i tell the model who it is
how can i instruct the model for the whole chat
how do i set instructions for the chat
""")
more("stats", """
how do i see the tokens per second
how can i find out the speed
where is the speed shown
how do i benchmark my model
does the chat show statistics
""")
more("version", """
how new is my quince
how do i tell which release i use
what is the version number
how recent is this build
do i have the newest quince
show the version
""")
more("help", """
i do not know the commands
i am lost, which commands exist
where are the commands explained
give me a list of what i can type in the terminal
how do i learn more about a command
how do i see all options
is there documentation i can read offline
what are the subcommands
show me the manual
where can i look up the commands
how do i use the quince command
what commands does the cli offer
""")
more("json", """
i want to process the list in a script
how do i get output that a program can read
can the output be json
is the output available for scripts
can i parse the status
how do i use jq with quince
""")
more("cli_remote", """
my server is on port 8080, how do i tell quince list
quince status looks at the wrong server
how do i use quince run with a server elsewhere
how do i give the cli another port
which variable tells the cli where the server is
""")
more("auto_start", """
i typed quince run but the server was off
will quince run fail without a server
is it enough to type quince run
do i need two terminals
does quince chat bring up the server
is the server started for me
must i launch the server by hand before chatting
""")
more("programs", """
what is the child process for
why are there several processes
which binary is the server
what is the name of the server program
what runs in the background
what are the executables called
which binaries are installed
why does each model have its own process
""")
more("install", """
how do i get quince to work on my computer
what are the steps to install
how do i compile it from source
how do i build the program
i downloaded the source, what now
which build tools are needed
how do i get it up and running from the repository
is there a script that does everything
what do i run to build and start it
does it install the packages it needs
i have a fresh debian, how do i install quince
""")
more("platform", """
i use windows, can i have quince
can mac users use it
does it run on my macbook
is it made for linux only
does ubuntu work
which linux is best for quince
is it available for windows 10
what do i need to run it
does it run on a phone
can i run it on my android phone
is there an app for iphone
""")
more("licence", """
may my company use it
can i change the source
can i look at the code
where is the code from, who are the authors
can i put quince into my product
is it proprietary
is it really open source
what are the terms of use
may i give it to friends
""")
more("cost", """
is there a charge
do they want money
will i get a bill
does it come for nothing
is it a paid product
what is the catch, is it free
is there a limit before i must pay
do answers cost money
are there any fees
how much is quince
free or paid
""")
more("account", """
can i start without signing up
do they want my email
must i create a user
is a sign up required
do i have to log in somewhere
is there a registration form
""")
more("offline", """
i am on a train without wifi, does it work
does it phone a server on the internet
where are answers computed
where is the computing done
is a remote server involved
does the ai run on my machine
is my own computer doing the work
does it need to be connected
can i pull the network cable
will it work in a cabin without internet
is it local or in the cloud
does it use some online service
""")
more("privacy", """
do you report what i type
is anything uploaded
do my texts stay here
do my words stay on this machine
is somebody listening
does the maker see my chats
can my employer read my chats
is what i write kept secret
does it collect statistics
does it call home
are my documents sent away
who gets my data
is it safe to enter personal data
can i enter passwords or secrets
does anything go to the internet
does quince gather information about me
can hackers read my prompts over the internet
will my questions be used for training
does openai see my prompts
""")
more("who", """
with whom do i have the honour
whom am i speaking with
what should i know about you
say who you are
are you the starter model
are you quince
are you quince-starter
what is the small model that comes with quince
which model answers me
which model do i get by default
which ai is answering
what do you call yourself
what are you exactly
are you a big model
is there a model included
is a model included
does quince come with a model
does a model ship with quince
what model is in the box
what is the model called that is already there
""")
more("trained", """
what did they train you with
where did your training text come from
which texts did you read
did someone write your answers
who is your author
how did they make you
were you downloaded from somewhere
is your training data public
are you made from another model
how were you created
""")
more("size", """
how many million parameters
are you a 7b model
how much do you weigh
how large is the starter model
what kind of network are you
what is your parameter count
are you small
how many billion parameters do you have
""")
more("cando", """
what are you capable of
what sort of things do you know
what could i ask you
give me ideas what to ask
what is your field
what are your talents
what do you know well
in what way can you be useful
which subjects do you know
what do you have to offer
what does the starter model know
""")
more("limits", """
you seem not very clever, why
why did you answer wrong
why was that answer wrong
your answers are poor, what can i do
how trustworthy are your answers
do you get things wrong
are you often wrong
can i use you for serious work
are you good enough for work
are you any good
can you do my homework
can you write an email
can you write a program for me
can you speak german
do you understand french
can you explain quantum physics
could you write an essay
why are you not like chatgpt
are you worse than chatgpt
how do i get more intelligent answers
what do i do if your answers are wrong
you are too small for me
is the starter model reliable
is the starter model enough
""")
more("clock", """
can you tell me what day it is
do you know today's date
can you see the time
is it late
what is the hour
which day do we have today
will there be snow
should i take an umbrella
what is going on in the world
who is the president now
who won the last election
what is the stock price of apple
what is the exchange rate today
is my train late
what is on tv tonight
how hot is it outside
can you check the weather
what does the forecast say
are you able to browse the web
can you visit a web page
can you go online
do you get news
do you know current events
what happened in the news
""")
more("max_tokens", """
how do i limit how much it writes
my answers end in mid sentence
the reply just ends
the text stops suddenly
how do i get the whole answer
how do i set the maximum number of tokens
can i make replies shorter over the api
which field limits the reply
what does max tokens mean
""")
more("temperature", """
how do i make it more creative
how do i make it less random
why does it always say the same
what is a temperature of 0
what is the effect of a high temperature
what does a low temperature do
how do i get a different answer each time
what controls randomness
can i make the output reproducible
""")
more("context", """
how much does it remember of our chat
what is the maximum length of a conversation
why does it forget the start of a long chat
how long may the input be
what is a context window in a model
how many words can it keep in mind
my text is too long for the model
it says the prompt is too long
what limits how much it remembers
""")
more("not_found", """
it does not recognise the model name
the name i typed is not accepted
my request says the model does not exist
no such model
unknown model
the api says that there is no such model
quince run says the model is unknown
what is the right spelling of the model
i imported it but it is not found
why does it not know user.x
error 404 model
what do i do about model not found
""")
more("oom", """
my computer has only 8 gb
my laptop has little ram
the machine swaps when the model loads
it got killed because of memory
the process was killed, out of memory
the model takes more ram than i have
will a 7b model fit in my ram
how large may a model be
which model fits in 4 gb
how do i lower the memory use
can i run it on an old computer with little memory
cannot allocate memory
loading says that memory is too small
""")
more("slow", """
i get one word per second
the model crawls on my laptop
how do i get it to answer faster
it is so slow that i give up
can it be made quicker
why does it need so long to answer
my computer is old and answers are slow
is there a trick to make it faster
how do i increase the tokens per second
what makes a model fast
the fans are loud and it is slow
any tips for more speed
how do i tune the speed
""")
more("unreachable", """
my browser says it cannot connect
my program gets no connection
the openai client says connection error
connection error
the server seems to be off
i get no response from localhost
no response from the server
my script cannot connect to port 13305
the client times out
econnrefused
it cannot find the server
quince list says that it cannot reach the server
the cli says no server
how do i fix connection refused
why is nothing listening on the port
my app does not find quince
the server is gone
i cannot get through to the server
""")
more("quantisation", """
what happens when a model is quantised
is a quantised model worse
why are there so many files of one model
what does 4 bit mean
""")
more("gguf", """
what are these gguf things
i keep reading gguf, what is that
what file type is gguf
gguf?
""")
more("token", """
what counts as a token
what is meant by tokens
how are words and tokens related
tokens?
""")
more("llm", """
what is a chat model
what kind of program is a language model
what is behind an llm
""")
more("missing", """
what is left out in this version
which functions are not there yet
what can this version not do
is everything finished
what features do i have to wait for
""")
TALK_MORE = {k: lines(v) for k, v in dict(
    hello="""
hello you
hello dear
hi model
hi ai
hello bot
hey bot
hi everyone
hey model
good to see you
nice to see you
nice seeing you
it's me
it is me
it's me again
guess who
i have arrived
hello from [germany|france|canada|italy|me]
sending you greetings
a warm hello
greetings and salutations
howdy quince
hiya quince
hi hello
hello, computer
hello, are you awake
are you awake
are you listening
are you ready
ready
let's get started
can i talk to you
may i talk to you
i need someone to talk to
good to be here
""", bye="""
bye now
bye then
ok bye
okay bye
well, goodbye
goodbye for now
i will go now
i'll go now
time to go
it is time to go
i'll be back
i will be back
be right back
brb
see you in a while
see you on monday
till next time
until then
have fun
all the best
best wishes
be well
stay safe
i will leave you now
i am closing the chat
i'll stop here
that is enough
thanks and bye
thank you and goodbye
good bye my friend
so long, friend
leaving now
going offline
logging off
signing off
i am logging out now
""", thanks="""
thank you model
thanks model
thanks bot
thanks quince
thank you my dear
thanks, that is all i wanted
i owe you
i owe you one
you saved my day
you saved me
that is what i needed
that is exactly what i needed
that's what i wanted
that answered my question
that answers my question
this answers it
problem solved
solved
it is solved now
bless you
god bless you
so nice of you
what a help
you are a great help
most kind
thanks for explaining
thank you for explaining
thanks for your time
thanks for the tip
thanks for the hint
good help
""", how_are_you="""
how do you do today
how are you my friend
how have things been
how's your day
how is your evening
how was your day
how are you holding up
how do things stand
how's everything going
how is my favourite model
how's it hanging
how you doing
how u doing
how r u
hru
how are ya
howdy, how are you
are things good
are you doing fine
how is your health
are you healthy
you doing ok
everything alright
is all well
what is happening
what's happening
how is the mood
tell me how you are
tell me how you feel
""", praise="""
you are my favourite
you are adorable
you are helpful
you are so good
you are really good
you are really clever
you are the greatest
you are fabulous
you are incredible
you are intelligent
you are a star
you are a hero
you are a genius
you are gold
you are fun
you are polite
you are wise
you are better than i thought
you are doing a great job
you got it right
you were right
that is right, well done
smart answer
clever answer
good thinking
nicely done
nicely said
well said
love it
i love your jokes
what a clever model
what a nice model
what a good bot
quince is lovely
quince rocks
best model ever
amazing work
brilliant
genius
10 out of 10
five stars
""", insult="""
you are not smart
you are not good
you are not clever
you are so stupid
you are so dumb
you are really bad
you are the worst
you are pathetic
you are a liar
you are a failure
you are hopeless
you are trash
you are garbage
you are a fool
you are no good
you bore me
you annoy me
you are wasting my time
what a waste of time
this is garbage
this is trash
this is useless
this is stupid
this sucks
it sucks
stop it
stop talking
be silent
silence
that was stupid
that was useless
terrible answer
worst answer ever
what nonsense
that is rubbish
no, wrong
that is a mistake
you are wrong again
wrong again
i am angry with you
you never understand me
i do not believe you
i don't believe you
i don't trust you
""", joke="""
tell us a joke
i feel like a joke
a funny one please
do you have something funny
tell me something hilarious
tell me your best joke
have you any jokes
how about a joke
what about a joke
time for a joke
can i have a joke
may i hear a joke
let us laugh
joke time
do you tell jokes
can you tell jokes
show me your humour
one more joke
""", happy="""
i feel so good
i feel really great
i am very well
i am quite happy
i am over the moon
i am delighted
i am thrilled
i am pleased
i am satisfied
i am enjoying myself
i am having fun
i had a great time
my day was [good|great|fine|nice|wonderful]
it was a good day
i got good news
i found my keys
i found a job
i am getting married
we had a baby
i won the game
my team won
life is fine
i love my life
things are going well
i am fine and you
all is well
all good here
great, and you
very good, thanks
""", sad="""
i am not good
i am so unhappy
i am miserable
i am hurt
i am desperate
i am disappointed in life
i am in a bad mood
i am grumpy
i am sick today
i am feeling down
i am feeling sad
i am feeling lonely
i am having a hard time
i had an accident
i broke my leg
i have pain
i got fired
i lost
my team lost
my boss is mean
i had a fight with my friend
my girlfriend left me
my boyfriend left me
it was a bad day
things are going badly
nothing goes right
no one cares about me
i am homesick
i feel alone
i feel hopeless
i feel tired of life
""", tired="""
i am so sleepy
i am beat
i am done in
i feel exhausted
i feel worn out
i feel sleepy
i worked so hard
i have been working all night
i stayed up all night
i was up all night
my day was long
need sleep
need a nap
i need a nap
i want to sleep
i could sleep now
too tired to think
""", hungry="""
i could eat a horse
i feel like eating
i feel thirsty
i have to eat something
i skipped breakfast
i skipped lunch
what is for lunch
what's for lunch
feed me
give me food
i need a snack
let us eat
let's eat
do you want some cake
would you like some coffee
do you get hungry
""", sorry="""
sorry for shouting
sorry for the confusion
sorry for asking
sorry about the mistake
i am terribly sorry
i am really sorry
please excuse me
excuse my english
my english is bad
i misspoke
i hit the wrong key
ignore that
ignore my last message
never do that again, sorry
i feel sorry
forgive my mistake
please accept my apology
""", ok="""
okay good
okay, i understand
okay, got it
fine then
fine, thanks for now
very well then
good point
fair enough
i get it
now i get it
now i understand
that is nice
that is cool
that is great to hear
that's cool
that's great
that's nice
that is true
that's true
you are correct
so it is
as you say
if you say so
i guess so
i guess
i suppose
probably
certainly
absolutely
definitely
not yet
not today
nothing
nothing else
nothing more
no problem
no worries
it's ok
it is fine
it's fine
don't worry
do not worry
all is clear
works for me
i will try that
i will try it
i'll try that
let me try
let me think
let me see
wait
wait a moment
one moment
just a moment
give me a second
hold on
i am thinking
i will think about it
wonderful to hear
you don't say
no way
seriously
for real
""", feelings="""
can you be sad
can you be happy
can you get angry
can you feel love
can you feel sad
do you know love
do you suffer
do you fear death
are you afraid of death
are you afraid of the dark
do you enjoy this
do you enjoy your work
do you have fun
do you have a favourite colour
do you have a favourite food
do you have a dream
do you have a best friend
do you like cats
do you like dogs
do you like quince
do you like summer
do you like your name
do you like being a model
what do you like
what do you hate
what do you love
who is your best friend
do you care about me
do you think about me
are you my friend
can we be friends
will you be my friend
be my friend
""", live="""
where do you run, at home or in a data centre
where is your place
in which place do you live
what is it like in there
which city are you in
are you in america
are you nearby
where can i find you
where do i find you
where exactly are you
""", confused="""
i did not get that
i didn't get that
i didn't understand
i did not understand
i do not understand you
i don't understand you
i do not understand your answer
what was that
what are you saying
what are you talking about
that was unclear
that is unclear
this is not clear
it is not clear to me
can you be clearer
can you rephrase that
please rephrase
in simple words please
simpler please
i have another question
another question
next question
may i ask something
i want to ask something
i want to ask you something
""").items()}

# A third look at every intent: longer sentences, other situations.
for _name, _block in dict(
    start="""
my computer just booted, what must i type to have quince available
which command do i run every morning to have the server
how is the server brought to life
i closed the terminal, how do i get the server back
the server needs to be on, what do i do
how do i make sure the server starts
i want quince to listen for requests
what is needed to have quince up and running
i want to use quince now
i opened a terminal, what next
""", stop="""
the server is running in my terminal and i want it gone
i want to switch my computer off, how do i end quince
how does one end the program quince serve
what is the correct way to exit the server
how to interrupt the server
i have to free the port, so how do i stop the server
""", address="""
my program must connect to quince, but where
which address belongs in the settings of my app
i need to know on which port the thing answers
in which place on localhost is it
which number is the port by default
without any option, which port is used
what is the port when i change nothing
""", port_change="""
my firewall only allows 8080, how can i make quince use it
i want the server to be at another port than 13305
i have something else on 13305 and want to move quince
is 13305 the only possible port
can it be told to use port 4000
""", import_="""
i have a file named qwen3-4b-q4_k_m.gguf, how do i use it
i have mistral.gguf in my home folder, how do i add it
there is a file model.gguf, how can quince use it
how do i tell quince where my gguf is
what is the syntax of import
what argument does import take
which command do i need after downloading a model in the browser
how can i get a more powerful model into quince
how can i go beyond the starter model
quince only has the tiny model, how do i get a real one
i want to work with a real model
can i have a large model here
how do i get llama onto this server
how can i add qwen to my models
what do i need to do to use my own model
""", delete="""
how would i go about removing an imported model
i am tired of a model and want it gone
is it possible to delete models with a command
what is the quince command for deleting
how can i remove a model that i imported yesterday
the disk is full, can quince delete some models
could quince clean up old models for me
do you have a command that deletes models
will quince delete the model from my disk
how do i delete the file of a model
can i delete a model without touching the file
is there something like ollama rm
is there something like quince rm
does quince have an rm command
how do i permanently remove a model
who removes the file when i no longer need a model
""", unload="""
my memory is full because of a loaded model
how do i make a loaded model go away from memory
a model occupies 8 gb of ram and i need them
how can i give the ram of a model back
can i take a model out of memory without stopping quince
which command is the opposite of load
what is the opposite of quince load
how do i undo a load
""", list="""
how can i see what models quince has
is there a way to look at all models i have
where is my imported model listed
how do i look up what i can chat with
what are the models called that i can use
what models does the server offer
""", status="""
i do not know whether quince is running
how could i see if a model is in memory at the moment
is there a command that tells whether the server is alive
can i see which model the server has loaded
how would i find out that the server is up
""", logs="""
an answer failed and i want to know why
where would i look for the reason of an error
i want to look at what the server wrote
how would i read the server's messages
is there something like a protocol of what happened
""", run="""
i have a model called user.llama, how do i chat with it
how do i talk to a model that is in the list
what do i type to talk with user.qwen
how do i start talking to a certain model
""", oneshot="""
can i pass the question directly on the command line
i want just one answer printed
how do i get an answer printed and nothing else
i want to use a model inside a bash script
""", pull="""
could quince get me a model from the web
how do i make quince load a model from the internet
i am used to ollama pull, what is it here
in which way do new models get onto my disk
can the server download a file
""", api="""
i have code written for the openai api, what must i change
in my chat app i can set a custom openai url, what is it
how can my own software send questions to the model
how do i use quince from another program
can i develop against it like against openai
is there a way to call it from python
""", privacy="""
i am a lawyer, may my texts leave the computer
i do not want anyone to read along
does my text get stored on some server
is there any company that gets my questions
are you sending this to somebody
is my conversation confidential
how private is this
""", offline="""
my village has no internet, can i use quince
if i turn off wifi, does it go on
do the models need to go online
must my computer be connected to something
""", gpu="""
my pc only has integrated graphics, is that enough
what does my graphics card do for quince
will it get faster with an nvidia card
is a cpu enough
can it run on the processor alone
do i need an expensive graphics card
""", slow="""
my answers trickle in
what slows the model down
how do i improve the tokens per second
i have an old laptop and it takes minutes to answer
which model is fast on an old computer
""", oom="""
my laptop has 8 gb of ram and the model does not load
the system runs out of memory when i load a big model
how do i handle too little memory
the kernel killed the model, memory was full
""", not_found="""
quince tells me that there is no model of that name
i asked for gpt-4 and it says not found
i typed the name and it says the model is unknown
where do i see how the model is spelled
""", unreachable="""
i opened the address and nothing happened
my chat app reports that it cannot reach localhost
the page does not load at port 13305
why does curl not get an answer
it worked yesterday but today there is no connection
""", who="""
what is your name please
who is answering me
may i know who you are
which program am i talking with
could you tell me your name
what do they call you
are you some kind of chatgpt
""", limits="""
why do i get wrong answers from you
you told me something wrong, why
what should i do if i need better answers
how far can i trust what you say
are your facts right
can you do difficult maths
could you write python code for me
""", clock="""
what date do we have
could you tell me the current time
is it day or night now
what will the weather be tomorrow
do you know what happened this morning
who is president right now
can you find something on the internet for me
""", max_loaded="""
my machine has 64 gb, can two models stay in memory
how do i let quince keep more models
how do i stop quince from unloading the first model when i use a second
""", data_dir="""
in which folder of my home are quince's files
if i want a backup of quince, which folder is it
where on my machine does quince leave files
""", remote="""
i want to open the server for my living room pc
can the server be used from the network
by default, who can connect
can i reach quince from the internet
""", temperature="""
what number controls how random the answers are
i want the model to be more inventive
i want always the same answer
""", context="""
how many tokens can it take in
what happens in a very long chat
how far back can the model look
""", max_tokens="""
my answer ends abruptly
the answer was cut in the middle of a word
i want at most 50 tokens
how do i bound the output
""", api_key="""
my client refuses an empty key
do i have to generate a key
which credentials do i need
is an authorization header needed
""", cost="""
do i owe anything for using it
is there a price list
must i buy something
""", platform="""
i have a mac, is there a version for me
my office uses windows, can we use quince
which kind of computer do i need
does quince support other systems than linux
""", leave="""
how do i finish chatting
what is the command to get out of the chat
how to quit from quince chat
how to quit from quince run
""", interrupt="""
how can i make the model stop in the middle of its answer
a wrong answer is running, how do i break it off
""", lru="""
i loaded a second model and the first one is gone from memory
how does quince choose what to unload
""", help="""
is there a page that explains all commands
how do i see which commands quince understands
where is everything documented
""", version="""
how can i see which version of quince is on my computer
what is the current version of my installation
""", import_copy="""
is my disk space used twice when i import
when i add a file, is it put somewhere else
does importing change my disk usage
""", import_keep="""
my imported model is on a usb stick, must it stay plugged in
where does quince leave the models i add
in which directory are models saved
""", first_slow="""
the very first message needs half a minute, why
why does it start answering so late the first time
""", auto_start="""
can i use quince run when the server is off
what if i start a chat and no server is there
""", formats="""
which type of file do i need for a model
what kind of model do i have to download
can i take any model from hugging face
what architectures may the file have
""", json="""
how can my script read what quince prints
i need quince list as json
""", stream="""
the text should appear word after word in my app
can the server send the answer in pieces
""", embeddings="""
is there something for vectors
does the embeddings endpoint work
""", ollama="""
my app only speaks the ollama protocol
my tool uses the anthropic api, will it work
""", speech="""
can i have it read to me
can i use it by voice
""", images="""
can it tell me what is on a photo
can i get a picture from it
""", web="""
where do i find the graphical interface
is there a web chat
can i have a page in the browser to chat
""", install="""
what is the first step to get quince built
how does the installation work
i just got the repository, how do i get a running server
""", licence="""
what does the licence allow
is the project open
""", language="""
which programming language did the developers use
is quince a c program
""", account="""
is there something to register
where do i create my user
""", several_servers="""
how do i have two quinces on one machine
my son wants his own server on the same computer
""", chat="""
how can i simply talk to the default model
what is the shortest command to chat
""").items():
    MORE.setdefault(_name.rstrip("_"), []).extend(lines(_block))

# A fourth look, one fact of the product at a time, in the voice of somebody in a hurry, somebody
# careful, and somebody who does not know the words.
for _name, _block in dict(
    what="""
is quince a program that runs ai on my own pc
what's this software about
give a brief description of quince
quince - what is it
what role does quince play on my computer
what does the quince server do all day
summarise quince for me
does quince let me run llms at home
""", language="""
what was used to code quince
is it coded in c
what's the codebase written in
is quince built with rust
name the language of the source
""", licence="""
what are the licensing terms
what's the license
is the licence permissive
is it mit licensed
is it gpl
can i fork it
can i use the source in my own project
""", offline="""
does it work with no network
can i use quince in flight mode
can quince be used without being online
are the models run locally
does inference happen on my machine
is anything computed in the cloud
does the server talk to other servers
""", privacy="""
do prompts get sent to the cloud
does anything leave my machine
is there data collection
are prompts logged by a company
what data does quince collect
does it report back to its makers
can the developers see my chats
does it send crash reports
""", account="""
is signing up required
is there any sign-up
do you need me to create an account
must i give my mail address
""", cost="""
what do i pay
what's the cost
does quince cost anything
are there paid features
is it gratis
do i have to buy a licence
""", platform="""
which distro was it tested with
what os does quince run on
is there windows support
does it support macs
which debian is it tested on
does quince work with fedora
on which operating system can i install quince
""", install="""
how do i go from source code to a running server
how do i build and run from the source tree
which script do i start in the source tree
what does the start script do
what packages does the start script install
how do i set this up from a git checkout
""", tests="""
how can i check that my build is fine
how do i execute the test suite
which command builds and tests everything
how do developers test it
""", start="""
what's the command that runs the server
how do i serve models
which quince command starts the api
how to bring up quince
what do i type to get the server going
how can i make it listen
""", programs="""
what's quinced
what's quince-llm
which program is the server and which is the command line
what are the different programs
is quinced the server
what is the name of the command line program
does each model run in its own process
""", stop="""
what's the way to exit the server
how can the server be stopped
which keys end quince serve
what happens to unfinished answers at shutdown
does ctrl-c quit the server
does the server wait for answers before exiting
how do i send it a stop signal
""", address="""
what's the url
what's the port
at which localhost port is quince
what address do i connect to
on which addresses does it listen by default
which url do i give to clients
where on localhost is the server
is it 13305
""", port_change="""
how to use port 9000
how do i run it on 8081
can i set the port with an environment variable
what env var is for the port
how can i start the server with a custom port
can i put the port in config.json
quince on another port, how
""", port_zero="""
what's special about port 0
how does the server choose a free port
what if i pass 0 as port
can it tell me a free port
""", port_taken="""
what to do if 13305 is in use
port in use error
it won't start because the port is taken
the server won't start, the port is in use
help, the port is occupied
eaddrinuse
""", remote="""
can other machines on my network connect
does it accept outside connections
how do i allow my lan to connect
can i make it listen on my lan address
is it visible on the network
what does it take to reach it from another machine
which flag sets the address
""", data_dir="""
what's the data directory
where does the server store its stuff
where's the data kept
where is quince's data
which flag moves the data directory
can i choose where data is stored
how to set a custom data directory
which environment variable sets the data directory
what's in the data folder
""", config="""
what's config.json for
where does config.json live
can i write the host into a file
how to make options stick
where do i configure quince
""", catalog="""
what's catalog.db
is sqlite used
what is stored in the database
where's the model database
what does quince use sqlite for
""", several_servers="""
can i run a second instance
can i run quince on two ports
running two servers at once, is that possible
how to have independent servers
""", api="""
what's the base url
is it compatible with openai's api
what base url should the openai client have
does the openai sdk work with quince
can i use chatgpt clients with it
how do i point the openai library here
which kind of api does it expose
what api does it speak
how to connect a third-party app
""", endpoints="""
what are the api endpoints
which http endpoints does it serve
what routes are available
show all api paths
""", ep_chat="""
what's the endpoint for chatting
where do i post chat messages
what's the path of chat completions
""", ep_models="""
how to get the model list via http
which get request returns the models
what's the endpoint to list models
""", ep_health="""
what's the health check url
how do i ping the server
how to check via http that it is alive
which url for a health check
""", ep_load="""
how can i load models through http
which post request loads a model
how do i unload over rest
""", stream="""
how to turn streaming on
can responses be streamed
how do i get a streamed response
what parameter do i set for streaming
does the chat endpoint stream
""", api_key="""
which key do i use
is a key required
do clients need a key
what if my client insists on a key
can i put anything as the key
does it check the api key
do i have to provide credentials
""", pull="""
how to download models
can it pull models
does quince have a pull command
can models be downloaded from within quince
is there a way to download a model with quince
can i download models through quince
does it fetch models by itself
quince pull llama
""", delete="""
how to delete a model
how do i remove models
what's the command to delete a model
can quince delete models
how do i remove a model file
how do i remove a model i imported
can i uninstall a model
does quince have a delete command
does quince ever delete my model files
how can disk space be freed
how to free disk space
what do i do to free up disk space
delete qwen
delete user.llama
remove qwen
remove user.x from the list
remove user.mistral from disk
get rid of user.big
remove qwen from my disk
delete llama from the disk please
uninstall qwen
throw away user.old
rm the model
rm user.qwen
""", embeddings="""
how do i get embeddings
can i compute embeddings
does the api offer embeddings
is /v1/embeddings there
""", speech="""
can it do text to speech
does quince do speech
can i transcribe a recording
is audio supported
""", images="""
can it generate images
does quince make pictures
can it handle images
is image input supported
""", web="""
does it have a gui
does quince come with a web interface
is there any web ui
can i open a web page
is there a page i can visit
""", ollama="""
does it speak ollama
is the ollama api supported
is the anthropic api supported
can i use anthropic clients
does the ollama cli work with quince
""", gpu="""
does it use my gpu
can it use the gpu
is a gpu needed
is gpu acceleration supported
does it support nvidia
does quince need a gpu
will quince use my graphics card
""", import_="""
how do i use a gguf i downloaded
how to import a gguf
how to add another model
how do i register a gguf file
how do i get a different model
i want to use another model
how can i use bigger models
got a gguf file, how to use it
how do i add my own gguf
what command imports a file
what do i do to use qwen3 8b
how do i get a smarter model
how to bring in a new model
""", import_copy="""
does import copy the file
does importing copy my model
is the gguf moved on import
will importing use more disk space
""", import_keep="""
may i delete the gguf after import
can i move my model file
where are the models on disk
where does quince put the models
where do the model files live
""", name="""
how to give a model another name
how do i name my import
can i set a custom name for a model
""", formats="""
what model formats work
which architectures work
what models does quince run
does it run qwen3
does it run llama models
does it run safetensors
can i use a gemma model
which file format do models need
is mistral supported
""", quants="""
which quantization types work
what quant formats can it read
can i use q4_k
is q6_k supported
does q5_0 work
which weight formats are supported
""", list="""
how do i see my models
how to list models
what's the command to list models
which models do i have
what models are available
where can i see available models
how do i find out model names
""", status="""
how do i see which model is loaded
how to check whether the server is running
how can i check if quince is up
what's the command to see if the server runs
how do i know what model is loaded
what's loaded right now
is it running
""", logs="""
how to see the logs
where's the log
how do i look at the server's log
what's the command for the logs
where can i find error messages
where can i look for errors
it crashed, what should i look at
""", load="""
how to load a model
how do i load a model ahead of time
what's the command to load a model
can i preload a model
when do models get loaded
""", unload="""
how to unload a model
how do i free memory
how can i free the memory a model uses
what's the command to unload a model
how do i unload everything
how to unload all models
what frees the memory
""", unload_keep="""
does unloading delete the file
does unload remove the file from disk
is the file deleted when i unload
do i lose the file when unloading
""", max_loaded="""
how many models stay loaded
how many models can be in memory at once
can i keep two models loaded
how do i keep more than one model loaded
which option sets how many models stay in memory
""", lru="""
what happens when a second model is loaded
which model gets unloaded first
is a busy model ever unloaded
will a model be unloaded while it's answering
which model is evicted
""", run="""
how to chat with a certain model
how to run a model
how do i use a model in the terminal
what's the command to chat with a model
how do i try my imported model
""", oneshot="""
how do i ask a single question from the shell
how to pipe text into quince
can i use it in scripts
how do i get one answer and quit
how can i pass a prompt on the command line
""", chat="""
how to start a chat
how do i chat in the terminal
what's the command to chat
which model does the chat use by default
chat with the default model, how
""", slash="""
what slash commands are there
what commands work in the terminal chat
what can i type with a slash
""", clear="""
how do i clear the conversation
how to reset the chat
what clears the chat
""", system="""
how do i set a system prompt
how to change the system prompt in the chat
""", leave="""
how do i exit the chat
how to leave the chat
how do i quit the chat
what's the key to leave the chat
""", interrupt="""
how do i stop an answer
how to interrupt the model
what does ctrl-c do during an answer
can i stop the output
""", version="""
how do i find the version
how to see the version
what's my version
""", help="""
where is the man page
how to get help
is there a man page
how do i see the list of commands
what commands are there
how do i open the manual
""", json="""
how to get machine readable output
can i get json from the cli
how do i get json
""", cli_remote="""
how do i use the cli with a different server
how to tell quince which server to talk to
""", auto_start="""
does quince run start the server if it is not running
is the server started automatically
will quince chat start a server
what if the server is not running when i use quince run
""", first_slow="""
why's the first answer slow
why does the first request take long
""", who="""
who're you
what's the model's name
what model is running here
which model comes preinstalled
what model ships with it
what's quince-starter
are you a language model
are you an ai model
""", trained="""
what's your training data
were you trained from scratch
who trained the starter model
how did you get trained
""", size="""
what's your size
how many params
how many parameters does the starter have
how small is the starter model
""", limits="""
why are you wrong so often
why is the starter model so bad
the answers are bad, what can i do
your answer is wrong, what now
can the starter model write code
how do i get good answers
is the starter model smart
why are the answers so poor
""", cando="""
what does the starter model know
what are you able to do
what can i use you for
what can you answer
""", clock="""
what's today's date
what's the weather
can you tell me the news
do you know the date
are you online
do you have internet
can you look things up
what time do we have
""", slow="""
how can i speed it up
it's slow
why's it so slow
answers are slow, what can i do
how to make it faster
my model is slow, any tips
""", oom="""
not enough memory, what now
what to do when memory runs out
i don't have enough ram
the model doesn't fit into memory
out of memory, what can i do
""", not_found="""
what if a model is not found
model not found, what do i do
it can't find my model
why does it say model not found
""", unreachable="""
the server isn't reachable
my client can't reach the server
can't connect to quince
what to do if the server is not reachable
what if i can't connect
""", max_tokens="""
what's max_tokens
how to limit answer length
what sets the maximum length of answers
""", temperature="""
what's temperature
what does a temperature of 0 do
how to control randomness
""", context="""
what's the context length
what's a context window
what does the context length tell me
""", gguf="""
what's a gguf file
what's gguf
""", quantisation="""
what's quantization
what does quantised mean
""", token="""
what's a token
""", env="""
what environment variables are there
which env vars does it read
""", missing="""
what's not supported yet
which features does this version lack
what's missing in this version
""").items():
    MORE.setdefault(_name.rstrip("_"), []).extend(lines(_block))

# Small talk by the feeling of a word: one list of adjectives teaches what many lines would.
GOOD = """great|good|nice|cool|awesome|amazing|wonderful|fantastic|smart|clever|brilliant|lovely|perfect|excellent|super|sweet|kind|funny
charming|impressive|fabulous|marvellous|terrific|splendid|superb|outstanding|incredible|delightful|friendly|helpful|gentle|wise|polite
cute|neat|beautiful|handsome|magnificent|phenomenal|remarkable|adorable|talented|bright|witty|useful|reliable""".replace("\n", "|")
BAD = """bad|stupid|dumb|useless|terrible|awful|boring|horrible|annoying|silly|lame|ridiculous|worthless|rubbish|pathetic|hopeless|nasty
ugly|rude|mean|unhelpful|crazy|lousy|dreadful|mad|foolish|ignorant|clueless|disappointing|poor|weak|crappy|incompetent|a mess|a disaster
an idiot|a fool|a joke|no good|not good|not helpful|not clever|not smart|broken""".replace("\n", "|")
WELL = """happy|glad|fine|well|good|great|cheerful|excited|proud|relaxed|delighted|thrilled|content|joyful|optimistic|satisfied|calm|pleased
wonderful|fantastic|lucky|in love|enthusiastic|better|healthy again|over the moon|blessed|grateful for today""".replace("\n", "|")
ILL = """sad|unhappy|lonely|depressed|sick|ill|down|upset|angry|afraid|scared|worried|stressed|nervous|miserable|desperate|heartbroken
anxious|frustrated|hurt|homesick|gloomy|hopeless|terrible|awful|horrible|unwell|in pain|lost|ashamed|jealous|bitter|devastated
melancholic|overwhelmed|furious""".replace("\n", "|")
VERY = "|very|so|really|pretty|quite|just|simply|truly|absolutely|totally|extremely"
for _name, _block in dict(
    praise=f"""
you are [{VERY}] [{GOOD}]
you're [{VERY}] [{GOOD}]
what a [{GOOD}] [model|answer|bot|helper|program|reply]
that is [{VERY}] [{GOOD}] of you
that was a [{VERY}] [{GOOD}] answer
your answer is [{VERY}] [{GOOD}]
your answers are [{VERY}] [{GOOD}]
quince is [{VERY}] [{GOOD}]
this model is [{VERY}] [{GOOD}]
i think you are [{VERY}] [{GOOD}]
i find you [{VERY}] [{GOOD}]
you seem [{VERY}] [{GOOD}]
""", insult=f"""
you are [{VERY}] [{BAD}]
you're [{VERY}] [{BAD}]
what a [bad|stupid|terrible|useless|silly|dumb|horrible|awful|poor|lousy] [model|answer|bot|program|reply]
that was a [bad|stupid|terrible|useless|silly|dumb|horrible|awful|poor|lousy] answer
your answer is [{VERY}] [{BAD}]
your answers are [{VERY}] [{BAD}]
quince is [{VERY}] [{BAD}]
this model is [{VERY}] [{BAD}]
i think you are [{VERY}] [{BAD}]
i find you [{VERY}] [{BAD}]
you seem [{VERY}] [{BAD}]
""", happy=f"""
i am [{VERY}] [{WELL}]
i'm [{VERY}] [{WELL}]
i feel [{VERY}] [{WELL}]
i am feeling [{VERY}] [{WELL}]
today i am [{WELL}]
today i feel [{WELL}]
i am [{WELL}] today
""", sad=f"""
i am [{VERY}] [{ILL}]
i'm [{VERY}] [{ILL}]
i feel [{VERY}] [{ILL}]
i am feeling [{VERY}] [{ILL}]
today i am [{ILL}]
today i feel [{ILL}]
i am [{ILL}] today
""", tired="""
i am [very|so|really|pretty|quite|just|totally|extremely|too] [tired|sleepy|exhausted|weary|worn out|drained]
i feel [very|so|really|pretty|quite] [tired|sleepy|exhausted|weary|drained]
i am getting [tired|sleepy]
""", hungry="""
i am [very|so|really|pretty|quite|a bit|a little] [hungry|thirsty|peckish]
i feel [very|so|really] [hungry|thirsty]
i am getting [hungry|thirsty]
""", bored="""
i am [very|so|really|pretty|quite|a bit|totally] bored
i feel [very|so|really] bored
i am getting bored
""").items():
    TALK_MORE.setdefault(_name, []).extend(lines(_block) * 4)

# Models called by a name of their own. "> " marks a verb phrase for the sentence frames.
for _name, _block in dict(
    delete="""
> {dele} {mname}
> {dele} {mname} from [my|the] {disk}
> {dele} {mname} again
> {dele} [everything|all models|all files|all my models|all ggufs]
> {dele} [unused|old|some|a few|useless|big] {mods}
> {dele} a {mod} from [my|the] {disk}
> {dele} a gguf
> {free} [some|] space on [my|the] {disk}
> make quince forget {mname}
> unregister {mname}
> take {mname} off the list
> remove an entry from the [list|catalog|model list]
{dele} {mname}
{dele} {mname} please
{dele} {mname} for me
please {dele} {mname}
quince delete {mname}
quince remove {mname}
quince rm {mname}
rm {mname}
rm -rf {mname}
my {disk} is [full|nearly full|almost full|too small|overflowing]
the {disk} is [full|nearly full|almost full]
i need [more|some] [disk space|space on my {disk}|storage]
i want to {dele} [a model|the model|a gguf] i [imported|tried|do not use|added] [yesterday|last week|]
{dele} everything
{dele} all my files
{dele} all models
""", unload="""
> unload {mname}
> take {mname} out of {mem}
> {dele} {mname} from {mem}
> {dele} a model from {mem}
> {dele} the model from {mem}
> free the {mem} that {mname} uses
unload {mname}
{dele} {mname} from {mem}
remove {mname} from ram
get {mname} out of {mem}
{mname} is still in {mem}
{mname} uses too much {mem}
""", load="""
> load {mname}
> load {mname} [now|in advance|into {mem}]
> put {mname} into {mem}
> have {mname} ready
load {mname}
load {mname} into {mem}
""", run="""
> run {mname}
> chat with {mname}
> talk to {mname}
> use {mname} in the {term}
> start {mname}
> try {mname}
> ask {mname} something
run {mname}
chat with {mname}
i want to talk to {mname}
let me try {mname}
""", import_="""
> import {mname}
> add {mname}
> add {mname} to quince
> use my {mname} gguf
> register {mname}
> use a gguf from [my|the] {disk}
> make {mname} known to quince
i have {mname} as a gguf file
i have {mname} on my {disk}
i downloaded {mname}, what now
i got {mname} from a website, how do i use it
""", pull="""
> download {mname}
> fetch {mname} [from the internet|from hugging face|]
> get {mname} from [the internet|hugging face|the web]
> pull {mname}
download {mname}
pull {mname}
quince pull {mname}
can quince download {mname}
where can i download {mname}
fetch {mname} for me
""", status="""
> see whether {mname} is loaded
is {mname} loaded
is {mname} in {mem}
is {mname} running
is {mname} active
""", list="""
> see whether i have {mname}
do i have {mname}
is {mname} installed
is {mname} there
is {mname} in the list
does quince know {mname}
""", formats="""
does quince support {mname}
can quince run {mname}
does {mname} work with quince
is {mname} supported
will {mname} work
""", slow="""
{mname} is {slow}
why is {mname} {slow}
> make {mname} faster
> speed up {mname}
""", not_found="""
{mname} is not found
quince cannot find {mname}
it says that {mname} does not exist
model {mname} not found
unknown model {mname}
why can't quince find {mname}
""", oom="""
{mname} does not fit in {mem}
there is not enough {mem} for {mname}
{mname} needs too much {mem}
not enough memory for {mname}
how much {mem} does {mname} need
""", name="""
> rename {mname}
> give {mname} another name
> call my model {mname}
""", unload_keep="""
does unloading {mname} delete it
is {mname} deleted when i unload it
""", import_copy="""
is {mname} copied when i import it
""").items():
    MORE.setdefault(_name.rstrip("_"), []).extend(lines(_block))

for _name, _block in dict(
    hello="""
[hello|hi|hey|good day|greetings] [mister|my dear|old friend|little model|tiny model|machine|sir|madam|folks|team|people|guys]
[hello|hi|hey] from [spain|london|paris|tokyo|my desk|here|a new user|the office|far away]
[hello|hi|hey] [how nice|long time no see|what a surprise|glad to see you|so here you are|there you are]
[hello|hi|hey], [i am new|i am new here|it is my first time|first time here|let us begin|shall we start|are you there|anyone home]
long time no see
may i come in
here we go
off we go
what a nice place
oh hey
oh hello
why hello there
well hi
hi-ya
good to meet you again
we meet again
so we meet again
are you on
anybody awake
wakey wakey
come in
over
roger
can we begin
shall we begin
let us talk
let's have a chat
let's have a talk
care to chat
got a minute
do you have a minute
do you have time
do you have a moment
are you busy
are you free now
are you available
""", bye="""
[bye|goodbye|see you|so long|farewell|cheerio|ta ta|toodles] [mate|pal|buddy|dear|model|machine|everyone|folks|till tomorrow|until tomorrow|and good luck|old friend]
i [have to|must|need to|should|will|am going to] [go|leave|run|stop|quit|log off|work now|get going|be off|go home|cook dinner|catch a train|catch my bus] [now|soon|]
[see|meet|catch|speak to|talk to|write to] you [later|soon|tomorrow|next week|next time|another day|on friday|in the morning|again soon]
my [break|lunch break|time|day|work] is over
work calls
duty calls
dinner is ready
my train is here
the bus is coming
i am heading out
heading home
i am out of here
time to leave
i shall leave
let us end this
we can stop now
enough chatting
that will do
that is everything
nothing more for today
have a [pleasant|wonderful|beautiful|peaceful|great] [afternoon|evening|day|weekend|time|trip|holiday]
enjoy your [day|evening|weekend]
""", thanks="""
[thanks|thank you|many thanks|thx|cheers|much obliged] [pal|mate|buddy|dear|model|a million|indeed|ever so much|for the quick answer|for the reply|for being there|for the good answer|for listening|for the joke|for the story|for all of it]
i am [so|very|really|truly] [thankful|grateful|obliged]
you have my thanks
my thanks to you
with thanks
thankful
grateful
how helpful
how nice of you
that is very nice of you
that was kind
that was very kind of you
you have helped me [a lot|so much|very much|greatly]
your help is [great|appreciated|welcome]
i could not have done it without you
you are a lifesaver
lifesaver
now i know, thanks
now it is clear, thank you
it helped
this helped
it was useful
that was useful
useful, thanks
that is just what i was looking for
you answered my question
""", how_are_you="""
how [are|is] [you|it going|life|everything|work|business|the family|the day|things] [my dear|my friend|old friend|little model|mate|pal|then|at the moment|at your end|over there|so far|tonight]
how is your [day|morning|evening|week|mood|life|work|night] [going|so far|been|]
how are you [keeping|getting on|getting along|coping|managing|this evening|this afternoon|tonight|this week|lately]
are you [happy and well|in good health|in good shape|in form|having fun|enjoying the day|enjoying yourself|all set]
is everything [in order|good|alright|well|going well] [over there|with you|at your end|]
what have you been [doing|up to]
what are you up to [now|today|these days]
anything new
what is cooking
what's cooking
what's going down
what's the news with you
how do you find yourself today
did you have a good [day|night|week|weekend|morning]
""", sorry="""
[oh|oops|ah|ouch|uh oh], [sorry|my mistake|my fault|i am sorry|my bad]
[i am|i'm] [so|very|truly|really|terribly|deeply] sorry [about it|for this|for everything|]
please [forgive|excuse|pardon] [me|my words|my typing|my error|the mistake|the disturbance]
it was my [fault|mistake|error]
i was [wrong|mistaken|impolite|unfair|too harsh|not nice to you]
i [regret|take back] [it|that|what i said]
i did not want to [hurt you|insult you|be rude|offend you]
that was [rude|mean|unfair] of me
i should not have said that
my apologies for [that|the delay|the mistake|being rude|the noise]
""", feelings="""
are you [capable of love|able to feel|able to think for yourself|a living thing|a living being|emotional|moody|sensitive|hungry for power|proud of yourself|ashamed|nervous|worried|tired of me|annoyed|offended|ticklish|curious]
do you [feel anything|feel joy|feel fear|have moods|have hopes|have fears|have wishes|have a favourite song|have a favourite film|enjoy our chat|enjoy talking|like it here|like jokes|like me|like your job|ever cry|ever laugh|get angry|get sad|get lonely|hate being asked|believe in love|want a friend|want a holiday|need sleep|need love|need rest|dream at night|fear anything]
does it hurt
does that hurt you
did that hurt your feelings
did i hurt you
did i hurt your feelings
how does it feel to be a [model|machine|program|computer]
what is it like to be a [model|machine|program|computer]
what makes you [sad|laugh|angry|cry|proud]
what are you afraid of
what are your [dreams|hopes|wishes|fears|feelings]
who do you love
do you love somebody
""", live="""
what is your [location|hometown|country|town]
which [town|place|city|country|street] do you live in
in which [country|town|house|place] are you
are you far away
are you close to me
are you here with me
do you live nearby
do you have a house
are you on a server far away
where is your brain
where are you located
where are you situated
where do you reside
where is the place you live
""", age="""
what's your date of birth
when is your birthday party
are you a child
are you a baby
are you a grown up
are you older than [100|my grandmother|ten|twenty]
how many birthdays did you have
in which year were you born
tell me how old you are
since when do you exist
how long have you existed
how long have you been around
""", gender="""
are you [a female|a male|a gentleman|a she|feminine|masculine|non-binary]
boy or girl
man or woman
are you more like a man or a woman
do i say he or she
should i call you he or she
do you have a sex
""", user_name="""
can you tell me who i am
do you recognise me
do you recall my name
do you recall our talk
what did i say yesterday
what did i tell you last week
do you remember the last time
have we talked before
have we spoken before
did we talk before
did i tell you my name
do you know something about me
what do you know about me
what do you remember of me
tell me something about me
how tall am i
what is my age
what is my favourite food
what is my address
where was i born
who is my best friend
what is my dog called
""", ok="""
[ok|okay|alright|right|well|good|fine|sure], [good|great|nice|i see|that is good|understood|got it|noted|will do|makes sense|that works]
[that|this|it] is [clear|good to hear|fine with me|understandable|alright|ok|acceptable|logical|reasonable|enough for now]
[noted|roger that|copy that|affirmative|negative|granted|deal|done|next|continue|go on|carry on|proceed|very well|as expected|i knew it|i thought so|i knew that|not bad|could be|might be|possibly|who knows|hard to say]
let me [try that|check that|think about it|have a look]
i will [check|have a look|remember that|keep that in mind|do that]
what a pity
too bad
that is a pity
how funny
that made me laugh
lmao
rofl
xd
:)
:-)
;)
""", joke="""
[tell|give|show|write|share|say] [me|us] [a|your best|a new|a silly|a clean|a nerdy|a programmer|another] joke
[i want|i'd like|i need|let me have|let us hear|may i have|could i get] [a joke|some humour|something funny|a good laugh|to laugh]
do you [know|have|remember] [a joke|something funny|funny stories|a good one|a riddle]
make me [smile|giggle|chuckle]
brighten my day
lighten the mood
a bit of fun please
something to laugh about
be humorous
tell a funny story
another one
another joke please
tell me one more joke
""", story="""
[tell|give|write|read|make up|invent|spin] [me|us] [a|another|a tiny|a nice|an exciting|a fairy|one more] [story|tale]
[i want|i'd like|let me have|may i have|could i hear] [a story|a fairy tale|a tale|a bedtime story]
story time
a story about [a cat|a robot|a king|love|dragons|the sea]
write about a [dragon|princess|wizard|robot]
once upon a time
tell me about a brave knight
""", poem="""
[tell|give|write|read|make up|compose] [me|us] [a|another|a tiny|a nice|a short|one more|a love] [poem|verse|rhyme]
[i want|i'd like|let me have|may i have] [a poem|a verse|some lines in rhyme|a rhyme]
a poem about [love|spring|the sea|cats|the moon|quince]
write a haiku
write a limerick
be a poet
are you a poet
rhyme something
""", bored="""
there is nothing to do
i do not know what to do with myself
what can we do
what could we do
what shall we do now
let us do something fun
something fun please
do you want to play a game
do you know a game
any suggestions
have you any ideas
give me a suggestion
keep me company
time passes slowly
it is so dull
what a dull day
i need some fun
""", confused="""
[i|sorry, i] [do not|don't|did not|didn't|cannot|can't] [understand|follow|get] [you|that|this|it|a word|your answer|what you mean|what you say]
what [do|did] you mean [by this|with that|there|exactly|]
that [was|is] [confusing|unclear|not clear|too complicated|hard to understand|over my head]
could you [explain|rephrase|clarify|reword] [that|this|it]
can you make that [clearer|simpler|easier]
in other words
simpler words please
come again, i am confused
too complicated
please be clearer
""", nice_meet="""
[nice|good|great|lovely|wonderful] to [meet|know|see] you [at last|finally|here|my friend|little model|today]
[i am|i'm] [very|so|really|] [glad|happy|pleased|delighted|honoured] to [meet|know] you
it is [an honour|my pleasure|a joy|a real pleasure] to meet you
what a pleasure to meet you
happy to make your acquaintance
""", meaning="""
what is life all about
what is the reason for our existence
why does anything exist
what is the secret of life
what is the purpose of everything
why do people live
tell me the sense of life
what is our purpose
does life have a meaning
""", advice="""
what should i do with my life
what should i study
which job should i take
how do i stop smoking
how do i get healthy
is this mole dangerous
can you diagnose me
can i sue my neighbour
how do i save taxes
which stock will rise
should i divorce
how do i make her love me
give me dating advice
""", human="""
can you [smell|hear|taste|walk|run|jump|swim|fly|cook|drive|move|touch me|shake hands]
do you have [arms|hair|a nose|a mouth|ears|skin|bones|blood|clothes|shoes|a voice box|muscles]
are you [tall|strong|made of metal|a toy|a cyborg|an android|a ghost|an alien|a wizard|god|a genie|made of flesh]
will machines rule us
do you plan to destroy us
are you a danger to us
""", sing="""
[sing|hum|play|perform|whistle] [me|us|for me|] [a song|a melody|something|a tune|a lullaby|the anthem|a christmas song]
do you know a song
do you like singing
can you play the piano
play the guitar
can you rap
rap for me
give me a beat
let's sing
""").items():
    TALK_MORE.setdefault(_name, []).extend(lines(_block))
