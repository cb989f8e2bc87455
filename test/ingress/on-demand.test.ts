import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Manifest } from "../../src/orchestration/api/manifest.ts";
import { type CaddyCa, startCaddyCa } from "../support/caddy-ca.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

/** Every host that no ingress lists, with caddy as the CA, which checks names on port 80 of this address. */
const address = "127.0.0.78";
const hosts = ["one.example", "two.example", "three.example", "refused.example"];
let it: Rig;
let ca: CaddyCa;
let asked: string[];
let asking: ReturnType<typeof Bun.serve>;

const page = 'mkdir -p /www && echo "served" > /www/index.html && exec httpd -f -p 8080 -h /www';

beforeAll(async () => {
  asked = [];
  asking = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0 },
    fetch(request) {
      const name = new URL(request.url).searchParams.get("domain") ?? "";
      asked.push(name);
      if (name === "moved.example") return Response.redirect("/elsewhere", 302);
      return new Response("", { status: /^(one|two|three)\.example$/.test(name) ? 200 : 403 });
    },
  });
  it = await rig({ flags: ["--ingress-http-addr", `${address}:80`, "--ingress-https-addr", `${address}:443`] });
  ca = await startCaddyCa({ folder: it.root, address, names: hosts });
  writeFileSync(join(it.root, "root.pem"), ca.root);
  const app: Manifest = {
    kind: "deployment",
    scope: "saas",
    name: "app",
    spec: {
      ...{ image: "berth-fixture:1", command: ["sh", "-c", page], ports: ["8080"], stop_grace: "1s" },
      probes: { readiness: { http_get: { path: "/", port: 8080 }, period: "1s" } },
    },
  };
  const route: Manifest = {
    kind: "ingress",
    scope: "saas",
    name: "app",
    spec: {
      ...{ host: "*", access_log: "all" },
      tls: {
        ...{ provider: "acme", directory: ca.directory, directory_ca: ca.root, skip_checks: true },
        ...{ on_demand: true, ask: `http://127.0.0.1:${asking.port}/ask` },
      },
    },
  };
  expect((await it.apply(app, route)).body).toMatchObject({ status: "ok" });
  await it.ready("deployment", "saas", "app");
});

afterAll(async () => {
  await ca.stop();
  await asking.stop(true);
  await it.close();
});

/** `<version of HTTP> <body>`, or curl's exit code: 35 is a refused handshake. */
async function get(host: string, to = `${address}:443`): Promise<string> {
  const flags = ["-s", "-m", "30", "--cacert", join(it.root, "root.pem"), "--connect-to", `${host}:443:${to}`];
  const child = Bun.spawn(["curl", ...flags, "-w", "%{http_version}", `https://${host}/`], { stdout: "pipe" });
  const text = (await new Response(child.stdout).text()).trim().replace("\n", " HTTP/");
  const code = await child.exited;
  return code === 0 ? text : `exit ${code}`;
}

test("the first visitors of a permitted name are served, with one question", async () => {
  await waitFor("a handshake that waits", async () => {
    const answer = await get("one.example");
    if (answer === "served HTTP/2") return true;
    throw new Error(`${answer}; asked: ${asked}; ${(await it.cli(["ingress", "status"])).stdout}`);
  });
  expect(await Promise.all([get("two.example"), get("two.example")])).toEqual(["served HTTP/2", "served HTTP/2"]);
  expect(await get("two.example")).toBe("served HTTP/2");
  expect(asked.toSorted()).toEqual(["one.example", "two.example"]);
  const { stdout } = await it.cli(["certs"]);
  expect(stdout).toMatch(/two\.example +valid/);
});

test("a name without permission gets no certificate, and is asked about once; the others are served", async () => {
  asked.length = 0;
  const names = ["refused.example", "refused.example", "moved.example"];
  expect(await Promise.all(names.map((name) => get(name)))).toEqual(["exit 35", "exit 35", "exit 35"]);
  expect(asked.toSorted()).toEqual(["moved.example", "refused.example"]);
  expect(await get("one.example")).toBe("served HTTP/2");
});

test("a flood of random names causes only a few questions, and harms no visitor", async () => {
  asked.length = 0;
  const minuteNow = () => Math.floor(Date.now() / 60_000);
  const began = minuteNow();
  const flood = Array.from({ length: 40 }, (_, index) => get(`random${index}.example`));
  expect(await get("one.example")).toBe("served HTTP/2");
  expect(new Set(await Promise.all(flood))).toEqual(new Set(["exit 35"]));
  // One client's allowance is new in each minute of the clock.
  expect(asked.length).toBeLessThanOrEqual(10 * (minuteNow() - began + 1));
});

/** Passes connections on to the ingress, the first 20 bytes by themselves. */
async function slowStart(): Promise<Server> {
  const server = createServer((client) => {
    const ingress = connect(443, address);
    ingress.pipe(client);
    client.once("data", (hello) => {
      client.pause();
      ingress.write(hello.subarray(0, 20));
      setTimeout(() => {
        ingress.write(hello.subarray(20));
        client.pipe(ingress);
      }, 50);
    });
    client.on("error", () => ingress.destroy());
    ingress.on("error", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

test("a client hello in two packets is waited for, and what is not TLS is closed", async () => {
  const relay = await slowStart();
  expect(await get("one.example", `127.0.0.1:${(relay.address() as AddressInfo).port}`)).toBe("served HTTP/2");
  relay.close();
  const closed = new Promise<string>((resolve) => {
    const socket = connect(443, address, () => socket.write("GET / HTTP/1.1\r\n\r\n"));
    let text = "";
    socket.on("data", (data) => {
      text += data.toString("latin1");
    });
    socket.on("close", () => resolve(text));
  });
  expect(await closed).toBe("");
});

test("the address of the client stays known", async () => {
  const { stdout } = await waitFor("the access log", async () => {
    const said = await it.cli(["ingress", "logs", "-o", "json"]);
    return said.stdout.includes("one.example") ? said : undefined;
  });
  expect(stdout).toContain('"client": "127.0.0.1"');
});

test("no handshake fails while HAProxy loads its files, and after kill -9 it is back with all names", async () => {
  let isOver = false;
  const seen: string[] = [];
  const visitor = (async () => {
    while (!isOver) seen.push(await get("one.example"));
  })();
  for (const _ of [1, 2, 3]) expect((await it.cli(["ingress", "reload"])).exitCode).toBe(0);
  isOver = true;
  await visitor;
  expect(new Set(seen)).toEqual(new Set(["served HTTP/2"]));
  const master = Number(readFileSync(join(it.root, "run/haproxy.pid"), "utf8"));
  process.kill(master, "SIGKILL");
  await waitFor("another master", () => Number(readFileSync(join(it.root, "run/haproxy.pid"), "utf8")) !== master);
  await waitFor("the names again", async () => (await get("two.example")) === "served HTTP/2");
});

test("while the server is away, names with a certificate are served, and others are refused at once", async () => {
  await it.stop();
  expect(await get("one.example")).toBe("served HTTP/2");
  expect(await get("three.example")).toBe("exit 35");
  await it.start();
  await waitFor("a new name", async () => (await get("three.example")) === "served HTTP/2");
});
