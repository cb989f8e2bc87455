# Sourced by serve.sh: a new cluster from a backup, or from a base backup and WAL. See kit/restore.sh.
. /berth/kit/restore.sh

place_cluster() {
  : >"$restored"
  # A new cluster, or a timeline of its own: no base backup of before leads to it.
  rm -f "$backups/point-in-time/newest"
  rmdir "$PGDATA" 2>/dev/null || true
  mv "$PGDATA.new" "$PGDATA"
  rm -f "$volume/berth.replay.conf"
}

# restore_backup ID: roles and databases of a backup into a new cluster.
restore_backup() {
  refuse_second_database
  . /berth/backup.sh
  intact "$1" || fail "backup $1 is damaged: $damaged"
  say "restoring backup $1 into a new database cluster"
  make_cluster
  alone "" || fail "the new cluster does not start: $(tail -n 3 "$volume/berth.replay.log")"
  use_local
  # Those that are there already are no fault.
  psql -Xq -d postgres -f "$backups/$1/globals.sql" >/dev/null 2>&1 || true
  : >"$restored"
  BERTH_ENSURED=/tmp/berth-restoring sh /berth/tools.sh ensure || fail "users and databases of the block cannot be made; see the log"
  : >"$restored"
  all_differs=
  while read -r number name <&3; do
    begin_restore "$name" "berth_restored_$number" "$backups/$1/$number.dump"
    fill "$1" "$number" "$scratch" --no-tablespaces || fail "database $name of backup $1 was not restored: $fault"
    [ -z "$differs" ] || all_differs="$all_differs$name: $differs "
    psql -Xq -v ON_ERROR_STOP=1 -d postgres -v name="$name" <<'SQL'
drop database if exists :"name";
SQL
    end_restore "$name"
  done 3<"$backups/$1/databases"
  differs=$(one_line "$all_differs")
  unset PGHOST PGPORT PGUSER PGOPTIONS
  local_value checkpoint >/dev/null
  end_alone
  place_cluster
}

make_cluster() {
  rm -rf "$PGDATA.new"
  initdb -D "$PGDATA.new" -U "$superuser" --data-checksums --auth-local=trust --auth-host=scram-sha-256 \
    --encoding="${PG_ENCODING:-UTF8}" --locale="${PG_LOCALE:-C.UTF-8}" >/dev/null
}

# From a base backup, and WAL until a time, which the server of the platform fetches. The cluster gets its place only when all of it
# is replayed, so that a restart in between begins again.
restore_cluster() {
  rounds=0
  until [ -e "$from/ready" ]; do
    [ ! -s "$from/failed" ] || die "the restore failed: $(cat "$from/failed")"
    [ $((rounds % 60)) != 0 ] || say "waiting for what the server fetches for the restore"
    rounds=$((rounds + 1))
    sleep 1
  done
  say "unpacking the base backup"
  rm -rf "$PGDATA.new" "$volume/tablespaces"
  mkdir -m 700 "$PGDATA.new"
  tar -xzf "$from/base.tar.gz" -C "$PGDATA.new"
  restore_tablespaces
  rm -f "$PGDATA.new/standby.signal" "$PGDATA.new/backup_manifest"
  : >"$PGDATA.new/recovery.signal"
  PGDATA=$PGDATA.new check_version
  until_time=
  [ ! -s "$from/until" ] || until_time="recovery_target_time = '$(cat "$from/until")'"
  if ! replay; then
    # Nothing was written between the last change before that time and the time itself.
    grep -q 'recovery ended before configured recovery target was reached' "$volume/berth.replay.log" ||
      fail "the WAL was not replayed: $(grep -E 'FATAL|PANIC|ERROR' "$volume/berth.replay.log" | tail -n 3)"
    until_time=
    replay || fail "the WAL was not replayed: $(grep -E 'FATAL|PANIC|ERROR' "$volume/berth.replay.log" | tail -n 3)"
  fi
  place_cluster
  # Nothing archived it while the cluster was alone: the way to the timeline that begins here.
  if [ -n "${PG_BASE_SECONDS:-}" ]; then
    history=$(printf '%08X.history' "$(own_timeline)")
    sh /berth/wal.sh archive "$PGDATA/pg_wal/$history" "$history"
  fi
}

# They lie beside the data, wherever they were before. A manifest names no files of theirs that a check could find yet.
restore_tablespaces() {
  if [ ! -s "$PGDATA.new/tablespace_map" ]; then
    [ ! -e "$from/backup_manifest" ] || ! command -v pg_verifybackup >/dev/null 2>&1 ||
      pg_verifybackup -n -q -m "$from/backup_manifest" "$PGDATA.new" || fail "the base backup is not as it was made; see above"
    return 0
  fi
  while read -r oid _; do
    mkdir -p "$volume/tablespaces/$oid"
    tar -xzf "$from/$oid.tar.gz" -C "$volume/tablespaces/$oid"
    echo "$oid $volume/tablespaces/$oid"
  done <"$PGDATA.new/tablespace_map" >"$PGDATA.new/tablespace_map.new"
  mv "$PGDATA.new/tablespace_map.new" "$PGDATA.new/tablespace_map"
}

# replay: until the time, then the cluster takes writes on a timeline of its own.
replay() {
  say "replaying WAL${until_time:+ until $(cat "$from/until")}"
  alone "hot_standby = off
restore_command = 'sh /berth/wal.sh fetch %f %p'
recovery_target_timeline = '$(cat "$from/timeline")'
recovery_target_action = 'promote'
$until_time" || return 1
  local_value checkpoint >/dev/null
  end_alone
}

# alone SETTINGS: starts the new cluster so that nothing can connect to it but this pod.
alone() {
  cat >"$volume/berth.replay.conf" <<CONF
include '/berth/settings.conf'
listen_addresses = ''
port = $port
hba_file = '$hba'
unix_socket_directories = '$sockets'
archive_mode = off
synchronous_standby_names = ''
max_logical_replication_workers = 0
$1
CONF
  LC_ALL=C postgres -D "$PGDATA.new" -c config_file="$volume/berth.replay.conf" >"$volume/berth.replay.log" 2>&1 &
  child=$!
  trap 'kill -INT "$child" 2>/dev/null || true; exit 143' TERM INT QUIT
  until pg_isready -q -U "$superuser" -d postgres -h "$sockets" -p "$port"; do
    if ! kill -0 "$child" 2>/dev/null; then
      wait "$child"
      return 1
    fi
    sleep 1
  done
}

end_alone() {
  kill -INT "$child"
  outlive "$child"
}
