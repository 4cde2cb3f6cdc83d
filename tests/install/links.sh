#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# links.sh DOCUMENTS INCLUDE: every file that an installed page links to is installed, too: beside it, or, a header of
# the sources (../include/caucus/x.h), in INCLUDE.
set -euo pipefail
documents=$1 include=$2
cd "$documents"
links=0 missing=0
while IFS=: read -r page link; do
    target=${link#*\(}
    case $target in http | https | mailto) continue ;; esac # a colon ends the pattern
    links=$((links + 1))
    target=$(realpath -ms "$(dirname "$page")/$target")
    case $target in "$PWD"/include/*) target=$include/${target#"$PWD"/include/} ;; esac
    [ -e "$target" ] && continue
    echo "not ok: $page links to ${link#*\(}, and $target is not installed"
    missing=$((missing + 1))
done < <(grep -roE --include='*.md' '\]\([A-Za-z0-9_./-]+' . | sort -u)
[ "$links" -ge 100 ] || { echo "not ok: only $links links were found" && exit 1; }
[ "$missing" -eq 0 ]
