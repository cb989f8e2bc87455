import type { ObservabilityNouns } from "../../store/open-store.ts";
import type { UiSession } from "../../store/records.ts";
import type { ObservabilityContext } from "../context.ts";
import type { Streams } from "../streams.ts";

/** Ends sessions of people, in two steps: what is stored, inside a write; then what is open, after it. */
export interface Ender {
  /** Those that `isMeant` picks; the tokens behind them end too. Call it inside a write. */
  mark(nouns: ObservabilityNouns, isMeant: (session: UiSession) => boolean): UiSession[];
  /** Cuts their streams. */
  cut(ended: readonly UiSession[]): void;
}

export function createEnder({ clock }: Pick<ObservabilityContext, "clock">, streams: Pick<Streams, "cut">): Ender {
  return {
    mark(nouns, isMeant) {
      const now = clock.now();
      const ended = nouns.sessions.ofPeople(now).filter(isMeant);
      for (const { id, token } of ended) {
        nouns.sessions.end(id, now);
        nouns.tokens.revoke(token, now);
      }
      return ended;
    },
    cut(ended) {
      for (const { token } of ended) streams.cut(token);
    },
  };
}
