"""Word lists of the rules: filler, number words, how sentences begin, the words of Python itself."""

import builtins
import keyword

FILLER = frozenset(
    "a an the this that these those of in on at to for from by with as into per and or but if then so than is are was "
    "were be been being am do does did done has have had having will would can could may might shall should must it "
    "its he she they them their his her him we us our you your i me my there here what which who whom whose when "
    "where why how not no nor all any each every both some many much more most such only own same too very just also "
    "while after before during until again once up down out over under about between through because".split()
)

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBER_WORDS: dict[str, str] = {
    **{word: str(value) for value, word in enumerate(_SMALL)},
    **{word: str(10 * value) for value, word in enumerate(_TENS, 2)},
    "hundred": "100",
    "thousand": "1000",
    "million": "1000000",
    "dozen": "12",
}
"""Number words and their values in digits."""

STARTERS = FILLER | frozenset(
    "find write compute calculate determine evaluate solve simplify express give given let consider suppose assume "
    "return complete explain show prove choose select name state define implement create build use using print count "
    "convert estimate describe identify list sort check note now first second third next finally later today "
    "yesterday tomorrow together another other one two three four five six seven eight nine ten twenty half "
    "twice for since although though however therefore thus hence work force energy power mass speed velocity "
    "distance density pressure voltage current charge electric moles molar wave momentum acceleration answer question "
    "example input output note hint what's how's it's there's let's during within without instead initially "
    "originally water air heat light plants animals people students children workers cells atoms scientists".split()
)
"""Words that open a sentence with a capital and are no names."""

CODE_WORDS = frozenset(keyword.kwlist) | frozenset(name for name in dir(builtins) if name.islower())
"""Python's keywords and built-in names: never masked in a program."""

COMMANDS = {"\\dfrac": "\\frac", "\\tfrac": "\\frac", "\\times": "*", "\\cdot": "*", "×": "*", "·": "*", "÷": "/"}
"""Spellings of one sign."""
