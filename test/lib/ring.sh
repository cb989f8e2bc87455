# Sourced by rings.sh: one ring, and its result as numbers.

# run_ring NAME: runs test/NAME, its output on stderr and kept in NAME.log; prints "<passed> <failed> <skipped>".
run_ring() {
  say "$1" >&2
  if ! find "test/$1" -name '*.test.ts' 2>/dev/null | grep -q .; then
    note "no tests here" >&2
    return 0
  fi
  report=$BERTH_TEST_DIR/$1.xml
  {
    timeout -k 10 "${BERTH_TEST_RING_SECONDS:-1800}" \
      bun test "./test/$1" --timeout 60000 --reporter=junit --reporter-outfile="$report" 2>&1 &&
      echo 0 >"$report.code" || echo $? >"$report.code"
  } | tee "$BERTH_TEST_DIR/$1.log" >&2
  count_ring "$report" "$(cat "$report.code")"
}

# count_ring REPORT EXIT_CODE: a run that ended badly without a failed test in its report crashed: one failure.
count_ring() {
  head=$(grep -m 1 '<testsuites' "$1" 2>/dev/null || true)
  tests=$(ring_number "$head" tests)
  failed=$(ring_number "$head" failures)
  skipped=$(ring_number "$head" skipped)
  passed=$((tests - failed - skipped))
  if [ "$2" != 0 ] && [ "$failed" = 0 ]; then
    failed=1
    note "bun test ended with exit code $2" >&2
  fi
  echo "$passed $failed $skipped"
}

# Rings on real time and a real engine, where a neighbour on the machine can make a test fail that finds nothing wrong.
unsteady_rings="integration ingress plugins fault e2e"
# More than this is no accident.
second_looks_max=2

# second_look RING: runs the files of the ring in which something failed once more, alone on the machine, and corrects
# RING.count where all of it passes. It leaves RING.unsteady behind, and test/run says so: such a test is to be mended.
# Not for tests that repeat by a count of their own, whose point is that not one round fails.
second_look() {
  case " $unsteady_rings " in
    *" $1 "*) ;;
    *) return 0 ;;
  esac
  files=$(failed_files "$BERTH_TEST_DIR/$1.xml")
  [ -n "$files" ] || return 0
  # shellcheck disable=SC2086 # one word per file
  set -- "$1" $files
  again=$1
  shift
  second_looks=$((${second_looks:-0} + $#))
  [ "$second_looks" -le "$second_looks_max" ] || return 0
  ! grep -q 'BERTH_TEST_[KRC]' "$@" || return 0
  say "a second look at $*" >&2
  timeout -k 10 900 bun test "$@" --timeout 60000 >&2 || return 0
  # shellcheck disable=SC2046 # three numbers
  set -- $(cat "$BERTH_TEST_DIR/$again.count")
  echo "$(($1 + $2)) 0 $3" >"$BERTH_TEST_DIR/$again.count"
  : >"$BERTH_TEST_DIR/$again.unsteady"
}

# failed_files REPORT: none when the run did not come to its end.
failed_files() {
  sed -n 's/^  <testsuite name="\(test[^"]*\)".* failures="[1-9][0-9]*".*/\1/p' "$1" 2>/dev/null
}

ring_number() {
  number=$(printf '%s' "$1" | sed -n "s/.* $2=\"\([0-9]*\)\".*/\1/p")
  echo "${number:-0}"
}
