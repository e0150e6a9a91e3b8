"""The pages, the template and the schema tell what the program knows."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

import pytest

from tests.support.definitions import play_text
from tests.support.places import REPOSITORY
from zermelo.games.definition.board import KINDS as BOARDS
from zermelo.games.definition.board import MAPS
from zermelo.games.definition.definition import KEYS
from zermelo.games.definition.library import library_definition, library_names
from zermelo.games.definition.lowering import FUNCTIONS
from zermelo.games.definition.rules import COMMON, KINDS

PAGE = (REPOSITORY / "docs" / "games.md").read_text()
SCHEMA: dict[str, Any] = json.loads(
    (files("zermelo.games") / "definition" / "schema.json").read_text()
)


def test_the_first_definition_of_the_tutorial_is_complete() -> None:
    block = re.search(r"```toml\n(.*?)```", PAGE, re.S)
    assert block
    game = play_text(block[1])
    assert game.line_names(game.moves(game.initial())) == [
        f"{col}{row}" for row in "123" for col in "abc"
    ]


@pytest.mark.parametrize("word", [*KINDS, *BOARDS, *FUNCTIONS, *COMMON, *KEYS])
def test_the_reference_names_every_word(word: str) -> None:
    assert re.search(rf"[`\[ ]{word}\b", PAGE)


def test_the_schema_knows_the_same_keys() -> None:
    parts = SCHEMA["properties"]
    assert set(parts) == set(KEYS)
    assert not SCHEMA["additionalProperties"]
    assert set(parts["board"]["properties"]) == {*BOARDS, "links", "lines", "seeds"}
    moves = {key for keys in KINDS.values() for key in keys}
    assert set(parts["move"]["items"]["properties"]) == {*KINDS, *moves, *COMMON}
    assert parts["players"]["properties"]["second"]["enum"] == list(MAPS)


@pytest.mark.parametrize("name", library_names())
def test_the_library_is_listed_with_a_title(name: str) -> None:
    definition = library_definition(name)
    assert definition.name == name
    assert definition.title
    for table in definition.document:
        assert table in SCHEMA["properties"]
