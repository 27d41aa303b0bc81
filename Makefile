# The few commands of the project. Each does its own set-up (scripts/setup.sh).
#
#   make build                 build/toolkit: nvcc, streambed, headers, libcudart.so
#   make demo                  build, then run three examples with no GPU
#   make test                  every test, also under AddressSanitizer and ThreadSanitizer
#   make bench                 every benchmark
#   make fuzz                  random kernels, until one of them goes wrong or you stop it
#   make lint / make format    formatting, includes, clang-tidy / reformat in place
#   make install PREFIX=dir    the toolkit somewhere else
#   make clean                 remove build/ and what a test builds beside it
#
# WERROR=ON makes warnings errors in the release build (the sanitized ones always do).
PREFIX ?= /usr/local/streambed
JOBS ?= $(shell nproc)
WERROR ?= OFF

.PHONY: build demo test bench fuzz lint format install clean
.DEFAULT_GOAL := build

build:
	@scripts/setup.sh build
	@test -f build/build.ninja || scripts/configure.sh release build \
	  -DSTREAMBED_TESTS=OFF -DCMAKE_COMPILE_WARNING_AS_ERROR=$(WERROR)
	@cmake --build build --target toolkit -j $(JOBS)

demo: build
	@scripts/demo.sh

test:
	@scripts/setup.sh test
	@scripts/test.py --jobs $(JOBS) --werror $(WERROR)

bench:
	@scripts/setup.sh bench
	@scripts/configure.sh release build -DSTREAMBED_TESTS=OFF -DSTREAMBED_BENCH=ON
	@cmake --build build -j $(JOBS)
	@scripts/bench.py

fuzz: build
	@python3 tests/fuzz/fuzz.py --nvcc build/toolkit/bin/nvcc --seconds 0 --keep build/fuzz-failures

lint:
	@scripts/setup.sh lint
	@scripts/lint.py

format:
	@scripts/setup.sh lint
	@scripts/lint.py --fix-format

install: build
	@cmake --install build --prefix $(abspath $(PREFIX))

clean:
	rm -rf build build-without-llvm
