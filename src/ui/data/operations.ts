import { effect } from "@preact/signals";
import type { Operation } from "../../observability/api/operations.ts";
import { say } from "./notices.ts";
import { operations } from "./model.ts";

/** Changes that this page began and that have not ended. */
const begun = new Map<string, string>();

/** Says that a change has begun, and how it ended once the server tells. */
export function follow({ operation }: { operation: Operation }): void {
  const { app, type } = operation;
  const what = `${type} of ${app.scope}/${app.name}`;
  begun.set(operation.id, what);
  say(`The ${what} has begun`, "work");
}

/** Once per page. */
export function watchOperations(): void {
  effect(() => {
    // Read before the loop: an effect follows only what it has read.
    const known = operations.value;
    for (const [id, what] of [...begun]) {
      const operation = known.get(id);
      if (operation === undefined || operation.state === "running") continue;
      begun.delete(id);
      if (operation.state === "succeeded") say(`The ${what} is done: ${operation.text}`);
      else say(`The ${what} failed: ${operation.error ?? operation.text}`, "bad");
    }
  });
}
