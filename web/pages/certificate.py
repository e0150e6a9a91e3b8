"""The certificate of a campaign: to download, and how a stranger verifies it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from zermelo import ZermeloError
from zermelo.web.certificates import Certificate, file_name
from zermelo.web.errors import TroubleError
from zermelo.web.finding import campaign_href, find_campaign
from zermelo.web.page import Page, page_routes
from zermelo.web.site import site_of

PATH = "/campaigns/{name:path}/certificate"


@dataclass(frozen=True, slots=True)
class CertificatePage:
    campaign: str
    #: None where there is none; `reason` says why.
    certificate: Certificate | None
    reason: str


def routes() -> list[Route]:
    return [
        Route(f"{PATH}/download", download),
        *page_routes(PATH, certificate, csv=False),
    ]


async def certificate(request: Request) -> Page:
    site, name = site_of(request), request.path_params["name"]
    await site.library.ask(lambda campaigns: find_campaign(campaigns, name))
    try:
        found, _ = await site.certificates.make(name)
        told = CertificatePage(name, found, "")
    except (TroubleError, ZermeloError) as error:
        told = CertificatePage(name, None, str(error))
    return Page(f"Certificate of {name}", "campaign/certificate.html", told, view={
        "download": campaign_href(name, "/certificate/download"), "file": file_name(name),
        "created": told.certificate and datetime.fromisoformat(told.certificate.created),
    })  # fmt: skip


async def download(request: Request) -> Response:
    name = request.path_params["name"]
    await site_of(request).library.ask(lambda campaigns: find_campaign(campaigns, name))
    made, path = await site_of(request).certificates.make(name)
    return FileResponse(path, media_type="application/octet-stream", filename=made.file)
