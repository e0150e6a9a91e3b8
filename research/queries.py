"""What a researcher can ask, declared once.

A method marked with `query` is the declaration: its name, its parameters, the type of its
reply and its sentence. From it follow the RPC (`wire`), what a coordinator serves (`serving`),
what a caller sends (`remote`), the options of the command (`cli/query.py`) and the table of
docs/research.md (`document`). proto/research.proto is compared with it by a test.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Self, TypeVar, cast, get_args, get_origin, get_type_hints

from zermelo.games import Game
from zermelo.research import replies
from zermelo.server.campaigns import Summary

#: The most rows of one reply.
MOST_ROWS = 10_000

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Query:
    """One thing that can be asked."""

    name: str
    rpc: str
    declared: Callable[..., Any]

    @property
    def parameters(self) -> dict[str, Any]:
        """The names of the parameters and their types."""
        hints = get_type_hints(self.declared)
        del hints["return"]
        return hints

    @property
    def many(self) -> bool:
        """Whether the reply is a list."""
        return get_origin(self._reply) is list

    @property
    def reply(self) -> type[Any]:
        """The class of the reply, or of its items."""
        kind: type[Any] = get_args(self._reply)[0] if self.many else self._reply
        return kind

    @property
    def sentence(self) -> str:
        return " ".join((inspect.getdoc(self.declared) or "").partition("\n\n")[0].split())

    def arguments(self, given: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name, with the defaults of those left out."""
        bound = inspect.signature(self.declared).bind(None, *given, **named)
        bound.apply_defaults()
        return {name: value for name, value in bound.arguments.items() if name != "self"}

    @property
    def _reply(self) -> Any:
        return get_type_hints(self.declared)["return"]


def query(rpc: str = "") -> Callable[[F], F]:
    """Declares a query; whoever is asked finds the reply in `_ask`."""

    def decorate(declared: F) -> F:
        name = declared.__name__
        made = Query(name, rpc or "Ask" + name.title().replace("_", ""), declared)

        @wraps(declared)
        def ask(self: Asked, *given: Any, **named: Any) -> Any:
            return self._ask(made, made.arguments(given, named))

        ask.query = made  # type: ignore[attr-defined]
        return cast(F, ask)

    return decorate


class Asked(ABC):
    """Somebody who can be asked."""

    @abstractmethod
    def _ask(self, asked: Query, arguments: dict[str, Any]) -> Any:
        """The reply to a query, every argument by name."""


class Queries(Asked):
    """What can be asked about one campaign."""

    def __init__(self, name: str, game: Game[Any], start: Any) -> None:
        self.name, self.game, self.start = name, game, start

    def find(self, position: str | None = None, moves: Iterable[str] = ()) -> Any:
        """The position of this text (or the campaign's start) after these moves."""
        game = self.game
        found = self.start if position is None else game.parse(position)
        for move in moves:
            found = game.play(found, game.find_move(found, move))
        return found

    @query()
    def subject(self) -> replies.Subject:
        """Which game the campaign plays, and from where."""
        raise NotImplementedError

    @query()
    def standing(self) -> Summary:
        """State, bounds, outcome, best line, work done and remaining."""
        raise NotImplementedError

    @query()
    def progress(self, most: int = 1000) -> list[replies.ProgressPoint]:
        """How the campaign went, oldest first, in at most `most` points."""
        raise NotImplementedError

    @query()
    def open_questions(self) -> list[replies.OpenLevel]:
        """The questions that are open now, by their distance from the root."""
        raise NotImplementedError

    @query()
    def position(
        self, position: str | None = None, moves: Iterable[str] = ()
    ) -> replies.PositionReport:
        """What is proved about a position and about each of its moves, and what it rests on."""
        raise NotImplementedError

    @query()
    def line(
        self, position: str | None = None, moves: Iterable[str] = ()
    ) -> list[replies.LineStep]:
        """Best play: no move gives up what is proved. Below the tree the engine continues it."""
        raise NotImplementedError

    @query()
    def levels(self, depth: int = 1000) -> list[replies.Level]:
        """The tree by distance from the root, down to `depth` plies."""
        raise NotImplementedError

    @query()
    def contributors(self, most: int = 100) -> list[replies.Contributor]:
        """At most `most` users, by the nodes of their accepted results."""
        raise NotImplementedError

    @query()
    def hosts(self, most: int = 100) -> list[replies.HostRecord]:
        """At most `most` hosts, by the nodes of their accepted results."""
        raise NotImplementedError

    @query()
    def workunit(self, number: int) -> replies.WorkunitReport:
        """A question that was asked, and everything that came back."""
        raise NotImplementedError

    @query()
    def workunits(self, most: int = 100, before: int = 0) -> list[replies.WorkunitRecord]:
        """The newest workunits, or those older than number `before`; at most `most`."""
        raise NotImplementedError

    @query()
    def results(self, most: int = 100, before: int = 0) -> list[replies.ResultRecord]:
        """The newest results, or those older than number `before`; at most `most`."""
        raise NotImplementedError


class Campaigns(Asked):
    """Campaigns to ask about. Use as ``with zermelo.open(...) as campaigns``."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Leave; nothing can be asked afterwards."""

    @abstractmethod
    def campaign(self, name: str) -> Queries:
        """What can be asked about one campaign."""

    @query()
    def campaigns(self) -> list[str]:
        """The names of all campaigns."""
        raise NotImplementedError

    @query("AskStandings")
    def some_standings(self, most: int = MOST_ROWS, skip: int = 0) -> list[Summary]:
        """Where campaigns stand, without their best lines: `most` of them after `skip`."""
        raise NotImplementedError

    @query("AskClaims")
    def some_claims(
        self, name: str, most: int = MOST_ROWS, skip: int = 0
    ) -> list[replies.ClaimReport]:
        """What became of the claims imported under a name: `most` of them after `skip`."""
        raise NotImplementedError

    @query()
    def claim_totals(self, name: str) -> replies.ClaimTotals:
        """How many of the claims imported under a name are confirmed, refuted and open."""
        raise NotImplementedError

    @query()
    def teams(self, most: int = 100) -> list[replies.TeamRecord]:
        """At most `most` teams, by their credit."""
        raise NotImplementedError

    @query()
    def volunteers(self, most: int = 100) -> list[replies.VolunteerRecord]:
        """At most `most` volunteers, by their credit."""
        raise NotImplementedError

    def standings(self) -> list[Summary]:
        """Where all campaigns stand, without their best lines."""
        return _all_pages(lambda skip: self.some_standings(MOST_ROWS, skip))

    def claims(self, name: str) -> list[replies.ClaimReport]:
        """All claims that were imported under this name, and what became of them."""
        return _all_pages(lambda skip: self.some_claims(name, MOST_ROWS, skip))


def _all_pages(page: Callable[[int], list[T]]) -> list[T]:
    found: list[T] = []
    while True:
        following = page(len(found))
        found += following
        if len(following) < MOST_ROWS:
            return found


def declared_in(asked: type[Any]) -> list[Query]:
    """The queries that a class declares, in the order of the declaration."""
    return [member.query for member in vars(asked).values() if hasattr(member, "query")]


def declaration(method: Callable[..., Any]) -> Query:
    """The query that a method of `Queries` or `Campaigns` declares."""
    made: Query = method.query  # type: ignore[attr-defined]
    return made


#: Every query by the name of its RPC.
BY_RPC = {asked.rpc: asked for kind in (Campaigns, Queries) for asked in declared_in(kind)}
#: Those about one campaign, whose request names it.
OF_ONE_CAMPAIGN = frozenset(declared_in(Queries))
