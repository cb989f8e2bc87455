import { isFields } from "../base/pure/fields.ts";
import type { Log } from "../base/words/log.ts";
import { isContractClient } from "./agent.ts";
import { encoded } from "./encoded.ts";
import { withinTimeLimit } from "./time-limit.ts";
import type { Ask, ReadingLimits, Translation } from "./translation.ts";
import { troubles } from "./troubles.ts";
import { apply } from "../orchestration/api/apply.ts";
import { errorEnvelope } from "../base/http/front/refusal.ts";
import { jsonResponse } from "../base/http/answers.ts";
import { type JobRun, runCronjob, runJob } from "../orchestration/api/jobs.ts";
import { describe } from "../orchestration/api/describe.ts";
import { getPod, listPods } from "../orchestration/api/pods.ts";
import { withData } from "./data.ts";

const onePod = new RegExp(`^${getPod.path.replace(":name", "[^/]+")}$`);

/** That client sorts its tables by `role`. A replica has none, neither as a label nor for everybody else. */
const podRows: Translation = {
  claims: (method, path) => method === "GET" && (path === listPods.path || path === describe.path || onePod.test(path)),
  request: (sent) => withEnvironment(sent),
  answer: (answer) =>
    withData(answer, ({ pods, pod, ...data }) => ({
      ...data,
      ...(pods === undefined ? {} : { pods: Array.isArray(pods) ? pods.map(withRole) : pods }),
      ...(pod === undefined ? {} : { pod: withRole(pod) }),
    })),
};

function withRole(row: unknown): unknown {
  if (!isFields(row) || typeof row.role === "string" || typeof row.kind !== "string" || row.kind === "") return row;
  return { ...row, role: row.kind };
}

/** It asks for one pod in the same words with and without `--show-env`, and hides the values itself. */
function withEnvironment(sent: Request): Request {
  const url = new URL(sent.url);
  if (url.pathname === describe.path) return sent;
  url.searchParams.set("env", "true");
  return new Request(url.href, { headers: sent.headers, signal: sent.signal });
}

const paths: readonly string[] = [runJob.path, runCronjob.path];
const good: readonly JobRun["status"][] = ["succeeded", "scheduled", "running"];

/** That client exits with 1 for an error answer alone, and a pipeline has to see that its job failed. */
const failedJobs: Translation = {
  claims: (method, path) => method === "POST" && paths.includes(path),
  async answer(answer) {
    if (answer.status !== 200) return answer;
    const { data } = (await answer.json()) as { data: JobRun };
    if (good.includes(data.status)) return jsonResponse(200, { status: "ok", data });
    const { kind, scope, name, status, exit_code: code } = data;
    const why = data.error ?? (code === undefined ? status : `exit code ${code}`);
    return jsonResponse(500, { ...errorEnvelope({ status: 500, message: `${kind}/${scope}/${name}: ${why}` }), data });
  },
};

/** That client sends the source of an app by itself, and its manifests never name a build. */
const builds: Translation = {
  claims: (method, path) => method === apply.method && path === apply.path,
  request(request) {
    const url = new URL(request.url);
    url.searchParams.set("unbuilt", "true");
    const { method, headers, body, signal } = request;
    return new Request(url.href, { method, headers, body, signal });
  },
};

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
