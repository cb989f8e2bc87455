import { Failure } from "../../../base/wire/failure.ts";
import type { Clock } from "../../../base/words/clock.ts";
import type { Log } from "../../../base/words/log.ts";
import type { KeptAnswer } from "../../store/keyed-request-records.ts";
import type { Store } from "../../store/store.ts";

/** A request as its client named it. */
interface Asked {
  key: string;
  /** Digest of method, path, query and body. */
  digest: string;
}

interface OnceParts {
  store: Store;
  clock: Clock;
  log: Log;
  limits: { keyedRequestsKeptMs: number; keyedAnswerBytesMax: number };
}

/**
 * Carries a request out, once for each key: one that comes again gets the answer of the first, and waits for it where
 * that is still under way. A request that was refused, or whose work failed, changed nothing and is forgotten. Fails
 * with what the work throws, `unprocessable` when the
 * key belongs to another request, `conflict` when the answer is not known.
 */
type Once = (asked: Asked, work: () => Promise<KeptAnswer>) => Promise<KeptAnswer & { again: boolean }>;

export function createOnce(parts: OnceParts): Once {
  const underWay = new Map<string, { digest: string; answer: Promise<KeptAnswer> }>();
  return async (asked, work) => {
    const { key, digest } = asked;
    const running = underWay.get(key);
    if (running !== undefined) {
      requireSame(running.digest, asked);
      return { ...(await running.answer), again: true };
    }
    const kept = known(parts, asked);
    if (kept !== undefined) return { ...kept, again: true };
    const answer = carryOut(parts, asked, work);
    underWay.set(key, { digest, answer });
    try {
      return { ...(await answer), again: false };
    } finally {
      underWay.delete(key);
    }
  };
}

/** The answer of an earlier request that has ended. */
function known({ store, clock, limits }: OnceParts, asked: Asked): KeptAnswer | undefined {
  const earlier = store.keyedRequests.get(asked.key);
  if (earlier === undefined || earlier.at < clock.now() - limits.keyedRequestsKeptMs) return undefined;
  requireSame(earlier.digest, asked);
  if (earlier.answer !== undefined) return earlier.answer;
  const look = "look with GET /events before you send it with another key";
  throw earlier.done
    ? new Failure("conflict", `this request was carried out already, and its answer was too large to keep; ${look}`)
    : new Failure("conflict", `the server ended while it worked on this request, so it may be done or not; ${look}`);
}

function requireSame(digest: string, asked: Asked): void {
  if (digest === asked.digest) return;
  throw new Failure(
    "unprocessable",
    "the Idempotency-Key was sent with another request before: each request needs a key of its own",
  );
}

async function carryOut({ store, clock, log, limits }: OnceParts, asked: Asked, work: () => Promise<KeptAnswer>) {
  const at = clock.now();
  const before = at - limits.keyedRequestsKeptMs;
  await store.write((tx) => tx.keyedRequests.put({ ...asked, at, done: false, answer: undefined }, before));
  const answer = await work().catch(async (error: unknown) => {
    await store.write((tx) => tx.keyedRequests.remove(asked.key));
    throw error;
  });
  const isDone = answer.status < 300;
  const isSmall = Buffer.byteLength(answer.body) <= limits.keyedAnswerBytesMax;
  try {
    await store.write((tx) => {
      if (!isDone) tx.keyedRequests.remove(asked.key);
      else tx.keyedRequests.put({ ...asked, at, done: true, answer: isSmall ? answer : undefined }, before);
    });
  } catch (error) {
    // What was asked for is done: only a repeated request gets the answer that this is not known.
    log.error("the answer to a request with a key was not kept", { error });
  }
  return answer;
}
