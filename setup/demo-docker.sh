# Sourced by demo.sh: the Docker that the demo uses, and what it leaves there.

# The Docker that runs here, or a private one: own folder, own bridge, and no firewall rule, so that a Docker on another
# socket loses none of its own.
choose_docker() {
  need_docker
  docker_host=$(made docker_host)
  if [ -z "$docker_host" ]; then
    docker_host=${DOCKER_HOST:-unix:///var/run/docker.sock}
    if docker -H "$docker_host" version >/dev/null 2>&1; then
      note "using the Docker at $docker_host"
    else
      docker_host=unix://$root/docker/docker.sock
      record private yes
    fi
    record docker_host "$docker_host"
  fi
  [ -z "$(made private)" ] || start_private_docker
}

start_private_docker() {
  docker -H "$docker_host" version >/dev/null 2>&1 && return 0
  demo_bridge
  # containerd makes this folder, empty, wherever its own data is.
  [ -e /opt/containerd ] || record containerd_folder /opt/containerd
  say "starting a private Docker daemon in $root/docker"
  start_dockerd "$root/docker" --bridge "$bridge" --default-address-pool "base=10.$subnet.0.0/16,size=24" \
    --iptables=false --ip6tables=false --ip-masq=false --ip-forward=false
}

demo_bridge() {
  bridge=bd$demo_id
  subnet=$(made subnet)
  if [ -z "$subnet" ]; then
    subnet=$((201 + demo_id % 50))
    while ip -4 addr show | grep -q "inet 10\.$subnet\." || ip -4 route show | grep -q "^10\.$subnet\."; do
      subnet=$((subnet % 254 + 1))
    done
    record subnet "$subnet"
  fi
  ip link show "$bridge" >/dev/null 2>&1 && return 0
  record bridge "$bridge"
  ip link add name "$bridge" type bridge
  ip addr add "10.$subnet.0.1/24" dev "$bridge"
  ip link set "$bridge" up
}

# Only what carries the installation id of this demo; ids are made once per root.
remove_from_docker() {
  # Its containers outlive a private daemon that was killed; only the daemon itself can remove them.
  [ -z "$(made private)" ] || start_private_docker
  installation=$(made installation)
  if [ -n "$installation" ]; then
    ours="label=$demo_prefix.installation=$installation"
    remove_each "rm -f -v" "$(docker -H "$docker_host" ps -aq --filter "$ours" 2>/dev/null)"
    remove_each "volume rm" "$(docker -H "$docker_host" volume ls -q --filter "$ours" 2>/dev/null)"
    remove_each "network rm" "$(docker -H "$docker_host" network ls -q --filter "$ours" 2>/dev/null)"
  fi
  [ -z "$(made image)" ] || docker -H "$docker_host" image rm "$demo_image" >/dev/null 2>&1 || true
  if [ -n "$(made private)" ]; then
    stop_dockerd "$root/docker"
    ip link delete "$(made bridge)" 2>/dev/null || true
    [ -z "$(made containerd_folder)" ] || rmdir /opt/containerd/bin /opt/containerd/lib /opt/containerd 2>/dev/null || true
  fi
}

# remove_each "DOCKER WORDS" IDS
remove_each() {
  [ -n "$2" ] || return 0
  # shellcheck disable=SC2086 # both are lists of words
  docker -H "$docker_host" $1 $2 >/dev/null 2>&1 || note "docker $1 left something behind"
}
