import { errorResponse } from "../../base/http/answers.ts";
import { pathOf } from "../../base/http/request.ts";
import { Failure } from "../../base/wire/failure.ts";
import { isReservedPrefix } from "../../orchestration/api/plugins/reserved.ts";
import { planeEndpoint, planePrefix } from "../api/plane-endpoint.ts";
import { answeredHeaders, forwardedHeaders, wantsProgram } from "../core/plugins/proxy-headers.ts";
import type { OpenStream } from "../service/streams.ts";
import { requireScope } from "../service/tokens/access.ts";
import { recorded } from "./mount.ts";
import type { ObservabilityPlane, Visitor } from "./plane.ts";

const changing = ["POST", "PUT", "PATCH", "DELETE"] as const;

interface Asked {
  request: Request;
  visitor: Visitor;
  /** Prefix of headers of this product. */
  headerPrefix: string;
  /** `/api/pat/v1/PREFIX/SCOPE/NAME`, and what follows. */
  base: string;
  rest: string;
  prefix: string;
  scope: string;
  name: string;
}

/**
 * Routes of plugins: `/api/pat/v1/PREFIX/SCOPE/NAME/…` leads to a ready container of the plugin's own block. Answers
 * undefined for every path that the plane serves itself, and for those that are too short.
 */
export function createPluginProxy(plane: ObservabilityPlane, headerPrefix: string) {
  return (request: Request, visitor: Visitor): Promise<Response> | undefined => {
    const asked = readAsked(request, visitor, headerPrefix);
    if (asked === undefined || isReservedPrefix(asked.prefix)) return undefined;
    const answered = forward(plane, asked).catch(plane.mapError);
    const method = changing.find((word) => word === request.method);
    if (method === undefined) return answered;
    const path = `/${asked.prefix}/:scope/:name/*`;
    const endpoint = planeEndpoint({ method, path, scope: "actions", summary: "a route of a plugin" });
    return recorded(plane, { endpoint, request, visitor }, answered);
  };
}

function readAsked(request: Request, visitor: Visitor, headerPrefix: string): Asked | undefined {
  const path = pathOf(request);
  const [prefix = "", scope = "", name = "", ...more] = path.slice(planePrefix.length + 1).split("/");
  if (![prefix, scope, name].every((part) => /^[A-Za-z0-9][\w.-]*$/.test(part))) return undefined;
  const base = `${planePrefix}/${prefix}/${scope}/${name}`;
  const rest = `/${more.join("/")}${new URL(request.url).search}`;
  return { request, visitor, headerPrefix, base, rest, prefix, scope, name };
}

async function forward(plane: ObservabilityPlane, asked: Asked): Promise<Response> {
  const { request, visitor, prefix, scope, name, rest, base } = asked;
  const { rates, streams, plugins } = plane.observability;
  const reads = request.method === "GET";
  requireScope(visitor.grant, reads ? "read" : "actions");
  rates.request(visitor.grant, reads ? "read" : "change");
  if (!reads && !changing.some((word) => word === request.method)) {
    throw new Failure("invalid", `routes of plugins take GET, HEAD, ${changing.join(", ")}; not ${request.method}`);
  }
  if (wantsProgram(request.headers)) throw new Failure("forbidden", "no page runs what the routes of a plugin answer");
  const origin = await plugins.routes.origin(visitor.grant, prefix, { scope, name }).catch(asUnreachable);
  if (origin instanceof Response) return origin;
  if (origin === undefined) {
    throw new Failure("not_found", `path ${JSON.stringify(pathOf(request))} does not exist on the observability plane`);
  }
  const stream = streams.open(visitor.grant, request.signal);
  plane.connected.keepOpen(request);
  try {
    return await carried(plane, { asked, origin, stream, url: `${origin}${rest}`, base });
  } catch (error) {
    stream.close();
    throw error;
  }
}

interface Carrying {
  asked: Asked;
  origin: string;
  stream: OpenStream;
  url: string;
  base: string;
}

async function carried(plane: ObservabilityPlane, { asked, origin, stream, url, base }: Carrying): Promise<Response> {
  const { limits, observability } = plane;
  const { request, visitor, headerPrefix, scope, name } = asked;
  const late = new AbortController();
  const signal = AbortSignal.any([stream.signal, late.signal]);
  const watch = createWatch(() => late.abort());
  let refused: unknown;
  watch.next(limits.pluginRoutes.headMs);
  const sent =
    request.body === null
      ? null
      : counted(request.body, {
          max: limits.pluginRoutes.requestBytesMax,
          moved: () => watch.next(limits.pluginRoutes.headMs),
          failed: (fault) => {
            refused = fault;
          },
        });
  const headers = forwardedHeaders(request.headers, { client: visitor.ip, base, headerPrefix });
  try {
    const answer = await observability.plugins.routes.forward(url, {
      method: request.method,
      headers,
      body: sent,
      signal,
    });
    watch.next(limits.pluginRoutes.idleMs);
    const body =
      answer.body === null
        ? null
        : counted(answer.body, {
            max: limits.pluginRoutes.answerBytesMax,
            moved: () => watch.next(limits.pluginRoutes.idleMs),
            ended: () => {
              watch.stop();
              stream.close();
            },
          });
    if (body === null) {
      watch.stop();
      stream.close();
    }
    return new Response(body, { status: answer.status, headers: answeredHeaders(answer.headers, { origin, base }) });
  } catch {
    watch.stop();
    stream.close();
    if (refused instanceof Failure) throw refused;
    const seconds = limits.pluginRoutes.headMs / 1_000;
    const why = late.signal.aborted ? `did not answer within ${seconds} s` : "cannot be reached";
    return unreachable(`the container of ${scope}/${name} ${why}`);
  }
}

function asUnreachable(error: unknown): Response {
  if (error instanceof Failure && error.code === "unavailable") return unreachable(error.message);
  throw error;
}

function unreachable(message: string): Response {
  return errorResponse({ status: 502, message });
}

/** Calls `late` when nothing asked for more time. */
function createWatch(late: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => clearTimeout(timer);
  return {
    stop,
    next(ms: number) {
      stop();
      timer = setTimeout(late, ms);
    },
  };
}

interface Counting {
  max: number;
  moved: () => void;
  ended?: () => void;
  failed?: (error: unknown) => void;
}

/** The same bytes, as they come and as they are taken; breaks off beyond `max`. */
function counted(
  body: ReadableStream<Uint8Array>,
  { max, moved, ended, failed }: Counting,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          moved();
          if (done) {
            ended?.();
            controller.close();
            return;
          }
          bytes += value.length;
          if (bytes > max) throw new Failure("too_large", `more than ${max} bytes went through a route of a plugin`);
          controller.enqueue(value);
        } catch (error) {
          failed?.(error);
          ended?.();
          await reader.cancel(error).catch(() => undefined);
          controller.error(error);
        }
      },
      async cancel(reason) {
        ended?.();
        await reader.cancel(reason).catch(() => undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
