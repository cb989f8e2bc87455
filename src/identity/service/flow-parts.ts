import { Failure } from "../../base/wire/failure.ts";
import { callbackPath } from "../core/callbacks.ts";
import type { IdentityContext } from "./context.ts";
import type { TokenDelivery } from "./token-delivery.ts";
import type { InstanceEntry } from "./directory.ts";
import type { CompleteSignIn, SignedIn } from "./complete-sign-in.ts";
import type { ResolvedProvider } from "./code-exchange.ts";
import type { Providers } from "./providers.ts";
import type { Browser } from "./browser.ts";

/** Why there is nowhere to send a browser: it gets a page. */
export type FlowProblem = "redirect" | "provider" | "state" | "cookies";

export type AuthorizeOutcome = { go: string } | { problem: FlowProblem } | { delivery: TokenDelivery };

/** The answer of a provider, as it came to its callback. */
export interface ProviderAnswer {
  /** The callback path names it: a provider (docs/contract/identity.md, 1.3), or the id of a connection. */
  callback: { provider: string } | { connection: string };
  state: string | undefined;
  code: string | undefined;
  error: string | undefined;
  iss: string | undefined;
  /** What the browser shows of itself, once its instance is known. */
  browser: (entry: InstanceEntry) => Omit<Browser, "flow"> & { flow: string | undefined };
}

export type CallbackOutcome =
  | { problem: FlowProblem; entry?: InstanceEntry; redirectUri?: string }
  | { delivery: TokenDelivery; entry: InstanceEntry; device?: SignedIn["device"] };

export interface FlowParts {
  context: IdentityContext;
  providers: Providers;
  completeSignIn: CompleteSignIn;
}

/** Address that a provider sends the browser back to. */
export function callbackOf(
  { context }: Pick<FlowParts, "context">,
  { instance }: InstanceEntry,
  { kind, name, source }: ResolvedProvider,
): string {
  const instanceId = source === "own" ? instance.id : undefined;
  return `${context.baseUrl}${callbackPath({ kind, name, instanceId })}`;
}

/** All calls to providers of one sign-in together. */
export function deadline({ context }: Pick<FlowParts, "context">, signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(context.limits.signIn.providerTotalMs)]);
}

/** Logs what went wrong at a provider, and says what the app gets to know of it. Rethrows what is a bug. */
export function complain(
  { context }: Pick<FlowParts, "context">,
  { entry, provider, error }: { entry: InstanceEntry; provider: string; error: unknown },
): string {
  const isLate = error instanceof DOMException;
  if (!(error instanceof Failure) && !isLate) throw error;
  context.log.warn("provider failed", { instance: entry.instance.id, provider, reason: error.message });
  return isLate || error.code === "unavailable" ? "temporarily_unavailable" : "server_error";
}
