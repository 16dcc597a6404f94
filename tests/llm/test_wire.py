"""What is sent and how replies are read, whatever the server's habits."""

import pytest

from coevolve.llm.base import ChatRequest, Message, Sampling
from coevolve.llm.faulty_server import completion, read_request
from coevolve.llm.wire import Dialect, context_tokens, parse_answer, refusal_text, split_thinking, too_long

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
REQUEST = ChatRequest((Message("user", "hello"),), Sampling(0.5, 77, 9, ("\n",)), SCHEMA, "verify")


def dialect(**changes) -> Dialect:
    return Dialect(**{"model": "m", "host": "h", "thinking": None, "schema_mode": "json_schema", **changes})


def payload(content, finish="stop", **message) -> dict:
    return {
        "choices": [{"message": {"content": content, **message}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
    }


def test_a_request_survives_the_way_to_a_server():
    assert read_request(dialect().body(REQUEST)) == REQUEST


def test_the_schema_is_asked_for_as_far_as_the_endpoint_goes():
    assert dialect().body(REQUEST)["response_format"]["json_schema"]["name"] == "verify"
    assert dialect(schema_mode="json_object").body(REQUEST)["response_format"] == {"type": "json_object"}
    assert "response_format" not in dialect(schema_mode="none").body(REQUEST)


def test_a_refused_parameter_is_left_out_afterwards_and_sampling_never_changes():
    learner = dialect()
    assert learner.learn("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    assert learner.learn("response_format json_schema is unavailable")
    assert learner.learn("response_format json_object is unavailable")
    assert not learner.learn("response_format is unavailable")
    assert not learner.learn("temperature must be 1")
    body = learner.body(REQUEST)
    assert body["max_completion_tokens"] == 77 and "max_tokens" not in body and "response_format" not in body
    assert body["temperature"] == 0.5


@pytest.mark.parametrize(
    ("host", "key"),
    [
        ("api.deepseek.com", "thinking"),
        ("openrouter.ai", "reasoning"),
        ("api.openai.com", "reasoning_effort"),
        ("127.0.0.1", "chat_template_kwargs"),
    ],
)
def test_thinking_is_switched_in_the_words_of_the_host(host, key):
    assert dialect(host=host, thinking=False).body(REQUEST)[key] != dialect(host=host, thinking=True).body(REQUEST)[key]
    assert key not in dialect(host=host).body(REQUEST)


@pytest.mark.parametrize(
    ("content", "text", "thought"),
    [
        ("42", "42", ""),
        ("<think>hm</think>42", "42", "hm"),
        ("hm\n</think>\n\n42", "42", "hm"),
        ("<think>hm and no end", "", "hm and no end"),
        ("", "", ""),
    ],
)
def test_thinking_is_separated_from_the_answer(content, text, thought):
    assert split_thinking(content) == (text, thought)


def test_separate_reasoning_leaves_the_content_alone():
    answer = parse_answer(payload("a </think> b", reasoning_content="hm"), REQUEST)
    assert (answer.text, answer.reasoning) == ("a </think> b", "hm")


def test_a_reply_at_its_token_limit_says_so_and_no_text_is_an_empty_text():
    answer = parse_answer(payload(None, finish="length"), REQUEST)
    assert (answer.text, answer.finish) == ("", "length")


def test_cached_and_reasoning_tokens_are_read_in_both_forms():
    stated = payload("x")
    stated["usage"] |= {
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    usage = parse_answer(stated, REQUEST).usage
    assert (usage.tokens_in, usage.tokens_out, usage.tokens_cached, usage.tokens_reasoning) == (10, 5, 4, 3)
    stated["usage"] = {"prompt_tokens": 10, "completion_tokens": 5, "prompt_cache_hit_tokens": 6}
    assert parse_answer(stated, REQUEST).usage.tokens_cached == 6


def test_tokens_nobody_counted_are_estimated_never_zero():
    uncounted = payload("some words here")
    del uncounted["usage"]
    usage = parse_answer(uncounted, REQUEST).usage
    assert usage.tokens_in > 0 and usage.tokens_out > 0


@pytest.mark.parametrize("broken", [{}, {"choices": []}, {"choices": [{}]}, [], "x", {"choices": [{"message": None}]}])
def test_what_is_no_completion_is_refused(broken):
    with pytest.raises(ValueError, match="no completion"):
        parse_answer(broken, REQUEST)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b'{"error": {"message": "no\\nroom", "code": "x", "param": "p"}}', "no room x p"),
        (b'{"object": "error", "message": "bad", "code": 400}', "bad"),
        (b'{"error": "plain"}', "plain"),
        (b"<html>\nBad gateway</html>", "<html> Bad gateway</html>"),
        (b'{"detail": "Not Found"}', "Not Found"),
        (b"", ""),
    ],
)
def test_a_refusal_is_told_on_one_line(raw, said):
    assert refusal_text(raw) == said


def test_an_answer_under_another_name_than_at_first_is_noticed():
    dated = dialect()
    assert all(dated.expects(name) for name in ("m-2026-01-01", "m", None)) and not dated.expects("another")
    plain = dialect()
    assert plain.expects("m") and not plain.expects("m-2026-01-01")


def test_a_completion_states_what_was_counted():
    stated = completion("m", "x", "stop", parse_answer(payload("x"), REQUEST).usage)
    assert parse_answer(stated, REQUEST).usage.tokens_in == 10


def test_reasoning_tokens_are_counted_also_where_the_server_does_not_say():
    answer = parse_answer(payload("42", reasoning_content="h" * 8), REQUEST)
    assert (answer.usage.tokens_out, answer.usage.tokens_reasoning) == (5, 4), "thinking's share of the characters"
    stated = payload("42", reasoning_content="h" * 8)
    stated["usage"]["completion_tokens_details"] = {"reasoning_tokens": 1}
    assert parse_answer(stated, REQUEST).usage.tokens_reasoning == 1


def test_a_refused_form_of_switching_thinking_gives_way_to_the_next():
    learner = dialect(thinking=False)
    assert learner.body(REQUEST)["chat_template_kwargs"] == {"enable_thinking": False, "thinking": False}
    assert learner.learn("Unknown parameter: 'chat_template_kwargs'.")
    assert learner.body(REQUEST)["reasoning_effort"] == "none"
    assert learner.learn("Unsupported value: 'reasoning_effort' does not support 'none' with this model.")
    assert learner.body(REQUEST)["reasoning_effort"] == "minimal"
    assert not learner.learn("Unrecognized request argument supplied: reasoning_effort")
    assert not dialect().learn("Unknown parameter: 'chat_template_kwargs'.")


@pytest.mark.parametrize(
    ("refusal", "size"),
    [
        ("This model's maximum context length is 6048 tokens. However, you requested 6616 tokens", 6048),
        ("the request exceeds the available context size. try increasing it", None),
        ("context_length_exceeded", None),
        ("The input is longer than the model's context length of 4096", 4096),
        ("prompt is too long: 210000 tokens", None),
    ],
)
def test_servers_say_in_many_words_that_a_prompt_is_too_long(refusal, size):
    assert too_long(refusal)
    assert context_tokens(refusal) == size


@pytest.mark.parametrize("refusal", ["too fast", "temperature must be 1", "rate limit: too many requests", "broken"])
def test_other_refusals_are_not_taken_for_it(refusal):
    assert not too_long(refusal)
