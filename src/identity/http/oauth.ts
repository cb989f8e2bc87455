import type { InstanceEntry } from "../service/directory.ts";
import type { ProviderAnswer } from "../service/flow-parts.ts";
import { errorAnswer } from "./answers.ts";
import { overTlsOnly, redirectAnswer } from "./hosted-answers.ts";
import { mountPage, type PageCall, queryOf } from "./hosted-mount.ts";
import { deliveryAnswer, deviceCookie, faceOf, flowCookie, isSecure, readCaller } from "./hosted-page.ts";
import { facelessFor, facelessProblem, failurePage, problemAnswer } from "./hosted-problem.ts";
import type { IdentityPlane } from "./plane.ts";

/** `/oauth/authorize`, and where providers send browsers back to. */
export function mountOauth(plane: IdentityPlane): void {
  mountPage(plane, "/oauth/authorize", (call) => {
    const [provider, redirectUri] = [call.query.get("provider") ?? "", call.query.get("redirect_uri") ?? ""];
    return authorizeAnswer(plane, call, { provider, redirectUri });
  });
  const callback = (path: string, name: (params: Record<string, string | null>) => ProviderAnswer["callback"]) =>
    plane.app.get(path, ({ request, params }) => {
      // A request that only looks must not spend the state that the browser comes with.
      if (request.method === "HEAD") return errorAnswer(405, "Method not allowed", { Allow: "GET" });
      return callbackAnswer(plane, request, name(params))
        .catch((error) => failurePage(plane, facelessFor(request), error))
        .then((answer) => overTlsOnly(answer, isSecure(plane)));
    });
  callback("/oauth/:provider/callback", ({ provider }) => ({ provider: provider ?? "" }));
  callback("/oauth/oidc/:connection/callback", ({ connection }) => ({ connection: connection ?? "" }));
}

/** Says that the browser has been sent to the base already: behind a proxy that hides its host it would never end. */
const hopped = "hop";

/** The same page on the host of the base, where a sign-in through a provider leaves its cookies; undefined there. */
export function toBase(
  { identity: { hosted } }: IdentityPlane,
  { browser, request, query }: PageCall,
  { path, fields }: { path: string; fields: Record<string, string> },
): Response | undefined {
  // Whatever a client says that its host is: it may be none.
  const host = URL.canParse(request.url) ? new URL(request.url).host : "";
  if (host === new URL(hosted.baseUrl).host || query.has(hopped)) return undefined;
  const onward = new URLSearchParams({ ...fields, [hopped]: "1" });
  const to = `${hosted.baseUrl}/i/${browser.entry.instance.id}${path}?${onward}`;
  return redirectAnswer(to, { status: request.method === "POST" ? 303 : 302 });
}

/**
 * Sends a browser to a provider. The cookie that binds it to this browser must be there when it comes back, and it
 * comes back to the host of the base: from another host it goes there first.
 */
export async function authorizeAnswer(
  plane: IdentityPlane,
  call: PageCall,
  wish: { provider: string; redirectUri: string },
): Promise<Response> {
  const { hosted } = plane.identity;
  const { browser, face, request, prefix } = call;
  const fields = { provider: wish.provider, redirect_uri: wish.redirectUri };
  const elsewhere = toBase(plane, call, { path: "/oauth/authorize", fields });
  if (elsewhere !== undefined) return elsewhere;
  const outcome = await hosted.authorize({ browser, ...wish }, request.signal);
  if ("problem" in outcome) {
    const { problem } = outcome;
    const again = problem === "provider" ? signInLink(prefix, wish.redirectUri) : undefined;
    return problemAnswer(plane, { face, problem, again });
  }
  if ("delivery" in outcome) return deliveryAnswer(plane, outcome.delivery, { face, status: 302 });
  return redirectAnswer(outcome.go, { status: 302, cookies: [flowCookie(plane, call)] });
}

async function callbackAnswer(
  plane: IdentityPlane,
  request: Request,
  callback: ProviderAnswer["callback"],
): Promise<Response> {
  const query = queryOf(request);
  const only = (name: string) => {
    const values = query.getAll(name);
    return values.length === 1 && values[0] !== "" ? values[0] : undefined;
  };
  const callerOf = (entry: InstanceEntry) => readCaller(plane, request, { entry, isNamed: true });
  const outcome = await plane.identity.hosted.callback(
    {
      callback,
      state: only("state"),
      code: only("code"),
      error: query.get("error") ?? undefined,
      iss: only("iss"),
      browser(entry) {
        const { browser, hasFlow } = callerOf(entry);
        return { ...browser, flow: hasFlow ? browser.flow : undefined };
      },
    },
    request.signal,
  );
  if (outcome.entry === undefined)
    return facelessProblem(plane, request, "problem" in outcome ? outcome.problem : "state");
  const { browser, prefix } = callerOf(outcome.entry);
  const face = faceOf(plane, browser);
  if ("delivery" in outcome) {
    const cookies = outcome.device === undefined ? [] : [deviceCookie(plane, outcome.entry, outcome.device)];
    return deliveryAnswer(plane, outcome.delivery, { face, status: 302, cookies });
  }
  const { problem, redirectUri } = outcome;
  const again = redirectUri === undefined ? undefined : signInLink(prefix, redirectUri);
  return problemAnswer(plane, { face, problem, again });
}

function signInLink(prefix: string, redirectUri: string): string {
  return `${prefix}/sign-in?${new URLSearchParams({ redirect_uri: redirectUri })}`;
}
