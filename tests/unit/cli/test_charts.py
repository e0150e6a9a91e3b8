"""Charts of characters say what their numbers say."""

from __future__ import annotations

from zermelo.cli.charts import text_bars, text_plot


def test_columns_are_as_high_as_their_numbers() -> None:
    lines = text_plot("moves", [0, 1, 2, 4], first=3, height=4).splitlines()
    assert lines == ["moves", "4 ┤   █", "  ┤   █", "  ┤  ██", "1 ┤ ███", "  └────", "   3  6"]


def test_logarithms() -> None:
    lines = text_plot("positions", [1, 10, 100], log=True, height=2).splitlines()
    assert lines[1:3] == ["100 ┤  █", " 10 ┤ ██"]


def test_nothing_and_nothing_but_zeros() -> None:
    assert "nothing" in text_plot("moves", [])
    assert "█" not in text_plot("moves", [0, 0])


def test_bars() -> None:
    title, first, second = text_bars("nodes", [("slow", 999_999), ("fast", 999)]).splitlines()
    assert title == "nodes"
    assert first.count("█") == 2 * second.count("█") == 40
    assert second.startswith("fast ")
    assert second.endswith(" 999")
