# The types by which Cython compiles questions.py: the graph is what a generator spends its time on.
# The module itself is plain Python and runs without being compiled, only slower.

cimport cython


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


cdef class Questions:
    cdef public object model
    cdef object _appraise
    cdef public dict nodes
    cdef public long open_count
    cdef set _roots, _queued
    cdef dict _dirty_leaves, _dropped
    cdef list _dirty
    cdef long _turn

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

    @cython.locals(work=double, before=double, best=double, others=double, need=double,
                   reach=double, chance=double, child=Question)
    cdef _evaluate_from_children(self, Question question)


@cython.locals(odds_against=double)
cdef double _sharpened(double chance)
