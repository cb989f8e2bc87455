import { Elysia } from "elysia";
import type { Identity } from "../service/identity.ts";
import type { Log } from "../../base/words/log.ts";
import { createAllowedMethods } from "../../base/http/allowed-methods.ts";
import { errorAnswer } from "./answers.ts";
import { createClientAddress, type Proxies } from "../../base/http/client-address.ts";
import { mountDiscovery } from "./discovery.ts";
import { mapError } from "./error-mapping.ts";
import { mountInstances } from "./instances.ts";
import type { HttpLimits, IdentityPlane } from "./plane.ts";
import { mountOpenapi } from "./openapi.ts";
import { mountOauth } from "./oauth.ts";
import { mountRefresh } from "./refresh.ts";
import { pathOf, withRequestLog } from "./request-log.ts";
import { mountReset } from "./reset.ts";
import { mountSearch } from "./search.ts";
import { mountSessions } from "./sessions.ts";
import { mountSignIn } from "./sign-in.ts";
import { mountSignOut } from "./sign-out.ts";
import { mountSignUp } from "./sign-up.ts";
import { mountTokens } from "./tokens.ts";
import { mountUsers } from "./users.ts";

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
