"""Queries about one campaign, answered from its tree.

Everything is read from the database at the moment of the query, so a campaign may be
running meanwhile; one reply never mixes two states of the tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from psycopg import IsolationLevel
from psycopg.pq import TransactionStatus

from zermelo import ZermeloError
from zermelo.games import Bounds, Move
from zermelo.research import replies
from zermelo.research.best_play import play_on
from zermelo.research.queries import Queries, Query
from zermelo.server.campaigns import Campaign, Summary, campaign_summary, standings
from zermelo.server.database import Connection, clear_errors
from zermelo.server.tree.identity import Place, node_id
from zermelo.server.tree.line import best_line
from zermelo.server.tree.tree import Node, Tree
from zermelo.sql import query

T = TypeVar("T")


class UnknownWorkunitError(ZermeloError):
    """There is no such workunit in the campaign."""

    exit_code = 2


@contextmanager
def one_state(connection: Connection) -> Iterator[None]:
    """All that is read inside is one state of the database; its loss is a `DatabaseError`.

    Inside another one it is the other's, and takes no statement.
    """
    with clear_errors():
        if connection.info.transaction_status is not TransactionStatus.IDLE:
            yield
            return
        if connection.isolation_level is not IsolationLevel.REPEATABLE_READ:
            connection.isolation_level = IsolationLevel.REPEATABLE_READ
        with connection.transaction():
            yield


class TreeQueries(Queries):
    """Answers each query `name` in a method `_name`."""

    def __init__(self, connection: Connection, campaign: Campaign) -> None:
        super().__init__(campaign.name, campaign.game, campaign.start)
        self.campaign = campaign
        self._connection = connection
        self._tree = Tree(connection, campaign.id, self.game)

    def worth(self, position: Any) -> replies.Worth:
        """What is proved about a position, given as the game has it."""
        return self.worths([position])[0]

    def worths(self, positions: Sequence[Any]) -> list[replies.Worth]:
        """What is proved about positions, all of one moment."""
        with one_state(self._connection):
            nodes = self._nodes(positions)
        return [self._worth(at, node) for at, node in zip(positions, nodes, strict=True)]

    def proved_move(self, position: Any) -> tuple[Move | None, replies.Worth]:
        """A move that is best, or else secures what is proved; and what that is.

        None where the tree does not tell: below its frontier, or where nothing is proved.
        """
        game = self.game
        options = game.moves(position)
        with one_state(self._connection):
            nodes = self._nodes([position, *(game.play(position, move) for move in options)])
        worth = self._worth(position, nodes[0])
        worths = [self._worth(game.play(position, move), node)
                  for move, node in zip(options, nodes[1:], strict=True)]
        told = _moves_worth(worth, game.line_names(options), worths, game.score_range)
        best = max(range(len(told)), key=[_rank(move) for move in told].__getitem__)
        return (options[best] if any(_rank(told[best])) else None), worth

    def _ask(self, asked: Query, arguments: dict[str, Any]) -> Any:
        with one_state(self._connection):
            return getattr(self, f"_{asked.name}")(**arguments)

    # -- progress -----------------------------------------------------------------------

    def _subject(self) -> replies.Subject:
        return replies.Subject(self.name, self.game.spec, self.game.format(self.start))

    def _standing(self) -> Summary:
        return campaign_summary(self._connection, self.name)

    def standing_without_line(self) -> Summary:
        """As `standing`, in one statement: without the best line."""
        with one_state(self._connection):
            return standings(self._connection, campaign=self.campaign.id)[0]

    def _progress(self, most: int) -> list[replies.ProgressPoint]:
        return self.records(replies.ProgressPoint, "progress_over_time", most=most)

    def _open_questions(self) -> list[replies.OpenLevel]:
        return self.records(replies.OpenLevel, "open_by_ply")

    # -- positions ----------------------------------------------------------------------

    def _position(self, position: str | None, moves: Iterable[str]) -> replies.PositionReport:
        report, _ = self.explore([self.find(position, moves)])
        return report

    def explore(
        self, way: Sequence[Any]
    ) -> tuple[replies.PositionReport, list[replies.Worth]]:
        """All about the last of some positions, and the worth of each of them."""
        with one_state(self._connection):
            return self._explore(way)

    def _explore(
        self, way: Sequence[Any]
    ) -> tuple[replies.PositionReport, list[replies.Worth]]:
        game = self.game
        asked = way[-1]
        options = [(move, game.play(asked, move)) for move in game.moves(asked)]
        # One journey to the database for both: the id is known before it is asked, unless another
        # position holds it.
        likely = node_id(self.campaign.id, self._place(asked))
        with self._connection.pipeline():
            cursor = self._connection.execute(query("provenance"), (likely,))
            nodes = self._nodes([*way, *(after for _, after in options)])
            node = nodes[len(way) - 1]
            if node is not None and node.id != likely:
                cursor = self._connection.execute(query("provenance"), (node.id,))
            provenance = [] if node is None else cursor.fetchall()
        on_the_way = [self._worth(at, there) for at, there in zip(way, nodes, strict=False)]
        worth = on_the_way[-1]
        worths = [self._worth(after, below)
                  for (_, after), below in zip(options, nodes[len(way):], strict=True)]
        names = [game.move_name(move) for move, _ in options]
        report = replies.PositionReport(
            position=game.format(asked),
            node=None if node is None else node.id,
            worth=worth,
            expanded=node is not None and node.children is not None,
            moves=_moves_worth(worth, names, worths, game.score_range),
            provenance=[replies.Provenance(*row) for row in provenance],
        )
        return report, on_the_way

    def _line(self, position: str | None, moves: Iterable[str]) -> list[replies.LineStep]:
        start = self.find(position, moves)
        (node,) = self._nodes([start])
        if node is None:
            return []
        line = best_line(self._tree, start, node)
        steps = [
            self._step(each.position, each.move, self._worth(each.position, each.node),
                       replies.LineSource.TREE)
            for each in line.moves
        ]
        if not line.end.bounds.exact:
            return steps
        # The score is proved, so the engine's search below is proved play as well.
        at, worth = line.position, self._worth(line.position, line.end)
        for move in play_on(self.game, at):
            steps.append(self._step(at, move, worth, replies.LineSource.ENGINE))
            at = self.game.play(at, move)
            worth = replies.Worth(worth.proof_state, -worth.hi, -worth.lo)
        return steps

    def _step(
        self, position: Any, move: Move, worth: replies.Worth, source: replies.LineSource
    ) -> replies.LineStep:
        game = self.game
        return replies.LineStep(
            game.side_to_move(position), game.move_name(move), worth, source
        )

    def _levels(self, depth: int) -> list[replies.Level]:
        rules = self.game.score_range
        return self.records(
            replies.Level, "tree_by_ply", root=self.campaign.root, depth=depth, lo=rules.lo,
            hi=rules.hi,
        )

    # -- people and work ------------------------------------------------------------------

    def _contributors(self, most: int) -> list[replies.Contributor]:
        return self.records(replies.Contributor, "contributors", most=most)

    def _hosts(self, most: int) -> list[replies.HostRecord]:
        return self.records(replies.HostRecord, "contributing_hosts", most=most)

    def _workunit(self, number: int) -> replies.WorkunitReport:
        rows = self.rows("find_workunit", workunit=number)
        if not rows:
            raise UnknownWorkunitError(self._no_workunit(number))
        *told, key, history = rows[0]
        position = self.game.format(self.game.decode(key.bytes, history or b""))
        records = self.records(replies.ResultRecord, "results_of_workunit", workunit=number)
        return replies.WorkunitReport(*[*told, position, records])

    def _no_workunit(self, number: int) -> str:
        ((count,),) = self.rows("number_of_workunits")
        there = "none yet" if not count else "one" if count == 1 else f"{count:,} workunits"
        return (
            f"campaign {self.name!r} has no workunit {number}; it has {there}"
            f" (`zermelo query workunit {self.name}` lists them)"
        )

    def _workunits(self, most: int, before: int) -> list[replies.WorkunitRecord]:
        return self.records(replies.WorkunitRecord, "newest_workunits", most=most, before=before)

    def _results(self, most: int, before: int) -> list[replies.ResultRecord]:
        return self.records(replies.ResultRecord, "newest_results", most=most, before=before)

    # -- inside -----------------------------------------------------------------------

    def rows(self, name: str, **arguments: Any) -> list[Any]:
        """The rows of a named SQL query about this campaign."""
        named = {"campaign": self.campaign.id, **arguments}
        return self._connection.execute(query(name), named).fetchall()

    def records(self, kind: type[T], name: str, **arguments: Any) -> list[T]:
        """The rows of a named SQL query about this campaign, as objects."""
        return [kind(*row) for row in self.rows(name, **arguments)]

    def _place(self, position: Any) -> Place:
        canonical = self.game.canonical(position)
        return self.game.encode(canonical), self.game.history(canonical)

    def _nodes(self, positions: Sequence[Any]) -> list[Node | None]:
        """The nodes of positions, by primary key; None for those not in the tree."""
        return self._tree.find([self._place(position) for position in positions])

    def _worth(self, position: Any, node: Node | None) -> replies.Worth:
        game = self.game
        rules = game.score_range
        if node is not None:  # a final position came into the tree with its score
            return replies.Worth.of(node.bounds, rules)
        if game.is_final(position):
            score = game.score(position)
            return replies.Worth.of(Bounds(score, score), rules)
        return replies.Worth.of(rules, rules)


def _moves_worth(
    worth: replies.Worth, names: list[str], after: list[replies.Worth], rules: Bounds
) -> list[replies.MoveWorth]:
    """The moves of a position, for the side that makes them."""
    told = []
    for place, (name, below) in enumerate(zip(names, after, strict=True)):
        lo = -below.hi
        others = [-other.lo for at, other in enumerate(after) if at != place]
        told.append(replies.MoveWorth(
            name, replies.Worth(below.proof_state, lo, -below.lo),
            best=lo > rules.lo and lo >= min(max(others, default=rules.lo), worth.hi),
            secures=lo >= worth.lo > rules.lo,
        ))
    return told


def _rank(move: replies.MoveWorth) -> tuple[bool, bool]:
    return move.best, move.secures
