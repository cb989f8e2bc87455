import { isIP } from "node:net";
import { failureText } from "../../../base/deliver/failure-text.ts";
import { pinnedUrl } from "../../../base/deliver/pinned.ts";
import { isPublicIpv4, isPublicIpv6 } from "../../../base/deliver/public-address.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { Fetch } from "./transport.ts";

/** Answers of port 80 to a CA: `/.well-known/acme-challenge/<token>` gives the text. */
export interface ChallengeAnswers {
  /** Resolves once the answer is live. */
  set(token: string, text: string): Promise<void>;
  clear(token: string): Promise<void>;
}

export interface ReachOptions {
  name: string;
  challenge: ChallengeAnswers;
  /** Rejects when the name does not exist. */
  resolve: (name: string) => Promise<string[]>;
  /** Addresses of this machine, as far as it knows them. */
  addresses: () => string[];
  fetch: Fetch;
  timeoutMs: number;
  /** Made of `[A-Za-z0-9_-]`, hard to guess. */
  token: string;
  signal: AbortSignal;
}

/** Addresses of one name that are looked at. */
const addressesMax = 4;

interface Look {
  address: string;
  /** Our server answers, another server answers, none answers. */
  kind: "ours" | "foreign" | "silent";
  text: string;
}

/**
 * Looks, as the CA will, whether the name leads to port 80 of this server. Fails `unprocessable` with what is wrong in
 * words. Says nothing where it cannot know: behind a router that does not lead back to this machine.
 */
export async function checkReachable(options: ReachOptions): Promise<void> {
  const { challenge, token } = options;
  const found = await resolved(options);
  const text = `${token}.${token}`;
  await challenge.set(token, text);
  try {
    const looks = await Promise.all(found.map((address) => look({ ...options, address, text })));
    const problem = problemOf(options, looks);
    if (problem !== undefined) throw new Failure("unprocessable", problem);
  } finally {
    await challenge.clear(token);
  }
}

async function resolved({ name, resolve, addresses }: ReachOptions): Promise<string[]> {
  const add = `Add a DNS record that points to this server${serverText(addresses())}`;
  try {
    const found = await resolve(name);
    if (found.length > 0) return found.slice(0, addressesMax);
  } catch (error) {
    throw new Failure("unprocessable", `dns: ${name} does not resolve. ${add}`, { cause: error });
  }
  throw new Failure("unprocessable", `dns: ${name} has no address. ${add}`);
}

async function look(options: ReachOptions & { address: string; text: string }): Promise<Look> {
  const { name, address, token, text, timeoutMs } = options;
  const url = new URL(`http://${name}/.well-known/acme-challenge/${token}`);
  try {
    const response = await options.fetch(pinnedUrl(url, address), {
      headers: { Host: name },
      redirect: "manual",
      keepalive: false,
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(timeoutMs)]),
    });
    const body = response.status === 200 && (await startsWith(response, text));
    if (body) return { address, kind: "ours", text };
    return { address, kind: "foreign", text: `answers with status ${response.status}, not as this server does` };
  } catch (error) {
    return { address, kind: "silent", text: failureText(error, timeoutMs) };
  }
}

/** Reads no more than it compares. */
async function startsWith(response: Response, text: string): Promise<boolean> {
  const reader = response.body?.getReader();
  let seen = "";
  while (reader !== undefined && seen.length < text.length) {
    const { value, done } = await reader.read();
    if (done) break;
    seen += Buffer.from(value).toString("latin1");
  }
  await reader?.cancel();
  return seen.startsWith(text);
}

function problemOf({ name, addresses }: ReachOptions, looks: Look[]): string | undefined {
  const own = addresses();
  const foreign = looks.find(({ kind }) => kind === "foreign");
  if (foreign !== undefined && own.includes(foreign.address)) {
    return `port 80: http://${name} at ${foreign.address} ${foreign.text}. Another program may hold the port`;
  }
  if (foreign !== undefined) return leadsElsewhere(name, foreign, own);
  const silent = looks.find(({ kind }) => kind === "silent");
  if (silent === undefined || looks.some(({ kind }) => kind === "ours")) return undefined;
  if (own.includes(silent.address)) {
    return `port 80: http://${name} at ${silent.address}: ${silent.text}. Open port 80 in the firewall`;
  }
  // Behind a router the public address is not ours, and often cannot be reached from inside.
  return isPublic(silent.address) && !own.some(isPublic) ? undefined : leadsElsewhere(name, silent, own);
}

/** Where the world sees this server comes first: bridges of containers have addresses, too. */
function shownAddresses(own: readonly string[]): string {
  return [...own.filter(isPublic), ...own.filter((one) => !isPublic(one))].slice(0, 3).join(", ");
}

function isPublic(address: string): boolean {
  const family = isIP(address);
  return family === 4 ? isPublicIpv4(address) : family === 6 && isPublicIpv6(address);
}

/** Nothing is reported about an inner address of another server: anyone may point a name there. */
function leadsElsewhere(name: string, { address, text: found }: Look, own: string[]): string {
  const text = isPublic(address) ? found : "does not answer as this server does";
  const here = own.length === 0 ? "" : `, this server is ${shownAddresses(own)}`;
  return `dns: ${name} resolves to ${address}${here}. Port 80 there: ${text}`;
}

function serverText(own: string[]): string {
  return own.length === 0 ? "" : `: ${shownAddresses(own)}`;
}
