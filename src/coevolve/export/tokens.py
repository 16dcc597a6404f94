"""Counting with the student's own tokenizer and chat template."""

from collections.abc import Sequence
from typing import Any

from coevolve.errors import DataError, MissingExtra, boundary
from coevolve.export.config import StudentConfig
from coevolve.export.rows import Row
from coevolve.export.targets import prompt


class TokenCounter:
    """The student's tokenizer. Raises MissingExtra, DataError."""

    def __init__(self, name: str) -> None:
        try:
            from transformers import AutoTokenizer
        except ImportError as error:
            raise MissingExtra("student.tokenizer needs transformers: pip install 'coevolve[train]'") from error
        with boundary(DataError, f"student.tokenizer={name}"):
            self._tokenizer: Any = AutoTokenizer.from_pretrained(name)
        if not self._tokenizer.chat_template:
            raise DataError(f"student.tokenizer={name}: it has no chat template; give the instruct model's tokenizer")

    def counted(self, row: Row) -> Row:
        """`row` with the lengths of its prompt and of prompt and target together, chat template included."""
        asked = prompt(row.task)
        prompt_tokens = self._length(asked, True)
        if not row.target:
            return row._replace(prompt_tokens=prompt_tokens, total_tokens=prompt_tokens)
        total = self._length([*asked, {"role": "assistant", "content": row.target}], False)
        return row._replace(prompt_tokens=prompt_tokens, total_tokens=total)

    def _length(self, messages: Sequence[dict[str, str]], generation: bool) -> int:
        rendered = self._tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=generation)
        return len(self._tokenizer(rendered, add_special_tokens=False)["input_ids"])


def overlength(row: Row, student: StudentConfig) -> str | None:
    """Why `row` is too long, or None."""
    if student.prompt_tokens is not None and (row.prompt_tokens or 0) > student.prompt_tokens:
        return f"its prompt has {row.prompt_tokens} tokens, student.prompt_tokens={student.prompt_tokens}"
    if student.total_tokens is not None and (row.total_tokens or 0) > student.total_tokens:
        return f"it has {row.total_tokens} tokens, student.total_tokens={student.total_tokens}"
    return None
