"""A headless Chromium driven over its own protocol (CDP), with nothing installed but the browser and aiohttp."""

import asyncio
import base64
import itertools
import os
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), "Space": (32, " ")}
START_SECONDS = 60


def find_chromium() -> str:
    """The browser's path: $CHROMIUM, or one on the PATH; the test is skipped, saying so, where there is none."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium found: install one (Debian: apt-get install chromium) or set CHROMIUM=<path>")
    return found


class Tab:
    """One page in the browser."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.events: list[dict[str, Any]] = []
        """What the browser reported unasked: requests, exceptions, console messages."""

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a CDP method and return its result; what comes in between is kept in `events`."""
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": params})
        while True:
            message = await self._socket.receive_json(timeout=60)
            if message.get("id") == number:
                assert "error" not in message, message["error"]
                return message["result"]
            self.events.append(message)

    async def open(self, address: str, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Load `address` in a window of that size and wait until it has settled."""
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            await self.send(f"{domain}.enable")
        mobile = width < 600
        await self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.send("Emulation.setEmulatedMedia", features=[scheme])
        for place in ("about:blank", address):  # a change of the fragment alone would load nothing
            await self._load(place)

    async def _load(self, address: str) -> None:
        self.events.clear()
        await self.send("Page.navigate", url=address)
        async with asyncio.timeout(START_SECONDS):
            while all(event["method"] != "Page.loadEventFired" for event in self.events):
                self.events.append(await self._socket.receive_json())

    async def run(self, script: str) -> Any:
        """The value of a JavaScript expression, promises awaited."""
        found = await self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    async def until(self, condition: str, seconds: float = 20) -> None:
        """Wait for a JavaScript condition."""
        wait = f"(done) => {{ const look = () => ({condition}) ? done(true) : setTimeout(look, 20); look(); }}"
        async with asyncio.timeout(seconds):
            await self.run(f"new Promise({wait})")

    async def press(self, key: str) -> None:
        """Press and release a key where the focus is."""
        code, text = KEYS[key]
        common = {"key": key if text != " " else " ", "code": key, "windowsVirtualKeyCode": code}
        await self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        await self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    async def picture(self, whole: bool = False) -> bytes:
        """What is seen (or the whole page) as PNG."""
        found = await self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(found["data"])


@asynccontextmanager
async def chromium(binary: str, profile: Path) -> AsyncIterator[Tab]:
    """A browser with a fresh profile, ended at the end."""
    flags = ["--headless", "--disable-gpu", "--no-first-run", "--hide-scrollbars", "--remote-debugging-port=0"]
    flags += ["--no-sandbox"] if os.geteuid() == 0 else []
    flags += [f"--user-data-dir={profile}", "about:blank"]
    process = await asyncio.create_subprocess_exec(
        binary, *flags, stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(START_SECONDS):
            port = await _port(process)
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as reply:
                pages = [target for target in await reply.json() if target["type"] == "page"]
            async with session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                yield Tab(socket)
    finally:
        process.terminate()
        await process.wait()


async def _port(process: asyncio.subprocess.Process) -> int:
    """Where the browser listens, by what it says at its start."""
    assert process.stderr is not None
    while line := await process.stderr.readline():
        if found := re.search(rb"DevTools listening on ws://127\.0\.0\.1:(\d+)/", line):
            return int(found[1])
    raise RuntimeError("Chromium ended before it listened")
