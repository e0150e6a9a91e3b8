"""Whatever is changed in a certificate: it is refused, or what it says is still true.

The digests are made anew after each change, so that the checker itself has to notice.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.campaigns import certify
from tests.support.databases import new_database
from tests.support.effort import examples
from tests.support.minimax import minimax
from zermelo.checker import (
    Certificate,
    CertificateError,
    Entry,
    Leaf,
    RefusedError,
    read_certificate,
    verify,
    write_certificate,
)
from zermelo.checker.refusals import Fault
from zermelo.checker.structure import PlainStructure
from zermelo.checker.verify import check_structure
from zermelo.games import open_game
from zermelo.server.database import connect_once

SPEC = "reversi:4x4"
GAME = open_game(SPEC)

Change = Callable[[list[Entry], random.Random], list[Entry]]


@pytest.fixture(scope="module")
def original(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    path = tmp_path_factory.mktemp("original") / "proof"
    with new_database(postgres) as url, connect_once(url) as connection:
        certify(connection, SPEC, path, node_budget=60)
    return read_certificate(path)


def changed(original: Certificate, entries: list[Entry], path: Path) -> Certificate:
    write_certificate(path, original.header, entries)
    return read_certificate(path)


def replace_one(
    original: Certificate, choose: random.Random, which: Callable[[Entry], bool],
    how: Callable[[Entry], Entry],
) -> list[Entry]:
    entries = list(original.entries())
    at = choose.choice([at for at, entry in enumerate(entries) if which(entry)])
    entries[at] = how(entries[at])
    return entries


def is_move(entry: Entry) -> bool:
    return entry.move is not None


def is_leaf(entry: Entry) -> bool:
    return entry.leaf is not None


@pytest.mark.parametrize("seed", range(12))
def test_a_weakened_bound(original: Certificate, tmp_path: Path, seed: int) -> None:
    entries = replace_one(
        original, random.Random(seed), lambda entry: True,
        lambda entry: entry._replace(bound=entry.bound + (-1 if entry.at_least else 1)),
    )
    with pytest.raises(RefusedError) as refused:
        check_structure(changed(original, entries, tmp_path / "proof"))
    assert refused.value.refusal.fault in (Fault.TOO_WEAK, Fault.NO_ROOT)
    assert "to move" in refused.value.refusal.board


@pytest.mark.parametrize("seed", range(12))
def test_a_strengthened_bound(original: Certificate, tmp_path: Path, seed: int) -> None:
    """An inner bound no longer follows from what is below."""
    entries = replace_one(
        original, random.Random(seed), lambda entry: not is_leaf(entry),
        lambda entry: entry._replace(bound=entry.bound + (1 if entry.at_least else -1)),
    )
    with pytest.raises(RefusedError) as refused:
        check_structure(changed(original, entries, tmp_path / "proof"))
    assert refused.value.refusal.fault in (Fault.TOO_WEAK, Fault.WRONG_SCORE)


@pytest.mark.parametrize("seed", range(12))
def test_a_missing_reply(original: Certificate, tmp_path: Path, seed: int) -> None:
    entries = list(original.entries())
    del entries[random.Random(seed).randrange(len(entries))]
    with pytest.raises(RefusedError) as refused:
        check_structure(changed(original, entries, tmp_path / "proof"))
    assert refused.value.refusal.fault in (Fault.MISSING, Fault.NO_ROOT)


@pytest.mark.parametrize("seed", range(12))
def test_an_illegal_move(original: Certificate, tmp_path: Path, seed: int) -> None:
    choose = random.Random(seed)

    def illegal(entry: Entry) -> Entry:
        legal = GAME.moves(GAME.decode(entry.key))
        return entry._replace(
            move=choose.choice([move for move in range(255) if move not in legal])
        )

    entries = replace_one(original, choose, is_move, illegal)
    with pytest.raises(RefusedError) as refused:
        check_structure(changed(original, entries, tmp_path / "proof"))
    assert refused.value.refusal.fault is Fault.ILLEGAL_MOVE


@pytest.mark.parametrize("seed", range(12))
def test_the_sides_swapped(original: Certificate, tmp_path: Path, seed: int) -> None:
    """The discs of both sides change colour in one position."""
    entries = replace_one(
        original, random.Random(seed), lambda entry: True,
        lambda entry: entry._replace(key=entry.key[8:] + entry.key[:8]),
    )
    with pytest.raises(RefusedError):
        check_structure(changed(original, entries, tmp_path / "proof"))


def test_a_reply_that_only_seems_covered(original: Certificate, tmp_path: Path) -> None:
    """Nothing but a leaf may do without a reason, and a leaf may not have one."""
    for how in (
        lambda entry: entry._replace(move=None),
        lambda entry: entry._replace(leaf=Leaf(1, 1, 1)),
        lambda entry: entry._replace(at_least=not entry.at_least),
    ):
        entries = replace_one(original, random.Random(1), is_move, how)
        with pytest.raises(RefusedError):
            check_structure(changed(original, entries, tmp_path / "proof"))


def test_a_final_position_needs_and_gets_no_entry(original: Certificate, tmp_path: Path) -> None:
    """Where nobody can move "all replies" would be met by none."""
    position = GAME.canonical(GAME.parse("XXXX XXXX XXXX XXX- X"))
    assert GAME.is_final(position)
    entry = Entry(GAME.encode(position), b"", False, -16, None, None)
    with pytest.raises(RefusedError) as refused:
        check_structure(changed(original, [*original.entries(), entry], tmp_path / "proof"))
    assert refused.value.refusal.fault is Fault.GAME_OVER


def test_another_start(original: Certificate, tmp_path: Path) -> None:
    from dataclasses import replace

    other = replace(original.header, position="---- -XO- -XO- ---- X")
    write_certificate(tmp_path / "proof", other, list(original.entries()))
    with pytest.raises(RefusedError) as refused:
        verify(tmp_path / "proof")
    assert refused.value.refusal.fault is Fault.NO_ROOT


@pytest.mark.parametrize("seed", range(8))
def test_a_planted_wrong_leaf_is_found(
    original: Certificate, tmp_path: Path, seed: int
) -> None:
    """A leaf with a false bound, and everything above it adjusted to fit."""
    choose = random.Random(seed)
    entries = list(original.entries())
    at = choose.choice([at for at, entry in enumerate(entries) if is_leaf(entry)])
    leaf = entries[at]
    value = minimax(GAME, GAME.decode(leaf.key))
    false = value + 2 if leaf.at_least else value - 2
    entries[at] = leaf._replace(bound=false)
    changed(original, entries, tmp_path / "proof")
    with pytest.raises(RefusedError) as refused:
        verify(tmp_path / "proof", threads=2)
    assert refused.value.refusal.fault is Fault.WRONG_LEAF
    assert GAME.format(GAME.decode(leaf.key)) == refused.value.refusal.position


MUTATIONS: list[Callable[[Entry, random.Random], Entry | None]] = [
    lambda entry, choose: None,
    lambda entry, choose: entry._replace(bound=entry.bound + choose.choice([-8, -2, -1, 1, 2, 8])),
    lambda entry, choose: entry._replace(move=choose.randrange(255)),
    lambda entry, choose: entry._replace(at_least=not entry.at_least),
    lambda entry, choose: entry._replace(leaf=None if entry.leaf else Leaf(1, 1, 1), move=None),
    lambda entry, choose: entry._replace(key=entry.key[8:] + entry.key[:8]),
    lambda entry, choose: entry._replace(
        key=(int.from_bytes(entry.key, "big") ^ 1 << choose.randrange(128)).to_bytes(16, "big")
    ),
    lambda entry, choose: entry._replace(history=bytes(choose.randrange(1, 20))),
]


def test_no_move_is_written_as_none(original: Certificate, tmp_path: Path) -> None:
    """255 in a file says that there is no move, so no entry can move there."""
    entries = replace_one(
        original, random.Random(1), lambda entry: True, lambda entry: entry._replace(move=255)
    )
    with pytest.raises(ValueError, match="would be read as no move"):
        write_certificate(tmp_path / "proof", original.header, entries)


@examples(15, 150)
@given(st.integers(0, 2**32), st.integers(1, 4))
def test_what_is_accepted_is_true(
    original: Certificate, tmp_path: Path, seed: int, number: int
) -> None:
    choose = random.Random(seed)
    entries: list[Entry] = list(original.entries())
    for _ in range(number):
        at = choose.randrange(len(entries))
        mutated = choose.choice(MUTATIONS)(entries[at], choose)
        entries[at : at + 1] = [] if mutated is None else [mutated]
    write_certificate(tmp_path / "proof", original.header, entries)
    certificate = Certificate(original.header)  # not read: a reader refuses what is told twice
    certificate.append(sorted(entries, key=lambda entry: entry.order))
    verdicts = []
    for check in (check_structure, lambda read: PlainStructure(read, GAME).check()):
        try:
            check(certificate)
            verdicts.append(None)
        except RefusedError as error:
            verdicts.append(error.refusal.fault)
    if Fault.NO_ROOT not in verdicts:  # which is not the business of the plain structure check
        assert verdicts[0] == verdicts[1] or (any(certificate.histories) and None not in verdicts)
    try:
        verify(tmp_path / "proof")
    except RefusedError:
        return
    assert verdicts == [None, None]
    for entry in certificate.entries():
        value = minimax(GAME, GAME.decode(entry.key))
        assert value >= entry.bound if entry.at_least else value <= entry.bound


@given(st.data())
@settings(max_examples=150)
def test_a_flipped_bit_or_a_cut_file(
    original: Certificate, tmp_path: Path, data: st.DataObject
) -> None:
    """Without new digests every change is noticed at once."""
    path = tmp_path / "proof"
    write_certificate(path, original.header, list(original.entries()))
    content = path.read_bytes()
    if data.draw(st.booleans()):
        damaged = bytearray(content)
        damaged[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    else:
        damaged = bytearray(content[: data.draw(st.integers(0, len(content) - 1))])
    path.write_bytes(damaged)
    with pytest.raises(CertificateError):
        verify(path)
