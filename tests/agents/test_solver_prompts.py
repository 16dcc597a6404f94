"""What the solver is asked."""

import pytest

from coevolve.agents.solver_prompts import form_of, prompts_hash, solver_messages, solver_prompts, solver_stop
from coevolve.tasks import Answer, Draft
from coevolve.verifiers import extract

QUESTION = "How many?"


def draft(kind, question=QUESTION):
    return Draft(question=question, answer=Answer(type=kind, value="1"))


@pytest.mark.parametrize(
    ("domain", "kind", "form"),
    [
        ("math", "integer", "number"),
        ("math", "expression", "number"),
        ("science", "integer", "quantity"),
        ("science", "quantity", "quantity"),
        ("coding", "code_output", "output"),
        ("coding", "code_tests", "program"),
        ("science", "choice", "choice"),
        ("science", "text", "text"),
    ],
)
def test_the_answer_decides_the_examples(domain, kind, form):
    assert form_of(domain, draft(kind)) == form
    messages = solver_messages(domain, draft(kind), "few_shot")
    assert messages[0].role == "system" and messages[-1].content == QUESTION
    assert [message.role for message in messages[1:-1]] == ["user", "assistant"] * (len(messages) // 2 - 1)


def test_questions_of_one_form_share_all_but_the_last_message():
    first, second = (solver_messages("math", draft("integer", text), "few_shot") for text in ("a", "b"))
    assert first[:-1] == second[:-1] and first[-1] != second[-1]


def test_the_answer_itself_is_never_part_of_the_prompt():
    secret = Draft(question=QUESTION, answer=Answer(type="integer", value="987654"), solution="987654")
    for style in ("few_shot", "plain"):
        assert not any("987654" in message.content for message in solver_messages("math", secret, style))


def test_every_example_is_one_line_with_an_answer_that_can_be_found():
    for form, examples in solver_prompts().few_shot.examples.items():
        assert examples
        for example in examples:
            if form == "program":
                assert extract.code(example.reply, None)
            else:
                assert "\n" not in example.reply and extract.answer(example.reply)


def test_few_shot_replies_end_at_the_line_except_programs():
    assert solver_stop(draft("integer"), "few_shot") == ("\n",)
    assert solver_stop(draft("code_tests"), "few_shot") == ()
    assert solver_stop(draft("integer"), "plain") == ()


def test_plain_asks_once_and_says_how_to_answer():
    (message,) = solver_messages("math", draft("integer"), "plain")
    assert message.content.startswith(QUESTION) and "Answer:" in message.content
    assert "code block" in solver_messages("coding", draft("code_tests"), "plain")[0].content


def test_prompts_have_one_stable_hash():
    assert prompts_hash() == prompts_hash() and len(prompts_hash()) == 16
