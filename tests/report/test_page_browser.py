"""The page in a real browser: fast, by keyboard, for screen readers, on a phone; and no text of a task can act."""

import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from tests.report.chromium import Tab, chromium, find_chromium
from tests.report.page_runs import HOSTILE, RunBuilder

from coevolve.report.page import write_page

pytestmark = pytest.mark.slow

WORDS = (
    "the number of boxes each holds seven minus three times eleven force metre second value function returns list then "
    "what is result compute step therefore we have equals modulo prime sum product angle mass energy matrix integral"
).split()
LENGTHS = {"question": 180, "solution": 300, "attempt": 400, "reasoning": 250, "own": 250}
"""Words of a long text, by its kind."""
NAMED = {"button", "combobox", "searchbox", "image", "region", "navigation", "search", "link", "table", "article"}
"""Roles that say nothing without a name; tables stand in named regions."""


@pytest.fixture
async def tab(tmp_path: Path) -> AsyncIterator[Tab]:
    async with chromium(find_chromium(), tmp_path / "profile") as opened:
        yield opened


def written(folder: Path, text: Callable[[str], str] = str, chains: int = 6, rounds: int = 3) -> tuple[Path, str]:
    """A page about a made-up run, and its address."""
    path = folder / "page.html"
    write_page([RunBuilder(folder / "made" / "full", chains, rounds, text).build()], path)
    return path, path.as_uri()


def long_text(place: str) -> str:
    draw = random.Random(place)
    words = LENGTHS.get(place.split(maxsplit=1)[0], 0)
    return " ".join(
        [place, *(f"{draw.choice(WORDS)}{draw.choice(['', '', draw.randint(2, 999)])}" for _ in range(words))]
    )


async def test_150_chains_and_14_rounds_open_within_two_seconds_and_20_megabytes(tab: Tab, tmp_path: Path) -> None:
    path, address = written(tmp_path, long_text, chains=150, rounds=14)
    assert 5_000_000 < path.stat().st_size < 20_000_000
    await tab.send("Performance.enable", timeDomain="threadTicks")
    await tab.open(address)
    await tab.until("document.querySelectorAll('#heat tbody tr').length === 150")
    metrics = {entry["name"]: entry["value"] for entry in (await tab.send("Performance.getMetrics"))["metrics"]}
    assert metrics["TaskDuration"] < 2, "seconds of the page's own thread, whatever else the machine does"
    assert await tab.run("document.querySelectorAll('*').length") < 12_000
    await tab.run("document.querySelector('#choose-text').value = 'question c149 0'")
    await tab.run("document.querySelector('#choose-text').dispatchEvent(new Event('input'))")
    await tab.until("document.querySelector('#count').textContent === '1 of 150 chains'")


async def test_hostile_text_is_shown_and_does_nothing(tab: Tab, tmp_path: Path) -> None:
    _, address = written(tmp_path, lambda place: f"{place} {HOSTILE}")
    await tab.open(address)
    await tab.run("document.querySelector('#heat tbody button').click()")
    await tab.until("document.querySelectorAll('#chain .task').length === 4")
    shown = await tab.run("document.querySelector('#chain').textContent")
    for kind in ("question", "solution", "attempt", "reasoning"):
        assert kind in shown
    assert shown.count(HOSTILE) > 10
    assert await tab.run("typeof window.hacked") == "undefined"
    assert await tab.run("document.images.length") == 0
    assert await tab.run("document.scripts.length") == 1 + 6 + 1
    requests = [
        event["params"]["request"]["url"] for event in tab.events if event["method"] == "Network.requestWillBeSent"
    ]
    assert requests == [address]
    assert not [event for event in tab.events if event["method"] in ("Runtime.exceptionThrown", "Log.entryAdded")]


async def test_a_chain_is_found_opened_and_left_by_keyboard(tab: Tab, tmp_path: Path) -> None:
    _, address = written(tmp_path)
    await tab.open(address)
    focused = "document.activeElement"
    await tab.press("Tab")
    assert await tab.run(f"{focused}.textContent") == "Skip to the content"
    for _ in range(60):
        await tab.press("Tab")
        if await tab.run(f"{focused}.closest('#heat') !== null"):
            break
    assert await tab.run(f"{focused}.textContent") == "c0"
    await tab.press("Enter")
    await tab.until(f"{focused}.tagName === 'H3' && {focused}.closest('#chain') !== null")
    assert await tab.run("location.hash") == "#lineage/0/c0"
    await tab.press("Tab")
    await tab.press("Enter")
    await tab.until(f"{focused}.textContent === 'c0' && {focused}.closest('#heat') !== null")


async def test_a_screen_reader_finds_a_name_for_everything(tab: Tab, tmp_path: Path) -> None:
    _, address = written(tmp_path)
    await tab.open(f"{address}#lineage/0/c1")
    await tab.until("document.querySelectorAll('#chain .task').length === 4")
    nodes = (await tab.send("Accessibility.getFullAXTree"))["nodes"]
    seen = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node["ignored"] and node.get("role")
    ]
    roles = {role for role, _ in seen}
    assert {"main", "navigation", "search", "article", "region", "image", "status"} <= roles
    assert not [role for role, name in seen if role in NAMED - {"table"} and not name.strip()]
    images = [name.split(" Accuracy of the fixed solver") for role, name in seen if role == "image"]
    assert [title for title, _ in images] == ["All domains, weighted equally", "Math", "Coding", "Science"]
    assert "round 3: 25.0% (" in images[0][1]
    assert await tab.run("document.documentElement.lang") == "en"
    assert await tab.run("[...document.querySelectorAll('th')].every((cell) => cell.scope)")


async def test_a_phone_shows_it_without_sideways_scrolling(tab: Tab, tmp_path: Path) -> None:
    _, address = written(tmp_path, lambda place: long_text(place) + "x" * 200)
    await tab.open(address, width=390, height=844)
    await tab.run("document.querySelector('#heat tbody button').click()")
    await tab.until("document.querySelectorAll('#chain .task').length === 4")
    await tab.run("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    assert await tab.run("document.documentElement.scrollWidth") <= 390


async def test_dark_and_light_follow_the_readers_system(tab: Tab, tmp_path: Path) -> None:
    _, address = written(tmp_path)
    colours = []
    for dark in (False, True):
        await tab.open(address, dark=dark)
        colours.append(await tab.run("getComputedStyle(document.body).backgroundColor"))
    light, night = (sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(","))) for colour in colours)
    assert light > 700 and night < 120


async def test_a_link_opens_the_version_it_names(tab: Tab, tmp_path: Path) -> None:
    _, address = written(tmp_path)
    await tab.open(address)
    await tab.run("document.querySelector('#rounds a[href=\"#harness-0-2\"]').click()")
    await tab.until("document.getElementById('harness-0-2').open")
    assert "skill-2" in await tab.run("document.getElementById('harness-0-2').innerText")
