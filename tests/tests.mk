# tests.mk - the tests that need no GPU: one cmocka program per module, golden vectors, the command
# line from outside; and the same under sanitizers, valgrind and a fuzzer.

# $(call commands,TESTS,ENVIRONMENT): each as one word for tools/check.sh
commands = $(foreach t,$1,'$(strip $2 $(if $(filter %.sh,$t),bash) $t $(if $(findstring /golden_,$t),tests/golden)\
               $(if $(filter %/replay,$t),tests/fuzz/corpus))')

# tests/<folder>/*.c may use what the folder may use. $1: folder, $2, $3: patterns of source and
# program, $4: flags, $5: what it is linked with, $6: libraries
define test_rule
$(B)/tests/$1/$3: tests/$1/$2.c $5 | .deps
	$$(call link,CC,$$(CC) $$(ALL_CFLAGS) -Itests -I$1 $4,-lcmocka $6 $$($1_LIBS) $$(LDLIBS))
endef
$(foreach f,$(FOLDERS),$(eval $(call test_rule,$f,%,%,,$(call libs,$($f_USES)))))
$(foreach f,$(FOLDERS),$(eval $(call test_rule,$f,%,%64,-DK_DOUBLE,$($f_USES:%=$(B)/lib%64.a))))
TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/*/test_*.c))
# the same gradient checks in double precision, where differences are sharp
TESTS64 := $(patsubst %,$(B)/tests/%64,kernels/test_gradient kernels/test_loss model/test_gradient)
GOLDEN := $(B)/tests/kernels/golden_attention $(B)/tests/kernels/golden_attention64
# a backend with memory of its own, for tests of the host's side
$(patsubst %,$(B)/tests/%/test_device,model finetune probe) $(B)/tests/model/test_residual: tests/model/guarded_ops.c
# programs that know hashes of every bit run the test of these again with the C library's functions
# of a CPU without fused multiply-adds (names before glibc 2.33, and since): what calls these has
# other bits
WITHOUT_FMA := TEST_FILTER=test_same_bits ORRERY_ISA=plain GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2_Usable,-FMA_Usable,-AVX2,-FMA
SAME_BITS := $(patsubst %,$(B)/tests/%,base/test_draw sim/test_prior sim/test_law)
# preloaded by tests (tests/kill/<name>.c): disks that fail, memory that runs out, a wall clock that
# jumps, a file system on a network, files that others replace, another libm
PRELOADED := $(patsubst %.c,$(B)/%.so,$(wildcard tests/kill/*.c))
$(PRELOADED): $(B)/%.so: %.c | .deps
	$(call link,CC,$(CC) -std=c17 -O1 $(WARN) -fno-builtin -MMD -MP -shared -fPIC,-ldl -lpthread -lm)

# fuzz targets (tests/fuzz/targets.h), replayed on their corpora
REPLAY := $(B)/tests/fuzz/replay
FUZZ_FLAGS := -D_DEFAULT_SOURCE -D_GNU_SOURCE
$(REPLAY): $(wildcard tests/fuzz/*.c) $(ALL_LIBS) | .deps
	$(call link,CC,$(CC) $(ALL_CFLAGS) $(FUZZ_FLAGS) -DFUZZ_REPLAY -O1,$(probe_LIBS) $(LDLIBS))

# Run when no other test is: those that send keys and signals at moments that another test would
# delay, that measure time (GRACE of watch.sh, CHECK_LIMIT of check.sh), or kill or stop after
# a share of the time that the same work took before.
ALONE := $(addprefix tests/,long/test_limits.sh cli/test_check.sh cli/test_signals.sh cli/test_symreg_live.sh \
             cli/test_watch.sh cli/test_mpi.sh kill/test_kill.sh kill/test_time.sh kill/test_world.sh)
CHECK_SH = BIN='$(BIN)' BUILT='$(B)' ALONE='$(ALONE)' tools/check.sh

include tests/cuda/cuda.mk

SCRIPTS := $(wildcard tests/cli/test_*.sh tests/kill/test_*.sh)
## make check        the tests, on all cores (JOBS=n); output and seconds of each: build/tests/logs
check: all $(TESTS) $(TESTS64) $(GOLDEN) $(REPLAY) $(PRELOADED)
	@$(CHECK_SH) $(B)/tests/logs $(call commands,$(TESTS) $(TESTS64) $(REPLAY) $(GOLDEN)) \
	    $(call commands,$(SAME_BITS),$(WITHOUT_FMA)) $(call commands,$(SCRIPTS))
## make check-one T=symreg/test_search    one test, also of the command line: T=cli/test_help
# (with a suffix as the files in build/tests have it: T=kernels/test_loss64, T=fuzz/replay)
ONE = $(or $(wildcard tests/$(T).sh),$(B)/tests/$(T))
check-one: $(if $(T),$(if $(wildcard tests/$(T).sh),all $(PRELOADED) $(if $(filter cuda/%,$(T)),$(CUDA_SCRIPTS_NEED)),$(ONE)))
	@[ -n '$(T)' ] || { echo "check-one: error: which test? T=symreg/test_search" >&2; exit 1; }
	@$(CHECK_SH) $(B)/tests/logs $(call commands,$(ONE))
## make check-unit   the tests of functions alone, without those of programs and golden vectors
unit = $(foreach f,$1,$(filter $(B)/tests/$f/%,$(TESTS)))
UNIT = $(call unit,$(or $(UNIT_FOLDERS),$(FOLDERS)))
check-unit: $(UNIT)
	@$(CHECK_SH) $(B)/tests/logs-unit $(call commands,$(UNIT))
## make check-long   hours: also the kernels of a GPU by emulation, every kill, full disk and failed
##                   allocation, text models, the quick preset
check-long: all $(PRELOADED) $(CUDA_SCRIPTS_NEED)
	$(MAKE) check
	$(MAKE) check-emulation
	@CHECK_LIMIT=7200 KILLS=100 PAIRS=all WORLD_SET= ALLOCS=all $(CHECK_SH) $(B)/tests/logs-long \
	    $(call commands,$(filter-out %/test_nfs.sh,$(wildcard tests/kill/test_*.sh)) tests/cli/test_disk_full.sh \
	        $(wildcard tests/long/test_*.sh) tests/cuda/test_mpi_gpu.sh)
	$(if $(filter 1,$(CUDA)),$(MAKE) check-ptx)
	$(MAKE) world PRESET=quick RUN=$(B)/check-long/quick
## make check-python checkpoints in Python: needs torch, safetensors and numpy, and is skipped without
check-python: all
	@$(CHECK_SH) $(B)/tests/logs-python $(call commands,tests/python/test_pytorch.sh)
	@grep -h -e 'largest difference' -e '^skipped' $(B)/tests/logs-python/*.log
## make check-browser [RUN=dir]    report.html in headless Chromium: layout, WCAG AA, keyboard
# needs chromium, and playwright and axe-core-python in PYTHON; says so where they are not there.
# RUN on the command line is looked at as it is, otherwise a smoke run is made
check-browser: all
	@BIN='$(BIN)' PYTHON='$(or $(PYTHON),python3)' OUT='$(B)/browser-shots' \
	    RUN=$(if $(filter command,$(origin RUN)),$(call arg,RUN)) tests/browser/check_report.sh

# ---- rarely: each in a build of its own

CLANG := $(or $(shell command -v clang-14 >/dev/null && echo clang-14),clang)
# $(call in_build,NAME,FLAGS): make, for folders and flags of that build
in_build = $(MAKE) CUDA=0 B=build-$1 BIN=build-$1/bin CFLAGS='$2'
SANITIZED := -fno-omit-frame-pointer -fno-sanitize-recover=all -fsanitize=address,undefined
ASAN_ENV := ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1 \
            UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

## make check-asan, check-asan-unit    check and check-unit under sanitizers, in builds of their own
# the same tests under the address, leak and undefined-behaviour sanitizers (without the plugin: its
# kernels are in the emulation); -unit by clang (14 where it is): another compiler, and its check of
# reads of locals after their function has returned; of the folders whose tests fit into minutes
# (ASAN_FOLDERS='sim symreg ...' for others)
check-asan:
	@for goal in check check-emulation; do CHECK_LIMIT=3600 PROGRAM_LIMIT=900 $(ASAN_ENV) \
	    $(call in_build,asan,-O1 -g $(SANITIZED)) $$goal || exit; done
check-asan-unit:
	@$(ASAN_ENV) $(call in_build,asan-unit,-O1 -g1 $(SANITIZED)) CC=$(CLANG) check-unit \
	    UNIT_FOLDERS='$(or $(ASAN_FOLDERS),base figures)'
## make check-alloc  memory that runs out at every place of every program, and what is leaked then
##                   (an hour or two; ALLOCS=20: so many places of each step)
# by gcc, whose leak sanitizer is a library that lets another one allocate before it; stages and the
# other programs side by side
ALLOC_STEPS := orbits,pretrain,finetune symreg,report,cell,verdict,seeds,attention,evaluate,outputs,linear \
               rollout,intervene,length labels,extrapolate,adaptation,inductive
check-alloc:
	@CHECK_LIMIT=14400 PROGRAM_LIMIT=600 $(call in_build,leak,-O1 -g -fsanitize=leak) CC=gcc check-alloc-built
check-alloc-built: all $(PRELOADED)
	@ALLOCS='$(or $(ALLOCS),all)' $(CHECK_SH) $(B)/tests/logs-alloc \
	    $(foreach s,$(ALLOC_STEPS),'ALLOCS_OF="$(subst $(comma), ,$s)" bash tests/kill/test_alloc.sh')
	@grep -h -e ' places$$' $(B)/tests/logs-alloc/*.log | sort -u
## make reliability  the figures of docs/reliability.md: samples of minutes (RELIABILITY=hours: whole),
##                   STEPS="fuzz world" for some of them; what was measured at a commit is kept
reliability: all
	@tools/reliability.sh '$(B)/reliability' '$(or $(RELIABILITY),minutes)' $(STEPS)
## make check-tsan   tests of functions and every program under the thread sanitizer, half an hour
# by clang with LLVM's OpenMP, which tells the sanitizer by its tool (archer) which threads wait for
# which. What is not instrumented (oneDNN, GSL, the C library) is not looked into; nothing of ours
# is left out
TSAN_CC ?= clang-14
ARCHER ?= $(firstword $(wildcard $(patsubst %/bin/clang,%,$(realpath $(shell command -v $(TSAN_CC))))/lib/libarcher.so))
check-tsan:
	@[ -n '$(ARCHER)' ] || { echo "check-tsan: error: no $(TSAN_CC) with libarcher.so (Debian: clang-14," \
	    "libclang-rt-14-dev, libomp-14-dev); TSAN_CC=clang ARCHER=path" >&2; exit 1; }
	@CHECK_LIMIT=3600 PROGRAM_LIMIT=1800 OMP_TOOL_LIBRARIES='$(ARCHER)' WATCH_LOGS='$(CURDIR)/build-tsan/findings' \
	    TSAN_OPTIONS='ignore_noninstrumented_modules=1:die_after_fork=0:exitcode=66' \
	    $(call in_build,tsan,-O1 -g -fno-omit-frame-pointer -fsanitize=thread) check-watched MPI=0 HARDEN=0 CC='$(TSAN_CC)'
## make check-valgrind    the same under valgrind: reads of memory that was not written, leaks; an hour
# valgrind has no AVX-512: neither do our loops then, nor oneDNN's
check-valgrind:
	@command -v valgrind >/dev/null || { echo "check-valgrind: error: no valgrind on PATH" >&2; exit 1; }
	@CHECK_LIMIT=7200 PROGRAM_LIMIT=3600 ORRERY_ISA=avx2 ONEDNN_MAX_CPU_ISA=AVX2 DNNL_MAX_CPU_ISA=AVX2 \
	    WATCH_LOGS='$(CURDIR)/build-valgrind/findings' WATCH='tools/valgrind.sh' \
	    $(call in_build,valgrind,-O1 -g) check-watched MPI=0
# tests of functions (WATCHED='base sim ...': of these folders), and every program
WATCHED_UNIT = $(call unit,$(or $(WATCHED),$(FOLDERS)))
check-watched: all $(WATCHED_UNIT)
	@rm -rf '$(WATCH_LOGS)' && mkdir -p '$(WATCH_LOGS)'
	@$(CHECK_SH) $(B)/tests/logs-watched 'bash tests/long/smoke.sh' $(call commands,$(WATCHED_UNIT),$(WATCH))
## make coverage     lines that check-unit covers, by folder (COVERAGE=check: that all tests cover)
COVERAGE_CFLAGS := -O1 -g1 --coverage -fprofile-update=atomic
coverage:
	@rm -rf build-coverage/coverage && find build-coverage -name '*.gcda' -delete 2>/dev/null; true
	$(call in_build,coverage,$(COVERAGE_CFLAGS)) $(or $(COVERAGE),check-unit)
	@tools/coverage.sh build-coverage
## make fuzz         searches for inputs that break the parsers, FUZZ_SECONDS=60 each; needs clang
##   FUZZ="npy csv" for some of them; each says how many inputs it ran and edges it reached
FUZZ ?= $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
$(B)/tests/fuzz/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/input.c $(ALL_LIBS) | .deps
	$(call link,CC,$(CC) $(ALL_CFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer,$(probe_LIBS) $(LDLIBS))
run-fuzz-%: $(B)/tests/fuzz/fuzz_%
	@mkdir -p $(B)/fuzz/$*
	@tools/fuzz.sh '$(B)' $* $(or $(FUZZ_SECONDS),60)
fuzz:
	+@$(call in_build,fuzz,-O1 -g $(SANITIZED)$(comma)fuzzer-no-link) CC=$(CLANG) -k $(FUZZ:%=run-fuzz-%)
## make fuzz-coverage    lines of each parser that the inputs of its target run, with those of make fuzz
fuzz-coverage:
	@$(call in_build,coverage,$(COVERAGE_CFLAGS)) build-coverage/tests/fuzz/replay
	@tools/fuzz_coverage.sh build-coverage tests/fuzz/corpus $(wildcard build-fuzz/fuzz)
.PHONY: check check-one check-unit check-long check-python check-browser check-asan check-asan-unit check-alloc \
        check-alloc-built reliability check-tsan check-valgrind check-watched coverage fuzz fuzz-coverage
