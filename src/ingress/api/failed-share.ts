/** Requests of a span. */
export interface Answered {
  requests: number;
  /** Answers of 500 and above, and answers that broke off. What the visitor broke off is none of them. */
  failed: number;
}

/** Where failed requests went: `GET /orders/:id/pay`, with ids of things as `:id`. */
export interface FailedRoute {
  route: string;
  failed: number;
}

/** Fewer failures than this are mishaps, whatever part of the requests they are. */
const failuresLeast = 5;
/** Above this part of all requests, visitors get errors. The rule `error-rate` begins with it. */
const usualPercent = 5;

/** Whether visitors get errors: more than a part of the requests fails, and not once or twice alone. */
export function areFailing({ requests, failed }: Answered, percent = usualPercent): boolean {
  return failed >= failuresLeast && failed * 100 > requests * percent;
}
