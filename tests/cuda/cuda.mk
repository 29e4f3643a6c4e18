# cuda.mk - tests of the CUDA kernels: compiled for the host, as nvcc compiled them, and on a GPU
# (tests/cuda/README.md).

# ---- without a GPU: the same kernels compiled for the host against tests/cuda/host

CXX = $(if $(findstring clang,$(CC)),clang++,g++)
FMA := $(if $(shell grep -wm1 fma /proc/cpuinfo),$(ISA_avx2))
HOST_INCLUDES := -DK_CUDA_HOST -I. -Itests/cuda/host
# products and sums contract into fma as nvcc contracts them, so that what depends on it is seen
EMULATION_FLAGS = -std=c++17 $(CFLAGS) -Wall -Wextra -Wno-unknown-pragmas -Wno-psabi $(WERROR) -fPIC \
                  -fno-strict-aliasing $(FMA) -ffp-contract=fast -MMD -MP $(HOST_INCLUDES)
BUILT_CUDA := $(B)/tests/cuda
EMULATION := $(BUILT_CUDA)/libhost.a
EMULATION_OBJ := $(CUDA_SRC:kernels/cuda/%.cu=$(BUILT_CUDA)/kernels/%.o) \
    $(patsubst %.cc,$(B)/%.o,$(filter-out tests/cuda/host/test_%,$(wildcard tests/cuda/host/*.cc)))
$(EMULATION): $(EMULATION_OBJ)
	$(archive)
$(BUILT_CUDA)/kernels/%.o: kernels/cuda/%.cu | .deps
	$(call compile,CXX,$(CXX) $(EMULATION_FLAGS) -x c++)
$(BUILT_CUDA)/%.o: tests/cuda/%.cc | .deps
	$(call compile,CXX,$(CXX) $(EMULATION_FLAGS))
# the same as a plugin, for programs; what stands in for NCCL there; a driver older than the plugin
EMULATED_PLUGIN := $(BUILT_CUDA)/orrery_cuda_host.so
$(EMULATED_PLUGIN): $(EMULATION_OBJ)
	$(call link,CXX,$(CXX) $(CFLAGS) -shared,-ldl)
NCCL_STAND_IN := $(BUILT_CUDA)/libnccl_stand_in.so
$(NCCL_STAND_IN): tests/cuda/nccl_stand_in.c | .deps
	$(call link,MPI,$(MPI_COMPILER) -std=c17 -O1 $(WARN) -shared -fPIC)
OLD_DRIVER := $(BUILT_CUDA)/old_driver/libcuda.so.1
$(OLD_DRIVER): tests/cuda/old_driver.c | .deps
	$(call link,CC,$(CC) -std=c17 -O1 $(WARN) -shared -fPIC)
CUDA_SCRIPTS_NEED := $(EMULATED_PLUGIN) $(OLD_DRIVER) $(if $(filter 1,$(MPI)),$(NCCL_STAND_IN))

# k_backends() and k_find() with k_cuda among the backends, and arrays of the host that are staged to
# a backend (tests/cuda/staged_ops.h)
EMULATION_TABLE := $(BUILT_CUDA)/kernels/table.o
$(EMULATION_TABLE): kernels/table.c | .deps
	$(call compile,CC,$(CC) $(ALL_CFLAGS) $(kernels_CFLAGS) -DK_CUDA_HOST)
STAGED := $(BUILT_CUDA)/staged.o $(BUILT_CUDA)/staged_ops.o
$(STAGED): $(BUILT_CUDA)/%.o: tests/cuda/%.c | .deps
	$(call compile,CC,$(CC) $(ALL_CFLAGS))
KERNEL_LIBS := $(call libs,$(kernels_USES))
MODEL_LIBS := $(call libs,$(filter-out $(kernels_USES),$(model_USES)))
EMULATED := $(EMULATION_TABLE) $(EMULATION) $(KERNEL_LIBS)
# the tests of operations on the emulation (_cuda), or on a GPU by way of the plugin (_gpu); those of
# models and of memory (cuda_*.c) use the backend as it is
STAGED_FLAGS := -DK_TEST_CUDA -include tests/cuda/staged_ops.h
$(eval $(call test_rule,kernels,%,%_cuda,$(STAGED_FLAGS),$(STAGED) $(EMULATED),-rdynamic -lstdc++))
$(eval $(call test_rule,kernels,%,%_gpu,$(STAGED_FLAGS),$(STAGED) $(KERNEL_LIBS),-rdynamic))
$(eval $(call test_rule,kernels,cuda_%,cuda_%_cuda,,$(EMULATED),-rdynamic -lstdc++))
$(eval $(call test_rule,kernels,cuda_%,cuda_%_gpu,,$(KERNEL_LIBS),-rdynamic))
$(eval $(call test_rule,model,cuda_%,cuda_%_cuda,,$(MODEL_LIBS) $(EMULATED),-rdynamic -lstdc++))
$(eval $(call test_rule,model,cuda_%,cuda_%_gpu,,$(MODEL_LIBS) $(KERNEL_LIBS),-rdynamic))
$(B)/tests/%_gpu: private WHOLE = yes
ON_CUDA := $(patsubst %,kernels/test_%,attention linear loss ops phi rows gradient) \
           $(patsubst tests/%.c,%,$(wildcard tests/model/cuda_*.c tests/kernels/cuda_*.c))
CUDA_TESTS := $(ON_CUDA:%=$(B)/tests/%_cuda)
GPU_TESTS := $(ON_CUDA:%=$(B)/tests/%_gpu)
GOLDEN_CUDA := $(B)/tests/kernels/golden_attention_cuda
GOLDEN_GPU := $(B)/tests/kernels/golden_attention_gpu
# tests that reach fused attention, once more without the tensor cores of compute capability 9.0
# (elsewhere they are what they are with them); $1: cuda or gpu, $2: environment
fused_tests = $(foreach t,kernels/cuda_fused model/cuda_model,$(call commands,\
                   $(filter $(or $3,%),$(B)/tests/$t_$1),$2 ORRERY_CUDA_HOPPER=0))

# the emulation's own tests
TEST_EMULATION := $(patsubst %.cc,$(B)/%,$(wildcard tests/cuda/host/test_*.cc))
TEST_PTX := $(BUILT_CUDA)/ptx/test_ptx
# (shapes of the presets are their settings')
$(TEST_EMULATION) $(TEST_PTX): %: %.o $(B)/libstage.a $(EMULATED)
	$(call link,CXX,$(CXX) $(CFLAGS) -rdynamic,-lcmocka $(LDLIBS))

# ---- as nvcc compiled them: PTX is translated to C++ and takes the kernels' place on the emulation
# (tests/cuda/host/cuda_host_ptx.h)

PTX_ARCHS ?= 80 90
PTX2CC := $(BUILT_CUDA)/ptx/ptx2cc
$(PTX2CC): $(wildcard tests/cuda/ptx/ptx*.cc) tests/cuda/ptx/ptx.h | .deps
	$(call run,CXX,$(CXX) -std=c++17 -O1 -g -Wall -Wextra -Werror $(filter %.cc,$^) -o $@)
# one instruction of PTX is one or two operations of C++, and none of them may become another:
# products and sums are contracted where PTX says fma alone
PTX_CXXFLAGS = -std=c++17 -O1 -w -fPIC -shared -ffp-contract=off -fno-strict-aliasing $(FMA) $(HOST_INCLUDES)
%.ptx.so: %.ptx.cc $(wildcard tests/cuda/ptx/*.h tests/cuda/host/*.h)
	$(call run,CXX,$(CXX) $(PTX_CXXFLAGS) $< -o $@)
$(B)/%.ptx.cc: $(B)/%.ptx $(PTX2CC)
	$(Q)$(PTX2CC) $< $@
$(BUILT_CUDA)/%.ptx.cc: tests/cuda/%.ptx $(PTX2CC)
	$(call run,PTX,$(PTX2CC) $< $@)
PTX_COMPILER = $(NVCC) -std=c++17 --fmad=true $(NVCCFLAGS) -I.
# $1: compute capability
define ptx_rule
$(B)/ptx/$1/%.ptx: kernels/cuda/%.cu $(wildcard kernels/cuda/*.h kernels/cuda/*.cuh kernels/*.h)
	$$(call run,NV,$$(PTX_COMPILER) -arch=compute_$1$$(if $$(filter $$*,$$(HOPPER)),a) -ptx $$< -o $$@)
endef
$(foreach a,$(PTX_ARCHS),$(eval $(call ptx_rule,$a)))
PTX_BY_HAND := $(patsubst %.ptx,$(B)/%.ptx.so,$(wildcard tests/cuda/ptx/*.ptx))
PTX_MODULES := $(notdir $(CUDA_SRC:.cu=))
ptx_all = $(patsubst %,$(B)/ptx/$1/%.ptx.so,$(filter-out $(if $(filter 90,$1),,$(HOPPER)),$(PTX_MODULES)))
ptx_env = ORR_CUDA_HOST_PTX_ONLY=1 ORR_CUDA_HOST_PTX=$(B)/$1
# each test runs in three orders of threads and blocks; what it runs in one order by itself, it runs
# in the order of the environment
ptx_tests = $(call commands,$(CUDA_TESTS),$(call ptx_env,ptx/$1)) \
            $(if $(filter 90,$1),$(call fused_tests,cuda,$(call ptx_env,ptx/$1))) \
            $(foreach o,forward reverse shuffle,\
                $(call commands,$(GOLDEN_CUDA),ORR_CUDA_HOST_ORDER=$o $(call ptx_env,ptx/$1)))

## make check-emulation  the tests of CUDA kernels without a GPU, compiled for the host; PART=I/N: every
##                       N-th of them, from the I-th on
EMULATION_TESTS := $(TEST_EMULATION) $(CUDA_TESTS) $(GOLDEN_CUDA) tests/cuda/test_gpu_machine.sh
EMULATION_NOW := $(if $(PART),$(shell printf '%s\n' $(EMULATION_TESTS) | \
    awk -v p='$(PART)' '{ split(p, a, "/") } NR % a[2] == a[1] % a[2]'),$(EMULATION_TESTS))
check-emulation: $(if $(filter %.sh,$(EMULATION_NOW)),all) $(filter $(B)/%,$(EMULATION_NOW)) $(TEST_PTX) $(PTX_BY_HAND) $(CUDA_SCRIPTS_NEED)
	@$(CHECK_SH) $(B)/tests/logs-emulation $(call commands,$(EMULATION_NOW)) \
	    $(call fused_tests,cuda,,$(EMULATION_NOW)) \
	    $(call commands,$(TEST_PTX),$(call ptx_env,tests/cuda/ptx))
## make check-ptx    every test of kernels and models on nvcc's PTX, of sm_80 and of sm_90
## make check-ptx-mutants    they must fail on spoilt PTX and sources (tests/cuda/ptx/mutants.txt)
check-ptx: $(CUDA_TESTS) $(GOLDEN_CUDA) $(TEST_PTX) $(PTX_BY_HAND) $(foreach a,$(PTX_ARCHS),$(call ptx_all,$a))
	@CHECK_LIMIT=1800 $(CHECK_SH) $(B)/tests/logs-ptx $(call commands,$(TEST_PTX),$(call ptx_env,tests/cuda/ptx)) \
	    $(foreach a,$(PTX_ARCHS),$(call ptx_tests,$a))
check-ptx-mutants: $(CUDA_TESTS) $(GOLDEN_CUDA) $(TEST_PTX) $(PTX_BY_HAND) $(TEST_EMULATION) \
                   $(PTX_MODULES:%=$(B)/ptx/90/%.ptx)
	@tests/cuda/ptx/mutants.sh $(B)
# what mutants.sh compiles and links with
print-ptx-flags:
	@echo "NVCC_PTX='$(PTX_COMPILER) -arch=compute_90 -ptx' PTX2CC=$(PTX2CC) BY_HAND='$(PTX_BY_HAND:.so=)'"
	@echo "CXX_PTX='$(CXX) $(filter-out -I.,$(PTX_CXXFLAGS)) -idirafter .' CXX_LINK='$(CXX) $(CFLAGS) -rdynamic'"
	@echo "CXX_HOST='$(CXX) $(filter-out -MMD -MP -Werror,$(EMULATION_FLAGS))' LIBS='$(EMULATED) -lcmocka $(LDLIBS)'"

# ---- with a GPU

GPU_HERE := $(BUILT_CUDA)/gpu_here
$(GPU_HERE): tests/cuda/gpu_here.c $(KERNEL_LIBS) | .deps
	$(call link,CC,$(CC) $(ALL_CFLAGS) -rdynamic,$(LDLIBS))
$(GPU_HERE): private WHOLE = yes
GPU_ENV = ORRERY_CUDA_PLUGIN='$(abspath $(PLUGIN))' BIN='$(BIN)'
## make check-gpu    the tests of operations and models on a GPU
check-gpu: all $(PLUGIN) $(GPU_HERE) $(GPU_TESTS) $(GOLDEN_GPU)
	@$(GPU_ENV) $(GPU_HERE)
	@$(GPU_ENV) tools/check.sh $(B)/tests/logs-gpu $(call commands,$(GPU_TESTS) $(GOLDEN_GPU)) \
	    $(call fused_tests,gpu)
## make check-gpu-sanitize    the same under compute-sanitizer, at the smallest shapes
# (a checker of memory is a hundred times slower). Only kernels of our own are looked into, by their
# names: those of cuBLASLt are many, slow to check, and not ours to mend. racecheck looks at shared
# memory, synccheck at barriers that not all threads reach.
COMPUTE_SANITIZER ?= compute-sanitizer
OUR_KERNELS = $(shell tools/kernels.sh $(CUDA_SRC))
SANITIZE = $(COMPUTE_SANITIZER) --error-exitcode 9 --tool $1 --kernel-regex \
           "kns=$(subst $(subst ,, ),|,$(strip $(OUR_KERNELS)))"
check-gpu-sanitize: all $(PLUGIN) $(GPU_HERE) $(GPU_TESTS)
	@$(GPU_ENV) $(GPU_HERE)
	@command -v $(COMPUTE_SANITIZER) >/dev/null || { echo "check-gpu-sanitize: error: no" \
	    "$(COMPUTE_SANITIZER) on PATH (COMPUTE_SANITIZER=path)" >&2; exit 1; }
	@$(GPU_ENV) ORRERY_TEST_SMALL=1 tools/check.sh $(B)/tests/logs-gpu-sanitize \
	    $(foreach tool,memcheck racecheck synccheck,$(call commands,$(GPU_TESTS),$(call SANITIZE,$(tool))))
print-kernels:
	@echo $(OUR_KERNELS)
## make check-sass   registers and spilled bytes of fused attention's machine code
check-sass:
	@tools/sass.sh
## make check-mpi    several ranks against one: every preset, attention and way to share; minutes
check-mpi: all $(PRELOADED) $(CUDA_SCRIPTS_NEED)
	@MPI_FULL=yes CHECK_LIMIT=1800 $(CHECK_SH) $(B)/tests/logs-mpi \
	    $(call commands,tests/cli/test_mpi.sh tests/long/test_slurm.sh tests/cuda/test_mpi_gpu.sh)
.PHONY: check-emulation check-ptx check-ptx-mutants print-ptx-flags check-gpu check-gpu-sanitize \
        print-kernels check-sass check-mpi
