# Sourced by demo.sh: the server of the demo, as a systemd unit where there is systemd, in the background elsewhere.

demo_server() {
  if server_runs && [ -n "$executable_is_new" ]; then stop_server; fi
  for plane in addr observability_addr identity_addr http_addr https_addr; do
    [ -n "$(made "$plane")" ] || record "$plane" "127.0.0.1:$(free_port)"
  done
  addr=$(made addr)
  observability_addr=$(made observability_addr)
  identity_addr=$(made identity_addr)
  http_addr=$(made http_addr)
  https_addr=$(made https_addr)
  server_runs || start_server
  wait_until_ready
  record installation "$(busybox wget -Y off -qO- "http://$addr/system" | sed -n 's/.*"installation": *"\([^"]*\)".*/\1/p')"
}

start_server() {
  mkdir -p "$root/state"
  : >"$root/serve.log"
  say "starting the server at http://$addr"
  if [ -d /run/systemd/system ]; then start_unit; else start_in_background; fi
}

serve_flags() {
  set -- --root "$root/state" --addr "$addr" --observability-addr "$observability_addr" --identity-addr "$identity_addr"
  set -- "$@" --ingress-http-addr "$http_addr" --ingress-https-addr "$https_addr"
  "$flags_to" "$@" --docker-host "$docker_host" --prefix "$demo_prefix"
}

start_in_background() {
  flags_to=spawn_server
  serve_flags
}

spawn_server() {
  setsid nohup "$root/berth" serve "$@" >>"$root/serve.log" 2>&1 </dev/null &
  server_pid=$!
  echo "$server_pid" >"$root/serve.pid"
  # Until it has become our executable, the process is still setsid or nohup.
  tries=0
  until is_ours "$server_pid" || [ "$tries" -ge 50 ]; do
    tries=$((tries + 1))
    sleep 0.1
  done
}

start_unit() {
  unit=berth-demo-$demo_id.service
  record unit "$unit"
  flags_to=print_unit
  serve_flags | sed "/^\[Service\]/a StandardOutput=append:$root/serve.log\nStandardError=append:$root/serve.log" \
    >"/run/systemd/system/$unit"
  systemctl daemon-reload
  systemctl restart "$unit"
}

print_unit() {
  "$root/berth" server unit --executable "$root/berth" "$@"
}

free_port() {
  bun -e 'const s = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } }); console.log(s.port); s.stop()'
}

server_runs() {
  unit=$(made unit)
  if [ -n "$unit" ]; then
    systemctl is-active --quiet "$unit"
  else
    server_pid=$(cat "$root/serve.pid" 2>/dev/null || true)
    [ -n "$server_pid" ] && is_ours "$server_pid"
  fi
}

# The number in a pid file may be another process by now.
is_ours() {
  [ "$(readlink "/proc/$1/exe" 2>/dev/null | sed 's/ (deleted)$//')" = "$root/berth" ]
}

wait_until_ready() {
  tries=0
  until grep -q '"message":"ready"' "$root/serve.log"; do
    tries=$((tries + 1))
    if [ "$tries" -gt 300 ] || ! server_runs; then
      tail -n 20 "$root/serve.log" >&2
      die "the server did not get ready; the end of $root/serve.log is above"
    fi
    sleep 0.1
  done
}

stop_server() {
  unit=$(made unit)
  if [ -n "$unit" ]; then
    systemctl stop "$unit" 2>/dev/null || true
    rm -f "/run/systemd/system/$unit"
    systemctl daemon-reload || true
  else
    # Also one that somebody has started by hand since.
    for process in /proc/[0-9]*; do
      ! is_ours "${process#/proc/}" || end_process "${process#/proc/}"
    done
  fi
  rm -f "$root/serve.pid"
}

end_process() {
  kill "$1" 2>/dev/null || true
  tries=0
  while is_ours "$1"; do
    tries=$((tries + 1))
    [ "$tries" -ne 300 ] || kill -KILL "$1"
    sleep 0.1
  done
}

# stop_proxy: after the server, which would start it again.
stop_proxy() {
  proxy_pid=$(cat "$root/state/run/haproxy.pid" 2>/dev/null || true)
  [ -n "$proxy_pid" ] || return 0
  ! is_proxy "$proxy_pid" || kill "$proxy_pid" 2>/dev/null || true
  tries=0
  while is_proxy "$proxy_pid"; do
    tries=$((tries + 1))
    [ "$tries" -ne 100 ] || kill -KILL "$proxy_pid"
    sleep 0.1
  done
}

is_proxy() {
  tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null | grep -qF -- "-f $root/state/ingress/haproxy.cfg"
}
