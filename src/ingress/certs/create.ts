import { createWaker } from "../../base/words/abort.ts";
import { canonicalJson } from "../../base/pure/digest.ts";
import { Failure } from "../../base/wire/failure.ts";
import { type Broadcast, createBroadcast } from "../../base/words/broadcast.ts";
import type { Log } from "../../base/words/log.ts";
import { covers } from "../core/certificates/names.ts";
import type { OnDemandRules } from "../core/certificates/on-demand.ts";
import { type Target, targetsOf, type WantedCertificate } from "../core/certificates/wanted.ts";
import type { Certificate } from "../core/table.ts";
import type { AcmeWorld } from "./acme/issue.ts";
import { createHoldings, servedOf } from "./holdings.ts";
import { createInternal } from "./internal.ts";
import type { CertificateLimits } from "./limits.ts";
import { type Ask, createOnDemand } from "./on-demand.ts";
import { type CertificateStatus, statusOf } from "./status.ts";
import { type CertificateEvent, createTending } from "./tending.ts";

export interface CertificatesOptions extends Omit<AcmeWorld, "limits"> {
  log: Log;
  /** Text of a file that a manifest names. Fails with a text for people. */
  readFile: (reference: string) => Promise<string>;
  /** Asks for permission for a name that is issued on demand. */
  ask: Ask;
  /** Name of our own certificate authority, as trust stores show it. */
  commonName: string;
  /** From 0 to 1. */
  random: () => number;
  onEvent: (event: CertificateEvent) => void;
  limits: CertificateLimits;
  /** Whether certificates may be ordered from others now. Those that we make or read ourselves need no other server. */
  mayOrder: () => boolean;
}

/** The certificates of the ingress: issued, renewed, kept. */
export interface Certificates {
  /** What the manifests ask for now, complete each time, and which names may be issued on demand. */
  wanted(list: readonly WantedCertificate[], rules?: OnDemandRules): void;
  /**
   * A visitor (IP address) asks for a name. Resolves with true once `current` has a certificate for it, and with false
   * when it gets none: no rule, no permission, a failure, or `signal` aborts. Issuing goes on then.
   */
  demand(name: string, client: string, signal: AbortSignal): Promise<boolean>;
  /** What the proxy serves now, in the order of the ids; it may lack names that have none yet. */
  current(): Certificate[];
  /** Called when `current` has other contents. Returns the way to leave. */
  onChange(listener: () => void): () => void;
  /** In the order of the ids. */
  list(): CertificateStatus[];
  /**
   * Tries the certificates of a name at once and returns their ids; the budget still holds. Fails `not_found` when
   * none is wanted.
   */
  renew(name: string): string[];
  /** PEM of the root of our own certificate authority, made when there is none. */
  root(): Promise<string>;
  /** Issues and renews until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const sweepEveryMs = 3_600_000;

export function createCertificates(options: CertificatesOptions): Certificates {
  const { store, clock, limits, log } = options;
  const holdings = createHoldings(store, clock);
  const internal = createInternal({ store, clock, commonName: options.commonName });
  const changes = createBroadcast<undefined>((error) => log.error("certificate listener failed", { error }));
  const progress = createBroadcast<undefined>((error) => log.error("certificate listener failed", { error }));
  let listed: readonly WantedCertificate[] = [];
  let rules: OnDemandRules = new Map();
  let targets: Target[] | undefined;
  const waker = createWaker();
  const targetFor = (name: string) =>
    targets?.find(({ names }) => names.some((one) => one === name || covers(one, name)));
  const onDemand = createOnDemand({
    ...{ store, clock, log, ask: options.ask, limits: limits.onDemand },
    hasCertificate: (name) => holdings.held(targetFor(name)?.id ?? "") !== undefined,
  });
  const retarget = () => {
    targets = targetsOf([...listed, ...onDemand.wanted(rules)]);
    waker.wake();
  };
  const tending = createTending({
    ...options,
    world: { ...options, limits: limits.acme },
    holdings,
    internal,
    onHeld: () => changes.publish(undefined),
    onDone() {
      waker.wake();
      progress.publish(undefined);
    },
    confirm: onDemand.confirm,
  });
  const sweep = async () => {
    const isOver = ({ notAfter }: { notAfter: number }) => notAfter + limits.unwantedKeptMs < clock.now();
    // What is wanted is not known before the first call.
    if (targets === undefined) return;
    await onDemand.sweep(rules);
    retarget();
    await holdings.sweep(targets, isOver);
  };
  /** Whether a wanted certificate is there; undefined while it may still come. */
  const outcome = (name: string): boolean | undefined => {
    const id = targetFor(name)?.id;
    if (id === undefined) return false;
    if ((holdings.held(id)?.notAfter ?? 0) > clock.now()) return true;
    const attempt = holdings.attempt(id);
    return attempt !== undefined && attempt.nextTryAt > clock.now() && !tending.isUnderWay(id) ? false : undefined;
  };
  return {
    wanted(list, nextRules = new Map()) {
      const known = new Map((targets ?? []).map(({ id, issuer }) => [id, canonicalJson(issuer)]));
      listed = list;
      rules = nextRules;
      retarget();
      for (const { id, issuer } of targets ?? []) {
        const before = known.get(id);
        if (before !== undefined && before !== canonicalJson(issuer)) tending.retry(id);
      }
    },
    async demand(name, client, signal) {
      if (!(await onDemand.permits(name, client, rules))) return false;
      if (targetFor(name) === undefined) retarget();
      for (;;) {
        const found = outcome(name);
        if (found !== undefined || signal.aborted) return found === true;
        await nextOf(progress, signal);
      }
    },
    current: () => servedOf(targets ?? [], holdings, clock.now()),
    onChange: changes.subscribe,
    list: () =>
      (targets ?? []).map((target) =>
        statusOf({ target, holdings, isUnderWay: tending.isUnderWay(target.id), now: clock.now() }),
      ),
    renew(name) {
      const found = (targets ?? []).filter(({ names }) => names.some((one) => one === name || covers(one, name)));
      if (found.length === 0)
        throw new Failure("not_found", `no certificate for "${name}". See them with: berth certs`);
      for (const { id } of found) tending.retry(id);
      waker.wake();
      return found.map(({ id }) => id);
    },
    root: internal.root,
    async run(signal) {
      let sweepAt = clock.steady() + sweepEveryMs;
      while (!signal.aborted) {
        const sooner = waker.round(signal);
        const due = (targets ?? []).filter(({ issuer }) => issuer.kind !== "acme" || options.mayOrder());
        const pauseMs = tending.startDue(due, signal);
        if (clock.steady() >= sweepAt) {
          sweepAt = clock.steady() + sweepEveryMs;
          await sweep().catch((error: unknown) => log.error("old certificates were not removed", { error }));
        }
        await clock.sleep(Math.min(limits.lookMs, pauseMs), sooner);
      }
      await tending.settled();
    },
  };
}

/** Resolves with the next value, or when `signal` aborts. */
function nextOf(progress: Broadcast<undefined>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      leave();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const leave = progress.subscribe(done);
    signal.addEventListener("abort", done, { once: true });
  });
}
