import { type FailureCode, type Place, type Problem, problemsFailure } from "../../../base/wire/failure.ts";
import { type CoreKind, formatKey, type ManifestKey, type Spec } from "../../api/manifest.ts";
import { wildcardsAbove } from "../../core/ingress-reservations.ts";
import type { Reservation } from "../../core/reservation.ts";
import {
  conflictCode,
  conflictText,
  duplicateReservations,
  firstOfEachHost,
  reservedField,
} from "../../core/reservations.ts";
import type { Transaction } from "../../store/store.ts";

/** A manifest on its way in, and the names that go with it. */
export interface Reserving {
  key: ManifestKey & { kind: CoreKind };
  spec: Spec;
  place: Place;
  reserves: readonly Reservation[];
  /** What it holds already; undefined where it is not stored. */
  held: readonly Reservation[] | undefined;
}

/** A name that is taken, and the code that says so alone. */
interface Conflict {
  code: FailureCode;
  problem: Problem;
}

/** Step 5: names, volumes, hosts that another manifest owns. */
export function conflictsOf(tx: Transaction, ready: readonly Reserving[]): Conflict[] {
  const found = ready.length < 2 ? [] : duplicateReservations(ready.map((item) => ({ ...item.key, spec: item.spec })));
  const twins = firstOfEachHost(found, ({ name, first, second }) => ({ name, between: `${first} ${second}` }));
  const among = twins.flatMap(({ name, first, second }) => {
    const [holder, late] = [ready[first], ready[second]];
    return holder === undefined || late === undefined ? [] : [reserved(name, holder.key, late.place)];
  });
  return [...among, ...storedConflicts(tx, ready, new Set(ready.map((item) => formatKey(item.key))))];
}

/** Those with what is stored. A manifest that the same apply replaces is compared by its new reservations instead. */
export function storedConflicts(
  tx: Transaction,
  ready: readonly Reserving[],
  replaced: ReadonlySet<string>,
): Conflict[] {
  return ready.flatMap((item) => {
    const taken = tx.manifests
      .reservationConflicts(item.key, newReservations(item))
      .filter(({ heldBy }) => !replaced.has(formatKey(heldBy)));
    const each = firstOfEachHost(taken, ({ name, heldBy }) => ({ name, between: formatKey(heldBy) }));
    const found = each.map(({ name, heldBy }) => reserved(name, heldBy, item.place));
    return [...found, ...belowWildcards(tx, item, replaced)];
  });
}

/** Names below a wildcard of another scope. A preview is of the scope that it previews. */
function belowWildcards(tx: Transaction, item: Reserving, replaced: ReadonlySet<string>): Conflict[] {
  const { key, spec, held = [], place } = item;
  if (key.kind !== "ingress") return [];
  const had = (host: string) => held.some(({ name }) => name === `domain:${host}`);
  return wildcardsAbove({ ...key, spec }).flatMap(({ host, wildcard, share }): Conflict[] => {
    const [taken] = had(host) ? [] : tx.manifests.reservationConflicts(key, [share]);
    if (taken === undefined || taken.heldBy.scope === key.scope || replaced.has(formatKey(taken.heldBy))) return [];
    if (tx.previews.list().some(({ scope, of }) => scope === key.scope && of === taken.heldBy.scope)) return [];
    const message = `"${host}" is below "${wildcard}" of ${formatKey(taken.heldBy)}; use another host, or write shared: true in both ingresses`;
    return [{ code: "invalid", problem: { path: "spec.host", message, place } }];
  });
}

/** Those that it does not hold already. */
function newReservations({ reserves, held = [] }: Reserving): Reservation[] {
  return reserves.filter(({ name, owner }) => !held.some((known) => known.name === name && known.owner === owner));
}

function reserved(name: string, heldBy: ManifestKey, place: Place): Conflict {
  const problem = { path: reservedField(name), message: conflictText(name, heldBy), place };
  return { code: conflictCode(name), problem };
}

/** All that is wrong at once. Taken names are a conflict where nothing else is wrong. */
export function refuseFaulty(problems: readonly Problem[], conflicts: readonly Conflict[]): void {
  const all = [...problems, ...conflicts.map(({ problem }) => problem)];
  if (all.length === 0) return;
  const code = problems.length === 0 && conflicts.every((one) => one.code === "conflict") ? "conflict" : "invalid";
  throw problemsFailure(all, code);
}
