import { isoTime } from "../../../base/pure/iso-time.ts";
import { Failure, problemsFailure } from "../../../base/wire/failure.ts";
import { durationForm, parseDuration } from "../../../base/pure/duration.ts";
import type { Lock } from "../../api/locks.ts";
import { deployMessage } from "../../core/deploy-message.ts";
import { identityProblems } from "../../core/identity.ts";
import type { LockRecord, LockReads } from "../../store/lock-records.ts";
import type { Context } from "./context.ts";
import { required } from "./target.ts";

/** What a change is about; without a name it is the scope itself. */
interface Place {
  scope: string;
  name?: string;
}

/**
 * Fails `conflict`/`Locked` where one of the places is locked. A change of a whole scope is also one of every app in it.
 * What the reconciler does by itself is never refused.
 */
export function requireUnlocked(
  { clock }: Pick<Context, "clock">,
  { locks }: { locks: LockReads },
  places: readonly Place[],
): void {
  const [held] = locksOf(locks, places, clock.now());
  if (held === undefined) return;
  throw refusal(held, "nothing was changed");
}

function refusal(held: LockRecord, next: string): Failure {
  const { scope, name, actor, at, reason } = held;
  return new Failure("conflict", `${lockText(held)}; ${next}`, {
    reason: "Locked",
    fields: { lock: name === "" ? scope : `${scope}/${name}`, actor, since: isoTime(at), why: reason },
  });
}

/** The same as a warning, for what changes nothing. */
export function lockWarnings({ clock }: Pick<Context, "clock">, locks: LockReads, places: readonly Place[]): string[] {
  return [...new Set(locksOf(locks, places, clock.now()).map((held) => `${lockText(held)}; an apply is refused`))];
}

function locksOf(locks: LockReads, places: readonly Place[], now: number): LockRecord[] {
  const scopes = new Set(places.map(({ scope }) => scope));
  const held = [...scopes].flatMap((scope) => locks.list(scope)).filter((one) => !isOver(one, now));
  return held.filter((one) =>
    places.some(({ scope, name = "" }) => scope === one.scope && (one.name === "" || name === "" || name === one.name)),
  );
}

function isOver({ until }: LockRecord, now: number): boolean {
  return until !== undefined && until <= now;
}

function lockText({ scope, name, actor, at, until, reason }: LockRecord): string {
  const what = name === "" ? `scope ${scope}` : `${scope}/${name}`;
  const end = until === undefined ? "" : `, until ${isoTime(until)}`;
  return `${what} is locked by ${actor} since ${isoTime(at)}${end}: ${reason}`;
}

interface LockTarget {
  scope?: string | undefined;
  name?: string | undefined;
}

interface LockOperations {
  /** Fails `conflict`/`Locked` where it is locked already. */
  lock(
    target: LockTarget & { reason?: string | undefined; for?: string | undefined },
    options: { actor: string },
  ): Promise<Lock>;
  /** Fails `not_found` where it is not locked. */
  unlock(target: LockTarget, options: { actor: string }): Promise<Lock>;
  listLocks(filter: Pick<LockTarget, "scope">): { locks: Lock[] };
}

export function lockOperations(context: Context): LockOperations {
  const { clock, limits, store } = context;
  return {
    lock(target, { actor }) {
      const { scope, name } = placeOf(target);
      const reason = deployMessage(target.reason, limits.messageCharactersMax, "reason");
      if (reason === undefined) throw new Failure("invalid", "query reason: is required");
      const lengthMs = lengthOf(target.for);
      return store.write((tx) => {
        const at = clock.now();
        const held = tx.locks.list(scope).find((one) => one.name === name && !isOver(one, at));
        if (held !== undefined) throw refusal(held, "unlock it first");
        const until = lengthMs === undefined ? undefined : at + lengthMs;
        const record = { scope, name, reason, actor, at, until };
        tx.locks.put(record);
        const detail = { reason, ...(until === undefined ? {} : { until: isoTime(until) }) };
        tx.events.append({ actor, action: "lock", scope, ...(name === "" ? {} : { name }), detail }, at);
        return wire(record);
      });
    },
    unlock(target, { actor }) {
      const { scope, name } = placeOf(target);
      return store.write((tx) => {
        const now = clock.now();
        const held = tx.locks.list(scope).find((one) => one.name === name && !isOver(one, now));
        const what = name === "" ? `scope ${scope}` : `${scope}/${name}`;
        if (held === undefined) throw new Failure("not_found", `${what} is not locked; see: berth locks`);
        tx.locks.remove(scope, name);
        const detail = { reason: held.reason, locked_by: held.actor };
        tx.events.append({ actor, action: "unlock", scope, ...(name === "" ? {} : { name }), detail }, now);
        return wire(held);
      });
    },
    listLocks({ scope }) {
      const now = clock.now();
      return {
        locks: store.locks
          .list(scope || undefined)
          .filter((one) => !isOver(one, now))
          .map(wire),
      };
    },
  };
}

function placeOf(target: LockTarget): { scope: string; name: string } {
  const scope = required(target.scope, "scope");
  const name = target.name ?? "";
  const problems = identityProblems("deployment", scope, name === "" ? "any" : name);
  if (problems.length > 0) throw problemsFailure(problems);
  return { scope, name };
}

function lengthOf(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new Failure("invalid", `query for: "${text}" is not a length of time; ${durationForm}`);
}

function wire({ scope, name, reason, actor, at, until }: LockRecord): Lock {
  return {
    scope,
    ...(name === "" ? {} : { name }),
    reason,
    actor,
    since: isoTime(at),
    ...(until === undefined ? {} : { until: isoTime(until) }),
  };
}
