"""Build of what is compiled, the engines above all; everything else is in pyproject.toml.

Each engine is built once per instruction set from the same Cython source, and the
best one is chosen when it is imported, so that one wheel runs on every processor. The questions
and formulas of a generator are plain Python, compiled with the types of the .pxd beside each; they
run without, too.
Set ZERMELO_CHECKED=1 for a slow build that checks every array index. As many compilers run
at the same time as there are processors. ZERMELO_COMPILED=1 says that `build_ext --inplace` was
run: an editable install would compile everything once more in a folder of its own.
ZERMELO_ONLY names the modules to compile, for whoever cannot wait for the others.
"""

from __future__ import annotations

import multiprocessing
import os
import platform
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

HERE = Path(__file__).parent
FOLDERS = [
    "games", "engine", "cext", "checker", "server", "client", "proto", "sql", "proof", "players",
    "research", "theatre", "web", "cli",
]  # fmt: skip
CHECKED = os.environ.get("ZERMELO_CHECKED") == "1"
ONLY = os.environ.get("ZERMELO_ONLY", "").split()
COMPILED = os.environ.get("ZERMELO_COMPILED") == "1"
X86 = platform.machine().lower() in {"x86_64", "amd64"}

OPTIMISED = ["-O1", "-g"] if CHECKED else ["-O3", "-g0", "-fno-math-errno", "-fno-trapping-math"]
COMPILERS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
#: Cython's own processes would start by running this file again where they are not forked.
CYTHONS = COMPILERS if multiprocessing.get_start_method() == "fork" else 0
#: Every processor with AVX2 and BMI2 counts leading zeros, too.
AVX2 = ["-mavx2", "-mbmi", "-mbmi2", "-mpopcnt", "-mlzcnt"]
#: Registers of 256 bits suffice: what pays are the leading zeros and logic of three operands.
AVX512 = [*AVX2, "-mavx512f", "-mavx512vl", "-mavx512cd", "-mavx512bw", "-mavx512dq",
          "-mprefer-vector-width=256"]


def extension(module: str, *flags: str, folder: str = "cext") -> Extension:
    return Extension(
        f"zermelo.{folder}.{module}",
        [f"src/zermelo/{folder}/{module}.pyx"],
        include_dirs=[f"src/zermelo/{folder}"],
        depends=[str(path.relative_to(HERE)) for path in sorted(HERE.glob(f"{folder}/*.[hp]*"))],
        extra_compile_args=[*OPTIMISED, "-Wall", *flags],
    )


def typed_python(module: str, folder: str) -> Extension:
    """A module of Python whose types for the compiler stand in a .pxd beside it."""
    source = f"src/zermelo/{folder}/{module}"
    return Extension(
        f"zermelo.{folder.replace('/', '.')}.{module}", [f"{source}.py"], depends=[f"{source}.pxd"],
        # What Cython writes for `|` between types makes compilers warn of None. Products are
        # rounded before they are added, as by Python.
        extra_compile_args=[*OPTIMISED, "-Wall", "-Wno-array-bounds", "-ffp-contract=off"],
    )  # fmt: skip


def packages() -> list[str]:
    found = ["zermelo"]
    for folder in FOLDERS:
        for init in sorted((HERE / "src/zermelo" / folder).rglob("__init__.py")):
            found.append(".".join(init.parent.relative_to(HERE / "src").parts))
    return found


# What takes longest to compile comes first, so that no processor waits for it at the end.
extensions = (
    [extension("reversi_avx512", *AVX512), extension("reversi_avx2", *AVX2)] if X86 else []
)
extensions += [extension("reversi_plain"), extension("go_conquest"), extension("go_search")]
extensions += [extension(module, folder="checker") for module in ("reversi", "go")]
extensions += [extension("definition_small_avx2", *AVX2)] if X86 else []
extensions += [extension("definition_small_plain"), extension("definition_large_plain")]
extensions += [extension("go_retrograde"), extension("reversi_depth"), extension("cpu")]
extensions += [typed_python(module, "server/planning") for module in ("questions", "formulas")]
if ONLY:
    extensions = [built for built in extensions if built.name.split(".")[-1] in ONLY]

setup(
    package_dir={"": "src"},
    options={"build_ext": {"parallel": COMPILERS}},
    packages=packages(),
    ext_modules=[] if COMPILED else cythonize(
        extensions,
        nthreads=CYTHONS,
        include_path=["src"],
        compiler_directives={
            "language_level": 3,
            "boundscheck": CHECKED,
            "wraparound": False,
            "initializedcheck": CHECKED,
            "cdivision": True,
            "cpow": True,
            "embedsignature": True,
            # The .pxd says what is compiled to C: for Cython an annotated int is no C integer.
            "annotation_typing": False,
        },
    ),
)
