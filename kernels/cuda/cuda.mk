# cuda.mk - the CUDA plugin, opened by --device cuda (kernels/plugin.c): its symbols of other folders
# are the program's.
NVCC ?= nvcc
ifeq ($(origin CUDA),undefined)
CUDA := $(if $(shell command -v $(NVCC) 2>/dev/null),1,0)
endif
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
	$(call link,NV,$(NVCC) -shared -cudart static,-L$(CUDA_LIB) -Xlinker -rpath$(comma)$(CUDA_LIB) -lcublasLt)
else
$(PLUGIN):
	@echo "make: error: the CUDA backend needs nvcc on PATH, and CUDA=1" >&2; exit 1
endif
$(B)/cuda/%.o: kernels/cuda/%.cu | .deps
	$(call compile,NV,$(NVCC) $(ALL_NVCCFLAGS) $(if $(filter $*,$(HOPPER)),$(HOPPER_ARCH),$(CUDA_ARCH)))
