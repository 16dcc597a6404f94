"""The dataset card: what is inside, where it comes from, what was left out, and how to train on it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from coevolve.export.audit import Audit
from coevolve.export.config import ExportConfig
from coevolve.export.rows import Row


def card(config: ExportConfig, splits: Mapping[str, Sequence[Row]], audit: Audit) -> str:
    """README.md of a Hugging Face dataset folder."""
    rows = [row for part in splits.values() for row in part]
    lines = ["---", yaml.safe_dump(_front_matter(config, splits, rows), sort_keys=False).rstrip(), "---", ""]
    lines += [f"# coevolve export ({config.format.name})", ""]
    lines += ["Reasoning tasks made and verified by task-harness co-evolution, with the lineage of every row.", ""]
    lines += _table(("split", "rows", *config.mix.domains), [_split_row(config, *item) for item in splits.items()])
    lines += ["", "## Where the rows come from", ""]
    lines += _table(("run", "ablation", "rows", "rounds"), _origins(rows))
    lines += ["", "## What was measured", "", *_measured(rows)]
    lines += ["", "## The audit", ""]
    dropped = ", ".join(f"{rule}: {n}" for rule, n in audit.record()["dropped"].items()) or "nothing"
    lines.append(f"{audit.looked_at} rows were looked at, {audit.kept} passed. Left out: {dropped} (dropped.jsonl).")
    held = audit.benchmarks
    lines.append(f"Benchmarks: {', '.join(held['names'])} ({held['items']} items, {held['hash'][:16]}).")
    lines.append(f"Verifier: {audit.verifier[:16]}.")
    lines += ["", "## Training on it", "", *_training(config)]
    return "\n".join(lines) + "\n"


def _front_matter(config: ExportConfig, splits: Mapping[str, Sequence[Row]], rows: Sequence[Row]) -> dict[str, Any]:
    licenses = sorted({row.task.license.lower() for row in rows})
    files = [{"split": split, "path": f"data/{split}.parquet"} for split in splits]
    named = {"license": "other", "license_name": " and ".join(licenses)}
    return {
        **({"license": licenses[0]} if len(licenses) == 1 else named),
        "task_categories": ["question-answering", "text-generation"],
        "language": ["en"],
        "tags": ["synthetic", "reasoning", *config.mix.domains],
        "configs": [{"config_name": "default", "data_files": files}],
    }


def _split_row(config: ExportConfig, split: str, rows: Sequence[Row]) -> tuple[str, ...]:
    counts = Counter(row.task.domain for row in rows)
    return (split, str(len(rows)), *(str(counts[domain]) for domain in config.mix.domains))


def _origins(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    runs = sorted({(row.run, row.ablation) for row in rows})
    made: list[tuple[str, ...]] = []
    for run, ablation in runs:
        rounds = [row.task.round for row in rows if row.run == run]
        made.append((run, ablation, str(len(rounds)), f"{min(rounds)} - {max(rounds)}"))
    return made


def _measured(rows: Sequence[Row]) -> list[str]:
    rates = [rate for row in rows if (rate := row.pass_rate) is not None]
    lines = []
    if rates:
        mean = float(sum(rates) / len(rates))
        lines.append(f"- pass rate of the fixed solver: mean {mean:.3f} over {len(rates)} rows (column `pass_rate`)")
    counted = [row.total_tokens for row in rows if row.total_tokens is not None]
    if counted:
        lines.append(f"- tokens: {sum(counted)} in all, {max(counted)} in the longest row")
    else:
        lines.append("- tokens: not counted (no student.tokenizer was given)")
    certificates = Counter(row.task.certificate.kind for row in rows)
    lines.append("- certificates: " + ", ".join(f"{kind} {count}" for kind, count in certificates.most_common()))
    return lines


def _training(config: ExportConfig) -> list[str]:
    if config.format.name == "grpo":
        return [
            "- verl: `data.train_files=verl/rl_train.parquet` and, for the reward,",
            "  `reward.custom_reward_function.path=reward.py reward.custom_reward_function.name=compute_score`",
            "- TRL: `GRPOTrainer` on `trl/grpo/train.jsonl` with `accuracy` of `reward.py`",
        ]
    return [
        "- verl: `data.train_files=verl/sft_train.parquet` (`MultiTurnSFTDataset`, column `messages`)",
        "- TRL: `SFTTrainer` on `trl/messages/train.jsonl`,",
        "  or on `trl/prompt_completion/train.jsonl` (loss on the completion alone)",
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [list(head), ["---"] * len(head), *map(list, rows)]
    return [f"| {' | '.join(line)} |" for line in lines]
