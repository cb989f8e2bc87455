# Sourced after packages.sh: the exact Bun of package.json, and the packages of the lock file.

# use_bun CHECKOUT: puts that Bun first on PATH. One that is there already in the right version is used as it is;
# otherwise it comes from the npm package `bun` into CHECKOUT/.cache.
use_bun() {
  bun_version=$(sed -n 's/^ *"bun": "\([^"]*\)".*/\1/p' "$1/package.json")
  [ -n "$bun_version" ] || die "$1/package.json names no bun version"
  [ "$(bun --version 2>/dev/null || true)" = "$bun_version" ] && return 0
  bun_home=$1/.cache/bun-$bun_version
  [ -x "$bun_home/node_modules/.bin/bun" ] || fetch_bun
  PATH=$bun_home/node_modules/.bin:$PATH
  export PATH
  [ "$(bun --version)" = "$bun_version" ] || die "$bun_home does not hold bun $bun_version; remove that folder and try again"
}

# Into a folder of its own first: two runs at the same time must not see half an installation.
fetch_bun() {
  need_commands npm=npm
  say "fetching bun $bun_version from npm"
  mkdir -p "${bun_home%/*}"
  bun_new=$(mktemp -d "$bun_home.XXXXXX")
  quietly npm install --no-audit --no-fund --no-save --prefix "$bun_new" "bun@$bun_version" || {
    rm -rf "$bun_new"
    die "npm could not fetch bun@$bun_version; its output is above. Check the network and npm's registry (npm config get registry). Where a proxy signs certificates itself, NODE_EXTRA_CA_CERTS names its CA"
  }
  mv -T "$bun_new" "$bun_home" 2>/dev/null || rm -rf "$bun_new"
}

# use_node_modules CHECKOUT: installs what the lock file says; quick when nothing changed.
use_node_modules() {
  (cd "$1" && quietly bun install --frozen-lockfile) || die "bun install failed; its output is above"
}

# quietly COMMAND…: shows the output of the command only if it fails, and fails with it.
quietly() {
  quiet_log=$(mktemp)
  quiet_code=0
  "$@" >"$quiet_log" 2>&1 || quiet_code=$?
  [ "$quiet_code" = 0 ] || cat "$quiet_log" >&2
  rm -f "$quiet_log"
  return "$quiet_code"
}
