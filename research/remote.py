"""The same questions to a coordinator, over gRPC: the same answers, the same objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from zermelo.games import open_game
from zermelo.proto import research_pb2 as pb
from zermelo.proto.remote import Identity, Remote
from zermelo.proto.service import RESEARCH
from zermelo.research import answers
from zermelo.research.questions import MOST_ROWS, Campaigns, Questions
from zermelo.research.wire import from_message
from zermelo.server.campaigns import Summary

#: Counting a large tree takes a while.
LONGEST_SECONDS = 600.0


class RemoteCampaigns(Campaigns):
    """The campaigns of the coordinator at an address, for one of its researchers."""

    def __init__(self, address: str, identity: Identity) -> None:
        self._remote = Remote(address, RESEARCH, identity)

    def close(self) -> None:
        self._remote.close()

    def campaigns(self) -> list[str]:
        return list(self._remote.ask(pb.AskCampaignsRequest()).answer)

    def claims(self, name: str) -> list[answers.ClaimReport]:
        found: list[answers.ClaimReport] = []
        while True:
            page = self._remote.ask(
                pb.AskClaimsRequest(name=name, most=MOST_ROWS, skip=len(found))
            ).answer
            found += [from_message(claim, answers.ClaimReport) for claim in page]
            if len(page) < MOST_ROWS:
                return found

    def campaign(self, name: str) -> Questions:
        return RemoteQuestions(self._remote, name)


class RemoteQuestions(Questions):
    def __init__(self, remote: Remote, name: str) -> None:
        self._remote = remote
        subject = remote.ask(pb.AskSubjectRequest(campaign=name)).answer
        game = open_game(subject.game)
        super().__init__(subject.campaign, game, game.parse(subject.position))

    def standing(self) -> Summary:
        return from_message(self._ask(pb.AskStandingRequest), Summary)

    def progress(self, most: int = 1000) -> list[answers.ProgressPoint]:
        return self._list(answers.ProgressPoint, pb.AskProgressRequest, most=most)

    def open_questions(self) -> list[answers.OpenLevel]:
        return self._list(answers.OpenLevel, pb.AskOpenQuestionsRequest)

    def position(
        self, position: str | None = None, moves: Iterable[str] = ()
    ) -> answers.PositionReport:
        found = self._ask(pb.AskPositionRequest, position=position, moves=moves)
        return from_message(found, answers.PositionReport)

    def line(
        self, position: str | None = None, moves: Iterable[str] = ()
    ) -> list[answers.LineStep]:
        return self._list(answers.LineStep, pb.AskLineRequest, position=position, moves=moves)

    def levels(self, depth: int = 1000) -> list[answers.Level]:
        return self._list(answers.Level, pb.AskLevelsRequest, depth=depth)

    def contributors(self, most: int = 100) -> list[answers.Contributor]:
        return self._list(answers.Contributor, pb.AskContributorsRequest, most=most)

    def hosts(self, most: int = 100) -> list[answers.HostRecord]:
        return self._list(answers.HostRecord, pb.AskHostsRequest, most=most)

    def workunit(self, number: int) -> answers.WorkunitReport:
        found = self._ask(pb.AskWorkunitRequest, number=number)
        return from_message(found, answers.WorkunitReport)

    def results(self, most: int = 100, before: int = 0) -> list[answers.ResultRecord]:
        return self._list(answers.ResultRecord, pb.AskResultsRequest, most=most, before=before)

    def _ask(self, request: Any, **fields: Any) -> Any:
        asked = request(campaign=self.name, **fields)
        return self._remote.ask(asked, LONGEST_SECONDS).answer

    def _list(self, kind: type[Any], request: Any, **fields: Any) -> list[Any]:
        return [from_message(each, kind) for each in self._ask(request, **fields)]
