# study.mk - the study: questions that one paper raises, asked with the programs of this project. It uses
# them, and nothing of the product uses the study.
STUDY_TESTS := $(patsubst study/tests/%.c,$(B)/tests/study/%,$(wildcard study/tests/test_*.c))
STUDY_SCRIPTS := $(wildcard study/tests/test_*.sh)
$(B)/tests/study/%: study/tests/%.c $(call libs,$(study_USES)) | .deps
	$(call link,CC,$(CC) $(ALL_CFLAGS) $(TEST_CFLAGS) $(call light,study) -Itests -Istudy,-lcmocka $(LDLIBS))
VERDICT ?= long
verdict: all ; @$(GRID_ENV) JOBS=$(call arg,JOBS) exec study/verdict.sh $(call arg,VERDICT)
claims: all results ; @$(GRID_ENV) study/claims.sh study/results study/cells.csv.xz
# all results: one table that is kept, and the files that programs and tests read
results: study/results/.unpacked
study/results/.unpacked: study/cells.csv.xz study/cells.sh | .deps
	@study/cells.sh unpack $< $(@D) && touch $@
$(STUDY_TESTS): | study/results/.unpacked
check check-all check-more check-one: study/results/.unpacked
.PHONY: verdict claims results
