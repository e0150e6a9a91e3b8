"""Pages of people who signed in, in a real browser."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from tests.acceptance.web.test_every_page import FORMS, Watched, check_page
from tests.support.coordinator import bearer, running_coordinator
from tests.support.web import serving
from zermelo.proto import coordinator_pb2 as co
from zermelo.proto import volunteers_pb2 as pb
from zermelo.proto.service import CoordinatorStub
from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection
from zermelo.server.trust import accounts, teams
from zermelo.server.trust.accounts import Account, Role
from zermelo.server.trust.credit import grant
from zermelo.server.trust.volunteers import perform

HOSTILE = "<b onclick=x>\u202e=1" + "e\u0301" * 8
MINE = ("/me", "/me/hosts", "/me/hosts/{host}", "/me/settings", "/volunteers", "/teams")
OPERATE = (
    "/operate/queue", "/operate/alarms", "/operate/hosts", "/operate/users", "/operate/audit",
    "/operate/ban?host={host}",
)  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_signed_in_pages_are_accessible_quiet_and_ours(
    form: str, browser: Any, database: str, connection: Connection, campaign: Campaign
) -> None:
    tokens = {
        role: accounts.open_account(connection, str(role), role, actor="test")
        for role in (Role.VOLUNTEER, Role.OPERATOR)
    }
    user = accounts.user_id(connection, Role.VOLUNTEER)
    # As if it had come before names were checked.
    connection.execute("UPDATE users SET name = %s WHERE id = %s", (HOSTILE, user))
    connection.execute(
        "INSERT INTO alarms (campaign, kind, detail) VALUES (%s, 'contradiction', %s)",
        (campaign.id, HOSTILE),
    )
    with (
        running_coordinator(database, require_token=True) as address,
        serving(database, coordinator=address) as site,
        grpc.insecure_channel(address) as channel,
    ):
        CoordinatorStub(channel).Hello(
            co.HelloRequest(protocol_version=1, host_key=b"h" * 16, workers=1, host_name=HOSTILE),
            metadata=bearer(tokens[Role.VOLUNTEER]),
        )
        ((host,),) = connection.execute("SELECT id FROM hosts").fetchall()
        grant(connection, [(host, 5e6)])
        teams.found_team(connection, user, "Engines")
        connection.execute("UPDATE teams SET description = %s", (HOSTILE * 3,))
        for role, pages in ((Role.VOLUNTEER, MINE), (Role.OPERATOR, OPERATE)):
            context = browser.new_context(**FORMS[form])
            tab = Watched(context.new_page(), site)
            # By a link, as `zermelo client open` makes them.
            owner = user if role is Role.VOLUNTEER else accounts.user_id(connection, role)
            link = perform(connection, pb.OpenSignInRequest(), Account(owner, role, "", False))
            tab.page.goto(f"{site}/login?code={link.code}")
            tab.page.click("main button")
            tab.page.wait_for_url(f"{site}/me")
            for path in pages:
                check_page(tab, path.format(host=host))
                assert tab.page.locator("main [onclick]").count() == 0
            context.close()
