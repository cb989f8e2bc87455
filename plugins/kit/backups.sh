# Sourced by the plugin's backup.sh: backups in the volume that all pods of the block share. One backup is a folder, called
# as the second it was begun in. The plugin says what is in it:
#   fill_backup FOLDER      writes a new one
#   check_backup ID         restores it once. 0: it can be. 1: it cannot, or is not what was saved. Any other code: this could
#                           not be found out. Prints the reason. The shell's -e is not in force in it.
#   describe_backup FOLDER  prints "BYTES WHAT IT HOLDS…"
# Sourced after kept.sh, which knows the backups that there are.

# make_backup KEEP [check] [SECONDS]: prints its name, and prunes.
make_backup() {
  id=$(take_backup)
  code=0
  if [ "${2:-}" = check ]; then
    say "backup $id is written; restoring it to see that it can be"
    verify "$id" || code=$?
  fi
  prune "$1" "${3:-0}"
  [ "$code" = 0 ] || die "$(check_text "$id")"
  echo "$id"
}

# check_kept ID: the same for one that is there already.
check_kept() {
  is_backup "$1"
  verify "$1" || die "$(check_text "$1")"
}

check_text() {
  if [ "$code" = 1 ]; then
    printf '%s\n' "backup $1 cannot be restored: $why. It is kept for now, and displaces no older one"
  else
    printf '%s\n' "backup $1 could not be checked: $why. It is kept, and so is the newest one that passed its check"
  fi
}

# verify ID: restores it once, and writes down what came of that. Its code is that of check_backup; `why` has the reason.
verify() {
  code=0
  why=$damaged
  if intact "$1"; then why=$(check_backup "$1") || code=$?; else code=1; fi
  case $code in
    0)
      # What could not be checked.
      write_check "$1" passed "$why"
      # Read in whole just now.
      whole=$1
      ;;
    1) write_check "$1" failed "${why:=see the log}" ;;
    *)
      read_check "$backups/$1"
      [ "$verdict" != unchecked ] || write_check "$1" unchecked "${why:=see the log}"
      ;;
  esac
  return "$code"
}

# Makes a backup and prints its name. It has its name only once it is complete and on disk.
take_backup() {
  umask 077
  id=$(claim_backup)
  new=$backups/.new-$id
  fill_backup "$new"
  finish_backup "$id"
  echo "$id"
}

finish_backup() {
  (cd "$backups/.new-$1" && sha256sum -- * >.sums && mv .sums SHA256SUMS)
  # Without names it waits for all that any program of the machine has written.
  sync "$backups/.new-$1" "$backups/.new-$1/"* 2>/dev/null || sync
  mv "$backups/.new-$1" "$backups/$1"
  sync "$backups" 2>/dev/null || sync
}

# One per second, so that names tell them apart. Whoever makes the folder has the name: two may look at the same time and
# see nothing, and one may be complete before the other begins.
claim_backup() {
  while :; do
    id=$(date -u +%Y%m%dT%H%M%SZ)
    if fault=$(mkdir "$backups/.new-$id" 2>&1); then
      [ -e "$backups/$id" ] || break
      rmdir "$backups/.new-$id"
    elif [ ! -e "$backups/.new-$id" ] && [ ! -e "$backups/$id" ]; then
      die "no backup can be begun: $fault"
    fi
    sleep 1
  done
  next_order >"$backups/.new-$id/.order"
  echo "$id"
}

# cancel_backups: ends those that commands take in this pod, with all that they have started; prints how many.
cancel_backups() {
  taken=
  for process in /proc/[0-9]*; do
    pid=${process#/proc/}
    case $(tr '\0' ' ' <"$process/cmdline" 2>/dev/null || true) in
      "sh /berth/tools.sh backup "*) ;;
      *) continue ;;
    esac
    # A part of one that is counted already.
    case $(tr '\0' ' ' <"/proc/$(parent_of "$pid")/cmdline" 2>/dev/null || true) in
      "sh /berth/tools.sh backup "*) continue ;;
    esac
    taken="$taken $pid"
  done
  # After all were found: a part whose backup has ended before it looks like one of its own.
  count=0
  for pid in $taken; do
    cancel "$pid"
    count=$((count + 1))
  done
  echo "$count"
}

# Without a program of its own: it is asked about every process.
parent_of() {
  while read -r key value; do
    if [ "$key" = PPid: ]; then
      echo "$value"
      return 0
    fi
  done 2>/dev/null <"/proc/$1/status" || true
}

# cancel PID: ends all that it has started, and it by a signal whose exit code (143) tells whoever began it that this was it.
cancel() {
  kill -STOP "$1" 2>/dev/null || return 0
  end_children "$1"
  kill -TERM "$1" 2>/dev/null || true
  kill -CONT "$1" 2>/dev/null || true
}

# end_tree PID: children first would let their parent begin the next one.
end_tree() {
  kill -STOP "$1" 2>/dev/null || return 0
  end_children "$1"
  kill -KILL "$1" 2>/dev/null || true
}

end_children() {
  for child in /proc/[0-9]*; do
    child=${child#/proc/}
    [ "$(parent_of "$child")" != "$1" ] || end_tree "$child"
  done
}

# import_part NAME: adds standard input to a file that comes from elsewhere.
import_part() {
  is_import_name "$1"
  umask 077
  cat >>"$backups/.import-$1"
}

drop_import() {
  is_import_name "$1"
  rm -f "$backups/.import-$1"
}

is_import_name() {
  case $1 in '' | *[!0-9a-f]*) die "\"$1\" is not an import" ;; esac
}

# due_job AGE KEEP [SECONDS]: like job, unless there is a backup that is younger than AGE seconds: a schedule makes them as well.
due_job() {
  age=$1
  shift
  [ -n "$(find "$backups" -mindepth 1 -maxdepth 1 -name '????????T??????Z' -mmin "-$((age / 60))")" ] || job "$@"
}
