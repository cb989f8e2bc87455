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

# Public keys whose releases are installed, a line each. "bun run release" writes them here; a checkout has them in release.pub.
release_keys=''

usage() {
  cat <<'TEXT'
usage: install.sh [--root DIR] [--release-url URL] [--release-key FILE] [--version VERSION] [--fetch FILE]
       install.sh --client [--bin DIR] [--release-url URL] [--release-key FILE] [--version VERSION]
       install.sh --demo [--root DIR] [--down]

  --root DIR         folder of all state (default /opt/berth; demo: /opt/berth-demo)
  --release-url URL  web folder with "latest" and a folder for each version (or set BERTH_RELEASE_URL)
  --release-key FILE public keys to trust instead of the one in this script (or set BERTH_RELEASE_PUBLIC_KEY)
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
  demo= down= root= fetch_to= client= bin= release_url=${BERTH_RELEASE_URL:-} key_file=${BERTH_RELEASE_PUBLIC_KEY:-} version=${BERTH_VERSION:-}
  while [ $# -gt 0 ]; do
    case $1 in
      --demo) demo=yes ;;
      --down) down=yes ;;
      --client) client=yes ;;
      --root | --release-url | --release-key | --version | --bin | --fetch)
        [ $# -gt 1 ] || die "$1 needs a value"
        case $1 in
          --root) root=$2 ;;
          --release-url) release_url=$2 ;;
          --release-key) key_file=$2 ;;
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
  if [ ! -d /run/systemd/system ]; then
    install_alone
    return
  fi
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

# Without systemd (containers, WSL, other service managers) nothing starts the server: only the executable is installed.
install_alone() {
  mkdir -p /usr/local/bin
  get_executable /usr/local/bin/berth
  say "no systemd on this machine: only the executable was installed. This line serves:"
  note "/usr/local/bin/berth serve${root:+ --root $root}"
  note "It needs Docker. Let your service manager start it again when it ends; see docs/operating.md"
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
  trap 'rm -f "$new" "$new.latest" "$new.sums" "$new.sig" "$new.keys"' EXIT
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
  check_url
  need_verifier
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
  check_signature "$from"
  wanted=$(sed -n "s/^\([0-9a-f]\{64\}\)  $file\$/\1/p" "$new.sums")
  rm -f "$new.sums"
  [ -n "$wanted" ] || die "release $version has no executable for $target: SHA256SUMS of $from does not list $file"
  say "fetching $from/$file"
  download "$from/$file" "$new"
  found=$(sum_of "$new")
  [ "$wanted" = "$found" ] || die "$file does not match its sha256 (wanted $wanted, got $found); nothing was installed"
}

# check_signature FOLDER: the checksums are those of this version, and a key that is trusted has signed them. From the same
# folder as the executable, checksums alone prove nothing.
check_signature() {
  download "$1/SHA256SUMS.sig" "$new.sig" "release $version is not signed: cannot fetch $1/SHA256SUMS.sig; nothing was installed"
  ssh-keygen -Y verify -q -f "$new.keys" -I release -n berth-release -s "$new.sig" <"$new.sums" >/dev/null 2>&1 ||
    die "the signature of release $version is not of the release key; nothing was installed. Is $release_url the address of the project that you trust?"
  named=$(sed -n '1s/^# berth //p' "$new.sums")
  [ "$named" = "$version" ] || die "$1 holds the release ${named:-without a version} under the name of $version; nothing was installed"
  rm -f "$new.sig" "$new.keys"
}

# Writes the keys for the verifier, or says what is missing. Before anything is fetched.
need_verifier() {
  if [ -n "$key_file" ]; then
    [ -f "$key_file" ] || die "--release-key: there is no file $key_file"
    keys=$(cat "$key_file")
  elif [ -n "$release_keys" ]; then
    keys=$release_keys
  elif [ -n "$checkout" ] && [ -f "$checkout/release.pub" ]; then
    keys=$(cat "$checkout/release.pub")
  else
    die "this copy of install.sh has no release key, so it cannot check a release; give --release-key FILE, the public key of the project"
  fi
  printf '%s\n' "$keys" | sed -n 's/^\(ssh-ed25519 [A-Za-z0-9+/=]*\).*/release \1/p' >"$new.keys"
  [ -s "$new.keys" ] || die "no public key in ${key_file:-install.sh}: it has lines such as \"ssh-ed25519 AAAA...\""
  # Without -Y it says "unknown option"; with it, that a file is missing.
  if ! command -v ssh-keygen >/dev/null 2>&1; then
    die "ssh-keygen is not here, which checks the signature of the release; install it: $(verifier_package)"
  fi
  if LC_ALL=C ssh-keygen -Y verify 2>&1 </dev/null | grep -qiE 'unknown option|illegal option'; then
    die "the ssh-keygen of this machine is too old to check the signature of the release: it needs OpenSSH 8.1 or newer"
  fi
}

verifier_package() {
  if command -v apt-get >/dev/null 2>&1; then
    echo "apt-get install openssh-client"
  elif command -v dnf >/dev/null 2>&1; then
    echo "dnf install openssh-clients"
  elif command -v zypper >/dev/null 2>&1; then
    echo "zypper install openssh-clients"
  elif command -v pacman >/dev/null 2>&1; then
    echo "pacman -S openssh"
  else
    echo "the package is openssh-client, openssh-clients or openssh"
  fi
}

# The release address: https, or http of this machine. Its host is what stands before the first colon or slash, so nothing of
# a user and a password is let in: http://127.0.0.1:1@example.com is an address of example.com.
check_url() {
  case $release_url in
    *[!]A-Za-z0-9._~:/%+,=[-]*) die "$release_url is not a release address of the form https://HOST/FOLDER" ;;
  esac
  case $release_url in
    https://?*) return ;;
    http://*) ;;
    *) die "$release_url is not an https address" ;;
  esac
  host=${release_url#http://}
  host=${host%%/*}
  case $host in
    "[::1]" | "[::1]:"*) host=${host#"[::1]"} ;;
    127.0.0.1 | 127.0.0.1:*) host=${host#127.0.0.1} ;;
    localhost | localhost:*) host=${host#localhost} ;;
    *) die "$release_url is not an https address" ;;
  esac
  case $host in
    "") ;;
    :*[!0-9]* | :) die "$release_url is not an https address" ;;
  esac
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
# check_url has looked at the address. download URL FILE [ERROR]
download() {
  case $1 in
    https://*) curl_only="--proto =https" wget_only=--https-only ;;
    *) curl_only="--max-redirs 0" wget_only=--max-redirect=0 ;;
  esac
  if command -v curl >/dev/null 2>&1; then
    # shellcheck disable=SC2086 # one word per option
    curl -fgsSL $curl_only -o "$2" "$1" || die "${3:-cannot fetch $1}"
  elif command -v wget >/dev/null 2>&1; then
    wget -q $wget_only -O "$2" "$1" || die "${3:-cannot fetch $1}"
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
