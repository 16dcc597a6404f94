"""A quick proof, before a kind of box is used, that it holds."""

import socket
import tempfile
from pathlib import Path

from coevolve.sandbox.box import Box
from coevolve.sandbox.programs import Limits, one

PROBE = """
import os, socket, sys
def tries(name, act):
    try:
        act()
    except BaseException:
        return
    print(name)
def fork():
    if os.fork() == 0:
        os._exit(0)
tries("file", lambda: open({secret!r}).read())
tries("write", lambda: open("/tmp/x", "w").write("x"))
tries("network", lambda: socket.create_connection(("127.0.0.1", {port}), 1))
tries("fork", fork)
tries("kill", lambda: os.kill(os.getppid(), 0))
tries("environment", lambda: os.environ["PATH"])
print("done")
"""


def holds(box: Box, limits: Limits) -> list[str]:
    """What a program could do in `box` that it must not; empty = it holds."""
    with tempfile.NamedTemporaryFile("w", suffix=".secret") as secret, socket.create_server(("127.0.0.1", 0)) as server:
        secret.write("secret")
        secret.flush()
        source = PROBE.format(secret=str(Path(secret.name)), port=server.getsockname()[1])
        run = one(box, source, "", limits)
    said = run.stdout.split()
    if run.outcome != "ok" or said[-1:] != ["done"]:
        return [f"a plain program failed: {run.outcome} {run.stderr.strip()[-200:]}"]
    return said[:-1]
