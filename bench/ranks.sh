# ranks.sh - what benchmarks of several ranks share. Sourced with the arguments of the script, whose
# name is $name and whose settings, KEY=VALUE, are $keys.
#
# $BIN is the folder of the programs, $work one of its own that goes away at the end, $settings
# those of preset quick with a model of $width and $layers and little data, whose orbits it makes.
for argument; do
    if [[ $argument != *=* || " $keys " != *" ${argument%%=*} "* ]]; then
        echo "$name: error: $argument: expected KEY=VALUE with one of: $keys" >&2
        exit 2
    fi
    declare "${argument%%=*}=${argument#*=}"
done
BIN=$(cd "${BIN:-bin}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/orrery-$name-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_btl_vader_single_copy_mechanism=none
settings=(--preset quick --quiet --set attention=softmax --run "$work/run"
          --set planets.enabled=false --set orbits.train=2000 --set orbits.train_files=2000
          --set orbits.two_body_train=10 --set orbits.two_body_val=10 --set orbits.two_body_test=10
          --set "model.width=$width" --set "model.layers=$layers" --set pretrain.eval_every=0
          --set pretrain_planets.steps=0 --set pretrain.eval_sequences=1)
"$BIN/orbits" "${settings[@]}"
