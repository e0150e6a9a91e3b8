"""Randomness that decides which answers are checked."""

from __future__ import annotations

import random

#: The operating system's: nobody may guess which answers are checked.
CHANCE = random.SystemRandom()
