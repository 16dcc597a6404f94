"""All remote models are called once at the start; the first that cannot serve ends it in one line."""

import pytest

from coevolve.config_models import FlowConfig
from coevolve.errors import EndpointError
from coevolve.llm.faulty_server import FaultyServer
from coevolve.llm.openai import OpenAIModel
from coevolve.llm.preflight import preflight
from coevolve.llm.scripted import ScriptedModel

FLOW = FlowConfig(concurrency=4, requests_per_minute=None, tokens_per_minute=None, timeout_seconds=5.0, retries=1)


async def test_remote_models_are_called_and_local_ones_need_no_call():
    local = ScriptedModel(lambda asked: "yes")
    async with FaultyServer(local, {}, seed=1) as server:
        remote = OpenAIModel.at("m", server.base_url, None, FLOW)
        replies = await preflight([local, remote])
        await remote.close()
        assert [(model, reply.text) for model, reply in replies] == [(remote, "yes")]
        assert server.served.requests == 1


async def test_one_model_that_is_missing_is_told_plainly():
    async with FaultyServer(ScriptedModel(lambda asked: "yes"), {}, seed=1, names=("m",)) as server:
        models = [OpenAIModel.at(name, server.base_url, None, FLOW) for name in ("m", "absent", "m")]
        with pytest.raises(EndpointError, match="no model 'absent'"):
            await preflight(models)
        for model in models:
            await model.close()
