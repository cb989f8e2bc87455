# Sourced by the plugin's backup.sh: backups in the volume that all pods of the block share. One backup is a folder, called
# as the second it was begun in. The plugin says what is in it:
#   fill_backup FOLDER      writes a new one
#   check_backup ID         restores it once; fails where that is not what was saved
#   describe_backup FOLDER  prints "BYTES WHAT IT HOLDS…"

# make_backup KEEP [check] [SECONDS]: prints its name, and prunes.
make_backup() {
  id=$(take_backup)
  if [ "${2:-}" = check ]; then
    say "backup $id is written; restoring it to see that it can be"
    known "$id"
    check_backup "$id"
  fi
  prune "$1" "${3:-0}"
  echo "$id"
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
  sync
  mv "$backups/.new-$1" "$backups/$1"
  sync
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

# prune KEEP [SECONDS]: the newest KEEP stay, without those that are older than that. The newest one stays in any case.
# What an interrupted backup or check left goes after a day.
prune() {
  oldest=00000000T000000Z
  if [ "${2:-0}" -gt 0 ]; then oldest=$(date -u -d "@$(($(date +%s) - $2))" +%Y%m%dT%H%M%SZ); fi
  list_backups | awk -v keep="$1" -v oldest="$oldest" 'NR > keep || (NR > 1 && $1 < oldest) { print $1 }' | while read -r id; do
    say "removing backup $id: $1 are kept"
    rm -rf "${backups:?}/$id"
  done
  find "$backups" -maxdepth 1 \( -name '.new-*' -o -name '.check-*' -o -name '.import-*' \) -mtime +0 -exec rm -rf {} +
}

# Newest first: "ID BYTES WHAT IT HOLDS…".
list_backups() {
  for folder in "$backups"/[0-9]*Z; do
    [ -f "$folder/SHA256SUMS" ] || continue
    printf '%s %s\n' "${folder##*/}" "$(describe_backup "$folder")"
  done | sort -r
}

# count_backups: how many there are, in `count`. Without a program: the status of a pod is asked for often.
count_backups() {
  count=0
  for folder in "$backups"/[0-9]*Z; do
    [ ! -f "$folder/SHA256SUMS" ] || count=$((count + 1))
  done
}

# known ID: fails where there is no such backup, or not as it was written.
known() {
  is_backup_name "$1"
  [ -f "$backups/$1/SHA256SUMS" ] || die "no backup \"$1\"; see: backups"
  (cd "$backups/$1" && sha256sum -c SHA256SUMS >/dev/null 2>&1) || die "backup $1 is damaged: its files are not what was written"
}

delete_backup() {
  is_backup_name "$1"
  [ -d "$backups/$1" ] || die "no backup \"$1\"; see: backups"
  rm -rf "${backups:?}/$1"
}

is_backup_name() {
  case $1 in */* | .* | '') die "\"$1\" is not a backup" ;; esac
}
