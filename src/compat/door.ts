import { isContractClient } from "./agent.ts";
import { builds } from "./builds.ts";
import { failedJobs } from "./failed-jobs.ts";
import type { Translation } from "./translation.ts";

type Fetch = (request: Request) => Response | Promise<Response>;

/** In this order for requests, and in the other for answers. */
const translations: readonly Translation[] = [failedJobs, builds];

/** Serves the contract's own client beside all others: nothing behind this door knows of it. */
export function withContractClient(fetch: Fetch, { prefix }: { prefix: string }): Fetch {
  return (request) =>
    isContractClient(request.headers.get("user-agent"), prefix) ? translated(fetch, request) : fetch(request);
}

async function translated(fetch: Fetch, sent: Request): Promise<Response> {
  const { pathname } = new URL(sent.url);
  const used = translations.filter(({ claims }) => claims(sent.method, pathname));
  let request = sent;
  for (const { request: translate } of used) request = (await translate?.(request)) ?? request;
  let answer = await fetch(request);
  for (const { answer: translate } of used.toReversed()) answer = (await translate?.(answer, sent)) ?? answer;
  return answer;
}
