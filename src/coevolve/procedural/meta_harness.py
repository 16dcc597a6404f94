"""MetaHarness: typed edits from metrics, logs and reject reports; never a rejected proposal again (Eq. 4)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from coevolve.procedural.moves import MOVES, Move, View
from coevolve.procedural.payload import Asking

DRAWS = 40
"""Combinations tried before giving up on a new one."""
STALE = 4.0
"""What a move loses whose edits were part of a rejected proposal."""
NOISE = 2.0
"""Spread of the random part of a move's score, in units of force."""


def meta_harness(asking: Asking) -> dict[str, Any]:
    """One proposal: a few moves that answer the last rejection."""
    payload = asking.payload
    view = View(payload, payload.get("logs", {}).get("skills", {}))
    rejections = payload.get("rejections") or []
    rejected = {_key(rejection["edits"]) for rejection in rejections}
    allowed = set(payload["constraints"]["edits"])
    moves = [move for find in MOVES for move in find(view) if all(edit["kind"] in allowed for edit in move.edits)]
    wish = _wish(rejections)
    tried = {_key([edit]) for rejection in rejections for edit in rejection["edits"]}
    stale = {id(move): STALE * any(_key([edit]) in tried for edit in move.edits) for move in moves}
    for _ in range(DRAWS):
        chosen = _combined(moves, wish, stale, asking)
        edits = [dict(edit) for move in chosen for edit in move.edits]
        if edits and _key(edits) not in rejected:
            return _proposal(chosen, edits, rejections)
    return {
        "evidence": "every edit that the logs suggest was rejected before",
        "expected": "no change",
        "risks": "none",
        "edits": [],
    }


def _wish(rejections: Sequence[Mapping[str, Any]]) -> Mapping[str, float]:
    """How much force, cost and doubt count, and how many moves are joined, after what was rejected last."""
    wish = {"force": 1.0, "cost": 0.5, "doubt": 0.5, "moves": 2.0}
    for reason in rejections[-1]["reasons"] if rejections else []:
        text = str(reason)
        if "harder" in text:
            wish |= {"force": wish["force"] + 1.0, "moves": 3.0}
        if "dear" in text or "cost" in text:
            wish |= {"cost": 2.0}
        if "valid" in text or "incomplete" in text:
            wish |= {"doubt": 2.0, "moves": 1.0}
    return wish


def _combined(
    moves: Sequence[Move], wish: Mapping[str, float], stale: Mapping[int, float], asking: Asking
) -> list[Move]:
    """The best moves under some noise, with no target edited twice and dear ones joined by a saving one."""
    families = {name: asking.rng.random() * NOISE for name in dict.fromkeys(move.name for move in moves)}
    noise = {id(move): families[move.name] + asking.rng.random() / 2 for move in moves}

    def score(move: Move) -> float:
        weighed = wish["force"] * move.force - wish["cost"] * move.cost - wish["doubt"] * move.doubt
        return weighed + noise[id(move)] - stale[id(move)]

    constraints, chosen = asking.payload["constraints"], list[Move]()
    most_edits = int(constraints["edits_per_candidate"])
    room = int(constraints["skills"]) - len(asking.payload["harness"]["skills"])
    for move in sorted(moves, key=score, reverse=True):
        targets = {(edit["kind"], edit["name"]) for other in chosen for edit in other.edits}
        count = sum(len(other.edits) for other in chosen) + len(move.edits)
        added = sum(edit["op"] == "add" for other in (*chosen, move) for edit in other.edits)
        clash = added > room or any((edit["kind"], edit["name"]) in targets for edit in move.edits)
        saves = move.cost < 0 and sum(other.cost for other in chosen) > 0
        if clash or count > most_edits or (len(chosen) >= wish["moves"] and not saves):
            continue
        if not chosen and move.force == 0 and wish["cost"] < 2 and wish["doubt"] < 2:
            continue
        chosen.append(move)
    return chosen


def _proposal(chosen: Sequence[Move], edits: list[dict[str, Any]], rejections: Sequence[Any]) -> dict[str, Any]:
    after = f" After {len(rejections)} rejection(s), other edits are tried." if rejections else ""
    harder, cheaper = sum(move.force for move in chosen) > 0, sum(move.cost for move in chosen) < 0
    gains = ["lower accuracy"] * harder + ["lower cost"] * cheaper
    return {
        "evidence": "; ".join(dict.fromkeys(move.evidence for move in chosen)) + "." + after,
        "expected": " and ".join(gains) or "more valid drafts at the same difficulty",
        "risks": "; ".join(dict.fromkeys(move.risk for move in chosen)),
        "edits": edits,
    }


def _key(edits: Iterable[Mapping[str, Any]]) -> str:
    """Edits as one comparable text, whatever their order and missing fields."""
    plain = [
        json.dumps([edit["kind"], edit["name"], edit["op"], edit.get("content")], sort_keys=True) for edit in edits
    ]
    return "\n".join(sorted(plain))
