"""One record of any source as a task of round 0: its fields found, its texts made plain, its answer typed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coevolve.curation import normalise
from coevolve.curation.answers import typed_answer, typed_tests
from coevolve.curation.records import Notes, Row, Unusable, plain_json
from coevolve.tasks import DOMAINS, Answer, Certificate, Domain, Task, content_hash

DOMAIN_NAMES: Mapping[str, Domain] = {
    **dict.fromkeys(("math", "maths", "mathematics", "algebra", "geometry", "arithmetic", "statistics"), "math"),
    **dict.fromkeys(("coding", "code", "programming", "python"), "coding"),
    **dict.fromkeys(("science", "physics", "chemistry", "biology", "astronomy", "earth science"), "science"),
}
LONGEST_ID = 200


@dataclass(frozen=True, slots=True)
class Form:
    """How records of one source are read: where they are, what their columns are called, what they lack."""

    origin: str
    columns: Mapping[str, str]
    """Our field -> their column."""
    defaults: Mapping[str, Any]
    """Values for fields the source lacks."""
    question_chars: int

    def task(self, row: Row, notes: Notes) -> Task:
        """The record as a task whose reference nobody has checked yet. Raises Unusable."""
        data = {name: row.data.get(column) for name, column in self.columns.items() if column in row.data}
        data = {**self.defaults, **{k: v for k, v in row.data.items() if v is not None or k == "answer"}, **data}
        for name in ("tests", "meta", "choices"):
            data[name] = plain_json(data.get(name))
        meta = dict(data["meta"]) if isinstance(data["meta"], Mapping) else {}
        domain = _domain(data.get("domain"), meta, notes)
        question = self._question(domain, data, notes)
        answer = typed_answer(domain, data, question, notes)
        return Task(
            id=(name := _id(data, question, answer, notes)),
            chain=name,
            domain=domain,
            round=0,
            question=question,
            answer=answer,
            solution=str(data.get("solution") or meta.pop("solution", "") or ""),
            tests=typed_tests(data, answer) if domain == "coding" else None,
            certificate=Certificate(kind="source", detail=str(meta.get("verified", ""))[:200]),
            source=str(data.get("source") or self.origin),
            license=str(data.get("license") or "unstated"),
            meta=meta,
        )

    def _question(self, domain: Domain, data: Mapping[str, Any], notes: Notes) -> str:
        text = data.get("question")
        if text is None:
            raise Unusable("null_question", "it has no question")
        if not isinstance(text, str) or not text.strip():
            raise Unusable("empty_question", "its question is empty or no text")
        if normalise.LONE_SURROGATE.search(f"{text}{data.get('answer')}{data.get('id')}"):
            raise Unusable("broken_unicode", "it holds half a character (a lone surrogate); save it as UTF-8 again")
        if len(text) > self.question_chars:
            limit = self.question_chars
            raise Unusable(
                "question_too_long", f"its question has {len(text)} characters; raise seeds.question_chars={limit}"
            )
        if normalise.INSTRUCTION.search(text):
            raise Unusable(
                "instruction_like_text", "its question holds instructions to a model; reword it to use it", "flag"
            )
        if domain == "coding":
            return text.strip()
        if normalise.odd_dollars(text):
            notes.accept("warning_unbalanced_math", "a $ in its question has no partner")
        return normalise.clean(text, notes, "question")


def _domain(given: Any, meta: dict[str, Any], notes: Notes) -> Domain:
    if given is None:
        known = ", ".join(DOMAINS)
        raise Unusable("missing_domain", f"it has no domain ({known}); add it or set seeds.defaults.domain")
    name = str(given).strip().casefold()
    domain = DOMAIN_NAMES.get(name)
    if domain is None:
        raise Unusable("unknown_domain", f"domain {str(given)[:40]!r} is none of {', '.join(DOMAINS)}")
    if given != domain:
        notes.repair("domain_mapped", f"domain {given!r} is taken as {domain}")
        if name != domain:
            meta.setdefault("topic", name)
    return domain


def _id(data: Mapping[str, Any], question: str, answer: Answer, notes: Notes) -> str:
    given = str(data.get("id") or "").strip()
    if given:
        return given[:LONGEST_ID]
    assigned = f"seed-{content_hash([question, answer.model_dump(mode='json')])[:12]}"
    notes.repair("id_assigned", f"it has no id; {assigned} was made from its content")
    return assigned
