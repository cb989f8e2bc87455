import { Failure } from "../api/failure.ts";
import { callbackPath, connectionId } from "../core/identity/callbacks.ts";
import { shownError } from "../core/identity/endpoints.ts";
import { checkRedirect } from "../core/identity/redirect.ts";
import type { OAuthState } from "../store/identity/records.ts";
import { settleAccount } from "./accounts.ts";
import { audit } from "./audit.ts";
import type { IdentityContext } from "./context.ts";
import { deliverError, type Delivery } from "./delivery.ts";
import type { InstanceEntry } from "./directory.ts";
import type { Admit, Admitted } from "./entrance.ts";
import { isIssuerRight, type Providers, type ResolvedProvider, usesPkce } from "./providers.ts";
import { hashOf, randomSecret, randomState } from "./random.ts";
import type { Visit } from "./visit.ts";

/** Why there is nowhere to send a browser: it gets a page. */
export type FlowProblem = "redirect" | "provider" | "state" | "cookies";

export type Departure = { go: string } | { problem: FlowProblem } | { delivery: Delivery };

/** The answer of a provider, as it came to its callback. */
export interface ProviderAnswer {
  /** As the path says: a provider of the contract by its name, or the id of a connection. */
  callback: { provider: string } | { connection: string };
  state: string | undefined;
  code: string | undefined;
  error: string | undefined;
  iss: string | undefined;
  /** What the browser shows of itself, once its instance is known. */
  visit: (entry: InstanceEntry) => Omit<Visit, "flow"> & { flow: string | undefined };
}

export type Arrival =
  | { problem: FlowProblem; entry?: InstanceEntry; redirectUri?: string }
  | { delivery: Delivery; entry: InstanceEntry; device?: Admitted["device"] };

/** Signing in through a provider: there and back (identity API, section 1). */
export interface ProviderFlow {
  depart(visit: Visit, wish: { provider: string; redirectUri: string }, signal: AbortSignal): Promise<Departure>;
  arrive(answer: ProviderAnswer, signal: AbortSignal): Promise<Arrival>;
}

export interface FlowParts {
  context: IdentityContext;
  providers: Providers;
  admit: Admit;
}

const statePattern = /^[0-9a-f]{64}$/;
const codeLengthMax = 4_096;

export function createProviderFlow({ context, providers, admit }: FlowParts): ProviderFlow {
  const { store, clock, log, limits, baseUrl } = context;
  const deadline = (signal: AbortSignal) =>
    AbortSignal.any([signal, AbortSignal.timeout(limits.signIn.providerTotalMs)]);

  return {
    async depart(visit, wish, signal) {
      const { entry } = visit;
      const redirect = checkRedirect(wish.redirectUri, entry.settings);
      if (!redirect.ok) return { problem: "redirect" };
      const provider = providers.get(entry.instance.seq, wish.provider);
      if (provider === undefined) return { problem: "provider" };
      try {
        const go = await departure({ visit, provider, redirectUri: redirect.value, signal: deadline(signal) });
        return { go };
      } catch (error) {
        const shown = complain({ entry, provider: provider.name, error });
        return { delivery: deliverError(redirect.value, shown) };
      }
    },
    async arrive(answer, signal) {
      const state = await takeState(answer.state);
      const entry = state === undefined ? undefined : context.directory.bySeq(state.instance);
      if (state === undefined || entry === undefined) return { problem: "state" };
      const problem = stateProblem(state, entry, answer);
      // The address was checked when it was stored, but the list may have changed since.
      const redirect = checkRedirect(state.redirectUri, entry.settings);
      if (problem !== undefined || !redirect.ok) {
        return { problem: problem ?? "redirect", entry, ...(redirect.ok ? { redirectUri: redirect.value } : {}) };
      }
      return answered({ state, entry, answer, redirectUri: redirect.value, signal: deadline(signal) });
    },
  };

  interface Leaving {
    visit: Visit;
    provider: ResolvedProvider;
    redirectUri: string;
    signal: AbortSignal;
  }

  async function departure({ visit, provider, redirectUri, signal }: Leaving): Promise<string> {
    const { instance } = visit.entry;
    const { authorize, ...endpoints } = await providers.endpoints(provider, signal);
    const value = randomState(context);
    const verifier = usesPkce(provider) ? randomSecret(context) : undefined;
    const nonce = endpoints.jwks === undefined ? undefined : randomSecret(context);
    const now = clock.now();
    const state: OAuthState = {
      hash: hashOf(value),
      instance: instance.seq,
      provider: provider.name,
      redirectUri,
      browser: hashOf(visit.flow),
      endpoints: { ...endpoints, clientId: provider.clientId },
      codeVerifier: verifier,
      nonce,
      createdAt: now,
      expiresAt: now + limits.signIn.stateMs,
    };
    // Lost in a crash of the machine it costs somebody a second try; nothing is worth a sync to disk here.
    await store.write((nouns) => nouns.oauthStates.put(state), { durable: false });
    const callback = callbackOf(visit.entry, provider);
    return providers.authorizeUrl(provider, { ...endpoints, authorize }, { state: value, verifier, nonce, callback });
  }

  function callbackOf({ instance }: InstanceEntry, { kind, name, source }: ResolvedProvider): string {
    const instanceId = source === "own" ? instance.id : undefined;
    return `${baseUrl}${callbackPath({ kind, name, instanceId })}`;
  }

  /** Gone before anybody is asked anything: a state is good for one answer, whatever comes of it. */
  function takeState(value: string | undefined): Promise<OAuthState | undefined> {
    if (value === undefined || !statePattern.test(value)) return Promise.resolve(undefined);
    return store.write((nouns) => nouns.oauthStates.take(hashOf(value)));
  }

  function stateProblem(state: OAuthState, entry: InstanceEntry, answer: ProviderAnswer): FlowProblem | undefined {
    if (state.expiresAt <= clock.now()) return "state";
    const provider = providers.get(entry.instance.seq, state.provider);
    if (provider === undefined || !isCallbackOf(provider, entry, answer.callback)) return "state";
    const { flow } = answer.visit(entry);
    if (flow === undefined) return "cookies";
    return Buffer.from(hashOf(flow)).equals(state.browser) ? undefined : "state";
  }

  interface Answered {
    state: OAuthState;
    entry: InstanceEntry;
    answer: ProviderAnswer;
    redirectUri: string;
    signal: AbortSignal;
  }

  async function answered({ state, entry, answer, redirectUri, signal }: Answered): Promise<Arrival> {
    const visit = answer.visit(entry);
    const failed = async (error: string, why: string): Promise<Arrival> => {
      await store.write((nouns) =>
        audit(nouns, {
          instance: entry.instance,
          actor: "user",
          action: "signin.fail",
          provider: state.provider,
          ip: visit.ip,
          detail: { why, error },
          now: clock.now(),
        }),
      );
      return { delivery: deliverError(redirectUri, error), entry };
    };
    if (answer.error !== undefined) return failed(shownError(answer.error), "the provider refused");
    if (!isIssuerRight(state, answer.iss)) return failed("server_error", "the answer is of another issuer");
    const code = answer.code ?? "";
    if (code === "" || code.length > codeLengthMax) return failed("server_error", "the answer has no code");
    const provider = providers.get(entry.instance.seq, state.provider);
    if (provider === undefined || provider.clientId !== state.endpoints.clientId) {
      return failed("server_error", "the provider's settings have changed meanwhile");
    }
    try {
      const callback = callbackOf(entry, provider);
      const arrived = await providers.arrive({ provider, state, code, callback }, signal);
      const { ip } = visit;
      const now = clock.now();
      const admitted = await store.write((nouns) => {
        const settled = settleAccount(nouns, { entry, provider: provider.name, arrived, ip, now });
        if ("refused" in settled) return settled;
        const { user } = settled;
        return admit(nouns, { visit: { ...visit, flow: "" }, user, provider: provider.name, redirectUri, now });
      });
      if ("refused" in admitted) return failed("access_denied", admitted.refused);
      return { ...admitted, entry };
    } catch (error) {
      const shown = complain({ entry, provider: provider.name, error });
      return failed(shown, error instanceof Failure ? error.message : "internal error");
    }
  }

  /** Logs what went wrong at a provider, and says what the app gets to know of it. Rethrows what is a bug. */
  function complain({ entry, provider, error }: { entry: InstanceEntry; provider: string; error: unknown }): string {
    const isLate = error instanceof DOMException;
    if (!(error instanceof Failure) && !isLate) throw error;
    log.warn("provider failed", { instance: entry.instance.id, provider, reason: error.message });
    return isLate || error.code === "unavailable" ? "temporarily_unavailable" : "server_error";
  }
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
