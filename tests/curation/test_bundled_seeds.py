"""The seeds that ship with the package."""

from collections import Counter
from pathlib import Path

import pytest
import yaml

from coevolve.agents.solver_prompts import prompts_hash
from coevolve.config import ScreenConfig, SeedsConfig, VerificationConfig
from coevolve.curation.sources import read_seeds, verified_seeds
from coevolve.tasks import DOMAINS
from coevolve.verifiers.base import Verifiers

CONF = Path(__file__).resolve().parents[2] / "conf"


def bundled(per_domain=10):
    config = SeedsConfig(
        source="bundled",
        path=None,
        harness="shipped",
        split=None,
        config_name=None,
        columns={},
        defaults={},
        per_domain=per_domain,
        question_chars=2000,
        screen=ScreenConfig(enabled=False, attempts=4),
    )
    return read_seeds(config, DOMAINS, seed=3)


def test_there_are_sixty_a_domain_and_twenty_always_answered():
    report = bundled()
    counts = Counter(task.domain for task in report.tasks)
    screened = Counter(task.domain for task in report.tasks if "screened" in task.meta)
    assert not report.issues
    assert all(counts[domain] >= 60 and screened[domain] >= 20 for domain in DOMAINS), (counts, screened)


def test_all_are_in_the_public_domain_and_our_own():
    assert {(task.license, task.source) for task in bundled().tasks} == {("CC0-1.0", "own (written for this project)")}


def test_screened_ones_come_first_and_were_screened_with_these_prompts():
    for domain in DOMAINS:
        marks = ["screened" in task.meta for task in bundled().tasks if task.domain == domain]
        assert marks == sorted(marks, reverse=True)
    records = [task.meta["screened_by"] for task in bundled().tasks if "screened" in task.meta]
    assert {record["prompts"] for record in records} == {prompts_hash()}


def test_ids_are_unique_and_questions_short():
    tasks = bundled().tasks
    assert len({task.id for task in tasks}) == len(tasks)
    assert max(len(task.question) for task in tasks) <= 200


@pytest.mark.parametrize("domain", DOMAINS)
async def test_every_reference_passes_its_verifier(domain):
    settings = yaml.safe_load((CONF / "verification" / "default.yaml").read_text(encoding="utf-8"))
    verifiers = Verifiers(VerificationConfig(**settings))
    try:
        tasks = [task for task in bundled().tasks if task.domain == domain]
        kept, issues = await verified_seeds(tasks, verifiers)
    finally:
        await verifiers.close()
    assert issues == () and len(kept) == len(tasks)
    if domain == "coding":
        assert {task.certificate.kind for task in kept} == {"program", "tests"}
