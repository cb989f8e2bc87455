import { parseArgs } from "node:util";
import { serverUnit } from "../unit.ts";
import { flagOf, installedWords, isActive, withFlags } from "./systemd.ts";
import { givenFlags, unitFlagsUsage, unitOptions } from "./flags.ts";
import { installCommand, installUsage } from "./install.ts";
import { restoreFromCommand, restoreFromUsage } from "./restore-from.ts";
import type { RunClient } from "./restore-rest.ts";
import { rollbackCommand, rollbackUsage } from "./rollback.ts";
import { uninstallCommand, uninstallUsage } from "./uninstall.ts";
import { upgradeCommand, upgradeUsage } from "./upgrade.ts";
import { complainNow, sayNow } from "../../client/basics/output.ts";
import { existsSync } from "node:fs";
import { layoutOf } from "../../base/disk/layout.ts";
import { askIngress, askServer } from "../probe.ts";
import { parkedText, readMove } from "../parked.ts";
import { report, wantsJson } from "../report.ts";
import { listText } from "../../client/basics/table-text.ts";
import { versionOfExecutable } from "./executable.ts";
import { listKept } from "./kept.ts";
import { hasSystemd, places, thisMachine } from "./machine.ts";

const statusUsage = `berth server status

usage: berth server status [-o json]

Shows what is installed on this machine and what runs. The exit code is 1 unless the server
answers.`;

/** `berth server status`. */
async function statusCommand(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { output: { type: "string", short: "o" } } });
  const json = wantsJson(values.output);
  const machine = thisMachine;
  const words = installedWords();
  const root = flagOf(words ?? [], "root") ?? "/opt/berth";
  const layout = layoutOf(root);
  const withUnits = hasSystemd(machine) && words !== undefined;
  const data = {
    installed: existsSync(places.executable)
      ? await versionOfExecutable(machine, places.executable).catch(() => null)
      : null,
    root,
    service: withUnits ? ((await isActive(machine, places.server)) ? "active" : "inactive") : "not installed",
    running: (await askServer(layout.socket))?.version ?? null,
    ingress_service: withUnits ? ((await isActive(machine, places.ingress)) ? "active" : "inactive") : "not installed",
    ingress: (await askIngress(layout.socket))?.state ?? null,
    kept: (await listKept(layout)).map(({ version, at }) => ({ version, replaced_at: new Date(at).toISOString() })),
  };
  const rows = [
    ["executable", data.installed === null ? "not installed" : `${places.executable}, ${data.installed}`],
    ["state", root],
    [places.server, data.service],
    ["server", data.running === null ? "does not answer" : `answers, ${data.running}`],
    [places.ingress, data.ingress_service],
    ...data.kept.map(({ version, replaced_at: at }) => ["kept", `${version}, replaced ${at}`]),
    ["ingress", data.ingress ?? "unknown: the server does not answer"],
  ];
  const parked = readMove(layout);
  const hint = data.running === null || data.running === data.installed || data.installed === null;
  const lines = [
    listText(rows),
    ...(parked === undefined ? [] : [parkedText(parked)]),
    ...(hint ? [] : ["the server runs another version: systemctl restart berth"]),
  ];
  report({ json, data }, lines);
  return data.running === null ? 1 : 0;
}

const unitUsage = `usage: berth server unit [--executable FILE]
         ${unitFlagsUsage}
Prints the systemd unit that runs \`berth serve\` with these flags.`;

interface Verb {
  usage: string;
  run(args: string[], client: RunClient): Promise<number>;
}

const verbs: Record<string, Verb> = {
  install: { usage: installUsage, run: installCommand },
  upgrade: { usage: upgradeUsage, run: upgradeCommand },
  rollback: { usage: rollbackUsage, run: rollbackCommand },
  restore: { usage: restoreFromUsage, run: restoreFromCommand },
  status: { usage: statusUsage, run: statusCommand },
  uninstall: { usage: uninstallUsage, run: uninstallCommand },
  unit: { usage: unitUsage, run: printUnit },
};

/**
 * `berth server VERB`: installs and looks after the server of this machine. Answers with the exit code: 0, 1 when it
 * failed, 2 for a wrong command line, 5 when the operator did not confirm. `client` runs a command line of the client.
 */
export async function serverCommand([name = "", ...args]: string[], client: RunClient): Promise<number> {
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
    return await verb.run(args, client);
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
