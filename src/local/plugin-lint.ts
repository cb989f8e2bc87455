import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { usageFailure } from "../client/basics/failures.ts";
import { localCommands } from "../client/basics/local-commands.ts";
import { verbs } from "../client/entry/table.ts";
import { lintPackage } from "../orchestration/plugins/lint.ts";
import { report, wantsJson } from "./report.ts";
import { sayNow } from "../client/basics/output.ts";

export const pluginLintUsage = `usage: berth plugins lint [DIR] [-o json]

Reports errors that would keep a plugin from working, and warnings. Runs nothing of it.
Exits with 1 on errors.`;

/** Words of the client: a plugin that is called so is not reached by it. */
const taken = [...verbs, ...localCommands].map(({ name }) => name);

/** `berth plugins lint`. */
export async function pluginLintCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    options: { output: { type: "string", short: "o" }, help: { type: "boolean", short: "h" } },
    allowPositionals: true,
  });
  if (values.help) {
    sayNow(pluginLintUsage);
    return 0;
  }
  const [folder = ".", ...more] = positionals;
  if (more.length > 0) throw usageFailure("say one folder: berth plugins lint [DIR]");
  const result = await lintPackage(resolve(folder), { verbs: taken });
  const { errors, warnings } = result;
  const counted = `errors: ${errors.length}, warnings: ${warnings.length}`;
  const lines = [...errors.map((text) => `error    ${text}`), ...warnings.map((text) => `warning  ${text}`), counted];
  report({ json: wantsJson(values.output), data: result }, lines);
  return errors.length > 0 ? 1 : 0;
}
