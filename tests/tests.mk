# SPDX-License-Identifier: MIT
# The test programs, and what `make check` runs.  Included by the Makefile.

WRAP = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
VECTOR_OBJS := $(call objs,$(filter-out %wrap.c,$(wildcard tests/vector_*.c)))
VECTOR_WRAP := $(OUT)/tests/vector_wrap.o
VECTOR_NOWRAP := $(OUT)/tests/vector_nowrap.o
CORPUS_OBJS := $(OUT)/tests/corpus.o $(VECTOR_OBJS) $(VECTOR_NOWRAP)

# Unit tests may let allocations fail, and make bodies with every codec.
$(OUT)/tests/libtest.a: $(VECTOR_OBJS) $(OUT)/tests/unit/grpcframe_play.o \
  $(OUT)/tests/unit/what_if_play.o
$(OUT)/tests/test_%: $(OUT)/tests/unit/test_%.o $(VECTOR_WRAP) \
  $(OUT)/tests/libtest.a $(ARCHIVES)
	$(Q)$(link) $(WRAP) $(TEST_LIBS) -o $@

$(OUT)/tests/run_vectors: $(OUT)/tests/run_vectors.o $(VECTOR_OBJS) \
  $(VECTOR_WRAP) $(ARCHIVES)
	$(Q)$(link) $(WRAP) $(TEST_LIBS) -o $@
$(OUT)/tests/corpus_%: $(OUT)/tests/corpus_%.o $(CORPUS_OBJS) $(ARCHIVES)
	$(Q)$(link) $(TEST_LIBS) -o $@
# Fuzz targets get a main that replays files; see tests/fuzz/replay.c.
$(OUT)/tests/fuzz_%: $(OUT)/tests/fuzz/fuzz_%.o $(OUT)/tests/fuzz/replay.o \
  $(CORPUS_OBJS) $(ARCHIVES)
	$(Q)$(link) $(TEST_LIBS) -o $@
$(OUT)/tests/seeds: $(OUT)/tests/fuzz/seeds.o $(VECTOR_OBJS) $(VECTOR_NOWRAP) \
  $(ARCHIVES)
	$(Q)$(link) $(TEST_LIBS) -o $@

$(OUT)/tests/big_message: \
  $(call objs,$(wildcard tests/soak/big_message*.c) examples/echo_addr.c)
	$(Q)$(link) $(TEST_LIBS) -o $@
$(OUT)/tests/soak_bytes: $(call objs,$(wildcard tests/soak/soak*.c)) $(ARCHIVES)
	$(Q)$(link) $(TEST_LIBS) -o $@

# The microbenches look into the libraries as the unit tests do, and are linked
# as the program is.
MICROS := $(addprefix $(OUT)/tests/micro_,h2dec grpcframe h1dec event)
$(OUT)/tests/micro_%: $(OUT)/tests/bench/micro_%.o $(OUT)/tests/bench/micro.o \
  $(ARCHIVES)
	$(Q)$(link) $(LTO_$(VARIANT)) $(TEST_LIBS) -o $@
$(OUT)/tests/floor: $(OUT)/tests/bench/floor.o
	$(Q)$(link) -o $@
tests: $(MICROS) $(OUT)/tests/floor

bench: all $(MICROS)
	tests/bench/run --grpctap $(OUT)/grpctap $(BENCH)
bench-long: all
	tests/bench/calls --grpctap $(OUT)/grpctap $(or $(CALLS),10000000)

check: tests
	VARIANT=$(VARIANT) tests/check $(if $(FORBID_SKIPS),--forbid-skips) $(TESTS)

soak: tests
	VARIANT=$(VARIANT) tests/soak/long

studies: all
	GRPCTAP=$(OUT)/grpctap examples/studies/run -o build/studies.md $(STUDIES)
	@echo "report: build/studies.md"

lint: $(OUT)/grpctap
	VARIANT=$(VARIANT) tests/lint $(if $(FORBID_SKIPS),--forbid-skips)

.PHONY: bench bench-long studies
