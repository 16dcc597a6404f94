"""The page: one file that says what the run folders say, whatever the tasks hold."""

import base64
import hashlib
import json
import re
import shutil
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.report.page_runs import HOSTILE, RunBuilder

from coevolve.errors import ConfigError, DataError
from coevolve.report import page_curves
from coevolve.report.page import page, short_names, write_page
from coevolve.report.page_costs import costs, warnings
from coevolve.report.page_curves import charts, estimate
from coevolve.report.page_history import history
from coevolve.report.page_lineage import Detail, clipped, lineages
from coevolve.report.runs import read_run


class Reader(HTMLParser):
    """Elements with their attributes, and the text inside script and style."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[dict[str, str | None], str]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.raw.append((dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] in ("script", "style") and self.cdata_elem:
            self.raw[-1] = (self.raw[-1][0], self.raw[-1][1] + data)
        else:
            self.words.append(data)


def hostile(place: str) -> str:
    return f"{place} {HOSTILE}"


def islands(text: str) -> list[dict[str, Any]]:
    found = [body for attributes, body in Reader(text).raw if (attributes.get("id") or "").startswith("island-")]
    return [json.loads(zlib.decompress(base64.b64decode(body))) for body in found]


def test_the_same_runs_give_the_same_bytes_wherever_they_lie(tmp_path: Path) -> None:
    write_page([RunBuilder(tmp_path / "x" / "run").build()], tmp_path / "one.html")
    shutil.copytree(tmp_path / "x", tmp_path / "elsewhere" / "x")
    write_page([read_run(tmp_path / "elsewhere" / "x" / "run")], tmp_path / "new" / "two.html")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "new" / "two.html").read_bytes()
    assert str(tmp_path) not in (tmp_path / "one.html").read_text()
    assert not list(tmp_path.glob(".*"))


def test_a_page_without_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="at least one run"):
        write_page([], tmp_path / "page.html")


def test_the_page_names_no_other_file_and_no_address(tmp_path: Path) -> None:
    read = Reader(page([RunBuilder(tmp_path / "x" / "run").build()]))
    for tag, attributes in read.elements:
        for name, value in attributes.items():
            if name in ("src", "href", "srcset", "action", "data", "poster"):
                assert str(value).startswith(("#", "data:")), (tag, name, value)
    style, script = read.raw[0][1], read.raw[-1][1]
    assert "url(" not in style and "@import" not in style
    assert not re.search(r"https?:|fetch\(|XMLHttpRequest|import\(|innerHTML|eval\(", script)


def test_the_policy_allows_exactly_the_pages_own_style_and_script(tmp_path: Path) -> None:
    read = Reader(page([RunBuilder(tmp_path / "x" / "run", text=hostile).build()]))
    policy = next(attributes["content"] for _, attributes in read.elements if "http-equiv" in attributes) or ""
    for body in (read.raw[0][1], read.raw[-1][1]):
        assert f"'sha256-{base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()}'" in policy
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert not any("style" in attributes for _, attributes in read.elements)


def test_hostile_text_stays_text_and_comes_out_whole(tmp_path: Path) -> None:
    text = page([RunBuilder(tmp_path / "x" / "run", text=hostile).build()])
    read = Reader(text)
    assert "img" not in {tag for tag, _ in read.elements}
    assert not any(name.startswith("on") for _, attributes in read.elements for name in attributes)
    scripts = [attributes.get("type") for tag, attributes in read.elements if tag == "script"]
    assert scripts == ["application/json", *["application/octet-stream"] * 3, None]
    shown = "".join(read.words)
    for place in ("evidence", "intent 1", "line 1", "wanted", "w", "p"):
        assert f"{place} {HOSTILE}" in shown, place
    index = next(json.loads(body) for attributes, body in read.raw if attributes.get("id") == "index-0")
    assert index["chains"][0][0] == hostile("c0")
    chain = islands(text)[0]
    assert chain["chain"] == hostile("c0")
    assert chain["rounds"][0]["question"] == hostile(f"question {hostile('c0')} 0")
    assert chain["rounds"][1]["verdicts"][0]["votes"][0]["reasoning"] == hostile("reasoning")


def test_a_lineage_tells_how_each_task_was_made_judged_and_attempted(tmp_path: Path) -> None:
    first, *_, last = lineages(RunBuilder(tmp_path / "x" / "run").build(), Detail(1000, 1000))
    assert [found["round"] for found in first["rounds"]] == [0, 1, 2]
    assert (first["chain"], first["domain"], first["license"]) == ("c0", "math", "CC0-1.0")
    made = first["rounds"][1]
    assert made["question"] == "question c0 0 And 1?" and made["answer"] == "41" and made["program"] == "print(41)"
    assert (made["correct"], made["n"], made["unparsed"]) == (3, 4, 1)
    assert made["skills"] == ["skill-1"] and made["admitted"] == ["skill-1"]
    assert [step["action"] for step in made["steps"]] == ["extend", "verify"]
    assert made["verdicts"] == [
        {"step": 2, "votes": [{"model": "made-up", "well_posed": True, "answer": "41", "reasoning": "reasoning",
                               "problems": ["problem c0 1"]}], "own": "own attempt"}
    ]  # fmt: skip
    assert made["attempts"][3] == {"text": "attempt c0 1 3"}
    kept = last["rounds"][2]
    assert not kept["new"] and "question" not in kept
    assert (kept["cause"], kept["problems"]) == ("ambiguous", ["problem c2 2"])
    assert (kept["correct"], kept["n"]) == (2, 4)


def test_without_its_journal_a_lineage_keeps_the_counts(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path / "x" / "run").build()
    shutil.rmtree(run.folder / "journal")
    made = lineages(run, Detail(1000, 1000))[0]["rounds"][1]
    assert (made["correct"], made["n"]) == (3, 4) and "attempts" not in made and "verdicts" not in made
    assert "made-up" in page([run])


def test_what_is_shortened_says_how_much_is_left_out() -> None:
    assert clipped("abcdef", 6) == "abcdef"
    assert clipped("a" * 50 + "b" * 50, 10) == "aaaaa\n[… 90 characters left out …]\nbbbbb"


def test_too_long_lineages_are_shortened_until_they_fit(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path / "x" / "run", text=lambda place: place + _noise(place, 5_000)).build()
    full, small = page([run]), page([run], room=60_000)
    assert "shortened in the middle" not in full and "shortened in the middle" in small
    assert len(small) < len(full) and "left out" in islands(small)[0]["rounds"][0]["question"]


def _noise(place: str, length: int) -> str:
    """Text that does not compress."""
    digest = (hashlib.sha256(f"{place}{number}".encode()).hexdigest() for number in range(length // 64 + 1))
    return "".join(digest)[:length]


def test_the_history_shows_every_kind_of_change_and_the_gates_verdict(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path / "x" / "run").build()
    start, first, _ = history(run)
    assert {change.op for change in start.changes} == {"added", "set"}
    found = {(change.kind, change.op, change.name): change for change in first.changes}
    assert set(found) == {
        ("skill", "added", "skill-1"),
        ("skill", "removed", run_first_skill(run)),
        ("prompt", "revised", "director"),
        ("workflow", "revised", "skills_shown"),
    }
    assert "learnt while a batch ran, from r1/c/2" in found["skill", "added", "skill-1"].note
    assert ("+", "intent: intent 1") in found["skill", "added", "skill-1"].lines
    assert ("+", "line 1") in found["prompt", "revised", "director"].lines
    assert [line.mark for line in found["workflow", "revised", "skills_shown"].lines] == ["-", "+"]
    assert first.counts() == "1 skill added, 1 skill removed, 1 prompt revised, 1 workflow revised"
    baseline, candidate = first.tried
    assert baseline.accepted is None and candidate.accepted is False
    assert candidate.reasons == ("not harder: accuracy 0.750 >= 0.500",)
    assert candidate.changes[0].lines[0] == ("+", "intent: wanted")


def run_first_skill(run: Any) -> str:
    return str(history(run)[0].changes[0].name)


def test_verdicts_of_older_runs_come_from_their_reject_reports(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path / "x" / "run").build()
    for path in run.folder.glob("archive/*/version.json"):
        record = json.loads(path.read_text())
        for candidate in record["evaluations"].get("candidates", []):
            del candidate["verdict"]
        if record["round"] == 2:
            record |= {"status": "accepted", "rejections": []}
        path.write_text(json.dumps(record))
    _, rejected, accepted = (chapter.tried[1:] for chapter in history(read_run(run.folder)))
    assert [(probe.accepted, probe.reasons) for probe in rejected] == [
        (False, ("not harder: accuracy 0.750 >= 0.500",))
    ]
    assert [(probe.accepted, probe.reasons) for probe in accepted] == [(True, ())]


def test_costs_are_the_ledgers_and_an_unknown_price_says_so(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path / "x" / "run")
    found = costs(builder.build())
    rows = [json.loads(line) for line in (builder.folder / "ledger.jsonl").read_text().splitlines()]
    whole = found.cells["all", "all"]
    assert (whole.calls, whole.microusd) == (len(rows), sum(row["microusd"] for row in rows))
    reported = [row for row in rows if row["phase"] == "reporting"]
    assert found.cells["solver", "reporting"].calls == len(reported) == 36
    assert found.roles == ("verify", "solver") and found.phases == ("generation", "reporting")
    dear = RunBuilder(tmp_path / "x" / "other")
    dear.price = None
    assert "unknown" in page([dear.build()])


def test_warnings_count_what_went_wrong(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path / "x" / "run")
    run = builder.build()
    odd = json.loads((run.folder / "ledger.jsonl").read_text().splitlines()[0])
    with (run.folder / "ledger.jsonl").open("a") as file:
        for change in ({"outcome": "truncated"}, {"retries": ["timeout", "http 500"]}, {"outcome": "failed"}):
            file.write(json.dumps({**odd, **change}) + "\n")
    found = warnings(run)
    assert found.any
    assert [row["unparsed"] for row in found.rounds] == [0, 3, 3]
    assert [row["invalid"] for row in found.rounds] == [None, 0, 1]
    assert found.causes == {"ambiguous": 1}
    assert found.calls == {
        "solver calls failed": 1,
        "solver calls truncated": 1,
        "tries that failed and were made again: http 500": 1,
        "tries that failed and were made again: timeout": 1,
    }
    assert found.weak_zeros == ((2, "c0"),) and found.messages == ("round 2: w",)
    assert 'href="#lineage/0/c0"' in page([run])


def test_curves_lie_within_their_panel_and_every_point_has_an_interval(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path / "x" / "run").build()
    panels = charts([run], ["full"])
    assert [panel.title for panel in panels] == ["All domains, weighted equally", "Math", "Coding", "Science"]
    for panel in panels:
        for point in panel.curves[0].points:
            assert page_curves.LEFT < point.x < page_curves.WIDTH - page_curves.RIGHT
            assert page_curves.TOP <= point.high <= point.y <= point.low <= page_curves.HEIGHT - page_curves.BOTTOM
            assert point.high < point.low
    value = estimate(run.rounds[2], "all")
    assert value is not None and (value.value, value.n_tasks, value.n_attempts) == (0.5, 3, 12)
    low, high = run.rounds[2].row["interval"]
    assert (value.low, value.high) == pytest.approx((low, high))


def test_runs_are_named_by_what_tells_them_apart(tmp_path: Path) -> None:
    runs = [RunBuilder(tmp_path / "x" / f"run{seed}", seed=seed).build() for seed in (0, 1)]
    assert short_names(runs[:1]) == ["full"]
    assert short_names(runs) == ["full · seed 0", "full · seed 1"]
    assert short_names([runs[0], runs[0]]) == [runs[0].id, runs[0].id]


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("events.jsonl", '{"phase":"generation","probe":""}\n', "events.jsonl: a record lacks"),
        ("journal/r001.jsonl", '{"call": "r1/reporting//c0/0/solver/0"}\n', "journal: a record lacks"),
        ("archive/v001/harness/skills/skill-1.md", "---\n- a\n---\n", "v001: what it holds of the harness"),
        ("ledger.jsonl", "nope\n", "ledger.jsonl line 1"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, file: str, content: str, said: str) -> None:
    run = RunBuilder(tmp_path / "x" / "run").build()
    (run.folder / file).write_text(content)
    with pytest.raises(DataError, match=said):
        page([run])
