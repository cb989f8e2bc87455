# Sourced by install.sh: a demo that lives beside everything else on the machine. All it makes is in its root folder or
# written down there, in the file `made`, so that --down removes that and nothing else.

demo_prefix=berthdemo
demo_image=berth-demo/hello:1
demo_name=hello.localhost

demo_up() {
  checkout=$1
  [ "$(id -u)" = 0 ] || die "run this as root: it works with Docker"
  [ "$(uname -s)" = Linux ] || die "berth runs on Linux only"
  load_setup
  remember_checkout "$checkout"
  claim_root "$2"
  use_bun "$checkout"
  use_node_modules "$checkout"
  choose_docker
  need_proxy || die "the demo serves its page by host name, so it needs HAProxy"
  need_restic
  demo_executable
  if ! docker -H "$docker_host" image inspect "$demo_image" >/dev/null 2>&1; then
    say "making the image $demo_image from this machine's busybox"
    record image "$demo_image"
    import_busybox "$docker_host" "$demo_image"
  fi
  demo_server
  say "applying examples/hello and waiting until it is ready"
  demo_berth apply -y -f "$checkout/examples/hello"
  show_page
  say_next
}

# Installs restic if there is none. The demo runs without it too: it makes copies at backup targets alone.
need_restic() {
  ! command -v restic >/dev/null 2>&1 || return 0
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends restic >/dev/null 2>&1 ||
    say "restic is missing: berth backup target cannot copy anything outside of this machine"
}

demo_down() {
  checkout=${checkout:?}
  [ -d "$1" ] || {
    say "no demo at $1: nothing to remove"
    return 0
  }
  root=$(cd "$1" && pwd -P)
  made=$root/made
  [ -f "$made" ] || die "$root holds no demo (no file \"made\" there), so nothing is removed"
  load_setup
  say "removing the demo at $root"
  demo_id=$(printf %s "$root" | cksum | cut -d ' ' -f 1)
  docker_host=$(made docker_host)
  stop_server
  stop_proxy
  [ -z "$docker_host" ] || remove_from_docker
  remove_routes
  remove_files
  say "removed; Debian packages that were installed stay"
}

load_setup() {
  for part in packages bun dockerd image demo-docker demo-server; do
    # shellcheck source=/dev/null
    . "$checkout/setup/$part.sh"
  done
}

# record NAME VALUE: writes down what the demo makes, before it makes it; made NAME: reads it back.
record() {
  [ "$(made "$1")" = "$2" ] || printf '%s=%s\n' "$1" "$2" >>"$made"
}

made() {
  sed -n "s|^$1=||p" "$made" 2>/dev/null | tail -n 1
}

# Before anything is fetched or built: what of the checkout the demo will have made.
remember_checkout() {
  checkout_made=
  for folder in .cache node_modules dist; do
    [ -e "$1/$folder" ] || checkout_made="$checkout_made $folder"
  done
}

# An existing root that is not a demo belongs to another installation.
claim_root() {
  if [ -d "$1" ] && [ ! -f "$1/made" ] && [ -n "$(ls -A "$1")" ]; then
    die "$1 is not empty and holds no demo; choose another --root"
  fi
  missing_parent=
  parent=$1
  while [ ! -e "$parent" ]; do
    missing_parent=$parent
    parent=$(dirname "$parent")
  done
  mkdir -p "$1"
  root=$(cd "$1" && pwd -P)
  made=$root/made
  if [ ! -f "$made" ]; then
    : >"$made"
    chmod 700 "$root"
    [ -z "$missing_parent" ] || record made_parent "$(cd "$missing_parent" && pwd -P)"
    record checkout "$checkout"
    record checkout_made "$checkout_made"
  fi
  # Short names that no other demo has.
  demo_id=$(printf %s "$root" | cksum | cut -d ' ' -f 1)
}

# The demo runs a copy: a later build in the checkout must not pull the file from under a running server.
demo_executable() {
  if ! is_built; then
    say "building dist/berth"
    (cd "$checkout" && bun run build.ts) >/dev/null || die "the build failed; see its text above"
  fi
  executable_is_new=
  cmp -s "$checkout/dist/berth" "$root/berth" && return 0
  executable_is_new=yes
  cp "$checkout/dist/berth" "$root/berth.new"
  mv "$root/berth.new" "$root/berth"
}

# is_built: whether dist/berth was made from the files and the commit that are there now.
is_built() {
  [ -x "$checkout/dist/berth" ] || return 1
  changed=$(cd "$checkout" && find src plugins examples build.ts bytecode.order package.json bun.lock tsconfig.json bunfig.toml \
    -newer dist/berth -print -quit)
  hash=$(git -c safe.directory='*' -C "$checkout" rev-parse --short=12 HEAD 2>/dev/null || true)
  case $changed$("$checkout/dist/berth" --version 2>/dev/null) in
    "berth "*"(commit: $hash"*) return 0 ;;
  esac
  return 1
}

demo_berth() {
  BERTH_ENDPOINT=unix:$root/state/run/berth.sock "$root/berth" "$@"
}

# address_of_each: "<pod> <host:port>" of every replica of the page.
address_of_each() {
  busybox wget -Y off -qO- "http://$(made addr)/pods?scope=demo&name=hello&detail=true" | bun -e '
    const { data } = await Bun.stdin.json();
    for (const pod of data.pods)
      for (const port of pod.ports) console.log(pod.name, `${port.host_ip}:${port.host_port}`);'
}

show_page() {
  address_of_each >"$root/pods"
  [ -s "$root/pods" ] || die "no replica has a port; see: $root/berth describe deployment demo/hello"
  page_address=
  while read -r pod page_address; do
    busybox wget -Y off -qO "$root/page" "http://$page_address/" || die "$pod does not serve the page at http://$page_address/"
    say "$pod serves http://$page_address/"
  done <"$root/pods"
  sed 's/^/    /' "$root/page"
  show_host
  first_pod=$(head -n 1 "$root/pods" | cut -d ' ' -f 1)
  rm -f "$root/pods" "$root/page"
}

# show_host: the same page by its host name, through the ingress. Its certificate is there a moment after the apply.
show_host() {
  demo_berth ca >"$root/ca.pem"
  tries=0
  until page_by_host 2>"$root/page"; do
    tries=$((tries + 1))
    if [ "$tries" -ge 100 ]; then
      cat "$root/page" >&2
      die "https://$demo_name:${https_addr##*:}/ does not serve the page; see: $root/serve.log and $root/state/logs/haproxy.log"
    fi
    sleep 0.1
  done
  say "the ingress serves https://$demo_name:${https_addr##*:}/"
}

page_by_host() {
  address=$https_addr name=$demo_name root_certificate=$root/ca.pem bun -e '
    const { name, root_certificate, address } = process.env;
    const tls = { ca: await Bun.file(root_certificate).text(), serverName: name };
    const answer = await fetch(`https://${address}/`, { headers: { host: name }, tls, proxy: false });
    if (answer.status !== 200) throw new Error(`status ${answer.status}`);'
}

say_next() {
  docker_words="docker"
  docker_export=
  if [ "$docker_host" != unix:///var/run/docker.sock ]; then
    docker_words="docker -H $docker_host"
    docker_export=" DOCKER_HOST=$docker_host"
  fi
  cat <<TEXT
==> It runs. Try next:
    export BERTH_ENDPOINT=unix:$root/state/run/berth.sock PATH=$root:\$PATH
    export BERTH_PREFIX=$demo_prefix BERTH_ROOT=$root/state BERTH_ADDR=$addr BERTH_OBSERVABILITY_ADDR=$observability_addr BERTH_IDENTITY_ADDR=$identity_addr$docker_export
    export BERTH_INGRESS_HTTP_ADDR=$http_addr BERTH_INGRESS_HTTPS_ADDR=$https_addr
    curl -i http://$demo_name:${http_addr##*:}/                      # redirects to https
    curl --cacert $root/ca.pem https://$demo_name:${https_addr##*:}/
    berth describe deployment demo/hello
    $docker_words kill $first_pod && sleep 2 && berth get pods      # it comes back
    berth apply -f $checkout/examples/hello                          # after you edited the page
    berth identity quickstart --redirect http://localhost:3000/callback    # sign the users of an app in
    berth doctor && berth backup $root/demo.backup                   # how the machine is; all of it in one file
    tail -f $root/serve.log                                          # what the server says
    $checkout/install.sh --demo --down --root $root
TEXT
  show_link
}

# show_link: last, because it works for a minute. A demo of an earlier version may still run without the web UI.
show_link() {
  link=$(demo_berth ui --print 2>/dev/null) || return 0
  cat <<TEXT
==> Look at it in a browser. The link signs you in once, within a minute; "berth ui" prints another:
    $link
TEXT
}

# remove_routes: the unreachable ones that the server keeps behind the subnets of its network.
remove_routes() {
  [ -f "$root/state/run/subnets.json" ] && command -v ip >/dev/null 2>&1 || return 0
  for subnet in $(grep -oE '[0-9.]+/[0-9]+' "$root/state/run/subnets.json"); do
    ip route del unreachable "$subnet" >/dev/null 2>&1 || true
  done
}

remove_files() {
  from=$(made checkout)
  for folder in $(made checkout_made); do
    rm -rf "${from:?}/$folder"
  done
  made_parent=$(made made_parent)
  unmount_below "$root"
  rm -rf "$root/state" "$root/docker" "$root/berth" "$root/berth.new" "$root/serve.log" "$root/made" "$root/demo.backup" \
    "$root/ca.pem"
  # The folders that were made for it, unless somebody has put something there since.
  [ -n "$made_parent" ] || return 0
  empty=$root
  while rmdir "$empty" 2>/dev/null && [ "$empty" != "$made_parent" ]; do
    empty=$(dirname "$empty")
  done
}
