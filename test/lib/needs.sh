#!/bin/sh
# Called by suite.sh: gets Bun, the packages of the lock file, and Debian packages.
set -eu
checkout=$(cd "$(dirname "$0")/../.." && pwd)
. "$checkout/setup/say.sh"
. "$checkout/setup/packages.sh"
. "$checkout/setup/bun.sh"
. "$checkout/setup/dockerd.sh"

use_bun "$checkout"
use_node_modules "$checkout"
need_docker
# Chromium without windows. Where Debian has only the whole one, the tests use that.
command -v chromium-headless-shell >/dev/null 2>&1 ||
  (need_commands chromium-headless-shell=chromium-headless-shell) || need_commands chromium=chromium
need_commands busybox=busybox-static docker-registry=docker-registry unshare=util-linux mount=mount ip=iproute2
# Plugins are cloned by git, and those that the tests write use jq and curl.
need_commands git=git jq=jq curl=curl
# The session of the quick start is typed in a terminal.
need_commands tmux=tmux restic=restic rclone=rclone rsync=rsync

# The proxy of ingresses, an ACME server for it, and their clients; ssh, by which remotes are reached. Debian starts such services, now and at each boot of the
# machine: the first is prevented by suite.sh, the second here, where they were not installed before.
added=
for service in haproxy caddy; do
  command -v "$service" >/dev/null 2>&1 || added="$added $service"
done
command -v sshd >/dev/null 2>&1 || added="$added ssh"
need_commands ssh=openssh-client sshd=openssh-server
need_commands haproxy=haproxy caddy=caddy openssl=openssl nghttp=nghttp2-client
# shellcheck disable=SC2086 # one word per service
[ -z "$added" ] || ! command -v systemctl >/dev/null 2>&1 || systemctl --quiet disable $added >/dev/null 2>&1 || true
