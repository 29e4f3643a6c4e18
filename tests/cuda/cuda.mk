# cuda.mk - tests of the CUDA kernels: compiled for the host, and on a GPU.
# ---- without a GPU: the same kernels compiled for the host against tests/cuda/host
CUDA_B := $(B)/tests/cuda
CXX = $(if $(findstring clang,$(CC)),clang++,g++)
FMA := $(if $(shell grep -wm1 fma /proc/cpuinfo),$(ISA_avx2))
HOST_INCLUDES := -DK_CUDA_HOST -I. -Itests/cuda/host
# (products and sums contract into fma as nvcc contracts them)
EMULATION_FLAGS = -std=c++17 $(CFLAGS) -Wall -Wextra -Wno-unknown-pragmas -Wno-psabi $(WERROR) -fPIC \
                  -fno-strict-aliasing $(FMA) -ffp-contract=fast -MMD -MP $(HOST_INCLUDES)
EMULATION_OBJ := $(CUDA_SRC:kernels/cuda/%.cu=$(CUDA_B)/kernels/%.o) \
    $(patsubst %.cc,$(B)/%.o,$(filter-out tests/cuda/host/test_%,$(wildcard tests/cuda/host/*.cc)))
$(CUDA_B)/libhost.a: $(EMULATION_OBJ) ; $(archive)
$(CUDA_B)/kernels/%.o: kernels/cuda/%.cu | .deps ; $(call compile,CXX,$(CXX) $(EMULATION_FLAGS) -x c++)
$(CUDA_B)/%.o: tests/cuda/%.cc | .deps ; $(call compile,CXX,$(CXX) $(EMULATION_FLAGS))
# for programs: the emulation as a plugin, a driver that is older, what stands in for NCCL
CUDA_SCRIPTS_NEED := $(addprefix $(CUDA_B)/,orrery_cuda_host.so old_driver/libcuda.so.1 $(call when,MPI,libnccl_stand_in.so))
$(CUDA_B)/orrery_cuda_host.so: $(EMULATION_OBJ) ; $(call link,CXX,$(CXX) $(CFLAGS) -shared,-ldl)
$(CUDA_B)/old_driver/libcuda.so.1: tests/cuda/old_driver.c | .deps ; $(call link,CC,$(CC) -std=c17 -O1 $(WARN) -shared -fPIC)
$(CUDA_B)/libnccl_stand_in.so: tests/cuda/nccl_stand_in.c | .deps
	$(call link,MPI,$(MPI_COMPILER) -std=c17 -O1 $(WARN) -shared -fPIC)
# k_backends() with k_cuda among the backends; arrays of the host that are staged to a backend
$(CUDA_B)/kernels/variants.o: kernels/variants.c | .deps
	$(call compile,CC,$(CC) $(ALL_CFLAGS) $(kernels_CFLAGS) -DK_CUDA_HOST)
STAGED := $(CUDA_B)/staged.o $(CUDA_B)/staged_ops.o
$(STAGED): $(CUDA_B)/%.o: tests/cuda/%.c | .deps ; $(call compile,CC,$(CC) $(ALL_CFLAGS))
KERNEL_LIBS := $(call libs,$(kernels_USES))
EMULATED := $(CUDA_B)/kernels/variants.o $(CUDA_B)/libhost.a $(KERNEL_LIBS)
# each test on the emulation (_cuda), and on a GPU by way of the plugin (_gpu): those of operations
# staged, those of models and memory (cuda_*.c) as they are. $1: cuda or gpu, $2: backend, $3: libraries
define cuda_tests
$(call test_rule,kernels,%,%_$1,-DK_TEST_CUDA -include tests/cuda/staged_ops.h,$(STAGED) $2,-rdynamic $3)
$(call test_rule,kernels,cuda_%,cuda_%_$1,,$2,-rdynamic $3)
$(call test_rule,model,cuda_%,cuda_%_$1,,$(call libs,$(filter-out $(kernels_USES),$(model_USES))) $2,-rdynamic $3)
endef
$(eval $(call cuda_tests,cuda,$(EMULATED),-lstdc++))
$(eval $(call cuda_tests,gpu,$(KERNEL_LIBS)))
$(B)/tests/%_gpu: private WHOLE = yes
ON_CUDA := $(patsubst %,$(B)/tests/kernels/test_%,attention linear loss muon ops phi rows gradient) \
           $(patsubst %.c,$(B)/%,$(wildcard tests/model/cuda_*.c tests/kernels/cuda_*.c))
GOLDEN_ON := $(B)/tests/kernels/golden_attention
TEST_EMULATION := $(patsubst %.cc,$(B)/%,$(wildcard tests/cuda/host/test_*.cc))
$(TEST_EMULATION): %: %.o $(B)/libstage.a $(EMULATED)
	$(call link,CXX,$(CXX) $(CFLAGS) -rdynamic,-lcmocka $(LDLIBS))
EMULATION_TESTS := $(TEST_EMULATION) $(ON_CUDA:%=%_cuda) $(GOLDEN_ON)_cuda tests/cuda/test_gpu_machine.sh
EMULATION_NOW := $(if $(PART),$(shell printf '%s\n' $(EMULATION_TESTS) | \
    awk -v p='$(PART)' '{ split(p, a, "/") } NR % a[2] == a[1] % a[2]'),$(EMULATION_TESTS))
# fused attention once more without the tensor cores of 9.0. $1: cuda or gpu, $2: environment, $3: of these
fused_tests = $(foreach t,kernels/cuda_fused model/cuda_model,\
                  $(call commands,$(filter $(or $3,%),$(B)/tests/$t_$1),$2 ORRERY_CUDA_HOPPER=0))
check-emulation: $(if $(filter %.sh,$(EMULATION_NOW)),programs) $(filter $(B)/%,$(EMULATION_NOW)) $(CUDA_SCRIPTS_NEED)
	$(call checks,emulation,$(call commands,$(EMULATION_NOW)) $(call fused_tests,cuda,,$(EMULATION_NOW)))
GPU_HERE := $(CUDA_B)/gpu_here
GPU_ENV = ORRERY_CUDA_PLUGIN='$(abspath $(PLUGIN))' BIN='$(BIN)'
$(GPU_HERE): private WHOLE = yes
$(GPU_HERE): tests/cuda/gpu_here.c $(KERNEL_LIBS) | .deps
	$(call link,CC,$(CC) $(ALL_CFLAGS) -rdynamic,$(LDLIBS))
gpu-here: all $(PLUGIN) $(GPU_HERE) ; @$(GPU_ENV) $(GPU_HERE)
check-gpu: gpu-here $(ON_CUDA:%=%_gpu) $(GOLDEN_ON)_gpu
	$(call checks,gpu,$(call commands,$(ON_CUDA:%=%_gpu) $(GOLDEN_ON)_gpu) $(call fused_tests,gpu),$(GPU_ENV))
# smallest shapes, and kernels of our own alone: those of cuBLASLt are many, and not ours to fix
COMPUTE_SANITIZER ?= compute-sanitizer
SANITIZE = $(COMPUTE_SANITIZER) --error-exitcode 9 --tool $1 $(patsubst %,--kernel-regex kns=%,$(shell tools/kernels.sh $(CUDA_SRC)))
check-gpu-sanitize: gpu-here $(ON_CUDA:%=%_gpu)
	$(call lacks,$(if $(shell command -v $(COMPUTE_SANITIZER)),,no $(COMPUTE_SANITIZER) on PATH (COMPUTE_SANITIZER=path)))
	$(call checks,gpu-sanitize,$(foreach tool,memcheck racecheck synccheck,\
	    $(call commands,$(ON_CUDA:%=%_gpu),$(call SANITIZE,$(tool)))),$(GPU_ENV) ORRERY_TEST_SMALL=1)
check-sass: ; @tools/sass.sh
check-mpi: programs $(PRELOADED) $(CUDA_SCRIPTS_NEED)
	$(call checks,mpi,$(call commands,$(wildcard tests/cli/test_mpi*.sh) tests/long/test_slurm.sh tests/cuda/test_mpi_gpu.sh),\
	    MPI_FULL=yes CHECK_LIMIT=1800)
