"""A round takes at least its critical path, against an endpoint with known latencies; the figures say how much more."""

import pytest

from coevolve.bench import round as measured


@pytest.mark.slow
def test_a_round_is_measured_beside_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "REPEATS", 1)
    monkeypatch.setattr(measured, "CHAINS_A_DOMAIN", 2)
    figures = measured.bench_round()
    assert figures["calls"] > 100
    assert figures["batch_ratio"] >= 0.95
    assert figures["round_ratio"] >= figures["in_line_ratio"] >= 0.95, "what may overlap makes the bound shorter"
    assert figures["bound_seconds"] <= figures["in_line_seconds"]
    assert "tracking_share" in figures
