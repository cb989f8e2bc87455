import { isFields } from "../base/pure/fields.ts";
import type { Log } from "../base/words/log.ts";
import { isContractClient } from "./agent.ts";
import { builds } from "./builds.ts";
import { encoded } from "./encoded.ts";
import { failedJobs } from "./failed-jobs.ts";
import { podRows } from "./pod-rows.ts";
import { withinTimeLimit } from "./time-limit.ts";
import type { Ask, ReadingLimits, Translation } from "./translation.ts";
import { troubles } from "./troubles.ts";

type Fetch = (request: Request) => Response | Promise<Response>;

interface ContractClientOptions {
  prefix: string;
  log: Log;
  limits: ReadingLimits & { contractClientMs: number };
}

/** In this order for requests, and in the other for answers. */
const translations: readonly Translation[] = [failedJobs, encoded, builds, podRows, troubles];

/** Serves the contract's own client beside all others: nothing behind this door knows of it. */
export function withContractClient(fetch: Fetch, { prefix, log, limits }: ContractClientOptions): Fetch {
  const answer = withinTimeLimit((request) => translated(fetch, request, limits), {
    answerMs: limits.contractClientMs,
    log,
  });
  return (request) => (isContractClient(request.headers.get("user-agent"), prefix) ? answer(request) : fetch(request));
}

async function translated(fetch: Fetch, sent: Request, limits: ReadingLimits): Promise<Response> {
  const { pathname } = new URL(sent.url);
  const used = translations.filter(({ claims }) => claims(sent.method, pathname));
  const ask = asking(fetch, sent);
  let request = sent;
  for (const { request: translate } of used) request = (await translate?.(request, limits)) ?? request;
  let answer = await fetch(request);
  for (const { answer: translate } of used.toReversed()) answer = (await translate?.(answer, sent, ask)) ?? answer;
  return answer;
}

function asking(fetch: Fetch, { url, headers, signal }: Request): Ask {
  return async (target) => {
    const answer = await fetch(new Request(new URL(target, url).href, { headers, signal }));
    const envelope: unknown = answer.status === 200 ? await answer.json() : undefined;
    return isFields(envelope) ? envelope.data : undefined;
  };
}
