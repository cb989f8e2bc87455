import { readableEmail } from "../../base/pure/domain-names.ts";
import { okResponse } from "../../base/http/answers.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { Failure } from "../../base/wire/failure.ts";
import { finishSignIn, signInWays, startSignIn } from "../api/sessions.ts";
import { originOf } from "../core/people/places.ts";
import type { SignInProblem } from "../service/people/sign-in.ts";
import { type ClientConnection, isCrossSite } from "./client-connection.ts";
import type { ObservabilityPlane } from "./plane.ts";
import { problemPage } from "./problem-page.ts";
import type { SessionCookie } from "./session-cookie.ts";

interface Parts {
  cookie: SessionCookie;
  connectionOf: (request: Request) => ClientConnection;
}

/** The sign-in through the identity service, as a browser goes through it. */
export function mountPersonSignIn(plane: ObservabilityPlane, { cookie, connectionOf }: Parts): void {
  const { signIn } = plane.observability.people;
  plane.app.get(signInWays.path, async () => {
    try {
      const title = await signIn.title();
      const data: DataOf<typeof signInWays> = title === undefined ? {} : { people: { title } };
      return okResponse(200, data, { "Cache-Control": "no-store" });
    } catch (error) {
      return plane.mapError(error);
    }
  });
  const page = (path: string, answer: (request: Request, connection: ClientConnection) => Promise<Response>) => {
    plane.app.get(path, async ({ request }) => {
      const connection = connectionOf(request);
      if (!connection.isPrivate) return problemPage(403, plainText);
      return answer(request, connection).catch((error: unknown) => failurePage(plane, error));
    });
  };
  page(startSignIn.path, async (request, { ip, tls }) => {
    // A page of another site has nothing to begin here.
    if (isCrossSite(request.headers)) return problemPage(403, ["A page of another site began this sign-in."]);
    const origin = originOf(request.headers.get("host"), tls);
    if (origin === undefined) return problemPage(400, ["The request does not name the host of this page."]);
    const to = new URL(request.url).searchParams.get("to");
    const started = await signIn.start({ browser: { ip, agent: agentOf(request) }, origin, to });
    if (started === undefined) return problemPage(404, offText);
    return moved(started.location, cookie.writePending(started.secret, started.maxAgeMs, tls));
  });
  page(finishSignIn.path, async (request, { ip, tls }) => {
    const query = new URL(request.url).searchParams;
    const finished = await signIn.finish({
      browser: { ip, agent: agentOf(request) },
      state: query.get("state"),
      code: query.get("code"),
      secret: cookie.readPending(request, tls),
    });
    const forget = cookie.clearPending(tls);
    if ("problem" in finished) return problemOf(finished.problem, forget);
    return moved(finished.to, forget, await cookie.write(finished.open.session, tls));
  });
}

const plainText = [
  "A browser may not sign in over plain HTTP from another machine: everyone on the way could read the cookie.",
  "Use TLS (--observability-tls), an ingress, or berth ui on your own machine.",
];
const offText = [
  "This server does not sign people in through the identity service.",
  "On the server: berth people enable",
];

function problemOf(problem: SignInProblem, forget: string): Response {
  switch (problem.kind) {
    case "over":
      return problemPage(400, ["This sign-in is over, or another browser began it.", "Begin again."], [forget]);
    case "denied":
      return problemPage(403, ["The sign-in service did not let you in."], [forget]);
    case "off":
      return problemPage(404, offText, [forget]);
    case "role":
      return problemPage(403, roleText(problem), [forget]);
  }
}

function roleText({ email, isVerified }: { email: string; isVerified: boolean }): string[] {
  const who = `${readableEmail(email)} has no role on this server.`;
  const unproven = "The address is not proven: the sign-in service has to verify it first.";
  return [
    who,
    ...(isVerified ? [] : [unproven]),
    "Ask an administrator of this server. On the server, this gives you a role:",
    `berth people set ${email} viewer`,
  ];
}

function failurePage(plane: ObservabilityPlane, error: unknown): Response {
  if (error instanceof Failure && error.code === "too_many")
    return problemPage(429, ["Too many attempts. Try again in a minute."]);
  const { status } = plane.mapError(error);
  if (error instanceof Failure && status < 500) return problemPage(status, [error.message]);
  return problemPage(status, ["The sign-in failed. The log of the server says why."]);
}

/** What is in the address stays in no history: the browser goes on at once, and sends it to no other site. */
function moved(location: string, ...cookies: string[]): Response {
  const headers = new Headers({ Location: location, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" });
  for (const line of cookies) headers.append("Set-Cookie", line);
  return new Response(null, { status: 303, headers });
}

function agentOf({ headers }: Request): string {
  return headers.get("user-agent") ?? "";
}
