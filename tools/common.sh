# shellcheck shell=bash
# Shared by tools/run, tools/test and tools/coverage; they source it after set -euo pipefail.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
jobs="$(nproc 2>/dev/null || echo 2)"

say() { printf '%s\n' "$*" >&2; }

die() {
  say "tools/${0##*/}: $*"
  exit 2
}

# The comment at the head of the calling script, without its first line: it is the help text.
print_help() { sed -n '3,/^[^#]/{s/^# \{0,1\}//p}' "$0"; }

# Reads a build's output and shows only how far it is: in place on a terminal, else a line now and then.
show_progress() {
  local label="$1" line next=15
  SECONDS=0
  while IFS= read -r line; do
    [[ "$line" =~ ^\[([0-9]+/[0-9]+)\] ]] || continue
    if [[ -t 2 ]]; then
      printf '\r%s: %s \033[K' "$label" "${BASH_REMATCH[1]}" >&2
    elif ((SECONDS >= next)); then
      say "$label: ${BASH_REMATCH[1]}"
      next=$((SECONDS + 15))
    fi
  done
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
}

# quietly LABEL LOG COMMAND...: runs it with its output in LOG; the output is shown only when it fails.
quietly() {
  local label="$1" log="$2" status=0
  shift 2
  "$@" </dev/null 2>&1 | tee -a "$log" | show_progress "$label" || status="${PIPESTATUS[0]}"
  if ((status == 0)); then return 0; fi
  if grep -q '^FAILED: ' "$log"; then
    sed -n '/^FAILED: /,$p' "$log" | grep -vE '^\[[0-9]+/[0-9]+\]' | head -n 200 >&2
  else
    tail -n 100 "$log" >&2
  fi
  say "tools/${0##*/}: $label failed (status $status); the whole output is in $log"
  return 1
}

build_folder() {
  case "$1" in
    release) echo "$root/build" ;;
    *) echo "$root/build-$1" ;;
  esac
}

# build PRESET [TARGET...]: configures and builds; two calls in the same folder wait for each other. The array
# new_folder_options goes to cmake where nothing was configured before.
new_folder_options=()
build() {
  local preset="$1" folder log options=()
  shift
  folder="$(build_folder "$preset")"
  log="$folder/tools-build.log"
  mkdir -p "$folder"
  (
    flock 9
    : >"$log"
    cd "$root" || exit 1
    say "configuring and building ${folder#"$root"/} (preset $preset${*:+, $*})"
    if [[ ! -e "$folder/CMakeCache.txt" ]]; then options=("${new_folder_options[@]}"); fi
    quietly "configure $preset" "$log" cmake --preset "$preset" "${options[@]}" || exit 1
    quietly "build $preset" "$log" cmake --build "$folder" -j "$jobs" ${1:+--target "$@"} || exit 1
  ) 9>"$folder/.tools-lock"
}
