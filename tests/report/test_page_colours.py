"""The page's colours, light and dark, are told apart by people who see less."""

import re
from importlib import resources

import pytest


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_stands_out_from_what_lies_behind_it(mode: str) -> None:
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w+);", part)) for part in _palettes())
    colours = light if mode == "light" else light | dark
    pairs = [("ink", "paper"), ("quiet", "paper"), ("quiet", "soft"), ("link", "paper"), ("note-ink", "note")]
    pairs += [("new-ink", "new"), ("gone-ink", "gone"), ("on-heat0", "heat0")]
    pairs += [("on-heat", f"heat{n}") for n in range(1, 5)]
    found = {pair: _contrast(*(colours[name] for name in pair)) for pair in pairs}
    assert not {pair: ratio for pair, ratio in found.items() if ratio < 4.5}
    arms = {f"arm{n}": _contrast(colours[f"arm{n}"], colours["paper"]) for n in range(5)}
    assert not {name: ratio for name, ratio in arms.items() if ratio < 3}


def _palettes() -> list[str]:
    style = resources.files("coevolve.report").joinpath("templates", "page.css").read_text(encoding="utf-8")
    return re.findall(r":root \{(.*?)\}", style, re.DOTALL)


def _contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio of two colours written #rgb or #rrggbb."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    digits = colour.removeprefix("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
