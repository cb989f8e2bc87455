import { Failure } from "../base/wire/failure.ts";
import { parseAddress, valueOrOff } from "./values.ts";

/** What the observability plane serves TLS with. */
export type PlaneTls =
  | { kind: "off" }
  /** A certificate of its own, made at the first start. */
  | { kind: "self-signed" }
  /** Paths of PEM files. */
  | { kind: "files"; certificate: string; key: string };

export interface ObservabilityOptions {
  /** Where the observability plane listens; empty: off. */
  observabilityAddr: string;
  observabilityTls: PlaneTls;
}

/** From flags and the environment. Fails `invalid`. Addresses are read where they are bound. */
export function observabilityOptions(
  flags: Partial<Record<keyof ObservabilityOptions, string>>,
  env: Record<string, string | undefined>,
): ObservabilityOptions {
  return {
    observabilityAddr: valueOrOff(flags.observabilityAddr ?? env.BERTH_OBSERVABILITY_ADDR ?? "0.0.0.0:8687"),
    observabilityTls: planeTlsOf(flags.observabilityTls ?? env.BERTH_OBSERVABILITY_TLS ?? "off"),
  };
}

function planeTlsOf(text: string): PlaneTls {
  if (text === "off" || text === "") return { kind: "off" };
  if (text === "self-signed") return { kind: "self-signed" };
  const [certificate = "", key = "", ...more] = text.split(",").map((path) => path.trim());
  if (certificate !== "" && key !== "" && more.length === 0) return { kind: "files", certificate, key };
  throw new Failure(
    "invalid",
    `observability tls: ${JSON.stringify(text)} is not off, self-signed or CERTIFICATE.pem,KEY.pem`,
  );
}

/** Whether other machines reach an address of the plane. */
export function isPublicAddress(address: string): boolean {
  const { hostname } = parseAddress(address);
  return hostname !== "::1" && hostname !== "localhost" && !hostname.startsWith("127.");
}
