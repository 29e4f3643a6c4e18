# cuda.mk - the CUDA plugin, opened by --device cuda: its symbols of other folders are the program's.
NVCC ?= nvcc
CUDA ?= $(if $(shell command -v $(NVCC) 2>/dev/null),1,0)
NVCCFLAGS ?= -O3
ALL_NVCCFLAGS = -std=c++17 --fmad=true $(NVCCFLAGS) $(if $(WERROR),-Werror all-warnings) -MMD -MP \
                -Xcompiler -fPIC,-Wall,-Wextra -I.
gencode = -gencode arch=compute_$1,code=$2
CUDA_ARCH ?= $(call gencode,80,sm_80) $(call gencode,90,sm_90) $(call gencode,90,compute_90)
HOPPER := hopper_forward hopper_backward # of tensor cores of one kind of GPU, compiled for that alone
CUDA_SRC := $(wildcard kernels/cuda/*.cu)
CUDA_LIB = $(patsubst %/bin/,%/lib64,$(dir $(realpath $(shell command -v $(NVCC)))))
PLUGIN := $(BIN)/orrery_cuda.so
all: $(call when,CUDA,$(PLUGIN))
$(PLUGIN): $(call when,CUDA,$(CUDA_SRC:kernels/cuda/%.cu=$(B)/cuda/%.o))
	$(call lacks,$(if $(call when,CUDA,yes),,the CUDA backend needs nvcc on PATH$(comma) and CUDA=1))
	$(call link,NV,$(NVCC) -shared -cudart static,-L$(CUDA_LIB) -Xlinker -rpath$(comma)$(CUDA_LIB) -lcublasLt)
$(B)/cuda/%.o: kernels/cuda/%.cu | .deps
	$(call compile,NV,$(NVCC) $(ALL_NVCCFLAGS) $(if $(filter $*,$(HOPPER)),$(call gencode,90a,sm_90a),$(CUDA_ARCH)))
