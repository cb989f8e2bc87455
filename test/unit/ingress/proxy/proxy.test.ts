import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../../src/base/words/clock.ts";
import type { Setup } from "../../../../src/ingress/core/change.ts";
import { createProxy } from "../../../../src/ingress/proxy/proxy.ts";
import type { ProxyProcess } from "../../../../src/ingress/proxy/process.ts";
import { site, table, upstream } from "../../../support/ingress-table.ts";
import { silentLog } from "../../../support/silent-log.ts";
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
  splicesMax: 10,
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
    idleLookMs: 50,
    stateChangesBytesMax: 2_000,
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

/** HAProxy refuses each line of the configuration that has this word. */
function refusing(there: Machine, word: string): void {
  there.process.check = async () => {
    const at = read("haproxy.cfg")
      .split("\n")
      .findIndex((line) => line.includes(word));
    return at < 0 ? undefined : `config : parsing [/x/haproxy.cfg:${at + 1}] : ${word} is not known`;
  };
}

const named = (name: string, header: string) => {
  const requestHeaders = { set: [{ name: "x-test", value: header }], remove: [] };
  return site(name, [upstream(3_000)], { options: { requestHeaders } });
};

test("a site that HAProxy refuses is left out, every other one is served, and it comes back once it is another", async () => {
  const there = machine();
  refusing(there, "wrong");
  const server = serverOn(there);
  const bad = named("bad", "wrong");
  const first = await server.apply(table([bad, named("good", "right")]));
  expect(first.refused).toEqual([
    { site: "shop/bad", problem: "HAProxy refuses it, so it is not served: wrong is not known" },
  ]);
  expect(read("haproxy.cfg")).toContain("right");
  expect(read("maps/routes.map")).not.toContain("bad.test");

  const next = await server.apply(table([bad, named("good", "right"), site("late", [upstream(3_001)])]));
  expect(next.refused).toHaveLength(1);
  expect(read("maps/routes.map")).toContain("late.test");
  const fixed = await server.apply(table([named("bad", "fixed"), named("good", "right")]));
  expect(fixed.refused).toEqual([]);
  expect(read("haproxy.cfg")).toContain("fixed");
});

test("the version before of a site that HAProxy refuses is served on, with the newest replicas", async () => {
  const there = machine();
  refusing(there, "wrong");
  const server = serverOn(there);
  await server.apply(table([named("a", "first")]));
  const bad = { ...named("a", "wrong"), upstreams: [upstream(3_009)] };
  const { refused } = await server.apply(table([bad]));
  expect(refused[0]?.problem).toBe("HAProxy refuses it, so the version before is served: wrong is not known");
  const config = read("haproxy.cfg");
  expect([config.includes("first"), config.includes(":3009"), config.includes("wrong")]).toEqual([true, true, false]);
  const loads = there.told.length;
  expect((await server.apply(table([bad]))).refused).toEqual(refused);
  expect(there.told).toHaveLength(loads);
});

test("a certificate that HAProxy refuses is left out", async () => {
  const there = machine();
  there.process.check = async () =>
    read("crt.list").includes("bad-1") ? "config : unable to load '/x/certs/bad-1.pem'" : undefined;
  const server = serverOn(there);
  const pem = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
  const certificates = ["bad", "good"].map((name) => ({ id: `${name}-1`, names: [`${name}.test`], pem }));
  const { refused } = await server.apply(table([named("a", "first")], { certificates, https: "127.0.0.1:8443" }));
  expect(refused.map(({ site: what }) => what)).toEqual(["certificate bad-1"]);
  expect(read("crt.list")).toContain("good-1");
});
