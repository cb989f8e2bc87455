# Sourced after packages.sh: a private Docker daemon whose sockets, data and process belong to one folder.

# need_docker: the Docker Engine and what it needs to make networks.
need_docker() {
  need_commands dockerd=docker.io ip=iproute2 iptables=iptables setsid=util-linux
  command -v docker >/dev/null 2>&1 || need_commands docker=docker-cli
  if [ ! -e /sys/fs/cgroup/cgroup.controllers ] && [ ! -d /sys/fs/cgroup/memory ]; then
    need_commands cgroupfs-mount=cgroupfs-mount
    cgroupfs-mount
  fi
}

# start_dockerd DIR OPTION…: starts it detached and waits until it answers on DIR/docker.sock.
start_dockerd() {
  docker_dir=$1
  shift
  # containerd takes socket paths of 104 bytes, and puts its own this deep.
  [ ${#docker_dir} -le 66 ] || die "the path $docker_dir is too long for Docker's sockets; choose a shorter one"
  mkdir -p "$docker_dir"
  forget_last_dockerd "$docker_dir"
  # An empty configuration of its own: the machine's /etc/docker/daemon.json is neither read nor written.
  echo '{}' >"$docker_dir/daemon.json"
  setsid nohup dockerd --config-file "$docker_dir/daemon.json" --host "unix://$docker_dir/docker.sock" \
    --data-root "$docker_dir/data" --exec-root "$docker_dir/exec" --pidfile "$docker_dir/docker.pid" \
    --live-restore "$@" >>"$docker_dir/dockerd.log" 2>&1 </dev/null &
  docker_started=$!
  docker_tries=0
  until docker -H "unix://$docker_dir/docker.sock" version >/dev/null 2>&1; do
    docker_tries=$((docker_tries + 1))
    if [ "$docker_tries" -gt 300 ] || ! kill -0 "$docker_started" 2>/dev/null; then
      tail -n 20 "$docker_dir/dockerd.log" >&2
      die "the private Docker daemon did not start; the end of its log is above"
    fi
    sleep 0.1
  done
}

# forget_last_dockerd DIR: a killed daemon takes its containerd with it, a moment later. Pid files that outlive them
# make the next daemon wait for processes that are not there.
forget_last_dockerd() {
  last_containerd=$(cat "$1/exec/containerd/containerd.pid" 2>/dev/null || true)
  last_tries=0
  while [ -n "$last_containerd" ] && [ "$last_tries" -lt 100 ] &&
    tr '\0' ' ' <"/proc/$last_containerd/cmdline" 2>/dev/null | grep -qF -- "$1/"; do
    last_tries=$((last_tries + 1))
    sleep 0.1
  done
  rm -f "$1/docker.pid" "$1/exec/containerd/containerd.pid"
}

# stop_dockerd DIR: removes its containers, ends it by its pid, and removes DIR.
stop_dockerd() {
  docker_dir=$1
  docker_containers=$(docker -H "unix://$docker_dir/docker.sock" ps -aq 2>/dev/null || true)
  # shellcheck disable=SC2086 # one word per container
  [ -z "$docker_containers" ] || docker -H "unix://$docker_dir/docker.sock" rm -f $docker_containers >/dev/null 2>&1 || true
  # The bridges of its networks outlive it.
  docker -H "unix://$docker_dir/docker.sock" network prune -f >/dev/null 2>&1 || true
  docker_pid=$(cat "$docker_dir/docker.pid" 2>/dev/null || true)
  if [ -n "$docker_pid" ] && is_dockerd_of "$docker_pid" "$docker_dir"; then
    kill "$docker_pid" 2>/dev/null || true
    docker_tries=0
    # Where nothing collects it, as in a container without an init, the ended process keeps its number.
    while is_dockerd_of "$docker_pid" "$docker_dir" && [ "$docker_tries" -lt 150 ]; do
      docker_tries=$((docker_tries + 1))
      sleep 0.1
    done
  fi
  unmount_below "$docker_dir"
  rm -rf "$docker_dir"
}

# A pid file can outlive its process, and the number may be somebody else's by now.
is_dockerd_of() {
  tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null | grep -qF -- "$2/docker.sock"
}

# Deepest first: the list of mounts is in mount order.
unmount_below() {
  awk -v below="$1/" 'index($5, below) == 1 { print $5 }' /proc/self/mountinfo | sort -r | while read -r mounted; do
    umount -l "$mounted" 2>/dev/null || true
  done
}

# firewall_option DIR: prints the option this kernel needs; where only the legacy tables work, DIR/sbin leads to them.
# Run it in the network namespace of the daemon, and put DIR/sbin first on PATH.
firewall_option() {
  if iptables -w -t nat -n -L >/dev/null 2>&1; then
    echo --iptables=true
  elif iptables-legacy -w -t nat -n -L >/dev/null 2>&1; then
    mkdir -p "$1/sbin"
    for family in iptables ip6tables; do
      ln -sf "$(command -v "$family-legacy")" "$1/sbin/$family"
    done
    echo --iptables=true
  else
    echo --iptables=false
  fi
}
