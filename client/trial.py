"""Trying an address and a token once, before the client depends on them."""

from __future__ import annotations

import asyncio
import time
from typing import NamedTuple

from zermelo.client.connection import Caller
from zermelo.client.probe import find_out, find_out_more
from zermelo.client.refusals import NoAnswerError, TokenNeededError
from zermelo.client.registration import Registration
from zermelo.client.settings import ClientError, ServerAddress

TRIAL_SECONDS = 90.0
#: Seconds for each attempt to be answered: on a busy computer an encrypted connection takes many.
PATIENCE = (30.0, 30.0)
#: What fails sooner has another reason than a busy computer.
SLOW_SECONDS = 5.0


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
    caller = Caller(address)
    try:
        if trouble := await find_out(address, encryption=False):
            return Trial(False, trouble, address.token)
        for patience in PATIENCE:
            began = time.monotonic()
            try:
                return await _ask(caller, user_name, registration, patience)
            except NoAnswerError as error:
                trouble = f"{address.server} does not answer as a coordinator would: {error}"
                if error.reason is not None:  # it does answer
                    return Trial(False, trouble, address.token)
            if time.monotonic() - began < SLOW_SECONDS:
                break
        return Trial(False, await find_out_more(address) or trouble, address.token)
    except ClientError as error:
        return Trial(False, str(error), address.token, refused=True)
    finally:
        await caller.close()


async def _ask(
    caller: Caller, user_name: str, registration: Registration | None, patience: float
) -> Trial:
    address = caller.address
    try:
        standing = await caller.standing(seconds=patience)
    except TokenNeededError as error:
        if registration is None:
            return Trial(False, f"{error}; the client opens one when it starts", "")
        secret = registration.secret(address.server, user_name)
        token = await caller.register(user_name, secret)
        caller.address = ServerAddress(address.server, token, address.ca_file, address.tls)
        standing = await caller.standing(seconds=patience)
    name = standing.user_name
    sentence = f"{address.server} answers" + (f" and knows you as {name}" if name else "")
    return Trial(True, sentence, caller.address.token, name)
