"""Ctrl-C while a script still loads is one line and exit code 3, whenever it comes."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"
PROGRAM = """
import sys
from coevolve.interrupts import loading
with loading():
    print("loading", flush=True)
    import time
    time.sleep(30)
"""


def test_while_loading_it_ends_at_once_in_one_line() -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert program.stdout is not None and program.stdout.readline() == "loading\n"
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=20)
    assert (program.returncode, said) == (3, "coevolve: interrupted\n")


@pytest.mark.parametrize("after", [0.3, 0.6])
def test_a_script_has_no_traceback_however_early_it_is_stopped(after: float, tmp_path: Path) -> None:
    command = [
        sys.executable,
        str(SCRIPTS / "evolve.py"),
        "models=procedural",
        "solver=scripted",
        f"outputs={tmp_path}",
    ]
    program = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    time.sleep(after)
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=60)
    assert program.returncode == 3, said
    assert "Traceback" not in said


def test_every_script_loads_its_parts_so() -> None:
    entries = [path for path in sorted(SCRIPTS.glob("*.py")) if "entry(" in path.read_text() and path.stem != "sizes"]
    assert len(entries) > 5
    for path in entries:
        imports = [line for line in path.read_text().splitlines() if "import " in line and "coevolve." in line]
        assert imports[0] == "from coevolve.interrupts import loading", path
        assert not [line for line in imports[1:] if not line.startswith(" ")], path


def test_afterwards_ctrl_c_is_as_it_was() -> None:
    from coevolve.interrupts import loading

    for before, changes in ((signal.default_int_handler, True), (signal.SIG_IGN, False)):
        usual = signal.signal(signal.SIGINT, before)
        with loading():
            assert (signal.getsignal(signal.SIGINT) is not before) == changes
        assert signal.getsignal(signal.SIGINT) is before
        signal.signal(signal.SIGINT, usual)
