import { expect, test } from "bun:test";
import { Client } from "acme-client";
import { generateKeyPairSync } from "node:crypto";
import { attachTransport, send, type TransportOptions } from "../../../../../src/ingress/certs/acme/transport.ts";
import { Failure } from "../../../../../src/base/wire/failure.ts";

const options = (fetch: TransportOptions["fetch"]): TransportOptions => ({
  fetch,
  root: undefined,
  userAgent: "berth/test",
  timeoutMs: 1_000,
  bodyBytesMax: 1_000,
  signal: new AbortController().signal,
  onDate: () => undefined,
});

async function refusal(fetch: TransportOptions["fetch"]): Promise<Failure> {
  const error = await send({ url: "https://ca.test/order", method: "POST", data: {} }, options(fetch)).catch(
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Failure)) throw new Error("the request did not fail as it should", { cause: error });
  return error;
}

const problem = (status: number, type: string, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail: `because of ${type}` }), {
    status,
    headers: { "Content-Type": "application/problem+json", ...headers },
  });

test("the package sends its requests through ours, as long as its version is the one that we know", async () => {
  const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const accountKey = key.export({ type: "pkcs8", format: "pem" }).toString();
  const client = new Client({ directoryUrl: "https://ca.test/directory", accountKey });
  const seen: RequestInit[] = [];
  const fetch: TransportOptions["fetch"] = async (url, init) => {
    seen.push({ ...init, ...{ url } });
    return Response.json({ meta: { termsOfService: "https://ca.test/terms" } });
  };
  attachTransport(client, { ...options(fetch), root: "PEM" });
  expect(await client.getTermsOfServiceUrl()).toBe("https://ca.test/terms");
  expect(seen).toMatchObject([{ method: "GET", redirect: "manual", tls: { ca: "PEM" } }]);
  expect(new Headers(seen[0]?.headers).get("user-agent")).toBe("berth/test");
});

test("refusals carry the words and the pause of the CA", async () => {
  const limited = await refusal(async () => problem(429, "rateLimited", { "Retry-After": "120" }));
  expect(limited).toMatchObject({ code: "too_many", retryAfterSeconds: 120 });
  expect(limited.message).toBe("ca: rate limit: because of rateLimited");
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  const dated = await refusal(async () => problem(503, "x", { "Retry-After": date }));
  expect(dated.code).toBe("unavailable");
  expect(dated.retryAfterSeconds).toBeWithin(3_590, 3_610);
  expect(await refusal(async () => problem(403, "caa"))).toMatchObject({ code: "unprocessable" });
  expect((await refusal(async () => new Response("<html>", { status: 502 }))).message).toBe(
    "ca: refused with status 502",
  );
});

test("what a CA says cannot control a terminal, and has an end", async () => {
  const detail = `\u001b[31m${"x".repeat(600)}\u202e\n`;
  const headers = { "Content-Type": "application/problem+json" };
  const { message } = await refusal(async () => new Response(JSON.stringify({ detail }), { status: 400, headers }));
  expect(message).toMatch(/^ca: \[31mx{490,500}$/);
});

test("a CA that is down, slow, endless or broken is told in words", async () => {
  const down = () => Promise.reject(Object.assign(new Error("x"), { code: "ConnectionRefused" }));
  expect((await refusal(down)).message).toBe("ca: ca.test: connection refused");
  const late = () => Promise.reject(new DOMException("x", "TimeoutError"));
  expect((await refusal(late)).message).toBe("ca: ca.test: no answer within 1 s");
  expect((await refusal(async () => new Response("x".repeat(2_000)))).message).toBe(
    "ca: an answer is longer than 1000 bytes",
  );
  const json = { "Content-Type": "application/json" };
  expect((await refusal(async () => new Response("{", { headers: json }))).message).toEndWith(
    "answers with broken JSON",
  );
});
