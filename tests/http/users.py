"""Requests of another user of this machine, which only root can send."""
import json
import os
import shutil
import subprocess

import pytest
from conftest import PATIENCE_S

OTHER_UID = 65534
needs_another_user = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"),
                                        reason="only root can become another user, with setpriv")

PROGRAM = """
import http.client, json, sys
port, patience, requests = json.loads(sys.stdin.read())
answers = []
for method, path, body, headers in requests:
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=patience)
    c.request(method, path, body, headers)
    r = c.getresponse()
    endless = r.status == 200 and ("/logs/stream" in path or path.startswith("/internal/chats/events"))
    answers.append([r.status, dict(r.getheaders()), "" if endless else r.read().decode(errors="replace")])
    c.close()
print(json.dumps(answers))
"""


class Answer:
    def __init__(self, status, headers, text):
        self.status, self.headers, self.body = status, headers, text.encode()

    @property
    def json(self):
        return json.loads(self.body)


def all_as_other_user(server, requests, uid=OTHER_UID):
    """What a program of another user gets for requests (method, path, body, headers), one after the other. Of an
    answer without an end only the head is read."""
    said = []
    for method, path, body, headers in requests:
        headers = dict(headers or {})
        if body is not None and not isinstance(body, str):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        said.append([method, path, body, headers])
    done = subprocess.run(["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "/usr/bin/python3", "-c",
                           PROGRAM], input=json.dumps([server.port, PATIENCE_S, said]), capture_output=True, text=True,
                          timeout=4 * PATIENCE_S, check=True, cwd="/")
    return [Answer(*a) for a in json.loads(done.stdout)]


def as_other_user(server, method, path, body=None, headers=None, uid=OTHER_UID):
    return all_as_other_user(server, [(method, path, body, headers)], uid)[0]
