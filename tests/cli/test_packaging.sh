#!/usr/bin/env bash
# test_packaging.sh - the container files and recipes of packaging/: they ask for what
# debian/control asks for, and linters have nothing to say. Linters that are missing are named:
# hadolint; of Python (PYTHON=python3) spython, py-rattler-build, flake8.
. tests/cli/lib.sh
python=${PYTHON:-python3}

# ---- the same dependencies everywhere
build_depends() {
    awk '/^[A-Z]/ { on = /^Build-Depends:/ }
        on { gsub(/^Build-Depends:|\([^)]*\)|,/, " "); print }' debian/control |
        tr -s ' ' '\n' | grep -v -e '^$' -e '^debhelper' | sort -u
}
asks_for() { # FILE: every build dependency of the Debian packages stands in it
    local name
    mapfile -t names <<<"$(build_depends)"
    filled "$1" && [ ${#names[@]} -ge 10 ] || return 1
    for name in "${names[@]}"; do
        grep -qE "(^|[ \\])$name( |\\\\|$)" "$1" || { echo "$1: no $name" && return 1; }
    done
}
check "the Dockerfile has what debian/control builds with" asks_for packaging/Dockerfile
check "... and the definition of Apptainer" asks_for packaging/apptainer.def
sed 's/libgsl-dev//' packaging/Dockerfile >"$WORK/without"
check_not "... or that is noticed" asks_for "$WORK/without"
libraries() { # of conda and Spack, whose names are those of the projects
    local name
    for name in cjson cmocka gnuplot gsl muparser onednn xxhash zlib; do
        grep -qE "(- |\")$name(-api)?(@[0-9:]+)?\"?,?\\)?( *$|, )" "$1" ||
            { echo "$1: no $name" && return 1; }
    done
}
check "the conda recipe has all libraries" libraries packaging/conda/recipe.yaml
check "... and the package of Spack" libraries packaging/spack/package.py
version=$(sed -n 's/^#define ORR_VERSION "\([0-9.]*\).*/\1/p' base/version.h)
check "the conda recipe is of this version" prints "^  version: $version(\\.dev0)?\$" \
    cat packaging/conda/recipe.yaml

# ---- linters
if command -v hadolint >/dev/null; then
    check "hadolint" hadolint packaging/Dockerfile
else
    skip "the Dockerfile by hadolint" "it is not installed"
fi
has() { # MODULE
    "$python" -c "import $1" >/dev/null 2>&1
}
if has spython; then
    cat >"$WORK/apptainer.py" <<'END_PYTHON'
import sys
from spython.main.parse.parsers import SingularityParser
recipe = SingularityParser(sys.argv[1]).parse()["spython-base"]
assert recipe.fromHeader == "debian:12-slim", recipe.fromHeader
assert recipe.files and recipe.install and recipe.environ and recipe.test and recipe.cmd
END_PYTHON
    check "the definition of Apptainer is parsed" "$python" "$WORK/apptainer.py" \
        packaging/apptainer.def
else
    skip "the definition of Apptainer" "no spython in $python"
fi
if has rattler_build; then
    cat >"$WORK/conda.py" <<'END_PYTHON'
import sys
from rattler_build import Stage0Recipe, VariantConfig
variants = VariantConfig({"c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"]})
rendered = Stage0Recipe.from_file(sys.argv[1]).render(variants)
assert len(rendered) == 1, rendered
assert rendered[0].recipe.package.name == "orrery"
END_PYTHON
    check "the conda recipe is rendered" "$python" "$WORK/conda.py" packaging/conda/recipe.yaml
    sed 's/^requirements:/requirement:/' packaging/conda/recipe.yaml >"$WORK/recipe.yaml"
    check_not "... and one with an unknown key is not" "$python" "$WORK/conda.py" \
        "$WORK/recipe.yaml"
else
    skip "the conda recipe" "no rattler_build in $python"
fi
if has flake8; then
    # (names come from spack.package)
    check "flake8" "$python" -m flake8 --max-line-length 99 --extend-ignore F403,F405 \
        packaging/spack/package.py
else
    skip "the package of Spack by flake8" "it is not in $python"
fi
finish
