import { actorHeader } from "../../base/wire/client.ts";
import type { Endpoint, QueryOf } from "../../base/wire/endpoint.ts";
import type { Controller } from "../controller/controller.ts";
import type { Naming } from "../core/naming.ts";
import type { Log } from "../../base/words/log.ts";
import type { Refusal } from "../../base/http/front/refusal.ts";
import type { RequestHead } from "../../base/http/front/request-head.ts";
import type { Takeover, TakeoverHandler, TakeoverSession } from "../../base/http/front/takeover.ts";
import { refusalOf } from "../../base/http/error-mapping.ts";
import { readActor, readQuery } from "../../base/http/request.ts";

/** What the requests need that are answered outside the app. */
interface TakeoverParts {
  controller: Controller;
  names: Naming;
  log: Log;
  limits: { jsonDepthMax: number; execInputBytesMax: number; logPingMs: number };
}

/** One such request. */
export interface TakenCall<E extends Endpoint> {
  takeover: Takeover;
  parts: TakeoverParts;
  /** Decoded; null where the percent-encoding is broken. */
  params: Record<string, string | null>;
  /** Reads and checks the query. Fails `invalid`. */
  query(): Partial<QueryOf<E>>;
  actor: string;
  /** Answers what was thrown before anything was sent. */
  refuse(error: unknown): void;
  /** Writes the line of the request log, once. */
  answered(status: number): void;
}

interface TakeoverRoute {
  claims(head: RequestHead): boolean;
  handler(parts: TakeoverParts): TakeoverHandler;
}

/** A route of an endpoint whose answer is a session, or a stream that begins before its first byte is there. */
export function takeoverRoute<E extends Endpoint>(
  endpoint: E,
  begin: (call: TakenCall<E>) => TakeoverSession,
): TakeoverRoute {
  const pattern = new RegExp(`^${endpoint.path.replaceAll(/:([^/]+)/g, "(?<$1>[^/]+)")}$`);
  const methods = endpoint.method === "GET" ? ["GET", "HEAD"] : [endpoint.method];
  return {
    claims: ({ method, path }) => methods.includes(method) && pattern.test(path),
    handler: (parts) => (takeover) => begin(takenCall({ endpoint, pattern, parts, takeover })),
  };
}

/** Claims the requests that are answered outside the app. */
export function createTakeovers(
  routes: readonly TakeoverRoute[],
  parts: TakeoverParts,
): (head: RequestHead) => TakeoverHandler | undefined {
  return (head) => routes.find((route) => route.claims(head))?.handler(parts);
}

interface Setup<E extends Endpoint> {
  endpoint: E;
  pattern: RegExp;
  parts: TakeoverParts;
  takeover: Takeover;
}

function takenCall<E extends Endpoint>({ endpoint, pattern, parts, takeover }: Setup<E>): TakenCall<E> {
  const { method, path, target, headers } = takeover.request;
  const actors = headers.filter(([name]) => name === actorHeader.toLowerCase());
  const request = new Request(`http://localhost${target}`, { headers: actors });
  const actor = readActor(request, actorHeader);
  const begunAt = performance.now();
  const answered = (status: number) => {
    const ms = Math.round((performance.now() - begunAt) * 10) / 10;
    parts.log.info("request", { method, path, status, ms, actor });
  };
  return {
    takeover,
    parts,
    params: Object.fromEntries(Object.entries(pattern.exec(path)?.groups ?? {}).map(([k, v]) => [k, decoded(v)])),
    query: () => readQuery(request, endpoint) as Partial<QueryOf<E>>,
    actor,
    answered,
    refuse(error) {
      const refusal: Refusal = refusalOf(error, parts.log);
      answered(refusal.status);
      takeover.refuse(refusal);
    },
  };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
