#!/bin/sh
# long_training.sh - a training in parts: stopped by time or Ctrl-C, resumed exactly, then extended.
#
#   docs/examples/long_training.sh        from the root of the repository; PRESET=smoke: in seconds
set -eu
PRESET=${PRESET:-laptop}
OUT=${OUT:-runs/long_training}
FIRST=${FIRST:-8} # minutes of the first part

make pretrain PRESET="$PRESET" ATTENTION=lssar RUN="$OUT" MINUTES="$FIRST"
make pretrain PRESET="$PRESET" ATTENTION=lssar RUN="$OUT"            # to the end
make pretrain PRESET="$PRESET" ATTENTION=lssar RUN="$OUT" SET="pretrain.steps=${STEPS:-24000}"
