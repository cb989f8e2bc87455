import { chmod, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { getConfig, setConfig } from "../../orchestration/api/config.ts";
import { type Difference, difference, differenceLines, isSame } from "../env/difference.ts";
import { writePrivately } from "../env/private-file.ts";
import { envText } from "../env/text.ts";
import { readEnvFile } from "../manifests/env-file.ts";
import { readText } from "../basics/read-bounded.ts";
import { type Fault, ManifestError } from "../manifests/source.ts";
import type { Arguments } from "../basics/arguments.ts";
import { assent, yesFlag } from "../shell/ask.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { noteUnstored, requireNamed } from "../shell/named.ts";
import { bucketReference } from "../basics/reference.ts";
import { printable } from "../basics/style.ts";
import { didYouMean } from "../basics/suggest.ts";
import { noWords } from "../shell/words.ts";
import { restartingLines } from "../text/restarting.ts";

type Variables = Record<string, string>;

const actions = { pull, push, import: importFile };

export const envCommand: CommandBody = {
  usage: [
    "env pull REF [FILE] [--merged] [-y]",
    "env push REF [FILE] [--no-restart] [-y]",
    "env import REF [FILE] [--no-restart] [-y]",
  ],
  examples: [
    "env pull shop/web  write the config of an app to .env",
    "env push shop/web  make the config of an app equal to .env",
    "env import shop/web prod.env  set what the file says, and keep every other key",
  ],
  detail: [
    "REF is SCOPE or SCOPE/NAME, FILE is .env unless given; - is stdin or stdout. pull writes the config",
    "that is set on REF itself, or with --merged all config that the app sees. The file has mode 0600.",
    "push and import show which keys change, and never a value. push unsets the keys that the file does",
    "not have; import asks only before it replaces a value. Apps that read the config restart once,",
    "unless --no-restart; the command does not wait for that. The env of a manifest is not part of it.",
  ],
  flags: [
    { name: "merged", summary: "pull: include the config of the scope" },
    { name: "no-restart", summary: "leave running containers alone: they see it when they are next replaced" },
    yesFlag,
  ],
  async run(context, args) {
    const [verb = "", reference, file = ".env", ...more] = args.words;
    const action = Object.entries(actions).find(([name]) => name === verb)?.[1];
    if (action === undefined) {
      throw usageFailure(
        verb === ""
          ? "say what to do: env pull, env push or env import"
          : `unknown command "env ${verb}"${didYouMean(verb, Object.keys(actions))}`,
      );
    }
    if (reference === undefined) throw usageFailure(`env ${verb} needs a SCOPE or SCOPE/NAME`);
    noWords({ words: more }, `env ${verb} REF [FILE]`);
    return action({ bucket: bucketReference(reference), file, args, context });
  },
};

interface Call {
  bucket: ReturnType<typeof bucketReference>;
  /** As written. */
  file: string;
  args: Arguments;
  context: Context;
}

async function pull(call: Call): Promise<number> {
  const { bucket, file, args, context } = call;
  const variables = await stored(call, args.on("merged"));
  const count = Object.keys(variables).length;
  const text = `# config of ${bucket.text}\n${envText(variables)}`;
  if (file === "-") {
    context.terminal.data(text.trimEnd());
    return exitCodes.done;
  }
  // A mistyped name looks the same.
  if (count === 0) await requireNamed(bucket.text, context);
  if (count === 0) context.terminal.note(`${context.terminal.noteStyle.yellow("!")} nothing is set on ${bucket.text}`);
  const changed = await consentToReplace(call, variables);
  if (changed) await writePrivately(resolve(context.cwd, file), file, text);
  return answer(context, { file, keys: Object.keys(variables).sort(), changed }, () =>
    changed ? `wrote ${counted(count, "variable")} to ${file}` : `${file} has the same ${counted(count, "variable")}`,
  );
}

/** Whether there is something to write. Asks before variables of a file are lost. */
async function consentToReplace(call: Call, variables: Variables): Promise<boolean> {
  const { file, args, context } = call;
  const info = await stat(resolve(context.cwd, file)).catch(() => undefined);
  if (info === undefined) return true;
  if (!info.isFile()) throw new CommandFailure(`"${printable(file)}" is not a file: name another place`);
  const faults: Fault[] = [];
  const now = variablesOf(call, await contentOf(call), faults);
  const changes = difference(now, variables);
  if (isSame(changes) && faults.length === 0) {
    await chmod(resolve(context.cwd, file), 0o600);
    return false;
  }
  showChanges(call, changes);
  await assent(`Write over ${printable(file)}?`, args, context);
  return true;
}

async function push(call: Call): Promise<number> {
  const wanted = await readFile(call);
  const changes = difference(await stored(call, false), wanted);
  if (isSame(changes)) return nothingToDo(call);
  await showSent(call, changes);
  const removed = changes.removed.length === 0 ? "" : `, ${changes.removed.length} of them unset`;
  await assent(`Change ${counted(countOf(changes), "key")} of ${call.bucket.text}${removed}?`, call.args, call.context);
  return send(call, changes, wanted);
}

async function importFile(call: Call): Promise<number> {
  const wanted = await readFile(call);
  const changes = { ...difference(await stored(call, false), wanted), removed: [] };
  if (isSame(changes)) return nothingToDo(call);
  await showSent(call, changes);
  if (changes.changed.length > 0) {
    await assent(
      `Replace ${counted(changes.changed.length, "value")} of ${call.bucket.text}?`,
      call.args,
      call.context,
    );
  }
  return send(call, changes, wanted);
}

/** Before anything is asked: what will be changed, and whether there is something that it is for. */
async function showSent(call: Call, changes: Difference): Promise<void> {
  showChanges(call, changes);
  if (!call.context.json) await noteUnstored(call.bucket, call.context, "the config is kept until something is");
}

function nothingToDo({ bucket, file, context }: Call): number {
  return answer(context, { changed: [], restarting: [] }, () => `${bucket.text} has all of ${file} already`);
}

/** One call, so that what reads the config restarts once. An empty value unsets, unless the file has it. */
async function send(call: Call, changes: Difference, wanted: Variables): Promise<number> {
  const { bucket, args, context } = call;
  const { scope, name } = bucket;
  const set = [...changes.added, ...changes.changed].map((key): [string, string] => [key, wanted[key] ?? ""]);
  const body = Object.fromEntries([...set, ...changes.removed.map((key) => [key, ""])]);
  const empty = set.flatMap(([key, value]) => (value === "" ? [key] : []));
  const query = {
    ...{ scope, name, restart: args.on("no-restart") ? "false" : undefined },
    ...(empty.length > 0 && { empty: empty.join(",") }),
  };
  const result = await context.api.call(setConfig, { query, body });
  return answer(context, result, () =>
    [
      `changed ${counted(result.changed.length, "key")} of ${bucket.text}`,
      ...restartingLines(result.restarting, { of: bucket.text }),
      ...(result.notes ?? []).map((note) => printable(note)),
    ].join("\n"),
  );
}

async function stored({ bucket: { scope, name }, context }: Call, merged: boolean): Promise<Variables> {
  const { vars } = await context.api.call(getConfig, { query: { scope, name, merge: String(merged) } });
  const entries = typeof vars === "object" && vars !== null ? Object.entries(vars) : [];
  return Object.fromEntries(entries.map(([key, value]) => [key, String(value)]));
}

async function readFile(call: Call): Promise<Variables> {
  const { context } = call;
  const faults: Fault[] = [];
  const variables = variablesOf(call, await contentOf(call), faults);
  if (faults.length > 0) throw new ManifestError(faults, context.limits.faultsShownMax);
  return variables;
}

async function contentOf({ file, context }: Call): Promise<string> {
  if (file === "-") return context.stdin();
  const limits = { bytesMax: context.limits.fileBytesMax, mayBePipe: true };
  return readText(resolve(context.cwd, file), file, limits);
}

function variablesOf({ file }: Call, text: string, faults: Fault[]): Variables {
  return readEnvFile({ name: file === "-" ? "stdin" : file, text }, faults);
}

function showChanges({ context: { terminal } }: Call, changes: Difference): void {
  for (const line of differenceLines(changes)) terminal.note(printable(line));
}

function countOf({ added, changed, removed }: Difference): number {
  return added.length + changed.length + removed.length;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
