"""ProceduralModel: a ChatModel over exact constructions."""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from coevolve.errors import CallFailed
from coevolve.llm.base import ChatReply, ChatRequest, Usage
from coevolve.procedural.acquisition import acquire
from coevolve.procedural.director import direct
from coevolve.procedural.extend import extend, revise
from coevolve.procedural.meta_harness import meta_harness
from coevolve.procedural.meta_skill import meta_skill
from coevolve.procedural.payload import Asking, read
from coevolve.procedural.verify import verify

ROLES: Mapping[str, Callable[[Asking], dict[str, Any]]] = {
    "director": direct,
    "extend": extend,
    "revise": revise,
    "verify": verify,
    "meta_skill": meta_skill,
    "meta_harness": meta_harness,
    "acquisition": acquire,
}
BYTES_PER_TOKEN = 4
PROCEDURAL = "procedural"


class ProceduralModel:
    """Answers each role's schema from its messages and sampling seed alone; equal requests get equal replies."""

    @property
    def name(self) -> str:
        """The name that ledgers, versions and tables carry."""
        return PROCEDURAL

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Answer one role's request. Raises CallFailed where no role or payload can be read from it."""
        started = time.perf_counter()
        role = ROLES.get(request.schema_name)
        if role is None:
            raise CallFailed(f"the procedural model plays no role {request.schema_name!r}")
        text = json.dumps(role(read(request)), ensure_ascii=False)
        allowed = request.sampling.max_tokens * BYTES_PER_TOKEN
        cut = text.encode()[:allowed].decode(errors="ignore")
        asked = sum(len(message.content.encode()) for message in request.messages)
        return ChatReply(
            text=cut,
            finish="stop" if cut == text else "length",
            usage=Usage(asked // BYTES_PER_TOKEN, len(cut.encode()) // BYTES_PER_TOKEN),
            model=self.name,
            seconds=time.perf_counter() - started,
        )

    async def close(self) -> None:
        """Nothing is held."""
