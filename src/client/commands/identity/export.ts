import { open, rename, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { readAnswer } from "../../../base/wire/client.ts";
import { exportIdentityUsers } from "../../../identity/api/manage/import.ts";
import type { Command, Context } from "../../shell/command.ts";
import { answer } from "../../shell/command.ts";
import { CommandFailure, exitCodes } from "../../basics/failures.ts";
import { noWords } from "../../shell/words.ts";
import { instanceFlag, instanceOf } from "./shared.ts";

export const exportCommand: Command = {
  name: "export",
  summary: "write the users of an instance, one JSON object in each line",
  usage: ["identity export [--instance ID] [--out FILE] [--secrets]"],
  detail: ["Without --out it writes to stdout. The last line says how many users came before it."],
  flags: [
    instanceFlag,
    { name: "out", value: "FILE", summary: "write to this file, whole or not at all, for its owner alone" },
    { name: "secrets", summary: "with password hashes" },
  ],
  async run(context, args) {
    noWords(args);
    const query = { instance: await instanceOf(context, args), secrets: args.on("secrets") ? "true" : undefined };
    const response = await context.streams.raw(exportIdentityUsers, { query, signal: context.signal });
    if (!response.ok) readAnswer(exportIdentityUsers, response.status, await response.text());
    const out = args.value("out");
    if (out === undefined) {
      await pour(response, async (text) => context.terminal.data(text.replace(/\n$/, "")));
      return exitCodes.done;
    }
    const users = await writeFile(context, out, response);
    return answer(context, { file: out, users }, () => `wrote ${users} users to ${out}`);
  },
};

async function writeFile({ cwd }: Context, out: string, response: Response): Promise<number> {
  const target = resolve(cwd, out);
  const temporary = `${target}.part`;
  try {
    const file = await open(temporary, "w", 0o600);
    try {
      const users = await pour(response, async (text) => void (await file.write(text)));
      await file.sync();
      await rename(temporary, target);
      return users;
    } finally {
      await file.close();
    }
  } catch (cause) {
    await rm(temporary, { force: true });
    if (cause instanceof CommandFailure) throw cause;
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "no reason given";
    throw new CommandFailure(`"${out}" cannot be written (${code}): check the path`);
  }
}

const tailMax = 256;

/** Hands on what comes, whole lines at a time; fails where the end mark is missing. Answers with how many users came. */
async function pour(response: Response, write: (text: string) => Promise<void>): Promise<number> {
  const decoder = new TextDecoder();
  let open = "";
  let tail = "";
  try {
    for await (const bytes of response.body ?? []) {
      open += decoder.decode(bytes, { stream: true });
      const end = open.lastIndexOf("\n") + 1;
      if (end === 0) continue;
      const lines = open.slice(0, end);
      await write(lines);
      tail = lines.slice(-tailMax);
      open = open.slice(end);
    }
  } catch (cause) {
    if (cause instanceof CommandFailure) throw cause;
    throw brokenOff();
  }
  const [, users] = /(?:^|\n)\{"end":true,"users":(\d+)\}\n$/.exec(tail) ?? [];
  if (users === undefined) throw brokenOff();
  return Number(users);
}

function brokenOff(): CommandFailure {
  return new CommandFailure("the answer broke off before its last line: run it again");
}
