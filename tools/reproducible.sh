#!/usr/bin/env bash
# reproducible.sh [PROGRAM...] - builds the source twice, in two folders whose names differ in
# length, and compares the programs (all, or those named) and the libraries byte by byte. Without
# CUDA and MPI; minutes for all.
set -u -o pipefail
programs=("$@")
[ $# -gt 0 ] || programs=(orbits pretrain finetune symreg laws report probe compare verdict sample)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
for folder in a a_longer_name_of_a_folder/b; do
    mkdir -p "$work/$folder" || exit 1
    git ls-files -z | tar -c --null -T - | tar -x -C "$work/$folder" || exit 1
    MAKEFLAGS= make -s -C "$work/$folder" -j"$(nproc)" CUDA=0 MPI=0 "${programs[@]/#/bin/}" \
        >"$work/log" 2>&1 || { tail -n 5 "$work/log"; exit 1; }
done
one=$work/a other=$work/a_longer_name_of_a_folder/b differing=0
(cd "$one" && find bin build -maxdepth 1 -type f \( -path 'bin/*' -o -name '*.a' \)) |
    sort >"$work/files"
while read -r file; do
    cmp "$one/$file" "$other/$file" || differing=$((differing + 1))
done <"$work/files"
files=$(wc -l <"$work/files")
echo "reproducible: $files files, $differing differ"
[ "$files" -gt "${#programs[@]}" ] && [ $differing -eq 0 ]
