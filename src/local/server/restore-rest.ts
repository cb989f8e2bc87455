import type { Layout } from "../../base/disk/layout.ts";
import { secondsText } from "../../base/pure/duration.ts";
import { Failure } from "../../base/wire/failure.ts";
import { exitCodes } from "../../client/basics/failures.ts";
import { serverLimits } from "../../config/server-limits.ts";
import { lockHolder } from "../../base/sqlite/lock.ts";
import { getJson, record } from "../probe.ts";
import { lookAtIt } from "../restore.ts";
import { lastLines, unhealthy } from "./health.ts";
import { hasSystemd, type Machine, must, places } from "./machine.ts";
import { flagOf } from "./systemd.ts";

/** Runs a command line of the client, without the program name; answers with its exit code. */
export type RunClient = (words: readonly string[]) => Promise<number>;

interface Rest {
  machine: Machine;
  /** Words of `berth serve` in the unit that is installed; undefined where none is. */
  service: readonly string[] | undefined;
  client: RunClient;
  layout: Layout;
  /** As the operator named it. */
  root: string | undefined;
  /** The address of the target, and the time that copies are to be of. */
  from: string;
  at: string | undefined;
}

/**
 * What comes after the state: the server is started, and brings volumes and databases back that the machine lacks. Answers with the exit
 * code: 0 only where everything is back. Nothing is confirmed.
 */
export async function restoreRest({ machine, service, client, layout, root, from, at }: Rest): Promise<number> {
  const took = stopwatch();
  await startServer(machine, layout, service);
  machine.say(`the server answers, ${took()}`);
  const target = await targetAt(layout, from);
  const words = [...(target === undefined ? [] : ["--from", target]), ...(at === undefined ? [] : ["--at", at])];
  const code = await client(["backup", "restore", "--all", "--yes", ...words, "--endpoint", `unix:${layout.socket}`]);
  machine.say(`volumes and databases, ${took()}`);
  machine.say(lookAtIt(layout, root, code === exitCodes.done));
  return code === exitCodes.done || code === exitCodes.interrupted ? code : exitCodes.failed;
}

/** How long it took since it was asked the last time, in words. */
export function stopwatch(): () => string {
  let since = performance.now();
  return () => {
    const before = since;
    since = performance.now();
    return `after ${secondsText(since - before)}`;
  };
}

/** By its service, or by a person where this machine has none for this folder. Returns once the server answers and reaches Docker. */
async function startServer(machine: Machine, layout: Layout, service: Rest["service"]): Promise<void> {
  const isOurs = service !== undefined && (flagOf(service, "root") ?? "/opt/berth") === layout.root;
  const isService = isOurs && hasSystemd(machine);
  const isRunning = lockHolder(layout.lock) !== undefined;
  if (isService) await must(machine, ["systemctl", "start", places.server]);
  else if (!isRunning) machine.say(`start the server now, in another terminal: berth serve --root ${layout.root}`);
  const waitMs = isService || isRunning ? serverLimits.restoredAnswerMs : serverLimits.restoredByHandMs;
  const fault = await unhealthy(layout.socket, { version: undefined, waitMs, engine: true, ingress: false });
  if (fault === undefined) return;
  const said = isService ? (await lastLines(machine, 5)).map((line) => `\n  ${line}`).join("") : "";
  const way = "start it and run this command again, which goes on where it was";
  throw new Failure("unavailable", `the state is back, and the server is not: ${fault}; ${way}${said}`);
}

/** The name that the restored server has for the target; undefined where it knows it by another address, and asks all of its targets. */
async function targetAt({ socket }: Layout, url: string): Promise<string | undefined> {
  const answer = await getJson(`unix://${socket}`, "/backups/targets").catch(() => ({ data: undefined }));
  const { targets } = record(answer.data);
  const found = (Array.isArray(targets) ? targets : []).map(record).find((one) => one.url === url);
  return typeof found?.name === "string" ? found.name : undefined;
}
