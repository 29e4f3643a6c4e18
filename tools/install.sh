#!/usr/bin/env bash
# install.sh install|uninstall - what `make install PREFIX=/usr/local DESTDIR=` copies, and how it
# is removed.
#
#   bin/                     orrery, which runs every program: `orrery symreg`
#   libexec/orrery/          the programs; bin/ has links to them where INSTALL_PROGRAMS=1
#   lib/orrery/              plugins, opened at run time
#   lib/, include/           liborrery.so, orrery.h, orrery.pc, orrery-config.cmake
#   share/orrery/            presets, grids, figure scripts; files: the list of all that was
#                            installed, by which `make uninstall` goes
#   share/doc/orrery/        README, documents, examples, licence
#   share/man/man1/          man pages, and share/bash-completion, share/zsh: all three made from
#                            the programs' own --help
#
# INSTALL_PROGRAMS=1: every program has a name of its own on the PATH as well, with man page and
# completion. INSTALL_STUDY=1: the study's program (verdict) and its tables. BIN, B: folders of the
# build. LIBDIR (lib): Debian has lib/x86_64-linux-gnu.
set -eu -o pipefail
shopt -s nullglob
what=${1:?"usage: install.sh install|uninstall"}
bin=${BIN:-bin} build=${B:-build} prefix=${PREFIX:-/usr/local} dest=${DESTDIR:-}
libdir=${LIBDIR:-lib} named=${INSTALL_PROGRAMS:-0} study=${INSTALL_STUDY:-0}
for word in "INSTALL_PROGRAMS $named" "INSTALL_STUDY $study"; do
    [[ $word == *' '[01] ]] && continue
    echo "install: error: ${word%% *}: expected 0 or 1, found \"${word#* }\"" >&2
    exit 2
done
case $prefix in
/*) ;;
*)
    echo "install: error: PREFIX: expected a path that begins with /, found \"$prefix\"" >&2
    exit 2
    ;;
esac
root=${dest%/}${prefix%/}
list=$root/share/orrery/files
here=$(dirname "$0")

# remove: the files of the list that is read, below the prefix
remove() {
    local file
    while IFS= read -r file; do
        case $file in
        /* | *..*) echo "$what: error: $list: expected names below $prefix, found \"$file\"" >&2
            exit 1 ;;
        esac
        rm -f -- "$root/$file"
    done
}
if [ "$what" = uninstall ]; then
    [ -r "$list" ] || {
        echo "uninstall: error: $list: not there: nothing is installed" >&2
        exit 1
    }
    remove < <(cat "$list" && echo share/orrery/files)
    # folders of Orrery's own; those that others use as well go only from a DESTDIR, when empty
    folders=(share/orrery share/doc/orrery libexec/orrery lib/orrery include/orrery
        "$libdir/cmake/orrery")
    [ -z "$dest" ] || folders+=(bin libexec lib include share)
    for folder in "${folders[@]}"; do
        [ ! -d "$root/$folder" ] || find "$root/$folder" -depth -type d -empty -delete
    done
    [ -z "$dest" ] || rmdir -p --ignore-fail-on-non-empty -- "$root" 2>/dev/null || true
    echo "uninstalled from $root"
    exit
fi

names=()
# put MODE FOLDER FILE...: copies files into a folder of the prefix
put() {
    local mode=$1 folder=$2 file
    shift 2
    install -d -- "$root/$folder"
    install -m "$mode" -- "$@" "$root/$folder/"
    for file; do
        names+=("$folder/${file##*/}")
    done
}
# link FOLDER FILE NAME: a symbolic link in a folder of the prefix to a file in it
link() {
    install -d -- "$root/$1"
    ln -sfn -- "$2" "$root/$1/$3"
    names+=("$1/$3")
}
programs=()
for name in orbits pretrain finetune symreg laws probe report compare sample; do
    programs+=("$bin/$name")
done
[ "$study" = 0 ] || programs+=("$bin/verdict")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/man"

put 755 bin "$bin/orrery"
put 755 libexec/orrery "${programs[@]}"
plugins=("$bin"/orrery_*.so)
[ ${#plugins[@]} -eq 0 ] || put 644 lib/orrery "${plugins[@]}"
version=$("$bin/orrery" --version) && version=${version#orrery } soname=liborrery.so.2
cp "$build/$soname" "$work/liborrery.so.${version%%-*}"
put 644 "$libdir" "$work/liborrery.so.${version%%-*}"
link "$libdir" "liborrery.so.${version%%-*}" "$soname"
link "$libdir" "$soname" liborrery.so
put 644 include api/orrery.h
put 644 include/orrery api/orrery/*.h
cat >"$work/orrery.pc" <<END
prefix=$prefix
libdir=\${prefix}/$libdir
includedir=\${prefix}/include

Name: orrery
Description: orbits under any force law, formulas from tables, models, attention
Version: ${version%%-*}
Libs: -L\${libdir} -lorrery
Libs.private: -lgsl -lgslcblas -lm
Cflags: -I\${includedir}
END
put 644 "$libdir/pkgconfig" "$work/orrery.pc"
up=$(sed 's:[^/]*:..:g' <<<"$libdir/cmake/orrery") # from there to the prefix
cat >"$work/orrery-config.cmake" <<END
# find_package(orrery) target_link_libraries(PROGRAM orrery::orrery)
get_filename_component(orrery_root "\${CMAKE_CURRENT_LIST_DIR}/$up" ABSOLUTE)
if(NOT TARGET orrery::orrery)
  add_library(orrery::orrery SHARED IMPORTED)
  set_target_properties(orrery::orrery PROPERTIES
    IMPORTED_LOCATION "\${orrery_root}/$libdir/liborrery.so"
    IMPORTED_SONAME "$soname"
    INTERFACE_INCLUDE_DIRECTORIES "\${orrery_root}/include")
endif()
END
cat >"$work/orrery-config-version.cmake" <<END
set(PACKAGE_VERSION "${version%%-*}")
if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else() # the interface grows; a program of another one is refused when it runs
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
END
put 644 "$libdir/cmake/orrery" "$work"/orrery-config{,-version}.cmake
put 644 share/orrery/presets presets/*.json
put 644 share/orrery/docs docs/lab.html
put 644 share/orrery/presets/grids presets/grids/*.grid
put 644 share/orrery/figures figures/*.gp figures/*.css figures/*.js
[ "$study" = 0 ] || put 644 share/orrery/study study/*.csv
put 644 share/doc/orrery README.md CHANGELOG.md CITATION.cff CONTRIBUTING.md SECURITY.md LICENSE \
    LICENSE.GPL-3
while IFS= read -r folder; do
    mapfile -t files < <(find "$folder" -maxdepth 1 -type f)
    [ ${#files[@]} -eq 0 ] || put 644 "share/doc/orrery/$folder" "${files[@]}"
done < <(find docs study/docs -type d)
# (of the installed programs, whose --help says how they are called there)
"$here/manpage.sh" "$root/bin/orrery" >"$work/man/orrery.1"
for program in "${programs[@]}"; do
    name=$(basename "$program")
    "$here/manpage.sh" "$root/libexec/orrery/$name" >"$work/man/orrery-$name.1"
done
export INSTALL_PROGRAMS=$named
"$here/completion.sh" bash "$bin/orrery" "${programs[@]}" >"$work/orrery"
"$here/completion.sh" zsh "$bin/orrery" "${programs[@]}" >"$work/_orrery"
put 644 share/man/man1 "$work"/man/*.1
put 644 share/bash-completion/completions "$work/orrery"
put 644 share/zsh/site-functions "$work/_orrery"
if [ "$named" = 1 ]; then
    for program in "${programs[@]}"; do
        name=$(basename "$program")
        link bin "../libexec/orrery/$name" "$name"
        link share/man/man1 "orrery-$name.1" "$name.1"
        link share/bash-completion/completions orrery "$name"
    done
fi
# what an earlier installation here had more goes: other switches, another release
printf '%s\n' "${names[@]}" | sed 's:/\./:/:' | LC_ALL=C sort >"$work/files"
[ ! -r "$list" ] || LC_ALL=C comm -23 <(LC_ALL=C sort "$list") "$work/files" | remove
put 644 share/orrery "$work/files"
echo "installed ${#names[@]} files in $root"
