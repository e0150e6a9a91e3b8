"""Charts: what is known is drawn, what is not is a gap."""

from __future__ import annotations

from zermelo.web.charts import HEIGHT, WIDTH, Series, time_chart


def test_gaps_begin_a_new_line() -> None:
    chart = time_chart("t", [0, 1, 2, 3], [Series("a", [1.0, None, 2.0, 3.0], "first")])
    assert chart is not None
    [(_, path, _)] = chart.lines
    assert path.count("M") == 2


def test_steps_hold_a_number_until_the_next() -> None:
    chart = time_chart("t", [0, 1], [Series("a", [0.0, 10.0], "first")], stepped=True)
    assert chart is not None
    corners = chart.lines[0][1].removeprefix("M").split("L")
    assert len(corners) == 3
    assert corners[0].split()[1] == corners[1].split()[1]


def test_everything_lies_inside() -> None:
    numbers = [0.0, 5e12, 3.0, 1e-9]
    for log in (False, True):
        chart = time_chart("t", [5, 6, 7, 100], [Series("a", numbers, "first")], log=log)
        assert chart is not None
        for corner in chart.lines[0][1].removeprefix("M").split("L"):
            x, y = map(float, corner.split())
            assert 0 <= x <= WIDTH
            assert 0 <= y <= HEIGHT
        assert 1 <= len(chart.y_ticks) <= 8


def test_nothing_to_draw() -> None:
    assert time_chart("t", [], [Series("a", [], "first")]) is None
    assert time_chart("t", [0, 1], [Series("a", [None, None], "first")]) is None
    flat = time_chart("t", [0, 0], [Series("a", [7.0, 7.0], "first")])
    assert flat is not None
