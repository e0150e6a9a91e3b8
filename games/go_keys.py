"""Keys and histories of Go positions as bytes.

    key       turn and passes, 7 bytes of black stones, ko point + 1, 7 bytes of white stones
    history   16 bytes for each past board, in ascending order: 7 bytes of black stones, 7 of
              white ones, tag, balance of passes + 128; and one more for prisoners, if any
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zermelo.games.go_position import NO_KO, GoPosition, Past
from zermelo.games.interface import KEY_BYTES, GameError, Key

if TYPE_CHECKING:
    from zermelo.games.go import Go

#: A record of a history that tells prisoners begins with these bytes, which no board has.
_PRISONERS = b"\xff" * 14
#: A history has one byte for a balance of passes; what is read leaves room for one more.
_MOST_BALANCE = 126


def encode_position(position: GoPosition) -> Key:
    side = position.black_to_move | position.passes << 1
    return (
        bytes([side])
        + position.black.to_bytes(7, "big")
        + bytes([position.ko + 1])
        + position.white.to_bytes(7, "big")
    )


def encode_history(position: GoPosition) -> bytes:
    """The past boards that could come back, in ascending order, and prisoners if any."""
    told = b""
    if position.prisoners:
        told = _PRISONERS + position.prisoners.to_bytes(2, "big", signed=True)
    return encode_past(position) + told


def encode_past(position: GoPosition) -> bytes:
    return b"".join(
        past.black.to_bytes(7, "big")
        + past.white.to_bytes(7, "big")
        + bytes([past.tag, past.balance + 128])
        for past in sorted(position.past)
    )


def decode_position(game: Go, key: Key, history: bytes) -> GoPosition:
    """`GameError` for bytes that no position of this game has."""
    if len(key) != KEY_BYTES or len(history) % KEY_BYTES:
        raise GameError(f"a {game.name} key is {KEY_BYTES} bytes, a history a multiple of that")
    black, white = int.from_bytes(key[1:8], "big"), int.from_bytes(key[9:], "big")
    side, ko = key[0], key[8] - 1
    passes = side >> 1
    game.check_stones(black, white, f"key {key.hex()}")
    if passes > 2 or (ko != NO_KO and not game.is_ko(black, white, ko, side & 1)):
        raise GameError(f"key {key.hex()} is no {game.short_spec} position")
    history, prisoners = _without_prisoners(game, history)
    position = GoPosition(
        black, white, bool(side & 1), passes, ko, _decode_past(game, history), prisoners
    )
    # A stone may not bring a board back; under ssk a pass may.
    forbidden = game.ko == "psk" or (game.ko == "ssk" and not passes)
    if forbidden and game.as_past(position) in position.past:
        raise GameError("the history contradicts the position: it has been there before")
    return position


def _without_prisoners(game: Go, history: bytes) -> tuple[bytes, int]:
    """The past boards of a history, and the prisoners that its last record tells."""
    if history[-KEY_BYTES:-2] != _PRISONERS:
        return history, 0
    prisoners = int.from_bytes(history[-2:], "big", signed=True)
    if not game.counts_prisoners or not prisoners:
        raise GameError(f"prisoners in a history are none of {game.short_spec}")
    return history[:-KEY_BYTES], prisoners


def _decode_past(game: Go, history: bytes) -> frozenset[Past]:
    entries = set()
    for at in range(0, len(history), KEY_BYTES):
        record = history[at : at + KEY_BYTES]
        past = Past(
            int.from_bytes(record[:7], "big"),
            int.from_bytes(record[7:14], "big"),
            record[14],
            record[15] - 128,
        )
        game.check_stones(past.black, past.white, f"history entry {record.hex()}")
        if past.tag and (game.ko == "psk" or (game.ko == "ssk" and past.tag > 1)):
            raise GameError(f"history entry {record.hex()} is none of {game.short_spec}")
        if past.balance and game.cycle != "passes":
            raise GameError(f"history entry {record.hex()} is none of {game.short_spec}")
        if abs(past.balance) > _MOST_BALANCE:
            raise GameError(f"history entry {record.hex()} counts too many passes")
        if game.ko == "basic":
            _check_tag(game, past)
        entries.add(past)
    return frozenset(entries)


def _check_tag(game: Go, past: Past) -> None:
    """`GameError` unless a ``basic`` situation has such a side, passes and ko point."""
    side, passes, ko = past.tag & 1, past.tag >> 1 & 1, (past.tag >> 2) - 1
    if ko != NO_KO and (passes or not game.is_ko(past.black, past.white, ko, side)):
        raise GameError(f"tag {past.tag} of a history entry is none of {game.short_spec}")
