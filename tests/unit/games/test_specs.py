"""Game specs as users write them: any text is a game or one clear line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import catalogue
from tests.support.effort import examples
from zermelo.games import GameError, game_names, open_game
from zermelo.games.spec import Spec, format_spec, parse_spec

BAD = {
    "": "malformed game spec ''",
    "reversi": "malformed game spec 'reversi'",
    "reversi:": "malformed",
    ":6x6": "malformed",
    "reversi:6": "malformed",
    "reversi:6x": "malformed",
    "reversi:x6": "malformed",
    "reversi:6X6": "malformed",
    "reversi:6x6x6": "malformed",
    "reversi: 6x6": "malformed",
    "reversi:-6x6": "malformed",
    "reversi:6.0x6": "malformed",
    "reversi:\u0666x\u0666": "malformed",
    "reversi:1000x6": "malformed",
    "reversi 6x6": "malformed",
    "reversi:6x6,": "malformed option ''",
    "reversi:6x6,start": "malformed option 'start'",
    "reversi:6x6,start=": "malformed option 'start='",
    "reversi:6x6,=raw": "malformed option '=raw'",
    "reversi:6x6,scoring=raw,scoring=wof": "'scoring' is given twice",
    "conect-four": "unknown game 'conect-four'; did you mean connect-four",
    "nym:3-4-5": "unknown game 'nym'; did you mean nim",
    "chess:8x8": "unknown game 'chess'; known games: .*reversi",
    "Reversi:6x6": "unknown game 'Reversi'",
    "reversi:3x6": "3x6: each side must be 4 to 8",
    "reversi:6x9": "6x9: each side must be 4 to 8",
    "reversi:0x0": "0x0: each side must be 4 to 8",
    "reversi:6x6,komi=7": "no option 'komi'; known: start, scoring",
    "reversi:6x6,start=random": "start='random' is not allowed; choose diagonal or parallel",
    "reversi:6x6,scoring=WOF": "scoring='WOF' is not allowed; choose raw or wof",
    "reversi:6x6" + ",start=diagonal" * 50: "at most 200",
}


@pytest.mark.parametrize("spec", BAD)
def test_bad_spec(spec: str) -> None:
    with pytest.raises(GameError, match=BAD[spec]) as caught:
        open_game(spec)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_defaults_and_order_of_options() -> None:
    assert open_game("reversi:6x6").spec == "reversi:6x6,start=diagonal,scoring=raw"
    assert open_game("reversi:6x6,scoring=raw").short_spec == "reversi:6x6"
    one = open_game("reversi:6x6,scoring=wof,start=parallel")
    assert one == open_game("reversi:6x6,start=parallel,scoring=wof")
    assert one.short_spec == "reversi:6x6,start=parallel,scoring=wof"
    assert one != open_game("reversi:6x6")


_words = st.text(st.characters(exclude_characters=":,=", exclude_categories=["Cs"]), min_size=1)


@given(
    name=_words.filter(lambda word: len(word) < 20),
    rows=st.integers(0, 999),
    cols=st.integers(0, 999),
    options=st.dictionaries(_words.filter(lambda word: len(word) < 9),
                            _words.filter(lambda word: len(word) < 9), max_size=4),
)
def test_format_and_parse(name: str, rows: int, cols: int, options: dict[str, str]) -> None:
    text = format_spec(name, rows, cols, options, {})
    assert parse_spec(text) == Spec(name, rows, cols, options)


SPECS = catalogue.all_specs()
_parts = st.sampled_from(
    [*game_names(), *SPECS, ":", ",", "=", "x", "4", "6", "8", "12", "start",
     "diagonal", "scoring", "wof", "raw", " ", "\n", "\0", "\u00b2", "-1"]
)


@pytest.mark.slow
@examples(120, 500)
@given(st.one_of(st.text(), st.lists(_parts, max_size=9).map("".join)))
def test_any_text_names_a_game_or_is_refused(text: str) -> None:
    game, message = None, ""
    try:
        game = open_game(text)
    except GameError as error:
        message = str(error)
    if game is None:
        assert message
        assert "\n" not in message
        assert text not in SPECS
    else:
        assert open_game(game.spec) == game
        assert game.moves(game.initial())
