"""What a model's process cannot do: it is tried from within a child, as an attacker in control of it would."""
import pytest


@pytest.mark.parametrize("call", ["exec", "connect", "fork"])
def test_forbidden_calls_stop_the_process(house, server, call):
    """The client hears that the process was stopped, the log says what it tried, others live on."""
    other = house.model(server, "other")
    model = house.model(server, "breaking-out", break_out=call)
    reply = server.chat(model)
    if call == "fork" and b"broke out" in reply.body:
        pytest.skip("the address sanitizer needs processes of its own")
    assert reply.status == 502, reply.body
    assert "signal 31" in reply.json["error"]["message"]
    name = {"exec": "execve", "connect": "socket", "fork": "clone"}[call]
    assert f"sandbox: this process made a forbidden system call and is killed: {name}" in server.logs()
    assert server.chat(other).status == 200


def test_other_files_cannot_be_read(house, server, tmp_path):
    secret = tmp_path / "elsewhere" / "id_ed25519"
    secret.parent.mkdir()
    secret.write_text("a key")
    reply = server.chat(house.model(server, "reader", break_out=str(secret)))
    assert f"open {secret}: Permission denied" in reply.json["error"]["message"]
    reply = server.chat(house.model(server, "reader-of-passwords", break_out="/etc/passwd"))
    assert "open /etc/passwd: Permission denied" in reply.json["error"]["message"]
    database = server.data_dir / "catalog.db"
    assert database.exists()
    reply = server.chat(house.model(server, "reader-of-the-catalog", break_out=str(database)))
    assert f"open {database}: Permission denied" in reply.json["error"]["message"]


def test_large_requests_need_no_files(house, server):
    """More than a megabyte goes to a temporary file elsewhere; a child may make none."""
    assert server.chat(house.model(server, "plain"), "x" * 3_000_000).status == 200


def test_memory_is_taken_from_models_first(house, server):
    assert server.chat(house.model(server, "plain")).status == 200
    score = int(open(f"/proc/{server.process.pid}/oom_score_adj").read())
    for pid in server.children():
        assert int(open(f"/proc/{pid}/oom_score_adj").read()) >= max(score, 500)
        status = open(f"/proc/{pid}/status").read()
        assert "NoNewPrivs:\t1" in status and "Seccomp:\t2" in status
