"""Planning one campaign against the database: one transaction per step."""

from __future__ import annotations

import logging
import math
from typing import NamedTuple

from zermelo.engine import Engine
from zermelo.games import Bounds
from zermelo.server.arrays import array
from zermelo.server.campaigns import Campaign, steer_campaign
from zermelo.server.database import Connection
from zermelo.server.listening import notify
from zermelo.server.planning.planner import Planner, budget_of, speculation
from zermelo.server.planning.questions import Choice, Key, Questions
from zermelo.server.planning.record import Record
from zermelo.server.planning.splitting import Splitter
from zermelo.server.tree.backup import Contradiction
from zermelo.server.tree.identity import NodeId
from zermelo.server.tree.tree import Tree
from zermelo.server.trust.assurance import assure
from zermelo.server.trust.provenance import responsible_results
from zermelo.server.trust.retraction import dispute
from zermelo.server.vocabulary import AlarmKind, CampaignState, Channel, Replication, WorkunitState
from zermelo.sql import query

log = logging.getLogger(__name__)

#: Clients must not wait for the generator: a workunit each is kept ready, and as many more
#: as they finish within this time.
STEP_SECONDS = 0.1
LEAST_SPARE = 2
MOST_SPARE_PER_CLIENT = 8
#: What a client is believed to manage before it was measured, and what it may manage, in nodes a
#: second: a test is looked into with the one, and what was split is asked whole with the other.
UNKNOWN_SPEED, HOPED_SPEED = 100_000.0, 20_000_000.0
#: Smaller workunits than this cost more to hand out than to answer.
LEAST_SECONDS = 0.1
#: While no client is idle workunits are cut to at least so many seconds for each client: the
#: services take a millisecond for one, most end in half of the time they were cut to, and
#: clients wait wherever the services are busy more than a third of the time.
LEAST_SECONDS_PER_CLIENT = 0.005
#: How many leaves that are being worked on are split for each idle client: they have several
#: children each.
HELPED_PER_IDLE = 0.25
#: How many leaves are split, without having been asked, for each workunit that is wanted.
SPLITS_AHEAD = 8
#: How many leaves are split before what can be asked is: clients wait meanwhile, 1.5 ms for each.
MOST_SPLITS_A_STEP = 1024
_MOST_SPLITS_AT_ONCE = 256


class Demand(NamedTuple):
    """The clients: how many workunits they can take at once, and their nodes a second."""

    workers: int
    speed: float
    #: Seconds on any clock that runs forward.
    now: float
    #: Whether anything new is to be asked.
    asks: bool = True


class _Asked(NamedTuple):
    """How many questions were asked or split, and whether that left more to do."""

    questions: int = 0
    more: bool = False


class CampaignPlan:
    """Keeps a campaign's queue filled with the questions that matter most."""

    def __init__(self, connection: Connection, campaign: Campaign, engine: Engine) -> None:
        self.connection, self.campaign = connection, campaign
        self.tree = Tree(connection, campaign.id, campaign.game)
        self.planner: Planner | None = None
        self._splitter = Splitter(connection, campaign, self.tree, engine)
        self._record = Record(connection, campaign.id)
        #: Whether there was less to ask lately than the clients could take.
        self.short = False
        self._over = False
        self._revision: int | None = None
        self._announced: int | None = None

    @property
    def finished(self) -> bool:
        return self._over

    @property
    def bounds(self) -> Bounds:
        return self.planner.bounds if self.planner else self.campaign.game.score_range

    def step(self, demand: Demand) -> bool:
        """Do what there is to do; whether that may have left more to do.

        Any error leaves the database as it was, and the next step starts from there. Where
        bounds that were never compared before contradict each other, because a split brings
        them together, the campaign is paused with an alarm.
        """
        planner, self.planner = self.planner, None
        try:
            with self.connection.transaction():
                self.tree.lock()
                if self._was_revised() or planner is None:
                    planner = self._rebuild(demand.now)
                busy = self._step(planner, demand)
        except Contradiction as contradiction:
            if self.campaign.replication is not Replication.NONE and self._contest(contradiction):
                return True
            self._alarm(contradiction)
            return False
        self.planner = planner
        return busy

    def _was_revised(self) -> bool:
        """Whether bounds were retracted since the plan was made: it is void, and so are seeds."""
        row = self.connection.execute(
            query("campaign_revision"), (self.campaign.id,)
        ).fetchone()
        former, self._revision = self._revision, row[0] if row else 0
        if former == self._revision:
            return False
        self._splitter.forget()
        self._over = False
        return True

    def _contest(self, contradiction: Contradiction) -> bool:
        """Have more users decide what is wrong below a node; whether there is anything to ask."""
        with self.connection.transaction():
            self.tree.lock()
            contested = responsible_results(
                self.connection, self.campaign, contradiction.nodes
            )
            if contested:
                dispute(self.connection, self.campaign, contested)
            forgotten = self.connection.execute(
                query("forget_proved"), (self.campaign.id,)
            ).rowcount
        return bool(contested or forgotten)

    def _alarm(self, contradiction: Contradiction) -> None:
        log.error("campaign %s is paused: %s", self.campaign.name, contradiction)
        with self.connection.transaction():
            for node in contradiction.nodes:
                self.connection.execute(
                    query("raise_alarm"),
                    {
                        "campaign": self.campaign.id,
                        "kind": AlarmKind.CONTRADICTION,
                        "node": node,
                        "result": None,
                        "detail": "the bounds below this node contradict its own",
                    },
                )
            steer_campaign(self.connection, self.campaign, CampaignState.PAUSED)

    # -- one step ------------------------------------------------------------------------

    def _step(self, planner: Planner, demand: Demand) -> bool:
        changed = self._hear(planner)
        split = self._split_exhausted(planner)
        self._follow_tests(planner)
        finished, spent = self._record.totals()
        self._record.refit(planner, finished, demand.workers)
        self._withdraw(planner.questions.settle())
        asked = self._ask(planner, demand, spent, self._record.rate(finished, demand.now))
        self._withdraw(planner.questions.settle())
        if planner.finished:
            self._finish()
        busy = bool(changed or split or asked.questions)
        self._record.keep(planner, demand.now, spent, busy=busy)
        return asked.more

    def _hear(self, planner: Planner) -> int:
        """Take over the bounds that the assimilator has proved meanwhile."""
        rows = self.connection.execute(query("take_changes"), (self.campaign.id,)).fetchall()
        for node, lo, hi in rows:
            planner.questions.update_bounds(node, lo, hi)
        return len(rows)

    def _split_exhausted(self, planner: Planner) -> int:
        rows = self.connection.execute(
            query("exhausted_workunits"), (self.campaign.id,)
        ).fetchall()
        if not rows:
            return 0
        nodes: dict[NodeId, None] = {}
        states = []
        for _, node, threshold, spent in rows:
            question = planner.questions.get((node, threshold))
            states.append(WorkunitState.SPLIT if question else WorkunitState.WITHDRAWN)
            if question:
                planner.questions.set_asked(question, False)
                question.exhausted = True
                if question.leaf:
                    planner.questions.ran_out(question, spent)
                nodes[node] = None
        self.connection.execute(
            query("end_exhausted"),
            {"campaign": self.campaign.id, "ids": [row[0] for row in rows], "states": states},
        )
        self._splitter.split(planner.questions, list(nodes))
        return len(rows)

    def _follow_tests(self, planner: Planner) -> None:
        """Go on to the test that the root's bounds call for."""
        while planner.advance():
            pass
        test = planner.test.threshold if planner.test else None
        if test != self._announced or planner.finished:
            self.connection.execute(
                query("end_tests"),
                {"campaign": self.campaign.id, "lo": planner.root.lo, "hi": planner.root.hi},
            )
        if test is not None and test != self._announced:
            self.connection.execute(
                query("start_test"), {"campaign": self.campaign.id, "threshold": test}
            )
        self._announced = test

    def _withdraw(self, unneeded: list[Key]) -> None:
        if unneeded:
            self.connection.execute(
                query("withdraw_workunits"),
                {
                    "campaign": self.campaign.id,
                    "nodes": array([node for node, _ in unneeded]),
                    "thresholds": array([threshold for _, threshold in unneeded]),
                },
            )

    def _ask(self, planner: Planner, demand: Demand, spent: int, rate: float) -> _Asked:
        """Fill the queue as far as the clients need it, splitting what is too hard."""
        if planner.finished or not demand.asks:
            return _Asked()
        ready, leased, _ = self._record.queue()
        while (plan := planner.choose(LEAST_SPARE, math.inf)).open:
            self._splitter.open(planner.questions, _nodes_of(plan.open))
        size = self._size(planner, demand, spent)
        # Many take far less than their size, above all where a table remembers their answer.
        expected = demand.workers * (demand.speed or UNKNOWN_SPEED) / size
        meanwhile = max(expected, rate) * STEP_SECONDS
        most = demand.workers * MOST_SPARE_PER_CLIENT
        spare = max(LEAST_SPARE, math.ceil(min(most, demand.workers + meanwhile)))
        if ready > spare // 2:
            return _Asked()
        wanted, splits, more = self._choose(planner, spare - ready, size, _whole(demand, size))
        # Until somebody's speed is known it is the host's own that tells.
        node_budget = budget_of(size) if demand.speed else None
        self._insert(planner, wanted, node_budget, demand.now)
        idle = demand.workers - leased - ready - len(wanted)
        self.short = idle > 0
        if self.short:
            count, least = math.ceil(idle * HELPED_PER_IDLE), self._size(planner, demand, spent)
            helped = planner.help(count, least, demand.speed or UNKNOWN_SPEED, demand.now)
            self._split_now(planner, helped)
            splits += len(helped)
            more |= bool(helped)
        return _Asked(len(wanted) + splits, more)

    def _choose(
        self, planner: Planner, count: int, size: float, whole: float
    ) -> tuple[list[Choice], int, bool]:
        """The leaves to ask now, how many were split to find them, and whether there are more.

        Splitting runs ahead of the clients only so far. Then the first leaves in turn are
        asked although they look too hard: clients do not wait, and what comes back from a
        search that ran out is worth more than a tree of guesses. And after some splits those
        that are small enough are asked before the others are split, in the next step.
        """
        splits, more = 0, False
        while (plan := planner.choose(count, size, whole)).split or plan.open:
            if plan.open:
                self._splitter.open(planner.questions, _nodes_of(plan.open))
            elif splits >= SPLITS_AHEAD * count:
                size = math.inf
            elif splits >= MOST_SPLITS_A_STEP and plan.ask:
                more = True
                break
            else:
                splits += len(plan.split)
                self._split_now(planner, plan.split)
        # Splitting may have settled some of them meanwhile.
        still = [choice for choice in plan.ask if planner.questions.is_open(choice.question)]
        asked = [choice for choice in still if whole or choice.question.leaf]
        return asked, splits, more or len(asked) < len(plan.ask)

    def _split_now(self, planner: Planner, choices: list[Choice]) -> None:
        self._splitter.split(planner.questions, _nodes_of(choices))
        self._follow_tests(planner)
        self._withdraw(planner.questions.settle())

    def _size(self, planner: Planner, demand: Demand, spent: int) -> float:
        """How many nodes a workunit should typically take."""
        speed = demand.speed or UNKNOWN_SPEED
        most = speed * self.campaign.target_seconds
        if self.campaign.node_budget is not None:
            most = min(most, self.campaign.node_budget)
        most /= budget_of(1.0)
        seconds = max(LEAST_SECONDS, LEAST_SECONDS_PER_CLIENT * demand.workers)
        size = planner.size(demand.workers, spent, min(most, speed * seconds), most)
        if not self.short:
            return size
        return planner.size_for_idle(
            demand.workers, speed, min(size, speed * LEAST_SECONDS), size
        )

    def _insert(
        self, planner: Planner, choices: list[Choice], node_budget: int | None, now: float
    ) -> None:
        if not choices:
            return
        questions = [choice.question for choice in choices]
        nodes = [question.node.id for question in questions]
        efforts = [question.features.efforts for question in questions]
        seeds = self._splitter.seeds_of(nodes)
        known = [seeds.get(node) for node in nodes]
        self.connection.execute(
            query("insert_workunits"),
            {
                "campaign": self.campaign.id,
                "node_budget": node_budget,
                "nodes": array(nodes),
                "thresholds": array([question.threshold for question in questions]),
                "priorities": array([speculation(choice.need) for choice in choices]),
                "expected": array([question.work for question in questions]),
                "guesses": array([question.node.guess for question in questions]),
                "plies_left": array([question.node.plies_left for question in questions]),
                "efforts_yes": array([effort.yes for effort in efforts]),
                "efforts_no": array([effort.no for effort in efforts]),
                "stakes": array([planner.stakes(question) for question in questions]),
                "plies": array([question.ply for question in questions]),
                "known": [seed.known if seed else None for seed in known],
                "known_from": [seed.result if seed else None for seed in known],
            },
        )
        for question in questions:
            planner.questions.set_asked(question, True, now)
        notify(self.connection, Channel.READY, self.campaign.id)

    def _finish(self) -> None:
        """End the campaign, unless answers contradict each other that are not decided yet, or its
        proof rests on strangers alone."""
        self.connection.execute(query("hold_campaign"), (self.campaign.id,))
        row = self.connection.execute(query("open_disputes"), (self.campaign.id,)).fetchone()
        if (row and row[0]) or assure(self.connection, self.campaign):
            return
        self._over = True
        self.connection.execute(query("withdraw_campaign"), {"campaign": self.campaign.id})
        self.connection.execute(query("finish_campaign"), (self.campaign.id,))
        notify(self.connection, Channel.CAMPAIGNS, self.campaign.id)

    # -- starting ------------------------------------------------------------------------------

    def _rebuild(self, now: float) -> Planner:
        """The planner as the database has it, as if all that is in work had been asked now."""
        (root,) = self.tree.load([self.campaign.root])
        planner = Planner(
            self._splitter.plan_root(root), self.campaign.aim, self._record.model(),
            self._splitter.appraise, self.campaign.game.max_score % 2,
        )  # fmt: skip
        self._announced = None
        questions = planner.questions
        self._open_above_work(questions)
        questions.settle()
        unneeded = []
        rows = self.connection.execute(query("open_workunits"), (self.campaign.id,)).fetchall()
        for node, threshold, state in rows:
            question = questions.get((node, threshold))
            if question is not None:
                questions.set_asked(question, True, now)
            elif state in (WorkunitState.READY, WorkunitState.LEASED):
                unneeded.append((node, threshold))
        self._withdraw(unneeded)
        return planner

    def _open_above_work(self, questions: Questions) -> None:
        """Look into every node that leads from the test to an open workunit."""
        rows = self.connection.execute(query("above_open_workunits"), (self.campaign.id,))
        above = {row[0] for row in rows}
        while above:
            reached = [
                id_ for id_ in above if (node := questions.nodes.get(id_)) and node.questions
            ]
            if not reached:
                break
            self._splitter.open(questions, reached)
            above.difference_update(reached)


def _whole(demand: Demand, size: float) -> float:
    """The most that a question which was split may typically take to be asked all the same."""
    if demand.workers > 1:
        return 0.0
    return size if demand.speed else size * HOPED_SPEED / UNKNOWN_SPEED


def _nodes_of(choices: list[Choice]) -> list[NodeId]:
    """The nodes of the first of them, each once."""
    nodes = dict.fromkeys(choice.question.node.id for choice in choices)
    return list(nodes)[:_MOST_SPLITS_AT_ONCE]
