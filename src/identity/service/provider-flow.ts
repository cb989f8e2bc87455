import { arrive } from "./arrive.ts";
import { depart } from "./depart.ts";
import type { Arrival, Departure, FlowParts, ProviderAnswer } from "./flow-parts.ts";
import type { Visit } from "./visit.ts";

/** Signing in through a provider: there and back (identity API, section 1). */
export interface ProviderFlow {
  depart(visit: Visit, wish: { provider: string; redirectUri: string }, signal: AbortSignal): Promise<Departure>;
  arrive(answer: ProviderAnswer, signal: AbortSignal): Promise<Arrival>;
}

export function createProviderFlow(parts: FlowParts): ProviderFlow {
  return {
    depart: (visit, wish, signal) => depart(parts, { visit, ...wish }, signal),
    arrive: (answer, signal) => arrive(parts, answer, signal),
  };
}
