# Sourced by test/run and lanes.sh, which set $watch_dir: a command that ends by its deadline, with every process that it started.

# watch SECONDS OUTPUT COMMAND…: runs the command in process and mount namespaces of its own and copies what it prints to
# standard output. Its processes write to the file OUTPUT only, so none of them can hold the caller's output open.
# Fails when the command fails, or is killed after SECONDS.
watch() {
  watch_seconds=$1
  watch_output=$2
  shift 2
  : >"$watch_output"
  exec 3<"$watch_output"
  # A session of its own: an interrupt that is typed reaches only this script. setpriv ends it with this script.
  setsid setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc -- "$@" \
    </dev/null >>"$watch_output" 2>&1 3<&- &
  watched=$!
  watch_end=$(($(uptime_seconds) + watch_seconds))
  while is_running "$watched"; do
    cat <&3
    if [ "$(uptime_seconds)" -ge "$watch_end" ]; then
      say "the deadline of $watch_seconds s has passed; killing the run"
      end_watched
      cat <&3
      return 1
    fi
    # In steps: a shell acts on a signal only between commands.
    sleep 1 >/dev/null 2>&1
  done
  cat <&3
  watch_code=0
  wait "$watched" || watch_code=$?
  watched=
  [ "$watch_code" = 0 ] || note "$* ended with exit code $watch_code"
  return "$watch_code"
}

# end_watched: kills the first process of the namespace, and with it all others; waits until the kernel has removed them.
end_watched() {
  [ -n "${watched:-}" ] || return 0
  watch_init=$(cat "/proc/$watched/task/$watched/children" 2>/dev/null || true)
  # shellcheck disable=SC2086 # one child, or none yet
  kill -KILL ${watch_init:-$watched} 2>/dev/null || true
  if ! wait_for_end 10; then
    each_container thaw
    wait_for_end 200 || note "some processes of the run cannot be killed, so they are left behind"
  fi
  kill -KILL "$watched" 2>/dev/null || true
  watched=
  each_container forget
}

# wait_for_end TENTHS
wait_for_end() {
  watch_tries=$1
  while is_running "$watched"; do
    [ "$watch_tries" -gt 0 ] || return 1
    watch_tries=$((watch_tries - 1))
    sleep 0.1 >/dev/null 2>&1
  done
}

# each_container COMMAND: calls it with each control group of the containers of Docker daemons below $watch_dir.
each_container() {
  for container in "$watch_dir"/*/data/containers/* "$watch_dir"/*/*/data/containers/* \
    "$watch_dir"/*/*/*/data/containers/*; do
    for group in /sys/fs/cgroup/docker/"${container##*/}" /sys/fs/cgroup/*/docker/"${container##*/}"; do
      [ ! -d "$group" ] || "$1" "$group"
    done
  done
}

# thaw GROUP: a process in a frozen group of version 1, such as a paused container, ignores even SIGKILL.
thaw() {
  [ ! -f "$1/freezer.state" ] || echo THAWED >"$1/freezer.state" || true
}

# forget GROUP: a killed daemon leaves the groups of its containers behind.
forget() {
  find "$1" -depth -type d -exec rmdir {} + 2>/dev/null || true
}

# A child that has ended stays a zombie until it is waited for.
is_running() {
  read -r watch_stat 2>/dev/null <"/proc/$1/stat" || return 1
  case "${watch_stat##*) }" in
    Z* | X*) return 1 ;;
  esac
}

# Not the time of day, which can jump.
uptime_seconds() {
  read -r watch_uptime _ </proc/uptime
  echo "${watch_uptime%%.*}"
}
