import { parseArgs } from "node:util";
import { serverUnit } from "../unit.ts";
import { withFlags } from "./systemd.ts";
import { givenFlags, unitFlagsUsage, unitOptions } from "./flags.ts";
import { installCommand, installUsage } from "./install.ts";
import { statusCommand, statusUsage } from "./status.ts";
import { rollbackCommand, rollbackUsage } from "./rollback.ts";
import { uninstallCommand, uninstallUsage } from "./uninstall.ts";
import { upgradeCommand, upgradeUsage } from "./upgrade.ts";
import { complainNow, sayNow } from "../../client/basics/output.ts";

const unitUsage = `usage: berth server unit [--executable FILE]
         ${unitFlagsUsage}
Prints the systemd unit that runs \`berth serve\` with these flags.`;

interface Verb {
  usage: string;
  run(args: string[]): Promise<number>;
}

const verbs: Record<string, Verb> = {
  install: { usage: installUsage, run: installCommand },
  upgrade: { usage: upgradeUsage, run: upgradeCommand },
  rollback: { usage: rollbackUsage, run: rollbackCommand },
  status: { usage: statusUsage, run: statusCommand },
  uninstall: { usage: uninstallUsage, run: uninstallCommand },
  unit: { usage: unitUsage, run: printUnit },
};

/**
 * `berth server VERB`: installs and looks after the server of this machine. Answers with the exit code: 0, 1 when it
 * failed, 2 for a wrong command line, 5 when the operator did not confirm.
 */
export async function serverCommand([name = "", ...args]: string[]): Promise<number> {
  if (name === "--help" || name === "-h")
    return tell(
      Object.values(verbs)
        .map(({ usage }) => usage)
        .join("\n\n"),
    );
  const verb = verbs[name];
  const all = Object.keys(verbs).map((word) => `berth server ${word} --help`);
  if (verb === undefined) return wrong(`unknown command "server ${name}"`, `usage: ${all.join("\n       ")}`);
  if (args.includes("--help") || args.includes("-h")) return tell(verb.usage);
  try {
    return await verb.run(args);
  } catch (error) {
    const isUsage = error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
    if (isUsage) return wrong(error.message, verb.usage);
    throw error;
  }
}

function tell(text: string): number {
  sayNow(text);
  return 0;
}

function wrong(fault: string, usage: string): number {
  complainNow(`error: ${fault}\n${usage}`);
  return 2;
}

async function printUnit(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { ...unitOptions, executable: { type: "string" } } });
  const { executable = process.execPath, ...flags } = values;
  sayNow(serverUnit({ executable, words: withFlags([], givenFlags(flags)) }).replace(/\n$/, ""));
  return 0;
}
