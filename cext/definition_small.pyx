# The kernel for boards of at most 64 cells.
cdef extern from *:
    """
    #define DEF_SMALL
    """

include "definition.pxi"
