"""Published layouts that are not one question and one answer a record."""

import base64
import binascii
import io
import json
import pickle
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Literal

from coevolve.curation.records import Row

Layout = Literal["livecodebench", "scibench", "tasks"]
SCIBENCH_TOLERANCE = 0.05
"""SciBench counts a number within 5 % as right."""


def relaid(form: Layout, row: Row) -> Row:
    """The record in our own fields; a record that has not its layout's fields is a fault."""
    if row.fault:
        return row
    try:
        return row._replace(data=LAYOUTS[form](row.data))
    except (KeyError, TypeError, ValueError, pickle.UnpicklingError, zlib.error, binascii.Error) as error:
        return row._replace(fault=("unknown_layout", f"not in the layout of {form} ({type(error).__name__}: {error})"))


def _livecodebench(data: Mapping[str, Any]) -> dict[str, Any]:
    cases = [*_cases(data["public_test_cases"]), *_cases(data["private_test_cases"])]
    kinds = {case["testtype"] for case in cases}
    if len(kinds) != 1:
        raise ValueError(f"its tests are of {len(kinds)} kinds")
    functional = kinds == {"functional"}
    named = json.loads(data["metadata"]) if isinstance(data["metadata"], str) else data["metadata"]
    starter = str(data.get("starter_code") or "").rstrip()
    reads = "The program reads standard input and prints to standard output."
    closing = f"Start from this code:\n\n```python\n{starter}\n```" if starter else reads
    return {
        "id": f"lcb-{data['question_id']}",
        "domain": "coding",
        "question": f"{data['question_content']}\n\n{closing}",
        "answer": "",
        "answer_type": "code_tests",
        "tests": {
            "kind": "leetcode_method" if functional else "stdin_stdout",
            "entry_point": named.get("func_name") if functional else None,
            "cases": [{"input": case["input"], "output": case["output"]} for case in cases],
        },
        "source": "LiveCodeBench",
    }


def _cases(given: str) -> list[dict[str, Any]]:
    """Test cases as JSON, or as that JSON pickled, compressed and in base 64, the way hidden tests are shipped."""
    try:
        cases: list[dict[str, Any]] = json.loads(given)
    except ValueError:
        packed = zlib.decompress(base64.b64decode(given))
        cases = json.loads(_TextOnly(io.BytesIO(packed)).load())
    return cases


class _TextOnly(pickle.Unpickler):
    """Reads pickled text; anything that would import or call something is refused."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"the hidden tests want {module}.{name}")


def _scibench(data: Mapping[str, Any]) -> dict[str, Any]:
    unit = str(data.get("unit") or "").strip().strip("$ ")
    question = str(data["problem_text"])
    if unit:
        question += f" Give the value in {unit}."
    return {
        "id": f"scibench-{data['source']}-{str(data['problemid']).strip()}",
        "domain": "science",
        "question": question,
        "answer": str(data["answer_number"]).strip(),
        "answer_type": "quantity",
        "tolerance_rel": SCIBENCH_TOLERANCE,
        "source": "SciBench",
    }


def _tasks(data: Mapping[str, Any]) -> dict[str, Any]:
    """A line of a run's `archive/v<k>/tasks.jsonl`."""
    answer = data["answer"]
    tolerance = answer.get("tolerance") or {}
    return {
        **{name: data[name] for name in ("id", "domain", "question")},
        **{name: data.get(name) for name in ("tests", "solution", "source", "license")},
        **{name: answer.get(name) for name in ("unit", "choices", "aliases")},
        "answer": answer["value"],
        "answer_type": answer["type"],
        "tolerance_rel": tolerance.get("rel"),
        "tolerance_abs": tolerance.get("abs"),
    }


LAYOUTS: Mapping[Layout, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "livecodebench": _livecodebench,
    "scibench": _scibench,
    "tasks": _tasks,
}
