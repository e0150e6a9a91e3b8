"""Questions about one campaign, answered from its tree.

Everything is read from the database at the moment of the question, so a campaign may be
running meanwhile; one answer never mixes two states of the tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from psycopg import IsolationLevel

from zermelo import ZermeloError
from zermelo.engine.portable import PortableEngine
from zermelo.games import Bounds, Game, Move
from zermelo.proof.moves import Place
from zermelo.research import answers
from zermelo.research.questions import Questions
from zermelo.server.campaigns import Campaign, Summary, campaign_summary
from zermelo.server.database import Connection
from zermelo.server.tree.identity import NodeId, node_id
from zermelo.server.tree.tree import Node, Tree
from zermelo.sql import query


class UnknownWorkunitError(ZermeloError):
    """There is no such workunit in the campaign."""

    exit_code = 2


class TreeQuestions(Questions):
    """Questions about one campaign, answered from its tree."""

    def __init__(self, connection: Connection, campaign: Campaign) -> None:
        super().__init__(campaign.name, campaign.game, campaign.start)
        self.campaign = campaign
        self._connection = connection
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        self._tree = Tree(connection, campaign.id, PortableEngine(self.game))

    def standing(self) -> Summary:
        with self._connection.transaction():
            return campaign_summary(self._connection, self.campaign.name)

    # -- progress -----------------------------------------------------------------------

    def progress(self, most: int = 1000) -> list[answers.ProgressPoint]:
        return [
            answers.ProgressPoint(*row)
            for row in self._rows(
                "progress_over_time", {"campaign": self.campaign.id, "most": most}
            )
        ]

    def open_questions(self) -> list[answers.OpenLevel]:
        return [answers.OpenLevel(*row) for row in self._rows("open_by_ply", (self.campaign.id,))]

    # -- positions ----------------------------------------------------------------------

    def position(
        self, position: str | None = None, moves: Iterable[str] = ()
    ) -> answers.PositionReport:
        game = self.game
        asked = self.find(position, moves)
        options = [(move, game.play(asked, move)) for move in game.moves(asked)]
        # One journey to the database for both: ids are known before it is asked.
        with self._connection.pipeline(), self._connection.transaction():
            cursor = self._connection.execute(query("provenance"), (self._id(asked),))
            nodes = self._nodes([asked, *(after for _, after in options)])
            node = nodes[0]
            provenance = [] if node is None else cursor.fetchall()
        worth = self._worth(asked, node)
        worths = [self._worth(after, below)
                  for (_, after), below in zip(options, nodes[1:], strict=True)]
        names = [game.move_name(move) for move, _ in options]
        return answers.PositionReport(
            position=game.format(asked),
            node=None if node is None else node.id,
            worth=worth,
            expanded=node is not None and node.children is not None,
            moves=_moves_worth(worth, names, worths, game.score_range),
            provenance=[answers.Provenance(*row) for row in provenance],
        )

    def worth(self, position: Any) -> answers.Worth:
        """What is proved about a position, given as the game has it."""
        return self._worth(position, self._nodes([position])[0])

    def proved_move(self, position: Any) -> tuple[Move | None, answers.Worth]:
        """A move that is best, or else secures what is proved; and what that is.

        None where the tree does not tell: below its frontier, or where nothing is proved.
        """
        game = self.game
        options = game.moves(position)
        nodes = self._nodes([position, *(game.play(position, move) for move in options)])
        worth = self._worth(position, nodes[0])
        worths = [self._worth(game.play(position, move), node)
                  for move, node in zip(options, nodes[1:], strict=True)]
        told = _moves_worth(worth, game.line_names(options), worths, game.score_range)
        best = max(range(len(told)), key=[_rank(move) for move in told].__getitem__)
        return (options[best] if any(_rank(told[best])) else None), worth

    def line(
        self, position: str | None = None, moves: Iterable[str] = ()
    ) -> list[answers.LineStep]:
        game, at = self.game, self.find(position, moves)
        steps: list[answers.LineStep] = []
        with self._connection.transaction():
            while game.moves(at):
                move, worth = self.proved_move(at)
                if move is None:
                    break
                steps.append(answers.LineStep(_side(game, at), game.move_name(move), worth))
                at = game.play(at, move)
        return steps

    def levels(self, depth: int = 1000) -> list[answers.Level]:
        rules = self.game.score_range
        arguments = {"root": self.campaign.root, "depth": depth, "lo": rules.lo, "hi": rules.hi}
        return [answers.Level(*row) for row in self._rows("tree_by_ply", arguments)]

    # -- people and work ------------------------------------------------------------------

    def contributors(self, most: int = 100) -> list[answers.Contributor]:
        arguments = {"campaign": self.campaign.id, "most": most}
        return [answers.Contributor(*row) for row in self._rows("contributors", arguments)]

    def hosts(self, most: int = 100) -> list[answers.HostRecord]:
        arguments = {"campaign": self.campaign.id, "most": most}
        return [answers.HostRecord(*row) for row in self._rows("contributing_hosts", arguments)]

    def workunit(self, number: int) -> answers.WorkunitReport:
        with self._connection.transaction():
            rows = self._rows(
                "find_workunit", {"workunit": number, "campaign": self.campaign.id}
            )
            results = self._rows("results_of_workunit", (number,))
        if not rows:
            raise UnknownWorkunitError(
                f"campaign {self.campaign.name!r} has no workunit {number}"
            )
        *told, key, history = rows[0]
        position = self.game.format(self.game.decode(key.bytes, history or b""))
        records = [answers.ResultRecord(*row) for row in results]
        return answers.WorkunitReport(*[*told, position, records])

    def results(self, most: int = 100, before: int = 0) -> list[answers.ResultRecord]:
        arguments = {"campaign": self.campaign.id, "most": most, "before": before}
        return [answers.ResultRecord(*row) for row in self._rows("newest_results", arguments)]

    # -- inside -----------------------------------------------------------------------

    def _rows(self, name: str, arguments: Any) -> list[Any]:
        return self._connection.execute(query(name), arguments).fetchall()

    def _place(self, position: Any) -> Place:
        canonical = self.game.canonical(position)
        return self.game.encode(canonical), self.game.history(canonical)

    def _id(self, position: Any) -> NodeId:
        return node_id(self.campaign.id, *self._place(position))

    def _nodes(self, positions: Sequence[Any]) -> list[Node | None]:
        """The nodes of positions, by primary key; None for those not in the tree."""
        keys = [self._place(position) for position in positions]
        ids = [node_id(self.campaign.id, *key) for key in keys]
        found = {node.id: node for node in self._tree.load(set(ids))}
        nodes = [found.get(id_) for id_ in ids]
        # A hash names a node; only its position says that it is the one.
        return [
            node if node is not None and (node.key, node.history) == key else None
            for node, key in zip(nodes, keys, strict=True)
        ]

    def _worth(self, position: Any, node: Node | None) -> answers.Worth:
        game = self.game
        rules = game.score_range
        if game.is_final(position):
            score = game.score(position)
            return answers.Worth.of(Bounds(score, score), rules)
        return answers.Worth.of(rules if node is None else node.bounds, rules)


def _moves_worth(
    worth: answers.Worth, names: list[str], after: list[answers.Worth], rules: Bounds
) -> list[answers.MoveWorth]:
    """The moves of a position, for the side that makes them."""
    told = []
    for place, (name, below) in enumerate(zip(names, after, strict=True)):
        lo = -below.hi
        others = [-other.lo for at, other in enumerate(after) if at != place]
        told.append(answers.MoveWorth(
            name, answers.Worth(below.known, lo, -below.lo),
            best=lo > rules.lo and lo >= min(max(others, default=rules.lo), worth.hi),
            secures=lo >= worth.lo > rules.lo,
        ))
    return told


def _rank(move: answers.MoveWorth) -> tuple[bool, bool]:
    return move.best, move.secures


def _side(game: Game[Any], position: Any) -> str:
    """The side to move, as the game writes it at the end of a position."""
    words = game.format(position).split()
    return next((word for word in reversed(words) if word in ("X", "O")), "")
