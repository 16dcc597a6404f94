"""Which reference answers are the same."""

import pytest

from coevolve.overlap import answers
from coevolve.overlap.text import Form

PROGRAM = "def f(x):\n    return x + 1"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("0.5", r"\frac{1}{2}"),
        ("1/2", "$\\boxed{0.50}$"),
        ("1,200", "1200.0"),
        ("3 m/s", "3"),
        ("$27", "27"),
        ("25%", "25"),
        ("-\\frac{7}{4}", "-1.75"),
        ("1e3", "1000"),
        (" Oslo. ", "oslo"),
        ("[1, 2]", "[1,2]"),
        (PROGRAM, PROGRAM.replace("f(", "g(").replace("x", "number")),
    ],
)
def test_two_spellings_of_one_answer_have_one_key(first: str, second: str) -> None:
    assert answers.key(first, Form("")) == answers.key(second, Form(""))
    assert not answers.apart(answers.key(first, Form("")), answers.key(second, Form("")))


@pytest.mark.parametrize(
    ("first", "second"), [("1,2", "12"), ("5", "-5"), ("Oslo", "Lima"), ("1/2", "1/3"), ("2^3", "23")]
)
def test_other_answers_are_apart(first: str, second: str) -> None:
    assert answers.apart(answers.key(first, Form("")), answers.key(second, Form("")))


@pytest.mark.parametrize("answer", [None, "", "  ", "1/0", "9" * 5000, "1e999999999"])
def test_an_odd_answer_has_some_key(answer: str | None) -> None:
    key = answers.key(answer, Form(""))
    assert key is None or key


def test_a_letter_stands_for_the_choice_it_names() -> None:
    listed, turned = Form("Which?\nA) tin\nB) iron"), Form("Which?\nA) iron\nB) tin")
    assert answers.key("B", listed) == answers.key("A", turned) == answers.key("iron", Form("Which?"))


def test_different_programs_say_nothing() -> None:
    other = "def f(x):\n    return sum([x, 1])"
    assert not answers.apart(answers.key(PROGRAM, Form("")), answers.key(other, Form("")))
    assert not answers.apart(None, "5")
