import { serverLimits } from "../../config/server-limits.ts";
import { askIngress, askServer } from "../probe.ts";
import { type Machine, places } from "./machine.ts";

/** When a server counts as healthy. */
export interface Expected {
  /** It answers as this version; undefined: as any. */
  version: string | undefined;
  waitMs: number;
  /** It reaches Docker. */
  engine: boolean;
  /** Its HAProxy serves. */
  ingress: boolean;
}

/** Waits until the server of this socket is healthy. Answers with what is wrong; undefined when it is healthy. */
export async function unhealthy(socket: string, expected: Expected): Promise<string | undefined> {
  const until = Date.now() + expected.waitMs;
  for (;;) {
    const fault = await faultOf(socket, expected);
    if (fault === undefined) return undefined;
    if (Date.now() >= until) return `${fault} after ${Math.round(expected.waitMs / 1_000)} s`;
    await Bun.sleep(serverLimits.lookMs);
  }
}

async function faultOf(socket: string, { version, engine, ingress }: Expected): Promise<string | undefined> {
  const server = await askServer(socket);
  if (server === undefined) return "it does not answer";
  if (version !== undefined && server.version !== version) return `version ${server.version} answers in its place`;
  if (engine && !server.engineUp) return `it does not reach Docker (${server.engineError ?? "no reason given"})`;
  if (!ingress) return undefined;
  const proxy = await askIngress(socket);
  return proxy?.state === "running"
    ? undefined
    : `the ingress is ${proxy?.state}: ${proxy?.problem ?? "no reason given"}`;
}

/** The last lines of the server in the journal, without those of its daily work. */
export async function lastLines(machine: Machine, count: number): Promise<string[]> {
  const { stdout } = await machine.run(["journalctl", "-u", places.server, "-n", "50", "-o", "cat", "--no-pager"]);
  const lines = stdout.split("\n").filter((line) => line !== "" && !/"level":"(?:info|debug)"/.test(line));
  return lines.slice(-count);
}
