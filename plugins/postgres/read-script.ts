/** Logs in over the socket of the pod alone: it has no password. */
export const reader = "berth_reader";

const statementSeconds = 10;
const lockSeconds = 2;
const answerBytesMax = 1024 * 1024;
const tempFilesMax = "256MB";

/** What psql prints in the place of rows, when somebody gave the role more. */
export const changed = "the role was changed";

/** What psql prints in the place of rows, when the connection in reserve is in use. */
export const busy = "the reserve is in use";

/** Makes the role once. One that somebody gave more to is not used: the script ends there. */
export const makeReader = `
set client_min_messages = error;
do $do$ begin
  if not exists (select from pg_catalog.pg_roles where rolname = '${reader}') then
    create role ${reader} login connection limit 10 in role pg_read_all_data;
    alter role ${reader} set temp_file_limit = '${tempFilesMax}';
  end if;
end $do$;
select coalesce(bool_and(rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls or not rolcanlogin
  or exists (select from pg_catalog.pg_auth_members m join pg_catalog.pg_roles g on g.oid = m.roleid
    where m.member = r.oid and g.rolname <> 'pg_read_all_data')), true) as is_changed
from pg_catalog.pg_roles r where rolname = '${reader}' \\gset
\\if :is_changed
\\echo ${changed}
\\quit
\\endif
`;

/**
 * Body of a block of PL/pgSQL whose current user is the reader. The statement travels as data: neither psql nor another
 * statement ever reads it as its own text. A cursor takes exactly one statement that returns rows; a transaction that has
 * begun to read cannot become one that writes. `user` is the SQL that says who reads, `answer` what becomes of the lines.
 */
const reading = (sql: string, { limit, user, answer }: { limit: number; user: string; answer: string }) => `
declare
  found_rows refcursor;
  next_row record;
  line text;
  lines text[] := '{}';
  bytes bigint := 0;
  more boolean := false;
begin
  if ${user} <> '${reader}' or pg_catalog.current_setting('transaction_read_only') <> 'on' then
    raise exception 'the session is not one that only reads';
  end if;
  open found_rows no scroll for execute
    pg_catalog.convert_from(pg_catalog.decode('${Buffer.from(sql).toString("base64")}', 'base64'), 'UTF8');
  loop
    fetch found_rows into next_row;
    exit when not found;
    line := pg_catalog.row_to_json(next_row)::text;
    bytes := bytes + octet_length(line);
    more := cardinality(lines) >= ${limit} or bytes > ${answerBytesMax};
    exit when more;
    lines := lines || line;
  end loop;
  ${answer}
end`;

const timeouts = `
set client_min_messages = error;
set statement_timeout = '${statementSeconds}s';
set lock_timeout = '${lockSeconds}s';`;

/** Runs a statement in a session of the reader. `to` is the database, as psql writes it; "-" is the one that it is in. */
export function readAsReader(sql: string, { limit, to }: { limit: number; to: string }): string {
  const answer = `perform pg_catalog.set_config('berth.more', more::text, true);
  perform pg_catalog.set_config('berth.rows', '[' || array_to_string(lines, ',') || ']', true);`;
  return `
\\set VERBOSITY terse
\\connect ${to} ${reader}
${timeouts}
begin transaction read only;
do $berth$${reading(sql, { limit, user: "session_user", answer })} $berth$;
select pg_catalog.current_setting('berth.more');
select pg_catalog.current_setting('berth.rows');
rollback;
`;
}

/**
 * Runs a statement in a session of the superuser, to whom the server gives a connection when it has none left for a reader. A
 * function of the reader's runs it: within one the server rejects a change of the role, and the function is gone with the
 * transaction. Only one such session at a time: the machinery needs the others. No name outside of the function is looked up
 * but in pg_catalog, since the owner of the database can set where else. Works on a primary only.
 */
export function readInReserve(sql: string, limit: number): string {
  const answer = `return more::text || pg_catalog.chr(10) || '[' || array_to_string(lines, ',') || ']';`;
  const body = reading(sql, { limit, user: "current_user", answer }).replace(
    "\nbegin\n",
    "\nbegin\n  perform pg_catalog.set_config('search_path', path, true);\n",
  );
  return `
\\set VERBOSITY terse
set role none;
set search_path = pg_catalog;
set application_name = 'berth query';${timeouts}
set temp_file_limit = '${tempFilesMax}';
select count(*) > 1 as is_busy from pg_catalog.pg_stat_activity where application_name = 'berth query' \\gset
\\if :is_busy
\\echo ${busy}
\\quit
\\endif
select reset_val as path from pg_catalog.pg_settings where name = 'search_path' \\gset
begin transaction read write;
create function pg_temp.berth_read(path text) returns text language plpgsql security definer as $berth$${body} $berth$;
alter function pg_temp.berth_read(text) owner to ${reader};
set transaction read only;
select pg_temp.berth_read(:'path');
rollback;
`;
}
