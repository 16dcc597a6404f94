"""What the meta-agent learns of a batch: logs Z summarised by skill and cause, and operational metrics M (Eq. 4)."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from coevolve.events import Event
from coevolve.synthesis.batch import Batch

PROBLEMS_SHOWN = 8


def summarise(batch: Batch) -> dict[str, Any]:
    """Counts of a batch: validity, fallback, causes, actions, and each skill's use; the same in whatever order chains
    ended, so that a resumed run asks the same question.
    """
    ended = [event for event in batch.events if event.kind == "chain"]
    actions = Counter(event.data["action"] for event in batch.events if event.kind == "step")
    causes = Counter(event.data["cause"] for event in ended if event.data["cause"])
    problems = Counter(problem for event in ended if not event.data["valid"] for problem in event.data["problems"])
    return {
        "chains": len(ended),
        "valid": len(batch.produced),
        "misses": sum(event.kind == "miss" for event in batch.events),
        "actions": dict(sorted(actions.items())),
        "causes": dict(sorted(causes.items())),
        "problems": sorted(problems, key=lambda problem: (-problems[problem], problem))[:PROBLEMS_SHOWN],
        "skills": skill_use(ended),
    }


def skill_use(ended: Sequence[Event]) -> dict[str, dict[str, int]]:
    """For each skill: chains that used it, and how many of those were valid, failed, or missed by the own attempt."""
    use: dict[str, dict[str, int]] = defaultdict(lambda: {"used": 0, "valid": 0, "failed": 0, "missed": 0})
    for event in ended:
        for name in dict.fromkeys(event.data["skills"]):
            use[name]["used"] += 1
            use[name]["valid" if event.data["valid"] else "failed"] += 1
            use[name]["missed"] += bool(event.data["missed"])
    return dict(sorted(use.items()))
