# tests.mk - the tests that need no GPU, and the same under sanitizers, valgrind and a fuzzer.
# $(call commands,TESTS,ENVIRONMENT): each as one word for tools/check.sh
commands = $(foreach t,$1,'$(strip $2 $(if $(filter %.sh,$t),bash) $t $(if $(findstring /golden_,$t),tests/golden)\
               $(if $(filter %/replay,$t),tests/fuzz/corpus))')
# run when no other test is: those that measure time or send keys at moments
ALONE := $(addprefix tests/,long/test_limits.sh cli/test_symreg_live.sh kill/test_time.sh)
# $(call checks,NAME,COMMANDS,ENVIRONMENT): runs them; logs are in build/tests/logs-NAME
# (ORRERY_DATA: programs of a build in another folder have no data beside them)
checks = @$3 ORRERY_DATA=$(call quote,$(CURDIR)) BIN='$(BIN)' BUILT='$(B)' ALONE='$(ALONE)' tools/check.sh $(B)/tests/logs$(1:%=-%) $2
TEST_CFLAGS := $(if $(filter -O3,$(CFLAGS)),-O1 -g$(if $(filter check%,$(MAKECMDGOALS)),0,1) $(if $(filter check%,$(MAKECMDGOALS)),\
    $(shell echo "int main(void) { return 0; }" | $(CC) -fuse-ld=gold -x c - -o /dev/null 2>/dev/null && echo -fuse-ld=gold)))
# A kind of test of a folder, which may use what the folder may use. $1: folder, $2, $3: patterns of
# source and program, $4: flags, $5: objects, $6: libraries. -O1 and gold, where that links, take half the time;
# -O0 half of that, where a test computes little itself
LIGHT_TESTS := api compare figures finetune laws probe stage study symreg tracks
light = $(if $(filter -O1,$(TEST_CFLAGS)),$(if $(filter $1,$(LIGHT_TESTS)),-O0 -U_FORTIFY_SOURCE))
define test_rule
$(B)/tests/$1/$3: tests/$1/$2.c $5 | .deps
	$$(call link,CC,$$(CC) $$(ALL_CFLAGS) $$(TEST_CFLAGS) $(call light,$1) -Itests -I$1 $4,-lcmocka $6 $$($1_LIBS) $$(LDLIBS))
endef
$(foreach f,$(FOLDERS),$(eval $(call test_rule,$f,%,%,,$(call libs,$($f_USES)))))
$(foreach f,$(FOLDERS),$(eval $(call test_rule,$f,%,%64,-DK_DOUBLE,$(foreach l,$($f_USES),$(B)/lib$l$(if $(filter base formula stage sim,$l),,64).a))))
TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/*/test_*.c)) $(STUDY_TESTS)
$(B)/tests/symreg/test_fma: private EXTRA_CFLAGS += -ffp-contract=off # it is compared with the fused operation
# gradients in double precision, golden vectors, fuzz targets (tests/fuzz/targets.h) on what was kept
MORE_TESTS := $(addprefix $(B)/tests/,kernels/test_gradient64 kernels/test_loss64 model/test_gradient64 fuzz/replay \
                  kernels/golden_attention kernels/golden_attention64)
# golden vectors of an independent program, large tables and tracks, inputs of fuzz targets: an archive each, which is
# kept, and the files that tests read
PACKED := tests/golden tests/cases/large tests/fuzz/corpus
UNPACKED := $(PACKED:%=%/.unpacked)
$(UNPACKED): %/.unpacked: %.tar.xz tools/packed.sh | .deps ; @tools/packed.sh unpack $< $(@D)
golden-pack: PACK = tests/golden
cases-pack: PACK = tests/cases/large
fuzz-pack: PACK = tests/fuzz/corpus
golden-pack cases-pack fuzz-pack: ; @tools/packed.sh pack $(PACK) $(PACK).tar.xz
lint check check-more check-all check-one check-emulation check-gpu: $(UNPACKED)
# a backend with memory of its own, for tests of the host's side
$(patsubst %,$(B)/tests/%/test_device,model finetune probe) $(B)/tests/model/test_residual: tests/model/guarded_ops.c
# tests of every bit, once more with the C library's functions of a CPU without fused multiply-adds
SAME_BITS := $(patsubst %,$(B)/tests/%,base/test_draw sim/test_prior sim/test_law)
WITHOUT_FMA := TEST_FILTER=test_same_bits ORRERY_ISA=plain GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2_Usable,-FMA_Usable,-AVX2,-FMA
# preloaded by tests: disks that fail, memory that runs out, a clock that jumps ...
PRELOADED := $(patsubst %.c,$(B)/%.so,$(wildcard tests/kill/*.c))
$(PRELOADED): $(B)/%.so: %.c | .deps
	$(call link,CC,$(CC) -std=c17 -O1 $(WARN) -fno-builtin -MMD -MP -shared -fPIC,-ldl -lpthread -lm)
FUZZ ?= $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_CC = $(CC) $(ALL_CFLAGS) -D_DEFAULT_SOURCE -D_GNU_SOURCE
$(B)/tests/fuzz/replay: $(wildcard tests/fuzz/*.c) $(ALL_LIBS) | .deps
	$(call link,CC,$(FUZZ_CC) -DFUZZ_REPLAY -O1,$(probe_LIBS) $(LDLIBS))
$(B)/tests/fuzz/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/input.c $(ALL_LIBS) | .deps
	$(call link,CC,$(FUZZ_CC) -fsanitize=fuzzer,$(probe_LIBS) $(LDLIBS))
run-fuzz-%: $(B)/tests/fuzz/fuzz_% | tests/fuzz/corpus/.unpacked ; @tools/fuzz.sh '$(B)' $* $(or $(FUZZ_SECONDS),60)
include tests/cuda/cuda.mk
# What check leaves to check-more: scripts (MORE), and parts of scripts that ask whether it is `quick` (PARTS), that
# see again, in whole programs, what quicker tests see in parts. HACKING.md (What a check costs) has the rule and,
# for each, where check sees the same. check-all: all, whole, as one sum.
# (without the CUDA plugin, which takes minutes to compile and no test here uses: check-gpu and `make` make it)
SCRIPTS := $(wildcard tests/cli/test_*.sh tests/kill/test_*.sh) $(STUDY_SCRIPTS)
MORE := $(patsubst %,tests/cli/test_%.sh,cpus dist errors_in_x examples figures import install isa lab lint motion_cases \
          mpi mpi_stops orbit pictures planets progress runs smooth) \
        $(patsubst %,tests/kill/test_%.sh,nfs pairs time world) $(patsubst %,study/tests/test_%.sh,results verdict_runs)
# (the source of the Python package has no tests)
$(if $(wildcard tests/cli),$(if $(filter-out $(SCRIPTS),$(MORE)),$(error MORE in tests/tests.mk: no test $(filter-out $(SCRIPTS),$(MORE)))))
PARTS := $(filter-out $(MORE),$(shell grep -lE '^ *(el)?if quick;' $(SCRIPTS)))
# programs that search for many laws of one kind
MORE_PROGRAMS := $(patsubst %,$(B)/tests/%,laws/test_tracks $(addprefix symreg/test_,angles invariance recall structure sums symmetry))
PROGRAMS_OF_CHECK := $(call commands,$(filter-out $(MORE_PROGRAMS),$(TESTS) $(MORE_TESTS))) $(call commands,$(SAME_BITS),$(WITHOUT_FMA))
check: programs $(filter-out $(MORE_PROGRAMS),$(TESTS)) $(MORE_TESTS) $(PRELOADED)
check-all: programs $(TESTS) $(MORE_TESTS) $(PRELOADED)
check: ; $(call checks,,$(call commands,$(filter-out $(MORE) $(PARTS),$(SCRIPTS))) $(call commands,$(PARTS),QUICK=1) \
    $(PROGRAMS_OF_CHECK))
check-all: ; $(call checks,,$(call commands,$(SCRIPTS) $(MORE_PROGRAMS)) $(PROGRAMS_OF_CHECK))
# (test_isa.sh runs tests of the backends)
check-more: programs $(PRELOADED) $(filter $(B)/tests/kernels/%,$(TESTS)) $(MORE_PROGRAMS)
	$(call checks,more,$(call commands,$(MORE) $(PARTS) $(MORE_PROGRAMS)))
ONE_SCRIPT = $(or $(wildcard tests/$(T).sh),$(filter $(T:study/%=study/tests/%).sh,$(STUDY_SCRIPTS)))
ONE = $(or $(ONE_SCRIPT),$(T:%=$(B)/tests/%))
# (tests/cuda has rules of its own)
NO_ONE = $(if $(strip $(ONE_SCRIPT) $(filter cuda/%,$(T))$(filter $(ONE),$(TESTS) $(MORE_TESTS))\
    $(wildcard $(T:%=tests/%.c) $(T:%64=tests/%.c))),,$(T))
$(if $(filter check-one,$(MAKECMDGOALS)),$(if $(NO_ONE),$(error T: no test "$(NO_ONE)"; expected e.g. symreg/test_search \
    of tests/symreg/test_search.c, or cli/test_help of tests/cli/test_help.sh)))
check-one: $(if $(ONE_SCRIPT),programs $(PRELOADED) $(if $(filter cuda/%,$(T)),$(CUDA_SCRIPTS_NEED)),$(ONE))
	$(call lacks,$(if $(T),,which test? T=symreg/test_search))
	$(call checks,,$(call commands,$(ONE)))
unit = $(foreach f,$(or $1,$(FOLDERS)),$(filter $(B)/tests/$f/%,$(TESTS)))
check-unit: $(call unit,$(UNIT_FOLDERS)) ; $(call checks,unit,$(call commands,$^))
LONG_TESTS := $(filter-out %/test_nfs.sh,$(wildcard tests/kill/test_*.sh)) tests/cli/test_disk_full.sh \
              $(wildcard tests/long/test_*.sh) tests/cuda/test_mpi_gpu.sh
check-long: all $(PRELOADED) $(CUDA_SCRIPTS_NEED)
	$(MAKE) check-all check-emulation
	$(call checks,long,$(call commands,$(LONG_TESTS)),CHECK_LIMIT=7200 KILLS=100 PAIRS=all WORLD_SET= ALLOCS=all PICTURES=drawn)
	$(MAKE) world PRESET=quick RUN=$(B)/check-long/quick
check-python: programs $(UNPACKED)
	$(call checks,python,$(call commands,$(wildcard tests/python/test_*.sh)))
	@grep -h -e 'largest difference' -e '^skipped' $(B)/tests/logs-python/*.log
check-browser: all # of RUN, where that is on the command line
	@BIN='$(BIN)' OUT='$(B)/browser-shots' RUN=$(if $(filter command override,$(origin RUN)),$(call arg,RUN)) tests/browser/check_report.sh
reliability: all ; @tools/reliability.sh '$(B)/reliability' '$(or $(RELIABILITY),minutes)' $(STEPS)
# ---- in a build of its own, build-NAME: NAME_FLAGS of the compiler, NAME_ENV: environment, NAME_GOALS:
# what is made there, NAME_LACKS: what it cannot be done without (HACKING.md, Finding faults)
CLANG := $(or $(shell command -v clang-14 >/dev/null && echo clang-14),clang)
TSAN_CC ?= clang-14
ARCHER ?= $(firstword $(wildcard $(patsubst %/bin/clang,%,$(realpath $(shell command -v $(TSAN_CC))))/lib/libarcher.so))
SANITIZED := -fno-omit-frame-pointer -fno-sanitize-recover=all -fsanitize=address,undefined
asan_FLAGS      := -O1 -g $(SANITIZED)
asan_ENV        := CHECK_LIMIT=3600 PROGRAM_LIMIT=900 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
                   ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1
asan_GOALS      := check-all check-emulation
asan-unit_FLAGS := -O1 -g1 $(SANITIZED)
asan-unit_ENV   := $(asan_ENV)
asan-unit_GOALS := CC=$(CLANG) check-unit UNIT_FOLDERS='$(or $(ASAN_FOLDERS),base figures study)'
alloc_FLAGS     := -O1 -g -fsanitize=leak
alloc_ENV       := CHECK_LIMIT=14400 PROGRAM_LIMIT=600 ALLOCS='$(or $(ALLOCS),all)'
alloc_GOALS     := CC=gcc check-alloc-built
tsan_FLAGS      := -O1 -g -fno-omit-frame-pointer -fsanitize=thread
tsan_ENV         = CHECK_LIMIT=3600 PROGRAM_LIMIT=1800 OMP_TOOL_LIBRARIES=$(call arg,ARCHER) \
                   TSAN_OPTIONS='ignore_noninstrumented_modules=1:die_after_fork=0:exitcode=66'
tsan_GOALS      := check-watched MPI=0 HARDEN=0 CC='$(TSAN_CC)'
tsan_LACKS       = $(if $(ARCHER),,no $(TSAN_CC) with libarcher.so (Debian: clang-14, libclang-rt-14-dev, libomp-14-dev))
valgrind_FLAGS  := -O1 -g
valgrind_ENV    := CHECK_LIMIT=7200 PROGRAM_LIMIT=3600 WATCH=tools/valgrind.sh \
                   ORRERY_ISA=avx2 ONEDNN_MAX_CPU_ISA=AVX2 DNNL_MAX_CPU_ISA=AVX2
valgrind_GOALS  := check-watched MPI=0
valgrind_LACKS   = $(if $(shell command -v valgrind),,no valgrind on PATH)
coverage_FLAGS  := -O1 -g1 --coverage -fprofile-update=atomic
fuzz_FLAGS      := -O1 -g $(SANITIZED)$(comma)fuzzer-no-link
in_build = $($1_ENV) $(MAKE) CUDA=0 B=build-$1 BIN=build-$1/bin CFLAGS='$($1_FLAGS)'
check-tsan: check-tsan-library
check-tsan-library: ; @tools/tsan_library.sh
$(addprefix check-,asan asan-unit alloc tsan valgrind): check-%:
	$(call lacks,$($*_LACKS))
	@$(call in_build,$*) $($*_GOALS)
ALLOC_STEPS := orbits,pretrain,finetune symreg,report,cell,verdict,seeds,attention,evaluate,outputs,linear \
               rollout,intervene,length labels,extrapolate,adaptation,inductive
check-alloc-built: all $(PRELOADED)
	$(call checks,alloc,$(foreach s,$(ALLOC_STEPS),'ALLOCS_OF="$(subst $(comma), ,$s)" bash tests/kill/test_alloc.sh'))
	@grep -h -e ' places$$' $(B)/tests/logs-alloc/*.log | sort -u
check-watched: export WATCH_LOGS = $(abspath $(B)/findings)
check-watched: all $(call unit,$(WATCHED))
	@rm -rf '$(WATCH_LOGS)' && mkdir -p '$(WATCH_LOGS)'
	$(call checks,watched,'bash tests/long/smoke.sh' $(call commands,$(call unit,$(WATCHED)),$(WATCH)))
coverage:
	@rm -rf build-coverage/coverage && find build-coverage -name '*.gcda' -delete 2>/dev/null; true
	$(call in_build,coverage) $(or $(COVERAGE),check-unit)
	@tools/coverage.sh build-coverage
fuzz: ; +@$(call in_build,fuzz) CC=$(CLANG) -k $(FUZZ:%=run-fuzz-%)
fuzz-coverage: tests/fuzz/corpus/.unpacked
	@$(call in_build,coverage) build-coverage/tests/fuzz/replay
	@tools/fuzz_coverage.sh build-coverage tests/fuzz/corpus $(wildcard build-fuzz/fuzz)
