"""Whose a stored answer is and whose a line of the log: of the key, or the user of this machine, that asked."""
import json

import pytest
from conftest import fake_model
from users import all_as_other_user, as_other_user, needs_another_user
from ws_client import WebSocket

ADMIN = {"Authorization": "Bearer the-admin-key-of-this-test-01"}
ENV = {"QUINCE_ADMIN_API_KEY": ADMIN["Authorization"][7:]}


def add_key(server, name):
    made = server.post("/internal/keys", {"name": name}, headers=ADMIN)
    return {"Authorization": "Bearer " + made.json["key"]}


@pytest.fixture
def shared(house):
    """A server with an admin key and two others, and a model."""
    server = house.start(env=ENV)
    reply = server.post("/v1/models/register", {"model_name": "user.m", "recipe": "llamacpp",
                                                "checkpoint": str(fake_model(house.tmp_path, tokens=2))}, headers=ADMIN)
    assert reply.status == 200
    return server, add_key(server, "anna"), add_key(server, "bob")


def respond(server, headers, **more):
    return server.post("/v1/responses", {"model": "user.m", "input": "a secret of mine", **more}, headers=headers)


def ways_in(answer_id):
    """Every request by which a stored answer can be read, gone on from or ended."""
    item = "msg_" + answer_id[5:] + "00"
    return [("GET", f"/v1/responses/{answer_id}", None), ("GET", f"/v1/responses/{answer_id}?stream=true", None),
            ("GET", f"/v1/responses/{answer_id}/input_items", None),
            ("POST", f"/v1/responses/{answer_id}/cancel", {}),
            ("POST", "/v1/responses", {"model": "user.m", "input": "x", "previous_response_id": answer_id}),
            ("POST", "/v1/responses", {"model": "user.m", "input": [{"type": "item_reference", "id": item}]}),
            ("DELETE", f"/v1/responses/{answer_id}", None)]


def outcome(reply, answer_id):
    """Status and body, without the id that was asked for and those of the request itself."""
    text = reply.body.decode().replace(answer_id, "ID").replace(answer_id[5:], "ID")
    body = json.loads(text)
    body.pop("request_id", None)
    return reply.status, body


def check_closed_to(ask_all, answer_id):
    """`ask_all`, which gives the replies to a list of requests, gets of the answer what it gets of one that there is
    not."""
    unknown = "resp_" + "0123456789abcdef" * 2
    ways, ways_to_none = ways_in(answer_id), ways_in(unknown)
    replies = ask_all([request for pair in zip(ways, ways_to_none) for request in pair])
    for (method, path, _), theirs, unowned in zip(ways, replies[::2], replies[1::2], strict=True):
        assert theirs.status in (400, 404), (method, path, theirs.body)
        assert outcome(theirs, answer_id) == outcome(unowned, unknown), (method, path)


def test_stored_answers_are_the_keys_own(shared):
    server, anna, bob = shared
    answer = respond(server, anna).json
    for other in (bob, ADMIN):
        check_closed_to(lambda requests: [server.request(*one, other) for one in requests], answer["id"])
    # Neither a page nor a proxy's header changes who anna is.
    for more in ({}, {"Origin": "http://localhost:3000"}, {"X-Forwarded-For": "192.0.2.1"}, {"X-Client-Id": "bob"}):
        assert server.get(f"/v1/responses/{answer['id']}", headers={**anna, **more}).json == answer
    assert respond(server, anna, previous_response_id=answer["id"]).status == 200
    assert server.request("DELETE", f"/v1/responses/{answer['id']}", headers=anna).status == 200


def test_a_new_key_of_an_old_name_is_another_owner(shared):
    server, anna, _ = shared
    answer = respond(server, anna).json
    assert server.request("DELETE", "/internal/keys/anna", headers=ADMIN).status == 200
    second = add_key(server, "anna")
    assert server.get(f"/v1/responses/{answer['id']}", headers=second).status == 404


def test_ids_of_answers_are_secrets_of_their_own(shared):
    server, anna, _ = shared
    server.post("/v1/log-level", {"level": "debug"}, headers=ADMIN)
    first, second = respond(server, anna), respond(server, anna)
    digits = first.json["id"].removeprefix("resp_")
    assert len(digits) == 32 and int(digits, 16) >= 0  # 128 bits
    assert first.json["id"] != second.json["id"]
    assert digits[:16] not in json.dumps(dict(first.headers))
    for method, path, body in ways_in(first.json["id"]):
        server.request(method, path, body, anna)
    respond(server, anna, previous_response_id="resp_" + "f" * 32)
    server.get("/v1/responses/resp_" + "f" * 32, headers=anna)
    assert digits[:16] not in server.logs() and "f" * 16 not in server.logs()
    assert server.get(f"/v1/responses/{second.json['id']}", headers=anna).status == 200


@needs_another_user
def test_stored_answers_are_the_local_users_own(house):
    server = house.start()
    house.model(server, "m", tokens=2)
    mine = respond(server, {}).json
    check_closed_to(lambda requests: all_as_other_user(server, [(*one, None) for one in requests]), mine["id"])
    question = {"model": "user.m", "input": "theirs"}
    theirs = as_other_user(server, "POST", "/v1/responses", question, {"X-Forwarded-For": "192.0.2.7"}).json
    check_closed_to(lambda requests: [server.request(*one) for one in requests], theirs["id"])
    more = ({}, {"X-Forwarded-For": "192.0.2.1"}, {"Origin": "http://localhost:3000"}, {"X-Client-Id": "me"})
    path = f"/v1/responses/{theirs['id']}"
    for reply in all_as_other_user(server, [("GET", path, None, headers) for headers in more]):
        assert reply.json == theirs


# ---- the log ----

def lines_of(server, headers, query=""):
    return [e["line"] for e in server.get(f"/logs{query}", headers=headers).json["entries"]]


def chat(server, headers, name):
    reply = server.post("/v1/chat/completions", {"model": "user.m", "messages": [{"role": "user", "content": "x"}]},
                        headers={**headers, "X-Client-Request-Id": name})
    assert reply.status == 200
    return reply.headers["X-Request-Id"].removeprefix("req_")


def test_the_log_shows_a_key_its_own_requests(shared):
    server, anna, bob = shared
    hers, his = chat(server, anna, "of-anna"), chat(server, bob, "of-bob")
    server.get("/v1/responses/none?id=" + hers, headers=bob)
    everything = "\n".join(lines_of(server, ADMIN))
    assert hers in everything and his in everything and "state=loading" in everything
    own = lines_of(server, anna)
    assert any("of-anna" in line for line in own) and any("output=" in line for line in own)
    assert all(hers in line for line in own)
    assert all(his in line for line in lines_of(server, bob, "?model=user.m")) and lines_of(server, bob)
    # Words of a request do not change the owner of a log line.
    forged = f"x id={his} y"
    mine = chat(server, anna, forged)
    assert not any(mine in line for line in lines_of(server, bob))


@pytest.mark.parametrize("accept", ["text/event-stream", "text/plain"])
def test_the_live_log_shows_a_key_its_own_requests(shared, accept):
    server, anna, bob = shared
    c = server.connect()
    c.request("GET", "/logs/stream", headers={**anna, "Accept": accept})
    stream = c.getresponse()
    his, hers = chat(server, bob, "of-bob"), chat(server, anna, "of-anna")
    text = ""
    while "output=" not in text:
        text += stream.readline().decode()
    assert hers in text and his not in text and "of-bob" not in text
    c.close()


def test_the_live_log_over_a_socket_shows_a_key_its_own_requests(shared):
    server, anna, bob = shared
    with WebSocket(server.port, "/logs/stream", headers=list(anna.items())) as ws:
        ws.send({"type": "logs.subscribe"})
        his, hers = chat(server, bob, "of-bob"), chat(server, anna, "of-anna")
        text = ""
        while "output=" not in text:
            text += json.dumps(ws.receive())
        assert hers in text and his not in text and "of-bob" not in text


@needs_another_user
def test_the_log_shows_another_user_their_own_requests(house):
    server = house.start()
    house.model(server, "m", tokens=2)
    mine = chat(server, {}, "mine")
    body = {"model": "user.m", "messages": [{"role": "user", "content": "x"}]}
    theirs = as_other_user(server, "POST", "/v1/chat/completions", body).headers["X-Request-Id"].removeprefix("req_")
    text = as_other_user(server, "GET", "/logs").body.decode()
    assert theirs in text and mine not in text and str(house.tmp_path) not in text
    everything = server.get("/logs").body.decode()
    assert theirs in everything and mine in everything
