"""What planning writes down and learns from: totals, the cost model, the record of progress."""

from __future__ import annotations

import math
import time

from zermelo.engine import Efforts
from zermelo.server.database import Connection
from zermelo.server.planning.costs import CostModel, Features, Sample
from zermelo.server.planning.drift import Drift
from zermelo.server.planning.planner import Planner
from zermelo.server.tree.identity import CampaignId
from zermelo.server.vocabulary import Answer
from zermelo.sql import query

#: How often the record of progress grows, while something happens and while nothing does.
SNAPSHOT_SECONDS = 1.0
QUIET_SNAPSHOT_SECONDS = 60.0
#: Estimating what remains visits every open question: at most this part of the time is for it.
SNAPSHOT_SHARE = 0.02
MOST_SAMPLES = 3000
#: What counts as lately.
RATE_SECONDS = 0.3
#: The first answers to come back are the easy ones. Answers are believed to be typical when
#: RESULTS_PER_CLIENT for each client have come, and LEAST_RESULTS in all.
RESULTS_PER_CLIENT, LEAST_RESULTS = 2, 10
_REFIT_GROWTH = 1.5
#: Standard deviations around a mean that hold 80 % of a normal distribution.
_EIGHTY_PERCENT = 1.2816


class Record:
    def __init__(self, connection: Connection, campaign: CampaignId) -> None:
        self._connection, self._campaign = connection, campaign
        self._fitted_at = 0
        self._snapshot_at, self._snapshot_took = -math.inf, 0.0
        self._drift = Drift()
        self._rate, self._rate_at, self._rate_finished = 0.0, -math.inf, 0

    def totals(self) -> tuple[int, int]:
        """How many workunits are finished, and the nodes spent on all so far."""
        row = self._connection.execute(query("campaign_totals"), (self._campaign,)).fetchone()
        return (row[2] + row[3], row[5]) if row else (0, 0)

    def rate(self, finished: int, now: float) -> float:
        """How many workunits are finished in a second, lately."""
        passed = now - self._rate_at
        if passed > 0:
            lately = max(0, finished - self._rate_finished) / passed
            weight = math.exp(-passed / RATE_SECONDS)
            self._rate = weight * self._rate + (1 - weight) * lately
            self._rate_at, self._rate_finished = now, finished
        return self._rate

    def queue(self) -> tuple[int, int, int]:
        """How many workunits are ready, leased and returned."""
        row = self._connection.execute(query("queue_counts"), (self._campaign,)).fetchone()
        return (row[0], row[1], row[2]) if row else (0, 0, 0)

    def model(self) -> CostModel:
        """What was learned so far."""
        prior = CostModel()
        row = self._connection.execute(
            query("latest_cost_model"),
            {"campaign": self._campaign, "parameters": len(prior.parameters)},
        ).fetchone()
        return CostModel.from_parameters(*row) if row else prior

    def refit(self, planner: Planner, finished: int, clients: int) -> None:
        """Learn from the results, if there are enough new ones."""
        enough = max(
            LEAST_RESULTS, RESULTS_PER_CLIENT * clients, self._fitted_at * _REFIT_GROWTH
        )
        if finished < enough:
            return
        self._fitted_at = finished
        rows = self._connection.execute(
            query("cost_samples"), {"campaign": self._campaign, "most": MOST_SAMPLES}
        )
        answers = {Answer.YES: True, Answer.NO: False, Answer.EXHAUSTED: None}
        samples = [
            Sample(Features(plies_left, distance, Efforts(yes, no)), nodes, answers[answer])
            for plies_left, distance, yes, no, nodes, answer in rows
        ]
        model = planner.questions.model.refitted(samples)
        self._connection.execute(
            query("store_cost_model"),
            {
                "campaign": self._campaign,
                "samples": model.samples,
                "parameters": model.parameters,
            },
        )
        # All clients wait while every open question is evaluated again.
        if model.agrees(planner.questions.model, samples):
            planner.questions.model = planner.questions.model.supported_like(model)
        else:
            planner.questions.reestimate(model)

    def keep(self, planner: Planner, now: float, spent: int, *, busy: bool) -> None:
        """Write down where the campaign stands after `spent` nodes, if it is time again."""
        pause = SNAPSHOT_SECONDS if busy else QUIET_SNAPSHOT_SECONDS
        pause = max(pause, self._snapshot_took / SNAPSHOT_SHARE)
        if not planner.finished and now - self._snapshot_at < pause:
            return
        self._snapshot_at = now
        ready, leased, _ = self.queue()
        test = planner.test.threshold if planner.test else None
        started = time.perf_counter()
        remaining, error = planner.remaining()
        self._snapshot_took = time.perf_counter() - started
        error = math.hypot(error, self._drift.error(test, spent, remaining))
        self._connection.execute(
            query("record_progress"),
            {
                "campaign": self._campaign,
                "lo": planner.root.lo,
                "hi": planner.root.hi,
                "threshold": test,
                "open_questions": planner.questions.open_count,
                "ready": ready,
                "leased": leased,
                "remaining": remaining,
                "remaining_factor": math.exp(_EIGHTY_PERCENT * error),
            },
        )
