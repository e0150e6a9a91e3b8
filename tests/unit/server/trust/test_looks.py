"""Names that look alike."""

# ruff: noqa: RUF001 - look-alikes are what this is about

from __future__ import annotations

import pytest

from zermelo.server.trust.accounts import (
    RESERVED,
    AccountError,
    anonymous_name,
    checked_name,
    checked_own_name,
)
from zermelo.server.trust.looks import look_of


@pytest.mark.parametrize(
    "name",
    ["operator", "ｏｐｅｒａｔｏｒ", "оperator", "орerаtоr", "0perator", "Οperator", "𝐨𝐩𝐞𝐫𝐚𝐭𝐨𝐫",
     "OPERATOR", "ⓞperator", "аdmin", "adrnin", "adm1n", "zerme1o", "ѕystem", "ꜱtaff"],
)  # fmt: skip
def test_nobody_calls_himself_as_if_he_were_in_charge(name: str) -> None:
    with pytest.raises(AccountError, match="operators give"):
        checked_own_name(name)
    checked_name(name)  # operators may


@pytest.mark.parametrize("name", ["Anonymous-x", "ａnonymous", "аnоnуmоus-1", "anonyrnous"])
def test_nobody_is_anonymous_but_who_wants_no_name(name: str) -> None:
    with pytest.raises(AccountError, match="reserved"):
        checked_name(name)


def test_names_are_normalised() -> None:
    assert checked_own_name("Ａｄａ ﬁ") == "Ada fi"
    with pytest.raises(AccountError, match="at most 40 bytes"):
        checked_own_name("\ufdfa" * 3)  # 18 characters each, once normalised


def test_different_names_look_different() -> None:
    names = ["ada", "bob", "josé", "jose", "Ольга", "Дмитрий", "李雷", "user 2", "user 3",
             *RESERVED, *(f"user-{number}" for number in range(300)),
             *(anonymous_name(bytes([number])) for number in range(50))]  # fmt: skip
    assert len(set(map(look_of, names))) == len(names)


@pytest.mark.parametrize("name", [".", "..", "x/../y", "x/."])
def test_names_without_a_page_are_refused(name: str) -> None:
    with pytest.raises(AccountError, match="between slashes"):
        checked_name(name)


def test_dots_and_slashes_beside_other_letters_are_names() -> None:
    for name in ("x/y", "...", "a..b"):
        assert checked_name(name)
