# mpi.mk - the MPI plugin, and the tests of several ranks. Included by the Makefile.
#
#   make MPI=0            without the plugin (default: 1 where an MPI compiler is: libopenmpi-dev)
## make check-mpi    several ranks against one: every preset, attention and way to share; minutes

MPICC ?= mpicc
ifeq ($(origin MPI),undefined)
MPI := $(if $(shell command -v $(MPICC) 2>/dev/null),1,0)
endif

# opened under a launcher alone (model/ranks/plugin.c); its symbols of base and model are the program's
MPI_PLUGIN := $(BIN)/orrery_mpi.so
ifeq ($(MPI),1)
all: $(MPI_PLUGIN)
endif
$(MPI_PLUGIN): $(model_PLUGIN:%.c=$(B)/%.o)
	@mkdir -p $(@D)
	$(call say,MPI,$@)
	$(Q)OMPI_CC='$(CC)' MPICH_CC='$(CC)' $(MPICC) -shared $^ -o $@
# what stands in for NCCL where the emulation stands in for GPUs
NCCL_STAND_IN := $(B)/tests/libnccl_stand_in.so
$(NCCL_STAND_IN): tests/cuda_host/nccl_stand_in.c | .deps
	@mkdir -p $(@D)
	$(call say,MPI,$@)
	$(Q)OMPI_CC='$(CC)' MPICH_CC='$(CC)' $(MPICC) -std=c17 -O1 $(WARN) -shared -fPIC $< -o $@
$(model_PLUGIN:%.c=$(B)/%.o): $(B)/%.o: %.c | .deps
	@mkdir -p $(@D)
	$(call say,MPI,$@)
	$(Q)OMPI_CC='$(CC)' MPICH_CC='$(CC)' $(MPICC) $(ALL_CFLAGS) -fPIC -c $< -o $@

# the plugin behind a delay, for bench/network.sh
LATE_MPI := $(B)/bench/late_mpi.so
$(LATE_MPI): bench/late_mpi.c model/ranks/plugin.h model/ranks/cluster.h | .deps
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -shared -fPIC $< -o $@

# (without MPI nothing of it is there, and the tests say so)
CHECK_MPI_NEEDS := $(FAIL_WRITE) $(EMULATED_PLUGIN) $(if $(filter 1,$(MPI)),$(NCCL_STAND_IN))
check-long: $(CHECK_MPI_NEEDS)
check-mpi: all $(CHECK_MPI_NEEDS)
	@BIN='$(BIN)' FAIL_WRITE='$(FAIL_WRITE)' EMULATED='$(EMULATED_PLUGIN)' NCCL='$(NCCL_STAND_IN)' \
	    MPI_FULL=yes CHECK_LIMIT=1800 tools/check.sh $(B)/tests/logs-mpi \
	    'bash tests/cli/test_mpi.sh' 'bash tests/long/test_slurm.sh' 'bash tests/long/test_mpi_gpu.sh'
.PHONY: check-mpi
