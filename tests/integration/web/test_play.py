"""Playing without scripts: moves are links, the server replies, finished games are stored once."""

from __future__ import annotations

import asyncio
import html
import random
import re
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest
from psycopg import errors
from starlette.testclient import TestClient

from tests.support.web import visiting
from zermelo.games import open_game
from zermelo.games.catalogue import listed_games
from zermelo.players import PlayerError
from zermelo.research.games_played import PlayedGame, list_games, store_game
from zermelo.server.database import Connection
from zermelo.sql import query
from zermelo.web.opponents import BusyError, Opponents, SlowError
from zermelo.web.playing import check_machine
from zermelo.web.sittings import Sittings

MOVE = re.compile(r'<a class="(?:move legal|button)[^"]*" href="(/play/[^"]*moves=[^"]*)"')
PASSED = "cannot move and passes"


def moves_of(address: str) -> list[str]:
    return parse_qs(urlsplit(address).query).get("moves", [""])[0].split(",")


def finish(visitor: TestClient, spec: str, seed: int = 1, **form: str) -> tuple[str, list[str]]:
    """Play a game to its end by following links: the last page's address, and all pages."""
    answer = visitor.post(f"/play/{spec}", data=form)
    choose, pages = random.Random(seed), [answer.text]
    while links := [link for link in MOVE.findall(answer.text) if "hint" not in link
                    and len(moves_of(html.unescape(link))) > len(pages_moves(answer))]:  # fmt: skip
        answer = visitor.get(html.unescape(choose.choice(links)))
        assert answer.status_code == 200, answer.text
        pages.append(answer.text)
    return str(answer.url), pages


def pages_moves(answer: object) -> list[str]:
    return [move for move in moves_of(str(getattr(answer, "url", ""))) if move]


def test_a_whole_game_is_stored_once(visitor: TestClient, connection: Connection) -> None:
    form = {"name": "Änna <b>", "side": "second", "opponent": "minimax", "depth": "3",
            "evaluation": "matrix", "perfect": "on"}  # fmt: skip
    address, pages = finish(visitor, "reversi:4x4", **form)
    assert "Neither side can move." in pages[-1] or "The board is full." in pages[-1]
    assert "Play again" in pages[-1]
    assert "<b>" not in pages[-1]
    visitor.get(address)  # once more
    [stored] = list_games(connection)
    assert (stored.first, stored.second) == ("minimax:3,matrix,perfect=16", "Änna <b>")
    assert (stored.person, stored.opponent) == (stored.second, stored.first)
    assert (stored.depth, stored.device) == (3, "computer")
    assert stored.moves == moves_of(address)
    game = open_game("reversi:4x4")
    at = game.initial()
    for name in stored.moves:
        at = game.play(at, game.find_move(at, name))
    assert game.format(at) == stored.final
    score = game.score(at)
    assert stored.score == (-score if len(stored.moves) % 2 else score)
    listed = visitor.get("/played.json", params={"person": "Änna <b>"}).json()["games"]
    assert [row["number"] for row in listed] == [stored.id]
    for other in ({"person": "nobody"}, {"device": "phone"}):
        assert visitor.get("/played.json", params=other).json()["games"] == []
    page = visitor.get(f"/played/{stored.id}?ply=2")
    assert f"move 2 of {len(stored.moves)}" in page.text
    assert stored.final in visitor.get(f"/played/{stored.id}.txt").text
    assert "GM[2]" in visitor.get(f"/played/{stored.id}.sgf").text
    assert visitor.get(f"/played/{stored.id}.obf").text.startswith("# game: reversi:4x4")
    for nothing in (f"{stored.id}.pgn", f"{stored.id + 1}", f"{stored.id + 1}.txt"):
        assert visitor.get(f"/played/{nothing}").status_code == 404
    [row] = visitor.get("/played.csv").text.splitlines()[1:]
    for told in (stored.first, stored.device, stored.final, str(stored.score)):
        assert told in row


def test_passes_are_made_and_announced(visitor: TestClient) -> None:
    for seed in range(20):
        _, pages = finish(visitor, "reversi:4x4", seed, name="A", opponent="person", other="B")
        if any(PASSED in page for page in pages):
            return
    pytest.fail("no game had a pass")


@pytest.mark.parametrize(("spec", "opponent"), [
    ("go:2x2", {"opponent": "random"}), ("nim:1-2-3", {"opponent": "engine", "nodes": "1000"}),
    ("mnk:3x3,k=3", {"opponent": "uct", "playouts": "100"}),
])  # fmt: skip
def test_other_games_and_opponents(
    visitor: TestClient, connection: Connection, spec: str, opponent: dict[str, str]
) -> None:
    finish(visitor, spec, name="A", **opponent)
    [stored] = list_games(connection)
    assert stored.short_spec == open_game(spec).short_spec
    answer = visitor.get(f"/played/{stored.id}.sgf")
    assert answer.is_success == spec.startswith("go")
    assert visitor.get(f"/played/{stored.id}.obf").status_code == 404


def test_the_proof_keeps_what_it_has(solved_site: TestClient) -> None:
    game = "/play/reversi:4x4?first=A&second=proof"
    page = solved_site.get(f"{game}&moves=b1")
    assert len(moves_of(str(page.url))) == 2
    told = solved_site.get(f"/play/reversi:4x4.json?{urlsplit(str(page.url)).query}").json()
    assert told["worth"]["proof_state"] == "proved"
    assert told["worth"]["value"] == -8  # Reversi 4x4 is won by the second player, by 8
    assert "proof" in solved_site.get("/play/reversi:4x4").text
    explorer = solved_site.get("/campaigns/reversi:4x4/position?moves=b1").text
    [link] = re.findall(r'href="(/play/[^"]*)"', explorer)
    page = solved_site.get(html.unescape(link))
    assert moves_of(str(page.url)) == ["b1"]
    assert parse_qs(urlsplit(str(page.url)).query)["second"] == ["you"]


@pytest.mark.long
def test_every_game_can_be_played_to_its_end(visitor: TestClient) -> None:
    choose = random.Random(5)
    for listed in listed_games():
        spec = "go:2x2" if listed.name == "go" else listed.example
        moves: list[str] = []
        while True:
            asked = {"first": "A", "second": "random", "moves": ",".join(moves)}
            told = visitor.get(f"/play/{spec}.json", params=asked).json()
            assert "error" not in told, (spec, told)
            if told["result"] is not None:
                break
            assert told["mover"] == "A", spec
            moves = [*told["moves"], choose.choice(told["legal"])]
        assert visitor.get(f"/play/{spec}", params=asked).is_success


def test_hint_undo_and_hidden_moves(visitor: TestClient) -> None:
    game = "/play/reversi:4x4?first=A&second=minimax:2"
    page = visitor.get(f"{game}&moves=b1&hint=on")
    assert "Hint: <strong>" not in page.text  # the reply came first, at another address
    page = visitor.get(f"{page.url}&hint=on")
    assert "Hint: <strong>" in page.text
    assert "Take back" in page.text
    assert "hide-moves" in visitor.get(f"{game}&hidden=on").text
    told = visitor.get(f"/play/reversi:4x4.json?{game.partition('?')[2]}").json()
    assert sorted(told["legal"]) == ["a2", "b1", "c4", "d3"]


def test_captures_are_shown_with_their_direction(visitor: TestClient) -> None:
    game = "/play/reversi:8x8?first=A&second=B&moves=e6,d6,c5,f4"
    assert 'class="captures"' not in visitor.get(game).text
    page = visitor.get(f"{game}&lines=on").text
    [path] = re.findall(r'class="captures" d="([^"]*)"', page)
    # From f4 to d4 and to d6; columns and rows are 60 apart.
    assert sorted(path.split("M")[1:]) == ["300 180L180 180", "300 180L180 300"]
    assert "Hide captures" in page
    assert "data-still" in visitor.get(f"{game}&still=on").text


def test_the_visitor_chooses_weights(visitor: TestClient) -> None:
    form = {"name": "A", "evaluation": "own", "depth": "2", "weight-corners": "10",
            "weight-discs": "1", "weight-frontier": "-3"}  # fmt: skip
    page = visitor.post("/play/reversi:4x4", data=form)
    [machine] = parse_qs(urlsplit(str(page.url)).query)["second"]
    assert machine == "minimax:2,discs=1+corners=10+frontier=-3"
    assert "depth 2, own weights" in page.text
    assert visitor.get(f"{page.url}&moves=b1").is_success
    offered = visitor.get("/play/reversi:8x8").text
    for name in ("discs", "mobility", "corners", "c-squares", "x-squares", "frontier", "stable",
                 "sandwiched", "wiped-out"):  # fmt: skip
        assert f'name="weight-{name}"' in offered
    assert 'value="trained"' in offered
    assert 'value="trained"' not in visitor.get("/play/reversi:4x4").text  # has no weights
    for wrong in ({"weight-discs": "x"}, {"weight-discs": "1001"}, {}):
        answer = visitor.post("/play/reversi:4x4", data={"evaluation": "own", **wrong})
        assert answer.status_code == 400
        assert "weight" in answer.text


def test_the_replay_tells_what_moves_gave_away(solved_database: str) -> None:
    with visiting(solved_database) as visitor:
        # By these moves somebody gives away what the campaign has proved.
        finish(visitor, "reversi:4x4", 5, name="A", opponent="person", other="B")
        number = visitor.get("/played.json").json()["games"][0]["number"]
        page = visitor.get(f"/played/{number}?ply=0").text
    assert "Proved for the side to move: <strong>-8</strong>" in page
    assert page.count('class="move-worth') > 2
    assert 'class="move-worth lost"' in page


def test_two_machines_are_watched_move_by_move(visitor: TestClient) -> None:
    page = visitor.post("/play/reversi:4x4", data={"side": "watch", "opponent": "greedy"})
    assert moves_of(str(page.url)) == [""]
    page = visitor.get(f"{page.url}&step=on")
    assert len(moves_of(str(page.url))) == 1
    assert "http-equiv" not in page.text
    assert 'http-equiv="refresh"' in visitor.get(f"{page.url}&auto=on").text
    form = {"side": "watch", "opponent": "greedy", "rival": "minimax:3,discs"}
    page = visitor.post("/play/reversi:4x4", data=form)
    sides = parse_qs(urlsplit(str(page.url)).query)
    assert (sides["first"], sides["second"]) == (["minimax:3,discs"], ["greedy"])


def test_mistakes_have_a_way_out(visitor: TestClient, connection: Connection) -> None:
    for path, status, said in [
        ("/play/reversi:4x4?first=A&second=random&moves=a1", 404, "no legal move"),
        ("/play/reversi:4x4?first=A&second=minimax:11", 400, "1 to 10 plies"),
        ("/play/nim:1-2-3?first=A&second=minimax:5", 400, "1 to 4 plies"),
        ("/play/reversi:8x8?first=A&second=engine:999999999", 400, "2,000,000"),
        ("/play/reversi:8x8?first=A&second=uct:600s", 400, "20,000"),
        ("/play/reversi:4x4?first=depth-first&second=A", 400, "do not have"),
        ("/play/reversi:4x4?first=minimax:2,nonsense&second=A", 400, "Unknown evaluation"),
        ("/play/reversi:4x4?first=proof&second=A", 404, "No campaign has solved"),
        ("/play/chess", 404, "No such game"),
    ]:
        answer = visitor.get(path)
        assert answer.status_code == status, path
        assert said in html.unescape(answer.text), path
    assert visitor.post("/play/reversi:4x4", data={"name": "random"}).status_code == 400
    # A game that was not begun here can be played and is not stored.
    end = visitor.get("/play/nim:1?first=A&second=B&moves=1>0")
    assert "not stored" in end.text, end.text
    assert list_games(connection) == []


def test_play_is_limited_for_each_address(database: str) -> None:
    with visiting(database, plays_per_second=0.001, play_burst=2) as visitor:
        game = "/play/reversi:4x4?first=A&second=random&moves=b1"
        assert [visitor.get(game).status_code for _ in range(3)] == [200, 200, 429]
        assert visitor.get("/play/reversi:4x4?first=A&second=B&moves=b1").status_code == 200


def test_busy_machines_say_so(visitor: TestClient) -> None:
    site = visitor.app.site  # type: ignore[attr-defined]
    site.opponents = Opponents(processes=1, waiting=-1)
    answer = visitor.get("/play/reversi:4x4?first=A&second=random&moves=b1")
    assert answer.status_code == 503
    assert "All machines are busy" in answer.text
    assert answer.headers["retry-after"]


def test_a_slow_machine_is_ended_and_the_next_one_answers() -> None:
    async def ask() -> None:
        opponents = Opponents(processes=1, waiting=1, seconds=0.02)
        large, small = open_game("reversi:8x8"), open_game("reversi:4x4")
        after = small.play(small.initial(), small.find_move(small.initial(), "b1"))
        try:
            with pytest.raises(SlowError):
                await opponents.choose(large, "minimax:10", large.initial())
            opponents._seconds = 30.0
            asked = [opponents.choose(small, "random", after) for _ in range(3)]
            answers = await asyncio.gather(*asked, return_exceptions=True)
            assert sum(isinstance(answer, BusyError) for answer in answers) == 1
            assert {answer for answer in answers if isinstance(answer, str)} <= {"a1", "a3", "c1"}
            with pytest.raises(PlayerError):
                await opponents.choose(small, "nobody", after)
        finally:
            await opponents.close()

    asyncio.run(ask())


def test_sittings_are_ours() -> None:
    ours, other = Sittings("a" * 32), Sittings("b" * 32)
    sitting = ours.begin()
    assert ours.began_at(sitting) is not None
    for wrong in (f"1{sitting}", sitting[:-1], "", "1-2-3", other.begin(), sitting + "é"):
        assert ours.began_at(wrong) is None


def test_machines_may_not_think_longer_than_pages_allow() -> None:
    game = open_game("reversi:8x8")
    for right in ("minimax:10,discs,perfect=16", "uct:20000", "engine:1", "random", "proof"):
        check_machine(right, game)
    for wrong in ("minimax:10,discs,perfect=20", "minimax:0", "uct", "uct:0", "engine", "greedy:1",
                  "minimax:3,a,b,c", "breadth-first"):  # fmt: skip
        with pytest.raises(PlayerError):
            check_machine(wrong, game)


def test_the_role_of_the_pages_stores_games_alone(connection: Connection) -> None:
    connection.execute(query("create_roles"))
    connection.execute("SET ROLE zermelo_web")
    game = PlayedGame(
        None, open_game("nim:1").spec, None, "a", "b", ["1>0"], "0", 1, datetime.now(UTC), 1.0,
        sitting="x",
    )  # fmt: skip
    assert store_game(connection, game) == store_game(connection, game)
    for forbidden in ("DELETE FROM games_played", "SELECT * FROM campaigns",
                      "UPDATE games_played SET score = 0"):  # fmt: skip
        with pytest.raises(errors.InsufficientPrivilege), connection.transaction():
            connection.execute(forbidden)
    connection.execute("RESET ROLE")
