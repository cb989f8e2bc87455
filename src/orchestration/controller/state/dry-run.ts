import type { Store, Transaction } from "../../store/store.ts";

/** Ends the transaction of a dry run: nothing of it stays. */
class DryRunDone<T> extends Error {
  readonly outcome: T;

  constructor(outcome: T) {
    super("dry run");
    this.outcome = outcome;
  }
}

/** The outcome of a change in one transaction. A dry run does the same and stores nothing. */
export async function writeUnlessDry<T>(
  store: Pick<Store, "write">,
  isDry: boolean,
  change: (tx: Transaction) => T,
): Promise<T> {
  let done: DryRunDone<T> | undefined;
  try {
    return await store.write((tx) => {
      const outcome = change(tx);
      if (!isDry) return outcome;
      done = new DryRunDone(outcome);
      throw done;
    });
  } catch (error) {
    if (done !== undefined && error === done) return done.outcome;
    throw error;
  }
}
