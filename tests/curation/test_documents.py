"""Documents become passages: cut at blank lines, fences whole, nothing lost."""

import pytest

from coevolve.curation.documents import document_passages, text_passages
from coevolve.curation.records import Unusable


def test_neighbouring_blocks_are_put_together_while_they_fit(tmp_path):
    path = tmp_path / "a.md"
    path.write_text("# One\n\nfirst\n\n" + "second " * 40 + "\n\nthird\n", encoding="utf-8")
    found = list(document_passages(path, 200))
    assert [(passage.line, len(passage.text) <= 200) for passage in found][:2] == [(1, True), (5, True)]
    assert found[0].text == "# One\n\nfirst" and found[-1].text.endswith("third")


def test_a_fenced_block_stays_whole():
    text = "before\n\n```python\na = 1\n\nb = 2\n```\n\nafter"
    blocks = [passage.text for passage in text_passages(1, text, 30)]
    assert blocks == ["before", "```python\na = 1\n\nb = 2\n```", "after"]


def test_a_block_that_is_too_long_is_cut_at_spaces_and_loses_no_word():
    words = [f"word{n}" for n in range(300)]
    found = [passage.text for passage in text_passages(1, " ".join(words), 250)]
    assert " ".join(found).split() == words and max(map(len, found)) <= 250


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [("a.txt", b"caf\xe9 au lait", "not_utf8"), ("a.pdf", b"no pdf at all", "unreadable_file")],
)
def test_what_cannot_be_read_says_so(tmp_path, name, content, reason):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(Unusable) as caught:
        list(document_passages(path, 500))
    assert caught.value.reason == reason and "\n" not in caught.value.message
