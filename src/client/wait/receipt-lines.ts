import type { Receipt } from "../../orchestration/api/receipt.ts";
import { listReleases } from "../../orchestration/api/releases.ts";
import type { Context } from "../shell/command.ts";
import { receiptText } from "../text/receipt-text.ts";
import type { Waited } from "../facts/wait.ts";

/** What visitors saw of the release that a wait ended with; undefined where no ingress counts requests, and for others. */
export async function receiptOf({ ref, look }: Waited, { api }: Pick<Context, "api">): Promise<Receipt | undefined> {
  if (look.released === undefined) return undefined;
  const [kind = "", scope = "", name = ""] = ref.split("/");
  // The rollout is done: a missing receipt must not make the command fail.
  return api
    .call(listReleases, { query: { kind, scope, name } })
    .then(({ releases }) => releases.find(({ id }) => id === look.released)?.receipt)
    .catch(() => undefined);
}

/** A line for each release that was waited for and has a receipt. */
export function receiptLines(targets: readonly Waited[], { terminal }: Pick<Context, "terminal">): string[] {
  return targets.flatMap(({ ref, receipt }) => {
    const text = receipt === undefined ? "" : receiptText(receipt);
    return text === "" ? [] : [`  ${terminal.noteStyle.dim(`${ref}: ${text}`)}`];
  });
}
