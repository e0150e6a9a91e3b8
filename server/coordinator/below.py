"""What a result may bring along about positions below its question.

An exhausted search proves bounds of children and grandchildren of its position. What is longer
than that can be was not found by a search, and would only fill the disk.
"""

from __future__ import annotations

from functools import cache

from zermelo.games import open_game
from zermelo.games.interface import KEY_BYTES
from zermelo.games.spec import definition_digest
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import limits
from zermelo.proto.known import check_columns
from zermelo.server.coordinator.leases import Question

#: How far below, and by how much a history grows with every ply.
MAX_PLIES = 2
HISTORY_BYTES_A_PLY = 2 * KEY_BYTES
#: Positions that a search knows without visiting them, because the workunit told it.
MAX_TOLD = 128


def fault_below(proved: pb.KnownBounds, question: Question) -> str:
    """Why a search for this question cannot have proved this; empty when it can.

    `LimitError` when it breaks a limit, or the columns do not fit together.
    """
    limits.check(proved)
    check_columns(proved)
    positions = len(proved.positions) // KEY_BYTES
    if positions > question.node_budget + MAX_TOLD:
        return f"bounds of {positions} positions by a budget of {question.node_budget} nodes"
    if not proved.histories:
        return ""
    if not _has_history(question.game):
        return f"histories in {question.game}, which has none"
    longest = question.history_bytes + MAX_PLIES * HISTORY_BYTES_A_PLY
    if (found := max(map(len, proved.histories))) > longest:
        return f"a history of {found} bytes below one of {question.history_bytes}"
    return ""


@cache
def _has_history(spec: str) -> bool:
    # Definitions have none, and their texts need not be known here.
    return not definition_digest(spec) and open_game(spec).path_dependent
