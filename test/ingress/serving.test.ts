import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AccessEntry } from "../../src/ingress/api/access-log.ts";
import type { IngressTraffic, SiteTraffic } from "../../src/ingress/api/traffic.ts";
import type { Manifest, Spec } from "../../src/orchestration/api/manifest.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { openOutside } from "../support/outside.ts";
import { freePort } from "../support/ports.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

let it: Rig;
let port: number;
let tls: number;

const page = (text: string) => `mkdir -p /www && echo "${text}" > /www/index.html && exec httpd -f -p 8080 -h /www`;

function app(text: string, spec: Spec = {}): Manifest {
  return {
    kind: "deployment",
    scope: "web",
    name: "shop",
    spec: {
      image: "berth-fixture:1",
      replicas: 2,
      command: ["sh", "-c", page(text)],
      ports: ["8080"],
      probes: { readiness: { http_get: { path: "/", port: 8080 }, period: "1s" } },
      stop_grace: "1s",
      ...spec,
    },
  };
}

const route = (spec: Spec = {}): Manifest => ({
  kind: "ingress",
  scope: "web",
  name: "shop",
  spec: { host: "shop.test", ...spec },
});

beforeAll(async () => {
  port = await freePort();
  tls = await freePort();
  const flags = ["--ingress-http-addr", `127.0.0.1:${port}`, "--ingress-https-addr", `127.0.0.1:${tls}`];
  it = await rig({ flags });
  const answer = await it.apply(app("one"), route());
  expect(answer.status).toBe(200);
  await it.ready("deployment", "web", "shop");
});

afterAll(async () => {
  await it.close();
});

async function get(host = "shop.test", path = "/"): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { host }, keepalive: false });
  return `${response.status} ${(await response.text()).trim().slice(0, 60)}`;
}

const shows = (text: string) => waitFor(`the page to be ${text}`, async () => (await get().catch(String)) === text);

function load(lanes = 4) {
  let isOver = false;
  let count = 0;
  const bad: string[] = [];
  const lane = async () => {
    while (!isOver) {
      const said = await get().catch((error: unknown) => `failed: ${error}`);
      count += 1;
      if (!said.startsWith("200 ")) bad.push(said);
      // About a hundred requests a second: each costs a process of the web server.
      await Bun.sleep(30);
    }
  };
  const all = Array.from({ length: lanes }, lane);
  return {
    soFar: () => count,
    async end() {
      isOver = true;
      await Promise.all(all);
      return { bad, count };
    },
  };
}

/** Pid of the proxy's master. */
const proxyPid = async () => Number((await Bun.file(`${it.root}/run/haproxy.pid`).text()).trim());

test("an applied ingress serves its app by host name, and nothing else", async () => {
  await shows("200 one");
  expect(await get("other.test")).toStartWith("404 ");
});

test("`berth ingress` and `berth describe` show what is served", async () => {
  await shows("200 one");
  const status = await it.cli(["ingress", "status"]);
  expect(status.exitCode).toBe(0);
  expect(status.stdout).toContain(`http     127.0.0.1:${port}\n`);
  expect(status.stdout).toContain(`pid ${await proxyPid()},`);
  const list = await it.cli(["ingress", "ls", "web"]);
  expect(list.stdout).toMatch(/^web\/shop +http:\/\/shop\.test:\d+ +web\/shop +2 ready +[1-9]\d* +0 +0$/m);
  expect(list.stdout).toContain(`http://shop.test:${port} `);
  const described = (await it.cli(["describe", "ingress", "web/shop"])).stdout;
  expect(described).toMatch(/^\w+ +[0-9.]+:8080 +ready +100 +0$/m);
  expect(described).toMatch(/^ingress\/web\/shop +ready$/m);
  expect((await it.cli(["get", "ingress"])).stdout).toMatch(/^web\/shop +ready +shop\.test /m);
});

/** What the ingress counted of the last minute. */
async function lastMinute(): Promise<SiteTraffic | undefined> {
  const answer = await it.call("GET", "/ingress/traffic");
  return (answer.body.data as unknown as IngressTraffic).sites.find(({ ingress }) => ingress === "web/shop");
}

/** Of a switch under load, of which no request fails. */
const receipt = /[1-9]\d* requests during the switch, 0 failed, p99 \d+ ms → \d+ ms/;

describe("no request fails", () => {
  test("through a rollout", async () => {
    await shows("200 one");
    const traffic = load();
    await waitFor("requests before the switch", async () => (await lastMinute())?.requests);
    const said = await it.cli(["apply", "-y", "-f", "-"], { stdin: JSON.stringify(app("two")) });
    expect([said.exitCode, said.stderr]).toEqual([0, expect.stringMatching(receipt)]);
    expect((await it.cli(["releases", "web/shop"])).stdout).toMatch(receipt);
    await shows("200 two");
    const { bad, count } = await traffic.end();
    expect(bad).toEqual([]);
    expect(count).toBeGreaterThan(20);
  });

  test("through a release that fails and goes back", async () => {
    const traffic = load();
    await it.apply(
      app("three", {
        probes: { readiness: { http_get: { path: "/none", port: 8080 } } },
        rollout: { progress_deadline: "5s" },
      }),
    );
    await waitFor("the release to fail", async () => {
      const answer = await it.call("GET", "/releases?scope=web&name=shop");
      return JSON.stringify(answer.body).includes('"failed"');
    });
    await it.ready("deployment", "web", "shop");
    const { bad } = await traffic.end();
    expect(bad).toEqual([]);
    expect(await get()).toBe("200 two");
  });

  test("through a slow start without a probe, and the receipt covers the moment", async () => {
    const command = ["sh", "-c", `sleep 3; ${page("slow")}`];
    const traffic = load();
    const slow = app("slow", { command, probes: {}, replicas: 1, rollout: { drain: "0s" } });
    const said = await it.cli(["apply", "-y", "-f", "-"], { stdin: JSON.stringify(slow) });
    expect([said.exitCode, said.stderr]).toEqual([0, expect.stringMatching(receipt)]);
    await shows("200 slow");
    expect((await traffic.end()).bad).toEqual([]);
  });

  test("through a release whose program listens elsewhere: it fails, and says where", async () => {
    const command = ["sh", "-c", page("elsewhere").replace("8080", "127.0.0.1:5000")];
    const traffic = load();
    const elsewhere = app("elsewhere", { command, probes: {}, replicas: 1, rollout: { progress_deadline: "4s" } });
    const said = await it.cli(["apply", "-y", "-f", "-"], { stdin: JSON.stringify(elsewhere) });
    expect(said.exitCode).toBe(1);
    expect(said.stdout + said.stderr).toContain("the program listens on 127.0.0.1:5000; berth needs 0.0.0.0:8080");
    await it.ready("deployment", "web", "shop");
    expect((await traffic.end()).bad).toEqual([]);
    await it.apply(app("two"));
    await shows("200 two");
    await it.ready("deployment", "web", "shop");
  });

  test("through a restart of the app and a scale to one and back", async () => {
    const traffic = load();
    await it.call("POST", "/restart?scope=web&name=shop");
    await it.ready("deployment", "web", "shop");
    for (const replicas of [1, 3, 2]) {
      await it.apply(app("two", { replicas }));
      await it.ready("deployment", "web", "shop");
    }
    expect((await traffic.end()).bad).toEqual([]);
  });

  test("through kill -9 of the server and a new one", async () => {
    const pid = await proxyPid();
    const traffic = load();
    await it.stop("SIGKILL");
    expect(await get()).toBe("200 two");
    await it.start();
    await it.apply(app("four"));
    await it.ready("deployment", "web", "shop");
    await shows("200 four");
    expect((await traffic.end()).bad).toEqual([]);
    expect(await proxyPid()).toBe(pid);
  });
});

test("an ingress whose visitors get errors is named by every command that an operator asks", async () => {
  const cgi = "/www/cgi-bin/fail";
  const fails = `mkdir -p /www/cgi-bin; printf '#!/bin/sh\\necho "Status: 500 Oops"\\necho\\n' > ${cgi}; chmod +x ${cgi}`;
  const command = ["sh", "-c", `${fails}; ${page("bad")}`];
  const bad = { ...app("bad", { command, probes: {}, replicas: 1 }), name: "bad" };
  const visit = () => get("bad.test", "/cgi-bin/fail");
  await it.apply(bad, { ...route({ host: "bad.test" }), name: "bad" });
  await it.ready("deployment", "web", "bad");
  await waitFor("an error of the app", async () => (await visit().catch(String)).startsWith("500"));
  for (let count = 0; count < 5; count += 1) await visit();
  const failing = /\d+ of \d+ requests failed in the last 30 s/;
  await waitFor("the requests to be counted", async () =>
    failing.test((await it.cli(["ingress", "ls", "web/bad"])).stdout),
  );
  for (const words of [
    ["get", "ingress"],
    ["get", "deployment", "web"],
    ["describe", "web/bad"],
    ["why", "web/bad"],
  ]) {
    expect([words, (await it.cli(words)).stdout]).toEqual([words, expect.stringMatching(failing)]);
  }
  const status = await it.cli(["status"]);
  expect([status.exitCode, status.stdout]).toEqual([1, expect.stringMatching(failing)]);
  await it.call("DELETE", "/apply?kind=ingress&scope=web&name=bad");
  await it.call("DELETE", "/apply?kind=deployment&scope=web&name=bad");
});

test("a replica that dies is passed over at once", async () => {
  const traffic = load();
  const [victim] = await it.pods("web", "shop");
  it.docker(["kill", victim?.name ?? ""]);
  await it.ready("deployment", "web", "shop");
  await waitFor("twenty requests", () => traffic.soFar() > 20);
  const { bad } = await traffic.end();
  // What the dead replica was just answering is lost; everything else is served by the other one.
  expect(bad.length).toBeLessThanOrEqual(4);
});

test("a request that finds no replica waits for one", async () => {
  await it.apply(app("four", { replicas: 0 }));
  await waitFor("no replica", async () => (await it.pods("web", "shop")).length === 0);
  const answer = get();
  await it.apply(app("four", { replicas: 1 }));
  expect(await answer).toBe("200 four");
});

test("the access log of an ingress finds the request of an error page by its id", async () => {
  await it.apply(route({ access_log: "all", maintenance: true }));
  await waitFor("maintenance", async () => (await get()).startsWith("503 "));
  // The page may be there a moment before the proxy logs it.
  const found = await waitFor("the entry", async () => {
    const response = await fetch(`http://127.0.0.1:${port}/a?token=secret`, { headers: { host: "shop.test" } });
    await response.text();
    const id = response.headers.get(`${naming(it.prefix).headerPrefix}-Request-Id`) ?? "";
    expect(id).not.toBe("");
    return await waitFor(
      `the entry of ${id}`,
      async () => {
        const { stdout } = await it.cli(["ingress", "logs", "web/shop", "--id", id]);
        return stdout.includes(id) && stdout;
      },
      10_000,
    );
  });
  expect(found).toMatch(/^\S+ \S+ {2}503 {2}GET {2}shop\.test\/a {2}\d+ ms {2}web\/shop {2}127\.0\.0\.1 {2}\S+\n$/);
  await it.apply(route({ access_log: "all" }));
  await shows("200 four");
  const answered = await waitFor("an answer of a replica", async () => {
    const { stdout } = await it.cli(["ingress", "logs", "--status", "2xx", "-o", "json"]);
    const { data } = JSON.parse(stdout) as { data: { entries: AccessEntry[] } };
    return data.entries.find(({ replica }) => replica !== undefined);
  });
  const [pod] = await it.pods("web", "shop");
  expect(answered).toMatchObject({ ingress: "web/shop", replica: pod?.replica_id, host: "shop.test", status: 200 });
  expect(readFileSync(`${it.root}/logs/ingress/access.log`, "utf8")).not.toContain("secret");
});

test("a stop takes the site down, and a reload brings it back", async () => {
  expect((await it.cli(["ingress", "stop"])).exitCode).toBe(5);
  expect((await it.cli(["ingress", "stop", "-y"])).exitCode).toBe(0);
  expect(await get().catch(() => "nobody listens")).toBe("nobody listens");
  expect((await it.cli(["ingress", "status"])).stdout).toContain("proxy    stopped");
  expect(await it.cli(["ingress", "reload"])).toMatchObject({ exitCode: 0 });
  await shows("200 four");
});

test("with an internal certificate the app is served over TLS, and plain requests are sent there", async () => {
  await it.apply(route({ tls: { provider: "internal" } }));
  const root = await it.call("GET", "/certificates/authority");
  const { certificate } = root.body.data as unknown as { certificate: string };
  await waitFor("TLS", async () => {
    const answer = await fetch(`https://127.0.0.1:${tls}/`, {
      headers: { host: "shop.test" },
      tls: { ca: certificate, serverName: "shop.test" },
    }).catch(() => undefined);
    return answer !== undefined && (await answer.text()).trim() === "four";
  });
  const plain = await fetch(`http://127.0.0.1:${port}/x?y=1`, { headers: { host: "shop.test" }, redirect: "manual" });
  expect(plain.status).toBe(308);
  expect(plain.headers.get("location")).toBe(`https://shop.test:${tls}/x?y=1`);
});

test("a CDN that fetches http for visitors of https is told of, as it would redirect them for ever", async () => {
  const headers = { host: "shop.test", "x-forwarded-proto": "https" };
  await waitFor("the warning", async () => {
    const { status } = await fetch(`http://127.0.0.1:${port}/`, { headers, redirect: "manual" });
    expect(status).toBe(308);
    const { stdout } = await it.cli(["ingress", "ls"]);
    return stdout.includes("visitors seem to be redirected for ever: 127.0.0.1 sends their https requests over http");
  });
});

test("while the platform's network is gone, no connection to its containers leaves the machine", async () => {
  await it.apply(app("home"), route());
  await it.ready("deployment", "web", "shop");
  await waitFor("the app", async () => (await get()) === "200 home");
  const network = naming(it.prefix).network;
  const outside = openOutside();
  try {
    // What is not the platform's leaves as before, and is counted.
    await fetch("http://172.31.255.1:8080/", { keepalive: false }).catch(() => undefined);
    const before = outside.segments();
    expect(before).toBeGreaterThan(0);
    let isOver = false;
    let asked = 0;
    // A request that finds no replica waits for one, longer than this test.
    const ask = () =>
      fetch(`http://127.0.0.1:${port}/`, { headers: { host: "shop.test" }, signal: AbortSignal.timeout(300) });
    const visitors = Array.from({ length: 8 }, async () => {
      for (; !isOver; asked++) await ask().catch(() => undefined);
    });
    const former = (await it.pods("web", "shop")).map(({ name }) => name);
    const docker = `docker -H ${it.dockerHost} network`;
    await waitFor("the network to be removed", () => {
      const off = former.map((name) => `${docker} disconnect -f ${network} ${name}`);
      return Bun.spawnSync(["sh", "-c", [...off, `${docker} rm ${network}`].join("; ")]).exitCode === 0;
    });
    const since = asked;
    await waitFor("a hundred requests without the network", () => asked > since + 100);
    isOver = true;
    await Promise.all(visitors);
    expect(outside.segments() - before).toBe(0);
  } finally {
    await outside.close();
  }
});
