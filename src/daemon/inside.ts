import { errorResponse } from "../base/http/answers.ts";
import { failureStatus } from "../base/wire/failure.ts";

/** `More` says on whose behalf. */
type Ask<More extends unknown[]> = (request: Request, ...more: More) => Response | Promise<Response>;

/** The orchestration plane in process, for the other planes, which serve longer than it does. */
interface Inside<More extends unknown[]> {
  ask: Ask<More>;
  /** Answers 503 from now on, and lets requests under way end for `graceMs` milliseconds. */
  stop(graceMs: number): Promise<void>;
}

/** `plane` is asked for with each request, since it is made after who asks. */
export function createInside<More extends unknown[]>(plane: () => Ask<More>): Inside<More> {
  const underWay = new Set<Promise<unknown>>();
  let isStopping = false;
  return {
    ask(request, ...more) {
      if (isStopping) return stoppingAnswer();
      const answer = plane()(request, ...more);
      if (!(answer instanceof Promise)) return answer;
      const ended = answer.catch(() => undefined).finally(() => underWay.delete(ended));
      underWay.add(ended);
      return answer;
    },
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
