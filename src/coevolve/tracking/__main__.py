"""The process in which MLflow lives: one JSON line in asks for a sync, one JSON line out answers.

A process of its own, because MLflow costs 200 MB and seconds of CPU that a run should not feel; at low priority, and
gone when its run is gone (end of input).
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from coevolve.errors import ToolError, UserError
from coevolve.tracking.mirror import Mirror


def main() -> None:
    """Serve `folder place experiment sweep` until the input ends."""
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    os.nice(10)
    folder, place, experiment, sweep = sys.argv[1:]
    mirror = Mirror(Path(folder), place, experiment, sweep)
    answer: dict[str, Any]
    for line in sys.stdin:
        try:
            answer = {"state": mirror.sync(json.loads(line)["status"])}
        except (ToolError, UserError) as error:
            answer = {"error": " ".join(str(error).split())[:300]}
        replies.write(json.dumps(answer) + "\n")


main()
