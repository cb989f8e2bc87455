import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../../src/base/words/clock.ts";
import { silentLog } from "../../../../src/base/words/log.ts";
import type { Setup } from "../../../../src/ingress/core/change.ts";
import { createProxy } from "../../../../src/ingress/proxy/proxy.ts";
import type { ProxyProcess } from "../../../../src/ingress/proxy/process.ts";
import { site, table, upstream } from "../../../support/ingress-table.ts";
import { waitFor } from "../../../support/wait.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "proxy-unit-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A HAProxy that outlives the servers of a test, and notes what it is told. */
function machine() {
  const told: string[] = [];
  const faults: (string | undefined)[] = [];
  let isRunning = false;
  const process: ProxyProcess = {
    running: async () => (isRunning ? 4_711 : undefined),
    check: async () => faults.shift(),
    async start() {
      isRunning = true;
      told.push("start");
    },
    async reload() {
      told.push("load");
    },
    async stop() {
      isRunning = false;
    },
    trimLog: async () => undefined,
  };
  return { process, told, faults };
}

type Machine = ReturnType<typeof machine>;

const setupOf = (): Setup => ({
  paths: { folder: join(folder, "ingress"), socket: join(folder, "h.sock") },
  capabilities: { major: 2, minor: 6, lua: true, addServer: true },
  headerPrefix: "X-Berth",
  user: undefined,
  logTo: undefined,
  door: undefined,
  connectionsMax: 1_000,
  spareBackends: 4,
  threads: 1,
});

/** A server that has just started. `answer` plays the runtime socket. */
function serverOn({ process, told }: Machine, answer: (line: string) => Promise<string> = async () => "") {
  return createProxy({
    process,
    socket: {
      ask(text) {
        told.push(text.trim());
        return answer(text);
      },
    },
    oldWorkers: { replaced() {}, mayUse: async () => false },
    setup: setupOf(),
    clock: systemClock,
    log: silentLog,
    drainMs: 1_000,
    lookMs: 50,
  });
}

const tableFor = (port: number) => table([site("a", [upstream(port)])]);
const withOptions = (port: number) => table([site("a", [upstream(port)], { options: { compress: true } })]);
const read = (name: string) => readFileSync(join(folder, "ingress", name), "utf8");

test("a change that the last server did not finish makes the next one load the files, once", async () => {
  const there = machine();
  await serverOn(there).apply(tableFor(3_000));
  void serverOn(there, () => new Promise(() => undefined)).apply(tableFor(3_001));
  await waitFor("the first command", () => there.told.length === 2);

  there.told.length = 0;
  const next = serverOn(there);
  expect((await next.apply(tableFor(3_001))).reloadReasons).not.toEqual([]);
  expect(there.told).toEqual(["load"]);
  expect((await next.apply(tableFor(3_001))).reloadReasons).toEqual([]);
  expect((await serverOn(there).apply(tableFor(3_001))).reloadReasons).toEqual([]);
  expect(there.told).toEqual(["load"]);
});

test("a server that ends while HAProxy checks the files leaves the load to the next one", async () => {
  const there = machine();
  await serverOn(there).apply(tableFor(3_000));
  const { check } = there.process;
  let isChecking = false;
  there.process.check = () => {
    isChecking = true;
    return new Promise(() => undefined);
  };
  void serverOn(there).apply(withOptions(3_000));
  await waitFor("the check", () => isChecking);
  there.process.check = check;

  await serverOn(there).apply(withOptions(3_000));
  expect(there.told).toEqual(["start", "load"]);
});

test("of a change that HAProxy refuses, the running process hears nothing", async () => {
  const there = machine();
  const server = serverOn(there);
  await server.apply(tableFor(3_000));
  const config = read("haproxy.cfg");
  const routes = read("maps/routes.map");

  there.faults.push("unknown keyword");
  const refused = await server.apply(withOptions(3_001)).catch((error: Error) => error.message);
  expect(refused).toBe("HAProxy refuses the new configuration, the old one serves on: unknown keyword");
  expect(there.told).toEqual(["start"]);
  expect([read("haproxy.cfg"), read("maps/routes.map")]).toEqual([config, routes]);
  expect((await server.apply(tableFor(3_000))).reloadReasons).toEqual([]);
  expect(there.told).toEqual(["start"]);
  expect(existsSync(join(folder, "ingress/unfinished"))).toBe(false);
});

test("a change of which a part failed, and whose load is refused, leaves the old files and loads with the next one", async () => {
  const there = machine();
  let answer = "";
  const server = serverOn(there, async () => answer);
  await server.apply(tableFor(3_000));
  const config = read("haproxy.cfg");

  answer = "Already exists a server with the same name in backend.";
  there.faults.push("out of room");
  await expect(server.apply(tableFor(3_001))).rejects.toThrow("out of room");
  expect(read("haproxy.cfg")).toBe(config);

  answer = "";
  expect((await server.apply(tableFor(3_000))).reloadReasons).not.toEqual([]);
  expect(there.told.at(-1)).toBe("load");
  expect((await server.apply(tableFor(3_000))).reloadReasons).toEqual([]);
});
