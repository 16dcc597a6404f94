"""How many seeds and passages each step took out, and by which rule."""

from collections.abc import Iterator
from typing import Any

from coevolve.curation.workspace import STEPS, Workspace
from coevolve.tasks import DOMAINS

SCREENS = ("duplicate", "person", "family", "overlap", "verify")
"""The steps that take entries out, in their order; records that cannot be read never become entries."""
UNUSED = ("reject", "flag", "quarantine", "drop_duplicate")


def shares(workspace: Workspace) -> dict[str, Any]:
    """Kind -> step -> {in, out, share, rules}; `share` is of what came to that step."""
    return {kind: dict(_steps(workspace, kind)) for kind in ("seed", "passage")}


def _steps(workspace: Workspace, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    (entries,) = workspace.query("select count(*) from entries where kind = ?", (kind,))[0]
    marks = ", ".join("?" * len(UNUSED))
    lost = workspace.query(
        f"select rule, count(*) from remarks where step = 0 and kind = ? and outcome in ({marks}) and key = '' "
        "group by rule order by rule",
        (kind, *UNUSED),
    )
    left = entries + sum(count for _, count in lost)
    yield "read", _share(left, dict(lost))
    left = entries
    for step in SCREENS:
        rules = workspace.query(
            "select r.rule, count(distinct r.key) from remarks r join entries e on e.key = r.key "
            "where e.kind = ? and e.left_at = ? and r.step = ? and r.outcome not in ('keep', 'repair', 'accept') "
            "group by r.rule order by r.rule",
            (kind, step, STEPS.index(step)),
        )
        found = _share(left, dict(rules))
        left -= found["out"]
        if found["out"] or step not in ("person", "family"):
            yield step, found


def _share(count: int, rules: dict[str, int]) -> dict[str, Any]:
    out = sum(rules.values())
    return {"in": count, "out": out, "share": round(out / count, 4) if count else 0.0, "rules": rules}


def counts(workspace: Workspace) -> dict[str, Any]:
    """How many seeds each side holds, by domain, and how many passages were kept."""
    found = {
        name: dict.fromkeys(DOMAINS, 0)
        | dict(
            workspace.query(
                "select domain, count(*) from entries where kind = 'seed' and left_at is null and held_out = ? "
                "group by domain",
                (side,),
            )
        )
        for name, side in (("evolution", 0), ("held_out", 1))
    }
    (passages,) = workspace.query("select count(*) from entries where kind = 'passage' and left_at is null")[0]
    (families,) = workspace.query(
        "select count(*) from (select 1 from entries where kind = 'seed' group by family having count(*) > 1)"
    )[0]
    return {**found, "passages": passages, "families": families}


def lines(manifest: dict[str, Any]) -> list[str]:
    """The shares as a person reads them."""
    said = []
    for kind, steps in manifest["shares"].items():
        for step, found in steps.items() if steps["read"]["in"] else ():
            rules = ", ".join(f"{rule} {count}" for rule, count in found["rules"].items())
            said.append(
                f"{kind:8} {step:10} {found['in']:7} in {found['out']:6} out {found['share']:7.2%}"
                + (f"   {rules}" if rules else "")
            )
    sides = manifest["counts"]
    said += [
        f"{name:10} " + ", ".join(f"{domain} {count}" for domain, count in sides[name].items())
        for name in ("evolution", "held_out")
    ]
    said.append(f"families of several seeds: {sides['families']}; skills of H_0: {manifest['skills']}")
    return said
