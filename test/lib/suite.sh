#!/bin/sh
# Called by test/run, in process and mount namespaces of its own: suite.sh SUMMARY RING|FILE…
# Gets what the rings need, checks, builds, and runs the rings. Adds lines "<passed> <failed> <skipped>" to SUMMARY, and
# fails only when it cannot do its own work.
set -eu
checkout=$(cd "$(dirname "$0")/../.." && pwd)
. "$checkout/setup/say.sh"
. "$checkout/setup/packages.sh"
. "$checkout/setup/bun.sh"
summary=$1
shift
# What tests leave behind goes with the run.
TMPDIR=$BERTH_TEST_DIR/tmp
export TMPDIR
mkdir -p "$TMPDIR"

# counted NAME COMMAND…: a step that counts as one test.
counted() {
  say "$1"
  shift
  if "$@"; then echo "1 0 0" >>"$summary"; else echo "0 1 0" >>"$summary"; fi
}

# hide_systemd: to what runs in here this machine has no systemd, so no package that is installed can start a service.
hide_systemd() {
  [ -d /run/systemd/system ] || return 0
  mkdir -p "$BERTH_TEST_DIR/systemd"
  mount --rbind /run/systemd "$BERTH_TEST_DIR/systemd"
  mount -t tmpfs none /run/systemd
  # Names are looked up through this folder.
  [ ! -d "$BERTH_TEST_DIR/systemd/resolve" ] || {
    mkdir /run/systemd/resolve
    mount --bind "$BERTH_TEST_DIR/systemd/resolve" /run/systemd/resolve
  }
}

hide_systemd
timeout -k 10 900 "$checkout/test/lib/needs.sh" || die "the set-up failed or took more than 900 s"
use_bun "$checkout"

# check counts its failures by itself; with a code above 1 it has not come to its end.
check() {
  check_code=0
  CHECK_SUMMARY=$summary timeout -k 10 300 "$checkout/test/check" || check_code=$?
  [ "$check_code" -le 1 ] || echo "0 1 0" >>"$summary"
}

# fixtures: a failure is a file, too, so that lanes do not wait for ever.
fixtures() {
  timeout -k 10 600 "$checkout/test/lib/fixtures.sh" "$@" >"$BERTH_TEST_DIR/fixtures" 2>&1 ||
    : >"$BERTH_TEST_DIR/fixtures-failed"
}

cd "$checkout"
fixtures "$@" &
# Single files are for working on one thing; test/check is a command of its own.
case " $* " in
  *" test/"*) echo "not run: single files were asked for" >"$BERTH_TEST_DIR/check" & ;;
  *) check >"$BERTH_TEST_DIR/check" 2>&1 & ;;
esac
checking=$!
counted "build" timeout -k 10 120 bun run build
"$checkout/test/lib/lanes.sh" "$@"
wait "$checking"
say "check"
cat "$BERTH_TEST_DIR/check"
