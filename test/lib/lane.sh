#!/bin/sh
# Called by lanes.sh, in network, mount and process namespaces of its own: lane.sh LANE RING…
# Starts a private Docker daemon with the fixture image and runs items until the queue is empty. Fails when it cannot go on;
# lanes.sh then starts another. Before each step it writes down by when the step has to be over.
set -eu
checkout=$(cd "$(dirname "$0")/../.." && pwd)
. "$checkout/setup/say.sh"
. "$checkout/setup/packages.sh"
. "$checkout/setup/dockerd.sh"
. "$checkout/setup/image.sh"
. "$checkout/setup/debian-image.sh"
. "$checkout/test/lib/watch.sh"
. "$checkout/test/lib/item.sh"
. "$checkout/test/lib/cheap.sh"
lane=$1
lane_dir=$BERTH_TEST_DIR/$lane
cd "$checkout"

within() {
  echo "$(($(uptime_seconds) + $1))" >"$lane_dir/due"
}

# make_place: the folder of the lane under a short name, as $place. Tests start daemons of their own below it, and paths
# of sockets hold little: what is short under /tmp need not be so in another temporary folder.
make_place() {
  place=$lane_dir
  [ "${#lane_dir}" -gt 32 ] || return 0
  for place in /mnt /media; do
    case "$lane_dir/ $checkout/" in *"$place/"*) continue ;; esac
    [ ! -d "$place" ] || mount --rbind "$lane_dir" "$place" || continue
    [ ! -e "$place/m" ] || return 0
  done
  place=$lane_dir
}

# Short names for the same reason.
start_engine() {
  ip link set lo up
  mkdir -p "$lane_dir/docker" "$lane_dir/t" "$lane_dir/m"
  chmod 1777 "$lane_dir/t"
  # Pure rings make thousands of databases, each of which would wait for the disk again and again.
  mount -t tmpfs -o mode=1777 none "$lane_dir/m"
  make_place
  memory_dir=$place/m
  TMPDIR=$place/t
  PATH=$place/docker/sbin:$PATH
  # The daemon starts itself and runc again for each container, which never live long enough for collecting garbage to pay:
  # without it, a start takes three quarters of the CPU. The limit is for what does live long.
  export GOGC=off GOMEMLIMIT=400MiB
  cheapen_runc "$place/docker/sbin"
  start_dockerd "$place/docker" "$(firewall_option "$place/docker")"
  BERTH_TEST_DOCKER_HOST=unix://$place/docker/docker.sock
  export TMPDIR PATH BERTH_TEST_DOCKER_HOST
  unset DOCKER_HOST
  import_busybox "$BERTH_TEST_DOCKER_HOST" berth-fixture:1
}

# need_databases TARGET: the images that it uses, before the first item that does: an import takes seconds of CPU.
# fixtures.sh makes them: there is no network in here.
databases=
need_databases() {
  wait_for_fixtures
  case "$1" in *redis*) ;; *) need_database postgres ;; esac
  case "$1" in *postgres* | *point-in-time*) ;; *) need_database redis ;; esac
}

need_database() {
  case " $databases " in *" $1 "*) return 0 ;; esac
  databases="$databases $1"
  "debian_$1" "$checkout/.cache/fixtures"
  import_debian "$BERTH_TEST_DOCKER_HOST" "berth-$1:fixture"
}

wait_for_fixtures() {
  until [ -e "$BERTH_TEST_DIR/fixtures-made" ]; do
    [ ! -e "$BERTH_TEST_DIR/fixtures-failed" ] || die "no images of databases: $(tail -n 3 "$BERTH_TEST_DIR/fixtures")"
    sleep 0.5
  done
}

# is_engine_well: answers, and has none of the last item's containers any more.
is_engine_well() {
  containers=$(timeout -k 5 30 docker -H "$BERTH_TEST_DOCKER_HOST" ps -aq 2>/dev/null) || return 1
  # shellcheck disable=SC2086 # one word per container
  [ -z "$containers" ] || timeout -k 5 60 docker -H "$BERTH_TEST_DOCKER_HOST" rm -f -v $containers >/dev/null 2>&1
}

# end_leftovers: kills what the last item has left behind and what does not belong to the engine. A proxy that outlives its
# server would keep the ports that a later item needs. Processes whose parent has ended are children of this script.
end_leftovers() {
  left=
  leftover_tries=0
  while [ "$leftover_tries" -lt 100 ]; do
    leftover_tries=$((leftover_tries + 1))
    children=
    read -r children <"/proc/$$/task/$$/children" || true
    found=
    for child in $children; do
      words=$(tr '\0' ' ' 2>/dev/null <"/proc/$child/cmdline") || continue
      case "$words" in
        "" | *" $place/docker/"*) continue ;;
      esac
      found=$child
      left="$left, ${words% }"
      kill -KILL "$child" 2>/dev/null || true
    done
    [ -n "$found" ] || break
    sleep 0.1
  done
  [ -z "$left" ] || note "ended after $name, which had left it behind: $(printf '%.300s' "${left#, }")"
}

within 180
cheapen_restic
start_engine
while take_item "$lane"; do
  : >"$lane_dir/worked"
  read -r ring seconds target _ <"$item"
  within 700
  case "$ring" in
    plugins) need_databases "$target" ;;
    e2e) wait_for_fixtures ;;
  esac
  within $((seconds + 60))
  run_item "$item" || die "the last item did not come to its end"
  within 120
  end_leftovers
  is_engine_well || die "the Docker daemon does not answer after the last item"
done
# The end of this process ends all others of the namespace.
within 5
