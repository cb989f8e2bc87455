import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/words/clock.ts";
import { createLog } from "../../src/base/words/log.ts";
import type { Setup } from "../../src/ingress/core/change.ts";
import type { Table } from "../../src/ingress/core/table.ts";
import { findBinary } from "../../src/ingress/proxy/binary.ts";
import { launchProgram } from "../../src/ingress/proxy/launch-program.ts";
import { openProxy } from "../../src/ingress/proxy/open.ts";
import type { IngressProxy } from "../../src/ingress/proxy/proxy.ts";
import { createRuntimeSocket } from "../../src/ingress/proxy/runtime-socket.ts";
import { site, table, tcpSite, upstream } from "../support/ingress-table.ts";
import { expectFailure } from "../support/failure.ts";
import { connectRaw } from "../support/raw-client.ts";
import { freePort } from "../support/ports.ts";
import { waitFor } from "../support/wait.ts";

const found = await findBinary();
if (!found.ok) throw new Error(found.problem);
const { binary } = found;

let folder: string;
let port: number;
let run: { proxy: IngressProxy; end: () => Promise<void> };
const servers: ReturnType<typeof Bun.serve>[] = [];

/** A replica that answers with its name. */
function replica(name: string, answer: () => Response | Promise<Response> = () => new Response(name)) {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer, idleTimeout: 60 });
  servers.push(server);
  return { port: server.port ?? 0, stop: () => server.stop(true) };
}

/** What a server makes of the proxy when it starts. */
function open(starter?: readonly string[]) {
  const setup: Setup = {
    paths: { folder: join(folder, "ingress"), socket: join(folder, "h.sock") },
    capabilities: binary.capabilities,
    headerPrefix: "X-Berth",
    user: undefined,
    logTo: undefined,
    door: undefined,
    connectionsMax: 2_000,
    splicesMax: 100,
    spareBackends: 4,
    threads: 1,
  };
  const proxy = openProxy({
    launch: launchProgram({
      ...{ program: binary.path, starter, logFile: join(folder, "log"), startMs: 15_000, logBytesMax: 1_000_000 },
    }),
    setup,
    files: { pid: join(folder, "pid"), master: join(folder, "m.sock") },
    clock: systemClock,
    log: createLog(() => undefined, "debug"),
    limits: {
      commandMs: 5_000,
      startMs: 15_000,
      drainMs: 5_000,
      idleLookMs: 50,
      lookMs: 50,
      stateChangesBytesMax: 10_000,
    },
  });
  const ending = new AbortController();
  const running = proxy.run(ending.signal);
  return {
    proxy,
    async end() {
      ending.abort();
      await running;
    },
  };
}

beforeEach(async () => {
  folder = mkdtempSync(join(process.env.BERTH_TEST_DIR ?? tmpdir(), "proxy-"));
  mkdirSync(join(folder, "ingress"));
  port = await freePort();
  run = open();
});

afterEach(async () => {
  await run.proxy.stop(0);
  await run.end();
  for (const server of servers.splice(0)) await server.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

const tableOf = (sites: Table["sites"]) => table(sites, { http: `127.0.0.1:${port}` });

async function get(host = "a.test", path = "/"): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { host }, keepalive: false });
  return `${response.status} ${(await response.text()).slice(0, 100)}`;
}

/** Asks without a pause until `end` is called; answers with everything that was not a 200. */
function load(host = "a.test", lanes = 4) {
  let isOver = false;
  let count = 0;
  const bad: string[] = [];
  const lane = async () => {
    while (!isOver) {
      const said = await get(host).catch((error: unknown) => `failed: ${error}`);
      count += 1;
      if (!said.startsWith("200 ")) bad.push(said);
      await Bun.sleep(2);
    }
  };
  const all = Array.from({ length: lanes }, lane);
  return {
    async end() {
      isOver = true;
      await Promise.all(all);
      return { bad, count };
    },
  };
}

test("what HAProxy refuses is left out, also at its start, and every other site is served", async () => {
  const one = replica("one");
  const bad = site("bad", [upstream(one.port)], { options: { allow: ["10.0.0.0/99"] } });
  const good = site("a", [upstream(one.port)], { options: { compress: true } });
  const first = await run.proxy.apply(tableOf([good, bad]));
  expect(first.refused).toMatchObject([{ site: "shop/bad", problem: expect.stringContaining("10.0.0.0/99") }]);
  expect(await get()).toBe("200 one");
  const pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const certificates = [{ id: "broken-1", names: ["broken.test"], pem }];
  const https = `127.0.0.1:${await freePort()}`;
  const sites = [good, site("b", [upstream(one.port)])];
  const second = await run.proxy.apply(table(sites, { http: `127.0.0.1:${port}`, https, certificates }));
  expect(second.refused.map(({ site: what }) => what)).toEqual(["certificate broken-1"]);
  expect(await get("b.test")).toBe("200 one");
});

test("the first table starts the proxy, later ones reach it without another load", async () => {
  const one = replica("one");
  const two = replica("two");
  const first = await run.proxy.apply(tableOf([site("a", [upstream(one.port)])]));
  expect(first.reloadReasons).toEqual(["the proxy was not running"]);
  expect(await get()).toBe("200 one");
  const pid = await run.proxy.pid();
  const next = await run.proxy.apply(tableOf([site("a", [upstream(one.port)]), site("b", [upstream(two.port)])]));
  expect(next).toEqual({ refused: [], reloadReasons: [] });
  expect(await get("b.test")).toBe("200 two");
  expect(await run.proxy.pid()).toBe(pid);
});

/** What the service manager is asked to run. */
const asService = (text: string) => ["sh", "-c", text];

test("a proxy that is a service is started by its starter, which does not have to be its parent", async () => {
  await run.end();
  const words = `-W -S ${folder}/m.sock,mode,600 -p ${folder}/pid -f ${folder}/ingress/haproxy.cfg`;
  run = open(asService(`setsid "${binary.path}" ${words} >"${folder}/log" 2>&1 </dev/null &`));
  const one = replica("one");
  await run.proxy.apply(tableOf([site("a", [upstream(one.port)])]));
  expect(await get()).toBe("200 one");
});

test("a starter that fails is named with its own words", async () => {
  await run.end();
  run = open(asService("echo 'Unit x.service not found.' >&2; exit 5"));
  const one = replica("one");
  const applied = run.proxy.apply(tableOf([site("a", [upstream(one.port)])]));
  await expect(applied).rejects.toThrow(/^HAProxy did not start by "sh -c .*Unit x\.service not found\./);
});

test("a replica that left and comes back is served again without a load, whether its server is deleted by then or not", async () => {
  const one = replica("one");
  const at = (isLeaving: boolean) => tableOf([site("a", [upstream(one.port, { isLeaving })])]);
  await run.proxy.apply(at(false));
  const socket = createRuntimeSocket({ path: join(folder, "h.sock"), timeoutMs: 5_000 });
  const isThere = async () => (await socket.ask("show servers state p1\n")).includes(" s1 ");
  for (const waits of [true, false, false]) {
    expect(await get()).toBe("200 one");
    await run.proxy.apply(at(true));
    if (waits) await waitFor("its server to be deleted", async () => !(await isThere()), 30_000);
    expect(await run.proxy.apply(at(false))).toEqual({ refused: [], reloadReasons: [] });
  }
  expect(await get()).toBe("200 one");
});

test("a structural option takes a load, and the reason names the site", async () => {
  const one = replica("one");
  const plain = site("a", [upstream(one.port)]);
  await run.proxy.apply(tableOf([plain]));
  const odd = site("b", [upstream(one.port)], { options: { balance: "ip_hash" } });
  const { reloadReasons } = await run.proxy.apply(tableOf([plain, odd]));
  expect(reloadReasons.join()).toContain("shop/b");
  expect(await get("b.test")).toBe("200 one");
});

test("the proxy outlives the server, and the next server goes on without a load", async () => {
  const one = replica("one");
  const two = replica("two");
  await run.proxy.apply(tableOf([site("a", [upstream(one.port)])]));
  const pid = await run.proxy.pid();
  await run.end();
  run = open();
  expect(await run.proxy.pid()).toBe(pid);
  const next = await run.proxy.apply(tableOf([site("a", [upstream(two.port)])]));
  expect(next.reloadReasons).toEqual([]);
  expect(await get()).toBe("200 two");
  expect(await run.proxy.pid()).toBe(pid);
});

test("a proxy whose state was lost is loaded anew, and no request fails", async () => {
  const one = replica("one");
  await run.proxy.apply(tableOf([site("a", [upstream(one.port)])]));
  await run.end();
  rmSync(join(folder, "ingress/state.json"));
  run = open();
  const traffic = load();
  const { reloadReasons } = await run.proxy.apply(tableOf([site("a", [upstream(one.port)])]));
  expect(reloadReasons).not.toEqual([]);
  await waitFor("requests on the new worker", async () => (await get()) === "200 one");
  expect((await traffic.end()).bad).toEqual([]);
});

test("after kill -9 it is back with the last table", async () => {
  const one = replica("one");
  const two = replica("two");
  await run.proxy.apply(tableOf([site("a", [upstream(one.port)])]));
  await run.proxy.apply(tableOf([site("a", [upstream(two.port)])]));
  const pid = (await run.proxy.pid()) ?? 0;
  const info = await createRuntimeSocket({ path: join(folder, "h.sock"), timeoutMs: 1_000 }).ask("show info\n");
  process.kill(pid, "SIGKILL");
  process.kill(Number(/^Pid: (\d+)/m.exec(info)?.[1]), "SIGKILL");
  await waitFor("another process", async () => {
    const now = await run.proxy.pid();
    return now !== undefined && now !== pid;
  });
  await waitFor("the page", async () => (await get().catch(() => "")) === "200 two");
});

test("a pid file that the master is just writing anew is waited for, and no second proxy starts", async () => {
  const one = replica("one");
  await run.proxy.apply(tableOf([site("a", [upstream(one.port)])]));
  const pid = await run.proxy.pid();
  writeFileSync(join(folder, "pid"), "");
  expect(await run.proxy.pid()).toBe(pid);
  await run.end();
  run = open();
  setTimeout(() => writeFileSync(join(folder, "pid"), `${pid}\n`), 100);
  const next = await run.proxy.apply(tableOf([site("a", [upstream(one.port)])]));
  expect(next.reloadReasons).toEqual([]);
  expect(await run.proxy.pid()).toBe(pid);
});

test("a pid file with the number of another program is not believed", async () => {
  writeFileSync(join(folder, "pid"), `${process.pid}\n`);
  expect(await run.proxy.pid()).toBeUndefined();
});

test("what HAProxy refuses outside of every site leaves the old table serving, and the next good one is taken", async () => {
  const one = replica("one");
  const two = replica("two");
  await run.proxy.apply(tableOf([site("a", [upstream(one.port)])]));
  const bad = tableOf([site("a", [upstream(one.port)])]);
  bad.listen.https = ["127.0.0.1:0"];
  const refusal = await run.proxy.apply(bad).catch((error: Error) => error.message);
  expect(refusal).toContain("the old one serves on");
  expect(await get()).toBe("200 one");
  expect(readFileSync(join(folder, "ingress/haproxy.cfg"), "utf8")).not.toContain("crt-list");
  await run.proxy.apply(tableOf([site("a", [upstream(two.port)])]));
  expect(await get()).toBe("200 two");
});

test("a port that is taken is reported with the program that has it, and nothing runs", async () => {
  const busy = replica("busy");
  const refusal = await run.proxy
    .apply(table([], { http: `127.0.0.1:${busy.port}` }))
    .catch((error: Error) => error.message);
  expect(refusal).toStartWith(`address 127.0.0.1:${busy.port} is in use by process ${process.pid} (`);
  expect(await run.proxy.pid()).toBeUndefined();
});

test("a TCP port that cannot be had leaves its own site out, and every other one is served", async () => {
  const one = replica("one");
  const sites = [site("a", [upstream(one.port)])];
  const { refused } = await run.proxy.apply({ ...tableOf(sites), tcp: [tcpSite("taken", `127.0.0.1:${one.port}`)] });
  expect(refused.map(({ site: id }) => id)).toEqual(["shop/taken"]);
  expect(await get()).toBe("200 one");
});

test("files that may hold secrets are for the owner alone", async () => {
  const one = replica("one");
  await run.proxy.apply(tableOf([site("a", [upstream(one.port)])]));
  for (const file of ["state.json", "haproxy.cfg"]) {
    expect(statSync(join(folder, "ingress", file)).mode & 0o077).toBe(0);
  }
  expect(existsSync(join(folder, "ingress/maps/routes.map"))).toBe(true);
});

describe("under load", () => {
  test("fifty replacements of the only replica lose no request", async () => {
    let current = replica("r0");
    await run.proxy.apply(tableOf([site("a", [upstream(current.port)])]));
    const traffic = load();
    for (let round = 1; round <= 50; round++) {
      const next = replica(`r${round}`);
      await run.proxy.apply(tableOf([site("a", [upstream(current.port), upstream(next.port)])]));
      const old = upstream(current.port, { isLeaving: true });
      await run.proxy.apply(tableOf([site("a", [old, upstream(next.port)])]));
      await waitFor("the old one to be idle", async () => !(await run.proxy.isBusy(new Set([old.id]))));
      current.stop();
      current = next;
      await run.proxy.apply(tableOf([site("a", [upstream(next.port)])]));
    }
    const { bad, count } = await traffic.end();
    expect(bad).toEqual([]);
    expect(count).toBeGreaterThan(100);
  });

  test("loads of the files lose no request", async () => {
    const one = replica("one");
    await run.proxy.apply(tableOf([site("a", [upstream(one.port)])]));
    const traffic = load();
    for (let round = 0; round < 5; round++) await run.proxy.reload();
    const { bad, count } = await traffic.end();
    expect(bad).toEqual([]);
    expect(count).toBeGreaterThan(20);
  });

  test("a replica stays busy while connections from before a load may still send a request there", async () => {
    const one = replica("one");
    const two = replica("two");
    await run.proxy.apply(tableOf([site("a", [upstream(one.port)])]));
    const client = await connectRaw({ hostname: "127.0.0.1", port });
    const request = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";
    await client.send(request);
    await client.until((text) => text.endsWith("one"));
    await run.proxy.reload();
    await run.proxy.apply(tableOf([site("a", [upstream(one.port), upstream(two.port)])]));
    const old = upstream(one.port, { isLeaving: true });
    await run.proxy.apply(tableOf([site("a", [old, upstream(two.port)])]));
    await Bun.sleep(500);
    expect(await run.proxy.isBusy(new Set([old.id]))).toBe(true);
    // Answered by the process that was replaced, which knows the old replica alone.
    await client.send(request);
    await client.until((text) => text.split("HTTP/1.1 200").length === 3);
    await waitFor("the old one to be idle", async () => !(await run.proxy.isBusy(new Set([old.id]))));
    client.abort();
  });

  test("a request that is under way keeps its replica busy until it ends", async () => {
    const begun = Promise.withResolvers<void>();
    const finished = Promise.withResolvers<void>();
    const slow = replica("slow", async () => {
      begun.resolve();
      await finished.promise;
      return new Response("done");
    });
    const next = replica("next");
    await run.proxy.apply(tableOf([site("a", [upstream(slow.port)])]));
    const answer = get();
    await begun.promise;
    const old = upstream(slow.port, { isLeaving: true });
    await run.proxy.apply(tableOf([site("a", [old, upstream(next.port)])]));
    expect(await get()).toBe("200 next");
    expect(await run.proxy.isBusy(new Set([old.id]))).toBe(true);
    finished.resolve();
    expect(await answer).toBe("200 done");
    await waitFor("it to be idle", async () => !(await run.proxy.isBusy(new Set([old.id]))));
  });
});

/** Begins requests, and resolves once the proxy holds all of them. */
async function beHeld(headers: Record<string, string>[]): Promise<Promise<Response>[]> {
  const url = `http://127.0.0.1:${port}/x?y=1`;
  const answers = headers.map((own) =>
    fetch(url, { headers: { host: "a.test", ...own }, keepalive: false, redirect: "manual" }),
  );
  await waitFor("the requests to be held", async () => (await run.proxy.figures()).connections >= headers.length);
  return answers;
}

test("a load while requests are held lets their visitors ask the new process, which holds them again", async () => {
  const waiting = site("a", [], { options: { hold: { forMs: 10_000, requestsMax: 10 } } });
  await run.proxy.apply(tableOf([waiting]));
  // What follows no redirect is told to come again later.
  const answers = await beHeld([{}, { "content-type": "application/grpc" }, { connection: "upgrade", upgrade: "x" }]);
  await run.proxy.reload();
  const said = await Promise.all(answers);
  expect(said.map(({ status }) => status)).toEqual([307, 503, 503]);
  expect(said[0]?.headers.get("location")).toBe("http://a.test/x?y=1");
  const [again] = await beHeld([{}]);
  const one = replica("one");
  await run.proxy.apply(tableOf([{ ...waiting, upstreams: [upstream(one.port)] }]));
  expect((await again)?.status).toBe(200);
});

test("a load costs no request on a connection that was open before", async () => {
  const one = replica("one");
  await run.proxy.apply(tableOf([site("a", [upstream(one.port)])]));
  const client = await connectRaw({ hostname: "127.0.0.1", port });
  const ask = async (answers: number) => {
    await client.send("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
    await client.until((text) => text.split("HTTP/1.1 200 OK").length > answers);
  };
  await ask(1);
  await run.proxy.reload();
  await ask(2);
  client.abort();
});

test("a port of another HAProxy is not shared: the text says how to end that, and then the proxy starts", async () => {
  const one = replica("one");
  await run.proxy.apply(tableOf([site("a", [upstream(one.port)])]));
  const left = run;
  const master = await left.proxy.pid();
  // What happens where a root is moved: the proxy that runs is known to no server any more.
  await left.end();
  rmSync(join(folder, "pid"));
  const moved = folder;
  for (const next of [moved, mkdtempSync(join(tmpdir(), "proxy-"))]) {
    folder = next;
    mkdirSync(join(folder, "ingress"), { recursive: true });
    run = open();
    const { message } = await expectFailure(run.proxy.apply(tableOf([])), "conflict");
    expect(message).toMatch(new RegExp(`^address 127.0.0.1:${port} is in use by process \\d+ \\(haproxy\\);`));
    expect(message).toContain(`; end it with "kill ${master}", or`);
    expect(await get()).toBe("200 one");
    if (next === moved) await run.end();
  }
  process.kill(Number(master));
  const two = replica("two");
  await waitFor("the new proxy", () => run.proxy.apply(tableOf([site("a", [upstream(two.port)])])));
  expect(await get()).toBe("200 two");
  rmSync(moved, { recursive: true, force: true });
});
