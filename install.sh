#!/bin/sh
# Installs berth.
#   ./install.sh                               in a checkout: build, install the executable, /opt/berth and a systemd unit
#   ./install.sh --release-url URL             the same with an executable from a release address
#   ./install.sh --client --release-url URL    only the client, without root, into ~/.local/bin
#   ./install.sh --demo [--root DIR]           try it: everything is in DIR
#   ./install.sh --demo --down [--root DIR]    remove the demo
# Running it again upgrades.
set -eu

# A download that is cut off would end with exit code 0. main clears this trap.
trap 'echo "error: this copy of install.sh is incomplete; download it again" >&2; exit 1' EXIT

usage() {
  cat <<'TEXT'
usage: install.sh [--root DIR] [--release-url URL] [--version VERSION] [--fetch FILE]
       install.sh --client [--bin DIR] [--release-url URL] [--version VERSION]
       install.sh --demo [--root DIR] [--down]

  --root DIR         folder of all state (default /opt/berth; demo: /opt/berth-demo)
  --release-url URL  web folder with "latest" and a folder for each version (or set BERTH_RELEASE_URL)
  --version VERSION  that release and not the latest (or set BERTH_VERSION)
  --client           only the command-line client, for this user; the default on macOS
  --bin DIR          with --client: where to (default ~/.local/bin)
  --fetch FILE       only write the verified executable to FILE
  --demo             start a demo with its own folder, prefix and ports
  --down             with --demo: remove the demo
TEXT
}

say() { printf '==> %s\n' "$*"; }
note() { printf '    %s\n' "$*"; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Everything is in functions, called on the last line: a download that is cut off runs nothing.
main() {
  trap - EXIT
  demo= down= root= fetch_to= client= bin= release_url=${BERTH_RELEASE_URL:-} version=${BERTH_VERSION:-}
  while [ $# -gt 0 ]; do
    case $1 in
      --demo) demo=yes ;;
      --down) down=yes ;;
      --client) client=yes ;;
      --root | --release-url | --version | --bin | --fetch)
        [ $# -gt 1 ] || die "$1 needs a value"
        case $1 in
          --root) root=$2 ;;
          --release-url) release_url=$2 ;;
          --version) version=$2 ;;
          --bin) bin=$2 ;;
          --fetch) fetch_to=$2 ;;
        esac
        shift
        ;;
      -h | --help)
        usage
        exit 0
        ;;
      *)
        usage >&2
        die "unknown argument \"$1\""
        ;;
    esac
    shift
  done
  release_url=${release_url%/}
  find_checkout
  [ -z "$bin" ] || [ -n "$client" ] || die "--bin goes with --client"
  [ -z "$version" ] || [ -n "$release_url" ] || die "--version chooses a release: it needs --release-url or BERTH_RELEASE_URL"
  if [ -n "$demo" ]; then
    run_demo
  elif [ -n "$down" ]; then
    die "--down goes with --demo; docs/operating.md says how to remove a server"
  elif [ -n "$fetch_to" ]; then
    get_executable "$fetch_to"
  elif [ -n "$client" ] || [ "$(uname -s)" = Darwin ]; then
    install_client "${bin:-${HOME:-}/.local/bin}"
  else
    install_server
  fi
}

# Set when this script lies in a checkout; empty when it came through a pipe.
find_checkout() {
  checkout=
  case $0 in
    *install.sh)
      here=$(cd "$(dirname "$0")" && pwd)
      if [ -f "$here/build.ts" ]; then checkout=$here; fi
      ;;
  esac
}

run_demo() {
  [ -n "$checkout" ] || die "--demo works from a checkout: clone the repository and run ./install.sh --demo there"
  for part in proxy demo; do
    # shellcheck source=/dev/null
    . "$checkout/setup/$part.sh"
  done
  if [ -n "$down" ]; then demo_down "${root:-/opt/berth-demo}"; else demo_up "$checkout" "${root:-/opt/berth-demo}"; fi
}

# install_client FOLDER: the executable for this user. Nothing else of the machine changes.
install_client() {
  case $1 in
    /.local/bin) die "HOME is not set; choose a folder with --bin" ;;
    /*) ;;
    *) die "--bin needs an absolute path, not \"$1\"" ;;
  esac
  need_source
  mkdir -p "$1" || die "cannot make the folder $1; choose another with --bin"
  [ -w "$1" ] || die "cannot write to $1; choose another folder with --bin"
  get_executable "$1/berth"
  case :$PATH: in
    *:"$1":*) ;;
    *) note "$1 is not on your PATH; add it: export PATH=\"$1:\$PATH\"" ;;
  esac
  note "next: BERTH_ENDPOINT names the server; docs/operating.md says how to reach it through ssh"
}

install_server() {
  need_source
  [ "$(id -u)" = 0 ] || die "run this as root: it writes /usr/local/bin/berth and systemd units"
  [ -d /run/systemd/system ] ||
    die "no systemd on this machine; run \"berth serve\" under your own service manager, or try ./install.sh --demo"
  # The new executable installs itself: Docker and HAProxy where they are missing, the units, an upgrade that can go back.
  mkdir -p /usr/local/bin
  program=/usr/local/bin/.berth-install.$$
  get_executable "$program"
  trap 'rm -f "$program"' EXIT
  set -- "$program" server install
  [ -z "$root" ] || set -- "$@" --root "$root"
  # Through a pipe, stdin is this script; the terminal is the operator.
  if (: </dev/tty) 2>/dev/null; then "$@" </dev/tty; else "$@" </dev/null; fi
}

# The executable comes from a release address, or from a checkout. Without either, nothing is installed at all.
need_source() {
  [ -n "$release_url$checkout" ] || die "no release address, and no checkout to build; nothing was installed.
    With a release address:  ./install.sh --release-url https://HOST/FOLDER    (the folder with \"latest\")
    In a checkout:           ./install.sh                                      (next to build.ts)"
}

# get_executable FILE: from the release address if there is one, otherwise from the checkout. FILE is replaced in one step.
get_executable() {
  need_source
  new=$1.new.$$
  trap 'rm -f "$new" "$new.latest" "$new.sums"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  if [ -n "$release_url" ]; then download_executable; else build_executable; fi
  chmod 755 "$new"
  says=$("$new" --version 2>/dev/null | head -n 1 || true)
  [ -n "$says" ] || die "the new executable does not run on this machine; nothing was installed"
  mv "$new" "$1"
  trap - EXIT INT TERM
  say "got $says as $1"
}

download_executable() {
  need_target
  if [ -z "$version" ]; then
    download "$release_url/latest" "$new.latest"
    version=$(cat "$new.latest")
    rm -f "$new.latest"
  fi
  case $version in
    "" | .* | *[!0-9A-Za-z.+-]*) die "\"$version\" cannot be a version; is $release_url the folder of the releases?" ;;
  esac
  file=berth-$target
  from=$release_url/$version
  download "$from/SHA256SUMS" "$new.sums"
  wanted=$(sed -n "s/^\([0-9a-f]\{64\}\)  $file\$/\1/p" "$new.sums")
  rm -f "$new.sums"
  [ -n "$wanted" ] || die "release $version has no executable for $target: SHA256SUMS of $from does not list $file"
  say "fetching $from/$file"
  download "$from/$file" "$new"
  found=$(sum_of "$new")
  [ "$wanted" = "$found" ] || die "$file does not match its sha256 (wanted $wanted, got $found); nothing was installed"
}

sum_of() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  else
    die "neither sha256sum nor shasum is here; install one of them"
  fi
}

# What comes without TLS can be replaced on its way, its checksum too: only this machine itself may be asked like that.
download() {
  case $1 in
    https://*) curl_only="--proto =https" wget_only=--https-only ;;
    http://127.0.0.1[:/]* | http://localhost[:/]* | "http://[::1]"[:/]*) curl_only="--max-redirs 0" wget_only=--max-redirect=0 ;;
    *) die "$1 is not an https address" ;;
  esac
  if command -v curl >/dev/null 2>&1; then
    # shellcheck disable=SC2086 # one word per option
    curl -fsSL $curl_only -o "$2" "$1" || die "cannot fetch $1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q $wget_only -O "$2" "$1" || die "cannot fetch $1"
  else
    die "neither curl nor wget is here; install one of them"
  fi
}

# Sets target.
need_target() {
  machine="$(uname -s) on $(uname -m)"
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) target=linux-x64 ;;
    Linux-aarch64) target=linux-arm64 ;;
    Darwin-x86_64) target=darwin-x64 ;;
    Darwin-arm64) target=darwin-arm64 ;;
    *) die "no release for $machine: berth runs on Linux, x64 and arm64; its client also on macOS" ;;
  esac
  case $target in
    linux-*)
      if (ldd --version 2>&1 || true) | grep -qi musl; then
        die "no release for machines with musl, such as Alpine: berth needs glibc (Debian, Ubuntu, Fedora and others)"
      fi
      ;;
  esac
}

build_executable() {
  for part in packages bun; do
    # shellcheck source=/dev/null
    . "$checkout/setup/$part.sh"
  done
  use_bun "$checkout"
  use_node_modules "$checkout"
  say "building"
  (cd "$checkout" && bun run build.ts --out "$new") >/dev/null || die "the build failed; see its text above"
}

main "$@"
