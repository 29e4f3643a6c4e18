# cuda.mk - the CUDA backend: the plugin, its tests without a GPU, and with one. Included by the
# Makefile.
#
#   make CUDA=0           without the plugin, and without looking for nvcc (default: 1 with nvcc)
## make check-emulation  the tests of CUDA kernels without a GPU, compiled for the host
## make check-gpu    the tests of operations and models on a GPU
## make check-gpu-sanitize    the same under compute-sanitizer, at the smallest shapes
## make bench-gpu    whole steps on a GPU, beside PyTorch where it is installed: gpu.json
## make bench-gpu-attention    attention alone, beside PyTorch's and the formulas: gpu_attention.json

NVCC ?= nvcc
ifeq ($(origin CUDA),undefined)
CUDA := $(if $(shell command -v $(NVCC) 2>/dev/null),1,0)
endif

# ---- the plugin: opened by --device cuda (kernels/plugin.c); its symbols of base and kernels are
# the program's

CUDA_SRC := $(wildcard kernels/cuda/*.cu)
CUDA_ARCH ?= -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 \
             -gencode arch=compute_90,code=compute_90
# what is written for the tensor cores of one kind of GPU is compiled for that alone
HOPPER_ARCH := -gencode arch=compute_90a,code=sm_90a
HOPPER := hopper_forward hopper_backward
NVCCFLAGS ?= -O3
ALL_NVCCFLAGS = -std=c++17 --fmad=true $(NVCCFLAGS) $(if $(WERROR),-Werror all-warnings) -MMD -MP \
                -Xcompiler -fPIC,-Wall,-Wextra -I.
PLUGIN := $(BIN)/orrery_cuda.so
# where nvcc's libraries are, for machines on which the loader does not know
CUDA_LIB = $(patsubst %/bin/,%/lib64,$(dir $(realpath $(shell command -v $(NVCC)))))
ifeq ($(CUDA),1)
all: $(PLUGIN)
$(PLUGIN): $(CUDA_SRC:kernels/cuda/%.cu=$(B)/cuda/%.o)
	@mkdir -p $(@D)
	$(call say,NV,$@)
	$(Q)$(NVCC) -shared -cudart static $^ -L$(CUDA_LIB) -Xlinker -rpath,$(CUDA_LIB) -lcublasLt -o $@
else
$(PLUGIN):
	@echo "make: error: the CUDA backend needs nvcc on PATH, and CUDA=1" >&2; exit 1
endif
$(B)/cuda/%.o: kernels/cuda/%.cu | .deps
	@mkdir -p $(@D)
	$(call say,NV,$@)
	$(Q)$(NVCC) $(ALL_NVCCFLAGS) $(if $(filter $*,$(HOPPER)),$(HOPPER_ARCH),$(CUDA_ARCH)) -c $< -o $@

# ---- without a GPU: the same kernels compiled for the host against tests/cuda_host

CXX = $(if $(findstring clang,$(CC)),clang++,g++)
# products and sums contract into fma as nvcc contracts them, so that what depends on it is seen
EMULATION_FLAGS = -std=c++17 $(CFLAGS) -Wall -Wextra -Wno-unknown-pragmas -Wno-psabi $(WERROR) -fPIC -fno-strict-aliasing \
                  $(if $(shell grep -wm1 fma /proc/cpuinfo),$(ISA_avx2)) -ffp-contract=fast -MMD -MP -DK_CUDA_HOST -I. -Itests/cuda_host
EMULATION := $(B)/tests/libcuda_host.a
EMULATION_OBJ := $(CUDA_SRC:kernels/cuda/%.cu=$(B)/tests/cuda/%.o) \
                 $(patsubst tests/cuda_host/%.cc,$(B)/tests/cuda_host/%.o, \
                     $(filter-out tests/cuda_host/test_%,$(wildcard tests/cuda_host/*.cc)))
$(EMULATION): $(EMULATION_OBJ)
	@rm -f $@ && ar rcs $@ $^
$(B)/tests/cuda/%.o: kernels/cuda/%.cu | .deps
	@mkdir -p $(@D)
	$(call say,CXX,$@)
	$(Q)$(CXX) $(EMULATION_FLAGS) -x c++ -c $< -o $@
$(B)/tests/cuda_host/%.o: tests/cuda_host/%.cc | .deps
	@mkdir -p $(@D)
	$(call say,CXX,$@)
	$(Q)$(CXX) $(EMULATION_FLAGS) -c $< -o $@
# the same as a plugin, for programs
EMULATED_PLUGIN := $(B)/tests/orrery_cuda_host.so
$(EMULATED_PLUGIN): $(EMULATION_OBJ)
	$(call say,CXX,$@)
	$(Q)$(CXX) $(CFLAGS) -shared $^ -ldl -o $@
# k_backends() and k_find() with k_cuda among the backends
EMULATION_TABLE := $(B)/tests/cuda/table.o
$(EMULATION_TABLE): kernels/table.c | .deps
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(kernels_CFLAGS) -DK_CUDA_HOST -c $< -o $@

# the emulation's own tests
TEST_EMULATION := $(patsubst tests/cuda_host/%.cc,$(B)/tests/cuda_host/%,$(wildcard tests/cuda_host/test_*.cc))
$(TEST_EMULATION): %: %.o $(EMULATION_TABLE) $(EMULATION) $(kernels_USES:%=$(B)/lib%.a)
	$(call say,CXX,$@)
	$(Q)$(CXX) $(CFLAGS) $^ -lcmocka $(LDLIBS) -o $@

# The tests of operations, with arrays of the host staged to the backend (tests/staged_ops.h): on
# the emulation (_cuda), or on a GPU by way of the plugin (_gpu).
OPERATIONS := attention linear loss ops phi rows gradient
STAGED := $(B)/tests/staged.o $(B)/tests/staged_ops.o
$(STAGED): $(B)/tests/%.o: tests/%.c | .deps
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@
STAGED_FLAGS = -DK_TEST_CUDA -include tests/staged_ops.h -Itests -Itests/kernels -Ikernels
CUDA_TESTS := $(OPERATIONS:%=$(B)/tests/kernels/test_%_cuda)
GOLDEN_CUDA := $(B)/tests/kernels/golden_attention_cuda
GPU_TESTS := $(OPERATIONS:%=$(B)/tests/kernels/test_%_gpu)
GOLDEN_GPU := $(B)/tests/kernels/golden_attention_gpu
# those of models and of memory use the backend as it is
MODEL_CUDA := $(wildcard tests/model/cuda_*.c) $(wildcard tests/kernels/cuda_*.c)
CUDA_TESTS += $(MODEL_CUDA:%.c=$(B)/%_cuda)
GPU_TESTS += $(MODEL_CUDA:%.c=$(B)/%_gpu)
EMULATED = $(EMULATION_TABLE) $(EMULATION)
# tests that reach fused attention, once more on the tensor cores of compute capability 9.0
# (elsewhere they are what they are without); $(1): cuda or gpu, $(2): environment, $(3): tests
HOPPER_TESTS := kernels/cuda_fused model/cuda_model
hopper_tests = $(foreach t,$(3),'$(2) ORRERY_CUDA_HOPPER=1 $(B)/tests/$(t)_$(1)')

$(B)/tests/kernels/%_cuda: tests/kernels/%.c $(STAGED) $(EMULATED) $(kernels_USES:%=$(B)/lib%.a)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(STAGED_FLAGS) $< $(STAGED) $(EMULATED) \
	    $(kernels_USES:%=$(B)/lib%.a) -rdynamic -lcmocka $(LDLIBS) -lstdc++ -o $@
$(B)/tests/kernels/%_gpu: tests/kernels/%.c $(STAGED) $(kernels_USES:%=$(B)/lib%.a)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(STAGED_FLAGS) $< $(STAGED) -rdynamic \
	    $(WHOLE) -lcmocka $(LDLIBS) -o $@
$(B)/tests/kernels/cuda_%_cuda: tests/kernels/cuda_%.c $(EMULATED) $(kernels_USES:%=$(B)/lib%.a)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests -Ikernels $< $(EMULATED) $(kernels_USES:%=$(B)/lib%.a) \
	    -rdynamic -lcmocka $(LDLIBS) -lstdc++ -o $@
$(B)/tests/kernels/cuda_%_gpu: tests/kernels/cuda_%.c $(kernels_USES:%=$(B)/lib%.a)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests -Ikernels $< -rdynamic $(WHOLE) -lcmocka $(LDLIBS) -o $@
$(B)/tests/model/cuda_%_cuda: tests/model/cuda_%.c $(EMULATED) $(model_USES:%=$(B)/lib%.a)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests -Imodel $< $(B)/libmodel.a $(B)/libsim.a $(EMULATED) \
	    $(kernels_USES:%=$(B)/lib%.a) -rdynamic -lcmocka $(LDLIBS) -lstdc++ -o $@
$(B)/tests/model/cuda_%_gpu: tests/model/cuda_%.c $(model_USES:%=$(B)/lib%.a)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests -Imodel $< -rdynamic $(B)/libmodel.a $(B)/libsim.a $(WHOLE) \
	    -lcmocka $(LDLIBS) -o $@
# everything that the plugin may ask the program for
WHOLE = -Wl,--whole-archive $(kernels_USES:%=$(B)/lib%.a) -Wl,--no-whole-archive

$(CUDA_TESTS) $(GOLDEN_CUDA) $(GPU_TESTS) $(GOLDEN_GPU) $(TEST_EMULATION): | .deps
check-emulation: $(TEST_EMULATION) $(CUDA_TESTS) $(GOLDEN_CUDA)
	@BIN='$(BIN)' tools/check.sh $(B)/tests/logs-emulation $(TEST_EMULATION) $(CUDA_TESTS) \
	    $(call hopper_tests,cuda,,$(HOPPER_TESTS)) '$(GOLDEN_CUDA) tests/golden'

include ptx.mk

# ---- with a GPU

GPU_HERE := $(B)/tests/gpu_here
$(GPU_HERE): tests/gpu_here.c $(kernels_USES:%=$(B)/lib%.a)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $< -rdynamic $(WHOLE) $(LDLIBS) -o $@
GPU_ENV = ORRERY_CUDA_PLUGIN='$(abspath $(PLUGIN))' BIN='$(BIN)'

check-gpu: all $(PLUGIN) $(GPU_HERE) $(GPU_TESTS) $(GOLDEN_GPU)
	@$(GPU_ENV) $(GPU_HERE)
	@$(GPU_ENV) tools/check.sh $(B)/tests/logs-gpu $(GPU_TESTS) \
	    $(call hopper_tests,gpu,,$(HOPPER_TESTS)) '$(GOLDEN_GPU) tests/golden'

# the smallest shapes: a checker of memory is a hundred times slower. Only kernels of our own are
# looked into, by their names: those of cuBLASLt are many, slow to check, and not ours to mend.
COMPUTE_SANITIZER ?= compute-sanitizer
OUR_KERNELS = $(shell tools/kernels.sh $(CUDA_SRC))
empty :=
OUR_REGEX = kns=$(subst $(empty) $(empty),|,$(strip $(OUR_KERNELS)))
# (racecheck: shared memory; synccheck: barriers that not all threads reach)
SANITIZERS := memcheck racecheck synccheck
check-gpu-sanitize: all $(PLUGIN) $(GPU_HERE) $(GPU_TESTS)
	@$(GPU_ENV) $(GPU_HERE)
	@command -v $(COMPUTE_SANITIZER) >/dev/null || { echo "check-gpu-sanitize: error: no" \
	    "$(COMPUTE_SANITIZER) on PATH (COMPUTE_SANITIZER=path)" >&2; exit 1; }
	@$(GPU_ENV) ORRERY_TEST_SMALL=1 tools/check.sh $(B)/tests/logs-gpu-sanitize \
	    $(foreach tool,$(SANITIZERS),$(foreach t,$(GPU_TESTS),\
	        '$(COMPUTE_SANITIZER) --error-exitcode 9 --tool $(tool) --kernel-regex "$(OUR_REGEX)" $(t)'))
print-kernels:
	@echo $(OUR_KERNELS)
.PHONY: print-kernels

bench-gpu: all $(PLUGIN) $(GPU_HERE) $(B)/bench/bench_train
	@mkdir -p bench/results
	@$(GPU_ENV) $(GPU_HERE)
	$(GPU_ENV) $(B)/bench/bench_train --device cuda --compile $(BENCH_ARGS)
$(GPU_HERE): | .deps
bench-gpu-attention: all $(PLUGIN) $(GPU_HERE) $(B)/bench/bench_gpu_attention
	@mkdir -p bench/results
	@$(GPU_ENV) $(GPU_HERE)
	$(GPU_ENV) $(B)/bench/bench_gpu_attention $(BENCH_ARGS)
.PHONY: check-emulation check-gpu check-gpu-sanitize bench-gpu bench-gpu-attention

## make check-sass   registers and spilled bytes of fused attention's machine code
check-sass:
	@tools/sass.sh
.PHONY: check-sass
