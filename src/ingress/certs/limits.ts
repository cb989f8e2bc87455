import type { BudgetLimits } from "../core/certificates/budget.ts";
import type { AcmeLimits } from "./acme/issue.ts";
import type { OnDemandLimits } from "./on-demand.ts";

interface Pauses {
  firstMs: number;
  maxMs: number;
}

export interface CertificateLimits {
  /** Orders at CAs. */
  budget: BudgetLimits;
  acme: AcmeLimits;
  onDemand: OnDemandLimits;
  /** Certificates that are issued at the same time. */
  inFlightMax: number;
  /** Longest sleep between two looks at what is due, so that a clock that was set is noticed. */
  lookMs: number;
  /** How often files that the operator brings are read again. */
  fileLookMs: number;
  /** Between two questions to a CA about when to renew. */
  adviceMs: number;
  /** After a failure before anything was ordered, such as a missing DNS record: looking again costs little. */
  checkPauses: Pauses;
  /** After a failure at the CA, which counts failed attempts. */
  orderPauses: Pauses;
  /** Longest PEM text that the proxy can take. */
  pemBytesMax: number;
  /** A certificate that is not wanted any more is kept until this long after its end. */
  unwantedKeptMs: number;
}
