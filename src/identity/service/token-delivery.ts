import { withParameters } from "../core/redirect.ts";
import type { IdentityNouns } from "../store/open-store.ts";
import type { IdentityContext } from "./context.ts";
import type { InstanceEntry } from "./directory.ts";
import { hashOf, randomSecret } from "./random.ts";

/** How the browser takes what it got to the app. */
export type TokenDelivery =
  { how: "redirect"; to: string } | { how: "post"; to: string; fields: Record<string, string> };

interface Deliverable {
  entry: InstanceEntry;
  /** Checked. */
  redirectUri: string;
  token: string;
  user: number;
  now: number;
}

/** A token on its way to the app, in the manner that the instance has chosen; inside the write that made its session. */
export function deliverToken(
  context: Pick<IdentityContext, "limits" | "randomBytes">,
  nouns: Pick<IdentityNouns, "oneTime">,
  { entry, redirectUri, token, user, now }: Deliverable,
): TokenDelivery {
  switch (entry.settings.delivery) {
    case "form_post":
      return { how: "post", to: redirectUri, fields: { token } };
    case "code": {
      const code = randomSecret(context);
      nouns.oneTime.putCode(
        {
          hash: hashOf(code),
          instance: entry.instance.seq,
          user,
          data: { token },
          createdAt: now,
          expiresAt: now + context.limits.signIn.deliveryCodeMs,
        },
        context.limits.signIn.codesKept,
      );
      return { how: "redirect", to: withParameters(redirectUri, { code }) };
    }
    default:
      return { how: "redirect", to: withParameters(redirectUri, { token }) };
  }
}

/** The error of a sign-in, as the app gets to see it; the address has been checked. */
export function deliverError(redirectUri: string, error: string): TokenDelivery {
  return { how: "redirect", to: withParameters(redirectUri, { error }) };
}

/** The token that a code stands for, once; undefined for one that is unknown, used, too old or of another instance. */
export function redeemCode(
  { store, clock }: Pick<IdentityContext, "store" | "clock">,
  { instance }: InstanceEntry,
  code: string,
): Promise<string | undefined> {
  const hash = hashOf(code);
  // Another instance must not use up what is not its own.
  if (store.oneTime.get(hash, "deliver_token")?.instance !== instance.seq) return Promise.resolve(undefined);
  return store.write((nouns) => {
    const found = nouns.oneTime.take(hash, "deliver_token");
    if (found === undefined || found.expiresAt <= clock.now()) return undefined;
    return typeof found.data.token === "string" ? found.data.token : undefined;
  });
}
