# Orrery: from simulated orbits to recovered force laws. This file is what a user types and the
# build. `make help` prints the lines of all makefiles that begin with two signs.
#
## make world        everything, PRESET=quick by default
## make orbits, pretrain, finetune, symreg, figures    one stage each, making what it needs
## make plan         what these would keep or make again, and why; makes nothing
## make probe        attention of the pretrained models: statistics and maps
##   PRESET=smoke|quick|laptop|gpu|vafa2025 (or a file.json), ATTENTION=softmax for one variant only,
##   RUN=dir (default runs/<preset>), THREADS=n, SET="key=value key=value"
##   DEVICE=cpu|cuda where to compute (default: as the preset says); MINUTES=n ends pretrain and
##   finetune after so many, with everything saved: the same command goes on
##   ORBITS_DIR=dir shares data sets between runs; FORCE=1 replaces data sets and trainings of
##   other settings
##   Names are taken as they stand, with spaces, quotes and $; SET is words between spaces
## make all          the programs, in bin/, compiled on all cores (-j1: on one)
##   CUDA=0 builds without the CUDA backend (kernels/cuda/cuda.mk), which is built where nvcc is
##   MPI=0 builds without the MPI plugin, which is built where mpicc is (libopenmpi-dev)
##   NOVA=0 builds without libnova (real planets of bin/probe), which is built in where its headers are
##   WERROR=-Werror makes warnings errors, as check, lint and CI do
##   CC=clang, CFLAGS="-O1 -g", B=build-other BIN=build-other/bin; V=1 prints the command lines
## make clean        removes build/ and bin/

PRESET  ?= quick
RUN     ?= runs/$(subst ?, ,$(basename $(notdir $(subst $(subst ,, ),?,$(call given,PRESET)))))
VERDICT ?= long
CORPUS  ?= python kjv
B       ?= build
BIN     ?= bin
Q       := $(if $(V),,@)

# $(call arg,NAME): a variable of the user's as one word of the shell, whatever stands in it, and
# $(call option,--name,NAME) with an option before it, where it is given. Make would expand a "$" in
# what comes from outside, so that its text is taken. A "~/" that the user's shell left is left to
# the recipe's.
define newline


endef
given = $(if $(filter undefined default file,$(origin $1)),$($1),$(value $1))
quote = $(if $(findstring $(newline),$1),$(error expected one line, found "$1"),$(subst '~/,~/','$(subst ','\'',$1)'))
arg = $(call quote,$(call given,$1))
option = $(if $(call given,$2),$1 $(call arg,$2))
comma := ,

# Without a -j of the user's or of a make above: as many jobs as cores. Goals that run something
# follow one another as they were typed, as on one job; `make clean all` is such a one as a whole.
# (GNUMAKEFLAGS: MAKEFLAGS holds the user's variables, in which make would expand a $ once more)
ifeq ($(filter -j% --jobs% --jobserver%,$(shell echo "$$MAKEFLAGS"))$(and $(filter clean,$(MAKECMDGOALS)),$(word 2,$(MAKECMDGOALS))),)
GNUMAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif
in_turn = $(if $(word 2,$1),$(eval $(word 2,$1): | $(word 1,$1))$(call in_turn,$(wordlist 2,$(words $1),$1)))
$(call in_turn,$(filter plan world probe lint sweep verdict claims reliability coverage fuzz check% bench%,$(MAKECMDGOALS)))
typed := $(filter probe world finetune symreg figures,$(MAKECMDGOALS))
$(if $(filter probe,$(firstword $(typed))),finetune: | probe,probe: | $(filter-out probe,$(typed)))

# Threads that wait sleep after a moment: beside other work on the same cores, spinning is many times
# slower. The programs see to it themselves (orr_threads_sleep); tests and benchmarks have it from here.
export OMP_WAIT_POLICY ?= passive
export GOMP_SPINCOUNT ?= 1000

CC      ?= gcc
# Warnings are errors for those who change Orrery, and not for those who build it with a compiler or
# a toolkit that warns of more: in tests, lint and CI.
WERROR  ?= $(if $(CI)$(filter check% lint coverage fuzz,$(MAKECMDGOALS)),-Werror)
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes \
           -Wmissing-prototypes -Wvla $(WERROR) $(if $(findstring clang,$(CC)),-Wno-pass-failed)
CFLAGS  ?= -O3 -g
# Hardened, HARDEN=0: not. Checked calls of the C library need optimisation, and sanitizers have
# their own. Compilers of Debian and Ubuntu make position-independent programs by themselves.
HARDEN  ?= 1
HARD_CFLAGS = $(if $(filter 1,$(HARDEN)),-fstack-protector-strong $(if $(findstring -fsanitize,$(CFLAGS)),,\
              $(if $(filter -O1 -O2 -O3 -Os -Og -Ofast,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)))
# no name of the folder that it was built in: two builds of the same source have the same bytes
ALL_CFLAGS = -std=c17 -D_POSIX_C_SOURCE=200809L $(CFLAGS) $(WARN) -fopenmp -MMD -MP \
             $(HARD_CFLAGS) '-ffile-prefix-map=$(CURDIR)=.' -I. $(EXTRA_CFLAGS)
LDLIBS  := $(if $(filter 1,$(HARDEN)),-Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now) -ldnnl -lgsl -lgslcblas -lcjson -lxxhash -lmuparser -fopenmp -lm -ldl
# exact sums in simulation, tables of forces and regression
base_CFLAGS    := -ffp-contract=off
stage_CFLAGS   := -ffp-contract=off
sim_CFLAGS     := -ffp-contract=off -fno-math-errno -fno-trapping-math
laws_CFLAGS    := -ffp-contract=off
# (gcc otherwise makes branches of clamps, and scalar code of the loops around them)
symreg_CFLAGS  := -ffp-contract=off -fno-math-errno -fno-trapping-math \
                  $(if $(findstring clang,$(CC)),,-fno-thread-jumps)
kernels_CFLAGS := -fno-math-errno -fno-trapping-math
finetune_CFLAGS := -ffp-contract=off
probe_CFLAGS   := -ffp-contract=off

# libnova is optional: the probes of real planets say so where it is not built in
ifeq ($(origin NOVA),undefined)
NOVA := $(shell $(CC) -E -include libnova/libnova.h -x c /dev/null >/dev/null 2>&1 && echo 1 || echo 0)
endif
ifeq ($(NOVA),1)
probe_CFLAGS += -DORR_NOVA
probe_LIBS := -lnova
endif

# Loop files are compiled once per instruction set, and the best one that the CPU has is taken when
# the program runs (base/isa.h; ORRERY_ISA=avx2 forces one). They are those named *_loops.c, and all
# of kernels/cpu but host_*.c. The table of a folder is the only global symbol of each copy.
loops = $(filter-out kernels/cpu/host_%,$(filter %_loops.c kernels/cpu/%.c,$1))
ISA_SETS    := plain $(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),avx2 avx512)
ISA_plain   :=
ISA_avx2    := -mavx2 -mfma -mbmi -mbmi2
ISA_avx512  := $(ISA_avx2) -mavx512f -mavx512vl -mavx512dq -mavx512bw -mprefer-vector-width=512
OBJCOPY     ?= $(shell $(CC) -print-prog-name=objcopy)
base_TABLE    := orr_draws
sim_TABLE     := sim_vec
symreg_TABLE  := sr_vec
kernels_TABLE := k_cpu_loops
# (sums over a row are bound by the latency of what they chain: adds are shorter than fused ones, and
# this is how gcc 12 is told; a fifth of narrow layers' backward pass)
kernels_TUNE  := -mtune=znver3

PROGRAMS := orbits pretrain finetune symreg report probe verdict
# the folder each program's main_<program>.c is in
orbits_IN := sim
pretrain_IN := model
finetune_IN := finetune
symreg_IN := laws
report_IN := figures
probe_IN := probe
verdict_IN := verdict
RUN_ARGS = --preset $(call arg,PRESET) --run $(call arg,RUN) \
           $(foreach s,$(call given,SET),--set $(call quote,$s))
THREAD_ARGS = $(call option,--threads,THREADS)
# programs that look at one variant or at all of them, and at data sets that may lie elsewhere
LOOK_ARGS = $(RUN_ARGS) $(call option,--attention,ATTENTION) $(call option,--orbits,ORBITS_DIR)
MODEL_ARGS = $(LOOK_ARGS) --resume
# programs that train
TRAIN_ARGS = $(MODEL_ARGS) $(THREAD_ARGS) $(call option,--device,DEVICE) \
             $(call option,--minutes,MINUTES)
ORBITS_ARGS = $(RUN_ARGS) --resume $(THREAD_ARGS) $(call option,--out,ORBITS_DIR)
FORCED = $(if $(FORCE),--force)

.SECONDARY:
.DEFAULT_GOAL := all
all: .deps $(PROGRAMS:%=$(BIN)/%)

# ---- recipes: $(call run,WORD,COMMAND) makes the folder of the target, says what is made, makes it

define run
@mkdir -p $(@D)$(if $(V),, && printf '  %-3s %s\n' $1 $@)
$(Q)$2
endef
# $(call compile,WORD,COMPILER): an object of the first prerequisite
compile = $(call run,$1,$2 -c $< -o $@)
# $(call link,WORD,COMPILER,LIBRARIES): a program or plugin of all; WHOLE: the libraries with all that
# is in them, which a plugin may ask its program for
link = $(call run,$1,$2 $(filter %.c %.o,$^) $(if $(WHOLE),-Wl$(comma)--whole-archive) $(filter %.a,$^) \
           $(if $(WHOLE),-Wl$(comma)--no-whole-archive) $3 -o $@)
archive = @rm -f $@ && ar rcs $@ $^
libs = $(1:%=$(B)/lib%.a)

include folders.mk
# all libraries, those that use others before them
reversed = $(if $1,$(call reversed,$(wordlist 2,$(words $1),$1)) $(firstword $1))
ALL_LIBS := $(call libs,$(call reversed,$(FOLDERS)))

# $1: folder, $2: f64/ or nothing, $3: 64 or nothing, $4: the files that are in it
define library_rules
$(B)/lib$1$3.a: $(4:%.c=$(B)/$2%.o) $(5:%=$(B)/isa/%/$1.o)
	$$(archive)
$(B)/$2$1/%.o: $1/%.c | .deps
	$$(call compile,CC,$$(CC) $$(ALL_CFLAGS) $$($1_CFLAGS) $(if $3,-DK_DOUBLE))
endef
# $1: folder, $2: instruction set
define loop_rules
$(B)/isa/$2/$1/%.o: $1/%.c | .deps
	$$(call compile,CC,$$(CC) $$(ALL_CFLAGS) $$($1_CFLAGS) $(ISA_$2) $(if $(ISA_$2),$($1_TUNE)))
$(B)/isa/$2/$1.o: $($1_LOOPS:%.c=$(B)/isa/$2/%.o)
	$$(Q)$$(CC) -r -nostdlib $$^ -o $$@.all
	$$(Q)$$(OBJCOPY) --keep-global-symbol=$($1_TABLE) $$@.all
	$$(Q)$$(OBJCOPY) --redefine-sym $($1_TABLE)=$($1_TABLE)_$2 $$@.all $$@
	@rm -f $$@.all
endef
# 64: the double-precision build, reference backend and model, for gradient checks
define folder_rules
$1_FILES := $(filter-out $1/main_%.c $($1_PLUGIN),$(wildcard $1/*.c $1/*/*.c))
$1_LOOPS := $$(call loops,$$($1_FILES))
$1_SETS := $$(if $$($1_LOOPS),$$(ISA_SETS))
$1_SRC := $$(filter-out $$($1_LOOPS),$$($1_FILES))
$$(eval $$(call library_rules,$1,,,$$($1_SRC),$$($1_SETS)))
$$(eval $$(call library_rules,$1,f64/,64,$$(filter-out kernels/cpu/%,$$($1_SRC)),$(if $(filter kernels,$1),,$$($1_SETS))))
$$(foreach s,$$($1_SETS),$$(eval $$(call loop_rules,$1,$$s)))
endef
$(foreach f,$(FOLDERS),$(eval $(call folder_rules,$f)))

define program_rule
$(BIN)/$1: $(B)/$($1_IN)/main_$1.o $(call libs,$($($1_IN)_USES))
	$$(call link,CC,$$(CC) $$(ALL_CFLAGS) -rdynamic,$$($($1_IN)_LIBS) $$(LDLIBS))
endef
$(foreach p,$(PROGRAMS),$(eval $(call program_rule,$p)))

# what depends on NOVA is compiled again when that changes, as after libnova was installed
ifneq ($(shell cat $(B)/.nova 2>/dev/null),$(NOVA))
.PHONY: $(B)/.nova
endif
$(patsubst %.c,$(B)/%.o,$(filter %/ephemeris.c,$(probe_SRC))): $(B)/.nova
$(B)/.nova:
	@mkdir -p $(@D) && echo $(NOVA) >$@

# the MPI plugin, opened under a launcher alone; its symbols of the folders are the program's
MPICC ?= mpicc
ifeq ($(origin MPI),undefined)
MPI := $(if $(shell command -v $(MPICC) 2>/dev/null),1,0)
endif
MPI_COMPILER = OMPI_CC='$(CC)' MPICH_CC='$(CC)' $(MPICC)
MPI_PLUGIN := $(BIN)/orrery_mpi.so
MPI_OBJ := $(foreach f,$(FOLDERS),$($f_PLUGIN:%.c=$(B)/%.o))
$(if $(filter 1,$(MPI)),all: $(MPI_PLUGIN))
$(MPI_PLUGIN): $(MPI_OBJ)
	$(call link,MPI,$(MPI_COMPILER) -shared)
$(MPI_OBJ): $(B)/%.o: %.c | .deps
	$(call compile,MPI,$(MPI_COMPILER) $(ALL_CFLAGS) -fPIC)

include kernels/cuda/cuda.mk
include tests/tests.mk
include bench/bench.mk

# ---- the stages: files are the interface between programs

# what make exports it expands; no program reads these
unexport PRESET RUN RUNS SET ORBITS_DIR PNG GRID
# The CUDA backend takes most of the compiling: it is built before the stages only where they may
# compute on a GPU, by DEVICE, SET or the preset.
ON_GPU = $(filter cuda auto,$(call given,DEVICE))$(filter model.device=cuda model.device=auto,$(call given,SET))$(shell \
    grep -Eos '"device": *"(cuda|auto)"' -- $(call arg,PRESET) \
    $(call quote,presets/$(call given,PRESET).json) </dev/null)
STAGES_NEED = .deps $(PROGRAMS:%=$(BIN)/%) $(if $(filter 1,$(CUDA)),$(if $(ON_GPU),$(PLUGIN)))

orbits: $(STAGES_NEED)
	$(BIN)/orbits $(ORBITS_ARGS) $(FORCED)
pretrain: orbits
	$(BIN)/pretrain $(TRAIN_ARGS) $(FORCED)
finetune: pretrain
	$(BIN)/finetune $(TRAIN_ARGS) $(FORCED)
symreg: finetune
	$(BIN)/symreg $(MODEL_ARGS) $(THREAD_ARGS)
figures: symreg
	$(BIN)/report $(MODEL_ARGS)
world: figures
# beside the stages: what the pretrained models attend to
probe: pretrain
	$(BIN)/probe attention $(LOOK_ARGS) $(THREAD_ARGS) $(call option,--device,DEVICE)
# what the stages would keep and what they would make again, and why; nothing is made
plan: $(STAGES_NEED)
	@$(BIN)/orbits $(ORBITS_ARGS) $(FORCED) --plan
	@$(BIN)/pretrain $(TRAIN_ARGS) $(FORCED) --plan
	@$(BIN)/finetune $(TRAIN_ARGS) $(FORCED) --plan
	@$(BIN)/symreg $(MODEL_ARGS) --plan
	@$(BIN)/report $(MODEL_ARGS) --plan

# ---- beside the stages

# .deps says that all dependencies were there; when one no longer is, it is made again
ifneq ($(shell CC='$(CC)' tools/deps.sh --check && echo yes),yes)
.PHONY: .deps
endif
.deps:
	@CC='$(CC)' tools/deps.sh
	@touch $@
## make deps         installs what a build needs, or prints the packages
deps: .deps
## make help         this text
help:
	@sed -n 's/^## //p' Makefile tests/tests.mk tests/cuda/cuda.mk bench/bench.mk
## make watch RUN=dir [PNG=file]    losses of the training under way, in the terminal or a picture
watch:
	@tools/watch.sh $(call arg,RUN) $(call arg,PNG)
## make sweep GRID=presets/grids/NAME.grid    all cells of a grid, JOBS at a time (all cores), each resumed
## make corpus [CORPUS="python kjv"]  corpora/*.txt: real text to train on, from Debian's packages
## make cells GRID=presets/grids/NAME.grid    prints them, a command a line, for job arrays or GNU parallel
##   RUNS=dir where their runs are (default runs): a cell's is RUNS/NAME/CELL
##   PART=I/N every N-th cell, from the I-th on, for N machines side by side
##   KEPT=dir leaves out cells whose results lie there (bench/results/verdict/cells)
RUNS ?= runs
GRID_ENV = RUNS=$(call arg,RUNS) BIN='$(BIN)'
sweep: all
	@$(GRID_ENV) JOBS=$(call arg,JOBS) KEPT=$(call arg,KEPT) exec tools/sweep.sh $(call arg,GRID)
cells:
	@$(GRID_ENV) KEPT=$(call arg,KEPT) tools/cells.sh $(call arg,GRID)
corpus:
	@tools/corpus.sh corpora $(CORPUS)
## make verdict [VERDICT=short]       softmax, lssar, lssa, rw_softmax and untrained over 5 seeds, put
##                                    together into RUNS/verdict/verdict.{json,md}; short: 3 seeds of two;
##                                    and the loss of attentions by length on text
verdict: all
	@$(GRID_ENV) JOBS=$(call arg,JOBS) exec tools/verdict.sh $(call arg,VERDICT)
## make claims                        results of the grids that were run, and docs/claims.md from them
claims: all
	@$(GRID_ENV) tools/claims.sh bench/results/verdict
## make lint, format what compilers do not check; clang-format on every source
lint: .deps $(call libs,$(FOLDERS)) $(PROGRAMS:%=$(BIN)/%)
	@tools/lint.sh $(B)
format:
	clang-format -i $(wildcard $(foreach d,$(FOLDERS) $(ROOMS) tests tests/* tests/cuda/* bench,$d/*.[ch] \
	    $d/*.cu $d/*.cuh $d/*.cc))
## make compile_commands    compile_commands.json, for editors and clang tools
compile_commands:
	@MAKEFLAGS= $(MAKE) -j1 -Bnk V=1 CUDA=0 CC='$(CC)' all $(TESTS) $(BENCHES:%=$(B)/bench/bench_%) 2>/dev/null | \
	    tools/compile_commands.sh >compile_commands.json
	@echo "compile_commands.json: $$(grep -c '"file"' compile_commands.json) files"
clean:
	rm -rf $(B) $(BIN)
# no goal is a file
.PHONY: all world orbits pretrain finetune symreg figures probe plan deps help watch sweep cells \
        corpus verdict claims lint format compile_commands clean

-include $(shell find $(B) -name '*.d' 2>/dev/null)
