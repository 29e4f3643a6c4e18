# bench.mk - bench/bench_<name>.c: a table on the terminal and bench/results/<name>.json.
BENCHES := $(patsubst bench/bench_%.c,%,$(wildcard bench/bench_*.c))
bench: ; @echo "benchmarks:$(BENCHES:%= make bench-%) make bench-gpu"
$(BENCHES:%=bench-%): bench-%: all $(B)/bench/bench_%
	$(B)/bench/bench_$* $(call each,BENCH_ARGS) $(if $(TABLE),--table $(call arg,TABLE)) $(if $(FULL),$(if $(filter symreg,$*),--full))
bench-symreg-speed: bench-symreg_speed
bench-gpu: gpu-here $(B)/bench/bench_train ; $(GPU_ENV) $(B)/bench/bench_train --device cuda --compile $(call each,BENCH_ARGS)
bench-gpu-attention: gpu-here $(B)/bench/bench_gpu_attention ; $(GPU_ENV) $(B)/bench/bench_gpu_attention $(call each,BENCH_ARGS)
$(B)/bench/%: bench/%.c $(ALL_LIBS) | .deps
	$(call link,CC,$(CC) $(ALL_CFLAGS) -rdynamic,$(probe_LIBS) $(LDLIBS))
$(B)/bench/%: private WHOLE = yes
$(B)/bench/late_mpi.so $(B)/bench/cpu_clock.so: $(B)/bench/%.so: bench/%.c | .deps ; $(call link,CC,$(CC) $(ALL_CFLAGS) -shared -fPIC)
$(B)/bench/bench_symreg_laws: | $(B)/bench/cpu_clock.so
