import { checkRedirect } from "../core/redirect.ts";
import { shownRedirect } from "../core/redirect-miss.ts";
import { auditAttempt } from "./audit.ts";
import type { IdentityContext } from "./context.ts";
import type { Browser } from "./browser.ts";

type RedirectContext = Pick<IdentityContext, "store" | "clock" | "log" | "limits" | "rateLimits">;

/**
 * Where a browser may be sent in the end; undefined for an address that the instance does not allow. Its page says no
 * more than that: the log and the audit trail tell the operator which address it was, and what is wrong with it.
 */
export function allowedRedirect(
  context: RedirectContext,
  browser: Pick<Browser, "entry" | "ip">,
  redirectUri: string,
): string | undefined {
  const checked = checkRedirect(redirectUri, browser.entry.settings);
  if (checked.ok) return checked.value;
  record(context, browser, { asked: shownRedirect(redirectUri), why: checked.error });
  return undefined;
}

function record(
  { store, clock, log, limits, rateLimits }: RedirectContext,
  { entry, ip }: Pick<Browser, "entry" | "ip">,
  detail: { asked: string; why: string },
): void {
  if (rateLimits.takeClient("refused_redirect", ip) !== undefined) return;
  const { instance } = entry;
  log.warn("redirect refused", { instance: instance.id, redirect_uri: detail.asked, reason: detail.why });
  const act = { instance, actor: "user", action: "redirect.refused", ip, detail, now: clock.now() };
  store
    .write((nouns) => auditAttempt(nouns, act, limits), { durable: false })
    .catch((error: unknown) => log.error("audit entry not written", { error }));
}
