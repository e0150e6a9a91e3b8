"""What a hostile or broken server can do to a volunteer: nothing but give no work."""

from __future__ import annotations

import signal
import subprocess
import time
from itertools import combinations
from pathlib import Path

import grpc
import pytest

from tests.support.client_process import children, client, reason, searching
from tests.support.coordinator import wait_until
from tests.support.definitions import TIC_TAC_TOE, WALK, play_text
from tests.support.effort import REPEATED
from tests.support.hostile_coordinator import (
    GAME,
    Behaviour,
    HostileCoordinator,
    Refusal,
    first_then_none,
    hello,
    no_work,
    work,
    workunit,
)
from zermelo.client.control import ask
from zermelo.client.folder import ClientFolder
from zermelo.games import open_game
from zermelo.games.go import Go
from zermelo.games.go_position import GoPosition, Past
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service

#: What a client may take beyond its allowance and what it takes when nothing happens: well below
#: the 64 MB that docs/security.md promises.
MOST_GROWTH_MB = 40
#: How long a client may be busy with nothing but the end of processes, on a busy machine.
SLACK_SECONDS = 5.0
QUIT_SECONDS = 2.0
#: 16 MB less some bytes, of workunits without any content: the largest message that was taken.
EMPTY_WORKUNITS = b"\x0a\x00" * (8 * 1024 * 1024 - 8)
HARD = open_game("reversi:8x8")
GO = Go(3, 3)
NASTY = "\x1b[2J\x1b]0;owned\x07 red\u202eder\u200b \x9b31m\r\nforged line"
HARMLESS = "[2J]0;owned redder 31m forged line"


def hard_workunit(lease_id: int) -> pb.Workunit:
    """A workunit that no engine finishes while a test runs."""
    return workunit(
        lease_id, game=HARD.spec, position=HARD.encode(HARD.canonical(HARD.initial())),
        node_budget=10**12,
    )  # fmt: skip


def memory_mb(pid: int) -> float:
    """The most memory that a client and its workers had, each at its worst moment."""
    total = 0
    for process in [pid, *children(pid)]:
        status = Path(f"/proc/{process}/status").read_text()
        (peak,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
        total += int(peak)
    return total / 1024


def seconds_to_end(process: subprocess.Popen[str]) -> float:
    started = time.monotonic()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    return time.monotonic() - started


@pytest.fixture(scope="module")
def quiet_memory_mb(tmp_path_factory: pytest.TempPathFactory) -> float:
    """What a client takes that gets one workunit and then none."""
    folder = tmp_path_factory.mktemp("quiet")
    server = HostileCoordinator(RequestWork=first_then_none(workunit()))
    with server, client(server.address, folder, "--workers", "1") as process:
        wait_until(lambda: server.calls("SubmitResults"))
        wait_until(lambda: server.calls("RequestWork") >= 2)
        return memory_mb(process.pid)


@pytest.mark.parametrize(
    ("rpc", "gzip"),
    [
        ("RequestWork", True),
        *(pytest.param(rpc, False, marks=REPEATED) for rpc in ("RequestWork", "Hello", "Standing")),
    ],
)
def test_a_reply_of_empty_items_takes_no_memory(
    tmp_path: Path, quiet_memory_mb: float, rpc: str, gzip: bool
) -> None:
    behaviours: dict[str, Behaviour] = {rpc: lambda *_: EMPTY_WORKUNITS}
    server = HostileCoordinator(gzip=gzip, **behaviours)
    options = ("--workers", "1", "--quit-seconds", str(QUIT_SECONDS), "--leave-seconds", "1")
    with server, client(server.address, tmp_path, *options) as process:
        wait_until(lambda: server.calls(rpc) >= 2)
        time.sleep(1.0)
        assert memory_mb(process.pid) < quiet_memory_mb + MOST_GROWTH_MB
        assert seconds_to_end(process) < QUIT_SECONDS + SLACK_SECONDS


FULL = pb.KnownBounds(histories=[b"x" * 4096] * 63)
#: What a server may say about known bounds: given a call and how often it was made before.
MUCH_KNOWN: dict[str, Behaviour] = {
    "more than gRPC takes": lambda _, before: work(
        workunit(before + 1, known=pb.KnownBounds(histories=[b"x" * 4096] * 1024))
    ),
    "more than a workunit may have": lambda _, before: work(
        workunit(before + 1, known=pb.KnownBounds(histories=[b"x" * 4096] * 1000))
    ),
    "as much as a reply may hold": lambda _, before: work(
        *(workunit(15 * before + item + 1, known=FULL) for item in range(15))
    ),
    "unknown fields": lambda *_: b"\xfa\x06\x80\x80\xf0\x01" + bytes(0x3C0000),
}


@pytest.mark.parametrize("what", MUCH_KNOWN)
def test_as_many_known_bounds_as_a_reply_may_hold_take_little_memory(
    tmp_path: Path, quiet_memory_mb: float, what: str
) -> None:
    server = HostileCoordinator(RequestWork=MUCH_KNOWN[what])
    with server, client(server.address, tmp_path, "--workers", "1") as process:
        wait_until(lambda: server.calls("RequestWork") >= 4)
        assert memory_mb(process.pid) < quiet_memory_mb + MOST_GROWTH_MB


def answered(server: HostileCoordinator) -> int:
    return sum(len(call.results) for call in server.requests["SubmitResults"])


def test_work_with_all_the_known_bounds_it_may_have_takes_little_memory(tmp_path: Path) -> None:
    """The worst that passes every check: workers make positions of histories, and the daemon
    keeps in store what it asked for."""
    start = GO.encode(GO.canonical(GO.initial()))

    def ask(lease: int, known: pb.KnownBounds | None = None) -> pb.Workunit:
        return workunit(lease, game=GO.spec, position=start, known=known, node_budget=10_000)

    stones = [1 << point for point in GO.board.points]
    boards = [sum(few) for number in range(2, 6) for few in combinations(stones, number)]
    past = frozenset(Past(board, 0) for board in boards[:250])
    below = [GoPosition(stone, 0, black_to_move=False, past=past) for stone in stones] * 7
    known = pb.KnownBounds(
        positions=b"".join(map(GO.encode, below)), lo=[-9] * 63, hi=[9] * 63,
        histories=map(GO.history, below),
    )  # fmt: skip
    def give(request: pb.RequestWorkRequest, before: int) -> pb.RequestWorkReply:
        leases = range(15 * before + 1, 15 * before + 1 + min(request.wanted, 15))
        return work(*(ask(lease, known if before else None) for lease in leases))

    server = HostileCoordinator(
        Hello=lambda *_: hello(games=[GO.spec], store_ms=10_000), RequestWork=give
    )
    with server, client(server.address, tmp_path, "--workers", "1") as process:
        wait_until(lambda: server.calls("SubmitResults") or server.calls("ReturnWork"))
        assert not server.calls("ReturnWork")
        quiet = memory_mb(process.pid)
        wait_until(lambda: server.calls("ReturnWork") or answered(server) >= 30)
        assert not server.calls("ReturnWork")
        assert memory_mb(process.pid) < quiet + MOST_GROWTH_MB


def test_a_search_and_a_silent_server_delay_the_end_no_longer_than_the_quit_time(
    tmp_path: Path,
) -> None:
    def silence(*_: object) -> Refusal:
        time.sleep(0.5)
        return Refusal(grpc.StatusCode.UNAVAILABLE, "not now", retry_after_ms=1)

    server = HostileCoordinator(
        RequestWork=first_then_none(hard_workunit(1)), ReturnWork=silence, SubmitResults=silence
    )
    options = ("--workers", "1", "--quit-seconds", str(QUIT_SECONDS), "--leave-seconds", "1")
    with server, client(server.address, tmp_path, *options) as process:
        wait_until(lambda: searching(tmp_path))
        server_is_away = Refusal(grpc.StatusCode.UNAVAILABLE, "not now")
        server.behave("Heartbeat", lambda *_: server_is_away)
        assert seconds_to_end(process) < QUIT_SECONDS + SLACK_SECONDS


# -- texts ----------------------------------------------------------------------------------


def shown(process: subprocess.Popen[str]) -> str:
    """Everything that a client wrote to its terminal."""
    process.send_signal(signal.SIGTERM)
    return process.communicate(timeout=60)[1]


def is_harmless(text: str) -> bool:
    return all(char.isprintable() or char == "\n" for char in text)


def test_texts_of_the_server_do_not_steer_the_terminal(tmp_path: Path) -> None:
    server = HostileCoordinator(
        Hello=lambda *_: hello(notice=NASTY, server_version=NASTY, longest_wait_ms=100),
        RequestWork=lambda _, before: no_work(NASTY) if before else work(workunit()),
        SubmitResults=lambda request, _: pb.SubmitResultsReply(
            receipts=[
                pb.Receipt(lease_id=result.lease_id, status=pb.Receipt.REFUSED, message=NASTY)
                for result in request.results
            ]
        ),
        Standing=lambda *_: pb.StandingReply(user_name=NASTY[:20], team=NASTY[:20]),
    )
    with server, client(server.address, tmp_path, "--workers", "1") as process:
        wait_until(lambda: server.calls("RequestWork") >= 2)
        wait_until(lambda: HARMLESS in reason(tmp_path))
        standing = wait_until(
            lambda: ask(ClientFolder(tmp_path).control, "status")["standing"]
        )
        assert is_harmless(standing["user_name"] + standing["team"])
        assert is_harmless(reason(tmp_path))
        errors = shown(process)
    assert f"the coordinator says: {HARMLESS}\n" in errors
    assert f"was refused: {HARMLESS}\n" in errors
    assert is_harmless(errors)


@pytest.mark.parametrize("passing", [True, False])
def test_refusals_do_not_steer_the_terminal(tmp_path: Path, passing: bool) -> None:
    code = grpc.StatusCode.UNAVAILABLE if passing else grpc.StatusCode.PERMISSION_DENIED
    refusal = Refusal(code, NASTY.replace("\r\n", " "), reason="nasty")
    server = HostileCoordinator(Hello=lambda *_: refusal, Standing=lambda *_: refusal)
    with server, client(server.address, tmp_path, "--workers", "1", "--verbose") as process:
        wait_until(lambda: server.calls("Hello") >= (3 if passing else 1))
        if passing:
            wait_until(lambda: "owned" in reason(tmp_path))
            assert is_harmless(reason(tmp_path))
            errors = shown(process)
        else:
            errors = process.communicate(timeout=60)[1]
            assert process.returncode == 6
    assert "owned" in errors
    assert is_harmless(errors)


@pytest.mark.parametrize("token", ["", "s\u00e9cret"])
def test_a_token_that_cannot_be_sent_is_not_kept(tmp_path: Path, token: str) -> None:
    needed = Refusal(grpc.StatusCode.UNAUTHENTICATED, "who?", service.TOKEN_NEEDED)
    server = HostileCoordinator(
        Hello=lambda *_: needed, Register=lambda *_: pb.RegisterReply(token=token)
    )
    with server, client(server.address, tmp_path, "--workers", "1") as process:
        errors = process.communicate(timeout=60)[1]
    assert process.returncode == 6
    assert "without a usable token" in errors
    assert "Traceback" not in errors
    assert not ClientFolder(tmp_path).token.exists()


# -- pauses ---------------------------------------------------------------------------------


@pytest.mark.parametrize("milliseconds", [0, -1000])
def test_a_server_cannot_make_a_client_call_without_a_pause(
    tmp_path: Path, milliseconds: int
) -> None:
    refusal = Refusal(grpc.StatusCode.UNAVAILABLE, "", service.OVERLOADED, milliseconds)
    server = HostileCoordinator(Hello=lambda *_: refusal)
    with server, client(server.address, tmp_path, "--workers", "1"):
        wait_until(lambda: server.calls("Hello") >= 2)
        began = server.times["Hello"][0]
        time.sleep(2)
        calls = server.calls("Hello")
    assert calls / (time.monotonic() - began) < 5


def test_no_work_at_once_is_not_asked_for_at_once(tmp_path: Path) -> None:
    server = HostileCoordinator(
        Hello=lambda *_: hello(longest_wait_ms=0, heartbeat_ms=1),
        RequestWork=lambda *_: no_work(retry_after_ms=0),
    )
    with server, client(server.address, tmp_path, "--workers", "1"):
        wait_until(lambda: server.calls("RequestWork") >= 2)
        began = server.calls("RequestWork")
        time.sleep(2)
        assert server.calls("RequestWork") - began < 2 * 5


def test_a_server_that_forgets_the_host_is_not_flooded(tmp_path: Path) -> None:
    refusal = Refusal(grpc.StatusCode.UNAUTHENTICATED, "who?", service.UNKNOWN_HOST)
    server = HostileCoordinator(RequestWork=lambda *_: refusal)
    with server, client(server.address, tmp_path, "--workers", "1"):
        wait_until(lambda: server.calls("RequestWork") >= 2)
        began = server.calls("Hello")
        time.sleep(2)
        assert server.calls("Hello") - began < 2 * 5


# -- workunits --------------------------------------------------------------------------------


LARGEST = GAME.max_score
HOSTILE_WORKUNITS = {
    "no game": workunit(2, game=""),
    "an unknown game": workunit(3, game="chess:8x8"),
    "a huge board": workunit(4, game="reversi:9999x9999"),
    "no position": workunit(5, position=b""),
    "an impossible position": workunit(6, position=b"\xff" * 16),
    "a history without need": workunit(7, history=b"x" * 4096),
    "a threshold beyond all scores": workunit(8, threshold=LARGEST + 1),
    "a threshold that is always reached": workunit(9, threshold=-LARGEST),
    "no budget": workunit(10, node_budget=0),
    "an endless budget": workunit(11, node_budget=2**64 - 1),
    "columns that do not fit": workunit(12, known=pb.KnownBounds(positions=b"x" * 16)),
    "bounds beyond all scores": workunit(
        13, known=pb.KnownBounds(positions=workunit().position, lo=[-LARGEST - 1], hi=[0])
    ),
    "an impossible known position": workunit(
        14, known=pb.KnownBounds(positions=b"\xff" * 16, lo=[0], hi=[0])
    ),
}


def test_hostile_workunits_go_back_with_a_reason_and_honest_ones_are_answered(
    tmp_path: Path,
) -> None:
    honest = [workunit(100 + item.lease_id) for item in HOSTILE_WORKUNITS.values()]
    # An honest one after each, so that the client does not rest after many failures in a row.
    left = [item for pair in zip(HOSTILE_WORKUNITS.values(), honest, strict=True) for item in pair]

    def give(request: pb.RequestWorkRequest, _: int) -> pb.RequestWorkReply:
        given, left[:] = left[: request.wanted], left[request.wanted :]
        return work(*given) if given else no_work()

    # Bounds in a heartbeat would settle thresholds beyond the scores before their turn comes.
    server = HostileCoordinator(
        RequestWork=give, Hello=lambda *_: hello(heartbeat_ms=60_000)
    )

    def returned() -> dict[int, pb.ReturnedLease]:
        return {item.lease_id: item for call in server.requests["ReturnWork"]
                for item in call.leases}  # fmt: skip

    def answered() -> set[int]:
        return {item.lease_id for call in server.requests["SubmitResults"]
                for item in call.results}  # fmt: skip

    with server, client(server.address, tmp_path, "--workers", "1") as process:
        wait_until(lambda: len(returned()) + len(answered()) >= 2 * len(honest))
        assert answered() == {item.lease_id for item in honest}
        for what, hostile in HOSTILE_WORKUNITS.items():
            lease = returned()[hostile.lease_id]
            assert lease.cause == pb.ReturnedLease.FAILED, what
            assert lease.message, what
            assert not lease.nodes, what
        errors = shown(process)
        assert process.returncode == 0
    assert "worker ended" not in errors
    assert "Traceback" not in errors


def test_more_than_was_asked_for_and_the_same_lease_twice_are_refused(tmp_path: Path) -> None:
    many = [workunit(lease) for lease in (1, 1, -5, 2, 3, 4, 5, 6, 7, 8)]
    server = HostileCoordinator(RequestWork=lambda *_: work(*many))
    with server, client(server.address, tmp_path, "--workers", "1"):
        wait_until(lambda: server.calls("RequestWork") >= 2)
        time.sleep(1)
        assert not server.calls("SubmitResults")
        assert server.calls("RequestWork") < 10


def test_games_that_this_release_does_not_know_do_not_end_the_client(tmp_path: Path) -> None:
    server = HostileCoordinator(
        Hello=lambda *_: hello(games=["chess:8x8", GAME.spec]),
        RequestWork=first_then_none(workunit()),
    )
    with server, client(server.address, tmp_path, "--workers", "1") as process:
        wait_until(lambda: server.calls("SubmitResults"))
        assert process.poll() is None


def test_another_text_than_the_one_that_is_named_is_not_played(tmp_path: Path) -> None:
    """The lease goes back, nothing is kept, and the client is there for other work."""
    game = play_text(TIC_TAC_TOE)
    asked = workunit(1, game=game.spec, position=game.encode(game.canonical(game.initial())))
    server = HostileCoordinator(
        RequestWork=lambda _, before: work(asked) if not before else (
            work(workunit(2)) if before == 1 else no_work()
        ),
        Definition=lambda *_: pb.DefinitionReply(text=WALK.encode()),
    )
    with server, client(server.address, tmp_path, "--workers", "1"):
        wait_until(lambda: server.calls("SubmitResults"))
    returned = [lease for request in server.requests["ReturnWork"] for lease in request.leases]
    assert [(lease.lease_id, lease.cause) for lease in returned] == [(1, pb.ReturnedLease.FAILED)]
    assert "is not known here" in returned[0].message
    assert [result.lease_id for result in server.requests["SubmitResults"][0].results] == [2]
    assert list(ClientFolder(tmp_path).definitions.iterdir()) == []
