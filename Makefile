# Orrery: from simulated orbits to recovered force laws. This file is the map; `make help` prints the
# lines of it, of tools.mk, cuda.mk and mpi.mk that begin with two signs.
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
## make all          the programs, in bin/
##   CUDA=0 builds without the CUDA backend (cuda.mk), which is built where nvcc is
##   MPI=0 builds without the MPI plugin (mpi.mk), which is built where mpicc is
##   NOVA=0 builds without libnova (real planets of bin/probe), which is built in where its headers are
##   WERROR=-Werror makes warnings errors, as check, lint and CI do
##   CC=clang, CFLAGS="-O1 -g", B=build-other BIN=build-other/bin; V=1 prints the command lines
## make clean        removes build/ and bin/

PRESET  ?= quick
RUN     ?= runs/$(subst ?, ,$(basename $(notdir $(subst $(subst ,, ),?,$(call given,PRESET)))))
THREADS ?=
SET     ?=
ATTENTION ?=
DEVICE  ?=
MINUTES ?=
V       ?=
Q       := $(if $(V),,@)
B       ?= build
BIN     ?= bin

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

# Threads that wait sleep after a moment: beside other work on the same cores, spinning is many times
# slower. The programs see to it themselves (orr_threads_sleep); tests and benchmarks have it from here.
export OMP_WAIT_POLICY ?= passive
export GOMP_SPINCOUNT ?= 1000

CC      ?= gcc
# Warnings are errors for those who change Orrery, and not for those who build it with a compiler or
# a toolkit that warns of more: in tests, lint and CI.
WERROR  ?= $(if $(CI)$(filter check% lint coverage fuzz,$(MAKECMDGOALS)),-Werror)
comma   := ,
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
model_CFLAGS   :=
finetune_CFLAGS := -ffp-contract=off
probe_CFLAGS   := -ffp-contract=off
figures_CFLAGS :=

# libnova is optional: the probes of real planets say so where it is not built in
ifeq ($(origin NOVA),undefined)
NOVA := $(shell $(CC) -E -include libnova/libnova.h -x c /dev/null >/dev/null 2>&1 && echo 1 || echo 0)
endif
ifeq ($(NOVA),1)
probe_CFLAGS += -DORR_NOVA
probe_LIBS := -lnova
endif

# Loop files are compiled once per instruction set, and the best one that the CPU has is taken when
# the program runs (base/isa.h; ORRERY_ISA=avx2 forces one).
ISA_SETS    := plain $(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),avx2 avx512)
ISA_plain   :=
ISA_avx2    := -mavx2 -mfma -mbmi -mbmi2
ISA_avx512  := $(ISA_avx2) -mavx512f -mavx512vl -mavx512dq -mavx512bw -mprefer-vector-width=512
OBJCOPY     ?= $(shell $(CC) -print-prog-name=objcopy)
# the loop files of a folder, and the table that is the only global symbol of each copy
base_LOOPS    := base/draw_loops.c
base_TABLE    := orr_draws
sim_LOOPS     := sim/vec_loops.c
sim_TABLE     := sim_vec
symreg_LOOPS  := symreg/value/vec_loops.c
symreg_TABLE  := sr_vec
kernels_LOOPS := $(filter-out kernels/cpu/context.c kernels/cpu/dnnl.c kernels/cpu/peak.c,$(wildcard kernels/cpu/*.c))
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

.PHONY: all world orbits pretrain finetune symreg figures probe plan deps check check-long \
        check-python check-asan lint format clean bench help
.SECONDARY:
.DEFAULT_GOAL := all
all: .deps $(PROGRAMS:%=$(BIN)/%)

include folders.mk
include cuda.mk
include tools.mk
include mpi.mk

# ---- the stages: files are the interface between programs

ORBITS_DIR ?=
FORCE ?=
# what make exports it expands; no program reads these
unexport PRESET RUN RUNS SET ORBITS_DIR PNG GRID
# The CUDA backend takes most of the compiling: it is built before the stages only where they may
# compute on a GPU, by DEVICE, SET or the preset.
ON_GPU = $(filter cuda auto,$(call given,DEVICE))$(filter model.device=cuda model.device=auto,$(call given,SET))$(shell \
    grep -Eos '"device": *"(cuda|auto)"' -- $(call arg,PRESET) \
    $(call quote,presets/$(call given,PRESET).json) </dev/null)
STAGES_NEED = .deps $(PROGRAMS:%=$(BIN)/%) $(if $(filter 1,$(CUDA)),$(if $(ON_GPU),$(PLUGIN)))

orbits: $(STAGES_NEED)
	$(BIN)/orbits $(ORBITS_ARGS) $(if $(FORCE),--force)
pretrain: orbits
	$(BIN)/pretrain $(TRAIN_ARGS) $(if $(FORCE),--force)
finetune: pretrain
	$(BIN)/finetune $(TRAIN_ARGS) $(if $(FORCE),--force)
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
	@$(BIN)/orbits $(ORBITS_ARGS) $(if $(FORCE),--force) --plan
	@$(BIN)/pretrain $(TRAIN_ARGS) $(if $(FORCE),--force) --plan
	@$(BIN)/finetune $(TRAIN_ARGS) $(if $(FORCE),--force) --plan
	@$(BIN)/symreg $(MODEL_ARGS) --plan
	@$(BIN)/report $(MODEL_ARGS) --plan

# ---- building

say = @$(if $(V),true,printf '  %-3s %s\n' $(1) $(2))

define folder_rules
$(1)_SRC := $$(filter-out $(1)/main_%.c $$($(1)_LOOPS) $$($(1)_PLUGIN),$$(wildcard $(1)/*.c $(1)/*/*.c))
$(1)_ISA := $$(if $$($(1)_LOOPS),$$(ISA_SETS:%=$$(B)/isa/%/$(1).o))
$(1)_OBJ := $$($(1)_SRC:%.c=$$(B)/%.o) $$($(1)_ISA)
$$(B)/lib$(1).a: $$($(1)_OBJ)
	@rm -f $$@ && ar rcs $$@ $$^
$$(B)/$(1)/%.o: $(1)/%.c
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$$(CC) $$(ALL_CFLAGS) $$($(1)_CFLAGS) -c $$< -o $$@
# the double-precision build: reference backend and model, for gradient checks
$$(B)/lib$(1)64.a: $$(patsubst %.c,$$(B)/f64/%.o,$$(filter-out kernels/cpu/%.c,$$($(1)_SRC))) \
                   $$(filter-out %/kernels.o,$$($(1)_ISA))
	@rm -f $$@ && ar rcs $$@ $$^
$$(B)/f64/$(1)/%.o: $(1)/%.c
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$$(CC) $$(ALL_CFLAGS) $$($(1)_CFLAGS) -DK_DOUBLE -c $$< -o $$@
# tests/<folder>/test_*.c may use what the folder may use
$$(B)/tests/$(1)/%: tests/$(1)/%.c $$(patsubst %,$$(B)/lib%.a,$$($(1)_USES)) $$(wildcard tests/*.h)
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$$(CC) $$(ALL_CFLAGS) -Itests -I$(1) $$< $$(WITH) $$(patsubst %,$$(B)/lib%.a,$$($(1)_USES)) -lcmocka $$($(1)_LIBS) $$(LDLIBS) -o $$@
$$(B)/tests/$(1)/%64: tests/$(1)/%.c $$(patsubst %,$$(B)/lib%64.a,$$($(1)_USES)) $$(wildcard tests/*.h)
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$$(CC) $$(ALL_CFLAGS) -DK_DOUBLE -Itests -I$(1) $$< $$(patsubst %,$$(B)/lib%64.a,$$($(1)_USES)) -lcmocka $$(LDLIBS) -o $$@
endef
$(foreach f,$(FOLDERS),$(eval $(call folder_rules,$(f))))

# what depends on NOVA is compiled again when that changes, as after libnova was installed
ifneq ($(shell cat $(B)/.nova 2>/dev/null),$(NOVA))
.PHONY: $(B)/.nova
endif
$(B)/probe/planets/ephemeris.o $(B)/f64/probe/planets/ephemeris.o: $(B)/.nova
$(B)/.nova:
	@mkdir -p $(@D) && echo $(NOVA) >$@

# $(1): folder, $(2): instruction set
define loop_rules
$$(B)/isa/$(2)/$(1)/%.o: $(1)/%.c
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$$(CC) $$(ALL_CFLAGS) $$($(1)_CFLAGS) $$(ISA_$(2)) $$(if $$(ISA_$(2)),$$($(1)_TUNE)) -c $$< -o $$@
$$(B)/isa/$(2)/$(1).o: $$($(1)_LOOPS:%.c=$$(B)/isa/$(2)/%.o)
	$$(Q)$$(CC) -r -nostdlib $$^ -o $$@.all
	$$(Q)$$(OBJCOPY) --keep-global-symbol=$$($(1)_TABLE) $$@.all
	$$(Q)$$(OBJCOPY) --redefine-sym $$($(1)_TABLE)=$$($(1)_TABLE)_$(2) $$@.all $$@
	@rm -f $$@.all
endef
$(foreach f,$(FOLDERS),$(if $($(f)_LOOPS),$(foreach s,$(ISA_SETS),$(eval $(call loop_rules,$(f),$(s))))))

define program_rule
$$(BIN)/$(1): $$(B)/$$($(1)_IN)/main_$(1).o $$(patsubst %,$$(B)/lib%.a,$$($$($(1)_IN)_USES))
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$$(CC) $$(ALL_CFLAGS) -rdynamic $$^ $$($$($(1)_IN)_LIBS) $$(LDLIBS) -o $$@
endef
$(foreach p,$(PROGRAMS),$(eval $(call program_rule,$(p))))

-include $(shell find $(B) -name '*.d' 2>/dev/null)

clean:
	rm -rf $(B) $(BIN)
