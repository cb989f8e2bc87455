import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { layoutOf } from "../../base/disk/layout.ts";
import { askIngress, askServer } from "../probe.ts";
import { report, wantsJson } from "../report.ts";
import { listText } from "../../client/basics/table-text.ts";
import { versionOfExecutable } from "./executable.ts";
import { listKept } from "./kept.ts";
import { hasSystemd, places, thisMachine } from "./machine.ts";
import { flagOf, installedWords, isActive } from "./systemd.ts";

export const statusUsage = `berth server status

usage: berth server status [-o json]

Shows what is installed on this machine and what runs. The exit code is 1 unless the server
answers.`;

/** `berth server status`. */
export async function statusCommand(args: string[]): Promise<number> {
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
  const hint = data.running === null || data.running === data.installed || data.installed === null;
  const lines = [listText(rows), ...(hint ? [] : ["the server runs another version: systemctl restart berth"])];
  report({ json, data }, lines);
  return data.running === null ? 1 : 0;
}
