# shellcheck shell=bash
# CMake builds by preset, in build/PRESET. Ninja decides what has to be made again.

# True if build/$1 must be configured: never done, done elsewhere, or older than the presets.
needs_configuring() {
    local folder=build/$1
    if [ -f "$folder/CMakeCache.txt" ] &&
        ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
        say "$folder belongs to a checkout at another place: starting it afresh"
        rm -rf "$folder"
    fi
    [ ! -f "$folder/build.ninja" ] || [ CMakePresets.json -nt "$folder/build.ninja" ]
}

# build PRESET TARGET...
build() {
    try_build "$@" || fail "the build $1 failed"
}

# Like build, but leaves it to the caller to go on after a failure.
try_build() {
    local preset=$1 launcher=()
    shift
    if needs_configuring "$preset"; then
        if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
        run_step "$preset-configure" "configuring build/$preset" \
            cmake --preset "$preset" ${launcher[@]+"${launcher[@]}"} || return 1
    fi
    run_step "$preset-build" "building build/$preset ($*)" \
        cmake --build "build/$preset" -j "$(core_count)" --target "$@"
}
