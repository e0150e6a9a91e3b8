"""`zermelo query` and `zermelo proof` as people and programs use them."""

from __future__ import annotations

import csv
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.support.campaigns import solve
from tests.support.databases import new_database
from zermelo import ZermeloError
from zermelo.checker import CertificateError, read_certificate, write_certificate
from zermelo.checker.certificate_file import MAGIC
from zermelo.cli import zermelo
from zermelo.server.campaigns import find_campaign
from zermelo.server.database import connect_once
from zermelo.server.vocabulary import Replication

SPEC = "reversi:4x4"
QUESTIONS = {
    "progress": [], "position": ["--moves", "b1"], "line": [], "tree": [], "contributors": [],
    "hosts": [], "results": [], "workunit": ["1"],
}  # fmt: skip


def run(*words: str) -> Result:
    return CliRunner().invoke(zermelo, list(words))


@pytest.fixture(scope="module")
def solved(postgres: str) -> Iterator[str]:
    """A database with a finished campaign, which the tests only read."""
    with new_database(postgres) as url:
        with connect_once(url) as connection:
            solve(connection, SPEC)
        yield url


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_in_every_way(solved: str, question: str) -> None:
    words = ["query", question, SPEC, *QUESTIONS[question], "--database", solved]
    people = run(*words)
    assert people.exit_code == 0, people.output
    assert len(people.stdout.splitlines()) > 2
    assert json.loads(run(*words, "--json").stdout)
    table = list(csv.DictReader(io.StringIO(run(*words, "--csv").stdout)))
    assert question == "progress" or table
    both = run(*words, "--json", "--csv")
    assert isinstance(both.exception, ZermeloError)


def test_claims(database: str, tmp_path: Path) -> None:
    (tmp_path / "published.csv").write_text("# game: reversi:4x4\n-----OX--XO----- X,-8,-8\n")
    done = run("campaign", "import", str(tmp_path / "published.csv"), "--database", database,
               "--replication", "quorum=3", "--json")
    assert json.loads(done.stdout)["campaigns"] == ["published/1"]
    with connect_once(database) as connection:
        made = find_campaign(connection, "published/1")
    assert (made.replication, made.quorum) == (Replication.QUORUM, 3)
    told = json.loads(run("query", "claims", "published", "--database", database, "--json").stdout)
    assert told["claims"][0]["state"] == "open"


@pytest.mark.parametrize(("words", "complaint"), [
    (["query", "position", SPEC, "--position", "XX X"], "squares"),
    (["query", "position", SPEC, "--moves", "a1"], "illegal move"),
    (["query", "position", "reversi:8x8"], "no campaign"),
    (["query", "workunit", SPEC, "999"], "no workunit"),
    (["query", "claims", "nothing"], "no claims"),
    (["games", "show", "1"], "no game"),
    (["proof", "export", SPEC, "-o", "/nowhere/at/all"], "no folder"),
])  # fmt: skip
def test_mistakes_are_told_in_a_line(solved: str, words: list[str], complaint: str) -> None:
    done = run(*words, "--database", solved)
    assert isinstance(done.exception, ZermeloError)
    assert done.exception.exit_code in (2, 4)
    assert complaint in str(done.exception)
    assert "\n" not in str(done.exception)


def test_export_and_verify(solved: str, tmp_path: Path) -> None:
    file = str(tmp_path / "proof")
    told = json.loads(
        run("proof", "export", SPEC, "-o", file, "--database", solved, "--json").stdout
    )
    assert (told["lo"], told["hi"], told["unproved"]) == (-8, -8, None)
    assert told["bytes"] == (tmp_path / "proof").stat().st_size
    accepted = json.loads(run("proof", "verify", file, "--json").stdout)
    assert accepted["accepted"]
    assert accepted["complete"]
    sample = json.loads(
        run("proof", "verify", file, "--leaves", "sample:2", "--seed", "7", "--json").stdout
    )
    assert (sample["leaves_checked"], sample["seed"], sample["complete"]) == (2, 7, False)
    assert 0 < sample["most_wrong_leaves"] <= told["leaves"] - 2
    people = run("proof", "verify", file, "--leaves", "none")
    assert "believed" in people.stdout
    assert "exactly -8" in " ".join(people.stdout.split())
    wrong = run("proof", "verify", file, "--leaves", "some")
    assert "sample:N" in str(wrong.exception)


def test_a_cut_file_shows_where_it_was_in_order(solved: str, tmp_path: Path) -> None:
    file = tmp_path / "proof"
    run("proof", "export", SPEC, "-o", str(file), "--database", solved)
    file.write_bytes(file.read_bytes()[:-5])
    done = run("proof", "verify", str(file))
    assert "cut short" in str(done.exception)
    assert "to move" in done.stdout


def test_a_refused_file_shows_the_board(solved: str, tmp_path: Path) -> None:
    file = tmp_path / "proof"
    run("proof", "export", SPEC, "-o", str(file), "--database", solved)
    certificate = read_certificate(file)
    write_certificate(file, certificate.header, list(certificate.entries())[1:])
    done = run("proof", "verify", str(file))
    assert done.exit_code == 1
    assert "REFUSED" in done.stdout
    assert "to move" in done.stdout
    assert json.loads(run("proof", "verify", str(file), "--json").stdout)["accepted"] is False


def test_a_file_that_may_not_grow_leaves_nothing_behind(solved: str, tmp_path: Path) -> None:
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    former = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limit[1]))
    try:
        done = run("proof", "export", SPEC, "-o", str(tmp_path / "proof"), "--database", solved)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, former)
    assert "cannot write" in str(done.exception)
    assert not list(tmp_path.iterdir())


#: Runs "$@" with a disk of one page at $DISK, which something else has filled.
FULL_DISK = """
mount -t tmpfs -o size=4k none "$DISK" && head -c 4096 /dev/zero > "$DISK/ballast" || exit 77
"$@"
code=$?
ls -A "$DISK"
exit $code
"""
#: Mounting is for root alone, at least in a world of one's own.
ALONE = ["unshare", *(["--user", "--map-root-user"] if os.geteuid() else []), "--mount",
         "sh", "-c", FULL_DISK, "sh"]  # fmt: skip


def test_a_full_disk_leaves_nothing_behind(solved: str, tmp_path: Path) -> None:
    environment = {**os.environ, "DISK": str(tmp_path)}
    if shutil.which("unshare") is None or subprocess.run(
        [*ALONE, "true"], env=environment, capture_output=True, check=False
    ).returncode:
        pytest.skip("disks cannot be mounted here")
    file = tmp_path / "proof"
    done = subprocess.run(
        [*ALONE, sys.executable, "-c", "from zermelo.cli import main; main()", "proof", "export",
         SPEC, "-o", str(file), "--database", solved],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == CertificateError.exit_code
    assert done.stderr.splitlines() == [
        f"zermelo: cannot write {str(file)!r}: No space left on device"
    ]
    assert done.stdout.split() == ["ballast"]


def test_a_file_from_the_future(tmp_path: Path) -> None:
    (tmp_path / "proof").write_bytes(MAGIC + b"\xff\xff" + bytes(100))
    done = run("proof", "verify", str(tmp_path / "proof"))
    assert "install a newer zermelo" in str(done.exception)
