# tools.mk - dependencies, tests, lint, formatting, benchmarks. Included by the Makefile.

# ---- dependencies: .deps says they were all there; when one no longer is, it is made again

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
	@sed -n 's/^## //p' Makefile tools.mk cuda.mk mpi.mk

# nothing is compiled before the headers are there, also with -j
SOURCES := $(wildcard $(foreach d,$(FOLDERS) $(ROOMS),$d/*.c))
$(foreach b,$(B) $(B)/f64 $(ISA_SETS:%=$(B)/isa/%),$(SOURCES:%.c=$b/%.o)): | .deps

# ---- the losses of a training under way: in the terminal, or in a picture with PNG=file

## make watch RUN=dir [PNG=file]    losses of the training under way, in the terminal or a picture
PNG ?=
watch:
	@tools/watch.sh $(call arg,RUN) $(call arg,PNG)
.PHONY: watch

# ---- grids of experiments (grids/*.grid, tools/cells.sh)

## make sweep GRID=grids/NAME.grid    all cells of a grid, JOBS at a time (all cores), each resumed
## make corpus [CORPUS="python kjv"]  corpora/*.txt: real text to train on, from Debian's packages
## make cells GRID=grids/NAME.grid    prints them, a command a line, for job arrays or GNU parallel
##   RUNS=dir where their runs are (default runs): a cell's is RUNS/NAME/CELL
##   PART=I/N every N-th cell, from the I-th on, for N machines side by side
##   KEPT=dir leaves out cells whose results lie there (bench/results/verdict/cells)
GRID ?=
RUNS ?= runs
KEPT ?=
sweep: all
	@RUNS=$(call arg,RUNS) BIN='$(BIN)' JOBS=$(call arg,JOBS) KEPT=$(call arg,KEPT) exec tools/sweep.sh $(call arg,GRID)
## make verdict [VERDICT=short]       softmax, lssar, lssa, rw_softmax and untrained over 5 seeds, put
##                                    together into RUNS/verdict/verdict.{json,md}; short: 3 seeds of two;
##                                    and the loss of attentions by length on text
VERDICT ?= long
verdict: all
	@RUNS=$(call arg,RUNS) BIN='$(BIN)' JOBS=$(call arg,JOBS) exec tools/verdict.sh $(call arg,VERDICT)
CORPUS ?= python kjv
corpus:
	@tools/corpus.sh corpora $(CORPUS)
.PHONY: corpus
## make claims                        results of the grids that were run, and docs/claims.md from them
claims: all
	@RUNS=$(call arg,RUNS) BIN='$(BIN)' tools/claims.sh bench/results/verdict
.PHONY: verdict claims
cells:
	@RUNS=$(call arg,RUNS) BIN='$(BIN)' KEPT=$(call arg,KEPT) tools/cells.sh $(call arg,GRID)
.PHONY: sweep cells

# ---- tests: one cmocka program per module, golden vectors, and the command line from outside

TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/*/test_*.c))
# the same gradient checks in double precision, where differences are sharp
TESTS64 := $(patsubst %.c,$(B)/%64,$(wildcard tests/kernels/test_gradient.c \
                                              tests/kernels/test_loss.c \
                                              tests/model/test_gradient.c))
GOLDEN := $(patsubst tests/kernels/%.c,$(B)/tests/%,$(wildcard tests/kernels/golden_attention.c))
GOLDEN64 := $(GOLDEN:%=%64)
CLI_TESTS := $(wildcard tests/cli/test_*.sh tests/kill/test_*.sh)
# programs that know hashes of every bit run the test of these again with the C library's functions
# of a CPU without fused multiply-adds (names before glibc 2.33, and since): what calls these has
# other bits
WITHOUT_FMA := TEST_FILTER=test_same_bits ORRERY_ISA=plain GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2_Usable,-FMA_Usable,-AVX2,-FMA
SAME_BITS := $(B)/tests/base/test_draw $(B)/tests/sim/test_prior $(B)/tests/sim/test_law
# preloaded by tests (tests/kill/<name>.c): disks that fail, memory that runs out, a wall clock that
# jumps, a file system on a network, files that others replace
PRELOADED := $(patsubst tests/kill/%.c,$(B)/tests/%.so,$(wildcard tests/kill/*.c))
FAIL_WRITE := $(B)/tests/fail_write.so
FAIL_ALLOC := $(B)/tests/fail_alloc.so
JUMP_CLOCK := $(B)/tests/jump_clock.so
NFS_LIKE := $(B)/tests/nfs_like.so
SWAP_FILE := $(B)/tests/swap_file.so
# a libcuda.so.1 that is older than the plugin's runtime
OLD_DRIVER := $(B)/tests/old_driver/libcuda.so.1
# preloaded by the test that nothing calls what depends on the CPU
OTHER_LIBM := $(B)/tests/other_libm.so
$(TESTS) $(TESTS64) $(GOLDEN) $(GOLDEN64): | .deps

$(B)/tests/golden_attention: tests/kernels/golden_attention.c $(kernels_USES:%=$(B)/lib%.a)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests $< $(kernels_USES:%=$(B)/lib%.a) $(LDLIBS) -o $@
$(B)/tests/golden_attention64: tests/kernels/golden_attention.c $(kernels_USES:%=$(B)/lib%64.a)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -DK_DOUBLE -Itests $< $(kernels_USES:%=$(B)/lib%64.a) $(LDLIBS) -o $@

# a backend with memory of its own, for tests of the host's side
GUARDED := $(patsubst %,$(B)/tests/%/test_device,model finetune probe) $(B)/tests/model/test_residual
$(GUARDED): WITH = tests/model/guarded_ops.c
$(GUARDED): tests/model/guarded_ops.c tests/model/guarded_ops.h

$(PRELOADED): $(B)/tests/%.so: tests/kill/%.c tests/kill/preload.h
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -std=c17 -O1 $(WARN) -shared -fPIC $< -o $@ -ldl -lpthread

$(OLD_DRIVER): tests/cuda_host/old_driver.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -std=c17 -O1 $(WARN) -shared -fPIC $< -o $@

$(OTHER_LIBM): tests/other_libm.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -std=c17 -O1 -fno-builtin $(WARN) -shared -fPIC $< -o $@ -lm

# fuzz targets (tests/fuzz/targets.h): make check replays their corpora, make fuzz searches on
FUZZ := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
## make fuzz         searches for inputs that break the parsers, FUZZ_SECONDS=60 each; needs clang
##   FUZZ="npy csv" for some of them; each says how many inputs it ran and edges it reached
FUZZ_SECONDS ?= 60
FUZZ_LIBS = $(foreach f,verdict figures laws symreg probe finetune model sim kernels stage base,$(B)/lib$f.a)
FUZZ_CLANG := $(if $(shell command -v clang-14),clang-14,clang)
FUZZ_MAKE = $(MAKE) CUDA=0 CC=$(FUZZ_CLANG)
REPLAY := $(B)/tests/fuzz/replay
REPLAY_SRC := $(wildcard tests/fuzz/fuzz_*.c) tests/fuzz/input.c tests/fuzz/replay.c
$(REPLAY): | .deps
$(REPLAY): $(REPLAY_SRC) $(wildcard tests/fuzz/*.h) $(FUZZ_LIBS)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -D_DEFAULT_SOURCE -D_GNU_SOURCE -DFUZZ_REPLAY -O1 $(REPLAY_SRC) $(FUZZ_LIBS) $(probe_LIBS) $(LDLIBS) -o $@
$(B)/tests/fuzz/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/input.c $(wildcard tests/fuzz/*.h) $(FUZZ_LIBS)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -D_GNU_SOURCE -fsanitize=fuzzer $(filter %.c %.a,$^) $(probe_LIBS) $(LDLIBS) -o $@
run-fuzz-%: $(B)/tests/fuzz/fuzz_%
	@mkdir -p $(B)/fuzz/$*
	@tools/fuzz.sh '$(B)' $* $(FUZZ_SECONDS)
.PHONY: fuzz
fuzz:
	+@$(FUZZ_MAKE) -k $(FUZZ:%=run-fuzz-%) B=build-fuzz CFLAGS='-O1 -g -fno-omit-frame-pointer \
	    -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all'

## make fuzz-coverage    lines of each parser that the inputs of its target run, with those of make fuzz
.PHONY: fuzz-coverage
fuzz-coverage:
	@$(MAKE) CUDA=0 B=build-coverage CFLAGS='$(COVERAGE_CFLAGS)' build-coverage/tests/fuzz/replay
	@tools/fuzz_coverage.sh build-coverage tests/fuzz/corpus $(wildcard build-fuzz/fuzz)

# Run when no other test is: those that send keys and signals at moments that another test would
# delay, that measure time (GRACE of watch.sh, CHECK_LIMIT of check.sh), or kill or stop after
# a share of the time that the same work took before.
ALONE := $(addprefix tests/,long/test_limits.sh cli/test_check.sh cli/test_signals.sh cli/test_symreg_live.sh \
             cli/test_watch.sh cli/test_mpi.sh kill/test_kill.sh \
             kill/test_time.sh kill/test_world.sh)
CHECK_SH = BIN='$(BIN)' FAIL_WRITE='$(FAIL_WRITE)' FAIL_ALLOC='$(FAIL_ALLOC)' OTHER_LIBM='$(OTHER_LIBM)' \
           JUMP_CLOCK='$(JUMP_CLOCK)' NFS_LIKE='$(NFS_LIKE)' SWAP='$(SWAP_FILE)' OLD_DRIVER='$(OLD_DRIVER)' EMULATED='$(EMULATED_PLUGIN)' ALONE='$(ALONE)' tools/check.sh

## make check        the tests, on all cores (JOBS=n); output and seconds of each: build/tests/logs
check: all $(TESTS) $(TESTS64) $(GOLDEN) $(GOLDEN64) $(REPLAY) $(PRELOADED) \
       $(OLD_DRIVER) $(OTHER_LIBM) $(EMULATED_PLUGIN)
	@$(CHECK_SH) $(B)/tests/logs $(TESTS) $(TESTS64) \
	    '$(REPLAY) tests/fuzz/corpus' \
	    $(foreach g,$(GOLDEN) $(GOLDEN64),'$(g) tests/golden') \
	    $(SAME_BITS:%='$(WITHOUT_FMA) %') $(CLI_TESTS:%='bash %')

## make check-one T=symreg/test_search    one test, also of the command line: T=cli/test_help
# (with a suffix as the files in build/tests have it: T=kernels/test_loss64, T=fuzz/replay)
T ?=
ONE = $(if $(wildcard tests/$(T).sh),bash tests/$(T).sh,$(B)/tests/$(T)$(if $(findstring \
    fuzz/replay,$(T)), tests/fuzz/corpus)$(if $(findstring golden,$(T)), tests/golden))
check-one: $(if $(wildcard tests/$(T).sh),all $(PRELOADED) $(OLD_DRIVER) $(OTHER_LIBM) $(EMULATED_PLUGIN),$(T:%=$(B)/tests/%))
	@[ -n '$(T)' ] || { echo "check-one: error: which test? T=symreg/test_search" >&2; exit 1; }
	@$(CHECK_SH) $(B)/tests/logs '$(ONE)'
.PHONY: check-one

## make check-alloc  memory that runs out at every place of every program, and what is leaked then
##                   (an hour or two; ALLOCS=20: so many places of each step)
# by gcc, whose leak sanitizer is a library that lets another one allocate before it; stages and the
# other programs side by side
ALLOCS ?= all
ALLOC_STEPS := orbits,pretrain,finetune symreg,report,cell,verdict,seeds,attention,evaluate,outputs,linear \
               rollout,intervene,length labels,extrapolate,adaptation,inductive
check-alloc:
	@CHECK_LIMIT=14400 PROGRAM_LIMIT=600 $(MAKE) check-alloc-built CUDA=0 CC=gcc B=build-leak BIN=build-leak/bin CFLAGS='-O1 -g -fsanitize=leak'
check-alloc-built: all $(FAIL_ALLOC)
	@ALLOCS='$(ALLOCS)' $(CHECK_SH) $(B)/tests/logs-alloc \
	    $(foreach s,$(ALLOC_STEPS),'ALLOCS_OF="$(subst $(comma), ,$(s))" bash tests/kill/test_alloc.sh')
	@grep -h -e ' places$$' $(B)/tests/logs-alloc/*.log | sort -u
.PHONY: check-alloc-built
.PHONY: check-alloc

## make reliability  the figures of docs/reliability.md: samples of minutes (RELIABILITY=hours: whole),
##                   STEPS="fuzz world" for some of them; what was measured at a commit is kept
RELIABILITY ?= minutes
STEPS ?=
reliability: all
	@tools/reliability.sh '$(B)/reliability' '$(RELIABILITY)' $(STEPS)
.PHONY: reliability

## make check-unit   the tests of functions alone, without those of programs and golden vectors
UNIT_FOLDERS ?= $(FOLDERS)
UNIT = $(foreach f,$(UNIT_FOLDERS),$(filter $(B)/tests/$f/%,$(TESTS)))
check-unit: $(UNIT)
	@$(CHECK_SH) $(B)/tests/logs-unit $(UNIT)
.PHONY: check-unit

## make check-long   hours: also the kernels of a GPU by emulation, every kill, full disk and failed
##                   allocation, text models, the quick preset
# what takes longer than a quarter of an hour: the same battery, 100 kills and every write instead
# of samples of them, text models, CUDA's kernels on the emulated device, also as nvcc compiled them
# where nvcc is, and the quick preset end to end
check-long: check check-emulation
	@CHECK_LIMIT=7200 KILLS=100 PAIRS=all WORLD_SET= ALLOCS=all $(CHECK_SH) $(B)/tests/logs-long \
	    'bash tests/kill/test_kill.sh' 'bash tests/cli/test_disk_full.sh' 'bash tests/kill/test_alloc.sh' \
	    'bash tests/kill/test_world.sh' 'bash tests/kill/test_time.sh' 'bash tests/kill/test_pairs.sh' \
	    $(patsubst %,'bash %',$(wildcard tests/long/test_*.sh))
	$(if $(filter 1,$(CUDA)),$(MAKE) check-ptx)
	$(MAKE) world PRESET=quick RUN=$(B)/check-long/quick

## make check-python checkpoints in Python
# checkpoints in Python: needs torch, safetensors and numpy, and is skipped without
check-python: all
	@BIN='$(BIN)' tools/check.sh $(B)/tests/logs-python 'bash tests/python/test_pytorch.sh'
	@grep -h -e 'largest difference' -e '^skipped' $(B)/tests/logs-python/*.log

## make check-browser [RUN=dir]    report.html in headless Chromium: layout, WCAG AA, keyboard
# needs chromium, and playwright and axe-core-python in PYTHON; says so where they are not there.
# RUN on the command line is looked at as it is, otherwise a smoke run is made
PYTHON ?= python3
check-browser: all
	@BIN='$(BIN)' PYTHON='$(PYTHON)' OUT='$(B)/browser-shots' \
	    RUN=$(if $(filter command,$(origin RUN)),$(call arg,RUN)) tests/browser/check_report.sh
.PHONY: check-browser

## make check-asan, check-asan-unit    check and check-unit under sanitizers, in builds of their own
# the same tests under the address, leak and undefined-behaviour sanitizers, in their own build
# (without the plugin: its kernels are in the emulation)
check-asan:
	@CHECK_LIMIT=3600 PROGRAM_LIMIT=900 ASAN_OPTIONS='detect_leaks=1:strict_string_checks=1' \
	UBSAN_OPTIONS='print_stacktrace=1:halt_on_error=1' \
	$(MAKE) check check-emulation CUDA=0 B=build-asan BIN=build-asan/bin CFLAGS='-O1 -g \
	    -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all'

# by clang (14 where it is): another compiler, and its check of reads of locals after their function has returned;
# of the folders whose tests fit into minutes (ASAN_FOLDERS='sim symreg ...' for others)
ASAN_FOLDERS ?= base figures
check-asan-unit:
	@ASAN_OPTIONS='detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1' \
	UBSAN_OPTIONS='print_stacktrace=1:halt_on_error=1' \
	$(MAKE) check-unit UNIT_FOLDERS='$(ASAN_FOLDERS)' CUDA=0 CC=$(if $(shell command -v clang-14),clang-14,clang) \
	    B=build-asan-unit BIN=build-asan-unit/bin CFLAGS='-O1 -g1 \
	    -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all'

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
	$(MAKE) check-watched CUDA=0 MPI=0 HARDEN=0 CC='$(TSAN_CC)' B=build-tsan BIN=build-tsan/bin \
	    CFLAGS='-O1 -g -fno-omit-frame-pointer -fsanitize=thread'

## make check-valgrind    the same under valgrind: reads of memory that was not written, leaks; an hour
# valgrind has no AVX-512: neither do our loops then, nor oneDNN's
check-valgrind:
	@command -v valgrind >/dev/null || { echo "check-valgrind: error: no valgrind on PATH" >&2; exit 1; }
	@CHECK_LIMIT=7200 PROGRAM_LIMIT=3600 ORRERY_ISA=avx2 ONEDNN_MAX_CPU_ISA=AVX2 DNNL_MAX_CPU_ISA=AVX2 \
	WATCH_LOGS='$(CURDIR)/build-valgrind/findings' WATCH='tools/valgrind.sh' \
	$(MAKE) check-watched CUDA=0 MPI=0 B=build-valgrind BIN=build-valgrind/bin CFLAGS='-O1 -g'

# tests of functions (WATCHED='base sim ...': of these folders), and every program
WATCHED ?= $(FOLDERS)
WATCHED_UNIT = $(foreach f,$(WATCHED),$(filter $(B)/tests/$f/%,$(TESTS)))
check-watched: all $(WATCHED_UNIT)
	@rm -rf '$(WATCH_LOGS)' && mkdir -p '$(WATCH_LOGS)'
	@$(CHECK_SH) $(B)/tests/logs-watched 'bash tests/long/smoke.sh' $(WATCHED_UNIT:%='$(WATCH) %')
.PHONY: check-tsan check-valgrind check-watched

## make coverage     lines that check-unit covers, by folder (COVERAGE=check: that all tests cover)
COVERAGE ?= check-unit
COVERAGE_CFLAGS := -O1 -g1 --coverage -fprofile-update=atomic
coverage:
	@rm -rf build-coverage/coverage && find build-coverage -name '*.gcda' -delete 2>/dev/null; true
	$(MAKE) $(COVERAGE) CUDA=0 B=build-coverage BIN=build-coverage/bin \
	    CFLAGS='$(COVERAGE_CFLAGS)'
	@tools/coverage.sh build-coverage

## make compile_commands    compile_commands.json, for editors and clang tools
compile_commands:
	@MAKEFLAGS= $(MAKE) -Bnk V=1 CUDA=0 CC='$(CC)' all $(TESTS) $(BENCHES:%=$(B)/bench/bench_%) 2>/dev/null | \
	    tools/compile_commands.sh >compile_commands.json
	@echo "compile_commands.json: $$(grep -c '"file"' compile_commands.json) files"
.PHONY: check-asan-unit coverage compile_commands

# ---- lint and formatting

## make lint, format what compilers do not check; clang-format on every source
lint: .deps $(FOLDERS:%=$(B)/lib%.a) $(PROGRAMS:%=$(BIN)/%)
	@tools/lint.sh $(B)
format:
	clang-format -i $(wildcard $(foreach d,$(FOLDERS) $(ROOMS) tests tests/* bench,$d/*.[ch] \
	    $d/*.cu $d/*.cuh $d/*.cc))

# ---- benchmarks: bench/bench_<name>.c, a table on the terminal and bench/results/<name>.json

## make bench        lists the benchmarks (bench/results/README.md)
BENCHES := $(patsubst bench/bench_%.c,%,$(wildcard bench/bench_*.c))
bench:
	@echo "benchmarks:$(BENCHES:%= make bench-%) make bench-gpu"
$(BENCHES:%=bench-%): bench-%: all $(B)/bench/bench_%
	@mkdir -p bench/results
	$(B)/bench/bench_$* $(BENCH_ARGS) $(if $(TABLE),--table $(TABLE)) \
	    $(if $(FULL),$(if $(filter symreg,$*),--full))
# (a plugin with a backend may ask for any symbol of kernels and base)
$(B)/bench/%: bench/%.c $(FOLDERS:%=$(B)/lib%.a)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -rdynamic $< $(foreach f,figures laws symreg probe finetune model sim,\
	    $(B)/lib$(f).a) -Wl,--whole-archive $(B)/libkernels.a $(B)/libbase.a \
	    -Wl,--no-whole-archive $(probe_LIBS) $(LDLIBS) -o $@
.PHONY: $(BENCHES:%=bench-%) bench-symreg-speed
bench-symreg-speed: bench-symreg_speed
