import { isoTime } from "../../base/pure/iso-time.ts";
import { Failure } from "../../base/wire/failure.ts";
import type { SteadyClock } from "../../base/words/clock.ts";
import type { Log } from "../../base/words/log.ts";
import { newestGeneration } from "../core/generation.ts";
import type { Snapshot } from "../core/restic-words.ts";
import { judge, type Life, type StoredLife } from "./life.ts";
import type { Repository } from "./repository.ts";

/** Keeps two servers from acting for one installation: the newest generation at the targets names the one that acts. */
export interface Twins {
  /**
   * Looks at a target, and writes this server's generation there where none is newer. Fails `conflict` where another
   * server acts. Returns what the target lists.
   */
  look(target: string, repository: Repository): Promise<Snapshot[]>;
  /** Whether the last look at a target is not older than a round, and found nothing wrong. */
  looked(target: string): boolean;
  /** Raises the generation at every target that answers, and then acts. Fails `unavailable` where none does. */
  takeOver(actor: string): Promise<{ number: number; targets: string[]; acts_at: string }>;
  /** Looks at all targets, now and each minute, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface TwinsOptions {
  life: Life;
  /** Names of the targets. */
  targets(): string[];
  open(target: string): Promise<Repository>;
  /** A restored state that is not confirmed writes nothing by itself, unless its root has the newest generation. */
  isUnconfirmed(): boolean;
  newLife(): string;
  clock: SteadyClock;
  log: Log;
  /** See `backupLimits`. */
  limits: { twinLookMs: number; firstLookMs: number; staleLookMs: number; handoverMs: number };
  /** Another server took the place of this one: what acts by itself is to end. */
  onReplaced(target: string): Promise<void>;
  onEvent(event: { actor: string; action: string; detail: Record<string, string> }): Promise<void>;
}

export function createTwins(options: TwinsOptions): Twins {
  const { life, clock, log, limits } = options;
  let answeredAt = clock.steady();
  const goodAt = new Map<string, number>();
  // Before anything acts for the first time.
  life.expectLook(options.targets().length > 0);
  life.onAsk(lookIfStale);

  // One for all looks: two at one time must not take this server for two.
  const fresh = { number: 0, life: options.newLife() };
  const mine = (): StoredLife => life.stored() ?? fresh;

  async function look(target: string, repository: Repository): Promise<Snapshot[]> {
    goodAt.delete(target);
    const snapshots = await judged(target, repository);
    goodAt.set(target, clock.steady());
    return snapshots;
  }

  async function judged(target: string, repository: Repository): Promise<Snapshot[]> {
    const snapshots = await repository.snapshots();
    answeredAt = clock.steady();
    const found = newestGeneration(snapshots);
    let verdict = judge(mine(), found);
    if (verdict.is === "replaced") {
      // `berth server restore` of this machine may have raised it.
      life.read();
      verdict = judge(mine(), found);
    }
    const { practice, replaced } = mine();
    if (verdict.is === "replaced" && !practice) {
      if (!replaced) await life.write({ ...mine(), replaced: { ...verdict.by, at: found?.at ?? 0, target } });
      if (!replaced) await options.onReplaced(target);
      throw new Failure("conflict", life.heldBy() ?? "another server took the place of this one");
    }
    if (practice || replaced) throw new Failure("conflict", life.heldBy() ?? "");
    if (verdict.is !== "raise" || (life.stored() === undefined && options.isUnconfirmed())) return snapshots;
    await life.write({ ...mine(), ...verdict.to });
    await repository.mark(verdict.to);
    if (mine().unseen) await life.write({ ...mine(), unseen: undefined, takenOverAt: clock.now() });
    return snapshots;
  }

  async function lookAtAll(): Promise<void> {
    if (life.stored()?.replaced || life.stored()?.practice) return;
    for (const target of options.targets()) {
      try {
        await look(target, await options.open(target));
      } catch (error) {
        log.debug("target not looked at", { target, error });
      }
    }
  }

  /** Looks where no target has answered for more than a round: after the network was away, before a timer acts. */
  async function lookIfStale(): Promise<void> {
    if (options.targets().length === 0 || clock.steady() - answeredAt <= 2 * limits.twinLookMs) return;
    await atMost(limits.staleLookMs, lookAtAll());
  }

  async function atMost(ms: number, work: Promise<void>): Promise<void> {
    const enough = new AbortController();
    await Promise.race([work, clock.sleep(ms, enough.signal)]);
    enough.abort();
  }

  async function takeOver(actor: string) {
    const targets = options.targets();
    const answered: { target: string; repository: Repository; number: number }[] = [];
    let fault: unknown = new Failure("conflict", "there is no target, so no other server can be seen");
    for (const target of targets) {
      try {
        const repository = await options.open(target);
        const { number = 0 } = newestGeneration(await repository.snapshots()) ?? {};
        answered.push({ target, repository, number });
      } catch (error) {
        fault = error;
      }
    }
    if (answered.length === 0) throw fault;
    const before = mine();
    const number = Math.max(before.number, ...answered.map((one) => one.number)) + 1;
    const next = { number, life: before.life };
    for (const { repository } of answered) await repository.mark(next);
    const now = clock.now();
    await life.write({ ...next, takenOverAt: now });
    await options.onEvent({ actor, action: "backup.take-over", detail: { generation: String(number) } });
    return { number, targets: answered.map(({ target }) => target), acts_at: isoTime(now + limits.handoverMs) };
  }

  return {
    look,
    looked: (target) => clock.steady() - (goodAt.get(target) ?? Number.NEGATIVE_INFINITY) <= limits.twinLookMs,
    takeOver,
    async run(signal) {
      const first = lookAtAll();
      await atMost(limits.firstLookMs, first);
      life.expectLook(false);
      await first;
      while (!signal.aborted) {
        await clock.sleep(limits.twinLookMs, signal);
        if (!signal.aborted) await lookAtAll();
      }
    },
  };
}
