"""Zermelo: volunteer computing for weak solutions of two-player games."""

__version__ = "0.1.0"


class ZermeloError(Exception):
    """The root of all errors whose message is meant for the user.

    The command line prints the message as one line and ends with `exit_code`.
    """

    exit_code = 1
