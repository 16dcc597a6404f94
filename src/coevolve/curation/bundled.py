"""The seeds that ship with the package: our own items, dedicated to the public domain (CC0-1.0)."""

from collections.abc import Iterator, Sequence
from importlib import resources

from coevolve.curation.readers import text_rows
from coevolve.curation.records import Row
from coevolve.tasks import Domain


def bundled_rows(domains: Sequence[Domain]) -> Iterator[Row]:
    """The bundled records of some domains; those that the embedded solver always answered carry `meta.screened`."""
    folder = resources.files("coevolve.curation").joinpath("seeds")
    for domain in domains:
        yield from text_rows(folder.joinpath(f"{domain}.jsonl").read_text(encoding="utf-8"))
