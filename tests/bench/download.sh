#!/usr/bin/env bash
# scripts/dev bench download: the download engine beside plain curl on one file. See download.py --help.
set -euo pipefail
cd "$(dirname "$0")/../.."
export QUINCE_TEST_BUILD="${QUINCE_TEST_BUILD:-$PWD/build}"
cmake --build "$QUINCE_TEST_BUILD" --target fetch_probe quinced fake_backend -- --quiet
[ -x /usr/sbin/nginx ] || {
    echo "bench download: needs nginx (Debian package nginx-light)" >&2
    exit 1
}
exec /usr/bin/python3 tests/bench/download.py "$@"
