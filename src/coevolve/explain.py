"""One line out of what Hydra, OmegaConf, pydantic and failures say: what, where, and the cure."""

import errno
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from coevolve.errors import CoevolveError, UserError

UNKNOWN_KEY = re.compile(r"Could not override '([^']+)'|Key '[^']*' is not in struct\s+full_key: (\S+)")
UNKNOWN_OPTION = re.compile(r"Could not find '([^']+)/([^'/]+)'")
OPTIONS_FOLLOW = re.compile(r"Available options in '[^']+':\s*(.+?)\s*(?:Config search path|\Z)", re.DOTALL)
UNKNOWN_OVERRIDE_GROUP = re.compile(r"In '([^']+)': Could not override '([^']+)'")
AMBIGUOUS = re.compile(r"Ambiguous value for argument '([^']+)'")
ALREADY_THERE = re.compile(r"An item is already at '([^']+)'")
MISSING_VALUE = re.compile(r"(?:Missing mandatory value: |full_key: )(\S+)")
LAUNCHER_EXTRAS: Mapping[str, str] = {"joblib": "joblib", "submitit_slurm": "slurm", "ray": "ray"}
"""Hydra launcher -> the option of `execution` that names it, and the extra that brings it."""
NO_CONFIG = re.compile(r"Cannot find primary config '([^']+)'")


def one_line(text: object) -> str:
    """`text` with every run of blanks and line ends as one blank."""
    return " ".join(str(text).split())


def flat_keys(tree: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Every dotted key of a nested mapping, inner ones too."""
    keys: list[str] = []
    for key, value in tree.items():
        keys.append(f"{prefix}{key}")
        if isinstance(value, Mapping):
            keys.extend(flat_keys(value, f"{prefix}{key}."))
    return keys


def nearest(wrong: str, known: Iterable[str]) -> str:
    """`; did you mean …?` for the known name nearest to `wrong` (by its last part first), else the empty text."""
    names = list(known)
    leaf = wrong.rpartition(".")[2]
    close = get_close_matches(leaf, {name.rpartition(".")[2] for name in names}, n=1, cutoff=0.7)
    alike = [name for name in names if close and name.rpartition(".")[2] == close[0]]
    best = get_close_matches(wrong, alike, n=1, cutoff=0) or get_close_matches(wrong, names, n=1, cutoff=0.85)
    return f"; did you mean {best[0]}?" if best else ""


def explain_hydra(message: str, known: Iterable[str]) -> str:
    """What a Hydra or OmegaConf message means; `known` holds every key and group of this command."""
    if found := UNKNOWN_OPTION.search(message):
        group, wrong = found.groups()
        if group == "hydra/launcher" and wrong in LAUNCHER_EXTRAS:
            extra = LAUNCHER_EXTRAS[wrong]
            return f"execution={extra} needs a package that is not installed: pip install 'coevolve[{extra}]'"
        listed = OPTIONS_FOLLOW.search(message)
        options = listed.group(1).split() if listed else []
        has = f" ({group} has: {', '.join(options)})" if options else ""
        return f"{group}={wrong}: no such option{nearest(wrong, options)}{has}"
    if found := AMBIGUOUS.search(message):
        return f"{found.group(1)}: a list of values needs -m to be swept, or quotes to be one text"
    if found := ALREADY_THERE.search(message):
        return f"{found.group(1)}: the key exists; write {found.group(1)}=… without the +"
    if found := UNKNOWN_OVERRIDE_GROUP.search(message):
        return f"{found.group(1)}: there is no group {found.group(2)!r} to override"
    if found := UNKNOWN_KEY.search(message):
        wrong = found.group(1) or found.group(2)
        return f"{wrong}: unknown key{nearest(wrong, known) or '; --help lists the keys'}"
    if found := NO_CONFIG.search(message):
        return f"there is no configuration {found.group(1)!r}"
    if found := MISSING_VALUE.search(message):
        first = message.splitlines()[0]
        said = "give a value" if first.startswith("Missing mandatory value") else one_line(first)
        return f"{found.group(1)}: {said}"
    return one_line(message.partition("\nSee ")[0].partition("Config search path")[0])


def _parent(plain: Any, location: tuple[int | str, ...]) -> Any:
    for part in location[:-1]:
        try:
            plain = plain[part]
        except (KeyError, IndexError, TypeError):
            return {}
    return plain


def _without_tags(plain: Any, location: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """`location` without what pydantic adds to name the member of a union: no key of `plain`, yet not the last part."""
    kept: list[int | str] = []
    for part in location[:-1]:
        try:
            plain = plain[part]
        except (KeyError, IndexError, TypeError):
            continue
        kept.append(part)
    return (*kept, *location[-1:])


def _problem(plain: Any, error: Any) -> str:
    location = _without_tags(plain, error["loc"])
    where = ".".join(map(str, location))
    if error["type"] == "extra_forbidden":
        siblings = [key for key in _parent(plain, location) if key != location[-1]]
        prefix = where.removesuffix(str(location[-1]))
        return f"{where}: unknown key{nearest(where, [f'{prefix}{key}' for key in siblings])}"
    if error["type"] == "missing":
        return f"{where}: this key is missing"
    said = str(error["msg"]).removeprefix("Value error, ")
    if isinstance(error["input"], Mapping):  # of several keys together: the message names them
        return said if said.startswith(where) else f"{where}: {said}"
    return f"{where}={error['input']!r}: {said}" if where else said


def explain_validation(error: ValidationError, plain: Any) -> str:
    """The first thing that is wrong in `plain`, and how many more there are."""
    problems = error.errors()
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return one_line(_problem(plain, problems[0])) + more


def named_failure(error: BaseException | None) -> CoevolveError | None:
    """The failure of our own vocabulary in `error`, also from within an exception group; user errors first."""
    if isinstance(error, BaseExceptionGroup):
        found = [named for inner in error.exceptions if (named := named_failure(inner))]
        return min(found, key=lambda named: not isinstance(named, UserError), default=None)
    if isinstance(error, CoevolveError) and type(error) is not CoevolveError:
        return error
    return None


def denied_file(error: BaseException | None) -> OSError | None:
    """A file or folder that this user may not read or write, also from within an exception group."""
    if isinstance(error, BaseExceptionGroup):
        return next((denied for inner in error.exceptions if (denied := denied_file(inner))), None)
    named = isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS) and error.filename
    return error if named and isinstance(error, OSError) else None
