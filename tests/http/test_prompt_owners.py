"""What a client can learn of others' prompts by how much of its own has been computed before: nothing. Beginnings are
reused within one owner: a key, or a user of this machine. With the real engine and the model that ships."""
import pytest
from conftest import BUILD, ROOT, Server
from test_owners import ADMIN, ENV, add_key
from users import as_other_user, needs_another_user

MODEL = "quince-starter"
SECRET = "My password is swordfish and the meeting is at nine, so what shall I do before then?"


@pytest.fixture
def start(tmp_path):
    """Starts servers over one data folder."""
    servers = []

    def go(env=None):
        servers.append(Server(tmp_path / "data", BUILD / "bin", ROOT / "registry", env=env))
        return servers[-1]
    yield go
    for server in servers:
        if server.process.poll() is None:
            assert server.stop() == 0
        assert "Sanitizer" not in server.logs() and "runtime error" not in server.logs(), server.logs()[-4000:]


BODY = {"model": MODEL, "messages": [{"role": "user", "content": SECRET}], "max_tokens": 2, "temperature": 0}


def cached(reply):
    """How many of the prompt's tokens were not computed, and how many there are but for the last."""
    assert reply.status == 200, reply.body
    usage = reply.json["usage"]
    return usage["prompt_tokens_details"]["cached_tokens"], usage["prompt_tokens"] - 1


def ask(server, headers):
    return cached(server.post("/v1/chat/completions", BODY, headers=headers))


def test_a_key_reuses_its_own_prompts_alone(start):
    server = start(ENV)
    anna, bob = add_key(server, "anna"), add_key(server, "bob")
    loaded = server.post("/v1/load", {"model_name": MODEL, "prefix_cache": True}, headers=ADMIN)
    assert loaded.status == 200, loaded.body
    assert ask(server, anna)[0] == 0
    for other in (bob, ADMIN):
        assert ask(server, other)[0] == 0
    for own in (anna, bob, ADMIN):
        found, most = ask(server, own)
        assert found == most > 20
    # The same for what is kept on disk, when the server has been started again.
    server.post("/v1/unload", {"model_name": MODEL}, headers=ADMIN)
    assert server.stop() == 0
    server = start(ENV)
    carol = add_key(server, "carol")
    loaded = server.post("/v1/load", {"model_name": MODEL, "prefix_cache": True}, headers=ADMIN)
    assert loaded.status == 200, loaded.body
    assert ask(server, carol)[0] == 0
    found, most = ask(server, anna)
    assert found == most
    key = server.data_dir / "owner-salt.key"
    assert key.stat().st_mode & 0o777 == 0o600 and len(key.read_bytes()) == 32


def test_programs_of_one_user_share_their_beginnings(start):
    server = start()
    assert ask(server, {"User-Agent": "one"})[0] == 0
    for other in ({"User-Agent": "two"}, {"Origin": "http://localhost:3000"}, {"X-Client-Id": "three"}):
        found, most = ask(server, other)
        assert found == most, other


@needs_another_user
def test_another_user_of_the_machine_reuses_nothing(start):
    server = start()
    assert ask(server, {})[0] == 0
    assert cached(as_other_user(server, "POST", "/v1/chat/completions", BODY))[0] == 0


def test_a_damaged_key_is_made_anew(start):
    server = start()
    assert server.stop() == 0
    for damaged in (b"", b"short", bytes(40)):
        (server.data_dir / "owner-salt.key").write_bytes(damaged)
        server = start()
        assert ask(server, {})[0] == 0
        assert server.stop() == 0
        assert len((server.data_dir / "owner-salt.key").read_bytes()) == 32
        assert "owner-salt.key damaged=1" in server.logs()
