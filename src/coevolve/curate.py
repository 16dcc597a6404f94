"""Stage 1: candidate seeds and sources in; screened seeds, families, splits, H_0 and an audit out (Section 3.1)."""

import asyncio
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coevolve.agents.base import Desk, package_prompt
from coevolve.curation import shares
from coevolve.curation.curated import LEDGER, MANIFEST, file_hash, load_manifest
from coevolve.curation.duplicates import drop_duplicates
from coevolve.curation.intake import Source, intake, sources
from coevolve.curation.outputs import (
    write_audit,
    write_cost,
    write_h0,
    write_manifest,
    write_review,
    write_splits,
)
from coevolve.curation.review import NO_DECISIONS, Decisions, drop_by_person, read_decisions
from coevolve.curation.screening import (
    candidate,
    counted,
    drop_surplus,
    entries,
    screen_overlap,
    screen_references,
    split,
)
from coevolve.curation.settings import CurateConfig, Paths
from coevolve.curation.show import say, step, told
from coevolve.curation.skills_of_sources import Acquisition
from coevolve.curation.workspace import Workspace
from coevolve.errors import ConfigError, DataError, Interrupted, boundary
from coevolve.harness_folder import initial_harness
from coevolve.identity import only_one
from coevolve.journal import Journal
from coevolve.ledger import Ledger
from coevolve.llm.budgets import Budgets
from coevolve.llm.calls import Calls
from coevolve.llm.preflight import preflight
from coevolve.overlap.checker import OverlapChecker
from coevolve.overlap.embedding import MiniLM
from coevolve.overlap.families import families
from coevolve.overlap.registry import Registry, load_registry
from coevolve.seats import open_seat
from coevolve.tasks import content_hash
from coevolve.verifiers.base import Verifiers

WORK = ".work.sqlite"
FREE = ("out", "fresh", "review", "vllm", "budget", "models")
"""Keys that change nothing of what comes out, or are compared by what they lead to."""


def curate(config: CurateConfig) -> list[str]:
    """Curate, go on, or report what is there; returns what is to be said at the end. Raises UserError and Stopped."""
    for name, value in (("seeds", config.seeds.paths), ("out", config.out)):
        if not value:
            raise ConfigError(f"give {name}=<{'folder' if name == 'out' else 'file, folder, hf:name, or a list'}>")
    if config.benchmarks is None:
        raise ConfigError("give benchmarks=<file or folder>; benchmarks=[] curates without overlap control and says so")
    out = Path(str(config.out))
    if config.fresh and out.exists():
        out.rename(out.with_name(f"{out.name}.before-{datetime.now(UTC):%Y%m%d-%H%M%S}"))
    with boundary(ConfigError, f"out={out}: the folder cannot be made"):
        out.mkdir(parents=True, exist_ok=True)
    _check_ours(out)
    with only_one(out):
        work = Curation.of(config, out)
        if not work.finished():
            try:
                work.run()
            except KeyboardInterrupt:
                raise Interrupted(f"stopped, {out} holds what was done; run the same command to go on") from None
        manifest = load_manifest(out)
    return [*shares.lines(manifest), *_next(out, manifest)]


def _check_ours(out: Path) -> None:
    """Refuse a folder that holds other things than a curation, finished or begun."""
    strange = next((path.name for path in sorted(out.iterdir()) if not path.name.startswith(".")), None)
    if strange and not (out / MANIFEST).exists() and not (out / WORK).exists():
        raise ConfigError(f"out={out}: the folder holds other things ({strange}); give a new or empty one")


def _next(out: Path, manifest: Mapping[str, Any]) -> list[str]:
    registry = manifest["registry"]
    benchmarks = f"{len(registry['benchmarks'])} benchmarks, {registry['hash'][:12]}"
    return [
        f"curated    {out}, hash {manifest['folder_hash']}",
        f"checked    against {benchmarks if registry['benchmarks'] else 'NO benchmark: overlap was not controlled'}",
        f"review     {out / 'review.jsonl'} (set decision to keep or drop, then add review={out / 'review.jsonl'})",
        f"evolve     python scripts/evolve.py seeds=curated seeds.path={out}",
    ]


@dataclass(slots=True)
class Curation:
    """One curation: what goes in, what it is identified by, and where it goes."""

    config: CurateConfig
    out: Path
    inputs: list[Source]
    registry: Registry
    decisions: Decisions
    identity: dict[str, Any]

    @classmethod
    def of(cls, config: CurateConfig, out: Path) -> "Curation":
        """Everything read that is small: benchmarks, decisions, names of inputs. Raises DataError."""
        inputs = sources(config.seeds.paths or [])
        registry = load_registry(_paths(config.benchmarks or []), config.benchmarks_version)
        decisions = read_decisions(Path(config.review) if config.review else None)
        plain = config.model_dump(mode="json", exclude=set(FREE))
        identity = {
            "config": plain,
            "inputs": {source.origin: file_hash(source.path) if source.path else "" for source in inputs},
            "review": decisions.identity,
        }
        return cls(config, out, inputs, registry, decisions, identity)

    def finished(self) -> bool:
        """Whether the folder holds the outcome of this very curation. Raises ConfigError for another one's."""
        if not (self.out / MANIFEST).exists():
            return False
        before = load_manifest(self.out)
        self.registry.require(before["registry"])
        for part in ("config", "inputs"):
            old, new = _flat(before[part]), _flat(self.identity[part])
            differing = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
            if differing:
                raise ConfigError(
                    f"{self.out} was curated with another {'configuration' if part == 'config' else 'input'}: "
                    f"{', '.join(differing[:4])}; give another out=…, or fresh=true to keep the old folder beside"
                )
        if before["review"] is not None and self.decisions is NO_DECISIONS:
            raise ConfigError(f"{self.out} was curated with a person's decisions; give them again: review=<file>")
        return bool(before["review"] == self.identity["review"])

    def run(self) -> None:
        """All steps, from where an earlier process left them."""
        started = time.monotonic()
        mark = content_hash([self.identity, self.registry.hash])
        workspace = Workspace(self.out / WORK)
        if workspace.mark("identity") not in (None, mark):
            workspace.close()
            _remove(self.out / WORK)
            workspace = Workspace(self.out / WORK)
        with closing(workspace):
            workspace.set_mark("identity", mark)
            workspace.commit()
            say(f"preparing {len(self.registry)} benchmark items{' by meaning' if self.config.semantic else ''}")
            checker = OverlapChecker(self.registry, MiniLM(threads=0) if self.config.semantic else None)
            self._screen(workspace, checker)
            asyncio.run(self._finish(workspace, checker, started))
        _remove(self.out / WORK)

    def _screen(self, workspace: Workspace, checker: OverlapChecker) -> None:
        with step("read", None) as advance:
            intake(workspace, self.config.seeds, self.inputs, advance)
        if not workspace.query("select 1 from entries limit 1"):
            first = next((f"; the first of them: {remark.message}" for remark in workspace.remarks()), "")
            raise DataError(f"seeds={self.config.seeds.paths}: none of its records could be read{first}")
        drop_duplicates(workspace, self.decisions)
        drop_by_person(workspace, self.decisions)
        if workspace.mark("split") is None:
            with step("families", entries(workspace, "seed")) as advance:
                family_of = families(told(map(candidate, workspace.read("seed")), advance))
            split(workspace, family_of, self.config.held_out, self.config.seed)
        drop_surplus(workspace, self.decisions, self.config.family_cap)
        with step("overlap", counted(workspace, "seed") + counted(workspace, "passage")) as advance:
            screen_overlap(workspace, self.decisions, checker, advance)

    async def _finish(self, workspace: Workspace, checker: OverlapChecker, started: float) -> None:
        verifiers = Verifiers(self.config.verification)
        try:
            with step("verify", counted(workspace, "seed")) as advance:
                await screen_references(workspace, verifiers, advance)
        finally:
            await verifiers.close()
        acquisition = await self._acquire(workspace, checker)
        harness = initial_harness().with_skills(acquisition.skills)
        provenance = {
            "harness_id": harness.id,
            "prompts": "shipped",
            "workflow": "shipped",
            "acquisition_prompt": content_hash(package_prompt("improver", "acquisition")),
            "registry": self.registry.hash,
            "skills": acquisition.provenance,
        }
        write_splits(workspace, self.out)
        write_audit(workspace, self.out)
        write_review(workspace, acquisition.review, self.decisions.rows, self.out)
        write_h0(harness, provenance, self.out)
        write_cost(self.out / LEDGER, time.monotonic() - started, self.out)
        write_manifest(workspace, self.out, harness, self.identity, self.registry.manifest())

    async def _acquire(self, workspace: Workspace, checker: OverlapChecker) -> Acquisition:
        config = self.config.acquisition
        workspace.forget("acquire")
        with closing(Ledger(self.out / LEDGER, 0)) as ledger, closing(Journal(self.out / "journal")) as journal:
            calls = Calls(journal, ledger, Budgets(self.config.budget, ledger), lambda row: None)
            seat = open_seat(config.model, self.config.vllm, self.out / "servers", say)
            try:
                await preflight([seat.model] if config.enabled else [])
                desk = Desk(calls, {"acquisition": (seat,)}, self.config.seed, self.config.constraints)
                found = Acquisition(desk, checker, workspace, self.decisions)
                if self.config.base_skills == "shipped":
                    found.start(initial_harness().skills)
                calls.start_round(0)
                if config.enabled:
                    loop = asyncio.get_running_loop()
                    loop.add_signal_handler(signal.SIGINT, calls.stop)
                    with step("skills", None) as advance:
                        await found.read(config, self.config.seed, advance)
                    loop.remove_signal_handler(signal.SIGINT)
                calls.end_round()
            finally:
                await seat.model.close()
            return found


def _paths(paths: Paths) -> Sequence[Path]:
    return [Path(name) for name in ([paths] if isinstance(paths, str) else paths)]


def _remove(work: Path) -> None:
    for path in work.parent.glob(f"{work.name}*"):
        path.unlink()


def _flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        nested = isinstance(value, Mapping)
        flat |= _flat(value, f"{prefix}{name}.") if nested else {f"{prefix}{name}": value}
    return flat
