# The kernel for boards of at most 64 cells, for this instruction set; see setup.py.
cdef extern from *:
    """
    #define DEF_SMALL
    """

include "definition.pxi"
