# SPDX-License-Identifier: MIT
# The test programs and what `make check` runs.  Included by the Makefile.

VECTOR_OBJS = $(call objs,$(wildcard tests/vector_*.c))
WRAP = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

$(OUT)/tests/test_%: $(OUT)/tests/unit/test_%.o $(ARCHIVES)
	@mkdir -p $(@D)
	$(link) $(TEST_LIBS) -o $@

check: tests
	tests/check $(if $(TESTS),$(TESTS))

lint:
	tests/lint
