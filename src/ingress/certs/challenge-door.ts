import { Failure } from "../../base/wire/failure.ts";
import type { ChallengeAnswers } from "./acme/reachable.ts";

/** Answers to challenges, through whichever proxy runs now. */
export interface ChallengeDoor extends ChallengeAnswers {
  /** Called by the proxy when it serves, and with undefined when it does no more. */
  connect(answers: ChallengeAnswers | undefined): void;
}

export function createChallengeDoor(): ChallengeDoor {
  let answers: ChallengeAnswers | undefined;
  return {
    connect(next) {
      answers = next;
    },
    async set(token, text) {
      if (answers === undefined) {
        throw new Failure("unavailable", "proxy: it does not run, so port 80 is not answered. See: berth doctor");
      }
      await answers.set(token, text);
    },
    // What a proxy that has ended knew is gone with it.
    clear: async (token) => answers?.clear(token),
  };
}
