# shellcheck shell=bash
# `./millrace test`: the stages, and the sum of what they counted. A stage that cannot be built or
# run counts as one failure; the others run all the same.

results_folder=build/results
all_stages='cpp addon js types fuzz install tools'
fast_stages='cpp addon js types tools'
fuzz_seconds=${MILLRACE_FUZZ_SECONDS:-10}
# Stops a hanging test; far above what a slow machine needs.
js_test_timeout_ms=300000

# record passed|failed|skipped NAME: one counted step that is not a test runner of its own.
record() {
    printf '%s %s\n' "$1" "$2" >>"$results_folder/steps.txt"
    [ "$1" = passed ] || say "$1: $2"
}

# counted NAME TEXT COMMAND...: a step that is one test.
counted() {
    if run_step "$@"; then record passed "$1"; else record failed "$1"; fi
}

# A test program that ctest does not know would pass without being run.
check_registration() {
    local built registered
    built=$(find build/dev -name '*_test' -type f -perm -u+x | wc -l)
    registered=$(ctest --test-dir build/dev -N | sed -n 's/^Total Tests: //p')
    [ "$built" -le "${registered:-0}" ] ||
        record failed "$built test programs are built, but ctest knows only ${registered:-0} tests"
}

stage_cpp() {
    ensure_debian_packages test bench
    try_build dev all || { record failed 'build dev'; return; }
    check_registration
    say "running the C++ tests (ctest)"
    rm -f build/dev/Testing/Temporary/LastTest.log
    if ! ctest --preset dev -j "$(core_count)" >"$log_folder/ctest.log" 2>&1; then
        # What passed is of no interest; failing programs have their output in the log.
        grep -vE '^ *([0-9]+: )?(\[ RUN|\[ +OK |\[-+\])|Start +[0-9]+:| Passed ' \
            "$log_folder/ctest.log" | tail -n 200 | sed 's/^/    /' >&2 || true
    fi
    cp build/dev/Testing/Temporary/LastTest.log "$results_folder/ctest.log" 2>/dev/null ||
        record failed 'ctest ran nothing'
}

stage_addon() {
    local target=all
    [ "$fast" = yes ] && target=millrace_node
    [ "$fast" = yes ] || ensure_debian_packages bench
    try_build release "$target" || record failed 'build release'
}

js_test_files() {
    # A folder that is not there has no tests.
    { find "$@" -type f -name '*.test.js' -not -path '*/node_modules/*' 2>/dev/null || true; } |
        sort
}

# run_js_tests NAME NODE FILE...
run_js_tests() {
    local name=$1 node=$2
    shift 2
    local tap=$results_folder/$name.tap
    say "running the tests $name ($# files, Node.js $("$node" -p process.versions.node))"
    if ! "$node" --test --test-timeout="$js_test_timeout_ms" \
        --test-reporter=tap --test-reporter-destination="$tap" \
        --test-reporter=spec --test-reporter-destination=stdout \
        "$@" >"$log_folder/$name.log" 2>&1; then
        sed -n '/failing tests:/,$p' "$log_folder/$name.log" | head -n 200 |
            sed 's/^/    /' >&2 || true
        # A failed run that counted no failure did not get as far as its tests.
        grep -qE '^# (fail|cancelled) [1-9]' "$tap" 2>/dev/null || record failed "tests $name"
    fi
}

stage_js() {
    local files majors=$node_tested_majors major node
    files=$(js_test_files tests/js demo)
    [ -n "$files" ] || { record failed 'no JavaScript tests found'; return; }
    [ -f build/release/node/millrace.node ] || try_build release millrace_node ||
        { record failed 'build release'; return; }
    # shellcheck disable=SC2153 # NODE is set by ensure_node
    [ "$fast" = yes ] && majors=$(node_major "$NODE")
    for major in $majors; do
        node=$(test_node "$major") || { record failed "Node.js $major"; continue; }
        # shellcheck disable=SC2086 # file names without spaces
        run_js_tests "js-node-$major" "$node" $files
    done
    files=$(js_test_files bench)
    # shellcheck disable=SC2086
    [ -z "$files" ] || run_js_tests js-bench "$NODE" $files
}

stage_types() {
    counted types "checking the type tests (tsc)" node_modules/.bin/tsc -p tests/types
}

# One target: first everything that once went wrong, then some time of new inputs.
fuzz_one() {
    local program=$1 name corpus folders=()
    name=$(basename "$program")
    corpus=build/fuzz-corpus/$name
    mkdir -p "$corpus"
    for folder in "fuzz/corpus/$name" "fuzz/regressions/$name"; do
        [ -d "$folder" ] && folders+=("$folder")
    done
    "$program" -runs=0 ${folders[@]+"${folders[@]}"} &&
        "$program" -max_total_time="$fuzz_seconds" -timeout=20 -rss_limit_mb=2048 -verbosity=0 \
            -artifact_prefix="build/fuzz-corpus/$name-" "$corpus" ${folders[@]+"${folders[@]}"}
}

stage_fuzz() {
    if [ -n "$(missing_packages fuzz)" ] && [ "$(id -u)" -ne 0 ]; then
        record skipped 'fuzzing: clang is missing'
        return
    fi
    ensure_debian_packages fuzz
    try_build fuzz all || { record failed 'build fuzz'; return; }
    local programs program
    programs=$(find build/fuzz/fuzz -maxdepth 2 -type f -perm -u+x -name '*_fuzz*' | sort)
    [ -n "$programs" ] || { record failed 'no fuzz targets found'; return; }
    for program in $programs; do
        counted "$(basename "$program")" "fuzzing $(basename "$program") for ${fuzz_seconds} s" \
            fuzz_one "$program"
    done
}

stage_install() {
    try_build release millrace || { record failed 'build release'; return; }
    counted install "installing, and building a program against what was installed" \
        tests/install/run.sh build/release build/install-test
}

stage_tools() {
    # shellcheck disable=SC2046
    run_js_tests tools "$NODE" $(js_test_files tools)
}

run_tests() {
    fast=no
    local stages='' stage
    for argument in "$@"; do
        case " --fast $all_stages " in
            *" $argument "*) ;;
            *) fail "unknown stage or option: $argument (stages: $all_stages)" ;;
        esac
        if [ "$argument" = --fast ]; then fast=yes; else stages="$stages $argument"; fi
    done
    if [ -z "$stages" ]; then
        stages=$all_stages
        [ "$fast" = yes ] && stages=$fast_stages
    fi
    setup_for_addon
    rm -rf "$results_folder"
    mkdir -p "$results_folder"
    : >"$results_folder/steps.txt"
    for stage in $stages; do
        "stage_$stage"
    done
    release_lock
    # Its last line is the last of all.
    "$NODE" tools/count-results.js "$results_folder" || exit 1
}
