"""System-call filters as classic BPF programs, built without a native library (seccomp(2), linux/seccomp.h).

Both filters are allow-lists: what is not named fails with EPERM. `launcher_filter` is what the process that forks
jobs may do; `job_filter`, loaded by each job before untrusted code, has no fork, exec, kill, ptrace, socket, mount or
keyring, and opens files for reading only.
"""

import errno
import platform
import struct
from typing import NamedTuple

LOAD, JUMP_EQUAL, JUMP_ANY_SET, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, DENY, KILL = 0x7FFF0000, 0x00050000, 0x80000000
NUMBER_AT, ARCH_AT, ARGUMENTS_AT = 0, 4, 16

CLONE_THREAD = 0x00010000
NOT_READ_ONLY = 0o3 | 0o100 | 0o1000  # O_ACCMODE | O_CREAT | O_TRUNC


class Machine(NamedTuple):
    """One processor architecture: its audit number and its system-call numbers."""

    audit: int
    calls: dict[str, int]


def _numbers(table: str) -> dict[str, int]:
    return {name: int(number) for name, number in (pair.split("=") for pair in table.split())}


MACHINES = {
    "x86_64": Machine(
        0xC000003E,
        _numbers("""
            read=0 write=1 open=2 close=3 stat=4 fstat=5 lstat=6 poll=7 lseek=8 mmap=9 mprotect=10 munmap=11 brk=12
            rt_sigaction=13 rt_sigprocmask=14 rt_sigreturn=15 ioctl=16 pread64=17 readv=19 writev=20 access=21
            pipe=22 select=23 sched_yield=24 mremap=25 madvise=28 dup=32 dup2=33 nanosleep=35 getitimer=36 alarm=37
            setitimer=38 getpid=39 sendto=44 recvfrom=45 sendmsg=46 recvmsg=47 getsockname=51 socketpair=53
            getsockopt=55 clone=56 fork=57 vfork=58 execve=59 exit=60 wait4=61 kill=62 uname=63 fcntl=72 getcwd=79
            readlink=89 gettimeofday=96 getrlimit=97 getrusage=98 sysinfo=99 times=100 getuid=102 getgid=104
            geteuid=107 getegid=108 getppid=110 sigaltstack=131 prctl=157 arch_prctl=158 setrlimit=160 gettid=186
            time=201 futex=202 sched_getaffinity=204 getdents64=217 set_tid_address=218 restart_syscall=219
            clock_gettime=228 clock_getres=229 clock_nanosleep=230 exit_group=231 epoll_wait=232 epoll_ctl=233
            waitid=247 openat=257 newfstatat=262 readlinkat=267 faccessat=269 pselect6=270 ppoll=271
            set_robust_list=273 get_robust_list=274 epoll_pwait=281 epoll_create1=291 dup3=292 pipe2=293
            prlimit64=302 getcpu=309 seccomp=317 getrandom=318 membarrier=324 statx=332 rseq=334 clone3=435
            close_range=436 faccessat2=439 landlock_create_ruleset=444 landlock_add_rule=445
            landlock_restrict_self=446
        """),
    ),
    "aarch64": Machine(
        0xC00000B7,
        _numbers("""
            getcwd=17 epoll_create1=20 epoll_ctl=21 epoll_pwait=22 dup=23 dup3=24 fcntl=25 ioctl=29 faccessat=48
            openat=56 close=57 pipe2=59 getdents64=61 lseek=62 read=63 write=64 readv=65 writev=66 pread64=67
            pselect6=72 ppoll=73 readlinkat=78 newfstatat=79 fstat=80 exit=93 exit_group=94 waitid=95
            set_tid_address=96 futex=98 set_robust_list=99 get_robust_list=100 nanosleep=101 getitimer=102
            setitimer=103 clock_gettime=113 clock_getres=114 clock_nanosleep=115 sched_getaffinity=123
            sched_yield=124 restart_syscall=128 kill=129 sigaltstack=132 rt_sigaction=134 rt_sigprocmask=135
            rt_sigreturn=139 times=153 uname=160 getrlimit=163 setrlimit=164 getrusage=165 prctl=167 getcpu=168
            gettimeofday=169 getpid=172 getppid=173 getuid=174 geteuid=175 getgid=176 getegid=177 gettid=178
            sysinfo=179 socketpair=199 getsockname=204 sendto=206 recvfrom=207 getsockopt=209 sendmsg=211
            recvmsg=212 brk=214 munmap=215 mremap=216 clone=220 execve=221 mmap=222 mprotect=226 madvise=233
            wait4=260 prlimit64=261 seccomp=277 getrandom=278 membarrier=283 statx=291 rseq=293 clone3=435
            close_range=436 faccessat2=439 landlock_create_ruleset=444 landlock_add_rule=445
            landlock_restrict_self=446
        """),
    ),
}

LAUNCHER_ONLY = frozenset(
    """
    open fork vfork execve wait4 waitid kill prctl seccomp setrlimit sendto recvfrom sendmsg recvmsg socketpair
    getsockname getsockopt close_range landlock_create_ruleset landlock_add_rule landlock_restrict_self
    """.split()
)
"""Calls of the launcher that a job never has. `open` has no place for the read-only test; `openat` replaces it."""


def supported() -> bool:
    """Whether filters can be built for this processor."""
    return platform.machine() in MACHINES


def launcher_filter() -> bytes:
    """The filter of the process that forks jobs; children inherit it."""
    machine = MACHINES[platform.machine()]
    return _assemble(machine, sorted(set(machine.calls.values())), {})


def job_filter(threads: bool = True) -> bytes:
    """The filter of a job: compute, read, write to what is open, and nothing else."""
    machine = MACHINES[platform.machine()]
    special = {"openat", "clone", "clone3", "prlimit64"}
    plain = sorted(number for name, number in machine.calls.items() if name not in LAUNCHER_ONLY | special)
    flags = {machine.calls["openat"]: _unless_any(2, NOT_READ_ONLY)}
    if threads:
        flags[machine.calls["clone"]] = _only_if_any(0, CLONE_THREAD)
    flags[machine.calls["clone3"]] = [_statement(RETURN, DENY | errno.ENOSYS)]
    flags[machine.calls["prlimit64"]] = _only_if_null(2)
    return _assemble(machine, plain, flags)


def _assemble(machine: Machine, allowed: list[int], special: dict[int, list[bytes]]) -> bytes:
    program = [
        _statement(LOAD, ARCH_AT),
        _jump(JUMP_EQUAL, machine.audit, 1, 0),
        _statement(RETURN, KILL),
        _statement(LOAD, NUMBER_AT),
    ]
    for number, block in special.items():
        program += [_jump(JUMP_EQUAL, number, 0, len(block)), *block]
    for number in allowed:
        program += [_jump(JUMP_EQUAL, number, 0, 1), _statement(RETURN, ALLOW)]
    program.append(_statement(RETURN, DENY | errno.EPERM))
    return b"".join(program)


def _unless_any(argument: int, bits: int) -> list[bytes]:
    return [
        _statement(LOAD, ARGUMENTS_AT + 8 * argument),
        _jump(JUMP_ANY_SET, bits, 1, 0),
        _statement(RETURN, ALLOW),
        _statement(RETURN, DENY | errno.EPERM),
    ]


def _only_if_any(argument: int, bits: int) -> list[bytes]:
    return [
        _statement(LOAD, ARGUMENTS_AT + 8 * argument),
        _jump(JUMP_ANY_SET, bits, 0, 1),
        _statement(RETURN, ALLOW),
        _statement(RETURN, DENY | errno.EPERM),
    ]


def _only_if_null(argument: int) -> list[bytes]:
    low, high = ARGUMENTS_AT + 8 * argument, ARGUMENTS_AT + 8 * argument + 4
    return [
        _statement(LOAD, low),
        _jump(JUMP_EQUAL, 0, 0, 3),
        _statement(LOAD, high),
        _jump(JUMP_EQUAL, 0, 0, 1),
        _statement(RETURN, ALLOW),
        _statement(RETURN, DENY | errno.EPERM),
    ]


def _statement(code: int, value: int) -> bytes:
    return struct.pack("<HBBI", code, 0, 0, value)


def _jump(code: int, value: int, if_true: int, if_false: int) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)
