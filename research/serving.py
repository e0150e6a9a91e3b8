"""Researchers' requests to a coordinator, answered from its database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from psycopg import errors

from zermelo import ZermeloError
from zermelo.proto import limits
from zermelo.proto import research_pb2 as pb
from zermelo.research.answers import Subject
from zermelo.research.api import campaign_names, claims_of
from zermelo.research.tree_questions import TreeQuestions
from zermelo.research.wire import to_message
from zermelo.server.campaigns import find_campaign
from zermelo.server.database import Connection


class TooLongError(ZermeloError):
    """The answer takes longer than the coordinator gives anybody."""


def reply_to(connection: Connection, request: Any) -> Any:
    """The reply to a researcher's request; a `ZermeloError` says why there is none."""
    limits.check(request)
    try:
        return _answer(connection, request)
    except errors.QueryCanceled:
        raise TooLongError(
            "the answer takes the coordinator too long; ask for less (`query tree --depth`),"
            " or the database itself"
        ) from None


def _answer(connection: Connection, request: Any) -> Any:
    kind = type(request)
    if kind is pb.AskCampaignsRequest:
        return pb.AskCampaignsReply(answer=campaign_names(connection))
    if kind is pb.AskClaimsRequest:
        found = claims_of(connection, request.name, request.skip, request.most)
        return pb.AskClaimsReply(answer=[to_message(each) for each in found])
    questions = TreeQuestions(connection, find_campaign(connection, request.campaign))
    reply, ask = _ASKED[kind]
    answer = ask(questions, request)
    told = [to_message(each) for each in answer] if isinstance(answer, list) else (
        to_message(answer)
    )
    return reply(answer=told)


def _position(request: Any) -> tuple[str | None, list[str]]:
    return request.position if request.HasField("position") else None, list(request.moves)


def _subject(questions: TreeQuestions, _: Any) -> Subject:
    game = questions.game
    return Subject(questions.name, game.spec, game.format(questions.start))


_ASKED: dict[type, tuple[type, Callable[[TreeQuestions, Any], Any]]] = {
    pb.AskSubjectRequest: (pb.AskSubjectReply, _subject),
    pb.AskStandingRequest: (pb.AskStandingReply, lambda asked, _: asked.standing()),
    pb.AskProgressRequest: (
        pb.AskProgressReply, lambda asked, request: asked.progress(request.most),
    ),
    pb.AskOpenQuestionsRequest: (
        pb.AskOpenQuestionsReply, lambda asked, _: asked.open_questions(),
    ),
    pb.AskPositionRequest: (
        pb.AskPositionReply, lambda asked, request: asked.position(*_position(request)),
    ),
    pb.AskLineRequest: (
        pb.AskLineReply, lambda asked, request: asked.line(*_position(request)),
    ),
    pb.AskLevelsRequest: (pb.AskLevelsReply, lambda asked, request: asked.levels(request.depth)),
    pb.AskContributorsRequest: (
        pb.AskContributorsReply, lambda asked, request: asked.contributors(request.most),
    ),
    pb.AskHostsRequest: (pb.AskHostsReply, lambda asked, request: asked.hosts(request.most)),
    pb.AskWorkunitRequest: (
        pb.AskWorkunitReply, lambda asked, request: asked.workunit(request.number),
    ),
    pb.AskResultsRequest: (
        pb.AskResultsReply, lambda asked, request: asked.results(request.most, request.before),
    ),
}  # fmt: skip
