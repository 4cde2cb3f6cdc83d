# SPDX-License-Identifier: Apache-2.0
# The front door. CMake does the work (CMakePresets.json); this file only gives it short names.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 20
SOAK_MINUTES ?= 10
SOAK_RELAY_MINUTES ?= 5
JOBS ?= 2

.PHONY: all help deps test browser-test demo audit fleet bench timing timing-quick lint asan asan-quick tsan fuzz
.PHONY: python-test python-test-peers python-speed bench-peers
.PHONY: coverage soak nightly mpi-test abi abi-update docs docs-api dist deb deb-test container
.PHONY: cross-test install clean

all: ## build build/caucus and the libraries build/libcaucus*.{a,so} (release)
	cmake --preset release
	cmake --build build -j $(JOBS)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install the Debian packages needed to build and test, if any is missing
	tools/install-deps --test

test: ## install what is missing, build, run every test
	tools/install-deps --test
	$(MAKE) all
	ctest --test-dir build --output-on-failure --no-tests=error -j $(JOBS)

browser-test: ## look at the status page in chromium (installs it)
	tools/install-deps --browser
	$(MAKE) all
	tests/browser/run.sh

demo: ## the paper's experiments, as a report: out/report/index.html
	tools/install-deps
	$(MAKE) all
	build/caucus reproduce --out out/report

audit: all ## try to refute every privacy claim (minutes): out/audit/audit.html
	build/caucus audit --out out/audit

fleet: all ## what the algorithms for fleets must show (experiments/fleet.yaml), 24 trials, two seeds: minutes
	tools/install-deps --test
	tools/fleet build/caucus

python-test: all ## build the Python wheel, install it in a fresh environment (PyPI), run mypy, ruff, pytest there
	tools/install-deps --python
	tools/python-test build/caucus

python-test-peers: ## play examples/flower over a real Flower federation on loopback (fresh environment, PyPI)
	tools/install-deps --python
	tools/python-test-peers

python-speed: all ## simulate() from Python beside the program: fails above 1.05 of its processor time (PyPI)
	tools/install-deps --python
	tools/python-speed build/caucus

bench-peers: all ## measure beside OpenDP, diffprivlib and Flower, in an environment of its own (PyPI): minutes
	tools/install-deps --python
	tools/bench-peers build/caucus

mpi-test: all ## what tests of caucus-mpi take minutes: full audit and report over ranks, a million clients
	CAUCUS=build/caucus CAUCUS_MPI=build/caucus-mpi tests/mpi/long

bench: all ## measure speed (bench/), against the bare limit where there is one
	cmake --build build -j $(JOBS) --target benches
	@for program in build/bench/bench_*; do echo "== $$program"; $$program || exit 1; done

timing-quick: all ## does time tell scores or noise? 10^5 runs a mode (about a minute)
	build/tests/timing 100000

timing: all ## the same with 10^6 runs
	build/tests/timing 1000000

lint: ## warnings as errors (gcc, clang), cppcheck, clang-tidy, shellcheck, house rules
	tools/install-deps --dev
	tools/lint

asan: ## tests under AddressSanitizer and UndefinedBehaviorSanitizer
	cmake --preset asan
	cmake --build build-asan -j $(JOBS)
	ctest --test-dir build-asan --output-on-failure --no-tests=error -j $(JOBS)

asan-quick: ## the quick tests under AddressSanitizer and UndefinedBehaviorSanitizer: minutes, for every change
	cmake --preset asan
	cmake --build build-asan -j $(JOBS)
	ctest --test-dir build-asan --output-on-failure --no-tests=error -j $(JOBS) -LE 'stat|sim|e2e|fault|audit|house' \
	    -E 'cli-(audit|reproduce|experiments|progress)|algo-exact_stoch_run'

tsan: ## tests under ThreadSanitizer (all but the statistical ones, which have one thread)
	cmake --preset tsan
	cmake --build build-tsan -j $(JOBS)
	TSAN_OPTIONS="suppressions=$(CURDIR)/tests/tsan.supp $$TSAN_OPTIONS" \
	    ctest --test-dir build-tsan --output-on-failure --no-tests=error -j $(JOBS) -LE stat

fuzz: ## run each fuzz target for FUZZ_SECONDS=20
	tools/install-deps --dev
	cmake --preset fuzz
	cmake --build build-fuzz -j $(JOBS)
	tools/fuzz build-fuzz $(FUZZ_SECONDS)

soak: all ## federations under kills, cut links, full disks, jumping clocks, bad lists, floods (SOAK_MINUTES=10)
	CAUCUS=$(CURDIR)/build/caucus SOAK_MINUTES=$(SOAK_MINUTES) tools/soak/run
	CAUCUS=$(CURDIR)/build/caucus SOAK_RELAY_MINUTES=$(SOAK_RELAY_MINUTES) tools/soak/relays

coverage: ## branch coverage of all layers but cli, at least 80 %; line coverage of the core, at least 90 %
	tools/install-deps --dev
	cmake --preset coverage
	cmake --build build-coverage -j $(JOBS)
	tools/coverage build-coverage 80 90 $(JOBS)

nightly: ## what is too long for every change: asan, fuzz, audit, soak, a million steps (bench_steps 1000000), ...
	tools/nightly

abi: ## compare the shared libraries' ABI with the committed one (abi/)
	tools/install-deps --dev
	cmake --preset dev
	cmake --build build-dev -j $(JOBS) --target caucus-shared caucus-link-shared caucus-sim-shared
	tools/abi build-dev

abi-update: ## write the committed ABI (abi/) anew
	tools/install-deps --dev
	cmake --preset dev
	cmake --build build-dev -j $(JOBS) --target caucus-shared caucus-link-shared caucus-sim-shared
	tools/abi build-dev --update

docs-api: ## the reference of the C interface: build/docs-api/html/index.html; warnings are errors
	tools/install-deps --dev
	tools/docs-api build/docs-api

docs: all ## README, docs, commands, C and Python interface as one site with search: build/docs/site/index.html (PyPI)
	tools/install-deps --docs
	tools/docs build/caucus build/docs

dist: ## the release's tarball and its checksum: out/dist (made twice, compared)
	tools/dist out/dist

deb: ## Debian packages, which lintian has nothing to say about: out/deb
	tools/install-deps --deb
	tools/deb out/deb

deb-test: deb ## install, use, upgrade and remove them in a system made by debootstrap; needs root (minutes)
	tests/packages/deb out/deb

container: deb ## images of caucus-client (from scratch) and caucus (serve, relay), tried: out/container; needs root
	tools/install-deps --container
	tools/container out/deb out/container

cross-test: ## build for aarch64 and compare under qemu-user: digest, tests, simulations, runs over TLS (minutes)
	tools/install-deps --test --cross
	cmake --preset release
	cmake --build build -j $(JOBS) --target caucus
	cmake --preset aarch64
	cmake --build build-aarch64 -j $(JOBS) --target caucus caucus-client
	JOBS=$(JOBS) tests/cross/run build build-aarch64

install: all ## install to PREFIX=/usr/local (DESTDIR for packages)
	DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(PREFIX)"
	@[ -n "$(DESTDIR)" ] || echo "programs with libcaucus*.so need ldconfig now, as root (docs/OPERATIONS.md, Installing)"

clean: ## remove everything that was built
	rm -rf build build-dev build-asan build-tsan build-fuzz build-coverage build-lint-gcc build-lint-clang build-python \
	    build-aarch64 out
