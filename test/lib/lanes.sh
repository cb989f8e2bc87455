#!/bin/sh
# Called by suite.sh: lanes.sh RING|FILE…
# Runs the items of the rings in lanes beside each other. Each lane has namespaces and a Docker daemon of its own, so that
# lanes share no bridge, port, firewall rule or process. The results are files; this fails only when it cannot do its work.
set -eu
checkout=$(cd "$(dirname "$0")/../.." && pwd)
. "$checkout/setup/say.sh"
. "$checkout/test/lib/watch.sh"
. "$checkout/test/lib/item.sh"
cd "$checkout"

# Four more than cores, as tests wait for containers most of the time; fewer where memory is short. With more, tests that
# have a time limit wait for each other for too long.
lanes_default() {
  awk -v cores="$(nproc)" '/^MemAvailable:/ {
    lanes = int($2 / 1500000)
    if (lanes > cores + 4) lanes = cores + 4
    print lanes < 1 ? 1 : lanes
  }' /proc/meminfo
}

# keep_lane LANE: starts the lane, kills it when a step is not over in time, and starts another until the queue is empty.
keep_lane() {
  starts=0
  idle_starts=0
  while has_items; do
    starts=$((starts + 1))
    one_lane "$1.$starts" && idle_starts=0 || idle_starts=$((idle_starts + 1))
    # Three that did not run a single item: nor would the next.
    [ "$idle_starts" -lt 3 ] || return 0
  done
}

# one_lane LANE: fails when it took no item.
one_lane() {
  watch_dir=$BERTH_TEST_DIR/$1
  mkdir -p "$watch_dir"
  echo "$(($(uptime_seconds) + 60))" >"$watch_dir/due"
  unshare --net --mount --pid --fork --kill-child --mount-proc -- "$checkout/test/lib/lane.sh" "$1" \
    </dev/null 2>"$watch_dir/errors" &
  watched=$!
  fate="its lane ended"
  while is_running "$watched"; do
    read -r due <"$watch_dir/due" || due=
    if [ -n "$due" ] && [ "$(uptime_seconds)" -gt "$due" ]; then
      fate="its lane took too long and was killed"
      break
    fi
    sleep 2
  done
  end_watched
  [ ! -s "$watch_dir/errors" ] || sed "s/^/lane $1: /" "$watch_dir/errors"
  for item in "$BERTH_TEST_DIR/running/$1"/*; do
    [ ! -e "$item" ] || lose_item "$item" "$fate: $(tail -n 1 "$watch_dir/errors")"
  done
  worked=1
  [ ! -e "$watch_dir/worked" ] || worked=0
  timeout -k 5 60 rm -rf "$watch_dir" || true
  return "$worked"
}

has_items() {
  for each in "$BERTH_TEST_DIR"/queue/*; do
    [ ! -e "$each" ] || return 0
  done
  return 1
}

run_lanes() {
  keepers=
  lane=0
  while [ "$lane" -lt "$1" ]; do
    lane=$((lane + 1))
    keep_lane "$lane" &
    keepers="$keepers $!"
  done
  for keeper in $keepers; do
    wait "$keeper" || note "the keeper of a lane ended with exit code $?"
  done
  for each in "$BERTH_TEST_DIR"/queue/* "$BERTH_TEST_DIR"/running/*/*; do
    [ ! -e "$each" ] || lose_item "$each" "no lane has run it"
  done
}

fill_queue "$@"
say "$(grep -c . "$BERTH_TEST_DIR/items") items in ${BERTH_TEST_LANES:=$(lanes_default)} lanes"
run_lanes "$BERTH_TEST_LANES"
queue_second_looks
if has_items; then
  say "a second look at what failed"
  run_lanes 1
  end_second_looks
  queue_repeats
fi
if has_items; then
  say "what is unsteady, $repeats more times"
  # Beside load: at least two run at the same time.
  run_lanes "$((BERTH_TEST_LANES > 1 ? BERTH_TEST_LANES : 2))"
  end_repeats
fi
