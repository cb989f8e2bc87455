import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { jwtVerify } from "jose";
import { verifyToken } from "../../src/identity/api/tokens.ts";
import { identityLimits } from "../../src/config/config.ts";
import { claimsOf } from "../../src/identity/core/claims.ts";
import { jsonAnswer } from "../../src/identity/http/answers.ts";
import { createIdentityApp } from "../../src/identity/http/app.ts";
import { listenerRefusals } from "../../src/identity/http/answers.ts";
import { startListener } from "../../src/base/http/listener.ts";
import { mountApi } from "../../src/identity/http/mount.ts";
import { signerOf } from "../../src/identity/service/signing.ts";
import { createLog } from "../../src/base/words/log.ts";
import { type IdentityWorld, identityWorld, type Tenant } from "../support/identity.ts";
import { mustBe } from "./proof.ts";

/**
 * One side of a comparison as a process of its own, so that none shares the heap or the compiled code of another:
 * `bun test/bench/identity-server.ts bare|ours|jose`. Prints one line of JSON, then serves until its input ends.
 */
export interface ServerLine {
  port: number;
  /** Whole requests, each with the token of another user. */
  requests: string[];
}

const tokensUsed = 10_000;
const log = createLog(() => {}, "info");

/** Twice as many users as tokens, each token of another user with a session. */
export async function fillWithTokens(world: IdentityWorld, tenant: Tenant): Promise<string[]> {
  const tokens: string[] = [];
  const entry = tenant.entry();
  const { instance, settings } = entry;
  const now = world.clock.now();
  for (let done = 0; done < tokensUsed * 2; done += 1_000) {
    const made = Array.from({ length: 1_000 }, async (_, at) => {
      const user = await world.user(tenant, { email: `bench${done + at}@example.test`, name: `Alice Silva ${at}` });
      if (done >= tokensUsed) return;
      const session = await world.session(tenant, user);
      const input = { instance, settings, user, session, jti: crypto.randomUUID(), now, lifetimeMs: 3_600_000 };
      tokens.push(signerOf(entry).sign(claimsOf(input), "JWT"));
    });
    await Promise.all(made);
  }
  return tokens;
}

function requestOf({ secretKey }: Tenant, token: string): string {
  const body = JSON.stringify({ token });
  const head = `POST /api/v1/tokens/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
  return `${head}X-Service-Secret-Key: ${secretKey}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

type Serve = (
  world: IdentityWorld,
  tenant: Tenant,
  token: string,
) => { fetch: (request: Request) => Promise<Response> | Response };

const sides: Record<string, Serve> = {
  ours: ({ running }) =>
    createIdentityApp({
      identity: running.identity,
      log,
      limits: identityLimits,
      proxies: { peerOf: () => "127.0.0.1", trusted: [] },
    }),
  /** The same body schema, and always the same answer. */
  bare(world, tenant, token) {
    const found = world.running.identity.tokens.verify(tenant.entry(), token);
    if (!found.valid) throw new Error(found.error);
    const body = Type.Object({ token: Type.String() });
    const app = new Elysia({ handler: { standardHostname: false } });
    return app.post("/api/v1/tokens/verify", () => found.resource, { body });
  },
  /** The same route, the same look-ups of key, user and session. */
  jose(world, tenant) {
    const { identity } = world.running;
    const secret = new TextEncoder().encode(tenant.secretKey);
    const options = { algorithms: ["HS256"], currentDate: new Date(world.clock.now()) };
    const app = new Elysia({ normalize: false, strictPath: true, handler: { standardHostname: false } });
    const mapError = () => new Response(null, { status: 500 });
    const plane = { app, identity, limits: identityLimits, log, keys: new Map(), mapError, clientIp: () => "" };
    mountApi(plane, verifyToken, {
      key: "secret",
      async answer({ caller, body: { token } }) {
        const { payload } = await jwtVerify(String(token), secret, options);
        const { sub = "", exp = 0, jti } = payload;
        const read = { sub, exp, jti, sessionId: String(payload.session_id), provider: String(payload.provider) };
        const found = identity.tokens.lookUp(caller.entry, { ...read, type: "JWT" });
        return found.valid ? jsonAnswer(200, found.resource) : mapError();
      },
    });
    return app;
  },
};

/** All sides answer the same, or what is compared is not the same work. */
async function answersAs(
  url: string,
  { world, tenant, token }: { world: IdentityWorld; tenant: Tenant; token: string },
) {
  const headers = { "Content-Type": "application/json", "X-Service-Secret-Key": tenant.secretKey };
  const answer = await fetch(`${url}/api/v1/tokens/verify`, {
    method: "POST",
    headers,
    body: JSON.stringify({ token }),
  });
  const found = world.running.identity.tokens.verify(tenant.entry(), token);
  if (!found.valid) throw new Error(found.error);
  mustBe("what a token is answered", await answer.json(), JSON.parse(JSON.stringify(found.resource)));
}

if (import.meta.main) {
  const serve = sides[process.argv[2] ?? ""];
  if (serve === undefined) throw new Error(`say which: ${Object.keys(sides).join(", ")}`);
  const world = identityWorld();
  const tenant = await world.tenant();
  const tokens = await fillWithTokens(world, tenant);
  const { fetch } = serve(world, tenant, tokens[0] ?? "");
  const address = { hostname: "127.0.0.1", port: 0 };
  const listener = startListener({
    address,
    handler: () => fetch,
    refusals: listenerRefusals,
    limits: identityLimits,
    log,
  });
  const line: ServerLine = {
    port: Number(listener.address.split(":")[1]),
    requests: tokens.map((token) => requestOf(tenant, token)),
  };
  await answersAs(`http://${listener.address}`, { world, tenant, token: tokens[0] ?? "" });
  process.stdout.write(`${JSON.stringify(line)}\n`);
  await Bun.stdin.text();
  await listener.stop(0);
  world.close();
  process.exit(0);
}
