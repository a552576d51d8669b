#!/usr/bin/env bash
# scripts/dev bench download: the download engine beside plain curl on one file. See download.py --help.
set -euo pipefail
cd "$(dirname "$0")/../.."
build="${QUINCE_TEST_BUILD:-build}"
cmake --build "$build" --target fetch_probe -- --quiet
[ -x /usr/sbin/nginx ] || {
    echo "bench download: needs nginx (Debian package nginx-light)" >&2
    exit 1
}
exec /usr/bin/python3 tests/bench/download.py --build "$build" "$@"
