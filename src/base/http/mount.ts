import type { Elysia } from "elysia";
import type { DataOf, Endpoint, ParamsOf, QueryOf } from "../wire/endpoint.ts";
import { jsonResponse, okResponse } from "./answers.ts";
import { answerOnce, type CarryOutOnce, keyOf } from "./once.ts";
import { readActor, readBody, readQuery, readText } from "./request.ts";

/** What every mounted endpoint shares. */
export interface Plane {
  app: Elysia;
  /** Header that names who asks. */
  actorHeader: string;
  jsonDepthMax: number;
  /** For requests with a key of the client's own; without it a key means nothing. */
  once?: CarryOutOnce;
  /** The answer for what a handler threw. */
  mapError(error: unknown): Response;
}

/** One request, read and checked as far as its endpoint's schemas say. */
export interface Call<E extends Endpoint> {
  /** Decoded; null where the percent-encoding is broken. */
  params: ParamsOf<E, string | null>;
  query: Partial<QueryOf<E>>;
  /** Parsed JSON, or text where the endpoint says so; for endpoints with a body. */
  body: unknown;
  actor: string;
  /** As it came in: what a door knows of its sender is known by this object. */
  request: Request;
}

type Answer<E extends Endpoint> = (call: Call<E>) => DataOf<E> | Promise<DataOf<E>>;

interface Handler<E extends Endpoint> {
  answer: Answer<E>;
  /** 200 where left out. */
  status?(data: DataOf<E>): number;
  /** Beside those of every answer. */
  headers?(data: DataOf<E>): Record<string, string>;
}

/** Mounts one endpoint value: reads the request, calls the handler, wraps its data in the envelope. */
export function mount<E extends Endpoint>(plane: Plane, endpoint: E, how: Answer<E> | Handler<E>): void {
  const handler: Handler<E> = typeof how === "function" ? { answer: how } : how;
  const respond = (data: DataOf<E>): Response => {
    const status = handler.status?.(data) ?? 200;
    const headers = handler.headers?.(data);
    return endpoint.flat === true ? jsonResponse(status, data, headers) : okResponse(status, data, headers);
  };
  const answer = (request: Request, { params, body, came }: Asking<E>): Response | Promise<Response> => {
    const query = readQuery(request, endpoint) as Partial<QueryOf<E>>;
    const data = handler.answer({ params, query, body, actor: readActor(request, plane.actorHeader), request: came });
    return data instanceof Promise ? data.then(respond) : respond(data);
  };
  const withBody = async (request: Request, asking: Omit<Asking<E>, "body">): Promise<Response> => {
    const isText = endpoint.bodyType !== undefined;
    const body = isText ? await readText(request) : await readBody(request, { depthMax: plane.jsonDepthMax });
    return answer(request, { ...asking, body });
  };
  plane.app.route(
    endpoint.method,
    endpoint.path,
    ({ request, params: named }) => {
      const params = named as ParamsOf<E, string | null>;
      const run = (asked: Request) =>
        guarded(plane, () =>
          endpoint.body === undefined
            ? answer(asked, { params, body: undefined, came: request })
            : withBody(asked, { params, came: request }),
        );
      return guarded(plane, () => keyed(plane, { endpoint, request }, run));
    },
    // The body is ours to read: Elysia's own parsers go by Content-Type and tell no positions.
    { parse: "none" },
  );
}

/**
 * Mounts an endpoint that makes its answer itself: a stream, or an envelope of somebody else. A body is the handler's
 * to read. What fails before the first byte is an envelope all the same.
 */
export function mountStream<E extends Endpoint>(
  plane: Plane,
  endpoint: E,
  respond: (call: Call<E>, request: Request) => Promise<Response>,
): void {
  plane.app.route(
    endpoint.method,
    endpoint.path,
    ({ request, params }) =>
      guarded(plane, async () => {
        if (plane.once !== undefined) keyOf(request, endpoint);
        const query = readQuery(request, endpoint) as Partial<QueryOf<E>>;
        const actor = readActor(request, plane.actorHeader);
        return respond(
          { params: params as ParamsOf<E, string | null>, query, body: undefined, actor, request },
          request,
        );
      }),
    { parse: "none" },
  );
}

/** What the handler gets beside the query. `came`: the request before it was read for its key. */
interface Asking<E extends Endpoint> extends Pick<Call<E>, "params" | "body"> {
  came: Request;
}

interface Asked {
  endpoint: Endpoint;
  request: Request;
}

function keyed({ once }: Plane, { endpoint, request }: Asked, run: (request: Request) => Response | Promise<Response>) {
  const key = once === undefined ? undefined : keyOf(request, endpoint);
  return once === undefined || key === undefined ? run(request) : answerOnce(once, { request, key }, run);
}

/** Elysia looks for `async` in a handler's text and lets a rejection escape where it finds none. */
function guarded(plane: Plane, run: () => Response | Promise<Response>): Response | Promise<Response> {
  try {
    const response = run();
    return response instanceof Promise ? response.catch(plane.mapError) : response;
  } catch (error) {
    return plane.mapError(error);
  }
}
