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

ring_number() {
  number=$(printf '%s' "$1" | sed -n "s/.* $2=\"\([0-9]*\)\".*/\1/p")
  echo "${number:-0}"
}
