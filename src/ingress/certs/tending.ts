import { Failure } from "../../base/wire/failure.ts";
import type { Log } from "../../base/words/log.ts";
import { dueAt, pauseAfter, renewalTime } from "../core/certificates/renewal.ts";
import { accountKey, type AcmeIssuer, type Target } from "../core/certificates/wanted.ts";
import type { AcmeWorld } from "./acme/issue.ts";
import type { Held, Holdings } from "./holdings.ts";
import type { Internal } from "./internal.ts";
import { issue } from "./issue.ts";
import type { CertificateLimits } from "./limits.ts";
import { createOrders } from "./orders.ts";
import type { Pair } from "./pem.ts";
import { issuerLabel } from "./status.ts";
import { unlessAborted } from "../../base/words/abort.ts";

interface AdviceOptions {
  world: AcmeWorld;
  holdings: Holdings;
  random: () => number;
  /** Between two questions, unless the CA says otherwise. */
  everyMs: number;
}

/** Asks CAs when they want certificates to be renewed (RFC 9773): earlier, for example, when they revoke them. */
interface Advice {
  /** When to ask about a certificate, on the steady clock. */
  dueAt(id: string): number;
  /** Asks, and moves the time of renewal when the CA names another. A CA that does not answer changes nothing. */
  ask(held: Held, issuer: AcmeIssuer, signal: AbortSignal): Promise<void>;
}

const leastMs = 3_600_000;
const mostMs = 24 * 3_600_000;

function createAdvice({ world, holdings, random, everyMs }: AdviceOptions): Advice {
  const dueTimes = new Map<string, number>();
  const put = (id: string, ms: number) => {
    const at = world.clock.steady() + ms;
    dueTimes.set(id, at);
    return at;
  };
  return {
    // After a start the questions are spread, so that a thousand certificates do not ask at once.
    dueAt: (id) => dueTimes.get(id) ?? put(id, leastMs * random()),
    async ask(held, issuer, signal) {
      put(held.id, everyMs);
      const { renewalAdvice } = await import("./acme/ari.ts");
      const { transportOf } = await import("./acme/issue.ts");
      const question = renewalAdvice(
        { directory: issuer.directory, chain: held.chain },
        transportOf(world, { issuer, signal }),
      );
      const advice = await unlessAborted(
        question.catch(() => undefined),
        signal,
      );
      if (advice === undefined) return;
      if (advice.askAgainMs !== undefined) put(held.id, Math.min(mostMs, Math.max(leastMs, advice.askAgainMs)));
      const renewAt = renewalTime(held, held.random, advice.window);
      // A certificate that was replaced meanwhile has its own time.
      if (renewAt === held.renewAt || holdings.held(held.id)?.serial !== held.serial) return;
      await holdings.keep({ ...held, renewAt });
    },
  };
}

/** Something that an operator wants to know. A failure that repeats with the same text is reported once. */
export interface CertificateEvent {
  type: "issued" | "renewed" | "failed";
  id: string;
  names: readonly string[];
  issuer: string;
  /** One line. */
  text: string;
}

interface TendingOptions {
  world: AcmeWorld;
  holdings: Holdings;
  internal: Internal;
  readFile: (reference: string) => Promise<string>;
  random: () => number;
  limits: CertificateLimits;
  log: Log;
  onEvent: (event: CertificateEvent) => void;
  /** Asks whether a name that is issued on demand still has permission. Fails `forbidden` when it has not. */
  confirm: (name: string, ask: string, signal: AbortSignal) => Promise<void>;
  /** A certificate is new. */
  onHeld: () => void;
  /** A piece of work has ended: more may be due. */
  onDone: () => void;
}

/** Does what is due for each target, a few at a time. */
interface Tending {
  /** Starts what is due and has room; returns how long until something more is, milliseconds. */
  startDue(targets: readonly Target[], signal: AbortSignal): number;
  /** Makes a target due at once, whatever failed before. */
  retry(id: string): void;
  isUnderWay(id: string): boolean;
  settled(): Promise<void>;
}

export function createTending(options: TendingOptions): Tending {
  const { world, holdings, limits, random, log, onDone } = options;
  const { clock } = world;
  const orders = createOrders(world.store, limits.budget);
  const advice = createAdvice({ world, holdings, random, everyMs: limits.adviceMs });
  const running = new Map<string, Promise<void>>();
  const forced = new Set<string>();
  /** On the steady clock: files are read again; accounts whose CA does not answer or has had enough are left alone. */
  const fileLookAt = new Map<string, number>();
  const quietUntil = new Map<string, number>();

  const untilSteady = (at: number | undefined) => (at === undefined ? 0 : at - clock.steady());

  /** Milliseconds until a certificate has to be issued; 0 or less: now. */
  const issueIn = (target: Target): number => {
    const { id, issuer } = target;
    if (forced.has(id)) return 0;
    if (issuer.kind === "file") return untilSteady(fileLookAt.get(id));
    const now = clock.now();
    const dueMs = dueAt({ now, held: holdings.held(id), attempt: holdings.attempt(id) }) - now;
    return issuer.kind === "acme" ? Math.max(dueMs, untilSteady(quietUntil.get(accountKey(issuer)))) : dueMs;
  };
  const adviceIn = ({ id, issuer }: Target): number =>
    issuer.kind === "acme" && holdings.held(id) !== undefined
      ? untilSteady(advice.dueAt(id))
      : Number.POSITIVE_INFINITY;

  const issueNow = async (target: Target, signal: AbortSignal) => {
    let isOrdered = false;
    const onOrder = () => {
      isOrdered = true;
    };
    forced.delete(target.id);
    if (target.issuer.kind === "file") fileLookAt.set(target.id, clock.steady() + limits.fileLookMs);
    const held = holdings.held(target.id);
    try {
      const pair = await issue({ ...options, orders }, { target, held, onOrder, signal });
      await keepNew(options, target, pair);
    } catch (error) {
      // What a stopping server breaks off did not fail.
      if (signal.aborted) return;
      const pauses = isOrdered ? limits.orderPauses : limits.checkPauses;
      const quietMs = await noteFailure(options, { target, error, pauses });
      if (quietMs > 0 && target.issuer.kind === "acme") {
        quietUntil.set(accountKey(target.issuer), clock.steady() + quietMs);
      }
    }
  };
  const tend = async (target: Target, signal: AbortSignal) => {
    const held = holdings.held(target.id);
    if (issueIn(target) <= 0) await issueNow(target, signal);
    else if (held !== undefined && target.issuer.kind === "acme") await advice.ask(held, target.issuer, signal);
  };
  const start = (target: Target, signal: AbortSignal) => {
    const work = tend(target, signal)
      .catch((error: unknown) => log.error("certificate was not tended", { id: target.id, error }))
      .finally(() => {
        running.delete(target.id);
        onDone();
      });
    running.set(target.id, work);
  };
  return {
    startDue(targets, signal) {
      const idle = targets.filter(({ id }) => !running.has(id));
      const waits = idle.map((target) => ({ target, ms: Math.min(issueIn(target), adviceIn(target)) }));
      const due = waits.filter(({ ms }) => ms <= 0).map(({ target }) => target);
      const endOf = ({ id }: Target) => holdings.held(id)?.notAfter ?? 0;
      const first = due
        .toSorted((a, b) => endOf(a) - endOf(b))
        .slice(0, Math.max(0, limits.inFlightMax - running.size));
      for (const target of first) start(target, signal);
      return Math.min(Number.POSITIVE_INFINITY, ...waits.filter(({ ms }) => ms > 0).map(({ ms }) => ms));
    },
    retry(id) {
      forced.add(id);
    },
    isUnderWay: (id) => running.has(id),
    async settled() {
      await Promise.all(running.values());
    },
  };
}

async function keepNew(options: TendingOptions, target: Target, pair: Pair): Promise<void> {
  const { holdings, random, onEvent, onHeld } = options;
  const before = holdings.held(target.id);
  if (before !== undefined && before.chain === pair.chain && before.key === pair.key) {
    return holdings.cleared(target.id);
  }
  const place = random();
  const renewAt = renewalTime(pair, place);
  try {
    await holdings.keep({ ...pair, id: target.id, issuerKey: target.issuerKey, random: place, renewAt });
  } catch (error) {
    options.log.error("certificate is not stored and serves until the server ends", { id: target.id, error });
  }
  onHeld();
  const { id, names, issuer } = target;
  const type = before === undefined ? "issued" : "renewed";
  const text = `certificate for ${names.join(", ")} by ${pair.issuedBy}, valid until ${isoOf(pair.notAfter)}`;
  onEvent({ type, id, names, issuer: issuerLabel(issuer), text });
}

/** Returns how long the CA should be left alone as a whole, milliseconds. */
async function noteFailure(
  options: TendingOptions,
  { target, error, pauses }: { target: Target; error: unknown; pauses: { firstMs: number; maxMs: number } },
): Promise<number> {
  const { world, holdings, random, limits, log, onEvent } = options;
  const { id, names, issuer } = target;
  const now = world.clock.now();
  const before = holdings.attempt(id);
  const failures = (before?.failures ?? 0) + 1;
  const text = error instanceof Failure ? error.message : "internal error: see the log of the server";
  const seconds = error instanceof Failure ? (error.retryAfterSeconds ?? 0) : 0;
  const retryAfterMs = Math.min(seconds * 1_000, limits.budget.perName.perMs);
  const pauseMs = pauseAfter({ failures, ...pauses, random: random(), retryAfterMs });
  log.warn("certificate was not issued", { id, names, error, nextTryAt: isoOf(now + pauseMs) });
  await holdings.failed(id, { failures, error: text, failedAt: now, nextTryAt: now + pauseMs });
  if (before?.error !== text) onEvent({ type: "failed", id, names, issuer: issuerLabel(issuer), text });
  const isOfCa = error instanceof Failure && text.startsWith("ca:");
  const isForAll = isOfCa && (error.code === "too_many" || error.code === "unavailable");
  return isForAll ? Math.max(pauses.firstMs, retryAfterMs) : 0;
}

function isoOf(at: number): string {
  return new Date(at).toISOString();
}
