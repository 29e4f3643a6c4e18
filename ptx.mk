# ptx.mk - CUDA kernels as nvcc compiled them, run without a GPU: nvcc's PTX is translated to C++
# (tests/ptx) and takes the kernels' place on the emulation (tests/cuda_host/cuda_host_ptx.h).
# Included by cuda.mk.
#
## make check-ptx    every test of kernels and models on nvcc's PTX, of sm_80 and of sm_90
## make check-ptx-mutants    they must fail on spoilt PTX and sources (tests/ptx/mutants.txt)

PTX_ARCHS ?= 80 90
PTX2CC := $(B)/tests/ptx/ptx2cc
PTX_RUN := $(wildcard tests/ptx/*.h tests/cuda_host/*.h)
$(PTX2CC): tests/ptx/ptx2cc.cc $(wildcard tests/ptx/ptx_*.cc) tests/ptx/ptx.h | .deps
	@mkdir -p $(@D)
	$(call say,CXX,$@)
	$(Q)$(CXX) -std=c++17 -O1 -g -Wall -Wextra -Werror $(filter %.cc,$^) -o $@

# one instruction of PTX is one or two operations of C++, and none of them may become another:
# products and sums are contracted where PTX says fma alone
PTX_CXXFLAGS = -std=c++17 -O1 -w -fPIC -shared -ffp-contract=off -fno-strict-aliasing \
               $(if $(shell grep -wm1 fma /proc/cpuinfo),$(ISA_avx2)) -DK_CUDA_HOST -I. \
               -Itests/cuda_host
%.ptx.so: %.ptx.cc $(PTX_RUN)
	$(call say,CXX,$@)
	$(Q)$(CXX) $(PTX_CXXFLAGS) $< -o $@

# $(1): compute capability
define ptx_rules
$$(B)/ptx/$(1)/%.ptx: kernels/cuda/%.cu $$(wildcard kernels/cuda/*.h kernels/cuda/*.cuh kernels/*.h)
	@mkdir -p $$(@D)
	$$(call say,NV,$$@)
	$$(Q)$$(NVCC) -std=c++17 --fmad=true $$(NVCCFLAGS) -I. \
	    -arch=compute_$(1)$$(if $$(filter $$*,$$(HOPPER)),a) -ptx $$< -o $$@
$$(B)/ptx/$(1)/%.ptx.cc: $$(B)/ptx/$(1)/%.ptx $$(PTX2CC)
	$$(Q)$$(PTX2CC) $$< $$@
endef
$(foreach a,$(PTX_ARCHS),$(eval $(call ptx_rules,$(a))))
.PRECIOUS: $(B)/ptx/%.ptx $(B)/ptx/%.ptx.cc

# ---- the translator's own test, which needs no nvcc: PTX that was written by hand

TEST_PTX := $(B)/tests/ptx/test_ptx
PTX_BY_HAND := $(patsubst tests/ptx/%.ptx,$(B)/tests/ptx/%.ptx.so,$(wildcard tests/ptx/*.ptx))
$(B)/tests/ptx/%.ptx.cc: tests/ptx/%.ptx $(PTX2CC)
	$(Q)$(PTX2CC) $< $@
$(TEST_PTX).o: tests/ptx/test_ptx.cc | .deps
	@mkdir -p $(@D)
	$(call say,CXX,$@)
	$(Q)$(CXX) $(EMULATION_FLAGS) -c $< -o $@
$(TEST_PTX): $(TEST_PTX).o $(EMULATION_TABLE) $(EMULATION) $(kernels_USES:%=$(B)/lib%.a)
	$(call say,CXX,$@)
	$(Q)$(CXX) $(CFLAGS) -rdynamic $^ -lcmocka $(LDLIBS) -o $@
CHECK_TEST_PTX = 'ORR_CUDA_HOST_PTX=$(B)/tests/ptx ORR_CUDA_HOST_PTX_ONLY=1 $(TEST_PTX)'

# ---- all kernels, all tests of them: each runs in three orders of threads and blocks

PTX_MODULES := $(notdir $(CUDA_SRC:.cu=))
ptx_all = $(patsubst %,$(B)/ptx/$(1)/%.ptx.so,\
              $(filter-out $(if $(filter 90,$(1)),,$(HOPPER)),$(PTX_MODULES)))
# (what a test runs in one order by itself, it runs in the order of the environment)
PTX_ORDERS := forward reverse shuffle
ptx_env = ORR_CUDA_HOST_PTX_ONLY=1 ORR_CUDA_HOST_PTX=$(B)/ptx/$(1)
ptx_tests = $(foreach t,$(CUDA_TESTS),'$(call ptx_env,$(1)) $(t)') \
            $(if $(filter 90,$(1)),\
                $(call hopper_tests,cuda,$(call ptx_env,$(1)),$(HOPPER_TESTS))) \
            $(foreach o,$(PTX_ORDERS),\
                'ORR_CUDA_HOST_ORDER=$(o) $(call ptx_env,$(1)) $(GOLDEN_CUDA) tests/golden')
check-ptx: $(CUDA_TESTS) $(GOLDEN_CUDA) $(TEST_PTX) $(PTX_BY_HAND) \
           $(foreach a,$(PTX_ARCHS),$(call ptx_all,$(a)))
	@BIN='$(BIN)' CHECK_LIMIT=1800 tools/check.sh $(B)/tests/logs-ptx $(CHECK_TEST_PTX) \
	    $(foreach a,$(PTX_ARCHS),$(call ptx_tests,$(a)))
.PHONY: check-ptx

# ---- mutants

# what tests/ptx/mutants.sh compiles and links with
print-ptx-flags:
	@echo "NVCC_PTX='$(NVCC) -std=c++17 --fmad=true $(NVCCFLAGS) -I. -arch=compute_90 -ptx'"
	@echo "CXX_PTX='$(CXX) $(filter-out -I.,$(PTX_CXXFLAGS)) -idirafter .' PTX2CC=$(PTX2CC)"
	@echo "CXX_HOST='$(CXX) $(filter-out -MMD -MP -Werror,$(EMULATION_FLAGS))' CXX_LINK='$(CXX) $(CFLAGS) -rdynamic'"
	@echo "LIBS='$(EMULATION_TABLE) $(EMULATION) $(kernels_USES:%=$(B)/lib%.a) -lcmocka $(LDLIBS)'"
	@echo "BY_HAND='$(PTX_BY_HAND:.so=)'"
check-ptx-mutants: $(CUDA_TESTS) $(GOLDEN_CUDA) $(TEST_PTX) $(PTX_BY_HAND) $(TEST_EMULATION) \
                   $(PTX_MODULES:%=$(B)/ptx/90/%.ptx)
	@tests/ptx/mutants.sh $(B)
.PHONY: check-ptx-mutants print-ptx-flags
