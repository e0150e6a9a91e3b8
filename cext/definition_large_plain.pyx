# The kernel for boards of more than 64 cells.
include "definition.pxi"
