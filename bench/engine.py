"""The numbers of docs/performance.md: how much the reversi engine needs for what.

Run on a quiet machine: `make bench`, or `python bench/engine.py --help`.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import click
from against import HERE, TASKS, Ratio, built, compare
from appraisals import Accuracy, Rate, accuracies, rates

from zermelo import ZermeloError
from zermelo.cli.engine.contestants import without_each_technique
from zermelo.cli.output import print_table, short_count, short_time
from zermelo.cli.suite import Suite, load_suite
from zermelo.engine import SearchReport, Status
from zermelo.engine.dispatch import compiled
from zermelo.engine.reversi import ReversiEngine
from zermelo.games import open_game
from zermelo.games.reversi import Reversi

MILLION = 1_000_000
PEER_NODES = 84_700_000  # Egaroucid, published, one thread, on FFO 40 to 44
HASH_MB = 256
ROUNDS = 3
MOST_SQUARES = 24
SPEED_NODES = 20 * MILLION  # of each position, for nodes a second
FASTER = 5  # how many times the rate of single calls of another revision one call must reach
#: Where a technique is indispensable, the whole 6x6 without it is given up here.
TECHNIQUE_NODES = 1000 * MILLION


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number and what it should be."""

    what: str
    measured: float
    must: float
    goal: float | None
    unit: str
    #: Whether more is better.
    rising: bool = False
    #: The same by processor time of the process: what a quiet machine would have shown.
    by_cpu: float | None = None

    def reaches(self, bar: float | None) -> bool | None:
        if bar is None:
            return None
        return self.measured >= bar if self.rising else self.measured <= bar

    def show(self, amount: float | None) -> str:
        if amount is None:
            return ""
        if self.unit == "s":
            return short_time(amount)
        return f"{amount:.2f}" if self.unit == "x" else short_count(amount)


def _engine(spec: str, threads: int = 1) -> ReversiEngine:
    game = open_game(spec)
    assert isinstance(game, Reversi)  # noqa: S101
    return ReversiEngine(game, threads=threads, hash_mb=HASH_MB)


def _solve(
    engine: ReversiEngine, position: Any, node_budget: int | None = None
) -> tuple[SearchReport, float]:
    """The answer from an empty table, and the processor time that it took."""
    engine.clear()
    started = time.process_time()
    answer = engine.solve(position, node_budget=node_budget)
    return answer, time.process_time() - started


def whole_6x6(suite: Suite) -> Iterator[Figure]:
    engine = _engine("reversi:6x6")
    answer, cpu = _solve(engine, engine.game.initial())
    if (answer.bounds.lo, answer.bounds.hi) != (-4, -4):
        raise click.ClickException(f"reversi:6x6 came out as {answer.bounds}, not as -4")
    yield Figure("6x6, both bounds: nodes", answer.nodes, 100 * MILLION, 60 * MILLION, "nodes")
    yield Figure("6x6, both bounds: time", answer.seconds, 20, 4, "s", by_cpu=cpu)


def ffo(suite: Suite) -> Iterator[Figure]:
    engine = _engine(suite.game.spec)
    nodes, seconds, cpu = 0, 0.0, 0.0
    for listed in suite.positions:
        answer, used = _solve(engine, listed.position)
        if not answer.bounds.exact or answer.bounds.lo != listed.score:
            raise click.ClickException(
                f"{suite.name}, line {listed.line}: {answer.bounds}, listed {listed.score}"
            )
        nodes += answer.nodes
        seconds += answer.seconds
        cpu += used
    yield Figure(f"{suite.name}: nodes", nodes, PEER_NODES, None, "nodes")
    yield Figure(f"{suite.name}: nodes/s", nodes / seconds, 20 * MILLION, 35 * MILLION, "nodes/s",
                 rising=True, by_cpu=nodes / cpu)


def two_threads(suite: Suite) -> Iterator[Figure]:
    """Each position in turns in one process, so that a slower spell of the machine hits both."""
    engines = [_engine(suite.game.spec, threads) for threads in (1, 2)]
    one, two = (
        sum(column) for column in zip(*(
            [_solve(engine, listed.position)[0].seconds for engine in engines]
            for listed in load_suite("ffo45-49").positions
        ), strict=True)
    )
    yield Figure("FFO 45-49: speed-up with 2 threads", one / two, 1.8, 1.95, "x", rising=True)


def small_boards(suite: Suite) -> Iterator[Figure]:
    seconds = 0.0
    sizes = [(rows, cols) for rows in range(4, 9) for cols in range(4, 9)
             if rows * cols <= MOST_SQUARES]
    for rows, cols in sizes:
        for start in ("diagonal", "parallel"):
            engine = _engine(f"reversi:{rows}x{cols},start={start}")
            seconds += _solve(engine, engine.game.initial())[0].seconds
    yield Figure(f"all boards up to {MOST_SQUARES} squares: time", seconds, 10, None, "s")


def speed_by_empties(suite: Suite) -> Iterator[Figure]:
    """Nodes a second of processor time with many empties, against those with twenty."""
    engine, speeds = _engine(suite.game.spec), []
    for name, counts in (("ffo20-39", range(20, 21)), ("ffo50-55", range(26, 31))):
        nodes, cpu = 0, 0.0
        for listed in load_suite(name).positions:
            if engine.game.plies_left(listed.position) in counts:
                answer, used = _solve(engine, listed.position, SPEED_NODES)
                nodes, cpu = nodes + answer.nodes, cpu + used
        speeds.append(nodes / cpu)
    yield Figure("nodes/s at 26 to 30 empties ÷ at 20", speeds[1] / speeds[0], 0.85, 0.95, "x",
                 rising=True)


def appraisals(suite: Suite) -> Iterator[Figure]:
    """What the planner asks about many positions: in one call, and one by one."""
    for rate in rates(None):
        yield Figure(f"{rate.what}: positions/s in one call", 1 / rate.together, 1 / rate.alone,
                     None, "positions/s", rising=True)


def efforts(suite: Suite) -> Iterator[Figure]:
    """How well the lesser effort of a question tells ln(nodes)."""
    told = next(accuracies([HERE.parent]))
    yield Figure("efforts on 6x7: error of ln(nodes)", told.error, 0.8, None, "x")


MEASUREMENTS: dict[str, Callable[[Suite], Iterator[Figure]]] = {
    "6x6": whole_6x6,
    "ffo": ffo,
    "threads": two_threads,
    "speed": speed_by_empties,
    "appraisals": appraisals,
    "efforts": efforts,
    "boards": small_boards,
}


#: What `--only` names can be compared with another revision.
COMPARED = {"appraisals", "efforts"}


@dataclass(frozen=True, slots=True)
class Ablation:
    """What one task costs without one technique."""

    task: str
    variant: str
    nodes: int
    seconds: float
    #: Positions given up at the node budget: nodes and seconds are then lower bounds.
    unfinished: int


def ablations(suite: Suite, node_budget: int) -> Iterator[Ablation]:
    start = open_game("reversi:6x6").initial()
    for task, spec, positions in (
        ("reversi:6x6", "reversi:6x6", [start]),
        (suite.name, suite.game.spec, [listed.position for listed in suite.positions]),
    ):
        engine = _engine(spec)
        for variant, techniques in without_each_technique(engine):
            engine.core.set_options(**techniques)
            answers = [_solve(engine, position, node_budget)[0] for position in positions]
            yield Ablation(
                task,
                variant,
                sum(answer.nodes for answer in answers),
                sum(answer.seconds for answer in answers),
                sum(answer.status is not Status.SOLVED for answer in answers),
            )


def _machine() -> dict[str, Any]:
    return {
        "instructions": compiled("reversi").INSTRUCTIONS,
        "processors": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "hash_mb": HASH_MB,
    }


def _print_figures(figures: list[Figure]) -> None:
    rows = []
    for figure in figures:
        holds = "goal" if figure.reaches(figure.goal) else "must"
        rows.append([
            figure.what,
            figure.show(figure.measured),
            figure.show(figure.by_cpu),
            figure.show(figure.must),
            figure.show(figure.goal),
            holds if figure.reaches(figure.must) else "neither",
        ])
    columns = ["what", "measured", "by cpu time", "must", "goal", "holds"]
    print_table("What the engine needs", columns, rows)


def _print_ablations(found: list[Ablation]) -> None:
    for task in dict.fromkeys(one.task for one in found):
        group = [one for one in found if one.task == task]
        rows = []
        for one in group:
            least = "≥ " if one.unfinished else ""
            rows.append([
                one.variant,
                least + short_count(one.nodes),
                least + f"{one.nodes / group[0].nodes:.2f}",
                least + short_time(one.seconds),
                least + f"{one.seconds / group[0].seconds:.2f}",
            ])
        print_table(f"{task}, 1 thread", ["techniques", "nodes", "x", "time", "x"], rows)


def _print_ratios(revision: str, ratios: list[Ratio]) -> None:
    rows = [
        [ratio.task, str(ratio.positions), short_count(ratio.nodes), f"{ratio.of_nodes:.3f}",
         short_time(ratio.seconds), f"{ratio.of_seconds:.3f}",
         short_count(ratio.nodes / ratio.seconds),
         short_count(ratio.nodes_before / ratio.seconds_before)]
        for ratio in ratios
    ]
    print_table(f"In turns with {revision}, 1 thread, user time", [
        "task", "positions", "nodes", "÷ before", "time", "÷ before", "nodes/s", "before",
    ], rows)


def _print_rates(revision: str, found: list[Rate]) -> None:
    rows = [
        [rate.what, f"{1e6 * rate.before:.1f}", f"{1e6 * rate.alone:.1f}",
         f"{1e6 * rate.together:.1f}", f"{rate.before / rate.together:.1f}"]
        for rate in found
        if rate.before is not None
    ]
    print_table(f"µs of wall time a position, in turns with {revision}", [
        "what", f"{revision}, one by one", "one by one", "in one call", f"x (must {FASTER})",
    ], rows)


def _print_accuracies(named: dict[str, Accuracy]) -> None:
    print_table("Efforts on 6x7, by ln(nodes) of the revision's own search", [
        "revision", "questions", "mean nodes", "slope", "error", "right",
    ], [
        [name, str(told.questions), short_count(told.mean_nodes), f"{told.slope:.2f}",
         f"{told.error:.3f}", f"{told.right:.3f}"]
        for name, told in named.items()
    ])


def _appraised_against(revision: str, only: tuple[str, ...], as_json: bool) -> None:
    """What the planner is told here and by another revision."""
    found: dict[str, Any] = {}
    with built(revision) as other:
        if "appraisals" in only:
            told = list(rates(other))
            found["appraisals"] = [*map(asdict, told)]
            if not as_json:
                _print_rates(revision, told)
        if "efforts" in only:
            named = dict(zip((revision, "here"), accuracies([other, HERE.parent]), strict=True))
            found["efforts"] = {name: asdict(told) for name, told in named.items()}
            if not as_json:
                _print_accuracies(named)
    if as_json:
        click.echo(json.dumps({"machine": _machine(), "against": revision} | found))


def _against(revision: str, tasks: tuple[str, ...], rounds: int, as_json: bool) -> None:
    with built(revision) as other:
        ratios = list(compare(tasks or TASKS, other, rounds=rounds, hash_mb=HASH_MB))
    if as_json:
        click.echo(json.dumps({
            "machine": _machine(),
            "against": revision,
            "tasks": [asdict(ratio) | {"nodes_ratio": ratio.of_nodes,
                                       "seconds_ratio": ratio.of_seconds} for ratio in ratios],
        }))
    else:
        _print_ratios(revision, ratios)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--only", type=click.Choice(list(MEASUREMENTS)), multiple=True,
              help="Only this measurement; may be repeated.")
@click.option("--techniques", is_flag=True,
              help="Instead: nodes and time with each technique switched off.")
@click.option("--ffo", "suite", default="ffo40-44", show_default=True,
              help="The suite that starts with FFO 40: a file, or the name of a shipped one.")
@click.option("--node-budget", type=click.IntRange(min=1), default=TECHNIQUE_NODES,
              show_default=True, help="With --techniques: nodes until a position is given up.")
@click.option("--against", "revision", metavar="REV",
              help="Instead: nodes and user time in turns with another revision of this repository,"
              " compiled in a temporary folder; or with a folder that holds one compiled.")
@click.option("--task", "tasks", type=click.Choice(list(TASKS)), multiple=True,
              help="With --against: only this task; may be repeated.")
@click.option("--rounds", type=click.IntRange(min=1), default=ROUNDS, show_default=True,
              help="With --against: how often each position is solved; the least time counts.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")
def main(
    only: tuple[str, ...],
    techniques: bool,
    suite: str,
    node_budget: int,
    revision: str | None,
    tasks: tuple[str, ...],
    rounds: int,
    as_json: bool,
) -> None:
    """Measure the reversi engine against the numbers it has to reach.

    Exit code 1 when a number that must hold does not.
    """
    if revision is not None and only:
        if not set(only) <= COMPARED:
            raise click.UsageError(f"--against compares only {' and '.join(sorted(COMPARED))}"
                                   " by --only; choose solving tasks by --task")
        _appraised_against(revision, only, as_json)
        return
    if revision is not None:
        _against(revision, tasks, rounds, as_json)
        return
    try:
        loaded = load_suite(suite)
    except ZermeloError as error:
        raise click.UsageError(str(error)) from None
    machine = _machine()
    if techniques:
        found = list(ablations(loaded, node_budget))
        if as_json:
            click.echo(json.dumps({"machine": machine, "techniques": [*map(asdict, found)]}))
        else:
            _print_ablations(found)
        return
    figures = [figure for name in only or MEASUREMENTS for figure in MEASUREMENTS[name](loaded)]
    if as_json:
        click.echo(json.dumps({
            "machine": machine,
            "figures": [
                asdict(figure) | {"holds_must": figure.reaches(figure.must),
                                  "holds_goal": figure.reaches(figure.goal)}
                for figure in figures
            ],
        }))
    else:
        _print_figures(figures)
        click.echo(", ".join(f"{name} {value}" for name, value in machine.items()))
    if not all(figure.reaches(figure.must) for figure in figures):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
