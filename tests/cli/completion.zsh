# SPDX-License-Identifier: Apache-2.0
# completion.zsh FOLDER LINE...: what an interactive zsh makes of each line when Tab is pressed at its end. FOLDER holds
# _caucus. The line is then run; caucus and caucus-client are functions here that print their arguments.
zmodload zsh/zpty
zpty shell zsh -f -i
folder=$1
shift
zpty -w shell "PS1=; PS2=; unsetopt zle_bracketed_paste; fpath=(${(q)folder} \$fpath); autoload -Uz compinit;" \
    "compinit -u -D; caucus caucus-client() { print -r -- \"<got\$((1)) \$*>\" }; print -r -- rea''dy"
zpty -r -m shell out '*ready*'
for line; do
    zpty -n -w shell "$line"$'\t\n'
    zpty -r -m shell out '*<got1*>*'
    print -r -- "${${out##*<got1 }%%>*}"
done
zpty -d shell
