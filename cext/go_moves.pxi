"""Moves of a state in the order in which the search tries them.

Included by go_search.pyx.
"""

cdef struct Weights:
    int captured
    int liberty    # empty points next to the stone
    int enemy      # enemy stones next to it
    int friend
    int centre     # points within two steps
    int eye        # the price of filling an eye of one's own: a waiting move at best
    int history    # in 1/256
    int killer

# Found by random search on five questions on 3x5 to 5x5 boards. The opponent spreads out
# to stay hard to kill, the prover connects.
cdef Weights WEIGHTS[2]
WEIGHTS[0] = Weights(24, 4, 3, 0, 12, 6, 16, 60)
WEIGHTS[1] = Weights(24, 4, 3, 12, 1, 90, 12, 84)


cdef int order_of(const Search* s, const State* state, const Child* child, int at) noexcept nogil:
    """How promising a stone looks: its shape, then what cut before."""
    cdef const Weights* weight = &WEIGHTS[state.prover_to_move]
    cdef go_bits stone = <go_bits>1 << child.move
    cdef go_bits around = go_grow(stone) & s.size.mask & ~stone
    cdef go_bits mine = child.state.own, theirs = child.state.other
    cdef int order
    if not state.prover_to_move:
        mine, theirs = theirs, mine
    order = (
        weight.captured * child.captured
        + weight.liberty * go_count(around & ~(mine | theirs))
        + weight.enemy * go_count(around & theirs)
        + weight.friend * go_count(around & mine)
        + weight.centre * go_count(go_grow(around) & s.size.mask)
    )
    if not around & ~mine:
        order -= weight.eye
    if s.options.history:
        order += s.history[state.prover_to_move][child.move] * weight.history >> 8
    if s.options.killers:
        if s.killers[at][0] == child.move:
            order += weight.killer
        elif s.killers[at][1] == child.move:
            order += weight.killer * 2 // 3
    if s.options.shuffle:
        order += <int>(go_hash(stone, s.options.shuffle, at) & 15)
    return order


cdef int generate(
    const Search* s, const State* state, int at, int first_move, Child* children
) noexcept nogil:
    """All moves but repetitions of boards, ordered; a pass is one of them."""
    cdef go_bits left = s.size.mask & ~(state.own | state.other)
    cdef go_bits mine, theirs
    cdef int count = 0, point, i, stones = go_count(state.own | state.other)
    cdef Child* child
    cdef Child moved
    while left:
        point = go_first(left)
        left &= left - 1
        if point == state.ko:
            continue
        child = &children[count]
        mine = state.own if state.prover_to_move else state.other
        theirs = state.other if state.prover_to_move else state.own
        if not go_play(&s.size, &mine, &theirs, point, &child.state.ko):
            continue
        child.state.own = mine if state.prover_to_move else theirs
        child.state.other = theirs if state.prover_to_move else mine
        child.state.prover_to_move = not state.prover_to_move
        child.state.passes = 0
        child.move = point
        child.captured = stones + 1 - go_count(mine | theirs)
        child.takes_ko = child.state.ko != GO_NO_KO
        child.order = 1 << 20 if point == first_move else order_of(s, state, child, at)
        count += 1
    child = &children[count]
    child.state = state[0]
    child.state.prover_to_move = not state.prover_to_move
    child.state.passes = state.passes + 1
    child.state.ko = GO_NO_KO
    child.move = GO_PASS
    child.captured = 0
    child.takes_ko = 0
    child.order = 1 << 20 if first_move == GO_PASS else 0
    count += 1
    for point in range(1, count):
        moved = children[point]
        i = point
        while i > 0 and children[i - 1].order < moved.order:
            children[i] = children[i - 1]
            i -= 1
        children[i] = moved
    return count
