# Sourced by the other scripts: installs Debian packages that are missing, and says so.
#
# Building needs BUILD_PACKAGES; the tests need TEST_PACKAGES on top. Node.js may come from elsewhere.

BUILD_PACKAGES="gcc libc6-dev cmake ninja-build pkg-config libcurl4-openssl-dev
    libcjson-dev libsqlite3-dev libvulkan-dev libseccomp-dev libutf8proc-dev libedit-dev libarchive-dev
    nettle-dev"
# numpy computes the networks of the golden tests: with OpenBLAS its matrix products take a twentieth of the time.
TEST_PACKAGES="curl libcmocka-dev python3 python3-pytest python3-pytest-xdist python3-numpy libopenblas0-serial
    python3-jinja2 clang-14 libclang-rt-14-dev"

# What the tests of the page need where no Chromium of another kind is on the PATH: it starts in half the processor
# time of one with windows.
BROWSER_PACKAGES="chromium-headless-shell"

die() {
    echo "${0##*/}: $*" >&2
    exit 1
}

say() {
    echo "==> $*"
}

# need_packages NAME...: quick when nothing is missing.
need_packages() {
    local missing="" name
    for name in "$@"; do
        dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing="$missing $name"
    done
    [ -z "$missing" ] && return 0
    command -v apt-get >/dev/null || die "needs these Debian packages, and there is no apt-get:$missing"
    local root=""
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || die "run as root, or install first:$missing"
        root="sudo"
    fi
    say "installing packages:$missing"
    $root apt-get update -q >/dev/null || die "apt-get update failed: is a package mirror reachable?"
    # shellcheck disable=SC2086
    $root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing >/dev/null ||
        die "could not install:$missing"
}

# A browser for tests/browser.
need_browser() {
    command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null ||
        command -v google-chrome >/dev/null || [ -n "${QUINCE_TEST_CHROMIUM:-}" ] || need_packages $BROWSER_PACKAGES
}

# Node.js and npm, which may come from elsewhere than Debian.
need_node() {
    command -v node >/dev/null || need_packages nodejs
    command -v npm >/dev/null || need_packages npm
}

# build DIR [CMAKE OPTION...]: configures once, then builds what changed.
build() {
    local dir="$1"
    shift
    mkdir -p "$dir"
    [ -f "$dir/build.ninja" ] || say "configuring $dir"
    cmake -S . -B "$dir" -G Ninja "$@" >"$dir.configure.log" 2>&1 || {
        cat "$dir.configure.log" >&2
        die "cmake failed"
    }
    rm -f "$dir.configure.log"
    say "building $dir"
    cmake --build "$dir" || die "the build failed"
}
