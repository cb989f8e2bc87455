import { unlessAborted } from "../../base/words/abort.ts";
import { renewalTime } from "../core/certificates/renewal.ts";
import type { AcmeIssuer } from "../core/certificates/wanted.ts";
import type { AcmeWorld } from "./acme/issue.ts";
import type { Held, Holdings } from "./holdings.ts";

interface AdviceOptions {
  world: AcmeWorld;
  holdings: Holdings;
  random: () => number;
  /** Between two questions, unless the CA says otherwise. */
  everyMs: number;
}

/** Asks CAs when they want certificates to be renewed (RFC 9773): earlier, for example, when they revoke them. */
interface Advice {
  /** When to ask about a certificate, on the steady clock. */
  dueAt(id: string): number;
  /** Asks, and moves the time of renewal when the CA names another. A CA that does not answer changes nothing. */
  ask(held: Held, issuer: AcmeIssuer, signal: AbortSignal): Promise<void>;
}

const leastMs = 3_600_000;
const mostMs = 24 * 3_600_000;

export function createAdvice({ world, holdings, random, everyMs }: AdviceOptions): Advice {
  const dueTimes = new Map<string, number>();
  const put = (id: string, ms: number) => {
    const at = world.clock.steady() + ms;
    dueTimes.set(id, at);
    return at;
  };
  return {
    // After a start the questions are spread, so that a thousand certificates do not ask at once.
    dueAt: (id) => dueTimes.get(id) ?? put(id, leastMs * random()),
    async ask(held, issuer, signal) {
      put(held.id, everyMs);
      const { renewalAdvice } = await import("./acme/ari.ts");
      const { transportOf } = await import("./acme/issue.ts");
      const question = renewalAdvice(
        { directory: issuer.directory, chain: held.chain },
        transportOf(world, { issuer, signal }),
      );
      const advice = await unlessAborted(
        question.catch(() => undefined),
        signal,
      );
      if (advice === undefined) return;
      if (advice.askAgainMs !== undefined) put(held.id, Math.min(mostMs, Math.max(leastMs, advice.askAgainMs)));
      const renewAt = renewalTime(held, held.random, advice.window);
      // A certificate that was replaced meanwhile has its own time.
      if (renewAt === held.renewAt || holdings.held(held.id)?.serial !== held.serial) return;
      await holdings.keep({ ...held, renewAt });
    },
  };
}
