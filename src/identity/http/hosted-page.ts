import { type CookieUse, cookieName, cookieText, readCookie } from "../core/cookies.ts";
import { chooseLanguage } from "../core/languages.ts";
import { instanceUrl } from "../core/urls.ts";
import type { TokenDelivery } from "../service/token-delivery.ts";
import type { InstanceEntry } from "../service/directory.ts";
import { type DeviceCookie, deviceCookieText, readDeviceCookie, type Browser } from "../service/browser.ts";
import { pageAnswer, redirectAnswer } from "./hosted-answers.ts";
import type { Face } from "./pages/frame.ts";
import { returnPage } from "./pages/steps.ts";
import type { IdentityPlane } from "./plane.ts";

/** A browser at a page of an instance, and what its cookies say. */
export interface Caller {
  /** Its flow cookie is a new one where it brought none. */
  browser: Browser;
  /** It brought one: it keeps cookies, and has been here before. */
  hasFlow: boolean;
  /** In front of every link: `/i/<instance id>`, or empty on the host of the instance. */
  prefix: string;
}

/** Reads a browser. `isNamed`: the path names the instance. */
export function readCaller(
  plane: IdentityPlane,
  request: Request,
  { entry, isNamed }: { entry: InstanceEntry; isNamed: boolean },
): Caller {
  const { hosted } = plane.identity;
  const { instance, settings } = entry;
  const flow = cookieOf(plane, request, { use: "flow", entry });
  const device = readDeviceCookie(cookieOf(plane, request, { use: "device", entry }));
  const prefix = isNamed ? `/i/${instance.id}` : "";
  return {
    browser: {
      entry,
      ip: plane.clientIp(request),
      userAgent: request.headers.get("user-agent") ?? "",
      language: chooseLanguage(settings.language, request.headers.get("accept-language")),
      pagesUrl: isNamed ? `${hosted.baseUrl}${prefix}` : instanceUrl(hosted.baseUrl, instance),
      flow: flow ?? hosted.newSecret(),
      device,
    },
    hasFlow: flow !== undefined,
    prefix,
  };
}

/** A cookie as the browser has it; a flow cookie is one secret, a device cookie two. */
function cookieOf(
  plane: IdentityPlane,
  request: Request,
  { use, entry }: { use: CookieUse; entry: InstanceEntry },
): string | undefined {
  const name = cookieName(use, entry.instance.id, isSecure(plane));
  const value = readCookie(request.headers.get("cookie"), name);
  return value?.includes(".") === (use === "device") ? value : undefined;
}

/** Whether browsers reach us over https, whatever the last stretch to this process is. */
export function isSecure({ identity }: IdentityPlane): boolean {
  return identity.hosted.baseUrl.startsWith("https:");
}

/** What the browser is to keep so that its next request belongs to this one. */
export function flowCookie(plane: IdentityPlane, { browser }: Caller): string {
  const { hosted } = plane.identity;
  const secure = isSecure(plane);
  const name = cookieName("flow", browser.entry.instance.id, secure);
  return cookieText({ name, value: browser.flow, maxAgeMs: hosted.cookieAges.flowMs, secure });
}

/** Undefined makes the browser forget it. */
export function deviceCookie(plane: IdentityPlane, entry: InstanceEntry, device: DeviceCookie | undefined): string {
  const secure = isSecure(plane);
  const name = cookieName("device", entry.instance.id, secure);
  const value = device === undefined ? "" : deviceCookieText(device);
  return cookieText({ name, value, maxAgeMs: plane.identity.hosted.cookieAges.deviceMs, secure });
}

/** The look of an instance's pages. */
export function faceOf(plane: IdentityPlane, { entry, language }: Pick<Browser, "entry" | "language">): Face {
  const { logo_url, accent } = entry.settings;
  return { language, title: plane.identity.hosted.signIn.title(entry), logoUrl: logo_url, accent };
}

/** Takes what a sign-in has come to on to the app. */
export function deliveryAnswer(
  plane: IdentityPlane,
  delivery: TokenDelivery,
  { face, status, cookies = [] }: { face: Face; status: 302 | 303; cookies?: string[] },
): Response {
  if (delivery.how === "redirect") return redirectAnswer(delivery.to, { status, cookies });
  const nonce = plane.identity.hosted.newSecret();
  const html = returnPage({ face, nonce, to: delivery.to, fields: delivery.fields });
  return pageAnswer(html, { nonce, formTargets: [delivery.to], script: true, cookies });
}
