import { type AccessLine, parseAccessLine } from "../../src/ingress/core/access-line.ts";

/** A line as the proxy sends it, for a request that server s1 of the backend p1 answered. */
export function accessText(changed: Partial<Record<keyof AccessLine, string | number>> = {}): string {
  const fields: Record<keyof AccessLine, string | number> = {
    ...{ backend: "p1", server: "s1", status: 200, bytesOut: 400, bytesIn: 70 },
    ...{ queueMs: 0, connectMs: 1, responseMs: 10, totalMs: 12, heldMs: "-", retries: 0, ended: "--" },
    ...{ at: 1_700_000_000_000, requestId: "id-1", client: "203.0.113.7", method: "GET", host: "web.test", path: "/a" },
    ...changed,
  };
  return `${Object.values(fields).join(" ")}\n`;
}

export function accessLine(changed: Partial<Record<keyof AccessLine, string | number>> = {}): AccessLine {
  const line = parseAccessLine(accessText(changed));
  if (line === undefined) throw new Error("not a line");
  return line;
}
