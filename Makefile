# SPDX-License-Identifier: MIT
# grpctap: build, install, test.
#
#   make                 the program and its libraries (build/grpctap)
#   make install         into DESTDIR and PREFIX (/usr/local)
#   make setup           install what is missing, with apt (Debian 12; root)
#   make demo            echo server, tap and client: events and a jq table
#   make check           every test; TESTS="name ..." runs some
#   make lint            what a program can check of the style
#   make soak            the long runs: 10 GiB, 1 GiB messages, 100,000 calls
#   make bench           beside other proxies, see docs/performance.md
#   make studies         examples/studies, all of it: build/studies.md
#   make clean           remove build/
#
# VARIANT=release|debug|san|cov chooses how; each has a folder of its own.  V=1
# shows the commands.  CFLAGS, LDFLAGS and CPPFLAGS of the user come after ours.

VARIANT ?= release
PREFIX ?= /usr/local
DESTDIR ?=
CC = gcc
INSTALL ?= install
PKG_CONFIG ?= pkg-config

FLAGS_release = -O2 -g -DNDEBUG
# For the link of the program; those of all tests would take minutes.
LTO_release = -flto=auto -ffat-lto-objects
FLAGS_debug = -Og -g3 -Werror
FLAGS_san = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
  -fno-sanitize-recover=undefined
FLAGS_cov = -O0 -g --coverage
ifndef FLAGS_$(VARIANT)
  $(error unknown VARIANT=$(VARIANT): release, debug, san or cov)
endif

Q = $(if $(V),,@echo "  $@";)
OUT := build/$(VARIANT)
WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes \
  -Wmissing-prototypes -Wwrite-strings -Wundef -Wvla
BASE = -std=c11 -D_GNU_SOURCE -pthread $(WARN) $(FLAGS_$(VARIANT)) -MMD -MP
pkg = $(shell $(PKG_CONFIG) $(1) $(2) 2>/dev/null)
NEEDS = libevent libnghttp2 zlib libbrotlidec libbrotlienc libzstd snappy
LIBS = $(call pkg,--libs,$(NEEDS)) -lhttp_parser -lm
TEST_LIBS = $(LIBS) $(call pkg,--libs,cmocka libcjson libcrypto)
VERSION := $(shell sed -n 's/.*GRPCTAP_VERSION "\(.*\)"/\1/p' proxy/version.h)

objs = $(patsubst %.c,$(OUT)/%.o,$(1))
H2DEC := $(wildcard h2dec/*.c)
H1DEC := $(wildcard h1dec/*.c)
GRPCFRAME := $(wildcard grpcframe/*.c)
LIBRARIES = h2dec h1dec grpcframe
PROXY := $(filter-out proxy/main.c,$(wildcard proxy/*.c))
ARCHIVES = $(OUT)/libproxy.a $(addprefix $(OUT)/lib,$(addsuffix .a,$(LIBRARIES)))
ECHO_SHARED := $(filter-out examples/echo_server% examples/echo_client%,\
  $(wildcard examples/echo_*.c))
UNITS := $(patsubst tests/unit/%.c,$(OUT)/tests/%,$(wildcard tests/unit/test_*.c))
TOOLS := $(addprefix $(OUT)/tests/,run_vectors corpus_hpack corpus_frames \
  corpus_fuzz corpus_compress seeds fuzz_tap fuzz_h1dec fuzz_grpcframe \
  soak_bytes big_message)
EXAMPLES := $(OUT)/echo_server $(OUT)/echo_client

.DEFAULT_GOAL := all
needs:
	@$(PKG_CONFIG) --print-errors --exists $(NEEDS) || { \
	  echo "libraries are missing: make setup, or see tests/setup" >&2; exit 1; }
all: $(OUT)/grpctap
	@ln -sfn $(VARIANT)/grpctap build/grpctap
tests: all $(EXAMPLES) $(UNITS) $(TOOLS)

$(OUT)/%.o: %.c Makefile | needs
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(LTO_$(VARIANT)) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

$(OUT)/libh2dec.a: $(call objs,$(H2DEC))
$(OUT)/libh1dec.a: $(call objs,$(H1DEC))
$(OUT)/libgrpcframe.a: $(call objs,$(GRPCFRAME))
$(OUT)/libproxy.a: $(call objs,$(PROXY))
%.a:
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

link = $(CC) $(BASE) -fno-lto $(CFLAGS) $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS)
$(OUT)/grpctap: $(OUT)/proxy/main.o $(ARCHIVES)
	$(Q)$(link) $(LTO_$(VARIANT)) $(LIBS) -o $@
$(OUT)/echo_server: $(call objs,$(ECHO_SHARED) $(wildcard examples/echo_server*.c))
	$(Q)$(link) $(TEST_LIBS) -o $@
$(OUT)/echo_client: $(call objs,$(ECHO_SHARED) $(wildcard examples/echo_client*.c))
	$(Q)$(link) $(TEST_LIBS) -o $@

include tests/tests.mk
-include $(shell find $(OUT) -name '*.d' 2>/dev/null)

INSTALL_TO = $(DESTDIR)$(PREFIX)
install: all
	for dir in bin include lib/pkgconfig share/man/man1 share/doc/grpctap; do \
	  $(INSTALL) -d "$(INSTALL_TO)/$$dir" || exit 1; \
	done
	$(INSTALL) $(OUT)/grpctap "$(INSTALL_TO)/bin/"
	$(INSTALL) -m 644 docs/grpctap.1 "$(INSTALL_TO)/share/man/man1/"
	$(INSTALL) -m 644 docs/*.md docs/events.schema.json LICENSE \
	  "$(INSTALL_TO)/share/doc/grpctap/"
	for lib in $(LIBRARIES); do \
	  $(INSTALL) -m 644 $$lib/$$lib.h "$(INSTALL_TO)/include/" && \
	  $(INSTALL) -m 644 $(OUT)/lib$$lib.a "$(INSTALL_TO)/lib/" && \
	  sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' $$lib/$$lib.pc.in \
	    >"$(INSTALL_TO)/lib/pkgconfig/$$lib.pc" || exit 1; \
	done

setup:
	tests/setup
demo:
	$(MAKE) all examples
	OUT=$(OUT) examples/demo
examples: $(EXAMPLES)
clean:
	rm -rf build

.PHONY: all tests install needs setup demo examples check lint soak clean
.DELETE_ON_ERROR:
.SECONDARY:
