import type { Clock } from "../../base/words/clock.ts";
import { covers } from "../core/certificates/names.ts";
import type { Certificate } from "../core/table.ts";
import type { Target } from "../core/certificates/wanted.ts";
import type { CertificateStore } from "./store.ts";

/** An issued certificate, as it is stored. */
export interface Held {
  id: string;
  /** Names that it is valid for. */
  names: readonly string[];
  issuerKey: string;
  /** PEM without blank lines. */
  chain: string;
  key: string;
  /** Epoch milliseconds. */
  notBefore: number;
  notAfter: number;
  issuedBy: string;
  serial: string;
  /** From 0 to 1: where in its time of renewal this certificate is renewed. */
  random: number;
  renewAt: number;
}

/** The last try for a certificate failed. */
interface Attempt {
  /** In a row. */
  failures: number;
  error: string;
  /** Epoch milliseconds. */
  failedAt: number;
  nextTryAt: number;
}

/** Certificates and failures, in memory and in the store. */
export interface Holdings {
  held(id: string): Held | undefined;
  /** Undefined also where it lies ahead: a clock that was wrong has dated it, and its time may be a year away. */
  attempt(id: string): Attempt | undefined;
  all(): Held[];
  keep(held: Held): Promise<void>;
  failed(id: string, attempt: Attempt): Promise<void>;
  /** Forgets the failures. */
  cleared(id: string): Promise<void>;
  /** Forgets what no target needs: failures at once, certificates once `isOver`. */
  sweep(targets: readonly Target[], isOver: (held: Held) => boolean): Promise<void>;
}

export function createHoldings(store: CertificateStore, clock: Pick<Clock, "now">): Holdings {
  const held = new Map(store.list<Held>("certificate").map(({ id, document }) => [id, document]));
  const attempts = new Map(store.list<Attempt>("attempt").map(({ id, document }) => [id, document]));
  const forgetAttempt = async (id: string) => {
    if (attempts.delete(id)) await store.remove("attempt", id);
  };
  return {
    held: (id) => held.get(id),
    attempt(id) {
      const last = attempts.get(id);
      return last === undefined || last.failedAt > clock.now() ? undefined : last;
    },
    all: () => [...held.values()],
    async keep(next) {
      // In memory first: a certificate that a full disk refuses still serves until the server ends.
      held.set(next.id, next);
      await store.put("certificate", next.id, next);
      await forgetAttempt(next.id);
    },
    async failed(id, attempt) {
      attempts.set(id, attempt);
      await store.put("attempt", id, attempt);
    },
    cleared: forgetAttempt,
    async sweep(targets, isOver) {
      const wanted = new Set(targets.map(({ id }) => id));
      for (const id of [...attempts.keys()]) if (!wanted.has(id)) await forgetAttempt(id);
      for (const [id, one] of [...held]) {
        if (wanted.has(id) || !isOver(one)) continue;
        held.delete(id);
        await store.remove("certificate", id);
      }
    },
  };
}

/**
 * What the proxy serves: the certificate of each target; and for a name whose own is not there yet, another one that
 * covers it and is still valid, so that a change of issuer or a wildcard never takes a host off the air.
 */
export function servedOf(targets: readonly Target[], holdings: Holdings, now: number): Certificate[] {
  const served = new Map<string, { held: Held; names: string[] }>();
  const add = (held: Held, name: string) => {
    const known = served.get(held.id) ?? { held, names: [] };
    served.set(held.id, known);
    known.names.push(name);
  };
  const spare = spareByName(holdings.all().filter(({ notAfter }) => notAfter > now));
  for (const { id, names } of targets) {
    const own = holdings.held(id);
    for (const name of names) {
      const found = own !== undefined && isFor(own, name) ? own : spare(name);
      if (found !== undefined) add(found, name);
    }
  }
  const ordered = [...served.values()].toSorted((a, b) => (a.held.id < b.held.id ? -1 : 1));
  return ordered.map(({ held: { id, chain, key }, names }) => ({ id, names: names.toSorted(), pem: `${chain}${key}` }));
}

/** The certificate that is valid longest for a host, also through a wildcard. */
function spareByName(held: readonly Held[]): (host: string) => Held | undefined {
  const byName = new Map<string, Held>();
  for (const one of held.toSorted((a, b) => a.notAfter - b.notAfter)) {
    for (const name of one.names) byName.set(name, one);
  }
  return (host) =>
    byName.get(host) ?? (host.startsWith("*.") ? undefined : byName.get(`*${host.slice(host.indexOf("."))}`));
}

function isFor(held: Held, host: string): boolean {
  return held.names.some((name) => covers(name, host));
}
