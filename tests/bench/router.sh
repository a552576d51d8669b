#!/usr/bin/env bash
# scripts/dev bench router: what the router adds to a model's answer, beside nginx. See router.py --help.
set -euo pipefail
cd "$(dirname "$0")/../.."
build="${QUINCE_TEST_BUILD:-build}"
cmake --build "$build" --target bench_router fake_backend quinced -- --quiet
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || {
    echo "bench router: needs nginx (Debian package nginx-light)" >&2
    exit 1
}
exec /usr/bin/python3 tests/bench/router.py --build "$build" "$@"
