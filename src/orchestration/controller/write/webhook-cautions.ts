import type { CoreKind, Spec } from "../../api/manifest.ts";
import { webhookLists } from "../../core/webhooks.ts";
import { isClosedHost } from "../../../base/deliver/address-guard.ts";

/** Webhooks that will be refused, as far as their URL alone tells: names are resolved only when one is sent. */
export function closedWebhookCautions(kind: CoreKind, spec: Spec): string[] {
  return webhookLists(kind, spec).flatMap(({ path, hooks }) =>
    hooks.flatMap(({ url }) => {
      const host = hostOf(url);
      if (!isClosedHost(host)) return [];
      return [`${path}: "${host}" is not a public address, so nothing is sent; see berth serve --help`];
    }),
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, "") : "";
}
