"""A skill's tool_hint reads back as written; anything else is inapplicable and never a crash."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coevolve.construction.base import SIZES, STYLES, Inapplicable
from coevolve.construction.hint import Hint, construction_for, parse_hint
from coevolve.construction.registry import CONSTRUCTIONS


def test_hints_read_back_as_they_were_written():
    for name, construction in CONSTRUCTIONS.items():
        for op in ("any", *construction.ops):
            for style in (None, *STYLES):
                hint = Hint(name, SIZES[-1], op, style)
                assert parse_hint(str(hint), CONSTRUCTIONS) == hint
                assert construction_for(hint, CONSTRUCTIONS, "terse").name == name


@pytest.mark.parametrize(
    "text",
    [
        "", "follow_on", "construction:", "construction: unknown size=1", "construction: follow_on size=0",
        "construction: follow_on size=99", "construction: follow_on size=x", "construction: follow_on op=pow",
        "construction: follow_on style=loud", "construction: follow_on size=1 size=2",
        "construction: follow_on speed=1", "construction: follow_on; import os", "run: follow_on",
    ],
)  # fmt: skip
def test_a_malformed_hint_is_inapplicable_and_no_crash(text: str):
    with pytest.raises(Inapplicable):
        parse_hint(text, CONSTRUCTIONS)


@given(st.text(max_size=80))
def test_no_hint_text_crashes(text: str):
    for hint in (text, f"construction: {text}"):
        try:
            parse_hint(hint, CONSTRUCTIONS)
        except Inapplicable:
            continue
