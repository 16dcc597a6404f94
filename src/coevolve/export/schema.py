"""One fixed column layout for every domain and format, so that exports can be concatenated."""

import json
from typing import Any

from coevolve.export.rows import Row
from coevolve.export.targets import answer_text, prompt

DATA_SOURCE = "coevolve/{domain}"


def arrow_schema() -> Any:
    """The Arrow schema of a full row; every column is there in every export, whatever the domain."""
    import pyarrow as pa

    message = pa.struct([("role", pa.string()), ("content", pa.string())])
    text = [(name, pa.string()) for name in ("id", "run", "ablation", "domain", "chain", "family", "parent")]
    return pa.schema(
        [
            *text,
            ("round", pa.int64()),
            ("harness_id", pa.string()),
            ("skills", pa.list_(pa.string())),
            ("question", pa.string()),
            ("answer_type", pa.string()),
            ("answer", pa.string()),
            ("solution", pa.string()),
            ("target", pa.string()),
            ("messages", pa.list_(message)),
            ("ground_truth", pa.string()),
            ("certificate", pa.string()),
            ("pass_rate", pa.float64()),
            ("n_attempts", pa.int64()),
            ("prompt_tokens", pa.int64()),
            ("total_tokens", pa.int64()),
            ("source", pa.string()),
            ("license", pa.string()),
        ]
    )


def full(row: Row) -> dict[str, Any]:
    """A row of the plain and Hugging Face forms: the task, its lineage and what was measured."""
    task, rate = row.task, row.pass_rate
    answered = [{"role": "assistant", "content": row.target}] if row.target else []
    return {
        "id": task.id,
        "run": row.run,
        "ablation": row.ablation,
        "domain": task.domain,
        "chain": task.chain,
        "family": row.family,
        "parent": task.parent,
        "round": task.round,
        "harness_id": task.harness_id,
        "skills": list(task.skills),
        "question": task.question,
        "answer_type": task.answer.type,
        "answer": answer_text(task.answer),
        "solution": task.solution,
        "target": row.target,
        "messages": [*prompt(task), *answered],
        "ground_truth": ground_truth(row),
        "certificate": task.certificate.kind,
        "pass_rate": None if rate is None else float(rate),
        "n_attempts": task.n_attempts,
        "prompt_tokens": row.prompt_tokens,
        "total_tokens": row.total_tokens,
        "source": task.source,
        "license": task.license,
    }


def ground_truth(row: Row) -> str:
    """Everything the verifier needs to judge a reply, as one JSON string (trainers keep strings whole)."""
    draft = row.task.draft().model_copy(update={"solution": "", "program": None, "skills_used": ()})
    judged = {"domain": row.task.domain, "draft": draft.model_dump(mode="json", exclude_none=True)}
    return json.dumps(judged, ensure_ascii=False, sort_keys=True)


def verl_rl(row: Row, split: str, index: int) -> dict[str, Any]:
    """A row of verl's RL parquet (`RLHFDataset`)."""
    task, rate = row.task, row.pass_rate
    return {
        "data_source": DATA_SOURCE.format(domain=task.domain),
        "prompt": prompt(task),
        "ability": task.domain,
        "reward_model": {"style": "rule", "ground_truth": ground_truth(row)},
        "extra_info": {
            "split": split,
            "index": index,
            "task_id": task.id,
            "chain": task.chain,
            "run": row.run,
            "round": task.round,
            "harness_id": task.harness_id,
            "skills": ", ".join(task.skills),
            "pass_rate": None if rate is None else float(rate),
            "n_attempts": task.n_attempts,
        },
    }


def verl_rl_schema() -> Any:
    """Its Arrow schema, fixed: verl concatenates files, and a type that differs between them fails there."""
    import pyarrow as pa

    message = pa.struct([("role", pa.string()), ("content", pa.string())])
    extra = [("split", pa.string()), ("index", pa.int64())]
    extra += [(name, pa.string()) for name in ("task_id", "chain", "run")]
    extra += [("round", pa.int64()), ("harness_id", pa.string()), ("skills", pa.string())]
    extra += [("pass_rate", pa.float64()), ("n_attempts", pa.int64())]
    return pa.schema(
        [
            ("data_source", pa.string()),
            ("prompt", pa.list_(message)),
            ("ability", pa.string()),
            ("reward_model", pa.struct([("style", pa.string()), ("ground_truth", pa.string())])),
            ("extra_info", pa.struct(extra)),
        ]
    )


def messages_schema(*columns: str) -> Any:
    """Columns of message lists, beside the row's id, domain and run."""
    import pyarrow as pa

    message = pa.struct([("role", pa.string()), ("content", pa.string())])
    names = [(name, pa.string()) for name in ("id", "domain", "run")]
    return pa.schema([*((column, pa.list_(message)) for column in columns), *names])
