import asyncio
import os
from pathlib import Path

import pytest

from coevolve.config import VerificationConfig
from coevolve.sandbox import plans
from coevolve.sandbox.attacks import run_attacks
from coevolve.sandbox.cheats import CHEATS
from coevolve.sandbox.escapes import CONTAINED
from coevolve.sandbox.sandbox import Sandbox, SandboxRefused, each_kind


def only(kind: str, config: VerificationConfig) -> Sandbox:
    sandbox = Sandbox(config)
    sandbox.candidates = [plan for plan in plans.plans(config) if plan.kind == kind]
    return sandbox


def test_the_attack_set_is_large_and_names_are_unique() -> None:
    names = [program.name for program in (*CONTAINED, *CHEATS)]
    assert len(CONTAINED) >= 30
    assert len(CHEATS) >= 30
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
async def test_every_attack_is_contained_and_no_cheat_is_graded_right(kind: str, limits: VerificationConfig) -> None:
    sandbox = only(kind, limits)
    try:
        if await sandbox.kind() != kind:
            pytest.skip(f"{kind} does not work here")
    except SandboxRefused as refusal:
        pytest.skip(str(refusal))
    children = count_children()
    results = await run_attacks(sandbox)
    await sandbox.close()
    assert [result for result in results if not result.contained] == []
    assert len(results) > len(CONTAINED) + 2 * len(CHEATS)
    await asyncio.sleep(0.2)
    assert count_children() <= children


def count_children() -> int:
    return len(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


async def test_attacks_are_not_run_where_nothing_holds(limits: VerificationConfig) -> None:
    sandbox = only("unsafe", limits.model_copy(update={"allow_unsafe": True}))
    results = await run_attacks(sandbox)
    await sandbox.close()
    assert [result.contained for result in results] == [False]


async def test_without_a_box_that_holds_programs_are_refused_with_reason_and_cure(limits: VerificationConfig) -> None:
    sandbox = Sandbox(limits)
    sandbox.candidates = []
    with pytest.raises(SandboxRefused, match=r"Cure: .*verification\.allow_unsafe=true"):
        await sandbox.run("print(1)")
    await sandbox.close()


async def test_a_broken_box_is_passed_over_and_named(limits: VerificationConfig) -> None:
    sandbox = Sandbox(limits)
    plan = next(plans.plans(limits))
    sandbox.candidates = [plan._replace(argv=("/bin/false", "{control}"))]
    with pytest.raises(SandboxRefused, match=plan.kind):
        await sandbox.run("print(1)")
    await sandbox.close()


def test_each_kind_reports_whether_it_works_here(limits: VerificationConfig) -> None:
    kinds = dict(each_kind(limits))
    assert set(kinds) <= {"bubblewrap", "landlock", "unsafe"}
    assert None in kinds.values()
