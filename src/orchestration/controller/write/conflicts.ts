import { type Place, problemFailure } from "../../../base/wire/failure.ts";
import { type CoreKind, formatKey, type ManifestKey, type Spec } from "../../api/manifest.ts";
import { wildcardsAbove } from "../../core/ingress-reservations.ts";
import type { Reservation } from "../../core/reservation.ts";
import { conflictCode, conflictText, duplicateReservations, reservedField } from "../../core/reservations.ts";
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

/** Step 5: names, volumes, hosts that another manifest owns. */
export function refuseConflicts(tx: Transaction, ready: readonly Reserving[]): void {
  const twins = ready.length < 2 ? [] : duplicateReservations(ready.map((item) => ({ ...item.key, spec: item.spec })));
  for (const { name, first, second } of twins) {
    const [holder, late] = [ready[first], ready[second]];
    if (holder !== undefined && late !== undefined) refuseReservation(name, holder.key, late.place);
  }
  const replaced = new Set(ready.map((item) => formatKey(item.key)));
  for (const item of ready) {
    // A manifest that the same apply replaces is compared above, by its new reservations.
    const taken = tx.manifests
      .reservationConflicts(item.key, newReservations(item))
      .filter(({ heldBy }) => !replaced.has(formatKey(heldBy)));
    for (const { name, heldBy } of taken) refuseReservation(name, heldBy, item.place);
    refuseBelowWildcards(tx, item, replaced);
  }
}

/** Names below a wildcard of another scope. A preview is of the scope that it previews. */
function refuseBelowWildcards(tx: Transaction, item: Reserving, replaced: ReadonlySet<string>): void {
  const { key, spec, held = [], place } = item;
  if (key.kind !== "ingress") return;
  const had = (host: string) => held.some(({ name }) => name === `domain:${host}`);
  for (const { host, wildcard, share } of wildcardsAbove({ ...key, spec })) {
    const [taken] = had(host) ? [] : tx.manifests.reservationConflicts(key, [share]);
    if (taken === undefined || taken.heldBy.scope === key.scope || replaced.has(formatKey(taken.heldBy))) continue;
    if (tx.previews.list().some(({ scope, of }) => scope === key.scope && of === taken.heldBy.scope)) continue;
    const message = `"${host}" is below "${wildcard}" of ${formatKey(taken.heldBy)}; use another host, or write shared: true in both ingresses`;
    throw problemFailure("invalid", { path: "spec.host", message, place });
  }
}

/** Those that it does not hold already. */
function newReservations({ reserves, held = [] }: Reserving): Reservation[] {
  return reserves.filter(({ name, owner }) => !held.some((known) => known.name === name && known.owner === owner));
}

function refuseReservation(name: string, heldBy: ManifestKey, place: Place): never {
  const problem = { path: reservedField(name), message: conflictText(name, heldBy), place };
  throw problemFailure(conflictCode(name), problem);
}
