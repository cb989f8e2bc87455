import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { deployment, statefulset } from "../support/manifests.ts";
import { addressOf, connectRaw } from "../support/raw-client.ts";
import { type Rig, rig } from "../support/rig.ts";

setDefaultTimeout(60_000);

/** The compiled server at its real sockets: hostile bodies, wrong requests, web pages. */
describe("the orchestration listener", () => {
  let berth: Rig;
  let url: string;
  beforeAll(async () => {
    berth = await rig({ addr: "127.0.0.1:0" });
    const { orchestration } = berth.server.ready.addresses as { orchestration: string[] };
    url = `http://${orchestration.find((address) => !address.startsWith("unix:"))}`;
  });
  afterAll(() => berth?.close());

  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/apply`, { method: "POST", body, headers });
  const stored = async () => (await berth.call("GET", "/apply")).body.data as unknown as unknown[];

  test("answers the same over TCP and over the unix socket", async () => {
    const tcp = await (await fetch(`${url}/health`)).json();
    expect(tcp).toEqual({
      status: "ok",
      version: expect.stringMatching(/^\d+\.\d+\.\d+ \(commit: [0-9a-f]+(-dirty)?\)$/),
    });
    expect((await berth.call("GET", "/health")).body as unknown).toEqual(tcp);
  });

  const refused: [string, unknown, number, string][] = [
    ["a name with dots and slashes", { ...deployment("s", "../x") }, 400, "name"],
    ["a name in upper case", deployment("s", "Web"), 400, "name"],
    ["a scope that is too long", deployment("s".repeat(41), "web"), 400, "scope"],
    ["a count in quotes", deployment("s", "web", { replicas: "3" }), 400, "spec.replicas"],
    ["a billion replicas", deployment("s", "web", { replicas: 1e9 }), 400, "spec.replicas"],
    ["a port that cannot be", deployment("s", "web", { ports: ["99999"] }), 400, "spec.ports[0]"],
    ["an unknown field", deployment("s", "web", { replica: 3 }), 400, "spec.replica"],
    ["an unknown kind", { kind: "deploy", scope: "s", name: "web", spec: {} }, 400, "kind"],
    ["one identity twice", [deployment("s", "web"), deployment("s", "web")], 400, "deployment/s/web"],
    ["a name that another pair has", [deployment("a-b", "c"), deployment("a", "b-c")], 409, "name"],
    [
      "one host and path twice",
      ["x", "y"].map((name) => ({
        kind: "ingress",
        scope: "s",
        name,
        spec: { host: "a.test", service: "web", port: 80 },
      })),
      400,
      "spec.host",
    ],
    ["nothing", "", 400, "body"],
    ["no manifest", [], 400, "manifest"],
    ["broken JSON", '{"kind": "deployment",}', 400, "line 1 column 23"],
    ["a depth of 10,000", `${"[".repeat(10_000)}${"]".repeat(10_000)}`, 400, "deep"],
    [
      "an own __proto__",
      '{"kind":"deployment","scope":"s","name":"web","spec":{"__proto__":{"x":1}}}',
      400,
      "__proto__",
    ],
  ];
  for (const [what, body, status, text] of refused) {
    test(`${what}: ${status}, the fault is named, nothing is written`, async () => {
      const answer = await post(typeof body === "string" ? body : JSON.stringify(body));
      const envelope = (await answer.json()) as { status: string; error: string };
      expect({ status: answer.status, is: envelope.status }).toEqual({ status, is: "error" });
      expect(envelope.error).toContain(text);
      expect(await stored()).toEqual([]);
    });
  }

  test("the 1 MiB limit is exact: with a length, in chunks, over both sockets", async () => {
    const limit = 1024 * 1024;
    const padded = (size: number) => {
      const text = JSON.stringify({ kind: "asset", scope: "s", name: "pad", spec: { files: { pad: "" } } });
      return text.replace('"pad":""', `"pad":"${"x".repeat(size - text.length)}"`);
    };
    const fits = await post(padded(limit));
    expect(((await fits.json()) as { error?: string }).error).toBeUndefined();
    const over = await post(padded(limit + 1));
    expect(over.status).toBe(413);
    expect(await over.json()).toMatchObject({ status: "error", error: expect.stringContaining("1048576") });
    const unix = await berth.call("POST", "/apply", padded(limit + 1));
    expect(unix.status).toBe(413);
    const chunks = new ReadableStream({
      start(controller) {
        for (let index = 0; index < 40; index++) controller.enqueue(new Uint8Array(32 * 1024).fill(32));
        controller.close();
      },
    });
    const chunked = await fetch(`${url}/apply`, { method: "POST", body: chunks });
    expect(chunked.status).toBe(413);
    await berth.call("DELETE", "/apply?kind=asset&scope=s&name=pad");
  });

  test("an unknown path is 404, a wrong method 405 with what is allowed", async () => {
    const missing = await fetch(`${url}/nope`);
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({ status: "error" });
    const wrong = await fetch(`${url}/apply`, { method: "PATCH" });
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get("allow")?.split(/, */).sort()).toEqual(expect.arrayContaining(["DELETE", "GET", "POST"]));
    expect(await wrong.json()).toMatchObject({ status: "error" });
  });

  test("a switch that is neither true nor false is 400", async () => {
    const answer = await fetch(`${url}/apply?dry_run=perhaps`, { method: "POST", body: "[]" });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: string }).error).toContain("perhaps");
  });

  test("web pages are kept out: foreign Host, Origin and Sec-Fetch-Site", async () => {
    const body = JSON.stringify(deployment("s", "web"));
    const pages: Record<string, string>[] = [
      { Host: "evil.test" },
      { Host: "127.0.0.1.evil.test:8686" },
      { Origin: "http://evil.test" },
      { Origin: "null" },
      { "Sec-Fetch-Site": "cross-site" },
      { "Sec-Fetch-Site": "same-site" },
    ];
    for (const headers of pages) {
      const answer = await post(body, headers);
      expect({ headers, status: answer.status }).toEqual({ headers, status: 403 });
      expect(await answer.json()).toMatchObject({ status: "error" });
    }
    const read = await fetch(`${url}/config?scope=s`, { headers: { Host: "rebound.test" } });
    expect(read.status).toBe(403);
    expect(read.headers.get("access-control-allow-origin")).toBeNull();
    expect(await stored()).toEqual([]);
    const { host } = new URL(url);
    const ours: Record<string, string>[] = [
      { Host: "localhost" },
      { Origin: `http://${host}` },
      { "Sec-Fetch-Site": "none" },
    ];
    for (const headers of ours) {
      expect((await fetch(`${url}/health`, { headers })).status).toBe(200);
    }
  });

  test("bytes that are no HTTP are refused, and the next connection is well", async () => {
    for (const bytes of [
      "\u0016\u0003\u0001\u0002\u0000\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      "POST /apply HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    ]) {
      const client = await connectRaw(addressOf(url.replace("http://", "")));
      await client.send(bytes);
      const answer = await client.all();
      expect(answer).toMatch(/^HTTP\/1\.1 (400|505) /);
      expect(answer).toContain('{"status":"error"');
    }
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  test("every answer of a session with a running app is JSON in the envelope", async () => {
    await berth.apply(deployment("s", "web"), statefulset("s", "db"));
    await berth.ready("deployment", "s", "web");
    const [pod] = await berth.pods("s", "web");
    for (const [method, path, status] of [
      ["GET", `/pods/${pod?.name}/ready`, 200],
      ["GET", "/pods/none.x/ready", 404],
      ["GET", "/pods/none.x", 404],
      ["GET", "/describe?kind=deployment&name=web", 200],
      ["GET", "/describe?kind=deployment", 400],
      ["GET", "/describe?kind=nope&name=web", 400],
      ["DELETE", "/resource?scope=s&name=db&ordinal=x", 400],
      ["DELETE", "/resource?scope=s&name=web&ordinal=0", 404],
      ["DELETE", "/apply?kind=job&scope=s&name=none", 404],
      ["POST", "/restart?name=none", 404],
      ["GET", "/config", 400],
      ["GET", "/config?scope=s&key=NOPE", 404],
      ["GET", "/operations/none", 404],
    ] as const) {
      const answer = await berth.call(method, path);
      expect({ path, status: answer.status, envelope: answer.body.status }).toEqual({
        path,
        status,
        envelope: status === 200 ? "ok" : "error",
      });
    }
  });
});
