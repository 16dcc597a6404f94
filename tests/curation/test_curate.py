"""A whole curation: every kind of input, what is dropped and why, what a person decides, what becomes skills."""

import base64
import json

import pytest

from coevolve.curation.curated import EVOLUTION, FAMILIES, HELD_OUT, MANIFEST, REVIEW
from coevolve.errors import ConfigError, DataError
from coevolve.harness_folder import initial_harness, load_harness

ITEM = {
    "id": "b1",
    "question": "A farmer walks 12 miles to the market on Monday and twice as far on Tuesday. How far is that in all?",
    "answer": "36",
}


def lines(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def manifest(out):
    return json.loads((out / MANIFEST).read_text())


def test_seeds_become_two_sides_a_first_harness_and_an_audit(desk, sums, tmp_path):
    out = desk.curate(f"seeds={lines(tmp_path / 's.jsonl', *sums(20))}")
    kept, sealed = rows(out / EVOLUTION), rows(out / HELD_OUT)
    assert (len(kept), len(sealed)) == (16, 4) and not {row["id"] for row in kept} & {row["id"] for row in sealed}
    assert manifest(out)["shares"]["seed"]["verify"] == {"in": 20, "out": 0, "share": 0.0, "rules": {}}
    assert load_harness(out / "h0").id == manifest(out)["harness_id"]


def test_a_family_never_crosses_and_its_members_are_named(desk, tmp_path):
    names = "Ann Ben Cleo Dora Emil Finn Gail Hugo Iris Jana".split()
    twins = [
        {"id": f"{name}{n}", "domain": "math", "answer": str(n + 5), "question": q.format(name=name, n=n)}
        for n, q in enumerate((
            "{name} has {n} red marbles and finds 5 more under the old bed. How many marbles are there now?",
            "The baker {name} bakes {n} loaves before noon, then 5 after it. How many loaves come out of the oven?",
            "Beside the lake {name} counts {n} swans, and later 5 others land. How many swans swim there?",
        ), 2)
        for name in names
    ]  # fmt: skip
    out = desk.curate(f"seeds={lines(tmp_path / 's.jsonl', *twins)}", "held_out=0.4")
    families = rows(out / FAMILIES)
    assert sorted(len(family["members"]) for family in families) == [10, 10, 10]
    sides = {row["id"]: name for name in (EVOLUTION, HELD_OUT) for row in rows(out / name)}
    assert all(len({sides[name] for name in family["members"]}) == 1 for family in families)
    assert len(rows(out / HELD_OUT)) == 10


def test_at_most_so_many_of_a_family_are_kept_where_that_is_wanted(desk, sums, tmp_path):
    twins = [
        {**sum_, "question": f"Ann has {n} red pears and buys 5 more. How many now?", "answer": str(n + 5)}
        for n, sum_ in enumerate(sums(8))
    ]
    out = desk.curate(f"seeds={lines(tmp_path / 's.jsonl', *twins)}", "family_cap=3")
    assert len(desk.ids(out)) == 3 and len(desk.audit(out, rule="family_cap")) == 5


def test_each_kind_of_input_is_read(desk, sums, tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    datasets, pypdf = pytest.importorskip("datasets"), pytest.importorskip("pypdf")
    folder = tmp_path / "inputs"
    folder.mkdir()
    seeds = sums(50)
    lines(
        folder / "a.jsonl", *seeds[:10], {"text": "Parity decides: an even result takes one rule, otherwise another."}
    )
    heading = "id,domain,question,answer\n"
    table = "".join(f'{s["id"]},{s["domain"]},"{s["question"]}",{s["answer"]}\n' for s in seeds[10:20])
    (folder / "b.csv").write_text(heading + table, encoding="utf-8")
    parquet.write_table(pyarrow.Table.from_pylist(seeds[20:30]), folder / "c.parquet")
    (folder / "d.md").write_text("# Percentages\n\nTake 12 per cent of a result.\n", encoding="utf-8")
    (folder / "e.txt").write_text("Work backwards from the result that is stated.\n", encoding="utf-8")
    (folder / "f.pdf").write_bytes(pdf_of("Convert kilometres to miles after the last step."))
    assert "Convert" in pypdf.PdfReader(folder / "f.pdf").pages[0].extract_text()
    datasets.Dataset.from_list(seeds[30:40]).save_to_disk(str(tmp_path / "saved"))
    out = desk.curate(f"seeds=[{folder},{tmp_path / 'saved'}]")
    assert len(desk.ids(out)) == 40 and manifest(out)["counts"]["passages"] == 4
    names = {skill.name.rpartition("-")[0] for skill in load_harness(out / "h0").skills}
    assert {"case-split", "percentage", "inversion", "unit-change"} <= names


def pdf_of(text):
    """A PDF of one page with one line of text."""
    stream = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources 6 0 R >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Font << /F1 5 0 R >> >>",
    ]
    body, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer << /Size 7 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(body)
    return body + b"xref\n0 7\n0000000000 65535 f \n" + table + end


def test_what_overlaps_a_benchmark_is_dropped_with_its_evidence_and_without_its_text(desk, sums, tmp_path):
    copy = {"id": "copy", "domain": "math", "answer": "36", "question": ITEM["question"].replace("farmer", "FARMER")}
    renumbered = {"id": "near", "domain": "math", "answer": "60", "question": ITEM["question"].replace("12", "20")}
    passage = tmp_path / "notes.md"
    passage.write_text(f"An old puzzle:\n{ITEM['question']}\nIts answer is easily found.\n", encoding="utf-8")
    seeds = lines(tmp_path / "s.jsonl", *sums(5), copy, renumbered)
    out = desk.curate(f"seeds=[{seeds},{passage}]", f"benchmarks={lines(tmp_path / 'bench.jsonl', ITEM)}")
    assert desk.ids(out) == {f"m{n}" for n in range(5)} and manifest(out)["counts"]["passages"] == 0
    found = desk.audit(out, step="overlap")
    assert {(row["id"].partition("#")[0], row["evidence"]["matched"]) for row in found} == {
        ("copy", "bench/b1"), ("near", "bench/b1"), ("notes.md", "bench/b1")
    }  # fmt: skip
    dropped = [row for row in found if row["outcome"] == "drop"]
    assert dropped and all("walks" not in json.dumps(row) for row in dropped)


def test_dirty_records_that_reading_cannot_judge_end_as_expected(desk, shared_data, tmp_path):
    cases = [json.loads(line) for line in (shared_data / "dirty_cases.jsonl").read_text(encoding="utf-8").splitlines()]
    wanted = {
        "D34": "exact",
        "D35": "reference_fails_own_tests",
        "D36": "tests_timeout",
        "D37": "reference_fails_own_tests",
    }
    seeds = tmp_path / "s.jsonl"
    seeds.write_bytes(b"\n".join(base64.b64decode(case["raw_b64"]) for case in cases if case["case_id"] in wanted))
    bench = shared_data / "benchmarks" / "math_gsm8k_test.jsonl"
    out = desk.curate(f"seeds={seeds}", f"benchmarks={bench}", "acquisition.enabled=false")
    found = sorted(row["rule"] for step in ("overlap", "verify") for row in desk.audit(out, step=step))
    assert desk.ids(out) == set() and found == sorted(wanted.values())
    assert desk.audit(out, step="overlap")[0]["evidence"]["matched"] == "math_gsm8k_test/gsm8k-test-462"


def test_the_registry_is_named_and_hashed(desk, sums, tmp_path):
    bench = lines(tmp_path / "bench.jsonl", ITEM)
    seeds = lines(tmp_path / "s.jsonl", *sums(3))
    out = desk.curate(f"seeds={seeds}", f"benchmarks={bench}", "benchmarks_version=spring")
    registry = manifest(out)["registry"]
    assert (registry["version"], [row["name"] for row in registry["benchmarks"]]) == ("spring", ["bench"])
    lines(bench, {**ITEM, "answer": "37"})
    with pytest.raises(DataError, match="changed: bench"):
        desk.curate(f"seeds={seeds}", f"benchmarks={bench}", "benchmarks_version=spring")


def test_only_seeds_whose_reference_passes_its_verifier_are_kept(desk, sums, tmp_path):
    tests = {"kind": "asserts", "entry_point": "f", "cases": ["assert f(2) == 4", "assert f(3) == 7"]}
    program = {"domain": "coding", "question": "Write f.", "answer_type": "code_tests", "tests": tests}
    bad = {"id": "bad", "answer": "def f(n):\n    return n * 2\n", **program}
    out = desk.curate(f"seeds={lines(tmp_path / 's.jsonl', *sums(3), bad)}")
    assert desk.ids(out) == {"m0", "m1", "m2"}
    assert [row["rule"] for row in desk.audit(out, step="verify")] == ["reference_fails_own_tests"]


def test_a_person_brings_back_and_takes_out(desk, sums, tmp_path):
    near = {"id": "near", "domain": "math", "answer": "60", "question": ITEM["question"].replace("12", "20")}
    seeds = lines(tmp_path / "s.jsonl", *sums(5), near)
    given = (f"seeds={seeds}", f"benchmarks={lines(tmp_path / 'bench.jsonl', ITEM)}")
    out = desk.curate(*given)
    sides = {row["id"]: name for name in (EVOLUTION, HELD_OUT) for row in rows(out / name)}
    review = lines(
        tmp_path / "mine.jsonl",
        *rows(out / REVIEW),
        {"id": "near", "decision": "keep", "note": "other numbers"},
        {"id": "m1", "decision": "drop", "note": "dull"},
    )
    out = desk.curate(*given, f"review={review}")
    assert desk.ids(out) == {"m0", "m2", "m3", "m4", "near"}
    assert {(row["id"], row["outcome"]) for row in desk.audit(out, rule="person")} == {("near", "keep"), ("m1", "drop")}
    now = {row["id"]: name for name in (EVOLUTION, HELD_OUT) for row in rows(out / name)}
    assert all(now[name] == side for name, side in sides.items() if name in now)
    written = (out / MANIFEST).stat().st_mtime_ns
    assert desk.curate(*given, f"review={out / REVIEW}") == out  # it holds the decisions: nothing is to be done
    assert (out / MANIFEST).stat().st_mtime_ns == written
    with pytest.raises(ConfigError, match="a person's decisions"):
        desk.curate(*given)
    lines(review, {"id": "m1", "decision": "maybe"})
    with pytest.raises(DataError, match=r"mine\.jsonl:1: decision"):
        desk.curate(*given, f"review={review}")


def test_acquired_skills_overlap_no_benchmark_and_name_their_sources(desk, sums, tmp_path):
    skill = "Ask what the found percentage is of a given number. Use operands of the second grade."
    bench = lines(tmp_path / "bench.jsonl", {"id": "s1", "question": f"apply a percentage\n{skill}", "answer": "1"})
    notes = tmp_path / "notes.md"
    notes.write_text("Take 12 per cent of it.\n\nConvert 15 kilometres into miles.", encoding="utf-8")
    out = desk.curate(f"seeds=[{lines(tmp_path / 's.jsonl', *sums(3))},{notes}]", f"benchmarks={bench}")
    library = {found.name: found for found in load_harness(out / "h0").skills}
    assert "percentage-second" not in library and library["unit-change-second"].provenance[0].startswith(
        "source:notes.md#"
    )
    assert {row["evidence"]["matched"] for row in desk.audit(out, id="percentage-second")} == {"bench/s1"}
    provenance = json.loads((out / "h0" / "provenance.json").read_text())
    (about,) = [row for row in provenance["skills"] if row["name"] == "unit-change-second"]
    assert about["model"] == "procedural" and about["sources"][0]["origin"] == str(notes)
    assert {found.name for found in initial_harness().skills} <= set(library)


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (("seeds=none.jsonl",), "does not exist"),
        (("seeds={n}",), "none of its records could be read; the first of them: it has no question"),
        (("seeds=null",), "give seeds="),
        (("seeds={s}", "benchmarks=null"), "benchmarks="),
        (("seeds={s}", "benchmarks=nowhere.jsonl"), "nowhere.jsonl"),
        (("seeds={s}", "review=nowhere.jsonl"), "review=nowhere.jsonl"),
        (("seeds={x}",), ".xlsx"),
        (("seeds={s}", "out={o}"), "the folder holds other things (mine.txt)"),
    ],
)
def test_wrong_input_is_one_line(desk, sums, tmp_path, overrides, said):
    (tmp_path / "a.xlsx").write_text("x")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("x")
    places = {
        "s": lines(tmp_path / "s.jsonl", *sums(2)),
        "x": tmp_path / "a.xlsx",
        "o": tmp_path / "other",
        "n": lines(tmp_path / "n.jsonl", {"domain": "math"}),
    }
    with pytest.raises((ConfigError, DataError)) as caught:
        desk.curate(*(word.format(**places) for word in overrides))
    assert said in str(caught.value) and "\n" not in str(caught.value)
