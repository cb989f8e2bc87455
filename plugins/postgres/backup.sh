# Sourced by tools.sh: what a backup is. In its folder are the roles of the server and, per database N, of one snapshot: N.dump,
# N.rows (rows of each table), N.facts (see facts.sh) and N.roles (roles that a restore needs). Backups of older versions have
# neither facts nor roles.
. /berth/facts.sh
. /berth/kit/kept.sh
. /berth/kit/backups.sh

use_local() {
  PGHOST=$sockets PGPORT=$port PGUSER=$superuser
  PGOPTIONS=$own_options
  export PGHOST PGPORT PGUSER PGOPTIONS
}

# A job is no pod of the block: it comes over the network.
use_remote() {
  load_state
  umask 077
  passfile=/tmp/berth.pgpass
  printf '*:*:*:%s:%s\n' "$maintenance" "$secret" >"$passfile"
  PGHOST=$(host_of "$primary") PGPORT=$port PGUSER=$maintenance PGPASSFILE=$passfile
  PGOPTIONS=$own_options
  export PGHOST PGPORT PGUSER PGPASSFILE PGOPTIONS
}

# begun COMMAND…: waits until it succeeds, for a minute at most. A block that has just begun has no databases yet: its backup
# would hold nothing, and count as good.
begun() {
  waits=${PG_ENSURED_SECONDS:-60}
  until "$@" >/dev/null 2>&1; do
    [ "$waits" -gt 0 ] || return 1
    waits=$((waits - 1))
    sleep 1
  done
}

# job KEEP [SECONDS]: what the schedule runs. The backup is restored once and counted before the run is called a success.
job() {
  use_remote
  # This role is there once the databases are.
  begun psql -XAtq -d postgres -c select || true
  make_backup "$1" check "${2:-0}"
}

# backup KEEP [check]: the same on demand, from within the primary.
backup() {
  begun [ -e "$ensured" ] || die "the databases of the block are not there yet; try again when $PG_SCOPE/$PG_NAME is ready"
  use_local
  make_backup "$@"
}

fill_backup() {
  psql -XAtq -d postgres -c "select datname from pg_database
    where datallowconn and not datistemplate and datname not in ('postgres') and datname !~ '^berth_(check|restore)_' order by 1" >"$1/names"
  pg_dumpall --globals-only >"$1/globals.sql"
  number=0
  : >"$1/databases"
  while IFS= read -r name; do
    number=$((number + 1))
    say "dumping $name"
    dump "$name" "$1/$number"
    printf '%s %s\n' "$number" "$name" >>"$1/databases"
  done <"$1/names"
  rm "$1/names"
  psql -XAtq -d postgres -c "select 'version ' || current_setting('server_version')" >"$1/about"
}

# dump DATABASE FILE: FILE.dump, .rows, .facts and .roles of one and the same snapshot.
dump() {
  BERTH_FILE=$2 BERTH_DATABASE=$1 psql -XAtq -v ON_ERROR_STOP=1 -v file="$2" -d "$1" <<SQL
$no_limits
\set rows :file .rows
\set facts :file .facts
\set roles :file .roles
begin isolation level repeatable read read only;
select pg_export_snapshot() as snapshot \gset
\setenv BERTH_SNAPSHOT :snapshot
\! pg_dump -Fc --snapshot="\$BERTH_SNAPSHOT" -f "\$BERTH_FILE.dump" -d "\$BERTH_DATABASE" || rm -f "\$BERTH_FILE.dump"
\o :rows
$rows_query;
\o :facts
$facts_query;
\o :roles
$roles_query;
\o
commit;
SQL
  [ -s "$2.dump" ] || die "pg_dump of $1 failed; see its text above"
}

describe_backup() {
  bytes=$(du -sk "$1" | awk '{ print $1 * 1024 }')
  echo "$bytes $(cut -d ' ' -f 2- "$1/databases" | tr '\n' ',' | sed 's/,$//')"
}

# dump_file ID DATABASE: "PATH BYTES".
dump_file() {
  known "$1"
  number=$(number_of "$1" "$2")
  echo "$backups/$1/$number.dump $(wc -c <"$backups/$1/$number.dump" | tr -d ' ')"
}

number_of() {
  number=$(awk -v name="$2" '{ n = $1; sub(/^[0-9]+ /, ""); if ($0 == name) print n }' "$backups/$1/databases")
  [ -n "$number" ] || die "backup $1 holds no database \"$2\""
  echo "$number"
}

# check ID: restores it once, on demand.
check() {
  use_local
  check_kept "$1"
}

# Restores every database of it into one that is thrown away again. Named after the backup: another may be checked just now.
check_backup() {
  drop_old_checks
  unread=
  while read -r number name <&3; do
    lacks=$(missing_roles "$1" "$number")
    if [ -n "$lacks" ]; then
      printf '%s needs roles that this server does not have: %s\n' "$name" "$lacks"
      return 3
    fi
    scratch=berth_check_$(echo "$1" | tr 'TZ' 'tz')_$number
    psql -Xq -d postgres -c "drop database if exists $scratch" >&2
    if ! create_like "$backups/$1/$number.dump" "$scratch"; then
      echo "no database can be made for the check"
      return 3
    fi
    code=0
    fill "$1" "$number" "$scratch" --no-subscriptions || code=$?
    torn=
    if [ "$code" = 0 ]; then torn=$(check_indexes "$scratch") || unread=$torn torn=; fi
    psql -Xq -d postgres -c "drop database $scratch" >&2 || say "the database $scratch of the check is left over"
    if [ "$code" != 0 ]; then
      printf '%s: %s\n' "$name" "$fault"
      return "$code"
    fi
    if [ -n "$differs" ]; then
      printf '%s is restored with a difference: %s\n' "$name" "$differs"
      return 1
    fi
    if [ -n "$torn" ]; then
      printf '%s is restored with indexes that are not in order: %s\n' "$name" "$torn"
      return 1
    fi
  done 3<"$backups/$1/databases"
  [ -z "$unread" ] || echo "indexes not checked: $unread"
}

# What an interrupted check left. One that is under way is younger, or in use, which no drop ends.
drop_old_checks() {
  psql -Xq -d postgres >&2 <<'SQL' || true
select format('drop database %I', datname) from pg_database where datname ~ '^berth_check_[0-9]'
  and datname::text collate "C" < 'berth_check_' || to_char(now() at time zone 'utc' - interval '2 days', 'YYYYMMDD') \gexec
SQL
}

# fill ID NUMBER DATABASE [OPTION]: restores into an empty database, and compares. 1: the backup cannot be restored, or has
# other rows. 3: something else was in the way. `fault` says what. What else is not as in the backup is in `differs`.
fill() {
  file=$backups/$1/$2
  differs=
  began=$(server_start)
  without_defaults "$file.facts" "$3"
  code=0
  LC_MESSAGES=C pg_restore --exit-on-error ${4:-} -d "$3" "$file.dump" 2>"/tmp/said-$3" || code=$?
  cat "/tmp/said-$3" >&2
  fault=$(sed -n 's/^pg_restore: error: //p' "/tmp/said-$3" | head -n 1)
  rm -f "/tmp/said-$3"
  if [ "$code" != 0 ]; then
    if [ "$code" -gt 128 ] || [ "$(server_start)" != "$began" ] || is_hindrance "$fault"; then return 3; fi
    : "${fault:=pg_restore ends with exit code $code}"
    case $fault in
      *'role "'*'" does not exist'*)
        fault="$fault; this server does not have these roles of the backup: $(missing_roles "$1" "$2" all)"
        return 3
        ;;
    esac
    return 1
  fi
  set_like "$file.dump" "$3"
  if ! ask_all "$3" "$rows_query" >"/tmp/rows-$3" || ! ask_all "$3" "$facts_query" >"/tmp/facts-$3"; then
    rm -f "/tmp/rows-$3" "/tmp/facts-$3"
    fault="what was restored could not be counted"
    return 3
  fi
  fault=$(difference "$file.rows" "/tmp/rows-$3" | head -n 20)
  ! has_facts "$file" || differs=$(difference "$file.facts" "/tmp/facts-$3")
  rm -f "/tmp/rows-$3" "/tmp/facts-$3"
  [ -n "$fault" ] || return 0
  say "rows differ from those of the backup:"
  printf '%s\n' "$fault" >&2
  fault="rows differ from those of the backup: $(one_line "$fault")"
  return 1
}

# has_facts FILE: whether they are those that facts.sh asks for today.
has_facts() { grep -qx "$facts_version" "$1.facts" 2>/dev/null; }

server_start() { psql -XAtq -d postgres -c "select pg_postmaster_start_time()" 2>/dev/null || true; }

# Whether a fault says nothing about the backup.
is_hindrance() {
  case $1 in
    *"No space left"* | *"out of memory"* | *"out of shared memory"* | *"terminating connection"* | *"closed the connection"*) ;;
    *"canceling statement"* | *"connection to server"* | *"too many clients"* | *"slots are reserved"* | *"database system is"*) ;;
    *) return 1 ;;
  esac
}

# without_defaults FACTS DATABASE: no dump says that something is not there which every new database has, and dumps of servers
# before 15 do not say whose the schema public is.
without_defaults() {
  [ -e "$1" ] || return 0
  whose=$(sed -n 's/^schema public: owner //p' "$1")
  [ -n "$whose" ] || psql -Xq -d "$2" -c "drop schema public" >&2 || true
  [ -z "$whose" ] || psql -Xq -d "$2" -c "alter schema public owner to $whose" >&2 || true
  grep -Eq '^extension plpgsql(:|$)' "$1" || psql -Xq -d "$2" -c "drop extension plpgsql" >&2 || true
}

# missing_roles ID NUMBER [all]: those that this database needs and the server does not have, with commas. Backups of older
# versions tell with `all` only, and of all roles of their server.
missing_roles() {
  wanted=$backups/$1/$2.roles
  [ -e "$wanted" ] || [ -n "${3:-}" ] || return 0
  {
    psql -XAtq -d postgres -c "select rolname from pg_roles"
    echo
    if [ -e "$wanted" ]; then cat "$wanted"; else sed -n 's/^CREATE ROLE "\{0,1\}\([^"]*\)"\{0,1\};$/\1/p' "$backups/$1/globals.sql"; fi
  } | awk '$0 == "" { past = 1; next } !past { there[$0] = 1; next } !there[$0] { printf "%s%s", comma, $0; comma = ", " }'
}

# restore ID DATABASE INTO: into a database that is not there yet. Prints how many tables and rows it has and whether more than
# rows was compared, and then what is not as in the backup.
restore() {
  use_local
  known "$1"
  number=$(number_of "$1" "$2")
  lacks=$(missing_roles "$1" "$number")
  [ -z "$lacks" ] || die "backup $1 of $2 needs roles that this server does not have: $lacks. Add them to users in the block," \
    "or create them; globals.sql of the backup says what they were"
  begin_restore "$2" "$3" "$backups/$1/$number.dump"
  fill "$1" "$number" "$scratch" || give_up "backup $1 of $2 was not restored: $fault; nothing was changed"
  end_restore "$3"
  compared=rows
  ! has_facts "$backups/$1/$number" || compared=all
  awk -v compared="$compared" '{ rows += $NF } END { print NR " " rows + 0 " " compared }' "$backups/$1/$number.rows"
  [ -z "$differs" ] || printf '%s\n' "$differs"
}

# begin_restore DATABASE INTO DUMP: makes an empty database, scratch, with the owner of DATABASE, and otherwise as DUMP has it. It
# gets its name at the end, so that what a killed restore left is known and goes.
begin_restore() {
  drop_old_restores
  exists=$(psql -XAtq -d postgres -v name="$2" <<'SQL'
select count(*) from pg_database where datname = :'name';
SQL
  )
  [ "$exists" = 0 ] || die "database \"$2\" is there already; choose another name, or drop it first"
  owner=$(psql -XAtq -d postgres -v name="$1" -v fallback="$PG_USER" <<'SQL'
select coalesce((select pg_get_userbyid(datdba) from pg_database where datname = :'name'), :'fallback');
SQL
  )
  scratch=berth_restore_$(date -u +%Y%m%d%H%M%S)_$$
  create_like "$3" "$scratch"
  psql -Xq -v ON_ERROR_STOP=1 -d postgres -v name="$scratch" -v owner="$owner" <<'SQL'
alter database :"name" owner to :"owner";
SQL
}

# One restore of a block runs at a time, so these are of none that anybody waits for; the processes of a restore go on
# when the server is killed.
drop_old_restores() {
  psql -Xq -d postgres <<'SQL' || true
select pg_terminate_backend(pid) from pg_stat_activity where datname ~ '^berth_restore_' \g /dev/null
select format('drop database %I', datname) from pg_database where datname ~ '^berth_restore_' \gexec
SQL
}

# end_restore INTO
end_restore() {
  psql -Xq -d "$scratch" -c analyze
  psql -Xq -v ON_ERROR_STOP=1 -d postgres -v scratch="$scratch" -v name="$1" <<'SQL'
alter database :"scratch" rename to :"name";
SQL
}

give_up() {
  psql -Xq -d postgres -c "drop database if exists $scratch"
  die "$1"
}

# import_backup NAME DATABASE: makes a backup of a dump of pg_dump -Fc from elsewhere. The roles of elsewhere are not here, so
# that the owner of DATABASE gets all of it; what was restored, with the settings of its database, is dumped again.
import_backup() {
  is_import_name "$1"
  use_local
  umask 077
  id=$(claim_backup)
  new=$backups/.new-$id
  begin_restore "$2" "$2_imported_$$" "$backups/.import-$1"
  pg_restore --exit-on-error --no-owner --no-acl --role="$owner" -d "$scratch" "$backups/.import-$1" >&2 || {
    rm -rf "$new"
    give_up "the dump cannot be restored; see above"
  }
  set_like "$backups/.import-$1" "$scratch" imported
  dump "$scratch" "$new/1"
  printf '1 %s\n' "$2" >"$new/databases"
  : >"$new/globals.sql"
  psql -XAtq -d postgres -c "select 'version ' || current_setting('server_version')" >"$new/about"
  psql -Xq -d postgres -c "drop database $scratch"
  finish_backup "$id"
  verify "$id" || die "$(check_text "$id")"
  echo "$id"
}

# swap DATABASE NEW OLD: NEW takes the name of DATABASE, which stays as OLD.
swap() {
  use_local
  restored=$(oid_of "$2")
  if psql -Xq -v ON_ERROR_STOP=1 -d postgres -v name="$1" -v new="$2" -v old="$3" <<'SQL'
alter database :"name" with allow_connections false;
select pg_terminate_backend(pid) from pg_stat_activity where datname in (:'name', :'new') and pid <> pg_backend_pid() \g /dev/null
begin;
alter database :"name" rename to :"old";
alter database :"new" rename to :"name";
commit;
SQL
  then
    allow_connections "$3"
    # By its number, for rows change from now on.
    [ "$(oid_of "$1")" = "$restored" ] || die "\"$1\" is not the database that was restored; look with: psql -c '\\l'"
  else
    allow_connections "$1"
    die "\"$2\" has not taken the place of \"$1\"; both are there as they were"
  fi
}

oid_of() {
  psql -XAtq -d postgres -v name="$1" <<'SQL'
select oid from pg_database where datname = :'name';
SQL
}

allow_connections() {
  psql -Xq -d postgres -v name="$1" <<'SQL'
alter database :"name" with allow_connections true;
SQL
}
