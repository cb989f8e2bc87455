import { errorResponse } from "../base/http/answers.ts";
import type { Log } from "../base/words/log.ts";
import { failureStatus } from "../base/wire/failure.ts";
import { formatDuration } from "../base/pure/duration.ts";
import { apply } from "../orchestration/api/apply.ts";
import { runCronjob, runJob } from "../orchestration/api/jobs.ts";
import { isBerthItself } from "./agent.ts";
import { runRelease } from "../orchestration/api/releases.ts";

type Ask = (request: Request) => Promise<Response>;

interface TimeLimit {
  /** How long that client is let wait for the head of an answer. */
  answerMs: number;
  log: Log;
}

/** It waits for these as long as they take. */
const patient: readonly string[] = [runJob.path, runCronjob.path, runRelease.path];

/**
 * That client hangs up after 30 s without saying whether anything was done. It is answered before: what changes
 * something goes on, and the error, the only text of an answer that it always prints, says so.
 */
export function withinTimeLimit(ask: Ask, limit: TimeLimit): Ask {
  return (request) => (isPatient(request) ? ask(request) : answered(ask, request, limit));
}

function isPatient({ url, headers }: Request): boolean {
  if (isBerthItself(headers.get("user-agent"))) return true;
  const { pathname, searchParams } = new URL(url);
  if (patient.includes(pathname)) return true;
  return pathname === apply.path && ["true", "1"].includes(searchParams.get("force") ?? "");
}

async function answered(ask: Ask, sent: Request, { answerMs, log }: TimeLimit): Promise<Response> {
  const left = new AbortController();
  const leave = () => left.abort(sent.signal.reason);
  if (sent.signal.aborted) leave();
  sent.signal.addEventListener("abort", leave, { once: true });
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), answerMs);
  const work = ask(new Request(sent, { signal: left.signal }));
  const answer = await Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
  if (answer !== undefined) return answer;
  // The client leaves with this answer: that ends nothing that it asked for.
  sent.signal.removeEventListener("abort", leave);
  const what = `${sent.method} ${new URL(sent.url).pathname}`;
  if (sent.method === "GET") left.abort();
  work.then(
    async (ended) => {
      log.info("a request that its client stopped waiting for has ended", { request: what, status: ended.status });
      await ended.body?.cancel();
    },
    (error: unknown) => log.warn("a request that its client stopped waiting for failed", { request: what, error }),
  );
  const after = formatDuration(answerMs);
  const message =
    sent.method === "GET"
      ? `${what} had no answer within ${after}; ask again`
      : `${what} is still at work after ${after} and goes on; look with "get pods" or "describe" how far it is`;
  return errorResponse({ status: failureStatus.timeout, message });
}
