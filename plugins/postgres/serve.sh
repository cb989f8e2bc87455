# The first process of the pod: brings the data into the state that this pod's role asks for, then runs the server.
# Before anything else: see as_first.
trap 'exit 143' TERM INT QUIT
set -eu
. /berth/lib.sh
. /berth/restore.sh

# The server's own files stay as initdb made them; what is set here lies beside them.
write_conf() {
  printf '%s\n' >"$hba" \
    "local all all trust" \
    "host all $maintenance all scram-sha-256" \
    "host replication $maintenance all scram-sha-256" \
    "host all $superuser all reject" \
    "host all all all scram-sha-256"
  cat >"$conf" <<CONF
include '/berth/settings.conf'
listen_addresses = '*'
port = $port
hba_file = '$hba'
unix_socket_directories = '$sockets'
password_encryption = 'scram-sha-256'
wal_level = replica
wal_log_hints = on
hot_standby = on
recovery_target_timeline = 'latest'
primary_conninfo = 'host=$(host_of "$primary") port=$port user=$maintenance passfile=$passfile application_name=pod-$ordinal connect_timeout=10'
CONF
}

# Another pod of this block answers: the data is there, so an empty volume must not become a second database.
refuse_second_database() {
  # Names may be known a moment after the start only.
  for _ in 1 2 3; do
    refuse_if_answered
    sleep 1
  done
}

refuse_if_answered() {
  if pg_isready -q -t 3 -U "$superuser" -d postgres -h "$PG_NAME.$PG_SCOPE" -p "$port"; then
    die "this volume is empty and another pod has the data; make that one primary: promote $PG_SCOPE/$PG_NAME --replica N"
  fi
}

initialise() {
  refuse_second_database
  say "making a new database cluster"
  make_cluster
  rmdir "$PGDATA" 2>/dev/null || true
  mv "$PGDATA.new" "$PGDATA"
}

# Waits for a primary that is one: what was promoted last may still be on its way.
wait_for_primary() {
  host=$(host_of "$primary")
  tries=0
  until [ "$(remote_value "$host" 'select pg_is_in_recovery()' 2>/dev/null)" = f ]; do
    tries=$((tries + 1))
    [ "$tries" -le 120 ] || die "$host does not answer as primary; see its log, or promote another pod"
    [ $((tries % 10)) != 1 ] || say "waiting for the primary $host"
    sleep 1
    load_state
    [ "$primary" != "$ordinal" ] || die "this pod has become primary meanwhile; starting again"
    host=$(host_of "$primary")
  done
}

clone() {
  wait_for_primary
  say "copying the data of $host"
  rm -rf "$PGDATA.new"
  PGPASSFILE=$passfile interruptible pg_basebackup -D "$PGDATA.new" -h "$host" -p "$port" -U "$maintenance" -w -X stream -c fast
  : >"$PGDATA.new/standby.signal"
  rm -rf "$PGDATA.old"
  [ ! -e "$PGDATA" ] || mv "$PGDATA" "$PGDATA.old"
  mv "$PGDATA.new" "$PGDATA"
  rm -rf "$PGDATA.old"
}

system_identifier() { LC_ALL=C pg_controldata -D "$PGDATA" | sed -n 's/^Database system identifier: *//p'; }

# A former primary follows the new one: what it had not sent before the promotion is lost. So does a standby that had
# received more than the one that was promoted.
rejoin() {
  wait_for_primary
  theirs=$(remote_value "$host" 'select system_identifier from pg_control_system()')
  [ "$theirs" = "$(system_identifier)" ] ||
    die "the data here and on $host are of different clusters; delete the volume of one of them"
  say "taking back what $host does not have"
  rm -f "$PGDATA/standby.signal"
  clean=yes
  if ! LC_ALL=C pg_controldata -D "$PGDATA" | grep -q '^Database cluster state: *shut down'; then
    postgres --single -F -D "$PGDATA" -c config_file="$conf" template1 </dev/null >/dev/null || clean=
  fi
  remote_value "$host" checkpoint >/dev/null
  if [ -n "$clean" ] && PGPASSFILE=$passfile interruptible pg_rewind -D "$PGDATA" \
    --source-server="host=$host port=$port user=$maintenance dbname=postgres passfile=$passfile"; then
    : >"$PGDATA/standby.signal"
  else
    say "pg_rewind cannot do it; the whole data is copied instead"
    clone
  fi
}

# A standby on another timeline than the primary may be a little behind, or apart from it: pg_rewind knows.
rejoin_if_apart() {
  host=$(host_of "$primary")
  theirs=$(remote_value "$host" 'select timeline_id from pg_control_checkpoint() where not pg_is_in_recovery()' 2>/dev/null || true)
  ours=$(own_timeline)
  if [ -n "$theirs" ] && [ "$theirs" != "$ours" ]; then rejoin; fi
}

prepare() {
  exchange
  forget_before
  [ ! -e "$PGDATA.old" ] || [ -e "$PGDATA" ] || mv "$PGDATA.old" "$PGDATA"
  # The word of it was lost with the container.
  if [ -s "$wanted" ] && [ -s "$PGDATA/PG_VERSION" ] && [ "$primary" = "$ordinal" ]; then tell_restored; fi
  if [ ! -s "$PGDATA/PG_VERSION" ]; then
    if [ "$primary" != "$ordinal" ]; then
      clone
    elif [ -s "$wanted" ]; then
      restore_wanted
    elif [ -n "${PG_RESTORE:-}" ]; then
      restore_cluster
      rm -rf "$from"
    else
      initialise
    fi
  fi
  check_version
  if [ -e "$PGDATA/standby.signal" ]; then
    if [ "$primary" = "$ordinal" ]; then
      say "this pod is to be primary but has not been promoted; it follows until then"
    else
      rejoin_if_apart
    fi
  elif [ "$primary" != "$ordinal" ]; then
    rejoin
  elif outdated "$(own_timeline)"; then
    die "$peer was promoted later than this pod; bring it back as a standby: rejoin $PG_SCOPE/$PG_NAME --replica $ordinal"
  fi
  write_conf
}

# Of a pod that takes writes: its timeline, and the addresses of those that follow it. They take none themselves.
standing_query="select case when not pg_is_in_recovery() then
  ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int || ' ' ||
    coalesce((select string_agg(host(client_addr), ' ') from pg_stat_replication
      where state = 'streaming' and reply_time > now() - interval '15 seconds'), '') end"

# Beside the server: makes roles, databases and extensions where it is primary, and never lets two be primary. It runs all
# day, so it looks seldom, and asks the server only where the files do not say enough. A promotion does not wait for it.
attend() {
  pause=1
  looks=0
  rounds=0
  while sleep "$pause"; do
    looks=$(((looks + 1) % 720))
    [ "$looks" != 0 ] || forget_before
    if [ -e "$standby_signal" ]; then
      pause=5
      continue
    fi
    load_state
    rounds=$(((rounds + 1) % 3))
    if [ "$primary" = "$ordinal" ] && [ -e "$ensured" ] && [ "$rounds" != 0 ]; then continue; fi
    standing=$(local_value "$standing_query" 2>/dev/null || true)
    [ -n "$standing" ] || continue
    if [ "$primary" != "$ordinal" ]; then
      say "pod $primary is primary by now: stopping"
      kill -INT "$server" 2>/dev/null || true
      return 0
    fi
    if [ "$rounds" = 0 ] && outdated "${standing%% *}" "${standing#* } $(own_addresses)"; then
      say "$peer was promoted later than this pod: stopping"
      kill -INT "$server" 2>/dev/null || true
      return 0
    fi
    [ ! -e "$ensured" ] || continue
    sh /berth/tools.sh ensure || continue
    pause=5
  done
}

# A shell runs a trap between commands only.
interruptible() {
  "$@" &
  child=$!
  trap 'kill "$child" 2>/dev/null || true; exit 143' TERM INT QUIT
  wait "$child"
}

is_again=${2:-}
if [ "${1:-}" != owner ]; then
  set --
  [ ! -e "$PGDATA" ] || set -- "$PGDATA"
  own_folders "$volume" "$backups" /var/run/postgresql "$@"
  if is_root; then as_first /berth/serve.sh; fi
fi
umask 077
# Pid files say nothing between containers: the lock is what keeps a second server away from this data.
[ -n "$is_again" ] || exec 9>"$volume/berth.lock"
if [ -z "$is_again" ] && command -v flock >/dev/null 2>&1; then flock -n 9 || die "another container uses this volume"; fi
ordinal=$(own_ordinal)
load_state
save_state
find_programs
write_conf
prepare
rm -f "$ensured" "$again" "$PGDATA/postmaster.pid"
postgres -D "$PGDATA" -c config_file="$conf" &
server=$!
attend &
attendant=$!
follower=
if [ -n "${PG_BASE_SECONDS:-}" ] && ! is_drilled; then
  sh /berth/wal.sh follow &
  follower=$!
fi
# Fast shutdown: open transactions are rolled back, standbys get everything that was written.
stopping=
trap 'stopping=1; kill -INT "$server" 2>/dev/null || true' TERM INT QUIT
code=0
outlive "$server" || code=$?
kill "$attendant" $follower 2>/dev/null || true
# A restore in place has stopped it.
if [ -e "$again" ] && [ -z "$stopping" ]; then exec sh /berth/serve.sh owner again; fi
exit "$code"
