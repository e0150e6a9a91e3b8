"""A clock that a test can set for one process and all that it loads: Python, gRPC, OpenSSL."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t shift(void) {
    static const volatile int64_t *seconds;
    if (!seconds) {
        int handle = open(getenv("SHIFTED_CLOCK"), O_RDONLY);
        void *found = mmap(NULL, sizeof *seconds, PROT_READ, MAP_SHARED, handle, 0);
        close(handle);
        if (found == MAP_FAILED) abort();
        seconds = found;
    }
    return *seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(clock, now);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += shift();
    return code;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec precise;
    int code = clock_gettime(CLOCK_REALTIME, &precise);
    (void)zone;
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return code;
}

time_t time(time_t *told) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (told) *told = now.tv_sec;
    return now.tv_sec;
}
"""


class ShiftedClock:
    """Processes started with `environment` see the clock of this computer and `set`'s shift."""

    def __init__(self, folder: Path) -> None:
        source, library = folder / "clock.c", folder / "clock.so"
        source.write_text(_SOURCE)
        subprocess.run(
            ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True
        )
        self._shift = folder / "shift"
        self._shift.write_bytes(struct.pack("=q", 0))
        self.environment = {"LD_PRELOAD": str(library), "SHIFTED_CLOCK": str(self._shift)}

    def set(self, seconds: int) -> None:
        """Put the clock ahead by so much, or back if it is less than zero."""
        with self._shift.open("r+b") as stream:
            stream.write(struct.pack("=q", seconds))
