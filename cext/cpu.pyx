"""Which compiled engines this machine can run."""

cdef extern from "cpu.h" nogil:
    bint cpu_has_avx2()


def instruction_sets():
    """The instruction sets that engines are built for and this machine has, best first."""
    return ["avx2", "plain"] if cpu_has_avx2() else ["plain"]
