import { Failure } from "../../base/wire/failure.ts";
import { connectionId } from "../core/callbacks.ts";
import { shownError } from "../core/endpoints.ts";
import type { OAuthState } from "../store/records.ts";
import { settleAccount } from "./accounts.ts";
import { auditAttempt } from "./audit.ts";
import { deliverError } from "./token-delivery.ts";
import type { InstanceEntry } from "./directory.ts";
import { currentSession, type SignedIn } from "./complete-sign-in.ts";
import {
  type CallbackOutcome,
  callbackOf,
  complain,
  deadline,
  type FlowParts,
  type FlowProblem,
  type ProviderAnswer,
} from "./flow-parts.ts";
import type { ResolvedProvider } from "./code-exchange.ts";
import { isIssuerRight } from "./providers.ts";
import { hashOf } from "./random.ts";
import { allowedRedirect } from "./redirects.ts";

const statePattern = /^[0-9a-f]{64}$/;
const codeLengthMax = 4_096;

/** Takes a browser that comes back from a provider on to the app: with a token, or with an error. */
export async function takeCallback(
  parts: FlowParts,
  answer: ProviderAnswer,
  signal: AbortSignal,
): Promise<CallbackOutcome> {
  const state = await takeState(parts, answer.state);
  const entry = state === undefined ? undefined : parts.context.directory.bySeq(state.instance);
  if (state === undefined || entry === undefined) return { problem: "state" };
  const problem = stateProblem(parts, { state, entry, answer });
  // The address was checked when it was stored, but the list may have changed since.
  const { ip } = answer.browser(entry);
  const redirectUri = allowedRedirect(parts.context, { entry, ip }, state.redirectUri);
  if (redirectUri === undefined) return { problem: problem ?? "redirect", entry };
  if (problem !== undefined) return { problem, entry, redirectUri };
  const fair = fairAnswer(parts, { state, entry, answer });
  const outcome = "failed" in fair ? fair : await signIn(parts, { ...fair, state, entry, answer, redirectUri }, signal);
  if (!("failed" in outcome)) {
    const { rateLimits, clock } = parts.context;
    rateLimits.giveBackClient("start", state.client, clock.now() - state.createdAt);
    return { ...outcome, entry };
  }
  await record(parts, { state, entry, answer }, outcome);
  return { delivery: deliverError(redirectUri, outcome.failed), entry };
}

interface Answered {
  state: OAuthState;
  entry: InstanceEntry;
  answer: ProviderAnswer;
}

interface Failed {
  /** What the app gets to know. */
  failed: string;
  /** What the audit trail says. */
  why: string;
}

/** Gone before anybody is asked anything: a state is good for one answer, whatever comes of it. */
function takeState({ context }: FlowParts, value: string | undefined): Promise<OAuthState | undefined> {
  const hash = value !== undefined && statePattern.test(value) ? hashOf(value) : undefined;
  // Looked for first: a made-up one costs no write.
  if (hash === undefined || !context.store.oauthStates.has(hash)) return Promise.resolve(undefined);
  return context.store.write((nouns) => nouns.oauthStates.take(hash));
}

function stateProblem({ context, providers }: FlowParts, { state, entry, answer }: Answered): FlowProblem | undefined {
  if (state.expiresAt <= context.clock.now()) return "state";
  const provider = providers.get(entry.instance.seq, state.provider);
  if (provider === undefined || !isCallbackOf(provider, entry, answer.callback)) return "state";
  const { flow } = answer.browser(entry);
  if (flow === undefined) return "cookies";
  return Buffer.from(hashOf(flow)).equals(state.browser) ? undefined : "state";
}

/** Each provider has a callback of its own, and its answers count nowhere else (RFC 9700 section 4.4). */
function isCallbackOf(
  { kind, name, source }: ResolvedProvider,
  { instance }: InstanceEntry,
  callback: ProviderAnswer["callback"],
): boolean {
  if ("provider" in callback) return kind !== "oidc" && callback.provider === name;
  return kind === "oidc" && callback.connection === connectionId(source === "own" ? instance.id : undefined, name);
}

/** A code that may be taken to the provider; everything else ends here. */
function fairAnswer(
  { providers }: FlowParts,
  { state, entry, answer }: Answered,
): Failed | { code: string; provider: ResolvedProvider } {
  if (answer.error !== undefined) return { failed: shownError(answer.error), why: "the provider refused" };
  const failed = "server_error";
  if (!isIssuerRight(state, answer.iss)) return { failed, why: "the answer is of another issuer" };
  const { code = "" } = answer;
  if (code === "" || code.length > codeLengthMax) return { failed, why: "the answer has no code" };
  const provider = providers.get(entry.instance.seq, state.provider);
  if (provider?.clientId === state.endpoints.clientId) return { code, provider };
  return { failed, why: "the settings of the provider have changed meanwhile" };
}

interface SigningIn extends Answered {
  code: string;
  provider: ResolvedProvider;
  redirectUri: string;
}

async function signIn(parts: FlowParts, proof: SigningIn, signal: AbortSignal): Promise<Failed | SignedIn> {
  const { context, providers, completeSignIn } = parts;
  const { state, entry, answer, code, provider, redirectUri } = proof;
  const browser = { ...answer.browser(entry), flow: "" };
  try {
    const callback = callbackOf(parts, entry, provider);
    const account = await providers.exchange({ provider, state, code, callback }, deadline(parts, signal));
    const now = context.clock.now();
    return await context.store.write((nouns): Failed | SignedIn => {
      const { name } = provider;
      const signedInAs = currentSession(nouns, browser, now)?.user;
      const settled = settleAccount(nouns, { entry, provider: name, account, signedInAs, ip: browser.ip, now });
      if ("refused" in settled) return { failed: "access_denied", why: settled.refused };
      return completeSignIn(nouns, { browser, user: settled.user, provider: name, redirectUri, now });
    });
  } catch (error) {
    const failed = complain(parts, { entry, provider: provider.name, error });
    return { failed, why: error instanceof Failure ? error.message : "the provider took too long" };
  }
}

function record({ context }: FlowParts, { state, entry, answer }: Answered, { failed, why }: Failed): Promise<void> {
  const { instance } = entry;
  const { ip } = answer.browser(entry);
  const act = { instance, actor: "user", action: "signin.fail", provider: state.provider, ip };
  const now = context.clock.now();
  return context.store.write((nouns) =>
    auditAttempt(nouns, { ...act, detail: { why, error: failed }, now }, context.limits),
  );
}
