import type { Elysia } from "elysia";
import { type Principal, unnamed } from "../../access/principal.ts";
import type { DataOf, Endpoint, ParamsOf, QueryOf } from "../wire/endpoint.ts";
import { jsonResponse, okResponse } from "./answers.ts";
import { answerOnce, type CarryOutOnce, keyOf } from "./once.ts";
import { readActor, readBody, readOptionalBody, readQuery, readText } from "./request.ts";

/** One request, read and checked as far as its endpoint's schemas say. */
export interface Call<E extends Endpoint> {
  /** Decoded; null where the percent-encoding is broken. */
  params: ParamsOf<E, string | null>;
  query: Partial<QueryOf<E>>;
  /** Parsed JSON, or text where the endpoint says so; for endpoints with a body. */
  body: unknown;
  /** For the event log. */
  actor: string;
  /** Who asks, as far as it decides what may be done and seen. */
  by: Principal;
  /** As it came in. */
  request: Request;
  /** For an answer that goes on: it ends once `signal` aborts. Call `close` when it has ended. */
  open(): { signal: AbortSignal; close(): void };
  /** The JSON body, for handlers of `mountStream`. `optional`: undefined where it is left out. Fails as a body that was read. */
  readBody(optional?: "optional"): Promise<unknown>;
  /** Lets the connection stand still while the answer is made. */
  keepOpen(): void;
  /** Aborts when the caller has left and its work is to end with that; work that was begun with a token goes on. */
  left: AbortSignal;
  /** Puts the data into another form, where the endpoint was called by an alias that has one. */
  shown?: ((data: never) => unknown) | undefined;
}

/** What an endpoint does. With `answer` the plane reads the body; without it, the body is for `respond` to read. */
export interface Served<E extends Endpoint, More = unknown> {
  answer?(call: Call<E> & More): DataOf<E> | Promise<DataOf<E>>;
  respond(call: Call<E> & More): Response | Promise<Response>;
}

/** What an endpoint of a plane does, by its value; undefined for one that it does not serve. */
export type ServedBy = <E extends Endpoint>(endpoint: E) => Served<E> | undefined;

/**
 * One way into the server with a list of its own endpoints: the one of operators, or the one of tokens and sessions. It
 * knows who asks and what they may. `More`: what a call says there beside.
 */
export interface Plane<More = unknown> {
  serve<E extends Endpoint>(endpoint: E, how: Served<E, More>): void;
  jsonDepthMax: number;
  /** For requests with a key of the client's own; without it a key means nothing. */
  once?: CarryOutOnce | undefined;
  /** The name of the token that an actor is, where the plane shows names. */
  nameOf?(actor: string): string | undefined;
  /** The answer for what a handler threw. */
  mapError(error: unknown): Response;
}

export type Answer<E extends Endpoint, More = unknown> = (call: Call<E> & More) => DataOf<E> | Promise<DataOf<E>>;

interface Handler<E extends Endpoint, More> {
  answer: Answer<E, More>;
  /** 200 where left out. */
  status?(data: DataOf<E>): number;
  /** Beside those of every answer. */
  headers?(data: DataOf<E>, call: Call<E> & More): Record<string, string>;
}

/** Mounts one endpoint value: its handler gets the request as it was read, and its data is wrapped in the envelope. */
export function mount<E extends Endpoint, More = unknown>(
  plane: Plane<More>,
  endpoint: E,
  how: Answer<E, More> | Handler<E, More>,
): void {
  const handler: Handler<E, More> = typeof how === "function" ? { answer: how } : how;
  const wrapped = (data: DataOf<E>, call: Call<E> & More): Response => {
    const status = handler.status?.(data) ?? 200;
    const headers = handler.headers?.(data, call);
    const shown = call.shown === undefined ? data : call.shown(data as never);
    return endpoint.flat === true ? jsonResponse(status, shown, headers) : okResponse(status, shown, headers);
  };
  plane.serve(endpoint, {
    answer: handler.answer,
    respond(call) {
      const data = handler.answer(call);
      return data instanceof Promise ? data.then((it) => wrapped(it, call)) : wrapped(data, call);
    },
  });
}

/**
 * Mounts an endpoint that makes its answer itself: a stream, or an envelope of somebody else. A body is the handler's
 * to read. What fails before the first byte is an envelope all the same.
 */
export function mountStream<E extends Endpoint, More = unknown>(
  plane: Plane<More>,
  endpoint: E,
  respond: (call: Call<E> & More, request: Request) => Promise<Response>,
): void {
  plane.serve(endpoint, { respond: (call) => respond(call, call.request) });
}

interface OperatorPlaneOptions extends Pick<Plane, "jsonDepthMax" | "once" | "mapError"> {
  app: Elysia;
  /** Those that it serves; others that are mounted on it are left out. */
  endpoints: readonly Endpoint[];
  /** Header that names who asks. */
  actorHeader: string;
  /** Whom the listener that a request came through has vouched for. */
  principals: WeakMap<Request, Principal>;
}

/** The plane of operators and of programs that ask in their name: no endpoint needs a scope. */
export function createOperatorPlane({
  app,
  endpoints,
  actorHeader,
  principals,
  ...options
}: OperatorPlaneOptions): Plane & { servedBy: ServedBy } {
  const mounted = new Map<Endpoint, unknown>();
  const plane: Plane & { servedBy: ServedBy } = {
    ...options,
    servedBy: <E extends Endpoint>(endpoint: E) => mounted.get(endpoint) as Served<E> | undefined,
    serve(endpoint, how) {
      const { answer, respond } = how;
      if (!endpoints.includes(endpoint)) return;
      mounted.set(endpoint, how);
      const depth = { depthMax: plane.jsonDepthMax };
      const read = (request: Request, { params, body, came }: Asking<typeof endpoint>) =>
        respond({
          params,
          query: readQuery(request, endpoint) as Partial<QueryOf<typeof endpoint>>,
          body,
          actor: readActor(request, actorHeader),
          by: principals.get(came) ?? unnamed,
          request: came,
          open: () => ({ signal: came.signal, close: () => undefined }),
          readBody: (optional) => (optional === undefined ? readBody : readOptionalBody)(came, depth),
          keepOpen: () => undefined,
          // Made only where it is asked for: the signal of a request costs more than the rest of this object.
          get left() {
            return came.signal;
          },
        });
      const withBody = async (request: Request, asking: Omit<Asking<typeof endpoint>, "body">): Promise<Response> => {
        const isText = endpoint.bodyType !== undefined;
        const body = isText ? await readText(request) : await readBody(request, depth);
        return read(request, { ...asking, body });
      };
      app.route(
        endpoint.method,
        endpoint.path,
        ({ request, params: named }) => {
          const params = named as ParamsOf<typeof endpoint, string | null>;
          const run = (asked: Request) =>
            guarded(plane, () =>
              answer === undefined || endpoint.body === undefined
                ? read(asked, { params, body: undefined, came: request })
                : withBody(asked, { params, came: request }),
            );
          return guarded(plane, () => keyed(plane, { endpoint, request, isRead: answer !== undefined }, run));
        },
        // The body is ours to read: Elysia's own parsers go by Content-Type and tell no positions.
        { parse: "none" },
      );
    },
  };
  return plane;
}

/** What the handler gets beside the query. `came`: the request before it was read for its key. */
interface Asking<E extends Endpoint> extends Pick<Call<E>, "params" | "body"> {
  came: Request;
}

/** `isRead`: the plane reads the body. Handlers that read it themselves also keep the promise of the key. */
function keyed(
  { once }: Plane,
  { endpoint, request, isRead }: { endpoint: Endpoint; request: Request; isRead: boolean },
  run: (request: Request) => Response | Promise<Response>,
): Response | Promise<Response> {
  const key = once === undefined ? undefined : keyOf(request, endpoint);
  return once === undefined || key === undefined || !isRead ? run(request) : answerOnce(once, { request, key }, run);
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
