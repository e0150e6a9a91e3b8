"""What can be asked, whoever answers: a database at hand, or a coordinator that has one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Self

from zermelo.games import Game
from zermelo.research import answers
from zermelo.server.campaigns import Summary

#: The most rows of one answer.
MOST_ROWS = 10_000


class Questions(ABC):
    """Questions about one campaign."""

    def __init__(self, name: str, game: Game[Any], start: Any) -> None:
        self.name, self.game, self.start = name, game, start

    def find(self, position: str | None = None, moves: Iterable[str] = ()) -> Any:
        """The position of this text (or the campaign's start) after these moves."""
        game = self.game
        found = self.start if position is None else game.parse(position)
        for move in moves:
            found = game.play(found, game.find_move(found, move))
        return found

    @abstractmethod
    def standing(self) -> Summary:
        """Where the campaign stands, in one object."""

    @abstractmethod
    def progress(self, most: int = 1000) -> list[answers.ProgressPoint]:
        """How the campaign went, oldest first, in at most so many points."""

    @abstractmethod
    def open_questions(self) -> list[answers.OpenLevel]:
        """The questions that are open now, by their distance from the root."""

    @abstractmethod
    def position(
        self, position: str | None = None, moves: Iterable[str] = ()
    ) -> answers.PositionReport:
        """What is proved about a position and about each of its moves."""

    @abstractmethod
    def line(
        self, position: str | None = None, moves: Iterable[str] = ()
    ) -> list[answers.LineStep]:
        """Best play as far as it is proved: no move is known to be surpassed by another, or
        at least none gives up what is proved."""

    @abstractmethod
    def levels(self, depth: int = 1000) -> list[answers.Level]:
        """The tree by distance from the root, as deep as asked."""

    @abstractmethod
    def contributors(self, most: int = 100) -> list[answers.Contributor]:
        """Users by the nodes of their accepted results."""

    @abstractmethod
    def hosts(self, most: int = 100) -> list[answers.HostRecord]:
        """Hosts by the nodes of their accepted results."""

    @abstractmethod
    def workunit(self, number: int) -> answers.WorkunitReport:
        """A question that was asked, and everything that came back."""

    @abstractmethod
    def results(self, most: int = 100, before: int = 0) -> list[answers.ResultRecord]:
        """The newest results, whatever became of them; or those older than one of them."""


class Campaigns(ABC):
    """Campaigns to ask about. Use as ``with zermelo.open(...) as campaigns``."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Leave; nothing can be asked afterwards."""

    @abstractmethod
    def campaigns(self) -> list[str]:
        """The names of all campaigns."""

    @abstractmethod
    def claims(self, name: str) -> list[answers.ClaimReport]:
        """The claims that were imported under this name, and what became of them."""

    @abstractmethod
    def campaign(self, name: str) -> Questions:
        """What can be asked about one campaign."""
