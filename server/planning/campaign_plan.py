"""Planning one campaign against the database: one transaction per step."""

from __future__ import annotations

import logging
import math
from typing import NamedTuple

from zermelo.engine import Engine
from zermelo.games import Bounds
from zermelo.proto.known import KnownBounds, pack, unpack
from zermelo.server.campaigns import Campaign, steer_campaign
from zermelo.server.database import Connection
from zermelo.server.planning.costs import CostModel, Sample
from zermelo.server.planning.planner import Choice, Planner, budget_of
from zermelo.server.planning.questions import Key, PlanNode
from zermelo.server.tree.backup import Claim, Contradiction, add_claims, back_up
from zermelo.server.tree.identity import NodeId, node_id
from zermelo.server.tree.tree import Node, Tree
from zermelo.sql import query

log = logging.getLogger(__name__)

#: Clients must not wait for the generator: a workunit each is kept ready, and as many more
#: as they finish within this time.
STEP_SECONDS = 0.1
LEAST_SPARE = 2
MOST_SPARE_PER_CLIENT = 8
#: What a client is believed to manage before it was measured, in nodes a second.
UNKNOWN_SPEED = 100_000.0
#: Smaller workunits than this cost more to hand out than to answer.
LEAST_SECONDS = 0.1
#: How often the record of progress grows, while something happens and while nothing does.
SNAPSHOT_SECONDS = 1.0
QUIET_SNAPSHOT_SECONDS = 60.0
MOST_SAMPLES = 3000
_REFIT_GROWTH = 1.5
_MOST_SPLIT_ROUNDS = 30
_MOST_SPLITS_AT_ONCE = 256
#: Factor around a median that holds 80 % of a log-normal distribution of spread 1.
_EIGHTY_PERCENT = 1.2816


class Demand(NamedTuple):
    """The clients: how many workunits they can take at once, and their nodes a second."""

    slots: int
    speed: float
    #: Seconds on any clock that runs forward.
    now: float


class Seeds(NamedTuple):
    """Bounds proved below a node, and the result that proves them."""

    known: bytes
    result: int


class CampaignPlan:
    """Keeps a campaign's queue filled with the questions that matter most."""

    def __init__(self, connection: Connection, campaign: Campaign, engine: Engine) -> None:
        self.connection, self.campaign = connection, campaign
        self.engine = engine
        self.tree = Tree(connection, campaign.id, engine)
        self.planner: Planner | None = None
        self._seeds: dict[NodeId, Seeds] = {}
        self._announced: int | None = None
        self._fitted_at = 0
        self._snapshot_at = -math.inf

    @property
    def finished(self) -> bool:
        return self.planner is not None and self.planner.finished

    @property
    def bounds(self) -> Bounds:
        return self.planner.bounds if self.planner else self.campaign.game.score_range

    def step(self, demand: Demand) -> bool:
        """Do what there is to do; whether anything was.

        Any error leaves the database as it was, and the next step starts from there. Where
        bounds that were never compared before contradict each other, because a split brings
        them together, the campaign is paused with an alarm.
        """
        planner, self.planner = self.planner, None
        try:
            with self.connection.transaction():
                self.tree.lock()
                if planner is None:
                    planner = self._rebuild()
                busy = self._step(planner, demand)
        except Contradiction as contradiction:
            self._alarm(contradiction)
            return False
        self.planner = planner
        return busy

    def _alarm(self, contradiction: Contradiction) -> None:
        log.error("campaign %s is paused: %s", self.campaign.name, contradiction)
        with self.connection.transaction():
            for node in contradiction.nodes:
                self.connection.execute(
                    query("raise_alarm"),
                    {
                        "campaign": self.campaign.id,
                        "kind": "contradiction",
                        "node": node,
                        "result": None,
                        "detail": "the bounds below this node contradict its own",
                    },
                )
            steer_campaign(self.connection, self.campaign, "paused")

    # -- one step ------------------------------------------------------------------------

    def _step(self, planner: Planner, demand: Demand) -> bool:
        changed = self._hear(planner)
        split = self._split_exhausted(planner)
        self._follow_tests(planner)
        self._withdraw(planner.questions.settle())
        self._refit(planner)
        asked = self._ask(planner, demand)
        self._withdraw(planner.questions.settle())
        if planner.finished:
            self._finish()
        busy = bool(changed or split or asked)
        due = demand.now - self._snapshot_at
        if planner.finished or due >= (SNAPSHOT_SECONDS if busy else QUIET_SNAPSHOT_SECONDS):
            self._snapshot_at = demand.now
            self._snapshot(planner)
        return busy

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
        nodes: dict[NodeId, PlanNode] = {}
        states = []
        for _, node, threshold, spent in rows:
            question = planner.questions.get((node, threshold))
            states.append("split" if question else "withdrawn")
            if question:
                question.asked = False
                if question.leaf:
                    planner.questions.ran_out(question, spent)
                    nodes[node] = question.node
        self.connection.execute(
            query("end_exhausted"),
            {"campaign": self.campaign.id, "ids": [row[0] for row in rows], "states": states},
        )
        self._split(planner, list(nodes.values()))
        return len(rows)

    def _split(self, planner: Planner, plan_nodes: list[PlanNode]) -> None:
        """Expand nodes, with the bounds that earlier searches proved below them."""
        if not plan_nodes:
            return
        parents = self.tree.load([node.id for node in plan_nodes])
        children = self.tree.expand([node for node in parents if node.children is None])
        claims = self._gather_proved(parents, children)
        changed = add_claims(self.connection, self.campaign.id, claims)
        changed |= back_up(self.connection, self.campaign.id, [node.id for node in parents])
        plan_children = {id_: self._plan_node(child) for id_, child in children.items()}
        for parent in parents:
            below = [plan_children[id_] for id_ in parent.children or ()]
            planner.questions.expand(parent.id, below)
        for node in self.tree.load(changed):
            planner.questions.update_bounds(node.id, node.lo, node.hi)

    def _gather_proved(self, parents: list[Node], children: dict[NodeId, Node]) -> list[Claim]:
        """Claims about the children; what is about grandchildren becomes their seeds."""
        rows = self.connection.execute(
            query("proved_below"), ([node.id for node in parents],)
        ).fetchall()
        claims: dict[tuple[NodeId, int], Claim] = {}
        for node, result, proved in rows:
            known = {
                node_id(self.campaign.id, item.key, item.history): item for item in unpack(proved)
            }
            (parent,) = (parent for parent in parents if parent.id == node)
            for child in parent.children or ():
                if child in known:
                    item = known.pop(child)
                    claims[child, result] = Claim(child, result, item.lo, item.hi)
            self._sow([children[id_] for id_ in parent.children or ()], known, result)
        return list(claims.values())

    def _sow(self, children: list[Node], known: dict[NodeId, KnownBounds], result: int) -> None:
        if not known:
            return
        for child, below in zip(children, self.tree.ids_below(children), strict=True):
            seeds = [known[id_] for id_ in below if id_ in known]
            if seeds:
                self._seeds[child.id] = Seeds(pack(seeds), result)

    def _follow_tests(self, planner: Planner) -> None:
        """Go on to the test that the root's bounds call for, and load what it needs."""
        while True:
            self._load_missing(planner)
            if not planner.advance():
                break
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

    def _load_missing(self, planner: Planner) -> None:
        while missing := list(planner.questions.missing):
            for node in self.tree.load(missing):
                planner.questions.add_node(self._plan_node(node))

    def _withdraw(self, unneeded: list[Key]) -> None:
        if unneeded:
            self.connection.execute(
                query("withdraw_workunits"),
                {
                    "campaign": self.campaign.id,
                    "nodes": [node for node, _ in unneeded],
                    "thresholds": [threshold for _, threshold in unneeded],
                },
            )

    def _ask(self, planner: Planner, demand: Demand) -> int:
        """Fill the queue as far as the clients need it, splitting what is too hard.

        How many questions were asked or split.
        """
        if planner.finished:
            return 0
        ready = self._queue_counts()[0]
        size = self.size(planner, demand)
        seconds = size / (demand.speed or UNKNOWN_SPEED)
        spare = max(
            LEAST_SPARE,
            math.ceil(demand.slots * min(MOST_SPARE_PER_CLIENT, 1 + STEP_SECONDS / seconds)),
        )
        if ready > spare // 2:
            return 0
        splits = 0
        for _ in range(_MOST_SPLIT_ROUNDS):
            plan = planner.choose(spare - ready, size)
            self._load_missing(planner)
            if not plan.split:
                break
            splits += len(plan.split)
            self._split(planner, plan.split[:_MOST_SPLITS_AT_ONCE])
            self._follow_tests(planner)
            self._withdraw(planner.questions.settle())
            if planner.finished:
                return 0
        # Splitting and loading may have settled some of them meanwhile.
        wanted = [
            choice
            for choice in plan.ask
            if planner.questions.is_open(choice.question) and choice.question.leaf
        ]
        self._insert(wanted, budget_of(size))
        return len(wanted) + splits

    def size(self, planner: Planner, demand: Demand) -> float:
        """How many nodes a workunit should typically take."""
        speed = demand.speed or UNKNOWN_SPEED
        most = speed * self.campaign.target_seconds
        if self.campaign.node_limit is not None:
            most = min(most, self.campaign.node_limit)
        most /= budget_of(1.0)
        return planner.size(demand.slots, min(most, speed * LEAST_SECONDS), most)

    def _insert(self, choices: list[Choice], budget: int) -> None:
        if not choices:
            return
        questions = [choice.question for choice in choices]
        seeds = [self._seeds.get(question.node.id) for question in questions]
        self.connection.execute(
            query("insert_workunits"),
            {
                "campaign": self.campaign.id,
                "budget": budget,
                "nodes": [question.node.id for question in questions],
                "thresholds": [question.threshold for question in questions],
                "priorities": [1 - choice.need for choice in choices],
                "expected": [question.work for question in questions],
                "guesses": [question.node.guess for question in questions],
                "plies_left": [question.node.plies_left for question in questions],
                "plies": [question.ply for question in questions],
                "known": [seed.known if seed else None for seed in seeds],
                "known_from": [seed.result if seed else None for seed in seeds],
            },
        )
        self.connection.execute(
            query("count_workunits"), {"campaign": self.campaign.id, "asked": len(questions)}
        )
        for question in questions:
            question.asked = True
        self.connection.execute(query("notify"), ("zermelo_ready", str(self.campaign.id)))

    def _finish(self) -> None:
        self.connection.execute(query("withdraw_campaign"), {"campaign": self.campaign.id})
        self.connection.execute(query("finish_campaign"), (self.campaign.id,))
        self.connection.execute(query("notify"), ("zermelo_finished", str(self.campaign.id)))

    # -- the model and the record ----------------------------------------------------------

    def _refit(self, planner: Planner) -> None:
        row = self.connection.execute(query("campaign_totals"), (self.campaign.id,)).fetchone()
        finished = row[2] + row[3] if row else 0
        if finished < 10 or finished < self._fitted_at * _REFIT_GROWTH:
            return
        self._fitted_at = finished
        rows = self.connection.execute(
            query("cost_samples"), {"campaign": self.campaign.id, "most": MOST_SAMPLES}
        )
        answers = {"yes": True, "no": False, "exhausted": None}
        samples = [
            Sample(plies_left, distance, nodes, answers[answer])
            for plies_left, distance, nodes, answer in rows
        ]
        model = planner.questions.model.refitted(samples)
        self.connection.execute(
            query("store_cost_model"),
            {
                "campaign": self.campaign.id,
                "samples": model.samples,
                "parameters": model.parameters,
            },
        )
        planner.questions.reestimate(model)
        planner.questions.settle()

    def _snapshot(self, planner: Planner) -> None:
        ready, leased, _ = self._queue_counts()
        remaining = planner.remaining()
        model = planner.questions.model
        doubt = math.exp(_EIGHTY_PERCENT * model.spread / math.sqrt(1 + model.samples / 10))
        self.connection.execute(
            query("record_progress"),
            {
                "campaign": self.campaign.id,
                "lo": planner.root.lo,
                "hi": planner.root.hi,
                "threshold": planner.test.threshold if planner.test else None,
                "open_questions": planner.questions.open_count,
                "ready": ready,
                "leased": leased,
                "remaining": remaining,
                "remaining_factor": doubt,
            },
        )

    def _queue_counts(self) -> tuple[int, int, int]:
        row = self.connection.execute(query("queue_counts"), (self.campaign.id,)).fetchone()
        return (row[0], row[1], row[2]) if row else (0, 0, 0)

    # -- starting ------------------------------------------------------------------------------

    def _rebuild(self) -> Planner:
        """The planner as the database has it."""
        (root,) = self.tree.load([self.campaign.root])
        planner = Planner(self._plan_node(root, always=True), self.campaign.aim, self._model())
        self._announced = None
        self._load_missing(planner)
        planner.questions.settle()
        unneeded = []
        rows = self.connection.execute(query("open_workunits"), (self.campaign.id,)).fetchall()
        for node, threshold, state in rows:
            question = planner.questions.get((node, threshold))
            if question is not None:
                question.asked = True
            elif state in ("ready", "leased"):
                unneeded.append((node, threshold))
        self._withdraw(unneeded)
        return planner

    def _model(self) -> CostModel:
        row = self.connection.execute(query("latest_cost_model"), (self.campaign.id,)).fetchone()
        return CostModel.from_parameters(*row) if row else CostModel()

    def _plan_node(self, node: Node, *, always: bool = False) -> PlanNode:
        """The node with its hints, which only the frontier needs."""
        guess = plies_left = 0
        if node.children is None or always:
            position = self.tree.position(node)
            guess = self.engine.guess(position) if node.lo < node.hi else node.lo
            plies_left = self.engine.game.plies_left(position)
        return PlanNode(node.id, node.lo, node.hi, node.children, guess, plies_left)
