# Sourced by tools.sh: what a backup is. In its folder are the dump, and how many keys it holds.
. /berth/kit/kept.sh
. /berth/kit/backups.sh

# job KEEP [SECONDS]: what the schedule runs, in a container of its own.
job() { make_backup "$1" check "${2:-0}"; }

# backup KEEP [check]: of the primary, over the network. Restored once and counted where that is asked for.
backup() { make_backup "$@"; }

# check ID: restores it once, on demand.
check() { check_kept "$1"; }

fill_backup() {
  "$client" --no-auth-warning -h "$(host_of "$primary")" -p "$port" --rdb "$1/dump.rdb" >&2 || die "the primary sent no dump"
  keys_in "$1/dump.rdb" >"$1/keys"
  "$client" --no-auth-warning -h "$(host_of "$primary")" -p "$port" acl users | tr -d '\r' | grep -v '^ERR ' >"$1/users" || true
}

# In a process of its own, which ends with its scratch server.
check_backup() { scratch "$1"; }

describe_backup() { echo "$(wc -c <"$1/dump.rdb" | tr -d ' ') $(cat "$1/keys")"; }

# Reads the whole file, and fails where it is not a complete dump.
keys_in() {
  said=$("${server%-server}-check-rdb" "$1" 2>&1) || {
    printf '%s\n' "$said" | tail -n 5 >&2
    die "$1 is not a complete dump"
  }
  printf '%s\n' "$said" | sed -n 's/.* \([0-9][0-9]*\) keys read.*/\1/p'
}

# scratch ID [PORT]: a server of its own that loads the backup and counts its keys; without a port it has no network. It ends with
# this shell. Its codes, and what it prints, are those of check_backup.
scratch() {
  folder=$(mktemp -d "$backups/.check-XXXXXX") && cp "$backups/$1/dump.rdb" "$folder/dump.rdb" || {
    echo "the backup cannot be copied"
    return 3
  }
  socket=/tmp/berth-scratch-$$.sock
  {
    # What decides whether a dump can be loaded.
    grep -E '^(databases|loadmodule) ' /berth/settings.conf || true
    printf 'port %s\nbind 127.0.0.1\nunixsocket %s\ndir %s\nappendonly no\nsave ""\nuser default on >%s ~* &* +@all\n' \
      "${2:-0}" "$socket" "$folder" "$REDISCLI_AUTH"
  } >"$folder/conf"
  "$server" "$folder/conf" >"$folder/log" 2>&1 &
  scratch_pid=$!
  trap 'kill -KILL "$scratch_pid" 2>/dev/null || true; rm -rf "$folder" "$socket"' EXIT
  until [ "$(scratch_ask ping)" = PONG ]; do
    kill -0 "$scratch_pid" 2>/dev/null || {
      code=0
      wait "$scratch_pid" || code=$?
      tail -n 5 "$folder/log" >&2
      if [ "$code" -gt 128 ] || grep -Eiq 'out of memory|no space left|address already in use' "$folder/log"; then
        echo "a server for the check was ended: $(tail -n 1 "$folder/log")"
        return 3
      fi
      echo "a server does not start with it: $(grep '#' "$folder/log" | tail -n 1 | sed 's/^.*# //')"
      return 1
    }
    sleep 0.2
  done
  loaded=$(scratch_field rdb_last_load_keys_loaded)
  expired=$(scratch_field rdb_last_load_keys_expired)
  # Servers before 7.0 do not count what they load.
  [ -n "$loaded" ] || loaded=$(scratch_ask info keyspace | count_keys)
  wanted=$(cat "$backups/$1/keys")
  [ "$((loaded + ${expired:-0}))" = "$wanted" ] && return 0
  echo "it holds $wanted keys and $loaded were restored"
  return 1
}

# Reads INFO KEYSPACE: the keys of all databases.
count_keys() { sed -n 's/^db[0-9]*:keys=\([0-9]*\),.*/\1/p' | awk '{ keys += $1 } END { print keys + 0 }'; }

scratch_ask() { "$client" --no-auth-warning -s "$socket" "$@" 2>/dev/null | tr -d '\r' || true; }
scratch_field() { scratch_ask info persistence | sed -n "s/^$1://p"; }

# restore ID: the dataset of the backup takes the place of the one there is, which is backed up first. The server copies
# it from a scratch server as from any primary, so that standbys follow and clients stay connected.
restore() {
  known "$1"
  [ "$(field replication role)" = master ] || die "this pod is not primary; restore there"
  before=$(take_backup)
  say "what is there now is backup $before"
  # What it says is no answer of this tool.
  scratch "$1" "$((port + 10000))" >"/tmp/berth-said-$$" || die "the keys of $1 cannot be restored: $(cat "/tmp/berth-said-$$"); nothing was changed"
  rm -f "/tmp/berth-said-$$"
  say "taking over the keys of $1"
  ask replicaof 127.0.0.1 "$((port + 10000))" >/dev/null
  tries=0
  until [ "$(field replication master_link_status)" = up ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 18000 ] || ! kill -0 "$scratch_pid" 2>/dev/null; then
      ask replicaof no one >/dev/null
      die "the keys were not taken over; what was there before is backup $before"
    fi
    sleep 0.2
  done
  # Counted while this server only copies: after that clients write again.
  keys=$(ask info keyspace | count_keys)
  wanted=$(scratch_ask info keyspace | count_keys)
  libraries=$(field memory number_of_libraries)
  wanted_libraries=$(scratch_ask info memory | sed -n 's/^number_of_libraries://p')
  source=$(scratch_ask info replication | sed -n 's/^master_replid://p')
  ask replicaof no one >/dev/null
  [ "$keys" = "$wanted" ] || die "the server has $keys keys, and the backup $wanted; what was there before is $before"
  [ "$libraries" = "$wanted_libraries" ] ||
    die "the server has $libraries libraries of functions, and the backup $wanted_libraries; what was there before is $before"
  # The history that it had until now is the second one from here on.
  [ -n "$source" ] && [ "$(field replication master_replid2)" = "$source" ] ||
    die "the server does not hold the keys of $1; what was there before is $before"
  keep_restored || die "the keys of $1 are there and could not be written to disk; a restart would bring back $before"
  echo "$keys $before"
  missing_users "$1"
}

# missing_users ID: users that the server had when the backup was made, and does not have, a line each. A dump holds none; backups
# of older versions do not know of them.
missing_users() {
  [ -e "$backups/$1/users" ] || return 0
  { ask acl users; echo; cat "$backups/$1/users"; } | awk '$0 == "" { past = 1; next } !past { there[$0] = 1; next } !there[$0]'
}

# Until the new keys are on disk a restart would read the old ones: a file of all that was there before.
keep_restored() {
  if [ "$("$client" --no-auth-warning -p "$port" config get appendonly | tail -n 1 | tr -d '\r')" = yes ]; then
    wait_for aof_rewrite_in_progress 0 && wait_for aof_rewrite_scheduled 0
    [ "$(field persistence aof_last_bgrewrite_status)" = ok ]
  elif [ -n "$("$client" --no-auth-warning -p "$port" config get save | tail -n 1 | tr -d '\r')" ]; then
    ask save >/dev/null
  fi
}

# wait_for FIELD VALUE: of what the server says about its files.
wait_for() {
  while [ "$(field persistence "$1")" != "$2" ]; do sleep 0.2; done
}

# import_backup NAME: makes a backup of a dump.rdb from elsewhere.
import_backup() {
  is_import_name "$1"
  umask 077
  keys=$(keys_in "$backups/.import-$1")
  id=$(claim_backup)
  mv "$backups/.import-$1" "$backups/.new-$id/dump.rdb"
  echo "$keys" >"$backups/.new-$id/keys"
  finish_backup "$id"
  verify "$id" || die "$(check_text "$id")"
  echo "$id"
}

# dump_file ID: "PATH BYTES".
dump_file() {
  known "$1"
  echo "$backups/$1/dump.rdb $(wc -c <"$backups/$1/dump.rdb" | tr -d ' ')"
}
