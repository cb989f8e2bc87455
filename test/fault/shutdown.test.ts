import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { isListening } from "../../src/local/probe.ts";
import { berth as run, executable } from "../support/executable.ts";
import { deployment } from "../support/manifests.ts";
import { freePort } from "../support/ports.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);
const rounds = Number(process.env.BERTH_TEST_ENDS ?? 2);

/** The end of a server and the beginning of another on the same root. */
describe("one server after another", () => {
  let berth: Rig;
  beforeAll(async () => {
    berth = await rig();
  });
  afterAll(() => berth?.close());

  test("SIGTERM under load: every request that was taken is answered, every answer was true", async () => {
    const acknowledged = new Set<string>();
    const odd: number[] = [];
    let sent = 0;
    const writer = async (lane: number) => {
      for (let index = 0; ; index++) {
        const name = `load${lane}-${index}`;
        sent++;
        const status = await berth.apply(deployment("load", name, { replicas: 0 })).then(
          (answer) => answer.status,
          () => undefined,
        );
        if (status === undefined) return;
        if (status === 200) acknowledged.add(name);
        else odd.push(status);
        // A refusal while it goes down is an answer too.
        if (status === 503) return;
      }
    };
    const load = Promise.all(Array.from({ length: 8 }, (_, lane) => writer(lane)));
    await waitFor("fifty acknowledged writes", () => acknowledged.size > 50);
    const code = await berth.server.stop("SIGTERM");
    await load;
    expect(code).toBe(0);
    expect(odd.filter((status) => status !== 503)).toEqual([]);
    await berth.start();
    const { body } = await berth.call("GET", "/apply?scope=load");
    const stored = new Set((body.data as unknown as { name: string }[]).map(({ name }) => name));
    expect([...acknowledged].filter((name) => !stored.has(name))).toEqual([]);
    // One lane has at most one write whose answer was lost with the connection.
    expect(stored.size).toBeLessThanOrEqual(acknowledged.size + 8);
    expect(sent).toBeGreaterThanOrEqual(stored.size);
  });

  test("a slow request holds up the end until it is answered", async () => {
    await berth.apply(deployment("slow", "web", { stop_grace: "3s" }));
    await berth.ready("deployment", "slow", "web");
    const [pod] = await berth.pods("slow", "web");
    const stopping = berth.call("POST", `/pods/${pod?.name}/stop`);
    // The container ignores SIGTERM, so the answer takes the three seconds of its grace.
    await Bun.sleep(500);
    const ended = berth.server.stop("SIGTERM");
    expect((await stopping).status).toBe(200);
    expect(await ended).toBe(0);
    await berth.start();
  });

  test("after a prune the end comes at once, too", async () => {
    await berth.call("DELETE", "/apply?kind=deployment&scope=slow&name=web&prune=true");
    expect(await berth.server.stop("SIGTERM")).toBe(0);
    await berth.start();
    // The limit is the test: a prune may wait a minute for volumes, and a forgotten wait would hold up the end.
  }, 30_000);

  // What comes in the first moments of a server is under way in many places when it ends. The server itself notices when
  // something keeps its process, and `stop` rejects then.
  test(
    "a SIGTERM at any moment after a start, with a prune accepted in between, ends the process",
    async () => {
      const long: string[] = [];
      const times = Array.from({ length: rounds }, (_, round) => ({
        round,
        ms: round % 2 === 0 ? 500 * Math.random() : round,
      }));
      for (const { round, ms } of times) {
        const name = `web${round}`;
        await berth.apply(deployment("short", name, { stop_grace: "1s" }));
        await waitFor("the container", async () => (await berth.pods("short", name)).some(({ running }) => running));
        await berth.stop("SIGTERM");
        await berth.start();
        const begun = performance.now();
        const pruning = berth
          .call("DELETE", `/apply?kind=deployment&scope=short&name=${name}&prune=true`)
          .catch(String);
        await Bun.sleep(ms);
        expect(await berth.server.stop("SIGTERM")).toBe(0);
        if (performance.now() - begun > 10_000) long.push(`round ${round}, ${ms} ms: ${berth.server.output()}`);
        await pruning;
        await berth.start();
      }
      expect(long).toEqual([]);
    },
    60_000 + rounds * 20_000,
  );

  test("a second server on the root refuses, names the first, and does not disturb it", async () => {
    const second = await run(["serve", ...berth.flags]);
    expect(second).toMatchObject({ exitCode: 1, stdout: "" });
    expect(second.stderr).toBe(
      `error: root "${berth.root}" is in use by pid ${berth.server.pid}: stop that server first\n`,
    );
    expect((await berth.call("GET", "/health")).status).toBe(200);
  });

  test("SIGTERM ends a start that waits for an engine which never answers, and lets go of the root", async () => {
    await berth.stop();
    const socket = join(berth.root, "hanging.sock");
    const hanging = Bun.listen({ unix: socket, socket: { data: () => undefined } });
    const identity = `127.0.0.1:${await freePort()}`;
    const flags = berth.flags.map((word) => (word === berth.dockerHost ? `unix://${socket}` : word));
    const server = Bun.spawn([executable, "serve", ...flags, "--identity-addr", identity], {
      stderr: "pipe",
      env: { ...process.env, BERTH_INGRESS_HTTP_ADDR: "", BERTH_INGRESS_HTTPS_ADDR: "" },
    });
    const output = new Response(server.stderr).text();
    // It opens before the engine is asked.
    await waitFor("the first listener", () => isListening(identity));
    server.kill("SIGTERM");
    expect(await server.exited).toBe(0);
    const text = await output;
    expect(text).toContain("stopped before it was ready");
    expect(text).not.toContain('"ready"');
    expect(text).not.toContain("did not end by itself");
    hanging.stop(true);
    await berth.start();
  });

  test("a wrong address is told, and nothing is left that a next start trips over", async () => {
    const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
    await berth.stop();
    for (const [addr, text] of [
      ["nonsense", 'error: address "nonsense" is not host:port\n'],
      [`127.0.0.1:${taken.port}`, `127.0.0.1:${taken.port}`],
    ] as const) {
      const { exitCode, stderr } = await run(["serve", ...berth.flags, "--addr", addr]);
      expect({ exitCode, told: stderr.includes(text), bug: stderr.includes("a bug in berth") }).toEqual({
        exitCode: 1,
        told: true,
        bug: false,
      });
    }
    taken.stop(true);
    await berth.start();
    expect((await berth.call("GET", "/health")).status).toBe(200);
  });
});
