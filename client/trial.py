"""Trying an address and a token once, before the client depends on them."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from zermelo.client.connection import Caller
from zermelo.client.probe import find_out, find_out_more
from zermelo.client.refusals import NoAnswerError, TokenNeededError
from zermelo.client.registration import Registration
from zermelo.client.settings import ClientError, ServerAddress

TRIAL_SECONDS = 30.0


class Trial(NamedTuple):
    works: bool
    sentence: str
    #: The token to use from now on: the one given, or that of a new account.
    token: str
    user_name: str = ""
    #: Whether the server does not want the token or the name, so that trying again is in vain.
    refused: bool = False


def try_server(
    address: ServerAddress, user_name: str = "", registration: Registration | None = None
) -> Trial:
    """Talk to the coordinator; with a registration open an account if needed."""
    try:
        return asyncio.run(
            asyncio.wait_for(_try(address, user_name, registration), TRIAL_SECONDS)
        )
    except TimeoutError:
        return Trial(False, f"{address.server} takes too long to answer", address.token)


async def _try(
    address: ServerAddress, user_name: str, registration: Registration | None
) -> Trial:
    trouble = await find_out(address)
    if trouble:
        return Trial(False, trouble, address.token)
    caller = Caller(address)
    try:
        try:
            standing = await caller.standing()
        except TokenNeededError as error:
            if registration is None:
                return Trial(False, f"{error}; the client opens one when it starts", "")
            secret = registration.secret(address.server, user_name)
            token = await caller.register(user_name, secret)
            caller.address = ServerAddress(address.server, token, address.ca_file, address.tls)
            standing = await caller.standing()
        name = standing.user_name
        sentence = f"{address.server} answers" + (f" and knows you as {name}" if name else "")
        return Trial(True, sentence, caller.address.token, name)
    except NoAnswerError as error:
        found = await find_out_more(address) if error.unreachable else ""
        return Trial(
            False,
            found or f"{address.server} does not answer as a coordinator would: {error}",
            address.token,
        )
    except ClientError as error:
        return Trial(False, str(error), address.token, refused=True)
    finally:
        await caller.close()
