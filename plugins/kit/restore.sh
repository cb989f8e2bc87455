# Sourced by the plugin's serve.sh: how an empty volume gets its data back. The server of the platform leaves a word of what is
# wanted in the volume of the backups, and then makes the volume of the pod: "backup ID" is one of the backups, "cluster" a base
# backup with WAL. It waits for one of the files `done` and `failed` beside it, which say how that ended. The plugin has
# restore_backup ID, and PostgreSQL restore_cluster.

from=$backups/restore
wanted=$from/wanted

# The data gets its place only when all of it is there: a restart in between begins again.
restore_wanted() {
  if [ -s "$from/failed" ]; then die "the restore failed: $(cat "$from/failed")"; fi
  trap 'restore_ended $?' EXIT
  read -r what id <"$wanted"
  case $what in
    cluster | backup) "restore_$what" "$id" ;;
    *) fail "the scripts of this block do not know what \"$what\" is; apply the block again" ;;
  esac
  tell_restored
  trap - EXIT
}

# A stop is no failure: the next start begins again.
restore_ended() {
  [ "$1" != 0 ] && [ "$1" != 143 ] && [ ! -s "$from/failed" ] || return 0
  fault "the pod ended with exit code $1; its log says why"
}

fault() { printf '%s\n' "$1" >"$from/failed.new" && mv "$from/failed.new" "$from/failed"; }

fail() {
  [ ! -s "$wanted" ] || fault "$*"
  die "$*"
}

tell_restored() {
  : "${differs:=}"
  printf '%s\n' "$differs" >"$from/done.new"
  mv "$from/done.new" "$from/done"
  rm -f "$wanted"
}
