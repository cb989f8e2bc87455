#!/bin/sh
# Called by suite.sh, beside the lanes: fixtures.sh RING|FILE…
# Makes what the images of the databases are made of, and then the file fixtures-made, for which lanes wait.
set -eu
checkout=$(cd "$(dirname "$0")/../.." && pwd)
. "$checkout/setup/say.sh"
. "$checkout/setup/packages.sh"
. "$checkout/setup/debian-image.sh"

case " $* " in
  *" plugins "* | *" test/plugins/"*)
    debian_redis "$checkout/.cache/fixtures"
    debian_postgres "$checkout/.cache/fixtures"
    ;;
  *" e2e "* | *" test/e2e/"*)
    # The clean root of clean-root.test.ts is that of an image.
    debian_redis "$checkout/.cache/fixtures"
    ;;
esac
: >"$BERTH_TEST_DIR/fixtures-made"
