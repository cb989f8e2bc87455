#!/bin/sh
# Called by suite.sh: needs.sh RING…
# Gets Bun, the packages of the lock file, Debian packages, and what the fixture images are made of.
set -eu
checkout=$(cd "$(dirname "$0")/../.." && pwd)
. "$checkout/setup/say.sh"
. "$checkout/setup/packages.sh"
. "$checkout/setup/bun.sh"
. "$checkout/setup/dockerd.sh"
. "$checkout/setup/debian-image.sh"

use_bun "$checkout"
use_node_modules "$checkout"
need_docker
need_commands chromium=chromium busybox=busybox-static docker-registry=docker-registry unshare=util-linux mount=mount ip=iproute2
# Plugins are cloned by git, and those that the tests write use jq and curl.
need_commands git=git jq=jq curl=curl
case " $* " in
  *" plugins "*)
    debian_postgres "$checkout/.cache/fixtures"
    debian_redis "$checkout/.cache/fixtures"
    ;;
esac
