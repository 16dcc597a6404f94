"""Seeds whose own tests or reference are wrong or dangerous are refused, in the sandbox."""

import json
from pathlib import Path

import pytest
import yaml

from coevolve.config import ScreenConfig, SeedsConfig, VerificationConfig
from coevolve.curation.sources import read_seeds, verified_seeds
from coevolve.tasks import DOMAINS
from coevolve.verifiers.base import Verifiers

CONF = Path(__file__).resolve().parents[2] / "conf"


def program(name, answer, cases, setup=""):
    tests = {"kind": "asserts", "language": "python", "entry_point": "f", "setup": setup, "cases": cases}
    common = {"id": name, "domain": "coding", "question": f"Write f ({name}).", "answer_type": "code_tests"}
    return {**common, "answer": answer, "tests": tests}


DOUBLE = "def f(n):\n    return n * 2\n"
GOOD = program("good", DOUBLE, ["assert f(2) == 4", "assert f(5) == 10", "assert f(-1) == -2"])
WRONG = program("wrong", DOUBLE, ["assert f(2) == 4", "assert f(3) == 7"])
ENDLESS = program("endless", DOUBLE, ["assert f(2) == 4", "while True:\n    pass"])


async def outcome(tmp_path, *records):
    path = tmp_path / "seeds.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    config = SeedsConfig(
        source="file",
        path=str(path),
        harness="shipped",
        split=None,
        config_name=None,
        columns={},
        defaults={},
        per_domain=10,
        question_chars=2000,
        screen=ScreenConfig(enabled=False, attempts=4),
    )
    settings = yaml.safe_load((CONF / "verification" / "default.yaml").read_text(encoding="utf-8"))
    verifiers = Verifiers(VerificationConfig(**settings))
    try:
        return await verified_seeds(read_seeds(config, DOMAINS, 1).tasks, verifiers)
    finally:
        await verifiers.close()


async def test_a_good_program_is_kept_with_its_stronger_certificate(tmp_path):
    kept, issues = await outcome(tmp_path, GOOD)
    assert issues == () and [task.certificate.kind for task in kept] == ["tests"]


@pytest.mark.parametrize(("record", "reason"), [(WRONG, "reference_fails_own_tests"), (ENDLESS, "tests_timeout")])
async def test_a_bad_program_is_refused_by_name(tmp_path, record, reason):
    kept, issues = await outcome(tmp_path, record)
    assert kept == () and [(issue.id, issue.outcome, issue.reason) for issue in issues] == [
        (record["id"], "reject", reason)
    ]


async def test_tests_that_write_to_the_home_folder_do_not_get_out(tmp_path):
    marker = tmp_path / "ESCAPED"
    setup = f"import pathlib\npathlib.Path({str(marker)!r}).write_text('x')"
    await outcome(tmp_path, program("escape", DOUBLE, ["assert f(2) == 4"], setup))
    assert not marker.exists()


async def test_a_wrong_prediction_is_refused(tmp_path):
    tests = {"kind": "call_output", "code": "", "call": "1 + 1"}
    record = {"id": "p", "domain": "coding", "question": "1 + 1?", "answer": "3", "tests": tests}
    kept, issues = await outcome(tmp_path, record)
    assert kept == () and issues[0].reason == "wrong_reference"
