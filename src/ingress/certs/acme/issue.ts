import { generateKeyPairSync, randomBytes } from "node:crypto";
import type { SteadyClock } from "../../../base/words/clock.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { accountKey, type AcmeIssuer } from "../../core/certificates/wanted.ts";
import type { CertificateStore } from "../store.ts";
import { ariId } from "./ari.ts";
import type { DnsAnswers } from "./dns.ts";
import { orderCertificate, type OrderOptions } from "./order.ts";
import { type ChallengeAnswers, checkReachable } from "./reachable.ts";
import { attachTransport, type Fetch, oneLine, problemTypeOf, send, type TransportOptions } from "./transport.ts";
import { Client } from "acme-client";

export interface AcmeLimits {
  /** Time limit of one request to the CA. */
  requestMs: number;
  bodyBytesMax: number;
  /** How long the CA may take to check a challenge, and to issue. */
  answerMs: number;
  /** Time limit of one look at port 80 of a name. */
  reachMs: number;
  /** How far the clock of the CA may be from ours. */
  clockSkewMsMax: number;
}

/** What the machine around us offers to ACME. */
export interface AcmeWorld {
  store: CertificateStore;
  clock: SteadyClock;
  /** To a CA. */
  fetch: Fetch;
  /** To an address that a name led to. */
  fetchPinned: Fetch;
  challenge: ChallengeAnswers;
  /** TXT records through a plugin. Fails where the plugin cannot do it. */
  dns: (plugin: string) => DnsAnswers;
  resolve: (name: string) => Promise<string[]>;
  addresses: () => string[];
  userAgent: string;
  limits: AcmeLimits;
}

export interface AcmeTask {
  name: string;
  issuer: AcmeIssuer;
  /** Chain of the certificate that is renewed. */
  previous: string | undefined;
  /** Called just before an order is placed; throws when the budget is used up. */
  spend: () => Promise<void>;
  signal: AbortSignal;
}

/** Issues one certificate by ACME. Nothing is ordered before all that can be checked here is in order. */
export async function issueByAcme(world: AcmeWorld, task: AcmeTask): Promise<{ certificate: string; key: string }> {
  const { name, issuer, signal } = task;
  const solver = solverOf(world, task);
  const clocks: number[] = [];
  const transport = transportOf(world, task, (at) => clocks.push(at - world.clock.now()));
  const { data } = await send({ url: issuer.directory, method: "GET" }, transport);
  checkClock(clocks, world);
  if (solver.kind === "http" && !issuer.skipChecks) await reach(world, task);
  const givesAdvice = typeof data === "object" && data !== null && "renewalInfo" in data;
  const replaces = givesAdvice && task.previous !== undefined ? ariId(task.previous) : undefined;
  const order = withAccount({ issuer, store: world.store, transport }, async (client) => {
    await task.spend();
    const { clock, limits } = world;
    return orderCertificate(client, { name, solver, replaces, clock, answerMs: limits.answerMs, signal });
  });
  return order.catch((error: unknown) => {
    throw ofCa(error);
  });
}

/** What the package does not understand of a CA, it throws as plain errors with a text. */
function ofCa(error: unknown): unknown {
  const isPlain = error instanceof Error && error.name === "Error" && !("code" in error);
  return isPlain ? new Failure("unavailable", `ca: ${oneLine(error.message)}`, { cause: error }) : error;
}

export function transportOf(
  { fetch, userAgent, limits }: AcmeWorld,
  { issuer, signal }: { issuer: AcmeIssuer; signal: AbortSignal },
  onDate: (at: number) => void = () => undefined,
): TransportOptions {
  const { requestMs: timeoutMs, bodyBytesMax } = limits;
  return { fetch, root: issuer.root, userAgent, timeoutMs, bodyBytesMax, signal, onDate };
}

function solverOf({ dns, challenge }: AcmeWorld, { name, issuer }: AcmeTask): OrderOptions["solver"] {
  if (issuer.dnsPlugin !== undefined) return { kind: "dns", dns: dns(issuer.dnsPlugin) };
  if (!name.startsWith("*.")) return { kind: "http", challenge };
  throw new Failure("unprocessable", `tls: ${name} is a wildcard, which needs DNS-01. Set tls.dns to a plugin`);
}

/** A wrong clock makes certificates look expired that are not: nothing is ordered until it is right. */
function checkClock(differences: readonly number[], { clock, limits }: AcmeWorld): void {
  const difference = differences[0] ?? 0;
  if (Math.abs(difference) <= limits.clockSkewMsMax) return;
  const [ours, theirs] = [clock.now(), clock.now() + difference].map((at) => new Date(at).toISOString());
  throw new Failure("unprocessable", `clock: this server says ${ours}, the CA says ${theirs}. Set the clock right`);
}

function reach(world: AcmeWorld, { name, signal }: AcmeTask): Promise<void> {
  const { challenge, resolve, addresses, fetchPinned: fetch, limits } = world;
  const token = `berth-${randomBytes(16).toString("base64url")}`;
  return checkReachable({ name, challenge, resolve, addresses, fetch, timeoutMs: limits.reachMs, token, signal });
}

interface StoredAccount {
  /** PEM. */
  key: string;
  url: string;
}

interface AccountOptions {
  issuer: AcmeIssuer;
  store: CertificateStore;
  transport: TransportOptions;
}

/** Client of a CA for a stored or new account. The terms of the CA are accepted on behalf of the operator. */
async function openAccount(options: AccountOptions): Promise<Client> {
  const id = accountKey(options.issuer);
  const stored = options.store.get<StoredAccount>("account", id);
  if (stored !== undefined) return clientOf(options, stored.key, stored.url);
  const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const pem = key.export({ type: "pkcs8", format: "pem" }).toString();
  const client = clientOf(options, pem);
  const { email } = options.issuer;
  await client.createAccount({
    termsOfServiceAgreed: true,
    ...(email === undefined ? {} : { contact: [`mailto:${email}`] }),
  });
  await options.store.put<StoredAccount>("account", id, { key: pem, url: client.getAccountUrl() });
  return client;
}

function clientOf({ issuer, transport }: AccountOptions, accountKeyPem: string, accountUrl?: string): Client {
  const { directory, eab } = issuer;
  const client = new Client({
    directoryUrl: directory,
    accountKey: accountKeyPem,
    ...(accountUrl === undefined ? {} : { accountUrl }),
    ...(eab === undefined ? {} : { externalAccountBinding: { kid: eab.keyId, hmacKey: eab.key } }),
  });
  attachTransport(client, transport);
  return client;
}

/** Runs `use` with the account; with a new one when the CA has forgotten the stored one. */
async function withAccount<T>(options: AccountOptions, use: (client: Client) => Promise<T>): Promise<T> {
  try {
    return await use(await openAccount(options));
  } catch (error) {
    if (problemTypeOf(error) !== "accountDoesNotExist") throw error;
    await options.store.remove("account", accountKey(options.issuer));
    return await use(await openAccount(options));
  }
}
