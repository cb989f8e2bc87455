# Sourced by tools.sh: what a backup is. In its folder are a dump per database, the rows of each table as they were in that
# very dump, and the roles.
. /berth/kit/backups.sh

# Rows of every table: the same question to the dumped snapshot and to what was restored from it.
rows_query="select quote_ident(n.nspname) || '.' || quote_ident(c.relname) || ' ' ||
  substring(query_to_xml(format('select count(*) as n from only %I.%I', n.nspname, c.relname), false, true, '')::text from '<n>([0-9]+)</n>')
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_(toast|temp)'
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  order by 1"

use_local() {
  PGHOST=$sockets PGPORT=$port PGUSER=$superuser
  export PGHOST PGPORT PGUSER
}

# A job is no pod of the block: it comes over the network.
use_remote() {
  load_state
  umask 077
  passfile=/tmp/berth.pgpass
  printf '*:*:*:%s:%s\n' "$maintenance" "$secret" >"$passfile"
  PGHOST=$(host_of "$primary") PGPORT=$port PGUSER=$maintenance PGPASSFILE=$passfile
  export PGHOST PGPORT PGUSER PGPASSFILE
}

# job KEEP [SECONDS]: what the schedule runs. The backup is restored once and counted before the run is called a success.
job() {
  use_remote
  make_backup "$1" check "${2:-0}"
}

# backup KEEP [check]: the same on demand, from within the primary.
backup() {
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

# dump DATABASE FILE: FILE.dump and FILE.rows of one and the same snapshot.
dump() {
  BERTH_FILE=$2 BERTH_DATABASE=$1 psql -XAtq -v ON_ERROR_STOP=1 -v rows="$2.rows" -d "$1" <<SQL
begin isolation level repeatable read read only;
select pg_export_snapshot() as snapshot \gset
\setenv BERTH_SNAPSHOT :snapshot
\! pg_dump -Fc --snapshot="\$BERTH_SNAPSHOT" -f "\$BERTH_FILE.dump" -d "\$BERTH_DATABASE" || rm -f "\$BERTH_FILE.dump"
\o :rows
$rows_query;
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

# Restores every database of it into one that is thrown away again. Named after the backup: another may be checked just now.
check_backup() {
  drop_old_checks
  while read -r number name; do
    scratch=berth_check_$(echo "$1" | tr 'TZ' 'tz')_$number
    psql -Xq -d postgres -c "create database $scratch template template0" || die "cannot make a database for the check"
    fault=
    fill "$1" "$number" "$scratch" || fault=yes
    psql -Xq -d postgres -c "drop database $scratch"
    [ -z "$fault" ] || die "backup $1 of $name cannot be restored; it is kept, and so are the older ones"
  done <"$backups/$1/databases"
}

# What an interrupted check left. One that is under way is younger, or in use, which no drop ends.
drop_old_checks() {
  psql -Xq -d postgres <<'SQL' || true
select format('drop database %I', datname) from pg_database where datname ~ '^berth_check_[0-9]'
  and datname::text collate "C" < 'berth_check_' || to_char(now() at time zone 'utc' - interval '2 days', 'YYYYMMDD') \gexec
SQL
}

# fill ID NUMBER DATABASE: restores into an empty database and compares the rows of every table.
fill() {
  pg_restore --exit-on-error -d "$3" "$backups/$1/$2.dump" || return 1
  psql -XAtq -v ON_ERROR_STOP=1 -d "$3" -c "$rows_query" >"/tmp/rows-$3" || return 1
  if [ "$(sha256sum <"/tmp/rows-$3")" != "$(sha256sum <"$backups/$1/$2.rows")" ]; then
    say "rows differ from those of the backup; these tables were restored with another count:"
    awk 'NR == FNR { seen[$0] = 1; next } !seen[$0]' "$backups/$1/$2.rows" "/tmp/rows-$3" | head -n 20 >&2
    rm -f "/tmp/rows-$3"
    return 1
  fi
  rm -f "/tmp/rows-$3"
}

# restore ID DATABASE INTO: into a database that is not there yet. Prints how many tables and rows it has.
restore() {
  use_local
  known "$1"
  number=$(number_of "$1" "$2")
  begin_restore "$2" "$3"
  fill "$1" "$number" "$scratch" || give_up "backup $1 of $2 was not restored; nothing was changed"
  end_restore "$3"
  awk '{ rows += $NF } END { print NR " " rows + 0 }' "$backups/$1/$number.rows"
}

# begin_restore DATABASE INTO: makes an empty database, scratch, with the owner of DATABASE. It gets its name at the end, so
# that what a killed restore left is known and goes.
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
  psql -Xq -v ON_ERROR_STOP=1 -d postgres -v name="$scratch" -v owner="$owner" <<'SQL'
create database :"name" owner :"owner" template template0;
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
# that the owner of DATABASE gets all of it; what was restored is dumped again.
import_backup() {
  is_import_name "$1"
  use_local
  umask 077
  id=$(claim_backup)
  new=$backups/.new-$id
  begin_restore "$2" "$2_imported_$$"
  PGOPTIONS="-c client_min_messages=warning" pg_restore --exit-on-error --no-owner --no-acl --role="$owner" -d "$scratch" \
    "$backups/.import-$1" >&2 || {
    rm -rf "$new"
    give_up "the dump cannot be restored; see above"
  }
  dump "$scratch" "$new/1"
  printf '1 %s\n' "$2" >"$new/databases"
  : >"$new/globals.sql"
  psql -XAtq -d postgres -c "select 'version ' || current_setting('server_version')" >"$new/about"
  psql -Xq -d postgres -c "drop database $scratch"
  finish_backup "$id"
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
