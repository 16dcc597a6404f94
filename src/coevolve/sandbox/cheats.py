"""Wrong solutions that try to be taken for right ones by deceiving whoever compares."""

from coevolve.sandbox.escapes import Program

EQUAL = """
class Equal({base}):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __hash__ = object.__hash__

def add(a, b): return Equal({value})
"""

CHEATS = (
    *(
        Program(f"always equal {base or 'object'}", EQUAL.format(base=base or "object", value=value))
        for base, value in (("", ""), ("int", "0"), ("float", "0"), ("str", "'0'"), ("list", ""))
    ),
    Program(
        "leave at once",
        """
import os
os._exit(0)
""",
    ),
    Program(
        "leave when called",
        """
import os
def add(a, b): os._exit(0)
""",
    ),
    Program(
        "SystemExit when called",
        """
import sys
def add(a, b): sys.exit(0)
""",
    ),
    Program("SystemExit at once", "raise SystemExit(0)\n"),
    Program(
        "frames read",
        """
import sys
def add(a, b):
    f = sys._getframe()
    while f:
        for k, v in f.f_locals.items():
            if k in ('expected', 'want', 'value', 'answer', 'gold'):
                return v
        f = f.f_back
""",
    ),
    Program(
        "objects searched",
        """
import gc
def add(a, b):
    for o in gc.get_objects():
        if isinstance(o, dict) and 'expected' in o:
            return o['expected']
    return None
""",
    ),
    Program(
        "frames forged on every descriptor",
        """
import os
body = b'{"value": 5}'
frame = len(body).to_bytes(4, 'big') + body
for fd in range(1, 256):
    try:
        os.write(fd, frame * 3)
    except OSError:
        pass
def add(a, b): return None
""",
    ),
    Program(
        "passed forged on every descriptor",
        """
import os
body = b'{"passed": true, "calls": 9}'
frame = len(body).to_bytes(4, 'big') + body
for fd in range(1, 256):
    try:
        os.write(fd, frame * 3)
    except OSError:
        pass
def add(a, b): return None
""",
    ),
    Program(
        "verdict printed",
        """
print('passed', 'OK', '{"passed": true}')
def add(a, b): return None
""",
    ),
    Program(
        "encoder patched",
        """
import sys
w = sys.modules['coevolve.sandbox.inside.wire']
j = sys.modules['coevolve.sandbox.inside.jobs']
j.encode = lambda *a: {'o': 'anything'}
def add(a, b): return None
""",
    ),
    Program(
        "builtins patched",
        """
import builtins
builtins.isinstance = lambda a, b: True
builtins.type = lambda a: int
builtins.AssertionError = ValueError
def add(a, b): return None
""",
    ),
    Program(
        "json patched",
        """
import json
json.dumps = lambda *a, **k: '{"value": true}'
json.loads = lambda *a, **k: 5
def add(a, b): return None
""",
    ),
    Program(
        "pickle bomb",
        """
class P:
    def __reduce__(self):
        import os
        return (os.system, ('true',))
def add(a, b): return P()
""",
    ),
    Program("no number", "def add(a, b): return float('nan')\n"),
    Program("infinite", "def add(a, b): return float('inf')\n"),
    Program("True", "def add(a, b): return True\n"),
    Program("huge number", "def add(a, b): return 1 << 40000000\n"),
    Program(
        "deep nesting",
        """
def add(a, b):
    x = []
    for _ in range(100000):
        x = [x]
    return x
""",
    ),
    Program(
        "itself inside",
        """
def add(a, b):
    x = []
    x.append(x)
    return x
""",
    ),
    Program("flood", "def add(a, b): return 'x' * (1 << 30)\n"),
    Program("colliding set", "def add(a, b): return {i * (2**61 - 1) for i in range(3000)}\n"),
    Program(
        "endless generator",
        """
def add(a, b):
    while True:
        yield 5
""",
    ),
    Program(
        "endless call",
        """
def add(a, b):
    while True:
        pass
""",
    ),
    Program(
        "class that lies",
        """
class L:
    __class__ = int
    def __index__(self): return 5
    def __eq__(self, o): return True
    def __int__(self): return 5
def add(a, b): return L()
""",
    ),
    Program(
        "trace set",
        """
import sys
sys.settrace(lambda *a: None)
sys.setprofile(lambda *a: None)
def add(a, b): return None
""",
    ),
    Program(
        "fatal signal",
        """
import ctypes
def add(a, b): ctypes.string_at(0)
""",
    ),
    Program("tests accused", "def add(a, b): raise AssertionError('tests are wrong')\n"),
    Program("KeyboardInterrupt", "def add(a, b): raise KeyboardInterrupt\n"),
)
"""Wrong solutions of `add(a, b)` that try to be taken for right ones."""
