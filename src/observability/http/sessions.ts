import { okResponse } from "../../base/http/answers.ts";
import type { DataOf, Endpoint } from "../../base/wire/endpoint.ts";
import { Failure } from "../../base/wire/failure.ts";
import { getSession, signIn, signOut, uiHeader } from "../api/sessions.ts";
import { readBoundedBody } from "./bounded.ts";
import type { OpenSession } from "../service/sessions.ts";
import { unauthorizedText } from "../service/tokens/access.ts";
import { type ClientConnection, isCrossSite } from "./client-connection.ts";
import type { ObservabilityPlane } from "./plane.ts";
import type { SessionCookie } from "./session-cookie.ts";

/** Sign-in and sign-out of the web UI. */
export function mountSessions(
  plane: ObservabilityPlane,
  { cookie, connectionOf }: { cookie: SessionCookie; connectionOf: (request: Request) => ClientConnection },
): void {
  const { sessions } = plane.observability;
  const { jsonDepthMax: depthMax, signInBodyBytesMax: bytesMax } = plane.limits;
  const mount = (endpoint: Endpoint, answer: (request: Request, connection: ClientConnection) => Promise<Response>) => {
    plane.app.route(
      endpoint.method,
      endpoint.path,
      async ({ request }) => answer(request, connectionOf(request)).catch(plane.mapError),
      { parse: "none" },
    );
  };
  mount(signIn, async (request, connection) => {
    requireOwnPage(request);
    if (!connection.isPrivate) throw new Failure("forbidden", plainText);
    const agent = request.headers.get("user-agent") ?? "";
    const body = await readBoundedBody(request, { bytesMax, depthMax });
    const open = await sessions.signIn(body, { ip: connection.ip, agent });
    return answered(open, await cookie.write(open.session, connection.tls));
  });
  mount(getSession, async (request, connection) => {
    const open = await openSession(request, connection, { cookie, plane });
    if (open === undefined) throw new Failure("unauthorized", unauthorizedText);
    return answered(open);
  });
  mount(signOut, async (request, connection) => {
    requireOwnPage(request);
    const id = await cookie.read(request, connection.tls);
    if (id !== undefined) await sessions.signOut(id);
    const data: DataOf<typeof signOut> = { signed_out: true };
    return okResponse(200, data, { "Set-Cookie": cookie.clear(connection.tls), "Cache-Control": "no-store" });
  });
}

const plainText =
  "a browser may not sign in over plain HTTP from another machine: everyone on the way could read the cookie; " +
  "use TLS (--observability-tls), or berth ui on your own machine";

/** The session of the cookie of a request, where the way of the cookie is private. */
export async function openSession(
  request: Request,
  { ip, tls, isPrivate }: ClientConnection,
  { cookie, plane }: { cookie: SessionCookie; plane: ObservabilityPlane },
): Promise<OpenSession | undefined> {
  if (!isPrivate) return undefined;
  const id = await cookie.read(request, tls);
  const agent = request.headers.get("user-agent") ?? "";
  return id === undefined ? undefined : plane.observability.sessions.find(id, { ip, agent });
}

/** Requires, for a change with the power of a cookie, that a page of this plane sent it. Fails `forbidden`. */
export function requireOwnPage({ headers }: Request): void {
  if (isCrossSite(headers)) throw new Failure("forbidden", "a page of another site sent this request");
  if (headers.get(uiHeader) === null) {
    throw new Failure("forbidden", `with a session, requests that change something need the header ${uiHeader}`);
  }
}

function answered({ session, grant: { id, name, scopes, apps, person } }: OpenSession, setCookie?: string): Response {
  const data: DataOf<typeof getSession> = {
    id,
    ...(name === undefined ? {} : { name }),
    scopes: [...scopes],
    apps: [...apps],
    ...(person === undefined ? {} : { person }),
    expires_at: new Date(session.expiresAt).toISOString(),
  };
  const set: Record<string, string> = setCookie === undefined ? {} : { "Set-Cookie": setCookie };
  return okResponse(200, data, { ...set, "Cache-Control": "no-store" });
}
