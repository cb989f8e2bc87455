# Sourced by serve.sh: a new cluster from a backup, or from a base backup and WAL. See kit/restore.sh.
. /berth/kit/restore.sh
. /berth/facts.sh

place_cluster() {
  : >"$restored"
  # A new cluster, or a timeline of its own: no base backup of before leads to it.
  rm -f "$backups/point-in-time/newest"
  rmdir "$PGDATA" 2>/dev/null || true
  mv "$PGDATA.new" "$PGDATA"
  rm -f "$volume/berth.replay.conf"
}

# Nothing archived it while the cluster was alone: the way to the timeline that begins here.
archive_timeline() {
  [ -n "${PG_BASE_SECONDS:-}" ] || return 0
  history=$(printf '%08X.history' "$(own_timeline)")
  sh /berth/wal.sh archive "$PGDATA/pg_wal/$history" "$history"
}

# Beside the server that runs, a tool makes another cluster in $PGDATA.new. The next start of the server exchanges the two; each
# step of that can be the last one of this pod.
exchanging=$volume/berth.exchange
before=$PGDATA.before
# When the data was replaced.
replaced=$volume/berth.replaced
# The server starts again at its end.
again=/tmp/berth-again

exchange() {
  [ -e "$exchanging" ] || return 0
  if [ -s "$PGDATA.new/PG_VERSION" ]; then
    say "the data that was restored takes its place; what was there is kept for $kept_days days"
    if [ -e "$PGDATA" ]; then
      rm -rf "$before"
      mv "$PGDATA" "$before"
    fi
    place_cluster
  fi
  date -u +%Y-%m-%dT%H:%M:%SZ >"$replaced"
  archive_timeline
  rm -f "$exchanging"
}

kept_days=7

forget_before() {
  [ -e "$before" ] || return 0
  [ -z "$(find "$replaced" -mtime "+$kept_days" 2>/dev/null)" ] || rm -rf "$before"
}

# restore_beside [reindex]: what the server of the platform fetches becomes a cluster beside the one that runs.
restore_beside() {
  reindex=${1:-}
  beside
  build_cluster
  rm -rf "$from"
  cat "$volume/berth.indexes"
  sync "$PGDATA.new" 2>/dev/null || sync
  : >"$exchanging"
  trap - EXIT
  start_again
}

# undo_restore: the data of before the last restore comes back, on a timeline of its own; what is there now is kept in its place.
undo_restore() {
  [ -s "$before/PG_VERSION" ] || die "nothing to undo: no data that a restore in place has replaced is kept"
  beside
  new=$before
  # Its new timeline must have a number that none has had.
  cp -n "$PGDATA/pg_wal/"*.history "$new/pg_wal/" 2>/dev/null || true
  rm -f "$new/standby.signal" "$new/postmaster.pid"
  : >"$new/recovery.signal"
  alone "hot_standby = off
restore_command = 'false'
recovery_target_timeline = 'current'" || die "the data of before does not start: $(tail -n 3 "$volume/berth.replay.log")"
  settle
  : >"$exchanging"
  mv "$before" "$PGDATA.new"
  trap - EXIT
  start_again
}

# Its sockets are not those of the server that runs.
beside() {
  [ ! -e "$standby_signal" ] || die "this pod is not primary; restore there"
  [ ! -e "$exchanging" ] || die "the last restore has not ended yet; restart the pod"
  sockets=/tmp/berth-beside
  mkdir -p "$sockets"
  rm -rf "$PGDATA.new"
  trap 'rm -rf "$PGDATA.new"' EXIT
}

# exchanged: whether that has happened, and the server answers.
exchanged() {
  [ ! -e "$exchanging" ] && [ ! -e "$again" ] || exit 1
  [ -e "$ensured" ] || [ -e "$standby_signal" ] || exit 1
  pg_isready -q -t 3 -U "$superuser" -d postgres -h "$sockets" -p "$port"
}

# The first process stops its server and begins as it did at its start.
start_again() {
  : >"$again"
  read -r pid <"$PGDATA/postmaster.pid"
  kill -INT "$pid"
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
  settle
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
  build_cluster
  differs=$(grep -v ': indexes not checked: ' "$volume/berth.indexes" | tr '\n' ' ') || differs=
  place_cluster
  archive_timeline
}

build_cluster() {
  rounds=0
  until [ -e "$from/ready" ]; do
    [ ! -s "$from/failed" ] || die "the restore failed: $(cat "$from/failed")"
    [ $((rounds % 60)) != 0 ] || say "waiting for what the server fetches for the restore"
    rounds=$((rounds + 1))
    sleep 1
  done
  say "unpacking the base backup"
  rm -rf "$PGDATA.new"
  # Others may be those of the data that runs.
  tablespaces=$volume/tablespaces-$(date +%s)
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
}

# They lie beside the data, wherever they were before. A manifest names no files of theirs that a check could find yet.
restore_tablespaces() {
  if [ ! -s "$PGDATA.new/tablespace_map" ]; then
    [ ! -e "$from/backup_manifest" ] || ! command -v pg_verifybackup >/dev/null 2>&1 ||
      pg_verifybackup -n -q -m "$from/backup_manifest" "$PGDATA.new" || fail "the base backup is not as it was made; see above"
    return 0
  fi
  while read -r oid _; do
    mkdir -p "$tablespaces/$oid"
    tar -xzf "$from/$oid.tar.gz" -C "$tablespaces/$oid"
    echo "$oid $tablespaces/$oid"
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
  refuse_other_sorting
  [ -z "$reindex" ] || in_each 'build_indexes "$name"' >&2 || fail "the indexes were not built again; see above"
  in_each 'read_indexes "$name"' >"$volume/berth.indexes"
  settle
}

# Indexes are read in the order of this image. What the image of the base backup sorted by is written down with it.
refuse_other_sorting() {
  was=$(grep '^sorting ' "$from/about" 2>/dev/null) || return 0
  now=$(sorting)
  if [ -n "$reindex" ] || [ "$was" = "$now" ]; then return 0; fi
  kill -INT "$child"
  outlive "$child" || true
  printf '%s\n' "$was" >/tmp/berth-sorting-was
  printf '%s\n' "$now" >/tmp/berth-sorting-now
  apart=$(difference /tmp/berth-sorting-was /tmp/berth-sorting-now | sed 's/missing: sorting/then/; s/added: sorting/now/' | head -n 6 | tr '\n' ' ')
  fail "this image sorts text in another way than the one of the base backup ($apart), which breaks indexes: restore with --reindex," \
    "which builds them all again (after the loss of a machine PG_REINDEX: \"1\" in env of the block), or with the image of then"
}

# Whether all indexes are built again: another libc sorts in another way.
reindex=${PG_REINDEX:-}

# in_each WORDS: runs them for the database `name`, one after the other.
in_each() (
  PGHOST=$sockets PGPORT=$port PGUSER=$superuser PGOPTIONS="$own_options $not_waiting"
  export PGHOST PGPORT PGUSER PGOPTIONS
  ask_all postgres "select datname from pg_database where datallowconn and not datistemplate" | while read -r name; do
    eval "$1" </dev/null
  done
)

# read_indexes DATABASE: prints what is not in order, or was not checked. What base backup and WAL are like is not known before.
read_indexes() {
  if torn=$(check_indexes "$1"); then
    [ -z "$torn" ] || echo "$1: indexes that are not in order, REINDEX them: $torn"
  else
    echo "$1: indexes not checked: $torn"
  fi
}

build_indexes() {
  say "building the indexes of $1 again"
  psql -Xq -v ON_ERROR_STOP=1 -d "$1" -v name="$1" <<'SQL' || die "the indexes of $1 cannot be built; see above"
reindex database :"name";
select current_setting('server_version_num')::int >= 150000 as is_versioned \gset
\if :is_versioned
alter database :"name" refresh collation version;
\endif
SQL
}

# What becomes the data.
new=$PGDATA.new

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
  LC_ALL=C postgres -D "$new" -c config_file="$volume/berth.replay.conf" >"$volume/berth.replay.log" 2>&1 &
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

settle() {
  local_value checkpoint >/dev/null
  kill -INT "$child"
  outlive "$child"
}

own_timeline() { LC_ALL=C pg_controldata -D "$PGDATA" | sed -n "s/^Latest checkpoint's TimeLineID: *//p"; }

check_version() {
  read -r data <"$PGDATA/PG_VERSION"
  program=$(postgres --version)
  program=${program#"${program%%[0-9]*}"}
  program=${program%%[!0-9]*}
  [ "$data" = "$program" ] || die "the data is of PostgreSQL $data and the image holds $program; go back to an image of" \
    "$data, take a backup, and restore it into a new block"
}
