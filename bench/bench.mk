# bench.mk - bench/bench_<name>.c: a table on the terminal and bench/results/<name>.json.
#
## make bench        lists the benchmarks (bench/results/README.md)
BENCHES := $(patsubst bench/bench_%.c,%,$(wildcard bench/bench_*.c))
bench:
	@echo "benchmarks:$(BENCHES:%= make bench-%) make bench-gpu"
$(BENCHES:%=bench-%): bench-%: all $(B)/bench/bench_%
	@mkdir -p bench/results
	$(B)/bench/bench_$* $(BENCH_ARGS) $(if $(TABLE),--table $(TABLE)) \
	    $(if $(FULL),$(if $(filter symreg,$*),--full))
## make bench-gpu    whole steps on a GPU, beside PyTorch where it is installed: gpu.json
## make bench-gpu-attention    attention alone, beside PyTorch's and the formulas: gpu_attention.json
bench-gpu: RUN_ON_GPU = bench_train --device cuda --compile
bench-gpu-attention: RUN_ON_GPU = bench_gpu_attention
bench-gpu bench-gpu-attention: all $(PLUGIN) $(GPU_HERE) $(B)/bench/bench_train $(B)/bench/bench_gpu_attention
	@mkdir -p bench/results
	@$(GPU_ENV) $(GPU_HERE)
	$(GPU_ENV) $(B)/bench/$(RUN_ON_GPU) $(BENCH_ARGS)
bench-symreg-speed: bench-symreg_speed
$(B)/bench/%: bench/%.c $(ALL_LIBS) | .deps
	$(call link,CC,$(CC) $(ALL_CFLAGS) -rdynamic,$(probe_LIBS) $(LDLIBS))
$(B)/bench/%: private WHOLE = yes
# the MPI plugin behind a delay, for bench/network.sh
$(B)/bench/late_mpi.so: bench/late_mpi.c | .deps
	$(call link,CC,$(CC) $(ALL_CFLAGS) -shared -fPIC)
.PHONY: bench $(BENCHES:%=bench-%) bench-gpu bench-gpu-attention bench-symreg-speed
