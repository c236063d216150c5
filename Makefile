# Everything this project does on a machine that has Rust. A tool that is missing is installed
# with cargo, into the user's own cargo home, when a target first needs it.

FUZZ_SECONDS ?= 60
# Set to go on without an optional checker that cannot be installed. It says so.
SKIP_MISSING ?=

CARGO ?= cargo
COVERAGE := target/coverage
# One directory for everything that is built, whatever the user's own settings say.
export CARGO_TARGET_DIR := $(CURDIR)/target

.DEFAULT_GOAL := help
.PHONY: help build demo install test test-agents test-wink check tidy bless fmt bench coverage fuzz advisories clean

# $(call has,TOOL) tells whether cargo has the subcommand TOOL, wherever it is installed.
has = $(CARGO) --list | grep '^ *$(1)\b' >/dev/null

# $(call with,TOOL,COMMAND) runs COMMAND, which needs the cargo subcommand TOOL.
define with
	@if $(call has,$(1)) || { \
		echo '>> cargo-$(1) is missing, installing it: cargo install --locked cargo-$(1)'; \
		$(CARGO) install --locked cargo-$(1); \
	}; then \
		echo '$(2)'; $(2); \
	elif [ -n '$(SKIP_MISSING)' ]; then \
		echo '!! NOT RUN, because cargo-$(1) could not be installed: $(2)' >&2; \
	else \
		echo '!! cargo-$(1) could not be installed; needed for: $(2)' >&2; exit 1; \
	fi
endef

help: ## Lists the targets.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

build: ## Builds the program: target/release/quipu.
	$(CARGO) build --release --package quipu-cli

# An optimised build takes minutes longer and shows nothing more; the tests need this one anyway.
demo: ## Builds the program, runs a small workflow with one of everything and shows what it left.
	$(CARGO) build --package quipu-cli
	target/debug/quipu demo

install: ## Installs the program into the user's cargo home.
	$(CARGO) install --locked --path crates/cli

# The documented jq examples are tests. Where jq can be neither found nor installed, they say so.
define with_jq
	if ! command -v jq >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo '>> jq is missing, installing it: apt-get install jq'; \
		apt-get install -y -qq jq >/dev/null 2>&1 || \
			{ apt-get update -qq && apt-get install -y -qq jq; } >/dev/null 2>&1 || true; \
	fi; \
	if ! command -v jq >/dev/null; then \
		echo '!! NOT RUN, because jq could not be found: the jq examples' >&2; \
		export QUIPU_TEST_WITHOUT_JQ=1; \
	fi
endef

# The pages for a browser are tested in one. Where there is none and none can be installed, that is said.
define with_browser
	if ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null && \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo '>> chromium is missing, installing it: apt-get install chromium'; \
		apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1 || \
			{ apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } >/dev/null 2>&1 || true; \
	fi; \
	if command -v node >/dev/null && { command -v chromium || command -v google-chrome; } >/dev/null; then \
		export QUIPU_BROWSER_REQUIRED=1; \
	else \
		echo '!! NOT RUN, because node or chromium could not be found: the pages in a browser' >&2; \
	fi
endef

test: ## Runs every test: unit, integration, documentation, and the tidy checks.
	@$(with_jq); \
	$(with_browser); \
	if $(call has,nextest); then \
		echo 'cargo nextest run --workspace'; $(CARGO) nextest run --workspace; \
	else \
		echo 'cargo test --workspace'; \
		$(CARGO) test --workspace --lib --bins --tests --examples; \
	fi
	$(CARGO) test --workspace --doc
	@$(MAKE) --no-print-directory test-wink
	$(CARGO) xtask tidy

# What the tests have built is used here as it is, so that nothing is built twice.
# A machine without Node or without npm's network says loudly what it did not test. That is a failure
# only where QUIPU_AGENTS_REQUIRED is 1.
test-agents: ## Runs the real agents against a scripted model API, and MCP servers of others; installs them from npm.
	$(CARGO) test --workspace --test all --no-run
	@if command -v node >/dev/null && command -v npm >/dev/null; then \
		node agents/test.mjs && \
		if servers=$$(node agents/plugins.mjs) && [ -n "$$servers" ]; then \
			QUIPU_MCP_SERVERS_DIR="$$servers" \
				$(CARGO) test --workspace --test all third_party; \
		else \
			echo '!! SKIPPED: no MCP server of others was tested' >&2; \
			[ "$$QUIPU_AGENTS_REQUIRED" != 1 ]; \
		fi; \
	else \
		echo '!! SKIPPED: no real agent was tested, because node or npm is missing' >&2; \
		[ "$$QUIPU_AGENTS_REQUIRED" != 1 ]; \
	fi

# WINK's own program opens bundles that we made. It needs Python 3.12 or later, and the network once.
# A machine without says loudly what it did not test. That is a failure only where QUIPU_WINK_REQUIRED is 1.
test-wink: ## Opens debug bundles with WINK's own program; installs it into target/wink.
	@wink="$${QUIPU_WINK:-$(CARGO_TARGET_DIR)/wink/bin/wink}"; \
	if [ ! -x "$$wink" ]; then \
		for python in python3 python3.14 python3.13 python3.12 "$$HOME"/.pyenv/versions/*/bin/python3; do \
			"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null || continue; \
			echo ">> WINK is missing, installing it into $(CARGO_TARGET_DIR)/wink"; \
			"$$python" -m venv "$(CARGO_TARGET_DIR)/wink" && \
				"$(CARGO_TARGET_DIR)/wink/bin/pip" install --quiet 'weakincentives[wink]==0.27.0'; \
			break; \
		done; \
	fi; \
	if [ -x "$$wink" ]; then \
		QUIPU_WINK="$$wink" $(CARGO) test --workspace --test wink -- --ignored; \
	else \
		echo "!! NOT RUN, because WINK could not be installed: its own program on our bundles" >&2; \
		[ "$$QUIPU_WINK_REQUIRED" != 1 ]; \
	fi

check: ## Runs every checker: format, clippy, docs, tidy, unused and unwanted dependencies.
	$(CARGO) fmt --all --check
	rustfmt --edition 2024 --check fuzz/fuzz_targets/*.rs
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps --document-private-items
	$(CARGO) xtask tidy
	$(call with,machete,$(CARGO) machete)
	$(call with,deny,$(CARGO) deny check bans licenses sources)

tidy: ## Checks that drawings, documents and promises are true.
	$(CARGO) xtask tidy

bless: ## Rewrites what is generated: the JSON Schema and parts of FORMAT.md.
	$(CARGO) xtask tidy --bless

fmt: ## Formats every source file.
	$(CARGO) fmt --all
	rustfmt --edition 2024 fuzz/fuzz_targets/*.rs

bench: ## Measures speed, prints a table and writes target/bench/summary.json.
	$(CARGO) run --release --package quipu-bench

coverage: ## Prints line coverage of event and journal; fails unless both are above 85 %.
	@mkdir -p $(COVERAGE)
	$(call with,tarpaulin,$(CARGO) tarpaulin --packages quipu-event quipu-journal --engine llvm --skip-clean --target-dir target/tarpaulin --out Json --output-dir $(COVERAGE))
	$(CARGO) xtask coverage $(COVERAGE)/tarpaulin-report.json 85 event journal

# Fuzzing needs compiler flags that are not stable yet, and no sanitizer, as no crate is unsafe.
FUZZ := RUSTC_BOOTSTRAP=1 $(CARGO) fuzz run --fuzz-dir fuzz --target-dir fuzz/target -s none
FUZZ_TARGETS ?= $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))

fuzz: ## Feeds the line decoder, every normaliser and layout, price lists, the workflow languages and both ends of MCP hostile bytes for FUZZ_SECONDS (60) each.
	$(call with,fuzz,$(MAKE) --no-print-directory $(FUZZ_TARGETS:%=fuzz-%))

# The seeds of a normaliser are its cases.
fuzz-normalize_%:
	@mkdir -p fuzz/corpus/normalize_$*
	@for case in $$(find crates/provider/tests/cases/$* -name '*.in.*'); do \
		cp "$$case" "fuzz/corpus/normalize_$*/seed-$$(echo "$$case" | tr / -)"; \
	done
	$(FUZZ) normalize_$* fuzz/corpus/normalize_$* -- -max_total_time=$(FUZZ_SECONDS) -max_len=65536

fuzz-decode_line:
	@mkdir -p fuzz/corpus/decode_line
	$(FUZZ) decode_line fuzz/corpus/decode_line fuzz/seeds/decode_line -- -max_total_time=$(FUZZ_SECONDS)

# A run for the layouts is a file of lines, and its seed the lines of every type.
fuzz-layouts:
	@mkdir -p fuzz/corpus/layouts
	$(FUZZ) layouts fuzz/corpus/layouts crates/event/tests/golden -- -max_total_time=$(FUZZ_SECONDS) -max_len=65536

fuzz-prices:
	@mkdir -p fuzz/corpus/prices
	@cp crates/view/prices.json fuzz/corpus/prices/seed
	$(FUZZ) prices fuzz/corpus/prices -- -max_total_time=$(FUZZ_SECONDS) -max_len=65536

fuzz-mcp_server:
	@mkdir -p fuzz/corpus/mcp_server
	$(FUZZ) mcp_server fuzz/corpus/mcp_server fuzz/seeds/mcp_server -- -max_total_time=$(FUZZ_SECONDS) -max_len=8192

fuzz-template fuzz-expression fuzz-shell fuzz-plugin_line fuzz-import: fuzz-%:
	@mkdir -p fuzz/corpus/$*
	$(FUZZ) $* fuzz/corpus/$* -- -max_total_time=$(FUZZ_SECONDS) -max_len=4096

advisories: ## Looks for known vulnerabilities in dependencies; fetches the public database.
	$(call with,deny,$(CARGO) deny check advisories)

clean: ## Removes everything that was built.
	$(CARGO) clean
	rm -rf fuzz/target
