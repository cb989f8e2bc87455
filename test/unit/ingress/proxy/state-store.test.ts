import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Running } from "../../../../src/ingress/core/change.ts";
import { changes } from "../../../../src/ingress/core/changes.ts";
import { readState } from "../../../../src/ingress/proxy/running-state.ts";
import { createStateStore } from "../../../../src/ingress/proxy/state-store.ts";
import { proxySetup } from "../../../support/haproxy.ts";
import { site, table, tcpSite, upstream } from "../../../support/ingress-table.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "state-store-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const lines = () => join(folder, "state.changes");

/** A proxy that has two sites and a port; `replicas` gives all of them another replica. */
async function world(bytesMax: number) {
  const setup = proxySetup(folder);
  const store = createStateStore(setup.paths, bytesMax);
  const tableFor = (port: number) =>
    table([site("a", [upstream(port)]), site("b", [upstream(3_000)])], {
      tcp: [tcpSite("db", ":6380", { upstreams: [upstream(port)] })],
    });
  const first = tableFor(3_000);
  let running: Running = { table: first, assignment: changes(undefined, first, setup).assignment };
  await store.write([], running);
  return {
    paths: setup.paths,
    now: () => running,
    async replicas(port: number) {
      const next = tableFor(port);
      const { assignment, files, replaced } = changes(running, next, setup);
      running = { table: next, assignment };
      await store.write(files, running, replaced);
    },
  };
}

const plain = (running: Running | undefined) => JSON.parse(JSON.stringify(running ?? null));

test("other replicas are a line behind the state, for the owner alone, and the next server reads them", async () => {
  const { paths, now, replicas } = await world(100_000);
  const whole = readFileSync(join(folder, "state.json"), "utf8");
  await replicas(3_001);
  await replicas(3_002);
  expect(readFileSync(join(folder, "state.json"), "utf8")).toBe(whole);
  expect(readFileSync(lines(), "utf8").trim().split("\n")).toHaveLength(2);
  expect(statSync(lines()).mode & 0o777).toBe(0o600);
  expect(plain(await readState(paths))).toEqual(plain(now()));
});

test("after many lines the state is written as a whole, and begins anew", async () => {
  const { paths, now, replicas } = await world(6_000);
  let longest = 0;
  for (let port = 3_001; port < 3_020; port += 1) {
    await replicas(port);
    longest = Math.max(longest, existsSync(lines()) ? statSync(lines()).size : 0);
    expect(plain(await readState(paths))).toEqual(plain(now()));
  }
  expect(longest).toBeGreaterThan(0);
  expect(longest).toBeLessThanOrEqual(6_000);
});

test("lines behind another state count nothing", async () => {
  const { paths, now, replicas } = await world(100_000);
  await replicas(3_001);
  const old = readFileSync(lines(), "utf8");
  const { now: later } = await world(100_000);
  writeFileSync(lines(), old);
  expect(plain(await readState(paths))).toEqual(plain(later()));
  expect(plain(later())).not.toEqual(plain(now()));
});

test("a line that a killed server has half written makes the next one load everything", async () => {
  const { paths, replicas } = await world(100_000);
  await replicas(3_001);
  appendFileSync(lines(), '{"id":"');
  expect((await readState(paths))?.assignment.loaded).toEqual({});
});

test("a line that could not be written is not built upon", async () => {
  const { paths, now, replicas } = await world(100_000);
  mkdirSync(lines());
  await expect(replicas(3_001)).rejects.toThrow("state.changes");
  rmSync(lines(), { recursive: true });
  await replicas(3_002);
  expect(existsSync(lines())).toBe(false);
  expect(plain(await readState(paths))).toEqual(plain(now()));
});
