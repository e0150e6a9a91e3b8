"""The command line of a bench that prints a table for people or, with --json, for programs."""

from __future__ import annotations

import argparse


def bench_parser(doc: str | None) -> argparse.ArgumentParser:
    """A parser whose help is the module's docstring, as it is written there."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    return parser
