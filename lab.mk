# lab.mk - the orbit lab (docs/lab.md): the C code as WebAssembly in one page. It takes clang, wasm-ld and the C library of
# WASI (tools/deps.sh --lab); without them `make lab` says so, and everything else works.
WASM_CC   ?= clang
WASM_ROOT ?= /usr
LAB_RUN   ?= $(or $(wildcard docs/lab.html),none)
WASM      := $(B)/lab
# the search for formulas and what it calls; what has no sense in a page stands in lab/none.c and lab/gsl.c
WASM_SRC := $(filter-out base/draw_loops.c $(addprefix base/,foreign.c gnuplot.c input.c lock.c map.c npy.c picture.c safetensors.c signals.c terminal.c) symreg/value/vec_loops.c, \
    $(wildcard lab/*.c base/*.c formula/*.c $(foreach s,value fit select seed evolve layout solve,symreg/$s/*.c)) \
    $(addprefix stage/,force_laws.c help.c settings.c settings_check.c settings_matter.c settings_near.c settings_table.c) \
    $(addprefix api/,answer.c call.c columns.c compute.c formula.c model.c options.c predict.c regress.c table.c) \
    $(addprefix kernels/,precision.c host_memory.c variants.c ref/*.c) finetune/transform.c \
    $(addprefix model/,activations.c batch.c checkpoint.c config.c decode.c forward.c head.c layers.c learning_rate.c memory.c muon.c \
    optimizer.c override.c params.c replay.c residual.c evaluate/next_state.c evaluate/rollouts.c))
WASM_OBJ := $(patsubst %.c,$(WASM)/%.o,$(wildcard $(WASM_SRC)))
# compiled for speed: loops over rows, and what calls them for each formula; the rest for size
WASM_FAST := lab/% kernels/ref/% symreg/value/% symreg/fit/% symreg/seed/% symreg/evolve/% formula/ops% base/draw% base/vec%
WASM_CFLAGS := --target=wasm32-wasi -msimd128 -std=c17 -D_POSIX_C_SOURCE=200809L -DORR_LIBRARY -DXXH_INLINE_ALL \
    -DORR_PREFIX='"/"' -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_GETPID -D_WASI_EMULATED_MMAN -ffp-contract=off -fno-math-errno -fno-trapping-math \
    -fopenmp-simd -DVM_FMA=lab_fma -Daccess=lab_access -include lab/port/fma.h -ffunction-sections -fdata-sections -nostdlibinc -Wno-implicit-function-declaration -I. -isystem lab/port -isystem $(WASM)/include \
    -isystem $(WASM_ROOT)/include/wasm32-wasi -MMD -MP '-ffile-prefix-map=$(CURDIR)=.'
WASM_LDFLAGS := --target=wasm32-wasi -nostdlib -Wl,-O2,--no-entry,--gc-sections,-z,stack-size=4194304,--strip-all
WASM_BUILTINS = $(firstword $(wildcard $(dir $(shell $(WASM_CC) -print-resource-dir 2>/dev/null))*/lib/wasi/libclang_rt.builtins-wasm32.a))
WASM_LIB := $(WASM_ROOT)/lib/wasm32-wasi
# lab-docs: the page that the source ships, with the networks that it has
lab-docs: $(WASM)/lab.html ; @cmp -s $< docs/lab.html || cp $< docs/lab.html
lab: $(WASM)/lab.html
	@printf '  %s: %s bytes\n' $< "$$(wc -c <$<)"
$(WASM)/pack: lab/page/pack.c $(call libs,base) | .deps
	$(call link,CC,$(CC) $(ALL_CFLAGS),$(base_LIBS) $(LDLIBS))
$(WASM)/module.txt: $(WASM)/orrery.wasm $(WASM)/pack
	$(call run,WEB,$(WASM)/pack $< $@)
$(WASM)/lab.html: lab/page/make.sh $(WASM)/module.txt $(wildcard lab/page/*) $(filter-out none,$(LAB_RUN))
	$(call run,WEB,lab/page/make.sh $(WASM)/module.txt $(LAB_RUN) $@)
$(WASM)/orrery.wasm: $(WASM_OBJ)
	$(call run,WEB,$(WASM_CC) $(WASM_LDFLAGS) $(LAB_CALLS:%=-Wl$(comma)--export=%) $(WASM_LIB)/crt1-reactor.o $^ -L$(WASM_LIB) \
	    -lc-printscan-long-double -lc -lwasi-emulated-signal -lwasi-emulated-getpid $(WASM_BUILTINS) -o $@)
# what the page calls: the functions of lab/lab.h
LAB_CALLS = $(filter-out lab_progress,$(shell grep -oP 'lab_\w+(?=\x28)' lab/lab.h | sort -u)) _initialize
# headers of libraries that stand beside those of the machine's own C library
$(WASM)/include: | .deps
	@$(WASM_CC) --target=wasm32-wasi -isystem $(WASM_ROOT)/include/wasm32-wasi -E -include stdlib.h -x c /dev/null >/dev/null 2>&1 && \
	    test -n "$(WASM_BUILTINS)" && command -v wasm-ld >/dev/null || { echo 'lab: error: expected clang, wasm-ld and WASI'"'s"' C library,' \
	    'found not all of them; tools/deps.sh --lab installs them' >&2; exit 1; }
	@mkdir -p $@ && for name in gsl cjson xxhash.h zlib.h zconf.h; do ln -sfn "$$(for f in /usr/local/include /usr/include; do \
	    [ ! -e $$f/$$name ] || { echo $$f/$$name; break; }; done)" $@/$$name; done
$(WASM)/%.o: %.c | $(WASM)/include
	$(call run,WEB,$(WASM_CC) $(if $(filter $(WASM_FAST),$<),-O3,-Os) $(WASM_CFLAGS) -c $< -o $@)
.PHONY: lab lab-docs
