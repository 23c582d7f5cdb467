# shellcheck shell=bash
# Debian packages: what is needed for what, and how to see that it is there without asking dpkg, so
# that tools from elsewhere count too.

# One "PROBE PACKAGE" a line; a probe is a command or the absolute path of a file, which may
# be a pattern.
needs_of() {
    case "$1" in
        build) printf '%s\n' \
            'cmake cmake' 'ninja ninja-build' 'g++ g++' '/usr/include/uv.h libuv1-dev' ;;
        bench) printf '%s\n' \
            '/usr/include/benchmark/benchmark.h libbenchmark-dev' ;;
        test) printf '%s\n' \
            '/usr/include/gtest/gtest.h libgtest-dev' '/usr/include/gmock/gmock.h libgmock-dev' ;;
        fuzz) printf '%s\n' \
            'clang++ clang' \
            '/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a libclang-rt-dev' ;;
        check) printf '%s\n' \
            'g++ g++' 'git git' 'clang-format clang-format' ;;
        tidy) printf '%s\n' \
            'clang-tidy clang-tidy' ;;
        node) printf '%s\n' \
            'npm npm' ;;
    esac
}

missing_packages() {
    local purpose probe package
    for purpose in "$@"; do
        needs_of "$purpose" | while read -r probe package; do
            if [ "${probe#/}" != "$probe" ]; then
                compgen -G "$probe" >/dev/null || printf '%s\n' "$package"
            else
                command -v "$probe" >/dev/null 2>&1 || printf '%s\n' "$package"
            fi
        done
    done | sort -u | tr '\n' ' ' | sed 's/ *$//'
}

package_lists_are_fresh=no

# ensure_debian_packages PURPOSE...: installs what is missing if it can, else names it and stops.
ensure_debian_packages() {
    local missing
    missing=$(missing_packages "$@")
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
        fail "these packages are missing and need an administrator: apt-get install $missing"
    fi
    if [ "$package_lists_are_fresh" = no ]; then
        run_step apt-update "updating the package lists" \
            apt-get -qq -o DPkg::Lock::Timeout=300 update || fail "apt-get update failed"
        package_lists_are_fresh=yes
    fi
    # shellcheck disable=SC2086 # a list of names
    run_step apt-install "installing $missing" \
        env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -y -o DPkg::Lock::Timeout=300 install --no-install-recommends $missing ||
        fail "could not install: $missing"
    missing=$(missing_packages "$@")
    [ -z "$missing" ] || fail "still missing after the installation: $missing"
}
