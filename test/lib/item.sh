# Sourced by lanes.sh and lane.sh: the queue of items, and one item. An item is what one process of `bun test` runs: a file,
# or a whole ring that needs no engine. $BERTH_TEST_DIR holds queue/, running/LANE/ and results/.

# Rings that need no engine.
pure_rings="unit property http"
# Rings on real time, where a neighbour on the machine can make a test fail that finds nothing wrong. Not property: its cases
# are others each time, so a pass would prove nothing.
unsteady_rings="unit http integration ingress plugins fault e2e"
item_seconds=450

is_in() {
  case " $1 " in
    *" $2 "*) ;;
    *) return 1 ;;
  esac
}

# fill_queue RING|FILE…: one file per item, "NUMBER-NAME", which holds "RING SECONDS TARGET". The slow ones come first.
fill_queue() {
  mkdir -p "$BERTH_TEST_DIR/queue" "$BERTH_TEST_DIR/running" "$BERTH_TEST_DIR/results"
  {
    while read -r target seconds; do
      case "$target" in
        "" | "#"*) continue ;;
      esac
      ring=${target#test/}
      ring=${ring%%/*}
      [ ! -e "$target" ] || ! { is_in "$*" "$ring" || is_in "$*" "$target"; } || echo "$ring $seconds $target"
    done <test/lib/slow-first
    for ring in "$@"; do
      case "$ring" in
        test/*)
          target=${ring%/}
          ring=${ring#test/}
          echo "${ring%%/*} $item_seconds $target"
          continue
          ;;
      esac
      [ -d "test/$ring" ] || continue
      if is_in "$pure_rings" "$ring"; then
        echo "$ring $item_seconds test/$ring"
      else
        find "test/$ring" -name '*.test.ts' | sort | sed "s/^/$ring $item_seconds /"
      fi
    done
  } | awk '!seen[$3]++' >"$BERTH_TEST_DIR/items"
  number=100
  while read -r ring seconds target; do
    number=$((number + 1))
    echo "$ring ${BERTH_TEST_ITEM_SECONDS:-$seconds} $target" >"$BERTH_TEST_DIR/queue/$number-$(item_name "$target")"
  done <"$BERTH_TEST_DIR/items"
}

item_name() {
  echo "$1" | sed 's#^test/##; s#\.test\.ts$##; s#/#-#g'
}

# take_item LANE: moves the next item to running/LANE and sets `item` to its name there. No lock: only one can move a file.
take_item() {
  mkdir -p "$BERTH_TEST_DIR/running/$1"
  for item in "$BERTH_TEST_DIR"/queue/*; do
    [ -e "$item" ] || continue
    mv "$item" "$BERTH_TEST_DIR/running/$1/" 2>/dev/null || continue
    item=$BERTH_TEST_DIR/running/$1/${item##*/}
    is_repeat_over "$item" || return 0
    rm -f "$item"
  done
  return 1
}

# run_item ITEM: runs it, writes results/NAME.log, .xml and .count, and prints one line. Fails when it did not come to its
# end, so that something of it may still run.
run_item() {
  name=${1##*/[0-9][0-9][0-9]-}
  read -r ring seconds target repeated <"$1"
  result=$BERTH_TEST_DIR/results/$name
  began=$(uptime_seconds)
  cpu_began=$(lane_cpu_seconds)
  code=0
  options=
  temporary=${TMPDIR:-/tmp}
  ftl=1
  priority=0
  if is_in "$pure_rings" "$ring"; then
    options="--parallel=2 --no-isolate"
    temporary=${memory_dir:-$temporary}
    # Its last compiler costs more than it saves in tests, each of which runs other code.
    ftl=0
    # They take what the others, which wait for containers, leave over.
    priority=10
  fi
  # shellcheck disable=SC2086 # one word per option
  BUN_JSC_useFTLJIT=$ftl TMPDIR=$temporary timeout -k 10 "$seconds" \
    nice -n "$priority" bun test "./$target" $options --timeout 60000 \
    --reporter=junit --reporter-outfile="$result.xml" </dev/null >"$result.log" 2>&1 || code=$?
  count_item "$result.xml" "$code" >"$result.count"
  took=$(($(uptime_seconds) - began))
  cpu=$(($(lane_cpu_seconds) - cpu_began))
  if [ "$code" -gt 1 ]; then
    reason="ended with exit code $code after $took s"
    [ "$code" != 124 ] && [ "$code" != 137 ] || reason="was killed after $took s"
    printf '\n(fail) %s: bun test %s\n' "$target" "$reason" >>"$result.log"
  fi
  tell_item "$result" "$took" "$cpu"
  [ -z "$repeated" ] || note_repeat "$result" "$repeated"
  rm -f "$1"
  [ "$code" -le 1 ]
}

# lane_cpu_seconds: of all processes of this lane, those that have ended too, and of the containers of its daemon.
lane_cpu_seconds() {
  cat /proc/[0-9]*/stat 2>/dev/null | awk '{
    sub(/.*\) /, "")
    ticks += $12 + $13 + $14 + $15
  }
  END { printf "%d\n", ticks / 100 }'
}

tell_item() {
  read -r passed failed skipped <"$1.count"
  verdict=ok
  [ "$failed" = 0 ] || verdict=FAIL
  printf '%-4s %-32s %4d passed%s%s %4d s, %3d s of CPU\n' "$verdict" "${1##*/}" "$passed" "$(some "$failed" failed)" \
    "$(some "$skipped" skipped)" "$2" "$3"
}

some() {
  [ "$1" = 0 ] || printf ', %d %s' "$1" "$2"
}

# count_item REPORT EXIT_CODE: prints "<passed> <failed> <skipped>". A run that ended badly without a failed test in its
# report crashed: one failure.
count_item() {
  head=$(grep -m 1 '<testsuites' "$1" 2>/dev/null || true)
  tests=$(report_number "$head" tests)
  failed=$(report_number "$head" failures)
  skipped=$(report_number "$head" skipped)
  passed=$((tests - failed - skipped))
  if [ "$failed" = 0 ] && { [ "$2" != 0 ] || [ "$tests" = 0 ]; }; then
    failed=1
  fi
  echo "$passed $failed $skipped"
}

report_number() {
  number=$(printf '%s' "$1" | sed -n "s/.* $2=\"\([0-9]*\)\".*/\1/p")
  echo "${number:-0}"
}

# lose_item ITEM REASON: an item whose lane died, or that no lane has run.
lose_item() {
  name=${1##*/[0-9][0-9][0-9]-}
  printf '\n(fail) %s: %s\n' "$name" "$2" >>"$BERTH_TEST_DIR/results/$name.log"
  echo "0 1 0" >"$BERTH_TEST_DIR/results/$name.count"
  printf 'FAIL %-32s %s\n' "$name" "$2"
  rm -f "$1"
}

# More than this is no accident.
second_looks_max=5

# queue_second_looks: the items in which something failed, again into the queue, for a lane that is alone on the machine.
# None where too much failed, and none of tests that repeat by a count of their own: their point is that no round fails.
queue_second_looks() {
  looks=0
  while read -r ring seconds target; do
    count=$BERTH_TEST_DIR/results/$(item_name "$target").count
    is_in "$unsteady_rings" "$ring" && [ -f "$count" ] || continue
    read -r _ failed _ <"$count"
    [ "$failed" != 0 ] || continue
    looks=$((looks + 1))
    ! grep -Eqs 'BERTH_TEST_(KILLS|ROUNDS|CASES|ENDS)' "$target" || continue
    echo "$ring $item_seconds $target" >"$BERTH_TEST_DIR/queue/$((200 + looks))-$(item_name "$target")"
    for kept in log xml count; do
      mv "${count%.count}.$kept" "${count%.count}.first-$kept" 2>/dev/null || true
    done
  done <"$BERTH_TEST_DIR/items"
  [ "$looks" -le "$second_looks_max" ] || end_second_looks
}

# end_second_looks: an item that passed now is unsteady: NAME.unsteady holds its first count. One that failed again keeps its
# first result.
end_second_looks() {
  for first in "$BERTH_TEST_DIR"/results/*.first-count; do
    [ -f "$first" ] || continue
    result=${first%.first-count}
    failed=1
    [ ! -f "$result.count" ] || read -r _ failed _ <"$result.count"
    if [ "$failed" = 0 ]; then
      cp "$first" "$result.unsteady"
      mv "$result.first-log" "$result.log"
    else
      for kept in log xml count; do
        mv "$result.first-$kept" "$result.$kept" 2>/dev/null || true
      done
    fi
    rm -f "$BERTH_TEST_DIR"/queue/2??-"${result##*/}" "$first"
  done
}

# What passes the second look runs this often again, in all lanes beside each other, and has to pass each time. No run begins
# later than this many seconds after the first, or after one has failed.
repeats=10
repeats_seconds=${BERTH_TEST_REPEAT_SECONDS:-180}

# queue_repeats: "RING SECONDS TARGET NAME" for each run, NAME being the unsteady item. One run of all comes before the next.
queue_repeats() {
  echo "$(($(uptime_seconds) + repeats_seconds))" >"$BERTH_TEST_DIR/repeat-until"
  number=300
  repeat=0
  while [ "$repeat" -lt "$repeats" ]; do
    repeat=$((repeat + 1))
    for unsteady in "$BERTH_TEST_DIR"/results/*.unsteady; do
      [ -f "$unsteady" ] || continue
      name=${unsteady##*/}
      queue_repeat "${name%.unsteady}"
    done
  done
}

queue_repeat() {
  while read -r ring _ target; do
    [ "$(item_name "$target")" = "$1" ] || continue
    for each in $(repeat_targets "$ring" "$target" "$BERTH_TEST_DIR/results/$1.log"); do
      number=$((number + 1))
      echo "$ring $item_seconds $each $1" >"$BERTH_TEST_DIR/queue/$number-$(item_name "$each")@$repeat"
    done
  done <"$BERTH_TEST_DIR/items"
}

# repeat_targets RING TARGET LOG: of a whole ring only the files in which something failed, the first five.
repeat_targets() {
  if is_in "$pure_rings" "$1" && [ -d "$2" ]; then
    files=$(awk '/^test\/.*\.test\.ts:$/ { file = substr($0, 1, length - 1) } /^\(fail\)/ && file && !seen[file]++ { print file }' "$3" |
      head -n 5)
  fi
  echo "${files:-$2}"
  files=
}

is_repeat_over() {
  read -r _ _ _ over <"$1" || return 1
  [ -n "$over" ] || return 1
  [ ! -e "$BERTH_TEST_DIR/results/$over.again" ] || return 0
  read -r until <"$BERTH_TEST_DIR/repeat-until"
  [ "$(uptime_seconds)" -ge "$until" ]
}

# note_repeat RESULT NAME: the sum of the run counts the item itself, and only once.
note_repeat() {
  read -r _ failed _ <"$1.count"
  rm -f "$1.count" "$1.xml"
  if [ "$failed" = 0 ]; then
    rm -f "$1.log"
    echo "${1##*/}" >>"$BERTH_TEST_DIR/results/$2.passes"
  else
    echo "${1##*/}" >>"$BERTH_TEST_DIR/results/$2.again"
  fi
}

# end_repeats: an item that failed once more has failed, whatever it did in between. One that nothing was run of has, too.
end_repeats() {
  for unsteady in "$BERTH_TEST_DIR"/results/*.unsteady; do
    [ -f "$unsteady" ] || continue
    result=${unsteady%.unsteady}
    [ -e "$result.again" ] || [ ! -e "$result.passes" ] || continue
    mv "$unsteady" "$result.count"
  done
}
