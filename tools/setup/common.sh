# shellcheck shell=bash
# Reporting, logs and the lock that all set-up steps share. Sourced, with the checkout as the
# current directory.

# Nothing ends in silence.
set -E
trap 'say "failed unexpectedly: $BASH_COMMAND"' ERR

log_folder=build/log
log_tail_lines=40

say() { printf '%s\n' "millrace: $*" >&2; }

fail() {
    say "$*"
    exit 1
}

# run_step NAME TEXT COMMAND...: says TEXT, runs COMMAND with its output in build/log/NAME.log, and
# on failure shows the end of that log and returns the command's status.
run_step() {
    local name=$1 text=$2 status=0
    shift 2
    mkdir -p "$log_folder"
    say "$text"
    "$@" >"$log_folder/$name.log" 2>&1 </dev/null || status=$?
    if [ "$status" -ne 0 ]; then
        say "failed ($text): the last lines of $log_folder/$name.log are"
        tail -n "$log_tail_lines" "$log_folder/$name.log" | sed 's/^/    /' >&2
    fi
    return "$status"
}

# Two set-ups of one checkout at a time would trip over each other's files.
hold_lock() {
    mkdir -p build
    command -v flock >/dev/null || return 0
    exec 9>build/.lock
    if ! flock -n 9; then
        say "waiting for another ./millrace in this checkout"
        flock 9
    fi
}

release_lock() { exec 9>&-; }

core_count() { nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2; }

hash_of() { cat "$@" | sha256sum | cut -d ' ' -f 1; }
