import { serverLimits } from "../../config/server-limits.ts";
import { askServer } from "../probe.ts";
import { type Machine, places } from "./machine.ts";

/** Waits until the server of this socket answers as `version`. Answers with what is wrong; undefined when it is healthy. */
export async function unhealthy(
  socket: string,
  { version, waitMs }: { version: string; waitMs: number },
): Promise<string | undefined> {
  const until = Date.now() + waitMs;
  for (;;) {
    const answers = (await askServer(socket))?.version;
    if (answers === version) return undefined;
    if (Date.now() >= until) {
      const seconds = Math.round(waitMs / 1_000);
      return answers === undefined
        ? `it did not answer within ${seconds} s`
        : `version ${answers} answers in its place after ${seconds} s`;
    }
    await Bun.sleep(serverLimits.lookMs);
  }
}

/** The last lines of the server in the journal. */
export async function lastLines(machine: Machine, count: number): Promise<string[]> {
  const { stdout } = await machine.run([
    "journalctl",
    "-u",
    places.server,
    "-n",
    String(count),
    "-o",
    "cat",
    "--no-pager",
  ]);
  return stdout.split("\n").filter((line) => line !== "");
}
