import { getConfig, setConfig } from "../../orchestration/api/config.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import type { Arguments } from "../basics/arguments.ts";
import { answer, answerData, type CommandBody, type Context } from "../shell/command.ts";
import { digestOf } from "../facts/digest.ts";
import { rowsOf, whenListing } from "../shell/listing.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { noteUnstored, requireNamed } from "../shell/named.ts";
import { readPairs } from "../shell/pairs.ts";
import { bucketReference } from "../basics/reference.ts";
import { printable } from "../basics/style.ts";
import { didYouMean } from "../basics/suggest.ts";
import { restartingLines } from "../text/restarting.ts";
import { tableText } from "../basics/table-text.ts";

const actions = { set, get, unset, list };

export const configCommand: CommandBody = {
  usage: [
    "config set REF KEY=VALUE… [--no-restart] [--dry-run] [--unset-empty]",
    "config get REF [KEY…]",
    "config unset REF KEY… [--no-restart] [--dry-run]",
    "config list REF",
  ],
  examples: [
    "config set shop/web LOG=debug TOKEN=-  one value from stdin",
    "config list shop/web  the keys, and where each is set",
    "config get shop/web TOKEN  the value",
  ],
  detail: [
    "REF is SCOPE or SCOPE/NAME. An app sees both; its own values win. KEY=- reads the value from stdin,",
    "so that a secret stands in no command line. list shows digests, which change on every call; get",
    "shows values. KEY= sets the empty string; unset takes a key away. Apps that read the config restart,",
    "unless --no-restart; the command does not wait for that.",
  ],
  flags: [
    { name: "no-restart", summary: "leave running containers alone: they see it when they are next replaced" },
    { name: "unset-empty", summary: "KEY= unsets KEY" },
    { name: "dry-run", summary: "show which keys would change and what would restart, and change nothing" },
  ],
  // The keys alone: values are for get.
  lists: whenListing("list", { rows: (data) => Object.keys(variablesOf(data)).map((key) => ({ key })), name: keyOf }),
  async run(context, args) {
    const [verb = "", reference, ...rest] = args.words;
    const action = Object.entries(actions).find(([name]) => name === verb)?.[1];
    if (action === undefined) {
      throw usageFailure(
        verb === ""
          ? "say what to do: set, get, unset or list"
          : `unknown command "config ${verb}"${didYouMean(verb, Object.keys(actions))}`,
      );
    }
    if (reference === undefined) throw usageFailure(`config ${verb} needs a SCOPE or SCOPE/NAME`);
    return action({ bucket: bucketReference(reference), rest, args, context });
  },
};

interface Call {
  bucket: ReturnType<typeof bucketReference>;
  rest: string[];
  args: Arguments;
  context: Context;
}

async function set(call: Call): Promise<number> {
  if (call.rest.length === 0) throw usageFailure("config set needs KEY=VALUE");
  const variables = await readPairs(call.rest, call.bucket.text, call.context);
  const empty = call.args.on("unset-empty") ? [] : Object.keys(variables).filter((key) => variables[key] === "");
  return patch(call, { body: variables, empty }, "set");
}

async function unset(call: Call): Promise<number> {
  if (call.rest.length === 0) throw usageFailure("config unset needs KEY");
  const wrong = call.rest.find((key) => key.includes("="));
  if (wrong !== undefined) throw usageFailure("config unset takes keys alone, without a value");
  return patch(call, { body: Object.fromEntries(call.rest.map((key) => [key, ""])), empty: [] }, "unset");
}

interface ConfigPatch {
  /** An empty value unsets, except of the keys in `empty`. */
  body: Record<string, string>;
  empty: string[];
}

/** One call however many keys, so that what reads them restarts once. */
async function patch({ bucket, args, context }: Call, { body, empty }: ConfigPatch, done: string): Promise<number> {
  const { scope, name } = bucket;
  const isDry = args.on("dry-run");
  const query = {
    ...{ scope, name, restart: args.on("no-restart") ? "false" : undefined },
    ...(empty.length > 0 && { empty: empty.join(",") }),
    ...(isDry && { dry_run: "true" }),
  };
  const result = await context.api.call(setConfig, { query, body });
  if (done === "unset" && result.changed.length === 0) {
    throw new CommandFailure(
      `not set on ${bucket.text}: ${Object.keys(body).join(", ")}; see: berth config list ${bucket.text}`,
    );
  }
  const unknown = done === "unset" ? Object.keys(body).filter((key) => !result.changed.includes(key)) : [];
  if (unknown.length > 0) {
    const { terminal } = context;
    terminal.note(`${terminal.noteStyle.yellow("!")} not set on ${bucket.text}: ${printable(unknown.join(", "))}`);
  }
  answer(context, result, () => {
    const { changed, restarting, notes = [] } = result;
    const head =
      changed.length === 0 ? `nothing changed on ${bucket.text}` : `${done} ${changed.join(", ")} on ${bucket.text}`;
    if (isDry) return dryText(bucket.text, result);
    const why = changed.length === 0 ? ": it was made before the last change" : "";
    return [
      head,
      ...restartingLines(restarting, { of: bucket.text, why }),
      ...notes.map((note) => printable(note)),
    ].join("\n");
  });
  const isUnread = done === "set" && !isDry && result.restarting.length === 0;
  if (isUnread && !context.json) await noteUnstored(bucket, context, "it is kept until something is");
  return exitCodes.done;
}

function dryText(bucket: string, { changed, restarting, notes = [] }: DataOf<typeof setConfig>): string {
  const head =
    changed.length === 0 ? `nothing would change on ${bucket}` : `would change ${changed.join(", ")} on ${bucket}`;
  const readers = restarting.map((ref) => `would restart ${printable(ref)}`);
  return [head, ...readers, ...notes.map((note) => printable(note)), "nothing was changed"].join("\n");
}

async function get({ bucket, rest, context }: Call): Promise<number> {
  const { scope, name } = bucket;
  const [key, ...others] = rest;
  const single = key !== undefined && others.length === 0;
  const data = await context.api.call(getConfig, { query: { scope, name, key: single ? key : undefined } });
  if (single) {
    return answerData(context, data, () => String(data[key] ?? ""));
  }
  const variables = variablesOf(data);
  const missing = rest.filter((wanted) => !Object.hasOwn(variables, wanted));
  if (missing.length > 0) throw new CommandFailure(`not set on ${bucket.text}: ${missing.join(", ")}`);
  const shown = rest.length === 0 ? Object.keys(variables).sort() : rest;
  return answerData(context, data, () => shown.map((wanted) => `${wanted}=${variables[wanted]}`).join("\n"));
}

async function list({ bucket, rest, context }: Call): Promise<number> {
  if (rest.length > 0) throw usageFailure("config list takes no keys: config get shows values");
  const { scope, name } = bucket;
  const data = await context.api.call(getConfig, { query: { scope, name } });
  const merged = variablesOf(data);
  const own =
    name === undefined
      ? {}
      : variablesOf(await context.api.call(getConfig, { query: { scope, name, merge: "false" } }));
  if (Object.keys(merged).length === 0) await requireNamed(bucket.text, context);
  return answer(context, data, () => {
    const keys = Object.keys(merged).sort();
    if (keys.length === 0) return `nothing is set on ${bucket.text}`;
    const rows = keys.map((key) => [
      key,
      shownDigest(merged[key] ?? ""),
      Object.hasOwn(own, key) ? bucket.text : scope,
    ]);
    return tableText([["KEY", "DIGEST", "SET ON"], ...rows], { head: context.terminal.style.dim });
  });
}

/** The empty string needs no digest: it cannot be a secret. */
function shownDigest(value: string): string {
  return value === "" ? "empty" : digestOf(value);
}

function keyOf(row: unknown): string {
  return rowsOf("", "key").name(row);
}

function variablesOf(data: unknown): Record<string, string> {
  const vars = typeof data === "object" && data !== null && "vars" in data ? data.vars : undefined;
  const entries = typeof vars === "object" && vars !== null ? Object.entries(vars) : [];
  return Object.fromEntries(entries.map(([key, value]) => [key, String(value)]));
}
