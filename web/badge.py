"""A volunteer's badge as a picture to share: an SVG that needs nothing else."""

from __future__ import annotations

from xml.sax.saxutils import escape

from zermelo.texts import one_line
from zermelo.web.people import Profile

WIDTH, HEIGHT = 320, 64
LONGEST_NAME = 26


def draw_badge(profile: Profile) -> str:
    """Name, credit and rank; whatever the name is made of, it is text."""
    volunteer = profile.volunteer
    name = escape(one_line(volunteer.name, LONGEST_NAME), {'"': "&quot;"})
    rank = "no rank yet"
    if volunteer.rank:
        rank = f"rank {volunteer.rank:,} of {profile.volunteers:,}"
    told = f"{volunteer.credit:,.1f} million nodes, {rank}"
    proofs = f"in {len(profile.proofs)} proofs" if len(profile.proofs) > 1 else (
        "in one proof" if profile.proofs else ""
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"'
        f' viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{name}: {escape(told)}">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#14532d"/>'
        '<circle cx="32" cy="32" r="18" fill="#111"/><circle cx="32" cy="32" r="9" fill="#fff"/>'
        '<g font-family="system-ui, sans-serif" fill="#fff">'
        f'<text x="64" y="27" font-size="17" font-weight="600" unicode-bidi="isolate">{name}</text>'
        f'<text x="64" y="47" font-size="12">{escape(told)}</text>'
        f'<text x="{WIDTH - 10}" y="18" font-size="10" text-anchor="end">Zermelo {proofs}</text>'
        "</g></svg>\n"
    )
