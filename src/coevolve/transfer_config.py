"""What scripts/transfer.py takes, and what a frozen-harness run keeps beside an ordinary run's configuration."""

from coevolve.config import RunConfig
from coevolve.config_models import Config, Count

Words = str | list[str]


class FrozenConfig(Config):
    """The harness of a run that never changes it, and which seeds it must not meet (Appendix E)."""

    path: str
    """Folder of the archived version, or h0; where the same harness lies does not matter to a second start."""
    harness_id: str
    source_run: str
    """`<experiment>/<arm>` of the run it evolved in; "" for H_0 and for a copied version."""
    version: Count
    round: Count
    """The round after which it was archived."""
    held_out: str | None
    """A curated folder whose sealed seeds are used; null = the group `seeds`."""
    tasks: str | None
    """An archived version whose tasks are the start; null = seeds."""
    apart_from: list[str]
    """Run or version folders whose seeds are left out; none where `tasks` is given."""


class FrozenRun(RunConfig):
    """One frozen harness over seeds of its own: an ordinary task_only run with another first harness."""

    frozen: FrozenConfig


class TransferConfig(RunConfig):
    """Any number of frozen harnesses on the same held-out seeds."""

    harness: Words
    """Archived versions (`<run>/archive/v008`) and h0, by comma."""
    held_out: str | None
    """A curated folder; its sealed seeds are read, and the reading is counted there. Null = the group `seeds`, of
    seeds=curated the sealed ones."""
    tasks: str | None
    """An archived version whose tasks, all of them, are the start instead of seeds; rounds=0 measures them under
    another solver and makes none."""
    apart_from: Words
    """Further runs whose seeds are left out; those of the harnesses' own runs always are."""
