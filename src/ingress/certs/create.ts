import { canonicalJson } from "../../base/pure/digest.ts";
import { Failure } from "../../base/wire/failure.ts";
import { createBroadcast } from "../../base/words/broadcast.ts";
import type { Log } from "../../base/words/log.ts";
import { covers } from "../core/certificates/names.ts";
import { type Target, targetsOf, type WantedCertificate } from "../core/certificates/wanted.ts";
import type { Certificate } from "../core/table.ts";
import type { AcmeWorld } from "./acme/issue.ts";
import { createHoldings, servedOf } from "./holdings.ts";
import { createInternal } from "./internal.ts";
import type { CertificateLimits } from "./limits.ts";
import { type CertificateStatus, statusOf } from "./status.ts";
import { type CertificateEvent, createTending } from "./tending.ts";

export interface CertificatesOptions extends Omit<AcmeWorld, "limits"> {
  log: Log;
  /** Text of a file that a manifest names. Fails with a text for people. */
  readFile: (reference: string) => Promise<string>;
  /** Name of our own certificate authority, as trust stores show it. */
  commonName: string;
  /** From 0 to 1. */
  random: () => number;
  onEvent: (event: CertificateEvent) => void;
  limits: CertificateLimits;
}

/** The certificates of the ingress: issued, renewed, kept. */
export interface Certificates {
  /** What the manifests ask for now, complete each time. */
  wanted(list: readonly WantedCertificate[]): void;
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
  const holdings = createHoldings(store);
  const internal = createInternal({ store, clock, commonName: options.commonName });
  const changes = createBroadcast<undefined>((error) => log.error("certificate listener failed", { error }));
  let targets: Target[] | undefined;
  let wake = new AbortController();
  const wakeUp = () => wake.abort();
  const tending = createTending({
    ...options,
    world: { ...options, limits: limits.acme },
    holdings,
    internal,
    onHeld: () => changes.publish(undefined),
    onDone: wakeUp,
  });
  const sweep = async () => {
    const isOver = ({ notAfter }: { notAfter: number }) => notAfter + limits.unwantedKeptMs < clock.now();
    // What is wanted is not known before it was told once.
    if (targets !== undefined) await holdings.sweep(targets, isOver);
  };
  return {
    wanted(list) {
      const next = targetsOf(list);
      const known = new Map((targets ?? []).map(({ id, issuer }) => [id, canonicalJson(issuer)]));
      for (const { id, issuer } of next) {
        const before = known.get(id);
        if (before !== undefined && before !== canonicalJson(issuer)) tending.retry(id);
      }
      targets = next;
      wakeUp();
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
      wakeUp();
      return found.map(({ id }) => id);
    },
    root: internal.root,
    async run(signal) {
      let sweepAt = clock.steady() + sweepEveryMs;
      while (!signal.aborted) {
        wake = new AbortController();
        const pauseMs = tending.startDue(targets ?? [], signal);
        if (clock.steady() >= sweepAt) {
          sweepAt = clock.steady() + sweepEveryMs;
          await sweep().catch((error: unknown) => log.error("old certificates were not removed", { error }));
        }
        await clock.sleep(Math.min(limits.lookMs, pauseMs), AbortSignal.any([signal, wake.signal]));
      }
      await tending.settled();
    },
  };
}
