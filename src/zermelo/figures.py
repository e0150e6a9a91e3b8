"""Numbers and times as people write them."""

from __future__ import annotations

_SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def short_count(number: float) -> str:
    """``67_123_456`` as ``67.1 M``: three digits are what people compare."""
    for scale, letter in _SCALES:
        if number >= scale:
            scaled = number / scale
            return f"{scaled:.{2 if scaled < 10 else 1 if scaled < 100 else 0}f} {letter}"
    return f"{number:.0f}"


def counted(number: int, what: str) -> str:
    """Such as ``1 core`` or ``2 cores``."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def short_time(seconds: float) -> str:
    if seconds >= 120:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest:02d} s"
    if seconds >= 1:
        return f"{seconds:.1f} s"
    return f"{seconds * 1e3:.0f} ms" if seconds >= 0.01 else f"{seconds * 1e3:.2f} ms"


def short(number: float) -> str:
    """A number in three digits: 31.2 M."""
    for unit in ("", " k", " M", " G", " T", " P", " E", " Z"):
        if number < 1000:
            return f"{number:.3g}{unit}" if number < 999.5 else f"{number:.0f}{unit}"
        number /= 1000
    return f"{number:.3g} Y"


def clock(seconds: float) -> str:
    """A duration as people write it."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, hours, days = seconds / 60, seconds / 3600, seconds / 86400
    if minutes < 60:
        return f"{int(minutes)}:{int(seconds) % 60:02d} min"
    if days < 1000:
        return f"{hours:.1f} h" if hours < 48 else f"{days:.0f} days"
    return f"{short(days / 365.25)} years"


def share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "nothing"


def signed(score: float) -> str:
    """A score with its sign: ``+4``, ``-4``, but ``0``."""
    return f"{score:+.0f}" if round(score) else "0"


def span(lo: int, hi: int) -> str:
    """Such as ``+4`` or ``+2 to +36``."""
    return signed(lo) if lo == hi else f"{signed(lo)} to {signed(hi)}"


def by(margin: int, max_score: int) -> str:
    """What follows "wins": `` by 4``, and nothing in games that are only won, lost or drawn."""
    return f" by {margin}" if max_score > 1 else ""
