import { noMoreThan, parseArguments, wholeNumber } from "../../kit/arguments.ts";
import { columns } from "../../kit/bytes.ts";
import { askedPod, primaryPod, tool, tryTool } from "../../kit/cluster.ts";
import { loadServer } from "../../kit/server.ts";
import { type Call, type Outcome, PluginError, usage } from "../../kit.ts";
import { postgresKind } from "../server.ts";

/** Logs in over the socket of the pod alone: it has no password. */
const reader = "berth_reader";

const statementSeconds = 10;
const lockSeconds = 2;
const rowsMax = 1_000;
const rowsShown = 200;
const answerBytesMax = 1024 * 1024;
const queryMs = 30_000;

interface Rows {
  columns: string[];
  rows: unknown[][];
  /** There were more than were asked for, or than an answer may hold. */
  more: boolean;
}

/** `query SCOPE/NAME -c SQL`: rows of one statement, in a transaction that only reads, as a role that can only read. */
export async function query(call: Call): Promise<Outcome> {
  const args = parseArguments(call.args, {
    values: ["command", "database", "replica", "limit", "output"],
    short: { c: "command", d: "database", o: "output" },
  });
  noMoreThan(args.words, 1);
  const { command: sql, output } = args.values;
  if (sql === undefined || sql.trim() === "") throw usage('write the statement after -c, such as -c "select 1"');
  const limit = wholeNumber(args.values.limit, "limit") ?? rowsShown;
  if (limit < 1 || limit > rowsMax) throw usage(`--limit needs a number from 1 to ${rowsMax}, not ${limit}`);
  const cluster = await loadServer(call, postgresKind, args.words[0]);
  const pod = askedPod(cluster, args.values.replica);
  const leader = primaryPod(cluster);
  const database = args.values.database ?? cluster.env.PG_DATABASE ?? "postgres";
  const wordsFor = (name: string) => ["sql", "", name, "-At", "-q"];
  // One call does both where that is possible. The superuser never works in a database of the block: its owner can set there
  // what names mean.
  const isOneCall = pod === leader && plainName.test(database);
  if (!isOneCall) refuseChanged(await tool(cluster, { pod: leader, args: wordsFor("postgres"), stdin: reading }));
  const [first, stdin] = isOneCall
    ? ["postgres", `${reading}${script(sql, { limit, to: `"${database}"` })}`]
    : [database, script(sql, { limit, to: "-" })];
  const answer = await tryTool(cluster, { pod, args: wordsFor(first), stdin, timeoutMs: queryMs });
  if (answer.exitCode !== 0) throw new PluginError(faultOf(answer.stderr));
  refuseChanged(answer.stdout);
  const found = readRows(answer.stdout);
  return { message: output === "json" ? JSON.stringify(found) : asText(found) };
}

/** A database that psql takes for no more than its name. */
const plainName = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** What psql prints in the place of rows. */
const changed = "the role was changed";

/** Makes the role once. One that somebody gave more to is not used: the script ends there. */
const reading = `
set client_min_messages = error;
do $do$ begin
  if not exists (select from pg_catalog.pg_roles where rolname = '${reader}') then
    create role ${reader} login connection limit 10 in role pg_read_all_data;
    alter role ${reader} set temp_file_limit = '256MB';
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

function refuseChanged(said: string): void {
  if (said.trim() !== changed) return;
  throw new PluginError(`the role ${reader} was changed and can do more than read; drop it to get it back`);
}

/**
 * The statement travels as data: neither psql nor another statement ever reads it as its own text. A cursor takes exactly
 * one statement that returns rows; a transaction that has begun to read cannot become one that writes. `to` is the database,
 * as psql writes it; "-" is the one that it is in.
 */
function script(sql: string, { limit, to }: { limit: number; to: string }): string {
  const text = Buffer.from(sql).toString("base64");
  return `
\\set VERBOSITY terse
\\connect ${to} ${reader}
set client_min_messages = error;
set statement_timeout = '${statementSeconds}s';
set lock_timeout = '${lockSeconds}s';
begin transaction read only;
do $berth$
declare
  found_rows refcursor;
  next_row record;
  line text;
  lines text[] := '{}';
  bytes bigint := 0;
  more boolean := false;
begin
  if session_user <> '${reader}' or current_setting('transaction_read_only') <> 'on' then
    raise exception 'the session is not one that only reads';
  end if;
  open found_rows no scroll for execute convert_from(decode('${text}', 'base64'), 'UTF8');
  loop
    fetch found_rows into next_row;
    exit when not found;
    line := pg_catalog.row_to_json(next_row)::text;
    bytes := bytes + octet_length(line);
    more := cardinality(lines) >= ${limit} or bytes > ${answerBytesMax};
    exit when more;
    lines := lines || line;
  end loop;
  perform pg_catalog.set_config('berth.more', more::text, true);
  perform pg_catalog.set_config('berth.rows', '[' || array_to_string(lines, ',') || ']', true);
end $berth$;
select pg_catalog.current_setting('berth.more');
select pg_catalog.current_setting('berth.rows');
rollback;
`;
}

/** First whether there is more, then a list of objects. */
function readRows(text: string): Rows {
  const end = text.indexOf("\n");
  const objects = JSON.parse(text.slice(end + 1)) as Record<string, unknown>[];
  const names = Object.keys(objects[0] ?? {});
  const rows = objects.map((row) => names.map((name) => row[name] ?? null));
  return { columns: names, rows, more: text.slice(0, end) === "true" };
}

/** `psql:<stdin>:12: ERROR:  …` without what is ours. */
function faultOf(stderr: string): string {
  const line = stderr.split("\n").find((each) => each.includes("ERROR:") || each.includes("FATAL:")) ?? stderr.trim();
  const said = line.replace(/^.*?(?:ERROR|FATAL): +/, "") || "the server gave no answer";
  const kind = /^cannot open (.+) (?:query|plan) as cursor/.exec(said)?.[1];
  if (kind === "multi-query") return "only one statement at a time";
  if (kind !== undefined) return `only statements that return rows are run here, not ${kind}`;
  return said;
}

function asText({ columns: names, rows, more }: Rows): string {
  const cells = rows.map((row) => row.map(cellText));
  const count = `${rows.length} row${rows.length === 1 ? "" : "s"}${more ? ", and there are more" : ""}`;
  return rows.length === 0 ? count : `${columns([names, ...cells])}\n\n${count}`;
}

function cellText(value: unknown): string {
  if (value === null) return "NULL";
  return typeof value === "string" ? value : JSON.stringify(value);
}
