"""A whole solve on one machine: PostgreSQL, the services and a client, each a process.

The start is arranged so that nothing waits for anything it does not need: a database is created
while modules load, and the first question waits for the client's worker, the generator and the
coordinator, so these are forked early and load side by side what they alone need. All others are
forked from the loaded process.
"""

from __future__ import annotations

import gc
import logging
import shutil
import socket
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from urllib.parse import quote

from zermelo.cli.solve.imports import between_imports
from zermelo.games import open_game
from zermelo.logs import TEXT_FORMAT
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.embedded import DataDirectory, EmbeddedPostgres, url_beside
from zermelo.server.ports import LOOPBACK
from zermelo.server.supervisor import Supervisor
from zermelo.server.vocabulary import CampaignState, Replication
from zermelo.sql import new_database

LOG_NAME = "zermelo.log"
CLIENT = "client"
#: What the client needs, what all services need.
CLIENT_MODULES = ("zermelo.client.daemon",)
DATABASE_MODULES = ("zermelo.server.database", "zermelo.server.campaigns")
#: What the services need besides that the first question waits for, and what the others need.
EARLY_MODULES = {
    "generator": ("zermelo.server.generator",),
    "coordinator": ("zermelo.server.coordinator.main", "zermelo.research.serving"),
}
OTHER_MODULES = ("zermelo.server.assimilator", "zermelo.server.validator")

#: On one machine messages are cheap, and every late withdrawal is work in vain.
LEASE_SECONDS = 20.0
HEARTBEAT_SECONDS = 0.25
#: The searches give way to the services that feed them, not to the rest of the computer.
WORKER_PRIORITY = "below-normal"
BENCHMARK_SECONDS = 0.02
#: A demo shows a tree and who asks about it: however fast the computer is, no question may be so
#: large that the whole of reversi 6x6 is one.
DEMO_NODE_BUDGET = 32_000_000
#: The coordinator is next door, and gone only if the whole run is.
LEAVE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class LocalRunSettings:
    spec: str
    goal: str
    name: str | None
    workers: int
    hash_mb: int
    target_seconds: float | None
    data_dir: Path
    database: str | None
    #: Whether what an earlier run left is deleted first.
    fresh: bool = False
    #: Where the pages are served meanwhile, as HOST:PORT; empty for nowhere.
    web: str = ""


class LocalRun:
    """Runs one campaign until it is finished. Use as ``with LocalRun(...) as run``."""

    def __init__(self, settings: LocalRunSettings) -> None:
        self.settings = settings
        self._stack = ExitStack()
        self._postgres: EmbeddedPostgres | None = None
        self._supervisor: Supervisor | None = None
        self.url = ""
        self.campaign, self.campaign_id = "", 0
        #: Where a browser sees the campaign; empty where it cannot.
        self.pages = ""

    def __enter__(self) -> LocalRun:
        with ExitStack() as stack:
            self._start(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def restarts(self) -> int:
        """How often a service had to be started again."""
        return self._supervisor.restarts if self._supervisor else 0

    def check(self) -> None:
        """Keep everything alive; `ServiceError` when something cannot be."""
        if self._postgres is not None:
            self._postgres.keep_alive()
        if self._supervisor is not None:
            self._supervisor.check()

    # -- start --------------------------------------------------------------------------

    def _start(self, stack: ExitStack) -> None:
        settings = self.settings
        open_game(settings.spec)
        log_file = self._take_directory(stack)
        finish = self._begin_database(stack)
        early = self._postgres is not None and self._postgres.creating
        listening = stack.enter_context(socket.create_server((LOOPBACK, 0)))
        coordinator = CoordinatorSettings(
            listen=f"{LOOPBACK}:{listening.getsockname()[1]}",
            listening=listening,
            lease_seconds=LEASE_SECONDS,
            heartbeat_seconds=HEARTBEAT_SECONDS,
            require_token=False,
        )
        self._supervisor = supervisor = Supervisor(log_file)
        stack.callback(supervisor.stop, first=CLIENT)
        self._load(CLIENT_MODULES)
        if early:
            # Its workers load their modules while the database starts.
            self._start_client(supervisor, coordinator)
        self._load(DATABASE_MODULES)
        if early:
            for name in EARLY_MODULES:
                supervisor.start(name, partial(self._serve_early, name, coordinator))
            self._load(OTHER_MODULES)
            self.url = finish()  # a new database has its schema
        else:
            self._load((*chain.from_iterable(EARLY_MODULES.values()), *OTHER_MODULES))
            self.url = finish()
            self._ensure_schema()
        if self._create_campaign():
            return
        self._start_services(supervisor, coordinator)
        if not early:
            self._start_client(supervisor, coordinator)
        if settings.web:
            self._start_web(supervisor, settings.web)

    def _take_directory(self, stack: ExitStack) -> Path:
        directory = DataDirectory(self.settings.data_dir)
        directory.lock()
        stack.callback(directory.unlock)
        if self.settings.fresh:
            shutil.rmtree(directory.path / CLIENT, ignore_errors=True)
        log_file = directory.path / LOG_NAME
        handler = logging.FileHandler(log_file)
        handler.setFormatter(logging.Formatter(TEXT_FORMAT))
        logging.getLogger().addHandler(handler)
        stack.callback(handler.close)
        stack.callback(logging.getLogger().removeHandler, handler)
        return log_file

    def _begin_database(self, stack: ExitStack) -> Callable[[], str]:
        """Begin to make the database available; what is returned waits for its URL."""
        if self.settings.database is not None:
            url = self.settings.database
            return lambda: url
        self._postgres = postgres = EmbeddedPostgres(
            self.settings.data_dir.expanduser().resolve(),
            # A demo that is interrupted is begun anew.
            durable=not self.settings.fresh,
            contents=new_database(),
        )
        stack.callback(postgres.stop)
        if self.settings.fresh:
            postgres.discard()
        postgres.begin()
        return postgres.wait_ready

    def _create_campaign(self) -> bool:
        """Find or make the campaign; True when it is finished already."""
        from zermelo.server.campaigns import create_campaign
        from zermelo.server.database import connect_once

        with connect_once(self.url) as connection:
            campaign = create_campaign(
                connection,
                self.settings.spec,
                name=self.settings.name,
                goal=self.settings.goal,
                target_seconds=self.settings.target_seconds,
                node_budget=DEMO_NODE_BUDGET if self.settings.fresh else None,
                # All clients are our own.
                replication=Replication.NONE,
            )
        self.campaign, self.campaign_id = campaign.name, campaign.id
        return campaign.state is CampaignState.FINISHED

    def _start_services(self, supervisor: Supervisor, coordinator: CoordinatorSettings) -> None:
        """Start all that do not run yet."""
        from zermelo.cli.services import SERVICES, service_process

        begun = {child.name for child in supervisor.children}
        for name in SERVICES:
            if name not in begun:
                supervisor.start(name, service_process(name, self.url, coordinator))

    def _serve_early(self, name: str, coordinator: CoordinatorSettings) -> None:
        """The life of a service that is forked while the database is created."""
        from zermelo.cli.services import service_process

        for module in EARLY_MODULES[name]:
            import_module(module)
        if name == "generator":
            from zermelo.server.generator import engine_of

            engine_of(self.settings.spec)
        url = url_beside(self.settings.data_dir.expanduser().resolve())
        service_process(name, url, coordinator)()

    def _start_web(self, supervisor: Supervisor, listen: str) -> None:
        from zermelo.cli.services import web_process_when_visited
        from zermelo.web.settings import WebSettings

        settings = WebSettings(listen)
        supervisor.start("web", web_process_when_visited(self.url, settings))
        self.pages = f"{settings.url}campaigns/{quote(self.campaign, safe='/:,@=')}"

    def _start_client(self, supervisor: Supervisor, coordinator: CoordinatorSettings) -> None:
        from zermelo.client.daemon import run
        from zermelo.client.preferences import Limits, Preferences
        from zermelo.client.sensors import SystemSensors
        from zermelo.client.settings import ClientSettings, ServerAddress

        threads = self._threads()
        limits = Limits(
            cores=self.settings.workers // threads,
            memory_mb=self.settings.workers * self.settings.hash_mb,
            priority=WORKER_PRIORITY,
        )
        client = ClientSettings(
            address=ServerAddress(coordinator.listen),
            data_dir=self.settings.data_dir,
            preferences=Preferences.always(limits),
            quit_seconds=0.0,
            leave_seconds=LEAVE_SECONDS,
            benchmark_seconds=BENCHMARK_SECONDS,
            # Others may need a definition that only the server can give.
            game=self.settings.spec if self._compiled() else "",
            threads=threads,
            # Server and client stop together when the power fails: the work is asked again.
            durable=False,
        )
        supervisor.start(CLIENT, lambda: run(client, SystemSensors()))

    def _load(self, modules: Iterable[str]) -> None:
        """Load what forked processes will need, while the database is created."""
        advance = self._postgres.advance if self._postgres else lambda: None
        # A tenth of the time went into looking for garbage, of which imports leave none.
        gc.disable()
        try:
            with between_imports(advance):
                for name in modules:
                    import_module(name)
            advance()
        finally:
            gc.freeze()  # nor need forked processes look for some here
            gc.enable()

    def _ensure_schema(self) -> None:
        from zermelo.server.database import ensure_schema

        ensure_schema(self.url)

    def _threads(self) -> int:
        """How many of the workers search one workunit together. Pairs search as few nodes as one
        alone, where two workunits of the same question repeat each other's work."""
        return 2 if self._compiled() and self.settings.workers % 2 == 0 else 1

    def _compiled(self) -> bool:
        """Whether an engine is made for this very game, and searches in pairs."""
        from zermelo.engine.registry import searched_in_pairs

        return open_game(self.settings.spec).family in searched_in_pairs
