import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sleepsUnderWay } from "../../../src/base/words/clock.ts";
import { createLog } from "../../../src/base/words/log.ts";
import { serveOptions } from "../../../src/config/config.ts";
import { startDaemon } from "../../../src/daemon/start.ts";
import { isListening } from "../../../src/local/probe.ts";
import { freePort } from "../../support/ports.ts";
import { waitFor } from "../../support/wait.ts";

/** Whole servers in this process, without an engine. */
const root = mkdtempSync(join(tmpdir(), "daemon."));
const ports = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
const [addr = "", identityAddr = "", observabilityAddr = "", ingressHttpAddr = ""] = ports.map(
  (port) => `127.0.0.1:${port}`,
);
const log = createLog(() => undefined, "error");
const options = serveOptions(
  {
    ...{ root, addr, identityAddr, observabilityAddr, ingressHttpAddr, ingressHttpsAddr: "" },
    ...{ observabilityTls: "self-signed", dockerHost: `unix://${join(root, "no-engine.sock")}` },
  },
  {},
);
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What would keep the process from ending: sockets of any kind, and sleeps. */
const kept = () => ({ sockets: sockets(), sleeps: sleepsUnderWay() });

function sockets(): string[] {
  const links = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "";
    }
  });
  return links.filter((link) => link.startsWith("socket:"));
}

/** Passes once nothing is open that was not open `before`: the kernel closes a connection a moment after its program. */
async function nothingMoreThan(before: ReturnType<typeof kept>, after: string): Promise<void> {
  await waitFor(`sockets and sleeps closed after ${after}`, () => {
    const now = kept();
    expect(now.sockets.filter((socket) => !before.sockets.includes(socket))).toEqual([]);
    expect(now.sleeps).toEqual(before.sleeps);
    return true;
  });
}
const listening = async () => {
  const found = await Promise.all([addr, identityAddr, observabilityAddr].map((address) => isListening(address)));
  return found.filter(Boolean).length;
};

async function stepsOfStart(): Promise<string[]> {
  const steps: string[] = [];
  const daemon = await startDaemon(options, log, { reached: (step) => steps.push(step) });
  expect(await listening()).toBe(3);
  await daemon.stop();
  return steps;
}

test("a start that fails or is ended at any of its steps leaves nothing open, and the next one serves", async () => {
  const steps = await stepsOfStart();
  const before = kept();
  expect(steps.length).toBeGreaterThan(10);
  expect(new Set(steps).size).toBe(steps.length);
  for (const failing of steps) {
    const reached = (step: string) => {
      if (step === failing) throw new Error(`injected: ${step}`);
    };
    const failed = await startDaemon(options, log, { reached }).catch((error: Error) => error.message);
    expect([failed, await listening()]).toEqual([`injected: ${failing}`, 0]);
    await nothingMoreThan(before, `the failure of: ${failing}`);

    const ending = new AbortController();
    const ended = await startDaemon(options, log, {
      signal: ending.signal,
      reached: (step) => {
        if (step === failing) ending.abort("SIGTERM");
      },
    }).catch((reason: unknown) => reason);
    expect([failing, ended, await listening()]).toEqual([failing, "SIGTERM", 0]);
    await nothingMoreThan(before, `SIGTERM at: ${failing}`);
  }
  expect(await stepsOfStart()).toEqual(steps);
}, 60_000);

test("an address that is taken fails the start with its name, and closes the listeners before it", async () => {
  const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const place = `127.0.0.1:${taken.port}`;
  const before = kept();
  for (const flag of ["addr", "identityAddr", "observabilityAddr"]) {
    const failed = await startDaemon({ ...options, [flag]: place }, log).catch((error: Error) => error.message);
    expect(failed).toContain(place);
    await nothingMoreThan(before, `the address of ${flag} was taken`);
  }
  taken.stop(true);
});
