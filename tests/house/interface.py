# SPDX-License-Identifier: Apache-2.0
"""Hold the rules at the top of include/caucus/caucus.h: order and names of arguments, pairs of names, one header for
all. Usage: interface.py INCLUDE_DIR [COMPILER]; prints one line per violation. `--self-test` breaks each rule once."""
import pathlib
import re
import subprocess
import sys
import tempfile

# What one element is, of an array that a function may write. Such an output is followed by its room.
ARRAY_ELEMENTS = {"uint8_t", "char", "double", "float", "long double", "int64_t"}
# Of these a function may also write a single one, which then says in its name what it is (ret_run).
ARRAY_IF_UNNAMED = {"uint32_t", "uint64_t", "size_t"}
NUMBER = r"(?:uint32_t|uint64_t|size_t|unsigned)"


def prototypes(include, compiler):
    """Every function (and function type) of the installed headers, macros expanded: [(name, [arguments])]."""
    names = sorted(path.name for path in (include / "caucus").glob("*.h"))
    text = "".join(f"#include <caucus/{name}>\n" for name in names)
    out = subprocess.run([compiler, "-E", f"-I{include}", "-xc", "-"], input=text, capture_output=True, text=True,
        check=True)
    ours, inside = [], False
    for line in out.stdout.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            inside = "/caucus/" in marker[1]
        elif inside:
            ours.append(line)
    flat = re.sub(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)", " ", " ".join(ours))
    flat = re.sub(r"\s+", " ", flat)
    # A declaration: type, name, arguments, semicolon. Function types have their name in (*name).
    found = re.findall(r"[\w*]\s*\b(caucus_\w+)\s*\(([^()]*)\)\s*;", flat)
    found += re.findall(r"\(\*(caucus_\w+)\)\s*\(([^()]*)\)\s*;", flat)
    result = []
    for name, arguments in found:
        parts = [part.strip() for part in arguments.split(",")]
        result.append((name, [] if parts == ["void"] else parts))
    return result


def argument_name(argument):
    match = re.search(r"(\w+)(?:\[[^\]]*\])?$", argument)
    return match[1] if match else ""


def is_output(name):
    return name == "ret" or name.startswith("ret_")


def room_of(argument):
    """Whether this argument says how many elements the output before it has."""
    return re.fullmatch(NUMBER + r" (?:ret_bytes|ret_count|n|d|experts)", argument) is not None


def check_function(name, arguments):
    names = [argument_name(argument) for argument in arguments]
    if "..." in arguments:
        arguments = arguments[: arguments.index("...")]
        names = names[: len(arguments)]
    if name.startswith("caucus_fail") and names[0] == "ret_error":  # the error is the object that it works on
        names[0] = "error"
    outputs = False
    for at, (argument, own) in enumerate(zip(arguments, names)):
        after = arguments[at + 1] if at + 1 < len(arguments) else ""
        if own == "ret_error" and at != len(arguments) - 1:
            yield f"{name}: ret_error is not last"
        room = outputs and room_of(argument)
        if outputs and not is_output(own) and not room:
            yield f"{name}: the input {own} stands behind an output"
        outputs = outputs or is_output(own)
        if is_output(own) and "*" in argument and own not in ("ret_error",) and not room:
            element = argument.split("*")[0].replace("const", "").strip()
            array = element in ARRAY_ELEMENTS or (own == "ret" and element in ARRAY_IF_UNNAMED)
            if array and argument.count("*") == 1 and not room_of(after):
                yield f"{name}: {own} is written without its room (ret_bytes or ret_count behind it)"
            if own in ("ret_bytes", "ret_count"):
                yield f"{name}: {own} is the room of an array, not an output"
        if at > 0 and not is_output(own) and own not in ("scratch", "value", "user", "at"):
            plain = re.fullmatch(r"(?:u?int\d+_t|size_t|bool|double|float|char|caucus_\w+ \*)\s*\*\s*\w+", argument)
            if plain and "const" not in argument:
                yield f"{name}: the output {own} is not called ret_…"


def check_pairs(names):
    have = set(names)
    for name in sorted(have):
        for first, last in (("_new", "_free"), ("_open", "_close")):
            if name.endswith(first) and name[: -len(first)] + last not in have:
                yield f"{name}: has no {last} beside it"
            if name.endswith(last) and name[: -len(last)] + first not in have:
                yield f"{name}: has no {first} beside it"


def check_whole(include):
    text = (include / "caucus" / "caucus.h").read_text()
    for path in sorted((include / "caucus").glob("*.h")):
        if path.name != "caucus.h" and f"#include <caucus/{path.name}>" not in text:
            yield f"caucus.h does not include {path.name}"


def check_structs(include):
    """A struct that callers see begins with its size, or the comment above it says why it is fixed."""
    pattern = r"(/\*(?:(?!\*/).)*\*/\n)?typedef struct (caucus_\w+) \{\s*([^;]*;)"
    for path in sorted((include / "caucus").glob("*.h")):
        for comment, name, first in re.findall(pattern, path.read_text(), re.S):
            if not re.search(r"(?:^|\s)size_t size;$", first) and "Fixed: " not in comment:
                yield f"{name}: neither begins with its size nor says why it is fixed"


def check(include, compiler):
    found = prototypes(include, compiler)
    complaints = [text for name, arguments in found for text in check_function(name, arguments)]
    complaints += check_pairs([name for name, _ in found])
    complaints += check_whole(include)
    complaints += check_structs(include)
    return found, complaints


FAULTLESS = """#pragma once
#include <stdint.h>
#include <stddef.h>
typedef struct caucus_x caucus_x;
typedef struct caucus_error caucus_error;
typedef int (*caucus_call)(void *user, const double *x, double *ret_gradient, uint32_t experts);
int caucus_x_new(int a, caucus_x **ret, caucus_error *ret_error) __attribute__((warn_unused_result));
void caucus_x_free(caucus_x *x);
int caucus_x_save(const caucus_x *x, uint8_t *ret, size_t ret_bytes);
void caucus_fail_x(caucus_error *ret_error, int status, const char *format, ...);
int caucus_x_number(const caucus_x *x, uint32_t *ret_number);
typedef struct caucus_y {
    size_t size; /* first */
    int a;
} caucus_y;
/** Two numbers.
 *  Fixed: a pair is two. */
typedef struct caucus_z {
    int a, b;
} caucus_z;
"""
FAULTS = {
    "int caucus_x_a(caucus_x *x, caucus_error *ret_error, uint32_t *ret_b);": "ret_error is not last",
    "int caucus_x_a(uint32_t *ret_a, int b);": "the input b stands behind an output",
    "int caucus_x_a(const caucus_x *x, uint8_t *ret);": "ret is written without its room",
    "int caucus_x_a(const caucus_x *x, double *ret, caucus_error *ret_error);": "ret is written without its room",
    "int caucus_x_a(const caucus_x *x, uint32_t *count);": "the output count is not called ret_…",
    "int caucus_x_a(const caucus_x *x, caucus_x **other);": "the output other is not called ret_…",
    "int caucus_x_a(const caucus_x *x, uint32_t *ret);": "ret is written without its room",
    "int caucus_x_a(const caucus_x *x, size_t *ret_bytes);": "ret_bytes is the room of an array, not an output",
    "/* Fixed: no. */\n\ntypedef struct caucus_w {\n    int size;\n} caucus_w;": "caucus_w: neither begins with",
    "typedef struct caucus_w {\n    int a;\n    size_t size;\n} caucus_w;": "caucus_w: neither begins with",
    "int caucus_y_new(caucus_x **ret);": "has no _free beside it",
    "void caucus_y_close(caucus_x *x);": "has no _open beside it",
}


def self_test(compiler):
    with tempfile.TemporaryDirectory() as folder:
        include = pathlib.Path(folder)
        (include / "caucus").mkdir()
        (include / "caucus" / "caucus.h").write_text("#include <caucus/x.h>\n")
        (include / "caucus" / "x.h").write_text(FAULTLESS)
        found, complaints = check(include, compiler)
        assert len(found) == 6 and not complaints, (found, complaints)
        for fault, expected in FAULTS.items():
            (include / "caucus" / "x.h").write_text(FAULTLESS + fault + "\n")
            _, complaints = check(include, compiler)
            assert len(complaints) == 1 and expected in complaints[0], (fault, complaints)
        (include / "caucus" / "x.h").write_text(FAULTLESS)
        (include / "caucus" / "z.h").write_text("")
        assert check(include, compiler)[1] == ["caucus.h does not include z.h"]


def main():
    include, compiler = pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "cc"
    self_test(compiler)
    found, complaints = check(include, compiler)
    if len(sys.argv) > 3 and sys.argv[3] == "--names":
        print("\n".join(sorted({name for name, _ in found})))
    else:
        print("\n".join(complaints + [f"{len(found)} functions, {len(complaints)} complaints"]))
    sys.exit(1 if complaints else 0)


main()
