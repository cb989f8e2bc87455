# Sourced by serve.sh and tools.sh: what both know about the pod. Plain sh, no more than an image has anyway.

block_kind=postgres
block_scope=$PG_SCOPE
block_name=$PG_NAME
owner=postgres
owner_needed="PostgreSQL refuses to run as root"
env_prefix=${PG_ENV_PREFIX:-BERTH}
. /berth/kit/pod.sh

volume=${PGDATA%/*}
conf=$volume/berth.conf
hba=$volume/berth.hba
passfile=$volume/berth.pgpass
state=$volume/berth.state
# The server removes it when it is promoted, before it takes writes.
standby_signal=$PGDATA/standby.signal
# Of this container: roles, databases and extensions are there.
ensured=${BERTH_ENSURED:-/tmp/berth-ensured}
# The cluster came from a restore: its users still have the passwords of that time.
restored=$volume/berth.restored
port=${PG_PORT:-5432}
superuser=postgres
# Superuser for the machinery: standbys, pg_rewind and backup jobs come over the network as this role.
maintenance=maintenance

# Programs of the version that made the data, else the newest: Debian keeps them by version, outside of PATH.
find_programs() {
  PATH=$PATH:/usr/local/bin:/usr/bin:/bin
  made_by=
  [ ! -r "$PGDATA/PG_VERSION" ] || read -r made_by <"$PGDATA/PG_VERSION" || true
  if [ -n "$made_by" ] && [ -x "/usr/lib/postgresql/$made_by/bin/postgres" ]; then
    PATH=/usr/lib/postgresql/$made_by/bin:$PATH
  elif ! command -v postgres >/dev/null 2>&1 || ! command -v initdb >/dev/null 2>&1; then
    newest=$(for folder in /usr/lib/postgresql/*/bin; do echo "$folder"; done | sort -t / -k 5 -n | tail -n 1)
    [ -x "$newest/postgres" ] || die "no PostgreSQL in this image: neither on PATH nor in /usr/lib/postgresql"
    PATH=$newest:$PATH
  fi
  export PATH
}

# Where the server's socket is.
sockets=/tmp
[ ! -d /var/run/postgresql ] || [ ! -w /var/run/postgresql ] || sockets=/var/run/postgresql

# Who is primary, and the password of the machinery. The container's environment is as old as the container and the
# file as old as the last command that reached it: the higher epoch is the newer word.
load_state() {
  epoch=${PG_EPOCH:-0}
  primary=${PG_PRIMARY_ORDINAL:-0}
  secret=${POSTGRES_MAINTENANCE_PASSWORD:-}
  if is_drilled; then primary=$(own_ordinal); fi
  [ -f "$state" ] || return 0
  { read -r kept_epoch && read -r kept_primary && read -r kept_secret; } <"$state" || return 0
  if [ "$kept_epoch" -gt "$epoch" ]; then
    epoch=$kept_epoch
    primary=$kept_primary
    secret=$kept_secret
  fi
}

save_state() {
  umask 077
  printf '%s\n%s\n%s\n' "$epoch" "$primary" "$secret" >"$state.new"
  # Without a name it waits for all that any program of the machine has written.
  sync "$state.new" 2>/dev/null || sync
  mv "$state.new" "$state"
  printf '*:*:*:%s:%s\n' "$maintenance" "$secret" >"$passfile.new"
  mv "$passfile.new" "$passfile"
}

# The machinery must not wait for a standby: the first one comes after it.
not_waiting="-c synchronous_commit=local"

# ask ARGUMENT…: psql at the server of this pod, as superuser over its socket.
ask() { PGOPTIONS=$not_waiting PGHOST=$sockets PGPORT=$port PGUSER=$superuser psql -XAtq -v ON_ERROR_STOP=1 -d postgres "$@"; }

# One value from it.
local_value() { ask -c "$1"; }

# One value from another pod: remote_value HOST SQL.
remote_value() {
  PGPASSFILE=$passfile PGCONNECT_TIMEOUT=5 psql -XAtqw -h "$1" -p "$port" -U "$maintenance" -d postgres -c "$2"
}

# outdated TIMELINE [ADDRESS…]: whether a pod takes writes that was promoted later than this one: its timeline is a higher one.
# Those addresses need not be asked.
outdated() {
  known=" ${2:-} "
  for peer in $(peers || true); do
    case $known in *" $peer "*) continue ;; esac
    theirs=$(remote_value "$peer" "select ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int
      where not pg_is_in_recovery()" 2>/dev/null || true)
    if [ "${theirs:-0}" -gt "$1" ]; then return 0; fi
  done
  return 1
}

# The addresses of this pod, from where the engine writes them.
own_addresses() {
  while read -r address names; do
    case " $names " in *" ${HOSTNAME:-} "*) printf '%s ' "$address" ;; esac
  done </etc/hosts
}
