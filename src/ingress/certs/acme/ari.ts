import { X509Certificate } from "node:crypto";
import type { RenewalWindow } from "../../core/certificates/renewal.ts";
import { keyIdentifierOf } from "../authority.ts";
import { send, type TransportOptions } from "./transport.ts";

/**
 * Name of a certificate at its CA (RFC 9773, section 4.1): key identifier of the issuer, and serial number. Undefined
 * where the certificate does not name the key of its issuer.
 */
export function ariId(chain: string): string | undefined {
  const keyIdentifier = keyIdentifierOf(chain);
  if (keyIdentifier === undefined) return undefined;
  const hex = new X509Certificate(chain).serialNumber;
  const serial = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
  // A number whose first bit is set is written with a zero byte before it, or it would be negative.
  const signed = (serial[0] ?? 0) > 0x7f ? Buffer.concat([Buffer.of(0), serial]) : serial;
  return `${Buffer.from(keyIdentifier, "hex").toString("base64url")}.${signed.toString("base64url")}`;
}

export interface RenewalAdvice {
  window: RenewalWindow;
  /** When the CA wants to be asked again, milliseconds from now. */
  askAgainMs: number | undefined;
}

/** When the CA wants a certificate to be renewed; undefined where it gives no advice. Fails as requests to a CA do. */
export async function renewalAdvice(
  { directory, chain }: { directory: string; chain: string },
  transport: TransportOptions,
): Promise<RenewalAdvice | undefined> {
  const id = ariId(chain);
  const { data } = await send({ url: directory, method: "GET" }, transport);
  const base = textAt(data, "renewalInfo");
  if (id === undefined || base === undefined) return undefined;
  const answer = await send({ url: `${base.replace(/\/$/, "")}/${id}`, method: "GET" }, transport);
  const suggested = fieldOf(answer.data, "suggestedWindow");
  const [start, end] = ["start", "end"].map((name) => Date.parse(textAt(suggested, name) ?? ""));
  if (start === undefined || end === undefined || !(start <= end)) return undefined;
  const seconds = Number(answer.headers["retry-after"]);
  return { window: { start, end }, askAgainMs: seconds > 0 ? seconds * 1_000 : undefined };
}

function fieldOf(data: unknown, name: string): unknown {
  return typeof data === "object" && data !== null ? Reflect.get(data, name) : undefined;
}

function textAt(data: unknown, name: string): string | undefined {
  const value = fieldOf(data, name);
  return typeof value === "string" ? value : undefined;
}
