"""Pieces that are lost because they could have used a rule: huffing in Alquerque."""

from __future__ import annotations

import pytest

from tests.support.definitions import WALK, play_text
from tests.support.three_rules import checked, compare_position
from zermelo.checker.definition.game import CheckedDefinition
from zermelo.checker.definition.limits import TextError
from zermelo.engine.definition import DefinitionEngine
from zermelo.games import GameError, open_game
from zermelo.games.definition.game import DefinedGame
from zermelo.games.definition.sources import digest_of

HUFFING = "alquerque:5x5,huffing=yes"
#: Position, move and what the board looks like afterwards.
FORFEITS = [
    # Nothing could jump: nothing is lost.
    ("-----/-----/--X--/-----/----O X", "c3-c2", "-----/--X--/-----/-----/----O"),
    # The man that could have jumped steps instead, and is taken off where it arrives.
    ("-----/-----/--X--/--O--/----- X", "c3-c2", "-----/-----/-----/--O--/-----"),
    # Another man steps: the one that could have jumped is lost, the other is not.
    ("X----/-----/--X--/--O--/----- X", "a1-a2", "-----/X----/-----/--O--/-----"),
    # All that could have jumped are lost, not one of them.
    ("X----/-----/--XO-/-XO--/----- X", "a1-a2", "-----/X----/---O-/--O--/-----"),
    # Who jumps loses nothing, whatever else could have jumped.
    ("-----/-----/--XO-/-XO--/----- X", "c3-c5", "-----/-----/---O-/-X---/--X--"),
    # The other side's rules are the same.
    ("----O/-----/--X--/--O--/----- O", "e1-e2", "-----/----O/--X--/-----/-----"),
]


def opened(spec: str) -> DefinedGame:
    game = open_game(spec)
    assert isinstance(game, DefinedGame)
    return game


@pytest.mark.parametrize(("before", "move", "after"), FORFEITS)
def test_what_is_lost(before: str, move: str, after: str) -> None:
    game = opened(HUFFING)
    position = game.parse(before)
    names = {game.move_name(each): each for each in game.moves(position)}
    assert game.format(game.play(position, names[move])).split()[0] == after
    compare_position(game, checked(game), DefinitionEngine(game, hash_mb=1), position)


def test_jumps_are_compulsory_without_huffing() -> None:
    game = opened("alquerque:5x5")
    position = game.parse("X----/-----/--X--/--O--/----- X")
    assert [game.move_name(move) for move in game.moves(position)] == ["c3-c5"]


def test_a_side_that_loses_its_last_men_has_lost() -> None:
    game = opened(HUFFING)
    position = game.parse("-----/-----/--X--/--O--/----- X")
    step = next(move for move in game.moves(position) if game.move_name(move) == "c3-b3")
    after = game.play(position, step)
    other = game.play(after, next(iter(game.moves(after))))
    assert not game.moves(other)
    assert game.score(other) == -1


@pytest.mark.parametrize(("rule", "reason"), [
    ("nothing", "unknown rule above this one that moves a piece 'nothing'"),
    ("walk", "unknown rule above this one that moves a piece 'walk'"),  # itself
])
def test_only_rules_above_can_be_forfeited_by(rule: str, reason: str) -> None:
    text = WALK.replace('name = "walk"\n', f'name = "walk"\nforfeit = "{rule}"\n')
    with pytest.raises(GameError) as raised:
        play_text(text)
    assert str(raised.value).startswith("game.toml:17: move.number 2.forfeit: ")
    assert reason in str(raised.value)
    with pytest.raises(TextError, match="forfeit"):
        checked_text(text)


def test_only_moves_of_pieces_forfeit() -> None:
    with pytest.raises(GameError, match="unknown key 'forfeit'"):
        play_text(WALK + '[[move]]\nplace = "king"\nforfeit = "capture"\n')


def test_a_loss_does_not_prove_an_end() -> None:
    """Walking pieces that may be lost could walk for ever."""
    endless = WALK.partition("[limit]")[0].replace(
        'name = "walk"\n', 'name = "walk"\nforfeit = "capture"\n'
    )
    with pytest.raises(GameError, match="cannot be proved"):
        play_text(endless)
    with pytest.raises(TextError, match="cannot be proved"):
        checked_text(endless)


def checked_text(text: str) -> None:
    CheckedDefinition(text, f"walk@{digest_of(text)}:", ("same",))
