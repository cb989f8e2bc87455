# Sourced after say.sh: Debian packages, only those that are missing.

PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

# need_commands COMMAND=PACKAGE …: installs the packages whose command is missing.
need_commands() {
  missing=
  for pair in "$@"; do
    command -v "${pair%%=*}" >/dev/null 2>&1 || missing="$missing ${pair#*=}"
  done
  [ -n "$missing" ] || return 0
  [ "$(id -u)" = 0 ] || die "missing:$missing; install them with apt-get, or run this as root"
  command -v apt-get >/dev/null 2>&1 || die "missing:$missing; this machine has no apt-get, so install them by hand"
  say "installing$missing"
  apt-get update -qq || die "apt-get update failed; see its text above"
  # RUNLEVEL=1: without systemd, Debian's packages would start their services, which are not wanted.
  # shellcheck disable=SC2086 # one word per package
  RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null ||
    die "apt-get could not install$missing; see its text above"
}
