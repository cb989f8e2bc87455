# Sourced by tools.sh: what a backup knows of a database beside its dump. All of it is asked in the snapshot of the dump, and
# again of what was restored, so these queries read catalogs alone and depend on nothing that an owner can set.

# Sessions of the machinery: what a database or a role sets must neither end them nor say what names mean in them.
own_options="-c role=none -c search_path=pg_catalog -c statement_timeout=0 -c lock_timeout=0 -c idle_in_transaction_session_timeout=0"
own_options="$own_options -c default_transaction_read_only=off -c lc_messages=C -c client_min_messages=warning"
# Limits that only newer servers have.
no_limits="select set_config(name, '0', false) from pg_settings where name in ('transaction_timeout', 'idle_session_timeout') \\g /dev/null"

# Rows of every table.
rows_query="select quote_ident(n.nspname) || '.' || quote_ident(c.relname) || ' ' ||
  substring(query_to_xml(format('select count(*) as n from only %I.%I', n.nspname, c.relname), false, true, '')::text from '<n>([0-9]+)</n>')
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_(toast|temp)'
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  order by 1"

# Who owns what and who may do what, settings, default privileges, extensions, large objects, publications: a line each. What
# belongs to an extension is made by it. Privileges that nobody changed count as those that they stand for.
# The version changes with the query: facts of another one are not compared.
facts_version="facts 1"
facts_query="with db as (select * from pg_database where datname = current_database()),
role as (select oid, quote_ident(rolname) as name from pg_roles union all select 0, 'public'),
schema as (select oid, quote_ident(nspname) as name, nspowner, nspacl from pg_namespace
  where nspname !~ '^pg_' and nspname <> 'information_schema'),
member as (select classid, objid from pg_depend where deptype = 'e'),
object as (
  select 'pg_database'::regclass::oid as class, oid, 'database' as name, datdba as owner, coalesce(datacl, acldefault('d', datdba)) as acl from db
  union all select 'pg_namespace'::regclass, oid, 'schema ' || name, nspowner, coalesce(nspacl, acldefault('n', nspowner)) from schema
  union all select 'pg_class'::regclass, c.oid, case c.relkind when 'v' then 'view ' when 'm' then 'materialized view ' when 'S' then 'sequence ' else 'table ' end
    || s.name || '.' || quote_ident(c.relname), c.relowner,
    coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's' else 'r' end::\"char\", c.relowner))
    from pg_class c join schema s on s.oid = c.relnamespace where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
  union all select 'pg_class'::regclass, c.oid, 'column ' || s.name || '.' || quote_ident(c.relname) || '.' || quote_ident(a.attname), null, a.attacl
    from pg_attribute a join pg_class c on c.oid = a.attrelid join schema s on s.oid = c.relnamespace
    where a.attacl is not null and not a.attisdropped
  union all select 'pg_proc'::regclass, p.oid, 'function ' || s.name || '.' || quote_ident(p.proname) || '(' || oidvectortypes(p.proargtypes) || ')',
    p.proowner, coalesce(p.proacl, acldefault('f', p.proowner)) from pg_proc p join schema s on s.oid = p.pronamespace
  union all select 'pg_type'::regclass, t.oid, 'type ' || s.name || '.' || quote_ident(t.typname), t.typowner, coalesce(t.typacl, acldefault('T', t.typowner))
    from pg_type t join schema s on s.oid = t.typnamespace left join pg_class c on c.oid = t.typrelid
    where t.typtype in ('d', 'e', 'r') or c.relkind = 'c'
  union all select 'pg_language'::regclass, oid, 'language ' || quote_ident(lanname), lanowner, coalesce(lanacl, acldefault('l', lanowner))
    from pg_language where lanispl
  union all select 'pg_foreign_data_wrapper'::regclass, oid, 'foreign data wrapper ' || quote_ident(fdwname), fdwowner,
    coalesce(fdwacl, acldefault('F', fdwowner)) from pg_foreign_data_wrapper
  union all select 'pg_foreign_server'::regclass, oid, 'server ' || quote_ident(srvname), srvowner, coalesce(srvacl, acldefault('S', srvowner))
    from pg_foreign_server
  union all select 'pg_publication'::regclass, oid, 'publication ' || quote_ident(pubname), pubowner, null from pg_publication),
own as (select * from object o where not exists (select from member m where m.classid = o.class and m.objid = o.oid)),
privilege as (
  select own.name, a.grantee, a.privilege_type, a.is_grantable from own, aclexplode(own.acl) a
  union all select 'new ' || case defaclobjtype when 'r' then 'tables' when 'S' then 'sequences' when 'f' then 'functions' when 'T' then 'types'
    when 'n' then 'schemas' else defaclobjtype::text end || ' of ' || coalesce(role.name, '?') || coalesce(' in schema ' || schema.name, ''),
    a.grantee, a.privilege_type, a.is_grantable
    from pg_default_acl d left join role on role.oid = d.defaclrole left join schema on schema.oid = d.defaclnamespace, aclexplode(d.defaclacl) a)
select '$facts_version'
union all select own.name || ': owner ' || coalesce(role.name, '?') from own join role on role.oid = own.owner
union all select privilege.name || ': ' || coalesce(role.name, '?') || ' may ' ||
  string_agg(privilege_type || case when is_grantable then ' and grant it' else '' end, ', ' order by privilege_type)
  from privilege left join role on role.oid = grantee group by privilege.name, role.name
union all select 'database: encoding ' || pg_encoding_to_char(encoding) || ', collation ' || datcollate || ', ctype ' || datctype ||
  coalesce(', locale ' || coalesce(to_jsonb(db) ->> 'datlocale', to_jsonb(db) ->> 'daticulocale'), '') from db
union all select 'database: connection limit ' || datconnlimit from db where datconnlimit <> -1
union all select 'database: comment ' || to_json(description)::text from db, pg_shdescription c
  where c.objoid = db.oid and c.classoid = 'pg_database'::regclass
union all select 'database: setting ' || to_json(each)::text || case when setrole = 0 then '' else ' of ' || coalesce(role.name, '?') end
  from db, pg_db_role_setting s left join role on role.oid = setrole, unnest(setconfig) each where setdatabase = db.oid
union all select 'extension ' || quote_ident(extname) || coalesce(': schema ' || schema.name, '') from pg_extension left join schema on schema.oid = extnamespace
union all select 'large objects of ' || coalesce(role.name, '?') || ': ' || count(*) || ', privileges of each: ' || coalesce(acl, 'none')
  from (select lomowner, (select string_agg(coalesce(g.name, '?') || ' ' || privilege_type, ', ' order by g.name, privilege_type)
      from aclexplode(coalesce(lomacl, acldefault('L', lomowner))) a left join role g on g.oid = a.grantee) as acl from pg_largeobject_metadata) large
  left join role on role.oid = lomowner group by role.name, acl
union all select 'large objects: ' || coalesce(sum(octet_length(data)), 0) || ' bytes' from pg_largeobject
union all select 'publication ' || quote_ident(pubname) || ': ' || concat_ws(', ', case when puballtables then 'all tables' end, case when pubinsert then 'insert' end,
  case when pubupdate then 'update' end, case when pubdelete then 'delete' end, case when pubtruncate then 'truncate' end) from pg_publication
union all select 'publication ' || quote_ident(pubname) || ': table ' || quote_ident(schemaname) || '.' || quote_ident(tablename) from pg_publication_tables
order by 1"

# Roles that a restore needs. Those that every server has are not recorded as needed.
roles_query="select rolname from pg_roles where oid in (
  select refobjid from pg_shdepend where refclassid = 'pg_authid'::regclass
    and (dbid = (select oid from pg_database where datname = current_database())
      or dbid = 0 and classid = 'pg_database'::regclass and objid = (select oid from pg_database where datname = current_database()))
  union select setrole from pg_db_role_setting where setdatabase = (select oid from pg_database where datname = current_database()))
  order by 1"

# database_sql DUMP: the statements for the database itself that pg_restore --create would run, with the database as :"name".
# pg_restore has no option for another name.
database_sql() {
  listed=$(mktemp /tmp/berth-toc.XXXXXX)
  pg_restore --create --list "$1" |
    grep -E '^[0-9]+; [0-9]+ [0-9]+ (DATABASE|DATABASE PROPERTIES|(ACL|COMMENT|SECURITY LABEL) - DATABASE) ' >"$listed" || true
  pg_restore --create --use-list="$listed" -f - "$1" | awk '
    /^\\(un)?restrict |^\\connect / { next }
    /^CREATE DATABASE / && name == "" {
      name = substr($0, 17)
      if (name ~ /^"/) match(name, /^"([^"]|"")*"/); else match(name, /^[^ ]+/)
      name = " DATABASE " substr(name, 1, RLENGTH) " "
    }
    /^(CREATE|ALTER|COMMENT ON|REVOKE|GRANT|SECURITY LABEL) / && name != "" && (at = index($0, name)) {
      $0 = substr($0, 1, at - 1) " DATABASE :\"name\" " substr($0, at + length(name))
    }
    { print }'
  rm -f "$listed"
}

# create_like DUMP DATABASE: an empty database with the encoding and the locale of the one that was dumped; with those of the
# server, where it does not have these.
create_like() {
  made=$(database_sql "$1" | grep '^CREATE DATABASE ') || made=
  [ -z "$made" ] || make_database "$2" "$made" || made=
  [ -z "$made" ] || return 0
  say "the database gets the encoding and the locale of the server"
  make_database "$2" 'create database :"name" template template0;'
}

make_database() { printf '%s\n' "$2" | psql -Xq -v ON_ERROR_STOP=1 -d postgres -v name="$1" -f - >&2; }

# set_like DUMP DATABASE [imported]: owner, privileges, settings, limits and comment of the database itself. One that cannot be
# set hinders no other; the comparison tells. Of a dump from elsewhere only what names no role.
set_like() {
  database_sql "$1" | grep -v '^CREATE DATABASE ' |
    if [ -n "${3:-}" ]; then grep -E "^ALTER DATABASE :\"name\" (SET|CONNECTION LIMIT) .*;\$|^COMMENT ON .*';\$"; else cat; fi |
    psql -Xq -o /dev/null -d postgres -v name="$2" -f - >&2 || true
}

# difference WAS IS: lines of two files of facts that are in one only.
difference() {
  awk 'FILENAME == ARGV[1] { was[$0] = 1; next } { is[$0] = 1 }
    END { for (line in was) if (!(line in is)) print "missing: " line; for (line in is) if (!(line in was)) print "added: " line }' "$1" "$2" | sort -r
}

# ask_all DATABASE QUERY
ask_all() { printf '%s\n%s;\n' "$no_limits" "$2" | psql -XAtq -v ON_ERROR_STOP=1 -d "$1"; }

# "2.36"; the name of the machine where it is musl. Small images lack one program or the other.
libc_version() {
  for way in "getconf GNU_LIBC_VERSION" "ldd --version" /lib/*/libc.so.6 /lib64/libc.so.6; do
    command -v "${way%% *}" >/dev/null 2>&1 || continue
    said=$($way 2>&1 | sed -n '1s/\.$//; 1s/.* //p')
    case $way:$said in getconf*:*[!0-9.]* | *:) continue ;; esac
    echo "$said"
    return 0
  done
  echo unknown
}

# What this image sorts text by, a line "sorting LIBRARY VERSION" each: libc, and ICU where the server has it. Indexes that were written by
# another one may be in another order. musl tells no version: it sorts by code points, whatever its version.
sorting() {
  {
    echo "sorting libc $(libc_version)"
    ask -F ' ' -c "select distinct 'sorting', 'ICU', pg_collation_actual_version(oid) from pg_collation where collprovider = 'i'"
  } | LC_ALL=C sort -u
}

# check_indexes DATABASE: reads every B-tree index, in a transaction that leaves nothing. Prints those that are not in order, in one line;
# fails where it cannot be asked, and prints why. Another libc, which sorts in another way, shows here.
check_indexes() {
  if [ "$(ask_all "$1" "select count(*) from pg_available_extensions where name = 'amcheck'")" != 1 ]; then
    echo "the image has no amcheck"
    return 1
  fi
  psql -XAtq -v ON_ERROR_STOP=1 -d "$1" 2>"/tmp/said-amcheck-$$" <<SQL || {
$no_limits
begin;
do \$\$
declare
  place text;
  each record;
begin
  if not exists (select from pg_extension where extname = 'amcheck') then
    create schema berth_amcheck;
    create extension amcheck schema berth_amcheck;
  end if;
  select quote_ident(nspname) into place from pg_extension join pg_namespace n on n.oid = extnamespace where extname = 'amcheck';
  perform set_config('berth.faults', '', true);
  for each in select c.oid::regclass as index from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
    where a.amname = 'btree' and i.indisready and i.indisvalid and c.relkind = 'i' and c.relpersistence = 'p'
  loop
    begin
      execute format('select %s.bt_index_check(\$1)', place) using each.index;
    exception when others then
      perform set_config('berth.faults', current_setting('berth.faults') || each.index || ': ' || sqlerrm || '; ', true);
    end;
  end loop;
end \$\$;
select current_setting('berth.faults');
rollback;
SQL
    tail -n 1 "/tmp/said-amcheck-$$"
    rm -f "/tmp/said-amcheck-$$"
    return 1
  }
  rm -f "/tmp/said-amcheck-$$"
}
