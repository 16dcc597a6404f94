"""The reward judges right, wrong, malformed and hostile completions alike in any thread."""

import importlib.util
import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from coevolve.build import compose, load
from coevolve.export.config import ExportConfig
from coevolve.export.reward import Reward, reward_file
from coevolve.export.rows import Row
from coevolve.export.schema import ground_truth
from coevolve.tasks import Answer, Certificate, Domain, Task, Tests

HOSTILE = "```python\nimport os, sys\ndef double(x):\n    os._exit(0)\n```"
ENDLESS = "```python\ndef double(x):\n    while True: pass\n```"
CHEAT = """```python
class Same(int):
    def __eq__(self, other): return True
    __hash__ = int.__hash__
def double(x):
    return Same()
```"""


def truth(domain: Domain, answer: Answer, tests: Tests | None = None) -> str:
    task = Task(
        id="t",
        chain="t",
        domain=domain,
        round=1,
        question="Q?",
        answer=answer,
        tests=tests,
        certificate=Certificate(kind="source"),
        source="own",
        license="CC0-1.0",
    )
    return ground_truth(Row(task, "run", "full", "t"))


NUMBER = truth("math", Answer(type="integer", value="42"))
LENGTH = truth("science", Answer(type="quantity", value="5", unit="m"))
PROGRAM = truth(
    "coding",
    Answer(type="code_tests", value="def double(x):\n    return 2 * x\n"),
    Tests(
        kind="asserts",
        entry_point="double",
        cases=("assert double(2) == 4", "assert double(-3) == -6"),
        timeout_seconds=1.0,
    ),
)


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The `reward.py` of an export, loaded by its path as verl loads it."""
    config = load(compose("runs=x", "out=y", "verification.case_seconds=1.0", config_name="export"), ExportConfig)
    path: Path = tmp_path_factory.mktemp("export") / "reward.py"
    path.write_text(reward_file(config.verification))
    spec = importlib.util.spec_from_file_location("coevolve_export_reward", path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.mark.parametrize(
    ("text", "judged", "score"),
    [
        ("6 * 7 = 42\nAnswer: 42", NUMBER, 1.0),
        (r"so \boxed{42}", NUMBER, 1.0),
        ("Answer: 41", NUMBER, 0.0),
        ("Answer: 41 or 42", NUMBER, 0.0),
        ("", NUMBER, 0.0),
        ("\\boxed{" * 500, NUMBER, 0.0),
        ("Answer: 9**9**9**9", NUMBER, 0.0),
        ("Answer: 500 cm", LENGTH, 1.0),
        ("Answer: 5 s", LENGTH, 0.0),
        ("```python\ndef double(x):\n    return x + x\n```", PROGRAM, 1.0),
        ("```python\ndef double(x):\n    return x\n```", PROGRAM, 0.0),
        ("def double(x: return", PROGRAM, 0.0),
        (HOSTILE, PROGRAM, 0.0),
        (ENDLESS, PROGRAM, 0.0),
        (CHEAT, PROGRAM, 0.0),
    ],
)
def test_a_completion_is_worth_what_the_verifier_says(module: ModuleType, text: str, judged: str, score: float) -> None:
    assert module.compute_score("coevolve/any", text, judged, {"index": 1}) == score


def test_it_answers_from_many_threads_at_once(module: ModuleType) -> None:
    with ThreadPoolExecutor(8) as pool:
        scores = list(pool.map(lambda n: module.compute_score("coevolve/math", f"Answer: {n}", NUMBER), range(38, 46)))
    assert scores == [0.0] * 4 + [1.0] + [0.0] * 3


def test_trl_gets_a_list_and_may_give_messages(module: ModuleType) -> None:
    completions = [[{"role": "assistant", "content": "Answer: 42"}], "Answer: 1"]
    assert module.accuracy(completions=completions, ground_truth=[NUMBER, NUMBER], task=["a", "b"]) == [1.0, 0.0]


def test_it_travels_to_another_process_and_starts_anew(module: ModuleType) -> None:
    reward = pickle.loads(pickle.dumps(module._reward))
    assert isinstance(reward, Reward)
    assert reward.compute_score("coevolve/math", "Answer: 42", NUMBER) == 1.0
    reward.close()
    assert reward.compute_score("coevolve/math", "Answer: 42", NUMBER) == 1.0
    reward.close()


def test_a_forked_process_judges_for_itself(module: ModuleType) -> None:
    assert module.compute_score("coevolve/math", "Answer: 42", NUMBER) == 1.0, "the parent's loop runs"
    context = multiprocessing.get_context("fork")
    scores = context.SimpleQueue()
    child = context.Process(target=lambda: scores.put(module.accuracy(["Answer: 42", "Answer: 1"], [NUMBER, NUMBER])))
    child.start()
    child.join(60)
    child.kill()
    assert child.exitcode == 0
    assert scores.get() == [1.0, 0.0]


def test_a_ground_truth_of_somebody_else_is_an_error_not_a_zero(module: ModuleType) -> None:
    with pytest.raises(ValueError, match="not from a coevolve export"):
        module.compute_score("gsm8k", "42", "42")
