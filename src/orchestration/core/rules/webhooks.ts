import type { Webhook } from "../../api/kinds/webhooks.ts";
import { placeholdersIn } from "../placeholders.ts";
import { headerRules } from "./headers.ts";
import { eachEntry, type Report } from "./rule.ts";
import { urlRule } from "./url.ts";

/** Rules of the webhook lists in one block such as `on_deploy`. */
export function webhookRules(lists: Record<string, Webhook[] | undefined>, path: string, report: Report): void {
  for (const [event, hooks] of Object.entries(lists)) {
    eachEntry(hooks ?? [], `${path}.${event}`, (hook, hookPath) => webhookRule(hook, hookPath, report));
  }
}

function webhookRule(hook: Webhook, path: string, report: Report): void {
  urlRule(hook.url, `${path}.url`, report);
  headerRules(hook.headers ?? {}, `${path}.headers`, report);
  if (hook.file === undefined) return;
  if (hook.body !== undefined) report(`${path}.file`, "excludes body; keep one of the two");
  const [placeholder] = placeholdersIn(hook.file);
  if (placeholder?.type !== "asset" || placeholder.text !== hook.file) {
    report(`${path}.file`, `"${hook.file}" is not one asset reference; write asset.NAME.KEY inside "\${" and "}"`);
  }
}
