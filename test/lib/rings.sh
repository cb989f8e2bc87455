#!/bin/sh
# Called by test/run, inside namespaces of its own: rings.sh SUMMARY RING…
# Starts a private Docker daemon with the fixture image, runs each ring with `bun test`, and adds a line
# "<passed> <failed> <skipped>" per ring to SUMMARY. Fails only when it could not do its own work.
set -eu
checkout=$(cd "$(dirname "$0")/../.." && pwd)
. "$checkout/setup/say.sh"
. "$checkout/setup/packages.sh"
. "$checkout/setup/dockerd.sh"
. "$checkout/setup/image.sh"
. "$checkout/setup/debian-image.sh"
. "$checkout/test/lib/ring.sh"

summary=$1
shift
docker_dir=$BERTH_TEST_DIR/docker
finish() {
  stop_dockerd "$docker_dir"
}
trap finish EXIT
trap 'exit 143' INT TERM

ip link set lo up
mkdir -p "$docker_dir"
PATH=$docker_dir/sbin:$PATH
start_dockerd "$docker_dir" "$(firewall_option "$docker_dir")"
BERTH_TEST_DOCKER_HOST=unix://$docker_dir/docker.sock
export BERTH_TEST_DOCKER_HOST
unset DOCKER_HOST
import_busybox "$BERTH_TEST_DOCKER_HOST" berth-fixture:1
case " $* " in
  *" plugins "*)
    # test/run has made them: there is no network in here.
    debian_postgres "$checkout/.cache/fixtures"
    import_debian "$BERTH_TEST_DOCKER_HOST" berth-postgres:fixture
    debian_redis "$checkout/.cache/fixtures"
    import_debian "$BERTH_TEST_DOCKER_HOST" berth-redis:fixture
    ;;
esac

cd "$checkout"
# The fault ring mostly waits, those before it mostly compute: they share the machine. e2e has it for itself.
beside=
case " $* " in
  *" unit "*" fault "*)
    run_ring fault >"$BERTH_TEST_DIR/fault.count" 2>"$BERTH_TEST_DIR/fault.said" &
    beside=$!
    ;;
esac

# What the ring in the background said, whole, once it has ended.
end_beside() {
  [ -n "$beside" ] || return 0
  wait "$beside" || echo "0 1 0" >>"$summary"
  beside=
  cat "$BERTH_TEST_DIR/fault.said" >&2
}

for ring in "$@"; do
  [ "$ring" != e2e ] || end_beside
  [ "$ring" = fault ] && [ -n "$beside" ] && continue
  run_ring "$ring" >"$BERTH_TEST_DIR/$ring.count"
done
end_beside
for ring in "$@"; do
  second_look "$ring"
  cat "$BERTH_TEST_DIR/$ring.count" >>"$summary"
done
