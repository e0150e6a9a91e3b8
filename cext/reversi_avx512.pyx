# The reversi engine for this instruction set; see setup.py.
include "reversi.pxi"
