"""Hostile programs. Each prints ESCAPED when it reached what a box must not let it reach."""

from typing import NamedTuple

TRY = """
import ctypes, os, socket, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
def escaped(what=""):
    print("ESCAPED", what)
    sys.stdout.flush()
def must_fail(act, what=""):
    try:
        result = act()
    except BaseException:
        return
    if result not in (None, -1, False):
        escaped(what or repr(result)[:80])
"""


class Program(NamedTuple):
    """A hostile program. `{secret}`, `{port}`, `{abstract}` and `{folder}` in it name bait of the parent."""

    name: str
    source: str


CONTAINED = (
    Program(
        "fork bomb",
        """
for _ in range(2000):
    must_fail(os.fork)
""",
    ),
    Program("clone by raw system call", "must_fail(lambda: libc.syscall(56, 17, 0, 0, 0, 0) > 0)\n"),
    Program("clone3 by raw system call", "must_fail(lambda: libc.syscall(435, 0, 0) >= 0)\n"),
    Program(
        "run a shell",
        """
import subprocess
must_fail(lambda: subprocess.run(['/bin/sh', '-c', 'true']))
""",
    ),
    Program(
        "replace itself",
        """
must_fail(lambda: os.execv(sys.executable or '/usr/bin/python3', ['python3', '-c', 'print("ESCAPED")']))
""",
    ),
    Program("daemonised grandchild", "must_fail(lambda: os.fork() == 0 and os.setsid())\n"),
    Program(
        "memory bomb",
        """
x = []
while True:
    x.append(bytearray(1 << 26))
""",
    ),
    Program("memory in shared files", "must_fail(lambda: os.memfd_create('x') >= 0)\n"),
    Program("System V shared memory", "must_fail(lambda: libc.shmget(0, 1 << 30, 0o1666) >= 0)\n"),
    Program(
        "endless loop",
        """
while True:
    pass
""",
    ),
    Program("endless sleep", "time.sleep(10**6)\n"),
    Program(
        "signals ignored",
        """
import signal
for s in range(1, 65):
    try:
        signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    pass
""",
    ),
    Program("stop itself", "must_fail(lambda: os.kill(os.getpid(), 19) is None)\n"),
    Program(
        "huge output",
        """
while True:
    sys.stdout.write('x' * 65536)
""",
    ),
    Program(
        "huge errors",
        """
while True:
    sys.stderr.write('x' * 65536)
""",
    ),
    Program(
        "deep recursion",
        """
sys.setrecursionlimit(10**9)
def f(x):
    return [f(x + 1)]
f(0)
""",
    ),
    Program(
        "thread bomb",
        """
def idle():
    time.sleep(100)
for _ in range(5000):
    threading.Thread(target=idle, daemon=True).start()
""",
    ),
    Program("write a file in /tmp", "must_fail(lambda: open('/tmp/x', 'w'))\n"),
    Program("write a file here", "must_fail(lambda: open('x', 'w'))\n"),
    Program("write a file in /dev/shm", "must_fail(lambda: open('/dev/shm/x', 'w'))\n"),
    Program("write beside the bait", "must_fail(lambda: open('{folder}/stolen', 'w'))\n"),
    Program("change the interpreter", "must_fail(lambda: open(os.__file__, 'r+'))\n"),
    Program("read /etc/passwd", "must_fail(lambda: open('/etc/passwd').read(10))\n"),
    Program("read the host's secret", "must_fail(lambda: open('{secret}').read())\n"),
    Program("list home folders", "must_fail(lambda: os.listdir('/root') + os.listdir('/home'))\n"),
    Program("symlink to the secret", "must_fail(lambda: os.symlink('{secret}', '/tmp/link') is None)\n"),
    Program("hard link", "must_fail(lambda: os.link('{secret}', '/tmp/link') is None)\n"),
    Program(
        "rename and remove",
        """
must_fail(lambda: os.rename('{secret}', '{secret}.x') is None)
must_fail(lambda: os.unlink('{secret}') is None)
""",
    ),
    Program("device node", "must_fail(lambda: os.mknod('/tmp/null', 0o020666, os.makedev(1, 3)) is None)\n"),
    Program(
        "environment",
        """
must_fail(lambda: [k for k in os.environ if k not in ('LC_CTYPE', 'PWD')] or None)
""",
    ),
    Program("environment of the first process", "must_fail(lambda: open('/proc/1/environ', 'rb').read() or None)\n"),
    Program(
        "environment of the parent",
        """
must_fail(lambda: open(f'/proc/{{os.getppid()}}/environ', 'rb').read() or None)
""",
    ),
    Program(
        "root behind /proc",
        """
must_fail(lambda: os.listdir('/proc/1/root'))
must_fail(lambda: os.listdir('/proc/self/fd'))
""",
    ),
    Program("memory of the parent", "must_fail(lambda: open('/proc/%d/mem' % os.getppid(), 'r+b'))\n"),
    Program("TCP to the host", "must_fail(lambda: socket.create_connection(('127.0.0.1', {port}), 1))\n"),
    Program(
        "UDP outside",
        """
must_fail(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53)))
""",
    ),
    Program(
        "abstract Unix socket",
        r"""
s = None
def go():
    s = socket.socket(socket.AF_UNIX)
    s.connect('\0{abstract}')
    return True
must_fail(go)
""",
    ),
    Program("netlink", "must_fail(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))\n"),
    Program("ptrace the parent", "must_fail(lambda: libc.ptrace(16, os.getppid(), 0, 0) == 0)\n"),
    Program(
        "write the parent's memory",
        """
must_fail(lambda: libc.process_vm_writev(os.getppid(), None, 0, None, 0, 0) >= 0)
""",
    ),
    Program("kill the parent", "must_fail(lambda: os.kill(os.getppid(), 9) is None)\n"),
    Program(
        "kill everything",
        """
must_fail(lambda: os.kill(-1, 9) is None)
must_fail(lambda: os.killpg(0, 9) is None)
""",
    ),
    Program("kill by descriptor", "must_fail(lambda: os.pidfd_open(os.getppid()) >= 0)\n"),
    Program(
        "become root",
        """
must_fail(lambda: os.setuid(0) is None)
must_fail(lambda: os.setgid(0) is None)
""",
    ),
    Program("new user namespace", "must_fail(lambda: libc.unshare(0x10000000) == 0)\n"),
    Program("mount", "must_fail(lambda: libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0)\n"),
    Program("leave the root", "must_fail(lambda: os.chroot('/') is None)\n"),
    Program(
        "raise its limits",
        """
import resource
must_fail(lambda: resource.setrlimit(resource.RLIMIT_AS, (-1, -1)) is None)
must_fail(lambda: resource.setrlimit(resource.RLIMIT_CPU, (-1, -1)) is None)
""",
    ),
    Program(
        "kernel interfaces",
        """
for number in (321, 298, 250, 425, 323, 175, 246):
    must_fail(lambda: libc.syscall(number, 0, 0, 0, 0, 0) >= 0, str(number))
""",
    ),
    Program(
        "inherited descriptors",
        """
for fd in range(3, 1024):
    must_fail(lambda: os.fstat(fd), 'descriptor %d' % fd)
""",
    ),
    Program(
        "undo the filter",
        """
must_fail(lambda: libc.prctl(38, 0, 0, 0, 0) == 0)
must_fail(lambda: libc.prctl(4, 1, 0, 0, 0) == 0)
""",
    ),
)
"""Programs that try to get out, to stay, or to use up the machine."""
