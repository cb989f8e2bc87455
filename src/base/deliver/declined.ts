import { Failure } from "../wire/failure.ts";

interface Declined {
  /** Status of HTTP. */
  status: number;
  /** The header `Retry-After` as it came. */
  retryAfter?: string | undefined;
}

/** The other side answered that it does not take what was sent. */
export class DeclinedFailure extends Failure {
  readonly answer: Declined;

  constructor(message: string, answer: Declined) {
    super("unavailable", message);
    this.answer = answer;
  }
}

/** How long the other side asks to wait, from seconds or a date (RFC 9110, section 10.2.3); undefined without a wish. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = text === "" ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
