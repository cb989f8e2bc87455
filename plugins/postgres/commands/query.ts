import { noMoreThan, parseArguments, wholeNumber } from "../../kit/arguments.ts";
import { columns } from "../../kit/bytes.ts";
import { askedPod, primaryPod, tool, tryTool } from "../../kit/cluster.ts";
import { loadServer } from "../../kit/server.ts";
import { type Call, type Outcome, PluginError, usage } from "../../kit.ts";
import { busy, changed, makeReader, readAsReader, reader, readInReserve } from "../read-script.ts";
import { postgresKind } from "../server.ts";

const rowsMax = 1_000;
const rowsShown = 200;
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
  // One call does both where that is possible. The superuser does not work in a database of the block while a reader can: its
  // owner can set there what names mean.
  const isOneCall = pod === leader && plainName.test(database);
  if (!isOneCall) refuseChanged(await tool(cluster, { pod: leader, args: wordsFor("postgres"), stdin: makeReader }));
  const [first, stdin] = isOneCall
    ? ["postgres", `${makeReader}${readAsReader(sql, { limit, to: `"${database}"` })}`]
    : [database, readAsReader(sql, { limit, to: "-" })];
  let answer = await tryTool(cluster, { pod, args: wordsFor(first), stdin, timeoutMs: queryMs });
  if (answer.exitCode !== 0 && isFull(answer.stderr)) {
    if (pod !== leader)
      throw new PluginError(
        `${faultOf(answer.stderr)}; pod ${args.values.replica} is a standby, so ask the primary, or free a connection`,
      );
    call.progress("all connections for apps are in use: this one takes the place of a superuser");
    answer = await tryTool(cluster, {
      pod,
      args: wordsFor(database),
      stdin: readInReserve(sql, limit),
      timeoutMs: queryMs,
    });
  }
  if (answer.exitCode !== 0) throw new PluginError(faultOf(answer.stderr));
  refuseChanged(answer.stdout);
  const found = readRows(answer.stdout);
  return { message: output === "json" ? JSON.stringify(found) : asText(found) };
}

/** A database that psql takes for no more than its name. */
const plainName = /^[A-Za-z_][A-Za-z0-9_-]*$/;

function refuseChanged(said: string): void {
  if (said.trim() === busy)
    throw new PluginError("all connections for apps are in use, and another query has the one in reserve; try again");
  if (said.trim() !== changed) return;
  throw new PluginError(`the role ${reader} was changed and can do more than read; drop it to get it back`);
}

/** First whether there is more, then a list of objects. */
function readRows(text: string): Rows {
  const end = text.indexOf("\n");
  const objects = JSON.parse(text.slice(end + 1)) as Record<string, unknown>[];
  const names = Object.keys(objects[0] ?? {});
  const rows = objects.map((row) => names.map((name) => row[name] ?? null));
  return { columns: names, rows, more: text.slice(0, end) === "true" };
}

/** Whether the server has no connection left for a reader. */
function isFull(stderr: string): boolean {
  return /slots are reserved|too many clients already|too many connections for database/.test(stderr);
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
