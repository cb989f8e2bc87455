import { createReadStream, statSync } from "node:fs";
import { resolve } from "node:path";
import { type ImportResult, importIdentityUsers } from "../../../identity/api/manage/import.ts";
import type { Arguments } from "../../basics/arguments.ts";
import { answer, type Command, type Context } from "../../shell/command.ts";
import { CommandFailure, exitCodes } from "../../basics/failures.ts";
import { batchedLines } from "../../session/line-batches.ts";
import { printable } from "../../basics/style.ts";
import { oneWord } from "../../shell/words.ts";
import { instanceFlag, instanceOf } from "./shared.ts";

/** Below what the server takes in one request. */
const batchBytesMax = 900 * 1024;

export const importCommand: Command = {
  name: "import",
  summary: "take up users from a file with one JSON object in each line",
  usage: ["identity import FILE [--instance ID] [--update]"],
  detail: [
    "FILE is what identity export writes, or lines of your own: email is required; id, name, avatar_url,",
    "email_verified, password_hash (argon2, bcrypt, scrypt), banned, created_at and identities are known.",
    "- reads stdin. Invalid lines are reported and skipped. After an interruption run it again: nothing",
    "is imported twice.",
  ],
  flags: [instanceFlag, { name: "update", summary: "change users that are there already (they are left as they are)" }],
  async run(context, args) {
    const file = oneWord(args, "which file, or - for stdin");
    const total = await send(context, args, file);
    answer(context, total, () => resultText(total));
    if (!context.json) tellErrors(total, context);
    return total.failed === 0 ? exitCodes.done : exitCodes.failed;
  },
};

async function send(context: Context, args: Arguments, file: string): Promise<ImportResult> {
  const { api, signal, terminal, limits } = context;
  const instance = await instanceOf(context, args);
  const update = args.on("update") ? "true" : undefined;
  const counts = { lines: 0, created: 0, updated: 0, skipped: 0, paired: 0, failed: 0 };
  const total: ImportResult = { ...counts, errors: [], pairs: [] };
  let before = 0;
  for await (const { text, count, last } of batchedLines(source(context, file), batchBytesMax)) {
    if (signal.aborted) throw new CommandFailure("interrupted: run it again to go on", exitCodes.interrupted);
    const result = await api.call(importIdentityUsers, { query: { instance, update }, body: text, signal });
    for (const name of ["lines", "created", "updated", "skipped", "paired", "failed"] as const)
      total[name] += result[name];
    const room = limits.faultsShownMax - total.errors.length;
    const told = result.errors.slice(0, Math.max(0, room));
    total.errors.push(...told.map(({ line, error }) => ({ line: line + before, error })));
    const pairRoom = Math.max(0, limits.faultsShownMax - total.pairs.length);
    total.pairs.push(...result.pairs.slice(0, pairRoom).map((pair) => ({ ...pair, line: pair.line + before })));
    before += count;
    if (!last) terminal.block([resultText(total)]);
  }
  terminal.block([]);
  return total;
}

async function* source({ cwd, stdin }: Context, file: string): AsyncGenerator<Uint8Array> {
  if (file === "-") {
    yield new TextEncoder().encode(await stdin());
    return;
  }
  requireStream(resolve(cwd, file), file);
  try {
    for await (const chunk of createReadStream(resolve(cwd, file))) yield chunk as Uint8Array;
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "no reason given";
    throw new CommandFailure(`"${file}" cannot be read (${code}): check the path`);
  }
}

function resultText({ created, updated, skipped, failed }: ImportResult): string {
  return `${created} created, ${updated} updated, ${skipped} there already, ${failed} failed`;
}

function tellErrors({ errors, failed, pairs, paired }: ImportResult, { terminal }: Context): void {
  for (const { line, email, user } of pairs) {
    terminal.note(
      `line ${line}: ${printable(email)} is the mailbox of user ${user}: left out; give the id to mean that user`,
    );
  }
  if (paired > pairs.length) terminal.note(`… and ${paired - pairs.length} more such lines`);
  for (const { line, error } of errors) terminal.note(`line ${line}: ${error}`);
  if (failed > errors.length) terminal.note(`… and ${failed - errors.length} more`);
}

/** A device could give bytes without end. */
function requireStream(path: string, file: string): void {
  const info = statSync(path, { throwIfNoEntry: false });
  if (info === undefined || info.isFile() || info.isFIFO()) return;
  throw new CommandFailure(`"${file}" is neither a file nor a pipe`);
}
