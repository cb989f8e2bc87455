# What the plugin's commands, the probes and the backup jobs call in a pod: tools.sh TOOL ARGUMENT…
set -eu
. /berth/lib.sh
. /berth/kit/handover.sh

# The probe: the server answers, and where it is primary the roles and databases are there. It runs all day, so it becomes
# the one program that it starts.
ready() {
  [ -e "$ensured" ] || [ -e "$standby_signal" ] || exit 1
  find_programs
  exec pg_isready -q -t 3 -U "$superuser" -d postgres -h "$sockets" -p "$port"
}

# Roles, databases and extensions as the block names them, and a mark that they are there. Passwords come from the
# environment, never from an argument.
ensure() {
  load_state
  script=$(ensure_script) || return 1
  BERTH_SECRET=$secret
  export BERTH_SECRET
  printf '%s\n' "$script" | ask || return 1
  rm -f "$restored"
  : >"$ensured"
}

# What one psql runs for all of it. Names are identifiers: see block.ts. The role of the machinery comes after the databases: a
# backup by a job that finds it finds them too.
ensure_script() {
  cat <<SQL
set log_statement = 'none'; set log_min_duration_statement = -1; set log_min_error_statement = 'panic';
set client_min_messages = warning;
SQL
  while read -r what name more; do
    case $what in
      user) ensure_user "$name" "$more" ;;
      database) ensure_database "$name" "$more" ;;
    esac
  done </berth/ensure.conf
  cat <<SQL
\set name $maintenance
\set password \`printenv BERTH_SECRET\`
select format('create role %I superuser replication login', :'name')
  where not exists (select from pg_roles where rolname = :'name') \gexec
select format('alter role %I password %L', :'name', :'password') \gexec
SQL
  while read -r what name more; do
    [ "$what" != extension ] ||
      printf '\\connect %s\nset client_min_messages = warning;\ncreate extension if not exists "%s";\n' "$name" "$more"
  done </berth/ensure.conf
}

# ensure_user NAME VARIABLE: only a new role gets the password, or one of a restore; later ones are set by new-password.
ensure_user() {
  eval "[ -n \"\${$2+set}\" ]" || die "the config of $PG_SCOPE/$PG_NAME has no $2; apply the block again"
  cat <<SQL
\set name $1
select not exists (select from pg_roles where rolname = :'name') as is_new \gset
\if :is_new
\set password \`printenv $2\`
select format('create role %I login password %L', :'name', :'password') \gexec
\endif
SQL
  [ ! -e "$restored" ] || cat <<SQL
\set password \`printenv $2\`
select format('alter role %I login password %L', :'name', :'password') \gexec
SQL
}

ensure_database() {
  cat <<SQL
\set name $1
\set owner $2
select format('create database %I owner %I', :'name', :'owner')
  where not exists (select from pg_database where datname = :'name') \gexec
SQL
}

# Lines "key=value", and "standby=NAME STATE LAG_BYTES" of each that follows. Fails where the server does not answer.
status() {
  load_state
  count_backups
  echo "epoch=$epoch"
  echo "primary=$primary"
  echo "backups=$count"
  echo "failed_backups=$failed"
  if [ -n "${PG_BASE_SECONDS:-}" ]; then
    away=$backups/point-in-time
    echo "outbox=$(du -sk "$away/outbox" 2>/dev/null || true)"
    [ ! -s "$away/newest" ] || echo "base=$(cat "$away/newest")"
    [ ! -s "$away/dropped" ] || echo "dropped=$(cat "$away/dropped")"
  fi
  answer=$(ask <<'SQL'
select pg_is_in_recovery() as follows \gset
\if :follows
select 'role=standby';
select 'version=' || current_setting('server_version');
select 'lsn=' || coalesce(greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), '0/0')::text;
select 'replayed=' || coalesce(pg_last_wal_replay_lsn(), '0/0')::text;
select 'position=' || pg_wal_lsn_diff(coalesce(greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), '0/0'), '0/0')::bigint;
select 'last=' || to_char(pg_last_xact_replay_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
select 'streaming=' || case when exists (select from pg_stat_wal_receiver where status = 'streaming') then 't' else 'f' end;
\else
select 'role=primary';
select 'version=' || current_setting('server_version');
select 'lsn=' || pg_current_wal_lsn()::text;
select 'timeline=' || timeline_id from pg_control_checkpoint();
select 'connections=' || count(*) || ' ' || current_setting('max_connections')
  from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid();
select 'standby=' || application_name || ' ' || state || ' ' ||
  coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::bigint::text, '-') from pg_stat_replication order by 1;
select 'database=' || datname || ' ' || pg_database_size(oid) || ' ' || pg_get_userbyid(datdba)
  from pg_database where datallowconn and not datistemplate order by 1;
select 'user=' || rolname from pg_roles where rolcanlogin and rolname !~ '^pg_' order by 1;
\endif
SQL
  )
  printf '%s\n' "$answer"
}

# promote EPOCH ORDINAL: this pod becomes primary. The word of it is kept first: a restart must not follow the old one.
# pg_rewind looks for the new timeline where a checkpoint has written it.
promote() {
  load_state
  remember "$1" "$2"
  said=$(ask <<'SQL'
select pg_is_in_recovery() as follows \gset
\if :follows
select pg_promote(true, 60) as is_promoted \gset
\if :is_promoted
checkpoint;
select 'promoted';
\endif
\else
select 'already';
\endif
SQL
  )
  case $said in
    promoted) ;;
    already) say "this pod is primary already" ;;
    *) die "the server did not become primary within 60 seconds" ;;
  esac
  # Where this fails, serve.sh makes them a moment later.
  [ -e "$ensured" ] || (ensure) || true
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
    replayed=$(local_value "select case when replayed = pg_last_wal_receive_lsn() then 'all' else replayed::text end
      from pg_last_wal_replay_lsn() as replayed")
    [ "$replayed" != all ] || return 0
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
  PGHOST=$sockets PGPORT=$port PGUSER=$superuser
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
  backup | check | restore | list_backups | prune_backups | delete_backup | dump_file | cancel_backups | import_part | drop_import | import_backup | swap | job | due_job)
    as_owner /berth/tools.sh "$tool" "$@"
    find_programs
    . /berth/backup.sh
    "$tool" "$@"
    ;;
  restore_beside | undo_restore | start_again | exchanged)
    as_owner /berth/tools.sh "$tool" "$@"
    umask 077
    find_programs
    . /berth/restore.sh
    "$tool" "$@"
    ;;
  *) die "no tool \"$tool\"" ;;
esac
