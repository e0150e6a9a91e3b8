"""A scripted GTP session, as an interface would hold it."""

from __future__ import annotations

from tests.support.command import zermelo

SCRIPT = """\
1 protocol_version
2 known_command genmove
3 known_command fly
# a comment
4 boardsize 3
5 clear_board
6 komi 0
7 play b b2
8 genmove w
9 play B b2
10 zermelo-value
11 undo
12 undo
13 undo
14 komi 0.5
15 boardsize 19
16 play black a1 # corner
17 play white pass
18 final_score
19 frobnicate
20 quit
"""
ANSWERS = {
    1: "= 2", 2: "= true", 3: "= false", 4: "=", 5: "=", 6: "=", 7: "=", 9: "? illegal move",
    10: "= 9", 11: "=", 12: "=", 13: "? cannot undo", 14: "? komi must be a whole number",
    15: "? unacceptable size", 16: "=", 17: "=", 18: "= B+9", 19: "? unknown command", 20: "=",
}  # fmt: skip


def test_a_scripted_session() -> None:
    done = zermelo("gtp", "go:3x3", said=SCRIPT)
    assert done.returncode == 0, done.stderr
    responses = [block for block in done.stdout.split("\n\n") if block]
    assert len(responses) == 20
    for number, response in enumerate(responses, start=1):
        status, text = response[0], response[1:].removeprefix(str(number)).strip()
        if number in ANSWERS:
            assert f"{status} {text}".strip() == ANSWERS[number]


def test_an_unknown_game_ends_in_one_line() -> None:
    done = zermelo("gtp", "go:9x9")
    assert done.returncode == 2
    assert done.stderr.strip() == "zermelo: go board 9x9: each side must be 1 to 7"
