# The first process of the pod: writes the configuration that this pod's role asks for, then becomes the server.
# Before anything else: see as_first.
trap 'exit 143' TERM INT QUIT
set -eu
. /berth/lib.sh
. /berth/kit/restore.sh

# restore_backup ID: an empty volume gets the keys of a backup. A server that has a file of each write does not read a dump, so one
# that nothing can connect to reads it, and writes that file.
restore_backup() {
  [ ! -f "$state" ] || return 0
  . /berth/backup.sh
  intact "$1" || fail "backup $1 is damaged: $damaged"
  say "restoring the keys of backup $1"
  find "$volume" -mindepth 1 -delete
  cp "$backups/$1/dump.rdb" "$volume/dump.rdb"
  umask 077
  {
    grep -v '^\(appendonly\|save\) ' /berth/settings.conf
    printf 'port 0\nunixsocket /tmp/berth-restore.sock\ndir %s\nappendonly no\nsave ""\nuser default on >%s ~* &* +@all\n' "$volume" "$REDISCLI_AUTH"
  } >/tmp/berth-restore.conf
  "$server" /tmp/berth-restore.conf >/tmp/berth-restore.log 2>&1 &
  child=$!
  trap 'kill -TERM "$child" 2>/dev/null || true; exit 143' TERM INT QUIT
  until [ "$(alone ping)" = PONG ]; do
    kill -0 "$child" 2>/dev/null || fail "the backup $1 cannot be loaded: $(tail -n 1 /tmp/berth-restore.log)"
    sleep 0.2
  done
  loaded=$(alone info keyspace | count_keys)
  expired=$(alone info persistence | sed -n 's/^rdb_last_load_keys_expired://p')
  wants=$(cat "$backups/$1/keys")
  [ "$((loaded + ${expired:-0}))" -ge "$wants" ] || say "it holds $wants keys and $loaded were restored: the others have expired"
  if grep -q '^appendonly yes' /berth/settings.conf; then
    alone config set appendonly yes >/dev/null
    until [ "$(alone info persistence | grep -c -e '^aof_rewrite_in_progress:0' -e '^aof_rewrite_scheduled:0')" = 2 ]; do
      kill -0 "$child" 2>/dev/null || fail "the keys cannot be written to disk: $(tail -n 1 /tmp/berth-restore.log)"
      sleep 0.2
    done
    alone info persistence | grep -q '^aof_last_bgrewrite_status:ok' || fail "the keys cannot be written to disk; see the log of the pod"
  fi
  kill -TERM "$child"
  outlive "$child" || fail "the server that has read the backup did not end well; see the log of the pod"
  trap 'exit 143' TERM INT QUIT
}

alone() { "$client" --no-auth-warning -s /tmp/berth-restore.sock "$@" 2>/dev/null | tr -d '\r' || true; }

# Passwords stand in this file and in no argument.
write_conf() {
  umask 077
  {
    cat /berth/settings.conf
    echo "port $port"
    echo "dir $volume"
    echo "user default on >$REDISCLI_AUTH ~* &* +@all"
    echo "masterauth $REDISCLI_AUTH"
    while read -r name key rules; do
      [ -z "$name" ] || echo "user $name on >$(secret_of "$key") $rules"
    done </berth/users.conf
    [ "$primary" = "$ordinal" ] || echo "replicaof $(host_of "$primary") $port"
  } >"$conf.new"
  mv "$conf.new" "$conf"
}

# Whatever the config said when this container was made: a pod that takes writes already is not joined by a second one.
refuse_second_primary() {
  [ "$primary" = "$ordinal" ] || return 0
  for peer in $(peers || true); do
    role=$(timeout 3 "$client" --no-auth-warning -h "$peer" -p "$port" info replication 2>/dev/null | tr -d '\r' | sed -n 's/^role://p') || true
    [ "$role" != master ] || die "$peer takes writes already; bring this pod back as a standby: rejoin $REDIS_SCOPE/$REDIS_NAME --replica $ordinal"
  done
}

# Another pod of this block answers: an empty primary would make all of them empty. This one does not listen yet. Names may
# be known a moment after the start only, so one look is not enough, and a name server that knows nothing is no answer.
refuse_empty_primary() {
  [ ! -f "$state" ] && [ "$primary" = "$ordinal" ] || return 0
  looks=0
  tries=0
  while [ "$looks" -lt 4 ]; do
    found=$(peers || true)
    for peer in $found; do
      if timeout 3 "$client" --no-auth-warning -h "$peer" -p "$port" ping >/dev/null 2>&1; then
        die "this volume is empty and another pod has the data; make that one primary: failover $REDIS_SCOPE/$REDIS_NAME --replica N"
      fi
    done
    [ -z "$found" ] || looks=$((looks + 1))
    tries=$((tries + 1))
    [ "$tries" -le 60 ] || die "$REDIS_NAME.$REDIS_SCOPE cannot be looked up, so it is unknown whether another pod has the data"
    sleep 1
  done
}

if [ "${1:-}" != owner ]; then
  rm -rf "$synced"
  own_folders "$volume" "$backups"
  if is_root; then as_first /berth/serve.sh; fi
fi
find_programs
ordinal=$(own_ordinal)
load_state
[ -n "$REDISCLI_AUTH" ] || die "no REDIS_PASSWORD in the config of $REDIS_SCOPE/$REDIS_NAME; apply the block again"
refuse_empty_primary
refuse_second_primary
if [ -s "$wanted" ] && [ "$primary" = "$ordinal" ]; then restore_wanted; fi
save_state
write_conf
# A standby answers nothing while it looks up the name of its primary.
look_up_soon /etc/resolv.conf
exec "$server" "$conf"
