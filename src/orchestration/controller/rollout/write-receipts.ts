import type { ManifestKey } from "../../api/manifest.ts";
import type { Receipt, Traffic } from "../../api/receipt.ts";
import type { Context } from "../state/context.ts";
import type { EndedRelease, Receipts, TrafficOf } from "../state/receipts.ts";

/** Length of the spans that a receipt compares the switch with. */
const beforeMs = 60_000;
const afterMs = 30_000;

export function createReceipts(contextOf: () => Context): Receipts {
  const work = new Set<Promise<void>>();
  /** Releases with a receipt that is not complete: no ingress leads to most resources. */
  const begun = new Set<string>();

  async function complete(ended: EndedRelease): Promise<void> {
    const { clock, closing, log, store, trafficOf } = contextOf();
    try {
      await clock.sleep(afterMs, closing);
      if (closing.aborted) return;
      const after = spanOf(trafficOf, ended, [ended.endedAt, ended.endedAt + afterMs]);
      const receipt = store.receipts.get(ended.id);
      if (after === undefined || receipt === undefined) return;
      // Lost in a power cut, it is only a loss of figures.
      await store.write((tx) => tx.receipts.put(ended.id, { ...receipt, after }), { durable: false });
    } catch (error) {
      if (!closing.aborted) log.error("deploy receipt not completed", { release: ended.id, error });
    }
  }

  return {
    record(tx, ended) {
      const receipt = receiptOf(contextOf().trafficOf, ended);
      if (receipt === undefined) return;
      tx.receipts.put(ended.id, receipt);
      begun.add(ended.id);
    },
    completeLater(ended) {
      if (!begun.delete(ended.id)) return;
      const completing = complete(ended).finally(() => work.delete(completing));
      work.add(completing);
    },
    async settled() {
      await Promise.all(work);
    },
  };
}

function receiptOf(trafficOf: TrafficOf | undefined, ended: EndedRelease): Receipt | undefined {
  const { startedAt, endedAt } = ended;
  const before = spanOf(trafficOf, ended, [startedAt - beforeMs, startedAt]);
  const during = spanOf(trafficOf, ended, [startedAt, Math.max(endedAt, startedAt + 1_000)]);
  return before === undefined || during === undefined ? undefined : { before, during };
}

function spanOf(
  trafficOf: TrafficOf | undefined,
  key: ManifestKey,
  [from, to]: readonly [number, number],
): Traffic | undefined {
  const seen = trafficOf?.(key, { from, to });
  return seen === undefined ? undefined : { seconds: Math.round((to - from) / 1_000), ...seen };
}
