# Sourced by demo.sh, after say.sh: HAProxy.

# Installs HAProxy if there is none: the server starts it with files of its own. Fails, and says so, where that cannot be.
need_proxy() {
  if PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin command -v haproxy >/dev/null 2>&1; then
    if systemctl is-active --quiet haproxy.service 2>/dev/null; then
      say "haproxy.service of this machine runs and stays as it is; berth starts a HAProxy of its own beside it"
      note "both cannot have the same ports: change its ports, or --ingress-http-addr and --ingress-https-addr of berth serve"
    fi
    return 0
  fi
  if ! command -v apt-get >/dev/null 2>&1; then
    say "HAProxy is missing: apps run, but no ingress is served"
    note "to fix: install HAProxy 2.6 or newer with the package manager of this machine, then: systemctl restart berth"
    return 1
  fi
  say "installing HAProxy (haproxy)"
  # RUNLEVEL=1: without systemd, Debian's package would start its service.
  if ! apt-get update -qq || ! RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends haproxy >/dev/null; then
    say "apt-get could not install haproxy: apps run, but no ingress is served"
    note "to fix: apt-get install haproxy && systemctl disable --now haproxy, then: systemctl restart berth"
    return 1
  fi
  # The service of the package is not what berth starts.
  ! command -v systemctl >/dev/null 2>&1 || systemctl --quiet disable --now haproxy.service >/dev/null 2>&1 || true
}
