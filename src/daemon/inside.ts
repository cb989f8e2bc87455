import type { Principal } from "../access/principal.ts";
import { errorResponse } from "../base/http/answers.ts";
import type { Plane } from "../base/http/mount.ts";
import { type Client, readAnswer } from "../base/wire/client.ts";
import { failureStatus } from "../base/wire/failure.ts";

type As = (actor: string, by: Principal) => Client;

/** The handlers of the orchestration plane in this process, for the other planes, which serve longer than it does. */
interface Inside {
  as: As;
  /** The other plane as the handlers of this one are mounted on it: they end with this one. */
  through<More>(plane: Plane<More>): Plane<More>;
  /** Answers 503 from now on, and lets calls under way end for `graceMs` milliseconds. */
  stop(graceMs: number): Promise<void>;
}

/** `plane` is asked for with each call, since it is made after the code that asks it. */
export function createInside(plane: As): Inside {
  const underWay = new Set<Promise<unknown>>();
  let isStopping = false;
  const counted = <T>(answer: T | Promise<T>): T | Promise<T> => {
    if (!(answer instanceof Promise)) return answer;
    const ended = answer.catch(() => undefined).finally(() => underWay.delete(ended));
    underWay.add(ended);
    return answer;
  };
  return {
    as: (actor, by) => ({
      call: async (endpoint, ...input) =>
        isStopping
          ? readAnswer(endpoint, failureStatus.unavailable, await stoppingAnswer().text())
          : counted(plane(actor, by).call(endpoint, ...input)),
      raw: async (endpoint, ...input) =>
        isStopping ? stoppingAnswer() : counted(plane(actor, by).raw(endpoint, ...input)),
    }),
    through: (other) => ({
      ...other,
      serve: (endpoint, how) =>
        other.serve(endpoint, {
          ...how,
          respond: (call) => (isStopping ? stoppingAnswer() : counted(how.respond(call))),
        }),
    }),
    async stop(graceMs) {
      isStopping = true;
      let timer: Timer | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs);
      });
      await Promise.race([Promise.all(underWay), late]);
      clearTimeout(timer);
    },
  };
}

const stoppingAnswer = () =>
  errorResponse({
    status: failureStatus.unavailable,
    message: "the server is stopping, try again",
    headers: { "Retry-After": "1" },
  });
