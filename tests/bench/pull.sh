#!/usr/bin/env bash
# scripts/dev bench pull: a large model through the whole server, beside plain curl. See pull.py --help.
set -euo pipefail
cd "$(dirname "$0")/../.."
build="${QUINCE_TEST_BUILD:-build}"
cmake --build "$build" --target quinced fake_backend -- --quiet
[ -x /usr/sbin/nginx ] || {
    echo "bench pull: needs nginx (Debian package nginx-light)" >&2
    exit 1
}
QUINCE_TEST_BUILD="$build" exec /usr/bin/python3 tests/bench/pull.py "$@"
