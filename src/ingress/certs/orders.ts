import { randomBytes } from "node:crypto";
import { Failure } from "../../base/wire/failure.ts";
import { type BudgetLimits, budgetMemoryMs, mayOrder, type PlacedOrder } from "../core/certificates/budget.ts";
import type { CertificateStore } from "./store.ts";

/** The orders that were placed at CAs, and the budget that bounds them. */
export interface Orders {
  /** Counts one more order, durably, before it is placed. Fails `too_many` with the pause when the budget is used up. */
  spend(order: PlacedOrder): Promise<void>;
}

export function createOrders(store: CertificateStore, limits: BudgetLimits): Orders {
  const placed = new Map(store.list<PlacedOrder>("order").map(({ id, document }) => [id, document]));
  const memoryMs = budgetMemoryMs(limits);
  return {
    async spend(order) {
      const old = [...placed].filter(([, { at }]) => Math.abs(order.at - at) > memoryMs).map(([id]) => id);
      for (const id of old) placed.delete(id);
      const answer = mayOrder(order, [...placed.values()], limits);
      if (!answer.isFree) {
        const retryAfterSeconds = Math.ceil((answer.until - order.at) / 1_000);
        throw new Failure("too_many", answer.reason, { retryAfterSeconds });
      }
      const id = randomBytes(12).toString("hex");
      placed.set(id, order);
      await store.put("order", id, order);
      for (const gone of old) await store.remove("order", gone);
    },
  };
}
