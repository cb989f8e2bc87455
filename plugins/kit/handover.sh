# Sourced by tools.sh: the tools of a pod that a handover needs, whatever the server is. See handover.ts.

# The stop signal once more, in case the first came before anything could hear it.
halt() { kill -TERM 1; }

# lock TOKEN: one command at a time decides who is primary; asking again renews. The volume of the backups is the one place
# that all pods share. What is not renewed for two minutes was left behind.
lock() {
  find "$backups/.handover" -prune -mmin +2 -exec rm -rf {} + 2>/dev/null || true
  if mkdir "$backups/.handover" 2>/dev/null; then
    echo "$1" >"$backups/.handover/by"
  elif [ "$(cat "$backups/.handover/by" 2>/dev/null)" = "$1" ]; then
    touch "$backups/.handover"
  else
    die "another command is making a pod primary just now; wait for it, then see: info"
  fi
}

unlock() {
  [ "$(cat "$backups/.handover/by" 2>/dev/null)" != "$1" ] || rm -rf "$backups/.handover"
}

# remember EPOCH ORDINAL: who is primary from now on. The server's own load_state has run; save_state keeps it.
remember() {
  [ "$1" -ge "$epoch" ] || die "epoch $1 is older than what this pod knows ($epoch)"
  epoch=$1
  primary=$2
  save_state
}
