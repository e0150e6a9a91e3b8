"""Which compiled engines this machine can run."""

cdef extern from "cpu.h" nogil:
    bint cpu_has_avx2()
    bint cpu_has_avx512()


def instruction_sets():
    """The instruction sets that engines are built for and this machine has, best first."""
    sets = ["plain"]
    if cpu_has_avx2():
        sets.insert(0, "avx2")
    if cpu_has_avx512():
        sets.insert(0, "avx512")
    return sets
