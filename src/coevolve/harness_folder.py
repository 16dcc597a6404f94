"""A harness as a folder a person can read, edit and diff; loading what was saved gives an equal harness.

skills/<name>.md    front matter: intent, method, difficulty_effect, tool_hint, provenance, status, order
prompts/<role>.md   the prompts of director, extend and revise
workflow.yaml       order, counts, skill selection, and the verify and revise placements
"""

import os
from importlib import resources
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import yaml
from pydantic import ValidationError

from coevolve.errors import DataError
from coevolve.harness import EDITABLE_ROLES, Harness, Placements, Workflow
from coevolve.skills import NAME, Skill
from coevolve.tasks import Frozen

Record = TypeVar("Record", bound=Frozen)
FILE_BYTES = 65_536
FENCE = "---\n"
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
"""libyaml's writer where PyYAML was built with it: a version may hold hundreds of skills."""


class _PlainLoader(yaml.SafeLoader):
    """YAML without aliases: a few hundred bytes of nested aliases expand to gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed")
        return super().compose_node(parent, index)


def load_harness(folder: Path) -> Harness:
    """Read a harness folder. Raises DataError naming the file and the fault."""
    if not (folder / "workflow.yaml").is_file():
        raise DataError(f"{folder}: no harness folder (workflow.yaml is missing)")
    workflow = _mapping(folder / "workflow.yaml", _read(folder / "workflow.yaml"))
    placements = workflow.pop("placements", {})
    return Harness(
        skills=_load_skills(folder / "skills"),
        prompts={role: _read(folder / "prompts" / f"{role}.md") for role in EDITABLE_ROLES},
        workflow=_checked(Workflow, workflow, folder / "workflow.yaml"),
        placements=_checked(Placements, placements, folder / "workflow.yaml"),
    )


def initial_harness() -> Harness:
    """H_0, as shipped."""
    with resources.as_file(resources.files("coevolve").joinpath("harness_0")) as folder:
        return load_harness(folder)


def save_harness(harness: Harness, folder: Path) -> None:
    """Write `harness` into the empty or absent `folder`; the caller makes it appear atomically."""
    (folder / "skills").mkdir(parents=True)
    (folder / "prompts").mkdir()
    for order, skill in enumerate(harness.skills):
        fields = skill.model_dump(mode="json", exclude={"name"}) | {"order": order}
        (folder / "skills" / f"{skill.name}.md").write_text(FENCE + _dump(fields) + FENCE, encoding="utf-8")
    for role, text in harness.prompts.items():
        with (folder / "prompts" / f"{role}.md").open("w", encoding="utf-8", newline="") as file:
            file.write(text)
    workflow = harness.workflow.model_dump(mode="json") | {"placements": harness.placements.model_dump(mode="json")}
    (folder / "workflow.yaml").write_text(_dump(workflow), encoding="utf-8")


def _load_skills(folder: Path) -> tuple[Skill, ...]:
    found: list[tuple[int, Skill]] = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.name.startswith("."):
            continue
        if path.suffix != ".md" or not NAME.match(path.stem):
            raise DataError(f"{path}: a skill file is named like `two-steps.md` (a-z, 0-9, inner hyphens)")
        text = _read(path)
        head, fence, rest = text.removeprefix(FENCE).partition("\n" + FENCE)
        if not text.startswith(FENCE) or not fence or rest.strip():
            raise DataError(f"{path}: a skill file is one front matter between two `---` lines and nothing else")
        fields = _mapping(path, head)
        order = fields.pop("order", len(found) + 1_000)
        if not isinstance(order, int):
            raise DataError(f"{path}: order must be a whole number")
        found.append((order, _checked(Skill, {**fields, "name": path.stem}, path)))
    return tuple(skill for _, skill in sorted(found, key=lambda pair: (pair[0], pair[1].name)))


def _read(path: Path) -> str:
    if path.is_symlink() or not path.is_file():
        raise DataError(f"{path}: missing, or not a plain file")
    if path.stat().st_size > FILE_BYTES:
        raise DataError(f"{path}: larger than {FILE_BYTES} bytes")
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 ({error.reason} at byte {error.start})") from error


def _mapping(path: Path, text: str) -> dict[str, Any]:
    try:
        value = yaml.load(text, _PlainLoader)
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = f" line {line + 1}" if isinstance(line, int) else ""
        raise DataError(f"{path}{where}: not plain YAML: {str(error).splitlines()[0]}") from error
    if not isinstance(value, dict):
        raise DataError(f"{path}: expected `key: value` lines")
    return value


def _checked(kind: type[Record], fields: Any, path: Path) -> Record:
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        _refuse(path, error)


def _refuse(path: Path, error: ValidationError) -> NoReturn:
    first = error.errors()[0]
    raise DataError(f"{path}: {'.'.join(map(str, first['loc'])) or 'content'}: {first['msg']}") from error


def _dump(value: dict[str, Any]) -> str:
    text: str = yaml.dump(value, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=100)
    return text


def fsync_folder(folder: Path) -> None:
    """Force a folder's files and entries to disk, so that a rename after it is durable."""
    for path in [*folder.rglob("*"), folder]:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
