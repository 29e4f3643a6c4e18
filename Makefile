# Orrery: from simulated orbits to recovered force laws. This file is what a user types, and the build of
# what folders.mk lists. `make help` names all goals (HACKING.md has the text).
PRESET  ?= quick
RUN     ?= runs/$(subst ?, ,$(basename $(notdir $(subst $(space),?,$(call given,PRESET)))))
B       ?= build
BIN     ?= bin
PREFIX  ?= /usr/local
comma   := ,
space   := $(subst ,, )
hash    := \#
define newline


endef
# ---- what a user typed is text. make would expand a "$" of it, $(shell ...) too, wherever the variable is
# used or exported: it gets its own text as a value that is not expanded again. (Words of compilers are make's.)
WORDS_OF_COMPILERS := CC CXX MPICC NVCC TSAN_CC OBJCOPY COMPUTE_SANITIZER PYTHON CUDA_ARCH LDLIBS WARN %FLAGS
$(foreach v,$(filter-out $(WORDS_OF_COMPILERS) MAKE% GNUMAKE% -*% .% BASH_FUNC%,$(.VARIABLES)),$(if $(filter environment command,$(origin \
    $v)),$(if $(findstring $$,$(value $v)),$(eval override export $v := $$(value $v)))))
# $(call arg,NAME): a variable of the user's as one word of the shell, whatever stands in it ("~/" is the
# shell's). $(call each,NAME): its words, each as one of the shell. $(call plain,NAME): its text, which may
# not have characters that a shell or make takes for more: names of goals, tests and folders of the build
given = $(if $(filter undefined default file,$(origin $1)),$($1),$(value $1))
quote = $(if $(findstring $(newline),$1),$(error expected one line, found "$1"),$(subst '~/,~/','$(subst ','\'',$1)'))
arg = $(call quote,$(call given,$1))
odd := $$ ` ' " \ ; & | < > ( ) * ? [ ] { } ! $(hash) ~
each = $(foreach w,$(call given,$1),$(call quote,$w))
plain = $(if $(strip $(foreach c,$(odd),$(findstring $c,$(call given,$1)))$(findstring $(newline),$(call given,$1))),$(error \
    $1: expected plain names$(comma) found "$(call given,$1)"),$(call given,$1))
$(foreach v,B BIN T PART FUZZ FUZZ_SECONDS STEPS WATCHED RELIABILITY ASAN_FOLDERS UNIT_FOLDERS ALLOCS COVERAGE CORPUS TABLE FULL \
    CUDA MPI NOVA HARDEN V EXECUTE INSTALL_PROGRAMS INSTALL_STUDY,$(if $(call plain,$v),))
Q := $(if $(V),,@)
# As many jobs as cores, unless the user or a make above says otherwise (GNUMAKEFLAGS: in MAKEFLAGS,
# a $ of the user's would be expanded once more). Goals that run something follow one another as typed.
ifeq ($(filter -j% --jobs% --jobserver%,$(shell echo "$$MAKEFLAGS"))$(and $(filter clean,$(MAKECMDGOALS)),$(word 2,$(MAKECMDGOALS))),)
GNUMAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif
in_turn = $(if $(word 2,$1),$(eval $(word 2,$1): | $(word 1,$1))$(call in_turn,$(wordlist 2,$(words $1),$1)))
$(call in_turn,$(filter plan world probe lint sweep verdict claims reliability coverage fuzz check% bench%,$(MAKECMDGOALS)))
typed := $(filter probe world finetune symreg figures,$(MAKECMDGOALS))
$(if $(filter probe,$(firstword $(typed))),finetune: | probe,probe: | $(filter-out probe,$(typed)))
# ---- compilers
CC     ?= gcc
# -g1 records lines and functions, and compiles in a fifth less time than -g; to see variables in a debugger: -O0 -g (HACKING.md)
CFLAGS ?= -O3 -g1
# for those who change Orrery, not for those who build it with a compiler that warns of more
WERROR ?= $(if $(CI)$(filter check% lint coverage fuzz,$(MAKECMDGOALS)),-Werror)
WARN   := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes \
          -Wmissing-prototypes -Wvla $(WERROR) $(if $(findstring clang,$(CC)),-Wno-pass-failed)
# checked calls of the C library need optimisation, and sanitizers have their own; HARDEN=0: neither
HARDEN ?= 1
FORTIFY = $(if $(findstring -fsanitize,$(CFLAGS)),,\
          $(if $(filter -O1 -O2 -O3 -Os -Og -Ofast,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
# (two builds of the same source have the same bytes: no name of the folder that it was built in)
ALL_CFLAGS = -std=c17 -D_POSIX_C_SOURCE=200809L -DXXH_INLINE_ALL $(CFLAGS) $(WARN) -fopenmp -MMD -MP \
             $(if $(filter 1,$(HARDEN)),-fstack-protector-strong $(FORTIFY)) \
             '-ffile-prefix-map=$(CURDIR)=.' -I. $(EXTRA_CFLAGS)
LDLIBS := $(if $(filter 1,$(HARDEN)),-Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now) \
          -ldnnl -lgsl -lgslcblas -lcjson -lz -fopenmp -lm -ldl
# exact sums in simulation, tables of forces and regression; clamps without branches in symreg's loops
$(foreach f,base formula stage sim laws symreg finetune probe api,$(eval $f_CFLAGS := -ffp-contract=off))
$(foreach f,formula sim symreg kernels,$(eval $f_CFLAGS += -fno-math-errno -fno-trapping-math))
$(foreach f,formula symreg,$(eval $f_CFLAGS += $(if $(findstring clang,$(CC)),,-fno-thread-jumps)))
# Loop files are compiled once per instruction set, and the program takes the best one of the CPU
# (base/isa.h). The table of a folder is the only global symbol of each copy. TUNE: plain adds instead of
# fused ones in sums over a row, a fifth of narrow layers' backward pass.
loops = $(filter-out kernels/cpu/host_%,$(filter %_loops.c kernels/cpu/%.c,$1))
ISA_SETS    := plain $(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),avx2 avx512)
ISA_avx2    := -mavx2 -mfma -mbmi -mbmi2
ISA_avx512  := $(ISA_avx2) -mavx512f -mavx512vl -mavx512dq -mavx512bw -mprefer-vector-width=512
OBJCOPY     ?= $(shell $(CC) -print-prog-name=objcopy)
base_TABLE    := orr_draws
sim_TABLE     := sim_vec
symreg_TABLE  := sr_vec
kernels_TABLE := k_cpu_loops
kernels_TUNE  := -mtune=znver3
# ---- recipes: $(call run,WORD,COMMAND) makes the folder of the target, says what is made, makes it
.SECONDARY .DELETE_ON_ERROR:
.DEFAULT_GOAL := all
define run
@mkdir -p $(@D)$(if $(V),, && printf '  %-3s %s\n' $1 $@)
$(Q)$2
endef
# $(call compile,WORD,COMPILER): an object of the first prerequisite. $(call link,WORD,COMPILER,LIBRARIES):
# of all; WHOLE: with all that is in the libraries, which a plugin may ask its program for
compile = $(call run,$1,$2 -c $< -o $@)
link = $(call run,$1,$2 $(filter %.c %.o,$^) $(if $(WHOLE),-Wl$(comma)--whole-archive) $(filter %.a,$^) \
           $(if $(WHOLE),-Wl$(comma)--no-whole-archive) $3 -o $@)
archive = @rm -f $@ && ar rcs $@ $^
libs = $(1:%=$(B)/lib%.a)
# $(call lacks,MESSAGE): ends with it, unless there is none. $(call when,NAME,WHAT): where NAME is 1
lacks = @$(if $1,echo '$@: error: $1' >&2; exit 1)
when = $(if $(filter 1,$($1)),$2)
# ---- libraries and programs
include folders.mk
$(foreach f,$(FOLDERS),$(eval ALL_LIBS := $(B)/lib$f.a $(ALL_LIBS)))
MPI_SRC := model/ranks/mpi.c
# objects of programs are those of liborrery.so, but for the files that ask for ORR_LIBRARY
PIC := -fPIC -fno-semantic-interposition -ffunction-sections -fdata-sections
SHARED_OWN := $(shell grep -l ORR_LIBRARY $(FOLDERS:%=%/*.c) $(SUBMODULES:%=%/*.c) 2>/dev/null)
shared = $(foreach c,$1,$(B)/$(if $(filter $c,$(SHARED_OWN)),pic/)$(c:.c=.o))
# $1: folder, $2: f64/, pic/ or nothing, $3: name of the library, $4: its objects
define library_rules
$(B)/lib$3.a: $4
	$$(archive)
$(B)/$2$1/%.o: $1/%.c | .deps
	$$(call compile,CC,$$(CC) $$(ALL_CFLAGS) $$($1_CFLAGS) $$(PIC) $$($2FLAGS))
endef
f64/FLAGS := -DK_DOUBLE $(if $(filter -O3,$(CFLAGS)),-O1) # for gradient checks alone
pic/FLAGS := -DORR_LIBRARY
# $1: folder, $2: instruction set
define loop_rules
$(B)/isa/$2/$1/%.o: $1/%.c | .deps
	$$(call compile,CC,$$(CC) $$(ALL_CFLAGS) $$($1_CFLAGS) -fPIC $(ISA_$2) $(if $(ISA_$2),$($1_TUNE)))
$(B)/isa/$2/$1.o: $($1_LOOPS:%.c=$(B)/isa/$2/%.o)
	$$(Q)$$(CC) -r -nostdlib $$^ -o $$@
	$$(Q)$$(OBJCOPY) --redefine-sym $($1_TABLE)=$($1_TABLE)_$2 --keep-global-symbol=$($1_TABLE)_$2 $$@
endef
# lib$1.a, and lib$164.a in double precision (reference backend and model), for gradient checks, where it differs
define folder_rules
$1_FILES := $(filter-out $1/main_%.c $1/tests/% $(MPI_SRC),$(wildcard $1/*.c $1/*/*.c))
$1_LOOPS := $$(call loops,$$($1_FILES))
$1_SETS := $$(if $$($1_LOOPS),$$(ISA_SETS))
$1_SRC := $$(filter-out $$($1_LOOPS),$$($1_FILES))
$1_ISA := $$($1_SETS:%=$(B)/isa/%/$1.o)
$$(eval $$(call library_rules,$1,,$1,$$($1_SRC:%.c=$(B)/%.o) $$($1_ISA)))
$$(eval $$(call library_rules,$1,pic/,$1_pic,$$(call shared,$$($1_SRC)) $$($1_ISA)))
$$(eval $$(call library_rules,$1,f64/,$164,$$(patsubst %.c,$(B)/f64/%.o,$$(filter-out kernels/cpu/%,$$($1_SRC))) \
    $(if $(filter kernels,$1),,$$($1_ISA))))
$$(foreach s,$$($1_SETS),$$(eval $$(call loop_rules,$1,$$s)))
endef
$(foreach f,$(FOLDERS),$(eval $(call folder_rules,$f)))
# liborrery.so: what api/ reaches, compiled for it; nothing but orrery_* is seen, and GSL is all it needs
$(B)/liborrery.so.2: $(api_USES:%=$(B)/lib%_pic.a) api/orrery.map
	$(call link,CC,$(CC) $(ALL_CFLAGS) -shared -Wl$(comma)-soname$(comma)$(@F)$(comma)--version-script=api/orrery.map \
	    -Wl$(comma)--gc-sections$(comma)-z$(comma)now$(if $(findstring -fsanitize,$(CFLAGS)),,$(comma)-z$(comma)defs),-lgsl \
	    -lgslcblas -fopenmp -lm -ldl)
$(B)/liborrery.so.2: private WHOLE = yes
# $1: folder, $2: program
define program_rule
$(BIN)/$2: $(B)/$1/main_$2.o $(call libs,$($1_USES))
	$$(call link,CC,$$(CC) $$(ALL_CFLAGS) -rdynamic,$$($1_LIBS) $$(LDLIBS))
endef
MAINS := $(wildcard */main_*.c)
PROGRAMS := $(patsubst main_%.c,$(BIN)/%,$(notdir $(MAINS)))
$(foreach m,$(MAINS),$(eval $(call program_rule,$(patsubst %/,%,$(dir $m)),$(patsubst main_%.c,%,$(notdir $m)))))
programs: .deps $(PROGRAMS) $(B)/liborrery.so.2
all: programs # and the CUDA plugin (kernels/cuda/cuda.mk)
# libnova, where it is: what depends on it is compiled again when that changes
NOVA ?= $(shell $(CC) -E -include libnova/libnova.h -x c /dev/null >/dev/null 2>&1 && echo 1 || echo 0)
NOVA := $(NOVA)
probe_CFLAGS += $(call when,NOVA,-DORR_NOVA)
probe_LIBS := $(call when,NOVA,-lnova)
$(patsubst %.c,$(B)/%.o,$(filter %/ephemeris.c,$(probe_SRC))): $(B)/.nova$(NOVA)
$(B)/base/data.o: $(B)/.prefix$(subst $(space),-,$(shell printf %s $(call arg,PREFIX) | cksum))
base_CFLAGS += $(call quote,-DORR_PREFIX="$(subst ",\",$(subst \,\\,$(call given,PREFIX)))")
$(B)/.nova% $(B)/.prefix%: | .deps ; @mkdir -p $(@D) && rm -f $(@:%$*=%)* && touch $@
# the MPI plugin, opened under a launcher alone; its symbols of the folders are the program's
MPICC ?= mpicc
MPI ?= $(if $(shell command -v $(MPICC) 2>/dev/null),1,0)
MPI_COMPILER = OMPI_CC='$(CC)' MPICH_CC='$(CC)' $(MPICC)
programs: $(call when,MPI,$(BIN)/orrery_mpi.so)
$(BIN)/orrery_mpi.so: $(MPI_SRC:%.c=$(B)/%.o) ; $(call link,MPI,$(MPI_COMPILER) -shared)
$(MPI_SRC:%.c=$(B)/%.o): $(MPI_SRC) | .deps ; $(call compile,MPI,$(MPI_COMPILER) $(ALL_CFLAGS) -fPIC)
include study/study.mk kernels/cuda/cuda.mk tests/tests.mk bench/bench.mk lab.mk
# ---- the stages: files are the interface between programs
# Threads that wait sleep after a moment, which programs see to themselves: for tests and benchmarks
export OMP_WAIT_POLICY ?= passive
export GOMP_SPINCOUNT ?= 1000
unexport PRESET RUN RUNS SET ORBITS_DIR PNG GRID # settings of a stage, not of the programs it runs
# the CUDA backend is built before the stages only where they may compute on a GPU, by DEVICE, SET or preset
ON_GPU = $(filter cuda auto,$(call given,DEVICE))$(filter model.device=cuda model.device=auto,$(call given,SET))$(shell \
    grep -Eos '"device": *"(cuda|auto)"' -- $(call arg,PRESET) $(call quote,presets/$(call given,PRESET).json) \
    $(call quote,$(call given,RUN)/preset.json) </dev/null)
STAGES_NEED = .deps $(PROGRAMS) $(call when,CUDA,$(if $(ON_GPU),$(PLUGIN)))
# words that were typed: without PRESET, a run that is there keeps its settings
RUN_WORDS = $(foreach w,PRESET RUN SET ATTENTION ORBITS_DIR THREADS DEVICE MINUTES FORCE,$(if $(filter file,$(origin $w)),,$(if $(call given,$w),$w=$(call arg,$w))))
STAGES := orbits pretrain finetune symreg figures
# an unknown preset is refused before anything is compiled, which waits for .deps
$(if $(filter world plan probe $(STAGES),$(MAKECMDGOALS)),$(eval .deps: | known_preset))
known_preset: ; @p=$(call arg,PRESET); for f in "$$p" "$${ORRERY_PRESETS:-presets}/$$p.json" "presets/$$p.json"; do case $$f in *.json) \
    test ! -e "$$f" || exit 0; esac; done; echo "make: error: PRESET: no preset \"$$p\"; expected a file ending in .json or one of" \
    $$(cd "$${ORRERY_PRESETS:-presets}" && ls *.json | sed 's/.json$$//') >&2; exit 2
orbits: $(STAGES_NEED)
$(foreach p,pretrain:orbits finetune:pretrain symreg:finetune figures:symreg world:figures probe:pretrain,$(eval $(subst :,: ,$p)))
$(STAGES) probe: ; $(BIN)/orrery stage $@ $(RUN_WORDS)
plan: $(STAGES_NEED) ; @$(BIN)/orrery plan $(RUN_WORDS)
# .deps says that all dependencies were there; when one no longer is, it is made again
$(if $(shell CC='$(CC)' tools/deps.sh --check && echo yes),,$(eval .PHONY: .deps))
.deps: ; @CC='$(CC)' tools/deps.sh && touch $@
deps: .deps
GRID_ENV = RUNS=$(call arg,RUNS) BIN='$(BIN)'
help:         ; @sed -n '/^## Goals of make/,/^## Building/s/^    //p' HACKING.md
watch:        ; @$(BIN)/orrery watch $(call arg,RUN) $(call arg,PNG)
corpus:       ; @tools/corpus.sh corpora $(or $(CORPUS),python kjv)
cells: $(BIN)/orrery ; @$(GRID_ENV) KEPT=$(call arg,KEPT) $(BIN)/orrery cells $(call arg,GRID)
sweep: all    ; @$(GRID_ENV) JOBS=$(call arg,JOBS) KEPT=$(call arg,KEPT) exec $(BIN)/orrery sweep $(call arg,GRID)
install: all
install uninstall dist: ; @B='$(B)' BIN='$(BIN)' INSTALL_PROGRAMS=$(call arg,INSTALL_PROGRAMS) \
    INSTALL_STUDY=$(call arg,INSTALL_STUDY) PREFIX=$(call arg,PREFIX) DESTDIR=$(call arg,DESTDIR) LIBDIR=$(call arg,LIBDIR) tools/$(@:uninstall=install).sh $@
docs-site:    ; @$(or $(PYTHON),python3) tools/docs_site.py --out '$(B)/site' $(if $(EXECUTE),--execute)
example:      ; @BIN='$(BIN)' tools/example.sh $(call arg,RUN)
lint: .deps $(ALL_LIBS) $(PROGRAMS) ; @tools/lint.sh $(B)
docs-api:     ; @B='$(B)' tools/docs_api.sh
options-page: $(B)/liborrery.so.2
	$(CC) -Iapi docs/examples/options.c -o $(B)/options_page $< -Wl,-rpath,$(abspath $(B)) && $(B)/options_page >docs/symreg_options.md
format:       ; find $(FOLDERS) tests bench -regex '.*\.\(c\|h\|cu\|cuh\|cc\)' -exec clang-format -i {} +
compile_commands: ; @tools/compile_commands.sh CC='$(CC)' B='$(B)' all $(TESTS) $(BENCHES:%=$(B)/bench/bench_%)
clean:        ; rm -rf $(B) $(BIN)
.PHONY: all programs golden-pack cases-pack fuzz-pack world $(STAGES) known_preset probe plan deps help watch corpus cells sweep lint format \
        compile_commands clean install uninstall dist docs-api docs-site options-page example check coverage fuzz reliability bench
# (no rule makes them: without saying so, make would try every pattern on each of a thousand)
MADE_OF := $(shell find $(B) -name '*.d' 2>/dev/null)
$(MADE_OF): ;
-include $(MADE_OF)
