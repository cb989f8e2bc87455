/** A cookie of the hosted pages. Always HttpOnly and SameSite=Lax, on every path. */
interface Cookie {
  name: string;
  /** Empty: the browser is to forget it. */
  value: string;
  maxAgeMs: number;
  secure: boolean;
}

/** `flow` binds what is under way to the browser; `device` knows it again and says who is signed in. */
export type CookieUse = "flow" | "device";

/**
 * One cookie per use and instance. Over https the name starts with `__Host-`: only this very host can have set it
 * (RFC 6265bis section 4.1.3.2).
 */
export function cookieName(use: CookieUse, instanceId: string, secure: boolean): string {
  return `${secure ? "__Host-" : ""}id_${use}_${instanceId.replace(/[^A-Za-z0-9_]/g, "")}`;
}

export function cookieText({ name, value, maxAgeMs, secure }: Cookie): string {
  const age = value === "" ? 0 : Math.floor(maxAgeMs / 1_000);
  return `${name}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
}

const headerLengthMax = 16 * 1024;
/** 32 random bytes, or two times that. */
const valuePattern = /^[A-Za-z0-9_-]{43}(?:\.[A-Za-z0-9_-]{43})?$/;

/** Value of a cookie of ours; undefined when there is none, or when it cannot be one that was made here. */
export function readCookie(header: string | null, name: string): string | undefined {
  for (const pair of (header ?? "").slice(0, headerLengthMax).split(";")) {
    const [key = "", value = ""] = pair.split("=", 2);
    if (key.trim() === name && valuePattern.test(value.trim())) return value.trim();
  }
  return undefined;
}
