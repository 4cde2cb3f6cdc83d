# SPDX-License-Identifier: Apache-2.0
"""Write the C source of the extension module `caucus_dp._native` from the installed headers.

    native.py COMPILER INCLUDE_DIR OUTPUT

cffi (API mode) is given the declarations that the compiler's preprocessor leaves of include/caucus/*.h: nothing is
written down a second time. What else the module needs of C stands in SOURCE.
"""

import re
import subprocess
import sys
from pathlib import Path

from cffi import FFI

# A simulation runs in a thread of its own without Python's lock. What it tells is left in this struct, for Python to
# look at when it likes, and Python leaves word there that it shall stop.
#
# Gradients of convex losses are asked of Python. One that raises leaves a report that must not count: nothing of it is
# kept, since `failed` makes every save fail, and nothing is sent, since Python ends the client.
TYPES = """
typedef struct native_watch {
    int stop;
    uint64_t run, runs, done, trials;
} native_watch;
typedef struct native_saver {
    caucus_journal *journal;
    int failed;
} native_saver;
"""
SOURCE = (
    """
#include <caucus/caucus.h>
#include <stdlib.h>
"""
    + TYPES
    + """
static bool native_progress(void *user, size_t run, size_t runs, uint64_t done, uint64_t trials) {
    native_watch *watch = user;
    __atomic_store_n(&watch->run, run, __ATOMIC_RELAXED);
    __atomic_store_n(&watch->runs, runs, __ATOMIC_RELAXED);
    __atomic_store_n(&watch->done, done, __ATOMIC_RELAXED);
    __atomic_store_n(&watch->trials, trials, __ATOMIC_RELAXED);
    return __atomic_load_n(&watch->stop, __ATOMIC_RELAXED) == 0;
}
static bool native_save(void *user, const uint8_t *bytes, size_t size) {
    const native_saver *saver = user;
    return saver->failed == 0 && (saver->journal == NULL || caucus_journal_write(saver->journal, bytes, size));
}
static void native_free(void *memory) { free(memory); }
/* Volatile: the compiler must not leave out what nobody reads. */
static void native_wipe(void *memory, size_t bytes) {
    for (volatile unsigned char *at = memory; bytes > 0; bytes--)
        *at++ = 0;
}
enum { CAUCUS_SHORTLIST_MOST = CAUCUS_SHORTLIST };
"""
)
CALLS = """
extern "Python" void native_gradient(void *user, uint64_t round, const double *x, double *ret, uint32_t experts);
bool native_save(void *user, const uint8_t *bytes, size_t size);
bool native_progress(void *user, size_t run, size_t runs, uint64_t done, uint64_t trials);
void native_free(void *memory);
void native_wipe(void *memory, size_t bytes);
enum { CAUCUS_SHORTLIST_MOST = ... };
"""


def declarations(compiler: str, include: str) -> str:
    """What the headers declare, without attributes, and nothing of the system's."""
    out = subprocess.run(
        [compiler, "-std=c11", "-E", f"-I{include}", "-xc", "-"],
        input="#include <caucus/caucus.h>\n",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    ours: list[str] = []
    inside = False
    for line in out.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            inside = "/caucus/" in marker[1] and marker[1].startswith(include)
        elif inside:
            ours.append(line)
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)", " ", "\n".join(ours))
    return text.replace("_Bool", "bool")


def main() -> None:
    """Write the file."""
    compiler, include, output = sys.argv[1:]
    text = declarations(compiler, include)
    if "caucus_plan_new" not in text:
        sys.exit(f"native.py: {include} declares no caucus_plan_new()")
    ffi = FFI()
    ffi.cdef(text + TYPES + CALLS)
    ffi.set_source("caucus_dp._native", SOURCE)
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    ffi.emit_c_code(output)


if __name__ == "__main__":
    main()
