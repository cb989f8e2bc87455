import { type Authorization, type Client, crypto as acmeCrypto, type Order } from "acme-client";
import { generateKeyPairSync } from "node:crypto";
import type { Clock } from "../../../base/words/clock.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { ChallengeAnswers } from "./reachable.ts";
import { type DnsAnswers, setDnsRecord } from "./dns.ts";
import { oneLine, problemTypeOf } from "./transport.ts";

export interface OrderOptions {
  name: string;
  /** How the name is proved: HTTP-01 or DNS-01. */
  solver: { kind: "http"; challenge: ChallengeAnswers } | { kind: "dns"; dns: DnsAnswers };
  /** `ariId` of the certificate that this one replaces, where the CA gives advice about renewals. */
  replaces: string | undefined;
  clock: Clock;
  /** How long the CA may take to check the challenge, and then to issue. */
  answerMs: number;
  signal: AbortSignal;
}

type AcmeChallenge = Authorization["challenges"][number];

/** Orders a certificate with a new key (P-256), proves the name and fetches the chain. Fails with a text for people. */
export async function orderCertificate(
  client: Client,
  options: OrderOptions,
): Promise<{ certificate: string; key: string }> {
  const placed = await placeOrder(client, options);
  for (const authorization of await client.getAuthorizations(placed)) {
    if (authorization.status !== "valid") await prove({ client, placed, authorization }, options);
  }
  const ready = await poll(options, "the CA has not accepted the order", async () => {
    const order = await client.getOrder(placed);
    return order.status === "pending" ? undefined : order;
  });
  if (ready.status === "invalid") throw new Failure("unprocessable", `ca: the order failed: ${orderError(ready)}`);
  const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const pem = key.export({ type: "pkcs8", format: "pem" }).toString();
  if (ready.status === "ready") {
    const [, request] = await acmeCrypto.createCsr({ altNames: [options.name] }, pem);
    await client.finalizeOrder(ready, request);
  }
  const issued = await poll(options, "the CA has not issued the certificate", async () => {
    const order = await client.getOrder(placed);
    if (order.status === "invalid") throw new Failure("unprocessable", `ca: the order failed: ${orderError(order)}`);
    return order.status === "valid" ? order : undefined;
  });
  return { certificate: await client.getCertificate(issued), key: pem };
}

/** CAs that give advice count a renewal as such when it names what it replaces; some reject the second such order. */
async function placeOrder(client: Client, { name, replaces }: OrderOptions) {
  const order = { identifiers: [{ type: "dns", value: name }] };
  if (replaces === undefined) return client.createOrder(order);
  try {
    return await client.createOrder({ ...order, ...{ replaces } });
  } catch (error) {
    if (!["alreadyReplaced", "malformed", "conflict"].includes(problemTypeOf(error) ?? "")) throw error;
    return client.createOrder(order);
  }
}

async function prove(
  { client, placed, authorization }: { client: Client; placed: Order; authorization: Authorization },
  options: OrderOptions,
): Promise<void> {
  const type = options.solver.kind === "http" ? "http-01" : "dns-01";
  const challenge = authorization.challenges.find((one) => one.type === type);
  if (challenge === undefined) {
    const offered = authorization.challenges.map((one) => one.type).join(", ");
    throw new Failure("unprocessable", `ca: it does not offer ${type} for ${options.name}, only ${offered}`);
  }
  const clear = await answer(client, { authorization, challenge }, options);
  try {
    await client.completeChallenge(challenge);
    await poll(options, `the CA has not checked ${type} of ${options.name}`, async () => {
      const state = (await client.getAuthorizations(placed)).find(({ url }) => url === authorization.url);
      if (state?.status === "invalid" || hasGivenUp(state, type)) throw refused(state, options.name);
      return state?.status === "valid" ? state : undefined;
    });
  } finally {
    await clear();
  }
}

/** Puts the answer to a challenge in its place; returns how to take it away again. */
async function answer(
  client: Client,
  { authorization, challenge }: { authorization: Authorization; challenge: AcmeChallenge },
  { solver, clock, signal }: OrderOptions,
): Promise<() => Promise<void>> {
  const text = await client.getChallengeKeyAuthorization(challenge);
  if (solver.kind === "http") {
    const { token } = challenge;
    // The token comes from the CA and goes to the proxy: RFC 8555, section 8.3 leaves it no other characters.
    if (!/^[A-Za-z0-9_-]{1,200}$/.test(token)) throw new Failure("unprocessable", "ca: the token is malformed");
    await solver.challenge.set(token, text);
    return () => solver.challenge.clear(token);
  }
  return setDnsRecord(solver.dns, { name: `_acme-challenge.${authorization.identifier.value}`, text, clock, signal });
}

/** Some CAs leave a failed challenge pending, with its error, for the client to ask again. */
function hasGivenUp(authorization: Authorization | undefined, type: string): boolean {
  const challenge = authorization?.challenges.find((one) => one.type === type);
  return challenge?.status === "pending" && challenge.error !== undefined;
}

function refused(authorization: Authorization | undefined, name: string): Failure {
  const error = (authorization?.challenges ?? []).map((one) => one.error).find((one) => one !== undefined);
  const detail = typeof error === "object" && error !== null && "detail" in error ? oneLine(String(error.detail)) : "";
  return new Failure("unprocessable", `ca: ${name} was not proved: ${detail || "no reason given"}`);
}

function orderError(order: { error?: unknown }): string {
  const { error } = order;
  const detail = typeof error === "object" && error !== null && "detail" in error ? oneLine(String(error.detail)) : "";
  return detail || "no reason given";
}

const pollFirstMs = 500;
const pollMaxMs = 5_000;

async function poll<T>(
  { clock, answerMs, signal }: OrderOptions,
  late: string,
  look: () => Promise<T | undefined>,
): Promise<T> {
  let pauseMs = pollFirstMs;
  for (let waitedMs = 0; waitedMs <= answerMs && !signal.aborted; waitedMs += pauseMs) {
    const found = await look();
    if (found !== undefined) return found;
    pauseMs = Math.min(pollMaxMs, pauseMs * 2);
    await clock.sleep(pauseMs, signal);
  }
  throw new Failure("timeout", signal.aborted ? "the server is stopping" : `ca: ${late} within ${answerMs / 1_000} s`);
}
