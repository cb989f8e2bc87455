# Sourced by tools.sh: the tools of a pod that a handover needs, whatever the server is. See handover.ts.

# The stop signal once more, in case the first came before anything could hear it.
halt() { kill -TERM 1; }

# remember EPOCH ORDINAL: who is primary from now on. The server's own load_state has run; save_state keeps it.
remember() {
  [ "$1" -ge "$epoch" ] || die "epoch $1 is older than what this pod knows ($epoch)"
  epoch=$1
  primary=$2
  save_state
}
