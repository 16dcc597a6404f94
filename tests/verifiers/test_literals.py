import pytest

from coevolve.verifiers import literals


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("True", "1", False),
        ("1", "1.0", False),
        ("[1, 2]", "(1, 2)", False),
        ("'abc'", '"abc"', True),
        ("{'a': 1, 'b': [True]}", "{'b': [True], 'a': 1}", True),
        ("{'a': 1}", "{'a': True}", False),
        ("{1, 2}", "{2, 1}", True),
        ("{1, 2}", "{1.0, 2}", False),
        ("`[1]`", "[1]", True),
        ("```python\n[1]\n```", "[1]", True),
        ("'abc'.", "'abc'", True),
        ("0.1", "0.10", True),
        ("b'x'", "'x'", False),
        ("None", "None", True),
        ("-5", "-5", True),
    ],
)
def test_literals_are_compared_by_value_and_type(one: str, other: str, same: bool) -> None:
    assert literals.same(literals.parse(one).value, literals.parse(other).value) is same


@pytest.mark.parametrize(
    "text", ["abc", "", "f(1)", "[" * 5000, "-" * 5000 + "1", "9" * 20_000, "__import__('os')", "1 if True else 0"]
)
def test_what_is_no_literal_is_not_read(text: str) -> None:
    assert not literals.parse(text).read
