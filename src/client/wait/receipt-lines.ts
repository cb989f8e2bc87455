import { listReleases } from "../../orchestration/api/releases.ts";
import type { Context } from "../shell/command.ts";
import { receiptText } from "../text/receipt-text.ts";
import type { Waited } from "./wait.ts";

/** What visitors saw of each release that was waited for, a line each; nothing where no ingress counts requests. */
export async function receiptLines(targets: readonly Waited[], { api, terminal }: Context): Promise<string[]> {
  const released = targets.filter(({ look }) => look.released !== undefined);
  const lines = await Promise.all(
    released.map(async ({ ref, look }) => {
      const [kind = "", scope = "", name = ""] = ref.split("/");
      // The rollout is done: a missing receipt must not make the command fail.
      const receipt = await api
        .call(listReleases, { query: { kind, scope, name } })
        .then(({ releases }) => releases.find(({ id }) => id === look.released)?.receipt)
        .catch(() => undefined);
      const text = receipt === undefined ? "" : receiptText(receipt);
      return text === "" ? [] : [`  ${terminal.noteStyle.dim(`${ref}: ${text}`)}`];
    }),
  );
  return lines.flat();
}
