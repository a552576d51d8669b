#!/usr/bin/env bash
# scripts/dev bench llm: speed of the language models' networks. See llm.py --help.
exec /usr/bin/python3 "$(dirname "$0")/llm.py" "$(dirname "$0")/../../build/tests/bench_llm" "$@"
