import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { jwtVerify } from "jose";
import { verifyToken } from "../../src/api/identity/tokens.ts";
import { identityLimits } from "../../src/config.ts";
import { claimsOf } from "../../src/core/identity/claims.ts";
import { jsonAnswer } from "../../src/http/identity/answers.ts";
import { createIdentityApp } from "../../src/http/identity/app.ts";
import { startListener } from "../../src/http/identity/listener.ts";
import { mountApi } from "../../src/http/identity/mount.ts";
import type { IdentityPlane } from "../../src/http/identity/plane.ts";
import { signerOf } from "../../src/identity/signing.ts";
import { createLog } from "../../src/lib/log.ts";
import { type IdentityWorld, identityWorld, type Tenant } from "../support/identity.ts";
import type { LoadOrder } from "./load.ts";
import { median } from "./median.ts";
import type { BenchRow } from "./row.ts";

const rounds = 7;
const roundMs = 1_000;
const tokensUsed = 10_000;
const log = createLog(() => {}, "info");

/**
 * `POST /tokens/verify` with its look-ups on disk, against a bare Elysia route with the same body schema and a fixed
 * answer of the same length, and against itself with jose in place of our own HMAC; then the verification alone.
 */
export async function run(): Promise<BenchRow[]> {
  const world = identityWorld();
  try {
    const tenant = await world.tenant();
    const tokens = await fill(world, tenant);
    return [...(await overHttp(world, tenant, tokens)), await alone(world, tenant, tokens)];
  } finally {
    world.close();
  }
}

/** Twice as many users as tokens, each token of another user with a session. */
async function fill(world: IdentityWorld, tenant: Tenant): Promise<string[]> {
  const tokens: string[] = [];
  const entry = tenant.entry();
  const now = world.clock.now();
  for (let done = 0; done < tokensUsed * 2; done += 1_000) {
    const made = Array.from({ length: 1_000 }, async (_, at) => {
      const user = await world.user(tenant, { email: `bench${done + at}@example.test`, name: `Alice Silva ${at}` });
      if (done >= tokensUsed) return;
      const session = await world.session(tenant, user);
      const { instance, settings } = entry;
      const input = { instance, settings, user, session, jti: crypto.randomUUID(), now, lifetimeMs: 3_600_000 };
      tokens.push(signerOf(entry).sign(claimsOf(input), "JWT"));
    });
    await Promise.all(made);
  }
  return tokens;
}

async function overHttp(world: IdentityWorld, tenant: Tenant, tokens: string[]): Promise<BenchRow[]> {
  const requests = tokens.map((token) => requestOf(tenant, token));
  const { identity } = world.running;
  const proxies = { peerOf: () => "127.0.0.1", trusted: [] };
  const ours = createIdentityApp({ identity, log, limits: identityLimits, proxies });
  const sides = {
    ours: served(ours.fetch, requests),
    bare: served(bareRoute(), requests),
    jose: served(joseRoute(world, tenant), requests),
  };
  const figures: { ours: number; bare: number; jose: number }[] = [];
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    const figure = { bare: await sides.bare.load(), ours: await sides.ours.load(), jose: await sides.jose.load() };
    if (round > 0) figures.push(figure);
  }
  await Promise.all(Object.values(sides).map(({ stop }) => stop()));
  const row = (against: "bare" | "jose", wanted: string, text: string): BenchRow => ({
    name: `POST /tokens/verify against ${text}`,
    value: Math.round(median(figures.map((figure) => figure.ours))),
    unit: "requests/s",
    baseline: Math.round(median(figures.map((figure) => figure[against]))),
    ratio: median(figures.map((figure) => figure.ours / figure[against])),
    wanted,
  });
  return [row("bare", ">= 0.55", "a bare route"), row("jose", ">= 1.4", "itself with jose")];
}

function requestOf({ secretKey }: Tenant, token: string): string {
  const body = JSON.stringify({ token });
  const head = `POST /api/v1/tokens/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
  return `${head}X-Service-Secret-Key: ${secretKey}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

const fixed = {
  id: crypto.randomUUID(),
  resource: "token",
  data: {
    valid: true,
    email: "bench1234@example.test",
    name: "Alice Silva 123",
    avatar_url: "https://example.test/123.png",
    provider: "google",
    session: {
      status: "active",
      session_id: `svc_session_${crypto.randomUUID()}`,
      logged_in_at: "2026-01-01T00:00:00.000Z",
      last_activity_at: "2026-01-01T00:00:00.000Z",
    },
  },
};

function bareRoute() {
  const body = Type.Object({ token: Type.String() });
  return new Elysia({ handler: { standardHostname: false } }).post("/api/v1/tokens/verify", () => fixed, { body })
    .fetch;
}

/** The same route, key look-up, user look-up and session look-up. */
function joseRoute(world: IdentityWorld, tenant: Tenant) {
  const { identity } = world.running;
  const { keys } = tenant.entry();
  const secret = new TextEncoder().encode(keys[0]?.value);
  const app = new Elysia({ normalize: false, strictPath: true, handler: { standardHostname: false } });
  const failed = () => new Response(null, { status: 500 });
  const plane: IdentityPlane = { app, identity, limits: identityLimits, log, mapError: failed, clientIp: () => "" };
  mountApi(plane, verifyToken, {
    key: "secret",
    async answer({ caller, body: { token } }) {
      const { payload } = await jwtVerify(String(token), secret, {
        algorithms: ["HS256"],
        currentDate: new Date(world.clock.now()),
      });
      const { sub = "", exp = 0, jti } = payload;
      const read = { sub, exp, jti, sessionId: String(payload.session_id), provider: String(payload.provider) };
      const found = identity.tokens.lookUp(caller.entry, { ...read, type: "JWT" });
      return found.valid ? jsonAnswer(200, found.resource) : failed();
    },
  });
  return app.fetch;
}

function served(fetch: (request: Request) => Response | Promise<Response>, requests: string[]) {
  const address = { hostname: "127.0.0.1", port: 0 };
  const listener = startListener({ address, handler: () => fetch, limits: identityLimits, log });
  const port = Number(listener.address.split(":")[1]);
  const order: LoadOrder = { hostname: "127.0.0.1", port, path: "/", requests, connections: 32, durationMs: roundMs };
  const worker = new Worker(new URL("./load.ts", import.meta.url).href);
  return {
    load: () =>
      new Promise<number>((resolve) => {
        worker.onmessage = ({ data }: MessageEvent<number>) => resolve(data);
        worker.postMessage(order);
      }),
    async stop() {
      worker.terminate();
      await listener.stop(0);
    },
  };
}

/** Without HTTP and look-ups: signature, header and claims. */
async function alone(world: IdentityWorld, tenant: Tenant, tokens: string[]): Promise<BenchRow> {
  const entry = tenant.entry();
  const secret = new TextEncoder().encode(entry.keys[0]?.value);
  const options = { algorithms: ["HS256"], currentDate: new Date(world.clock.now()) };
  const ours = () => {
    for (const token of tokens) {
      if (typeof world.running.identity.tokens.read(entry, token) === "string") throw new Error("refused");
    }
  };
  const jose = async () => {
    for (const token of tokens) await jwtVerify(token, secret, options);
  };
  const figures: { ours: number; jose: number }[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const figure = { ours: await rate(tokens, async () => ours()), jose: await rate(tokens, jose) };
    if (round > 0) figures.push(figure);
  }
  return {
    name: "verification alone against jose",
    value: Math.round(median(figures.map((figure) => figure.ours))),
    unit: "tokens/s",
    baseline: Math.round(median(figures.map((figure) => figure.jose))),
    ratio: median(figures.map((figure) => figure.ours / figure.jose)),
    wanted: ">= 5",
  };
}

async function rate(tokens: string[], work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return (tokens.length * 1_000) / (performance.now() - begun);
}

if (import.meta.main) console.log(JSON.stringify(await run(), null, 2));
