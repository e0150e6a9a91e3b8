"""Training the reversi evaluation, from positions this engine solves itself.

Phase by phase from the end of the game backwards: late positions are solved exactly;
earlier ones get the score of a search a few plies deep that ends in phases already
trained. The weights of a phase are the least-squares solution, held near those of the
phase after it where data is scarce, found by conjugate gradients. The nearer a position is to a
draw the more it counts: where much is won or lost a disc more or less decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zermelo import __version__
from zermelo.engine.dispatch import compiled
from zermelo.engine.patterns import Pattern
from zermelo.engine.registry import Lessons, Tell, Trained
from zermelo.engine.weights import MOBILITY_WEIGHTS, PHASE_SPAN, PHASES, Layout
from zermelo.games.reversi import Reversi

GRAINS = 64
SMALL_BOARD = 32  # up to this many squares a quarter of the positions does
LARGE_BOARD = 42  # more squares than this have more phases and wider trees
MANY_WEIGHTS = 48  # more squares than this have weights enough to need many more positions
FIRST_PHASE = 2  # fewer empties are solved before anyone asks the evaluation
UNTRAINED_PLIES = 6  # the first moves are few enough to leave to their successors
STEPS = 20
RIDGE = 4.0
SEED = 20231030
LIMIT = 2**15 - 1
STEP = 8  # weights are kept in multiples of this many grains: an eighth of a disc, a third smaller
HELD_BACK = 20  # one position in this many checks the fit instead of making it
BALANCED = 24.0  # discs: a position won by this many counts half as much as a draw
CHUNK = 20_000  # positions made from one seed, so that the number of threads changes nothing

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Effort:
    """How much work to put into training: by default, minutes on any board."""

    positions: int = 400_000  # per phase
    exact_empties: int = 12  # solved exactly up to this many empties
    depth: int = 5  # plies of search that label earlier positions
    threads: int = 2

    @classmethod
    def usual(cls, game: Reversi) -> Effort:
        """What the shipped weights of a board were made with."""
        if len(game.squares) > LARGE_BOARD:
            positions = 1_000_000 if len(game.squares) > MANY_WEIGHTS else 150_000
            return cls(positions=positions, exact_empties=10, depth=4)
        if len(game.squares) <= SMALL_BOARD:
            return cls(positions=100_000)
        return cls()


class PhaseReport(NamedTuple):
    """How well the weights of one phase predict positions they were not made from."""

    phase: int
    fewest_empties: int
    most_empties: int
    positions: int
    deviation: float  # standard deviation of the scores, in discs
    error: float  # mean absolute error, in discs

    def __str__(self) -> str:
        return (
            f"{self.fewest_empties:2}-{self.most_empties:2} empties: {self.positions:,} positions,"
            f" scores ± {self.deviation:.1f}, predicted to {self.error:.2f} discs"
        )


def train_reversi(game: Reversi, lessons: Lessons, tell: Tell) -> Trained:
    """The evaluation for one board."""
    usual = Effort.usual(game)
    effort = Effort(
        lessons.positions or usual.positions,
        lessons.exact_empties or usual.exact_empties,
        lessons.depth or usual.depth,
        lessons.threads,
    )
    weights, provenance = train(game, effort, lambda report: tell(str(report)))
    return weights.astype("<i2").tobytes(), provenance


def train(
    game: Reversi, effort: Effort, report: Callable[[PhaseReport], None]
) -> tuple[npt.NDArray[np.int16], dict[str, Any]]:
    """The weights for a board, and where they come from."""
    layout = Layout.of(game)
    twins = _twins(layout)
    weights = np.zeros((PHASES, layout.phase_size), np.int16)
    fitted = np.zeros(layout.phase_size)
    most = len(game.squares) - 4 - UNTRAINED_PLIES // 2
    errors = {}
    for phase in range(FIRST_PHASE, most // PHASE_SPAN + 1):
        fewest = PHASE_SPAN * phase
        empties = (fewest, min(fewest + PHASE_SPAN - 1, most))
        own, opponent, score = _samples(game, layout, weights, phase, empties, effort)
        shown = twins[_configurations(game, layout, own, opponent)].T
        held = len(score) // HELD_BACK
        fitted = _fit(np.ascontiguousarray(shown[:, held:]), score[held:], fitted)
        error = float(np.abs(score[:held] - _predict(shown[:, :held], fitted)).mean())
        errors[phase] = round(error, 2)
        report(PhaseReport(phase, *empties, len(score), float(score.std()), error))
        # Later (and the unused first) phases start from what is known so far.
        rounded = np.clip(np.round(fitted[twins] * GRAINS), -LIMIT, LIMIT).astype(np.int16)
        weights[phase:] = rounded
        if phase == FIRST_PHASE:
            weights[:phase] = rounded
    weights = rounded_to_steps(weights)
    provenance = {
        "game": game.short_spec,
        "zermelo": __version__,
        "seed": SEED,
        "positions_per_phase": effort.positions,
        "exact_empties": effort.exact_empties,
        "depth": effort.depth,
        "error_by_phase": errors,
    }
    return weights, provenance


def rounded_to_steps(weights: npt.NDArray[np.int16]) -> npt.NDArray[np.int16]:
    """The weights as they are shipped: finer steps are noise of the fit that does not compress."""
    most = LIMIT // STEP
    steps = np.clip(np.round(weights / STEP), -most, most)
    return (STEP * steps).astype(np.int16)


def _twins(layout: Layout) -> npt.NDArray[np.int64]:
    """For every weight the one it shares its value with, because both show the same."""
    twins = np.arange(layout.phase_size)
    offset = 0
    for pattern in layout.patterns:
        part = slice(offset, offset + pattern.configurations)
        twins[part] = offset + _smallest_twin(pattern)
        offset += pattern.configurations
    return twins


def _smallest_twin(pattern: Pattern) -> npt.NDArray[np.int64]:
    configuration = np.arange(pattern.configurations)
    digits = [configuration // 3**k % 3 for k in range(pattern.length)]
    images = [
        sum((digits[place] * 3**k for k, place in enumerate(order)), np.zeros_like(configuration))
        for order in pattern.orders
    ]
    smallest: npt.NDArray[np.int64] = np.minimum.reduce(images)
    return smallest


def _core(game: Reversi, layout: Layout, weights: npt.NDArray[np.int16] | None) -> Any:
    core = compiled("reversi").Core(game.rows, game.cols, game.scoring == "wof", 1, 8 << 20)
    core.set_patterns(layout.instances, PHASE_SPAN)
    if weights is not None:
        core.set_weights(weights.ravel())
    return core


def _samples(
    game: Reversi,
    layout: Layout,
    weights: npt.NDArray[np.int16],
    phase: int,
    empties: tuple[int, int],
    effort: Effort,
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], Floats]:
    """Random positions with their scores in discs, made on all cores."""
    chunks = -(-effort.positions // CHUNK)

    def sample(chunk: int) -> tuple[Any, Any, Any]:
        core = _core(game, layout, weights)
        core.set_options(evaluation=phase > FIRST_PHASE)
        count = min(CHUNK, effort.positions - chunk * CHUNK)
        own, opponent = np.zeros(count, np.uint64), np.zeros(count, np.uint64)
        score = np.zeros(count, np.int16)
        seed = SEED + 1000 * phase + chunk
        core.sample(own, opponent, score, seed, *empties, effort.exact_empties, effort.depth)
        return own, opponent, score

    with ThreadPoolExecutor(effort.threads) as pool:
        own, opponent, score = zip(*pool.map(sample, range(chunks)), strict=True)
    discs: Floats = np.concatenate(score).astype(np.float32) / np.float32(GRAINS)
    return np.concatenate(own), np.concatenate(opponent), discs


def _configurations(
    game: Reversi, layout: Layout, own: npt.NDArray[np.uint64], opponent: npt.NDArray[np.uint64]
) -> Ints:
    """Which weights each position uses, as places within a phase."""
    shown = np.zeros((len(own), len(layout.instances) + 2), np.uint16)
    _core(game, layout, None).configurations(own, opponent, shown)
    mobility = layout.phase_size - MOBILITY_WEIGHTS
    offsets = [offset for offset, _ in layout.instances]
    offsets += [mobility, mobility + MOBILITY_WEIGHTS // 2]
    return shown.astype(np.int32) + np.array(offsets, np.int32)


def _predict(shown: npt.NDArray[Any], weights: npt.NDArray[Any]) -> Floats:
    narrow = weights.astype(np.float32)
    total = np.zeros(shown.shape[1], np.float32)
    for column in shown:
        total += narrow[column]
    return total


def _fit(
    shown: npt.NDArray[Any], score: Floats, start: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Minimise Σ share (prediction - score)² + RIDGE |weights - start|² by conjugate gradients."""
    size = len(start)
    share = (1 / (1 + (score / BALANCED) ** 2)).astype(np.float32)

    def gather(values: Floats) -> npt.NDArray[np.float64]:
        total = np.zeros(size)
        for column in shown:
            total += np.bincount(column, weights=values, minlength=size)
        return total

    scale = 1 / (gather(share) + RIDGE)
    weights = start.copy()
    residue = gather(share * (score - _predict(shown, weights)))
    direction = scale * residue
    slope = residue @ direction
    for _ in range(STEPS):
        curved = gather(share * _predict(shown, direction)) + RIDGE * direction
        step = slope / (direction @ curved)
        weights += step * direction
        residue -= step * curved
        scaled = scale * residue
        slope, before = residue @ scaled, slope
        direction = scaled + slope / before * direction
    return weights
