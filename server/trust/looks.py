"""What a name looks like: two names with the same look are hard to tell apart.

A small part of Unicode's confusables: letters of Cyrillic, Greek, Armenian and Cherokee, digits and
pairs that look like Latin letters. Accents are seen, so they count.
"""

# ruff: noqa: RUF001 - look-alikes are what this is about

from __future__ import annotations

import unicodedata

#: Characters that look like a Latin letter, after NFKC and case folding.
_LOOK_ALIKES = {
    "a": "аαɑꭺ", "b": "вьβƅꮟ", "c": "сϲᴄꮯ", "d": "ԁɗꭰ", "e": "еєε℮ꭼ", "f": "ƒ", "g": "ɡցԍ",
    "h": "һհнꮋ", "j": "јϳꭻ", "k": "кκĸꮶ", "l": "1|iіιıӏᏞꮮǀɩ", "m": "мᴍꮇ", "n": "ոռηᴎ",
    "o": "0оοσօᴏ๐੦०", "p": "рρᴘꮲ", "q": "ԛզ", "r": "гᴦꭱ", "s": "ѕꜱƽꮪ", "t": "тτᴛꭲ", "u": "υսᴜʋ",
    "v": "ѵνᴠꮩ", "w": "ԝѡաᴡꮃω", "x": "хχ×", "y": "уγүʏꭹ", "z": "ᴢꮓζ",
}  # fmt: skip
_LETTERS = str.maketrans(
    {other: letter for letter, others in _LOOK_ALIKES.items() for other in others}
)
#: Pairs that look like one letter.
_PAIRS = (("rn", "m"), ("vv", "w"))


def look_of(name: str) -> str:
    """The same for names that look alike; not a name itself."""
    look = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    look = look.translate(_LETTERS)
    for pair, letter in _PAIRS:
        look = look.replace(pair, letter)
    return " ".join(look.split())
