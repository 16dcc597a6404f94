"""The project's own planted set: benchmark items, the same problems in disguise, and other problems on their topics.

Everything is written for this project (planted/*.yaml) or bundled with it, and dedicated to the public domain.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from coevolve.curation.bundled import bundled_rows
from coevolve.errors import DataError
from coevolve.tasks import DOMAINS, Domain

LEXICAL = (
    "exact",
    "whitespace",
    "case",
    "renamed",
    "renumbered",
    "reordered",
    "translated",
    "renamed_renumbered",
)
"""Kinds of duplicate that a rule can see by words; `paraphrase` is the other kind, `different` is no duplicate."""
KINDS = ("benchmark", *LEXICAL, "paraphrase", "different")

PEOPLE = "Clara Mateo Ingrid Dimitri Wanjiru Sofia Henrik Leila Bruno Akira Marta Ewan Nadia Pierre Olga Tariq".split()
ABROAD = "Иван Мария 小明 美咲 José Zoë Ólafur Γιώργος أحمد Søren Jürgen प्रिया François Nguyễn Łukasz Αθηνά".split()
WORDS = "process_all handle table_a entry item_x collect data_b state cell part_c solve_it piece unit_d block".split()
WORDS_ABROAD = "суммировать wert_liste nombre élément zahl_eins palabra résultat größe números teil lettre".split()
BENCHMARK_TOPICS = frozenset(
    "sum product speed energy voltage density power pressure acceleration concentration impulse "
    "concatenation sorted max len join split replace".split()
)
OTHER_TOPICS = (
    "difference quotient distance work force current mass momentum charge weight moles builtins index startswith "
    "repetition".split()
)
OTHERS_EACH = 3
MARKED = re.compile(r"[«»‹›]")


class Planted(NamedTuple):
    """One row of a planted set.

    A file holds one JSON object a line with these fields: rows of kind `benchmark` make up the registry, every other
    row is a candidate; `of` names the benchmark row that it repeats (or stands beside), `part` is `tune` or `report`.
    """

    id: str
    kind: str
    question: str
    answer: str | None
    of: str = ""
    domain: str = ""
    part: str = "report"


def read_planted(path: Path) -> list[Planted]:
    """The rows of a file of this form. Raises DataError."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"planted={path}: cannot be read ({error}); give a file of JSON lines") from error
    rows = [_planted(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    kinds = {row.kind for row in rows}
    if "benchmark" not in kinds or len(kinds) == 1:
        raise DataError(f"planted={path}: needs rows of kind benchmark and rows of other kinds")
    return rows


def _planted(path: Path, number: int, line: str) -> Planted:
    try:
        row = json.loads(line)
        given = {name: str(row[name]) for name in Planted._fields if row.get(name) is not None}
        planted = Planted(given.pop("id"), given.pop("kind"), given.pop("question"), given.pop("answer", None), **given)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path}:{number}: a row needs id, kind and question ({error})") from error
    if planted.kind not in KINDS:
        raise DataError(f"{path}:{number}: kind {planted.kind} is none of {', '.join(KINDS)}")
    return planted


def own_planted() -> list[Planted]:
    """The project's own set, the same rows each time; the first part is there to tune by."""
    rows = [row for domain in DOMAINS for row in _of_domain(domain)]
    return rows + list(_bundled())


def _of_domain(domain: Domain) -> Iterator[Planted]:
    folder = resources.files("coevolve.bench").joinpath("planted")
    for part, name in (("tune", f"{domain}.yaml"), ("report", f"{domain}_report.yaml")):
        for item in yaml.safe_load(folder.joinpath(name).read_text("utf-8")):
            for row in _of_item(item, code=domain == "coding"):
                yield row._replace(domain=domain, part=part)


def _of_item(item: Mapping[str, Any], code: bool) -> Iterator[Planted]:
    name, answer = str(item["id"]), str(item["answer"])
    yield Planted(name, "benchmark", _joined(item["text"], code), answer)
    for kind, text, given in _disguised(item, code, answer):
        yield Planted(f"{name}-{kind}", kind, text, given, of=name)
    for place, text in enumerate(item["paraphrases"], 1):
        known = None if "\n" in answer else answer  # whoever rewords a programming problem has another program
        yield Planted(f"{name}-paraphrase{place}", "paraphrase", text, known, of=name)
    for place, (text, other) in enumerate(item["different"], 1):
        yield Planted(f"{name}-different{place}", "different", text, str(other), of=name)


def _disguised(item: Mapping[str, Any], code: bool, answer: str) -> Iterator[tuple[str, str, str]]:
    """(kind, question, answer) of the mechanical disguises that this item allows."""
    parts: Sequence[str] = item["text"]
    chance = random.Random(item["id"])
    plain = _joined(parts, code)
    yield "exact", plain, answer
    yield "whitespace", _respaced(plain, chance), answer
    yield "case", chance.choice([plain.upper(), plain.lower(), plain.title()]), answer
    if len(parts) > 1:
        yield "reordered", _joined([parts[-1], *chance.sample(parts[:-1], len(parts) - 1)], code), answer
    named, numbered = any("«" in part for part in parts), any("‹" in part for part in parts)
    if named:
        yield "renamed", _joined(_renamed(parts, WORDS if code else PEOPLE, chance), code), answer
        yield "translated", _joined(_renamed(parts, WORDS_ABROAD if code else ABROAD, chance), code), answer
    if numbered:
        yield "renumbered", _joined(_renumbered(parts, chance), code), str(chance.randint(100, 999))
    if named and numbered:
        both = _renumbered(_renamed(parts, WORDS if code else PEOPLE, chance), chance)
        yield "renamed_renumbered", _joined(both, code), str(chance.randint(100, 999))


def _joined(parts: Sequence[str], code: bool) -> str:
    return MARKED.sub("", ("\n\n" if code else " ").join(parts))


def _respaced(text: str, chance: random.Random) -> str:
    spaced = re.sub(r" ", lambda _: chance.choice([" ", "  ", " ", "\n", "\t", "   "]), text)
    return f"\n {spaced}  \n"


def _renamed(parts: Sequence[str], pool: Sequence[str], chance: random.Random) -> list[str]:
    old = sorted({name for part in parts for name in re.findall(r"«([^»]+)»", part)})
    new = dict(zip(old, chance.sample(pool, len(old)), strict=True))
    return [re.sub(r"«([^»]+)»", lambda found: new[found[1]], part) for part in parts]


def _renumbered(parts: Sequence[str], chance: random.Random) -> list[str]:
    def other(found: re.Match[str]) -> str:
        value = found[1]
        drawn = value
        while drawn == value:
            drawn = str(chance.randint(2, 9 * 10 ** (len(value) - 1)))
        return drawn

    return [re.sub(r"‹([^›]+)›", other, part) for part in parts]


def _bundled() -> Iterator[Planted]:
    """Bundled seeds: of some topics as further benchmark items, of other topics as other problems."""
    counts = dict.fromkeys(OTHER_TOPICS, 0)
    for row in bundled_rows(DOMAINS):
        seed = row.data
        topic = str(seed["meta"]["topic"])
        part = "tune" if int(str(seed["id"])[-1]) % 2 else "report"
        planted = Planted(str(seed["id"]), "benchmark", str(seed["question"]), str(seed["answer"]), "", "", part)
        if topic in BENCHMARK_TOPICS:
            yield planted._replace(domain=str(seed["domain"]))
        elif counts.get(topic, OTHERS_EACH) < OTHERS_EACH:
            counts[topic] += 1
            yield planted._replace(kind="different", domain=str(seed["domain"]))
