import { Elysia } from "elysia";
import type { Identity } from "../service/identity.ts";
import type { Log } from "../../base/words/log.ts";
import { createAllowedMethods } from "../../base/http/allowed-methods.ts";
import { errorAnswer, jsonAnswer, textAnswer } from "./answers.ts";
import { createClientAddress, type Proxies } from "../../base/http/client-address.ts";
import { guarded, type HttpLimits, type IdentityPlane } from "./plane.ts";
import { mountOpenapi } from "./openapi.ts";
import { mountOauth } from "./oauth.ts";
import { mountRefresh } from "./refresh.ts";
import { pathOf, withRequestLog } from "./request-log.ts";
import { mountReset } from "./reset.ts";
import { mountSignIn } from "./sign-in.ts";
import { mountSignOut } from "./sign-out.ts";
import { mountSignUp } from "./sign-up.ts";
import { searchInstances } from "../api/instances.ts";
import { mountPreflight } from "./cors.ts";
import { type ApiCall, mountApi } from "./mount.ts";
import { Failure, failureStatus } from "../../base/wire/failure.ts";
import { deleteUser, getUser, listUsers } from "../api/users.ts";
import { redeemToken, verifyToken } from "../api/tokens.ts";
import { instanceOf, instancePaths } from "./instance.ts";
import { getSession, listSessions, revokeSession, sessionConfig } from "../api/sessions.ts";
import { ignoredHeader, searchSessions, searchUsers } from "../api/search.ts";
import type { Found, SearchQuery } from "../service/search.ts";
import type { Query } from "./query.ts";
import { nextCursorHeader } from "../api/paging.ts";
import type { Listing } from "../service/listing.ts";
import type { Page } from "../service/sessions.ts";

const limitMax = 10_000;

/** `limit` and `cursor` of a list. Fails `invalid`. */
function readPage(query: Query): Page {
  const limit = query.get("limit") ?? undefined;
  const cursor = query.get("cursor") ?? undefined;
  if (limit === undefined) return { cursor };
  const count = /^\d{1,6}$/.test(limit) ? Number(limit) : 0;
  if (count < 1 || count > limitMax) throw new Failure("invalid", `limit is not a whole number from 1 to ${limitMax}`);
  return { limit: count, cursor };
}

/** The array, and in the head where it goes on. */
function listAnswer(request: Request, { json, next }: Listing): Response {
  if (next === undefined) return textAnswer(200, json);
  const start = request.url.indexOf("?");
  const query = new URLSearchParams(start < 0 ? "" : request.url.slice(start + 1));
  query.set("cursor", next);
  return textAnswer(200, json, {
    [nextCursorHeader]: next,
    Link: `<${pathOf(request)}?${query}>; rel="next"`,
  });
}

/** Sets of keys may be remembered for as long as it takes to make a new one known. */
const jwksHeaders = { "Cache-Control": "public, max-age=600" };

function mountDiscovery(plane: IdentityPlane): void {
  const { discovery, signingPairs } = plane.identity;
  for (const path of instancePaths("/.well-known/jwks.json")) {
    plane.app.get(path, ({ request, params }) =>
      guarded(plane, () => {
        const entry = instanceOf(plane, request, params);
        if (entry === undefined) return errorAnswer(404, "Instance not found");
        return jsonAnswer(200, signingPairs.jwks(entry), jwksHeaders);
      }),
    );
  }
  for (const path of instancePaths("/.well-known/openid-configuration")) {
    plane.app.get(path, ({ request, params }) =>
      guarded(plane, () => {
        const entry = instanceOf(plane, request, params);
        if (entry === undefined) return errorAnswer(404, "Instance not found");
        return jsonAnswer(200, discovery.configuration(entry));
      }),
    );
  }
}

interface IdentityAppOptions {
  identity: Identity;
  log: Log;
  limits: HttpLimits;
  proxies: Omit<Proxies, "hopsMax">;
}

/** The identity service over HTTP: its API under `/api/v1`, and what browsers see of an instance. */
export function createIdentityApp({ identity, log, limits, proxies }: IdentityAppOptions) {
  const app = new Elysia({ normalize: false, strictPath: true, handler: { standardHostname: false } });
  app.onError(({ code, error, request }) => (code === "NOT_FOUND" ? unknown(request) : mapError(error, log)));
  const plane: IdentityPlane = {
    app,
    identity,
    limits,
    log,
    keys: new Map(),
    mapError: (error) => mapError(error, log),
    clientIp: createClientAddress({
      ...proxies,
      hopsMax: limits.forwardedHopsMax,
      onIgnored: (proxy) =>
        log.warn("X-Forwarded-For is not believed: all clients behind this proxy share one limit", {
          proxy,
          hint: "list it in --identity-trusted-proxies",
        }),
    }),
  };
  mountTokens(plane);
  mountSearch(plane);
  mountSessions(plane);
  mountRefresh(plane);
  mountUsers(plane);
  mountInstances(plane);
  mountDiscovery(plane);
  mountSignIn(plane);
  mountSignUp(plane);
  mountSignOut(plane);
  mountReset(plane);
  mountOauth(plane);
  mountOpenapi(plane);
  const allowedOn = createAllowedMethods(app.routes);
  return { fetch: withRequestLog(app.fetch, log) };

  function unknown(request: Request): Response {
    const allow = allowedOn(pathOf(request)).join(", ");
    return allow === "" ? errorAnswer(404, "Not found") : errorAnswer(405, "Method not allowed", { Allow: allow });
  }
}

function mountInstances(plane: IdentityPlane): void {
  const { lookup } = plane.identity;
  mountPreflight(plane, [searchInstances]);
  mountApi(plane, searchInstances, {
    key: "either",
    cors: true,
    answer: ({ caller, query }) => jsonAnswer(200, lookup.byQuery(caller.entry, query.get("query") ?? "")),
  });
}

/** The answer for anything a handler threw: expected errors say their text, everything else is a bug, shown as an id. */
function mapError(error: unknown, log: Log): Response {
  if (error instanceof Failure && error.code !== "internal") return failureAnswer(error);
  const id = crypto.randomUUID().slice(0, 8);
  log.error("internal error", { id, error });
  return errorAnswer(failureStatus.internal, `internal error, id ${id}`);
}

function failureAnswer({ code, message, retryAfterSeconds }: Failure): Response {
  const wait: Record<string, string> =
    retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) };
  return errorAnswer(failureStatus[code], message, wait);
}

function mountUsers(plane: IdentityPlane): void {
  const { users } = plane.identity;
  mountApi(plane, listUsers, {
    key: "secret",
    answer: ({ caller, query, request }) => listAnswer(request, users.list(caller.entry, readPage(query))),
  });
  mountApi(plane, getUser, {
    key: "secret",
    refusal: "Missing secret key",
    answer: ({ caller, params }) => jsonAnswer(200, users.get(caller.entry, params.id ?? "")),
  });
  mountApi(plane, deleteUser, {
    key: "secret",
    answer: async ({ caller, params }) => jsonAnswer(200, await users.remove(caller, params.id ?? "")),
  });
}

function mountTokens(plane: IdentityPlane): void {
  const { tokens, hosted } = plane.identity;
  mountApi(plane, verifyToken, {
    key: "secret",
    answer({ caller, body: { token } }) {
      if (typeof token !== "string" || token === "") throw new Failure("invalid", "Missing token");
      const found = tokens.verify(caller.entry, token);
      if (found.valid) return jsonAnswer(200, found.resource);
      return found.error === "User not found" ? errorAnswer(404, found.error) : jsonAnswer(401, found);
    },
  });
  mountApi(plane, redeemToken, {
    key: "secret",
    async answer({ caller, body: { code } }) {
      if (typeof code !== "string" || code === "") throw new Failure("invalid", "Missing code");
      const token = await hosted.redeem(caller.entry, code);
      return token === undefined ? errorAnswer(401, "Invalid code") : jsonAnswer(200, { token });
    },
  });
}

function mountSessions(plane: IdentityPlane): void {
  const { sessions } = plane.identity;
  mountApi(plane, listSessions, {
    key: "secret",
    answer: ({ caller, query, request }) => listAnswer(request, sessions.list(caller.entry, readPage(query))),
  });
  mountApi(plane, getSession, {
    key: "secret",
    answer: ({ caller, params }) => jsonAnswer(200, sessions.get(caller.entry, params.id ?? "")),
  });
  mountApi(plane, revokeSession, {
    key: "secret",
    answer: async ({ caller, params }) => jsonAnswer(200, await sessions.revoke(caller, params.id ?? "")),
  });
  mountPreflight(plane, [sessionConfig]);
  mountApi(plane, sessionConfig, {
    key: "either",
    cors: true,
    answer: ({ caller }) => jsonAnswer(200, sessions.config(caller.entry)),
  });
}

/** Mount it before what has an id in the same place. */
function mountSearch(plane: IdentityPlane): void {
  const { search } = plane.identity;
  mountApi(plane, searchUsers, { key: "secret", answer: (call) => answer(call, search.users) });
  mountApi(plane, searchSessions, { key: "secret", answer: (call) => answer(call, search.sessions) });
}

type Run = (entry: ApiCall["caller"]["entry"], query: SearchQuery) => Found | Promise<Found>;

function answer({ caller, query, request }: ApiCall, run: Run): Response | Promise<Response> {
  const found = run(caller.entry, readSearchQuery(query));
  return found instanceof Promise ? found.then((one) => foundAnswer(request, one)) : foundAnswer(request, found);
}

function readSearchQuery(query: Query): SearchQuery {
  const strict = query.get("strict");
  return {
    ...readPage(query),
    query: query.get("query") ?? undefined,
    email: query.get("email") ?? undefined,
    strict: strict === "1" || strict === "true",
  };
}

function foundAnswer(request: Request, found: Found): Response {
  const response = listAnswer(request, found);
  if (found.ignored.length > 0) response.headers.set(ignoredHeader, found.ignored.map(encodeURIComponent).join(" "));
  return response;
}
