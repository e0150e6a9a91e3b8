"""What may be written as an array, and what only the database adapter may write."""

from __future__ import annotations

from typing import Any

import pytest

from zermelo.server.arrays import array


@pytest.mark.parametrize(
    ("values", "written"),
    [
        ([], "{}"),
        ([1, -2], "{1,-2}"),
        ([0.5, True], "{0.5,True}"),
        (["yes", "no"], "{yes,no}"),
        (["00ff"], "{00ff}"),
    ],
)
def test_numbers_and_words_are_written_at_once(values: list[Any], written: str) -> None:
    assert array(values) == written


@pytest.mark.parametrize("text", ["a,b", "{}", '"', "\\", "", "null", "NULL", "two words", "é"])
def test_any_other_text_is_left_to_the_adapter(text: str) -> None:
    assert array(["yes", text]) == ["yes", text]


def test_what_is_neither_is_left_to_the_adapter() -> None:
    assert array([1, None]) == [1, None]
    assert array([b"x"]) == [b"x"]
