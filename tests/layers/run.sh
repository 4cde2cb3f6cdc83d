#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The layers of docs/ARCHITECTURE.md, held: every include in src/ and include/ goes to its own or an
# earlier layer, and the core uses libc, libm and libsodium only; no code asks for an algorithm by name instead of its
# family's table; the libraries read no clock; and none below the program names a flag: it names the setting. First the
# check is checked itself, on small trees that break each rule.
set -euo pipefail
source_dir=${CAUCUS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}

# check_tree DIR: prints one line per violation, then "N includes". Returns 1 if there was a violation.
check_tree() {
    (cd "$1" && find src include -name '*.[ch]' -o -name '*.inc' | LC_ALL=C sort | awk '
        BEGIN {
            n = split("num rng dp plan algo wire store link dial relay net data sim scenario show audit study mpi cli",
                      order, " ")
            for (i = 1; i <= n; i++) rank[order[i]] = i
            core = rank["algo"]
            m = split("assert errno fenv float inttypes limits math stdalign stdarg stdatomic stdbool stddef " \
                      "stdint stdio stdlib string sodium", names, " ")
            for (i = 1; i <= m; i++) allowed[names[i] ".h"] = 1
            # Of the libraries only sim has a clock: how long a trial takes decides how work is dealt out, not results.
            # OpenSSL reads the time in functions whose names do not say so.
            m = split("num rng dp plan algo wire link data scenario show audit", names, " ")
            for (i = 1; i <= m; i++) timeless[names[i]] = 1
            clocks = "(clock_gettime|gettimeofday|timespec_get|(^|[^a-z_])(clock|time)|caucus_clock_[a-z]+|" \
                     "X509_cmp_(current_time|timeframe)|X509_(gmtime|time)_adj(_ex)?|ASN1_TIME_diff|" \
                     "SSL_SESSION_[gs]et_time|SSL_CTX_flush_sessions)\\("
        }
        function bad(text) { print file ":" line_number ": " text; failed = 1 }
        # A public header names its layer within its first lines.
        function header_layer(path,    text, count, found) {
            if (path in known) return known[path]
            found = ""
            for (count = 0; count < 5 && (getline text < path) > 0; count++)
                if (text ~ /^ \* layer: [a-z]+/) { split(text, word, /[ ]+/); found = word[4] }
            close(path)
            return known[path] = found
        }
        function target_layer(name, quoted,    part) {
            if (!quoted) return name ~ /^caucus\// ? header_layer("include/" name) : "-"
            if (name !~ /^[a-z]+\/([a-z]+\/)?[^\/]+\.(h|inc)$/) return ""
            split(name, part, "/")
            return part[1]
        }
        # A flag in a string. A whole command is no complaint, nor a page of style; one file puts commands together.
        function check_words(text,    found) {
            if (file ~ /_html\.c$|^src\/show\/choice\/command\.c$/ || text ~ /^[ \t]*\/?\*/) return
            while (match(text, /"([^"\\]|\\.)*"/)) {
                found = substr(text, RSTART, RLENGTH)
                text = substr(text, RSTART + RLENGTH)
                if (found ~ /[^-a-z]--[a-z]/ && found !~ /caucus [a-z]+ /)
                    bad("a flag named below the program: name the setting, the program adds its flag")
            }
        }
        function check_line(text,    name, quoted, layer) {
            if (text ~ /(==|!=|case)[ \t]*CAUCUS_ALGORITHM_[A-Z]/ && text !~ /CAUCUS_ALGORITHM_COUNT/)
                bad("an algorithm asked for by name: ask the table of its family (plan/family.h)")
            if (text ~ /(==|!=|case)[ \t]*CAUCUS_FAMILY_[A-Z]/ && text !~ /CAUCUS_FAMILY_COUNT/)
                bad("a family asked for by name: ask for a property in its table (plan/family.h)")
            if ((own in timeless) && text ~ clocks)
                bad("layer " own " reads a clock: its caller has one, and says what time it is")
            if (rank[own] < rank["audit"] || own == "mpi") check_words(text)
            if (text !~ /^[ \t]*#[ \t]*include/) return
            includes++
            quoted = text ~ /include[ \t]*"/
            if (!match(text, /["<][^">]+[">]/)) { bad("an include that cannot be read: " text); return }
            name = substr(text, RSTART + 1, RLENGTH - 2)
            layer = target_layer(name, quoted)
            if (layer == "-") {
                if (rank[own] <= core && !(name in allowed))
                    bad("layer " own " is part of the core and may not use <" name ">")
            } else if (!(layer in rank))
                bad(quoted ? "\"" name "\": write \"layer/file.h\"" : "<" name "> names no known layer")
            else if (rank[layer] > rank[own])
                bad("layer " own " includes " name " of the later layer " layer)
            else if (quoted && file ~ /^include\//)
                bad("a public header includes the internal " name)
        }
        {
            file = $0; line_number = 0
            if (file ~ /^include\//) own = header_layer(file)
            else { split(file, part, "/"); own = part[2] }
            if (!(own in rank)) { bad("no known layer (\"" own "\")"); next }
            while ((getline text < file) > 0) { line_number++; check_line(text) }
            close(file)
        }
        END { print includes + 0 " includes"; exit failed + 0 }')
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# catches NAME PATH TEXT EXPECTED: a tree whose only fault is PATH must be refused for the EXPECTED reason.
catches() {
    local name=$1 path=$2 text=$3 expected=$4 out code=0
    rm -rf "$work/tree"
    mkdir -p "$work/tree/include/caucus" "$work/tree/src/num" "$work/tree/src/dp" "$work/tree/src/sim"
    printf '/* a.h: x\n * layer: num */\n#include <stdint.h>\n' >"$work/tree/include/caucus/a.h"
    printf '/* z.h: x\n * layer: algo */\n' >"$work/tree/include/caucus/z.h"
    printf '#include <caucus/z.h>\n#include <pthread.h>\n#include "dp/b.h"\n' >"$work/tree/src/sim/s.c"
    if ! out=$(check_tree "$work/tree"); then
        echo "self-test: the faultless tree was refused: $out"
        exit 1
    fi
    printf '%b' "$text" >"$work/tree/$path"
    out=$(check_tree "$work/tree") || code=$?
    if [ "$code" -eq 0 ] || ! grep -qF "$expected" <<<"$out"; then
        echo "self-test: not caught: $name (got: $out)"
        exit 1
    fi
    echo "caught: $name"
}

catches "an internal include upwards" src/num/bad.c '#include "dp/b.h"\n' 'later layer dp'
catches "a public include upwards" src/dp/bad.c '  #  include <caucus/z.h>\n' 'later layer algo'
catches "a system header in the core" src/dp/bad.c '#include <pthread.h>\n' 'may not use <pthread.h>'
catches "an include without its layer" src/dp/bad.c '#include "b.h"\n' 'write "layer/file.h"'
catches "a public header without a layer" include/caucus/bad.h '/* bad.h */\n' 'no known layer'
catches "an internal header in a public one" include/caucus/bad.h ' * layer: dp\n#include "num/n.h"\n' \
    'includes the internal'
catches "a folder that is no layer" src/dp/../num/../bad.c '#include <stdint.h>\n' 'no known layer'
catches "an algorithm asked for by name" src/sim/bad.c 'if (a == CAUCUS_ALGORITHM_SVT)\n' 'ask the table'
catches "a family asked for by name" src/sim/bad.c 'return f != CAUCUS_FAMILY_SVT;\n' 'ask for a property'
catches "a clock in the library" src/dp/bad.c 'now = time(NULL);\n' 'reads a clock'
catches "a clock of OpenSSL" src/num/bad.c 'return X509_cmp_current_time(t);\n' 'reads a clock'
catches "a flag below the program" src/sim/bad.c 'x = "too large, see --range";\n' 'a flag named below'
catches "an include through a macro" src/dp/bad.c '#include HEADER\n' 'cannot be read'

# Two files that define a type of one name cannot be included together, and a reader takes one for the other.
types_twice() {
    local name='caucus_[a-z0-9_]+'
    (cd "$1" && grep -rhoE "^(typedef (struct|enum|union) $name \\{|\\} $name;)" src include | grep -oE "$name" |
        LC_ALL=C sort | uniq -c | awk '$1 > 2 { print $2 ": a type of this name is defined twice" }')
}
mkdir -p "$work/types/src" "$work/types/include"
printf 'typedef struct caucus_a {\n    int b;\n} caucus_a;\n' >"$work/types/src/one.h"
[ -z "$(types_twice "$work/types")" ] || { echo "self-test: one type was refused"; exit 1; }
cp "$work/types/src/one.h" "$work/types/include/other.h"
[ -n "$(types_twice "$work/types")" ] || { echo "self-test: a type that is defined twice was not caught"; exit 1; }
echo "caught: a type that is defined twice"
found=$(types_twice "$source_dir")
[ -z "$found" ] || { echo "$found"; exit 1; }

check_tree "$source_dir"
