import type { Language } from "../core/languages.ts";
import type { InstanceEntry } from "./directory.ts";

/** A browser at the hosted pages of an instance, as one request shows it. */
export interface Browser {
  entry: InstanceEntry;
  /** Address of the client itself. */
  ip: string;
  userAgent: string;
  language: Language;
  /** Where the pages of the instance are for this browser: `https://id.shop.example`, `https://berth.example/i/inst_…`. */
  pagesUrl: string;
  /** Value of the cookie that binds what is under way to the browser. */
  flow: string;
  device: DeviceCookie | undefined;
}

/** Two secrets: which browser it is, for as long as it has the cookie, and what proves who is signed in. */
export interface DeviceCookie {
  device: string;
  /** New with every sign-in, so that no stranger can prepare a browser and come back for it later. */
  login: string;
}

export function readDeviceCookie(value: string | undefined): DeviceCookie | undefined {
  const [device, login] = value?.split(".") ?? [];
  return device === undefined || login === undefined ? undefined : { device, login };
}

export function deviceCookieText({ device, login }: DeviceCookie): string {
  return `${device}.${login}`;
}
