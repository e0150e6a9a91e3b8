# The types by which Cython compiles questions.py: the graph is what a generator spends its time on.
# The module itself is plain Python and runs without being compiled, only slower.

cimport cython
from zermelo.server.planning cimport formulas

cdef double SIBLING_INDEPENDENCE, HARDNESS_INHERITED
cdef double _SMALL_CHANCE, _SMALL_WORK, _SMALL_REACH


cdef class PlanNode:
    cdef public object id
    cdef public long lo, hi, guess, plies_left
    cdef public bint expanded
    cdef public tuple children
    cdef public double hardness
    cdef public object position
    cdef public dict questions

    @cython.locals(lo=long, hi=long)
    cpdef answers(self, long threshold)


cdef class Question:
    cdef public PlanNode node
    cdef public long threshold, ply
    cdef public list parents, children
    cdef public bint leaf, asked, exhausted
    cdef public double chance, work, sharpened, reach, asked_at
    cdef public object answer
    cdef public object efforts
    cdef public long walk, chosen

    @cython.locals(node=PlanNode, guess=long)
    cpdef long distance(self)


cdef class Questions:
    cdef public object model
    cdef object _appraise
    cdef public dict nodes
    cdef public long open_count
    cdef set _roots, _queued
    cdef dict _dirty_leaves, _dropped
    cdef list _dirty
    cdef long _turn, _walks, _choices

    cpdef add_node(self, PlanNode node)

    @cython.locals(known=PlanNode, question=Question)
    cpdef update_bounds(self, object node, long lo, long hi)

    @cython.locals(question=Question)
    cpdef open(self, object node)
    cpdef set_asked(self, Question question, bint asked, double now=*)

    @cython.locals(question=Question)
    cpdef refresh(self)
    cpdef bint is_open(self, Question question)
    cpdef double typical_work(self, Question question)

    @cython.locals(workunits=double, least_need=double)
    cpdef list next_free(self, object tests, object levels, long count, double size, double whole)

    @cython.locals(surcharge=double, stack=list, needs=list, question=Question, need=double,
                   pieces=double, first=Py_ssize_t, child=Question)
    cdef double _next_free(self, list found, object tests, double least_need, double workunits,
                           long count, double size, double whole) except -1.0

    @cython.locals(question=Question)
    cdef Question _open(self, PlanNode node, long threshold, long ply)
    cdef _grow(self, Question question)

    @cython.locals(child=Question)
    cdef _ask_below(self, Question question, PlanNode node)
    cdef _answer_by_bounds(self, Question question)

    @cython.locals(node=PlanNode, parent=Question, other=Question)
    cdef _close(self, Question question, bint answer)
    cdef _heard(self, Question question, Question child)

    @cython.locals(threshold=long, known=PlanNode)
    cdef bint _all_children_yes(self, Question question)

    @cython.locals(stack=list, gone=Question, child=Question)
    cdef _forget(self, Question question)
    cdef _drop_if_unneeded(self, Question question)
    cdef bint _alive(self, Question question)
    cdef _touch(self, Question question)

    @cython.locals(leaves=list, leaf=Question)
    cdef _evaluate_leaves(self)

    @cython.locals(chance=double, work=double, reach=double, parent=Question)
    cdef _evaluate(self, Question question)

    @cython.locals(node=PlanNode, plies_left=long, distance=long, yes=double, no=double,
                   typical=double)
    cdef _evaluate_leaf(self, Question question)

    @cython.locals(work=double, before=double, best=double, others=double, need=double,
                   reach=double, chance=double, child=Question)
    cdef _evaluate_from_children(self, Question question)


cdef bint _fits(Question question, double whole)


@cython.locals(odds_against=double)
cdef double _sharpened(double chance)
