# What the plugin's commands, the probes and the backup jobs call in a pod: tools.sh TOOL ARGUMENT…
set -eu
. /berth/lib.sh
. /berth/kit/handover.sh

# The probe: the server answers, and where it is primary the roles and databases are there. It runs all day, so it starts one
# program only.
ready() {
  find_programs
  PGHOST=$(socket_folder) pg_isready -q -t 3 -U "$superuser" -d postgres -p "$port" || exit 1
  [ -e /tmp/berth-ensured ] || [ -e "$standby_signal" ]
}

# Roles, databases and extensions as the block names them. Passwords come from the environment, never from an argument.
ensure() {
  PGHOST=$(socket_folder) PGPORT=$port PGUSER=$superuser PGOPTIONS=$not_waiting
  export PGHOST PGPORT PGUSER PGOPTIONS
  load_state
  BERTH_SECRET=$secret psql -Xq -v ON_ERROR_STOP=1 -d postgres -v name="$maintenance" <<'SQL'
set log_statement = 'none'; set log_min_duration_statement = -1; set log_min_error_statement = 'panic';
\set password `printenv BERTH_SECRET`
select format('create role %I superuser replication login', :'name')
  where not exists (select from pg_roles where rolname = :'name') \gexec
select format('alter role %I password %L', :'name', :'password') \gexec
SQL
  while read -r what name more; do
    case $what in
      user) ensure_user "$name" "$more" ;;
      database) ensure_database "$name" "$more" ;;
      extension) psql -Xq -v ON_ERROR_STOP=1 -d "$name" -c "set client_min_messages = warning; create extension if not exists \"$more\"" ;;
    esac || return 1
  done </berth/ensure.conf
}

# ensure_user NAME VARIABLE: only a new role gets the password; later ones are set by new-password.
ensure_user() {
  new=$(printenv "$2") || {
    say "the config of $PG_SCOPE/$PG_NAME has no $2; apply the block again"
    return 1
  }
  BERTH_SECRET=$new psql -Xq -v ON_ERROR_STOP=1 -d postgres -v name="$1" <<'SQL'
set log_statement = 'none'; set log_min_duration_statement = -1; set log_min_error_statement = 'panic';
\set password `printenv BERTH_SECRET`
select format('create role %I login password %L', :'name', :'password')
  where not exists (select from pg_roles where rolname = :'name') \gexec
SQL
}

ensure_database() {
  psql -Xq -v ON_ERROR_STOP=1 -d postgres -v name="$1" -v owner="$2" <<'SQL'
select format('create database %I owner %I', :'name', :'owner')
  where not exists (select from pg_database where datname = :'name') \gexec
SQL
}

# Lines "key=value", and "standby=NAME STATE LAG_BYTES" of each that follows. Fails where the server does not answer.
status() {
  load_state
  recovering=$(local_value 'select pg_is_in_recovery()')
  echo "epoch=$epoch"
  echo "primary=$primary"
  echo "backups=$(list_backups | wc -l | tr -d ' ')"
  if [ "$recovering" = f ]; then
    local_value "select 'role=primary' union all select 'version=' || current_setting('server_version')
      union all select 'lsn=' || pg_current_wal_lsn()::text
      union all select 'timeline=' || timeline_id from pg_control_checkpoint()"
    local_value "select 'standby=' || application_name || ' ' || state || ' ' ||
      coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::bigint::text, '-') from pg_stat_replication order by 1"
    local_value "select 'database=' || datname || ' ' || pg_database_size(oid) || ' ' || pg_get_userbyid(datdba)
      from pg_database where datallowconn and not datistemplate order by 1"
    local_value "select 'user=' || rolname from pg_roles where rolcanlogin and rolname !~ '^pg_' order by 1"
  else
    local_value "select 'role=standby' union all select 'version=' || current_setting('server_version')
      union all select 'lsn=' || coalesce(greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), '0/0')::text
      union all select 'replayed=' || coalesce(pg_last_wal_replay_lsn(), '0/0')::text
      union all select 'position=' || pg_wal_lsn_diff(coalesce(greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), '0/0'), '0/0')::bigint
      union all select 'last=' || to_char(pg_last_xact_replay_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      union all select 'streaming=' || case when exists (select from pg_stat_wal_receiver where status = 'streaming') then 't' else 'f' end"
  fi
}

# promote EPOCH ORDINAL: this pod becomes primary. The word of it is kept first: a restart must not follow the old one.
promote() {
  load_state
  remember "$1" "$2"
  if [ "$(local_value 'select pg_is_in_recovery()')" = f ]; then
    say "this pod is primary already"
    return 0
  fi
  [ "$(local_value 'select pg_promote(true, 60)')" = t ] || die "the server did not become primary within 60 seconds"
  # pg_rewind looks for the new timeline where a checkpoint has written it.
  local_value checkpoint
}

# follow EPOCH ORDINAL: this standby gets its changes from that pod from now on.
follow() {
  load_state
  remember "$1" "$2"
  sed "s/^primary_conninfo = 'host=[^ ]*/primary_conninfo = 'host=$(host_of "$2")/" "$conf" >"$conf.new"
  mv "$conf.new" "$conf"
  local_value 'select pg_reload_conf()' >/dev/null
}

# Waits as long as changes that were received are being applied. The last bytes may be half a record, which never is; what
# a promotion finds it applies by itself, but not within any time.
caught_up() {
  last=
  still=0
  while [ "$still" -lt 4 ]; do
    replayed=$(local_value 'select pg_last_wal_replay_lsn()')
    [ "$replayed" != "$(local_value 'select pg_last_wal_receive_lsn()')" ] || return 0
    if [ "$replayed" = "$last" ]; then still=$((still + 1)); else still=0; fi
    last=$replayed
    sleep 0.5
  done
}

# sql ROLE DATABASE ARGUMENT…: runs what standard input holds; as superuser, where ROLE is empty.
sql() {
  as_role "$1"
  shift
  psql -X -v ON_ERROR_STOP=1 -d "$@" -f -
}

shell() {
  as_role "$1"
  shift
  exec psql -d "$@"
}

as_role() {
  PGHOST=$(socket_folder) PGPORT=$port PGUSER=$superuser
  PGOPTIONS=${1:+-c role=$1}
  export PGHOST PGPORT PGUSER PGOPTIONS
}

tool=${1:?say which tool}
shift
case $tool in
  ready) ready ;;
  halt) halt ;;
  ensure | status | promote | follow | caught_up | sql | shell)
    as_owner /berth/tools.sh "$tool" "$@"
    find_programs
    case $tool in status) . /berth/backup.sh ;; esac
    "$tool" "$@"
    ;;
  backup | restore | list_backups | delete_backup | dump_file | cancel_backups | import_part | drop_import | import_backup | swap | job)
    as_owner /berth/tools.sh "$tool" "$@"
    find_programs
    . /berth/backup.sh
    "$tool" "$@"
    ;;
  *) die "no tool \"$tool\"" ;;
esac
