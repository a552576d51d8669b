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
port, method, path, body, headers = json.loads(sys.argv[1])
c = http.client.HTTPConnection("127.0.0.1", port, timeout=float(sys.argv[2]))
c.request(method, path, body, headers)
r = c.getresponse()
print(json.dumps([r.status, dict(r.getheaders()), r.read().decode(errors="replace")]))
"""


class Answer:
    def __init__(self, status, headers, text):
        self.status, self.headers, self.body = status, headers, text.encode()

    @property
    def json(self):
        return json.loads(self.body)


def as_other_user(server, method, path, body=None, headers=None, uid=OTHER_UID):
    """What a program of another user gets for a request."""
    headers = dict(headers or {})
    if body is not None and not isinstance(body, str):
        body = json.dumps(body)
        headers.setdefault("Content-Type", "application/json")
    done = subprocess.run(["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "/usr/bin/python3", "-c",
                           PROGRAM, json.dumps([server.port, method, path, body, headers]), str(PATIENCE_S)],
                          capture_output=True, text=True, timeout=2 * PATIENCE_S, check=True, cwd="/")
    return Answer(*json.loads(done.stdout))
