# Sourced by tools.sh: backups in the volume that all pods of the block share. One backup is a folder of its own: a dump
# per database, the rows of each table as they were in that very dump, and the roles.

# Rows of every table: the same question to the dumped snapshot and to what was restored from it.
rows_query="select quote_ident(n.nspname) || '.' || quote_ident(c.relname) || ' ' ||
  substring(query_to_xml(format('select count(*) as n from only %I.%I', n.nspname, c.relname), false, true, '')::text from '<n>([0-9]+)</n>')
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_(toast|temp)'
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  order by 1"

use_local() {
  PGHOST=$(socket_folder) PGPORT=$port PGUSER=$superuser
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

# job KEEP: what the schedule runs. The backup is restored once and counted before the run is called a success.
job() {
  use_remote
  id=$(take)
  say "backup $id is written; restoring it to see that it can be"
  check "$id"
  prune "$1"
  echo "$id"
}

# backup KEEP [check]: the same on demand, from within the primary.
backup() {
  use_local
  id=$(take)
  if [ "${2:-}" = check ]; then
    say "backup $id is written; restoring it to see that it can be"
    check "$id"
  fi
  prune "$1"
  echo "$id"
}

# Makes a backup and prints its name. It has its name only once it is complete and on disk.
take() {
  id=$(date -u +%Y%m%dT%H%M%SZ)
  # One per second, so that names tell them apart.
  while [ -e "$backups/$id" ] || [ -e "$backups/.new-$id" ]; do
    sleep 1
    id=$(date -u +%Y%m%dT%H%M%SZ)
  done
  new=$backups/.new-$id
  umask 077
  mkdir "$new"
  psql -XAtq -d postgres -c "select datname from pg_database
    where datallowconn and not datistemplate and datname not in ('postgres') and datname !~ '^berth_check_' order by 1" >"$new/names"
  pg_dumpall --globals-only >"$new/globals.sql"
  number=0
  : >"$new/databases"
  while IFS= read -r name; do
    number=$((number + 1))
    say "dumping $name"
    dump "$name" "$new/$number"
    printf '%s %s\n' "$number" "$name" >>"$new/databases"
  done <"$new/names"
  rm "$new/names"
  psql -XAtq -d postgres -c "select 'version ' || current_setting('server_version')" >"$new/about"
  (cd "$new" && sha256sum -- * >.sums && mv .sums SHA256SUMS)
  sync
  mv "$new" "$backups/$id"
  sync
  echo "$id"
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

# prune KEEP: the newest KEEP stay. What an interrupted backup left goes after a day.
prune() {
  list_backups | awk -v keep="$1" 'NR > keep { print $1 }' | while read -r id; do
    say "removing backup $id: $1 are kept"
    rm -rf "${backups:?}/$id"
  done
  find "$backups" -maxdepth 1 -name '.new-*' -mtime +0 -exec rm -rf {} +
}

# Newest first: "ID BYTES DATABASE,…".
list_backups() {
  for folder in "$backups"/[0-9]*Z; do
    [ -f "$folder/SHA256SUMS" ] || continue
    bytes=$(du -sk "$folder" | awk '{ print $1 * 1024 }')
    printf '%s %s %s\n' "${folder##*/}" "$bytes" "$(cut -d ' ' -f 2- "$folder/databases" | tr '\n' ',' | sed 's/,$//')"
  done | sort -r
}

known() {
  case $1 in */* | .*) die "\"$1\" is no backup" ;; esac
  [ -f "$backups/$1/SHA256SUMS" ] || die "no backup \"$1\"; see: backups"
  (cd "$backups/$1" && sha256sum -c SHA256SUMS >/dev/null 2>&1) || die "backup $1 is damaged: its files are not what was written"
}

delete_backup() {
  case $1 in */* | .*) die "\"$1\" is no backup" ;; esac
  [ -d "$backups/$1" ] || die "no backup \"$1\"; see: backups"
  rm -rf "${backups:?}/$1"
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

# check ID: restores every database of it into one that is thrown away again.
check() {
  known "$1"
  while read -r number name; do
    scratch=berth_check_$(date -u +%s)_$number
    psql -Xq -d postgres -c "create database $scratch template template0" || die "cannot make a database for the check"
    fault=
    fill "$1" "$number" "$scratch" || fault=yes
    psql -Xq -d postgres -c "drop database $scratch"
    [ -z "$fault" ] || die "backup $1 of $name cannot be restored; it is kept, and so are the older ones"
  done <"$backups/$1/databases"
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
  exists=$(psql -XAtq -d postgres -v name="$3" <<'SQL'
select count(*) from pg_database where datname = :'name';
SQL
  )
  [ "$exists" = 0 ] || die "database \"$3\" is there already; choose another name, or drop it first"
  owner=$(psql -XAtq -d postgres -v name="$2" -v fallback="$PG_USER" <<'SQL'
select coalesce((select pg_get_userbyid(datdba) from pg_database where datname = :'name'), :'fallback');
SQL
  )
  psql -Xq -v ON_ERROR_STOP=1 -d postgres -v name="$3" -v owner="$owner" <<'SQL'
create database :"name" owner :"owner" template template0;
SQL
  if ! fill "$1" "$number" "$3"; then
    psql -Xq -d postgres -v name="$3" <<'SQL'
drop database :"name";
SQL
    die "backup $1 of $2 was not restored; nothing was changed"
  fi
  psql -Xq -d "$3" -c analyze
  awk '{ rows += $NF } END { print NR " " rows + 0 }' "$backups/$1/$number.rows"
}

# swap DATABASE NEW OLD: NEW takes the name of DATABASE, which stays as OLD.
swap() {
  use_local
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
  else
    allow_connections "$1"
    die "\"$2\" has not taken the place of \"$1\"; both are there as they were"
  fi
}

allow_connections() {
  psql -Xq -d postgres -v name="$1" <<'SQL'
alter database :"name" with allow_connections true;
SQL
}
