import { readText } from "./body.ts";
import { overTlsOnly } from "./hosted-answers.ts";
import { type Caller, faceOf, flowCookie, isSecure, readCaller } from "./hosted-page.ts";
import { facelessProblem, failurePage, problemAnswer } from "./hosted-problem.ts";
import { instanceOf, instancePaths, isAtAnother } from "./instance.ts";
import type { Face } from "./pages/frame.ts";
import type { IdentityPlane } from "./plane.ts";

/** One request of a browser to a page of an instance. */
export interface PageCall extends Caller {
  request: Request;
  query: URLSearchParams;
  face: Face;
}

interface FormCall extends PageCall {
  form: URLSearchParams;
}

interface FormHandler {
  answer(call: FormCall): Response | Promise<Response>;
  /** The form again: it came from a page that was open for too long. */
  stale(call: FormCall): Response;
}

/** Undefined for a path without parameters, whatever the types of the router say. */
type Params = Record<string, string | null> | undefined;

/** Mounts a page, on the host of its instance and below `/i/<instance id>`. */
export function mountPage(
  plane: IdentityPlane,
  path: string,
  answer: (call: PageCall) => Response | Promise<Response>,
): void {
  for (const one of instancePaths(path)) {
    plane.app.get(one, async ({ request, params }) =>
      overTlsOnly(await onPage(plane, { request, params }, answer), isSecure(plane)),
    );
  }
}

/** Mounts what a form of a page is sent to. Only forms that we gave this very browser are taken. */
export function mountForm(plane: IdentityPlane, path: string, handler: FormHandler): void {
  const take = async (call: PageCall): Promise<Response> => {
    const text = await readText(call.request, plane.limits);
    const isForm = call.request.headers.get("content-type")?.startsWith("application/x-www-form-urlencoded") === true;
    const form = new URLSearchParams(isForm ? text : "");
    return checkForm(plane, { ...call, form }, handler);
  };
  for (const one of instancePaths(path)) {
    const post = async ({ request, params }: { request: Request; params: Params }) =>
      overTlsOnly(await onPage(plane, { request, params }, take), isSecure(plane));
    plane.app.route("POST", one, post, { parse: "none" });
  }
}

function onPage(
  plane: IdentityPlane,
  { request, params }: { request: Request; params: Params },
  answer: (call: PageCall) => Response | Promise<Response>,
): Response | Promise<Response> {
  const entry = instanceOf(plane, request, params);
  if (entry === undefined || isAtAnother(plane, entry, request)) return facelessProblem(plane, request, "missing");
  const caller = readCaller(plane, request, { entry, isNamed: params?.instance !== undefined });
  const face = faceOf(plane, caller.browser);
  const failed = (error: unknown) => failurePage(plane, face, error);
  try {
    const response = answer({ ...caller, request, face, query: queryOf(request) });
    return response instanceof Promise ? response.catch(failed) : response;
  } catch (error) {
    return failed(error);
  }
}

/** A page younger than this has a cookie, unless the browser keeps none. */
const freshSeconds = 9 * 60;

function checkForm(plane: IdentityPlane, call: FormCall, handler: FormHandler): Response | Promise<Response> {
  const { hosted } = plane.identity;
  const { browser, hasFlow, form, face } = call;
  if (hasFlow && hosted.isFormToken(browser.entry, browser.flow, form.get("csrf") ?? "")) return handler.answer(call);
  const age = hosted.now() / 1_000 - Number(form.get("at") ?? Number.NaN);
  if (hasFlow || !(age < freshSeconds)) return handler.stale(call);
  return problemAnswer(plane, { face, problem: "cookies", cookies: [flowCookie(plane, call)] });
}

export function queryOf({ url }: Request): URLSearchParams {
  const start = url.indexOf("?");
  return new URLSearchParams(start < 0 ? "" : url.slice(start + 1));
}
