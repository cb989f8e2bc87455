import type { Problem } from "../../../base/wire/failure.ts";
import { isNetwork } from "../../../base/pure/ip.ts";
import { didYouMean } from "../../../base/pure/suggest.ts";
import { type Scope, scopes } from "../../../base/wire/endpoint.ts";
import { globFault, globsMax } from "./grant.ts";
import { type Parsed, parsed, unreadable } from "../../../base/pure/parsed.ts";

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const forms = 'write it like "90d", "12h" or "2027-01-31T00:00:00Z", or "never"';

interface Span {
  /** Epoch milliseconds. */
  now: number;
  /** Longest life. */
  maxMs: number;
}

/** When a token ends, epoch milliseconds; undefined for never. */
export function parseExpiry(text: string, { now, maxMs }: Span): Parsed<number | undefined> {
  if (text === "never") return parsed(undefined);
  const at = timeOf(text, now);
  if (at === undefined) return unreadable(`${JSON.stringify(text)} is not a time; ${forms}`);
  if (at <= now) return unreadable(`${JSON.stringify(text)} is not in the future`);
  if (at > now + maxMs) return unreadable(`${JSON.stringify(text)} is more than ten years away: write "never"`);
  return parsed(at);
}

function timeOf(text: string, now: number): number | undefined {
  const length = /^(\d{1,6})([mhdw])$/.exec(text);
  if (length !== null) return now + Number(length[1]) * (unitMs[length[2] ?? ""] ?? 0);
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/.test(text);
  const at = isTime ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

/** A token as somebody asks for it. */
interface TokenRequest {
  scopes: readonly string[];
  name?: string | undefined;
  expires?: string | undefined;
  apps?: readonly string[] | undefined;
  cidr?: readonly string[] | undefined;
}

interface Bounds {
  now: number;
  lifeMaxMs: number;
  nameCharactersMax: number;
  networksMax: number;
}

/** A token request, checked: words in their order, nothing twice. */
export interface TokenTerms {
  scopes: readonly Scope[];
  name: string | undefined;
  expiresAt: number | undefined;
  apps: readonly string[];
  networks: readonly string[];
}

export function readTokenRequest(request: TokenRequest, bounds: Bounds): { terms: TokenTerms; problems: Problem[] } {
  const words = request.scopes.map((word) => word.trim().toLowerCase());
  const name = request.name?.trim() || undefined;
  const apps = [...new Set((request.apps ?? []).map((glob) => glob.trim()))];
  const networks = [...new Set((request.cidr ?? []).map((network) => network.trim()))];
  const expiry = parseExpiry(request.expires?.trim() ?? "never", { now: bounds.now, maxMs: bounds.lifeMaxMs });
  const problems = [
    ...scopeProblems(words),
    ...pairProblems("scopes", words, apps),
    ...nameProblems(name, bounds.nameCharactersMax),
    ...listProblems("apps", apps, { max: globsMax, fault: globFault }),
    ...listProblems("cidr", networks, { max: bounds.networksMax, fault: networkFault }),
    ...(expiry.ok ? [] : [{ path: "expires", message: expiry.error }]),
  ];
  const granted = scopes.filter((scope) => words.includes(scope));
  return {
    terms: { scopes: granted, name, apps, networks, expiresAt: expiry.ok ? expiry.value : undefined },
    problems,
  };
}

function scopeProblems(words: readonly string[]): Problem[] {
  const known: readonly string[] = scopes;
  if (words.length === 0) return [{ path: "scopes", message: `is empty: name at least one of ${known.join(", ")}` }];
  return words.flatMap((word, index) => {
    if (known.includes(word)) return [];
    const hint = didYouMean(word, known) || `; there are ${known.join(", ")}`;
    return [{ path: `scopes[${index}]`, message: `${JSON.stringify(word.slice(0, 80))} is not a scope${hint}` }];
  });
}

/** `admin` is about the whole server: together with a limit to apps it would promise a limit that it does not keep. */
export function pairProblems(path: string, words: readonly string[], apps: readonly string[]): Problem[] {
  if (!words.includes("admin") || apps.length === 0) return [];
  return [{ path, message: '"admin" is for the whole server and cannot be limited to apps: leave out admin, or apps' }];
}

function nameProblems(name: string | undefined, max: number): Problem[] {
  if (name === undefined) return [];
  if (name.length > max) return [{ path: "name", message: `is longer than ${max} characters` }];
  return /[\u0000-\u001f\u007f]/.test(name)
    ? [{ path: "name", message: "holds control characters: write one line" }]
    : [];
}

function listProblems(
  path: string,
  entries: readonly string[],
  { max, fault }: { max: number; fault: (entry: string) => string | undefined },
): Problem[] {
  if (entries.length > max) return [{ path, message: `has more than ${max} entries` }];
  return entries.flatMap((entry, index) => {
    const wrong = fault(entry);
    if (wrong === undefined) return [];
    return [{ path: `${path}[${index}]`, message: `${JSON.stringify(entry.slice(0, 80))} ${wrong}` }];
  });
}

function networkFault(network: string): string | undefined {
  return isNetwork(network) ? undefined : "is not an address or a network such as 192.0.2.0/24 or 2001:db8::/32";
}
