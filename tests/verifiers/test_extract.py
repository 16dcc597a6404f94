import pytest

from coevolve.verifiers import extract


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ("30 + 4 = 34. Answer: 34", "34"),
        ("Answer: 34.\n", "34."),
        ("**Answer:** 34", "34"),
        ("Answer: **34**", "34"),
        ("The final answer is $\\frac12$.", "$\\frac12$."),
        ("The answer is 42. I hope this helps.", "42"),
        ("Answer: 3\nWait.\nAnswer: 4", "4"),
        ("Answer:\n\n  7\n", "7"),
        ("#### 1,234", "1,234"),
        ("First \\boxed{41}, but then $\\boxed{\\frac{1}{2}}$. Answer: 9", "\\frac{1}{2}"),
        ("\\boxed{1}, \\boxed{2}", "1, 2"),
        ("\\boxed{\\boxed{42}}", "42"),
        ("\\fbox{42}", "42"),
        ("\\boxed{\\{1,2\\}}", "\\{1,2\\}"),
        ("Answer: Washington, D.C.", "Washington, D.C."),
        ("Answer: 'abc'", "'abc'"),
        ("Answer: 7 electrons. Because of the shell.", "7 electrons"),
    ],
)
def test_the_declared_answer_is_found(reply: str, wanted: str) -> None:
    assert extract.answer(reply) == wanted


@pytest.mark.parametrize(
    "reply",
    [
        "I think 42",
        "It is 3, then 4, then 5",
        "",
        "\\boxed{42",
        "\\boxed{}",
        "\\boxed{ }",
        "Answer:",
        "x = \\boxed{4} and \\boxed{5",
    ],
)
def test_without_a_declared_answer_nothing_is_found(reply: str) -> None:
    assert extract.answer(reply) is None


def test_a_box_bomb_is_read_in_linear_time() -> None:
    assert extract.answer("\\boxed{" * 20_000) is None
    assert extract.answer("\\boxed{" * 20_000 + "1" + "}" * 20_000) is None
    assert extract.answer("\\boxed{1} " * 20_000) is not None
    assert extract.answer("answer " * 30_000) is None


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        ("Sure!\n```python\ndef f(x):\n    return x\n```\nDone.", "f"),
        ("```\ndef g(x):\n    return 0\n```\n```python\ndef f(x):\n    return x\n```\n```\nf(3)\n```", "f"),
        ("def f(x):\n    return x\n\nThis function returns x.", "f"),
        ("Here it is:\nimport math\ndef f(x):\n    return x\n", "f"),
        ("```python\ndef f(x):\n    return x\n", "f"),
    ],
)
def test_a_program_is_found_fenced_or_bare(reply: str, name: str) -> None:
    source = extract.code(reply, name)
    assert source is not None
    space: dict = {}
    exec(source, space)
    assert space[name](4) == 4


def test_prose_is_no_program() -> None:
    assert extract.code("I cannot do this.", "f") is None
