"""Objects are found in whatever wraps them; what is inside is taken as written or refused."""

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coevolve.errors import UnparsableReply
from coevolve.llm.replies import extract_object

OBJECT = {"question": "a {b} [c, d) ```", "answer": {"type": "integer", "value": "3"}, "skills_used": []}
TEXT = json.dumps(OBJECT)


@pytest.mark.parametrize(
    "wrapped",
    [
        TEXT,
        f"\n  {TEXT}\n",
        f"Here is the task:\n{TEXT}\nI hope that helps.",
        f"```json\n{json.dumps(OBJECT, indent=2)}\n```",
        f'First a draft:\n```json\n{{"question": 1,}}x\n```\nnow better:\n```\n{TEXT}\n```',
        f"The set {{1, 2}} is meant.\n{TEXT}",
        f"{TEXT[:-1]},}}",
        TEXT.replace("[]", "[ \n ]"),
    ],
)
def test_an_object_is_found_in_its_wrapping(wrapped):
    assert extract_object(wrapped) == OBJECT


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON object"),
        ("The answer is 3.", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"a": {"b": 1, "b": 2}}', "twice"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "Infinity"),
        ('{"a": ' + "[" * 30 + "]" * 30 + "}", "deeper"),
        ('{"a": ' + "[" * 90_000 + "]" * 90_000 + "}", "deeper"),
        ("{" * 150_000, "Expecting|deeper"),
        ("x" * 300_000, "characters"),
        ('{"solution": "3 \\times 4"}', "doubled"),
        ('{"solution": "\\frac{1}{2}"}', "doubled"),
        ('{"question": "cut in the mid', "Unterminated|no JSON"),
    ],
)
def test_what_is_no_clean_object_is_refused(text, why):
    with pytest.raises(UnparsableReply, match=why):
        extract_object(text)


def test_a_cut_object_never_passes_by_one_of_its_parts():
    for length in range(1, len(TEXT)):
        with pytest.raises(UnparsableReply):
            extract_object(TEXT[:length])


@pytest.mark.parametrize("value", ["a, }", "a,]", "3 \\times 4", "print(1)\n\tx = 2\nu = 3", "[0, 1) " * 40, '"', "\\"])
def test_text_inside_strings_is_left_as_it_is(value):
    text = json.dumps({"a": value, "b": [1]})
    assert extract_object(text) == {"a": value, "b": [1]}
    assert extract_object(text[:-1] + ",}") == {"a": value, "b": [1]}


def test_a_line_break_inside_a_string_is_taken():
    assert extract_object('{"program": "a = 1\nprint(a)"}') == {"program": "a = 1\nprint(a)"}


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='{}[]",:\\ab1 \n`', max_size=80))
def test_no_text_ends_in_anything_but_an_object_or_a_refusal(text):
    with contextlib.suppress(UnparsableReply):
        assert isinstance(extract_object(text), dict)
