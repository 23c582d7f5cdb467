#!/usr/bin/env bash
# Installs a built tree and uses it as a stranger would: run.sh BUILD_FOLDER SCRATCH_FOLDER
set -euo pipefail

source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build_folder=$1
scratch=$2

rm -rf "$scratch"
mkdir -p "$scratch"
scratch=$(cd "$scratch" && pwd)
cmake --install "$build_folder" --prefix "$scratch/prefix"

# A copy outside the checkout's folders: nothing may be found by a relative path.
consumer=$(mktemp -d)
trap 'rm -rf "$consumer"' EXIT
cp "$source_folder/stranger/"* "$consumer/"
cmake -S "$consumer" -B "$scratch/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$scratch/prefix"
cmake --build "$scratch/build"

# The program serves one request and checks the answer itself.
timeout 60 "$scratch/build/stranger"
