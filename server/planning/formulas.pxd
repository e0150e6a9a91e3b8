# The types by which Cython compiles formulas.py.

cimport cython

cdef double _LEAST_CHANCE, _LARGEST_LOGIT, _LARGEST_LOG_COST, _CLEAR


@cython.locals(level=double, per_ply=double, per_point=double, per_point_above=double,
               per_effort=double)
cpdef double log_cost(tuple weights, long plies_left, long distance, double effort_yes,
                      double effort_no) except? -1.0


@cython.locals(logarithm=double)
cpdef double typical_cost(tuple weights, long plies_left, long distance, double effort_yes,
                          double effort_no) except? -1.0


@cython.locals(level=double, per_point=double, per_effort=double, clear=double, logit=double)
cpdef double chance(tuple weights, long distance, double effort_yes, double effort_no) except? -1.0
