import { isoTime } from "../../../base/pure/iso-time.ts";
import type { Budget } from "../../api/incidents.ts";
import { covered } from "./join.ts";

/** A span in which an app was down, with what it is put down to. */
interface SpentSpan {
  from: number;
  to: number | undefined;
  cause: string;
  causeText: string;
  causeRef: string | undefined;
  failedRequests: number;
}

interface BudgetInput {
  scope: string;
  name: string;
  /** Epoch milliseconds; `to` is the first moment after the month. */
  month: { text: string; from: number; to: number };
  target: { percent: number; isDefault: boolean };
  outages: readonly SpentSpan[];
  now: number;
}

const lowShare = 1 / 4;
const spendsMax = 100;

/** How much of a month an app may be down, and what was spent of that. */
export function budgetOf({ scope, name, month, target, outages, now }: BudgetInput): Budget {
  const over = { from: month.from, to: Math.min(month.to, Math.max(now, month.from)) };
  const allowedMs = (month.to - month.from) * (1 - target.percent / 100);
  const spentMs = covered(outages, over);
  const leftMs = allowedMs - spentMs;
  const overMs = over.to - over.from;
  const spends = outages.flatMap((outage) => spendOf(outage, over) ?? []).sort((a, b) => b.seconds - a.seconds);
  return {
    scope,
    name,
    month: month.text,
    target_percent: target.percent,
    target_is_default: target.isDefault,
    allowed_seconds: Math.round(allowedMs / 1_000),
    spent_seconds: Math.round(spentMs / 1_000),
    left_seconds: Math.round(leftMs / 1_000),
    state: leftMs <= 0 && spentMs > 0 ? "spent" : leftMs < allowedMs * lowShare ? "low" : "ok",
    available_percent: overMs === 0 ? 100 : Math.round((1 - spentMs / overMs) * 1e6) / 1e4,
    spends: spends.slice(0, spendsMax),
  };
}

function spendOf(outage: SpentSpan, over: { from: number; to: number }): Budget["spends"][number] | undefined {
  const ms = covered([outage], over);
  if (ms <= 0) return undefined;
  return {
    from: isoTime(outage.from),
    ...(outage.to === undefined ? {} : { to: isoTime(outage.to) }),
    seconds: Math.round(ms / 1_000),
    cause: outage.cause,
    text: outage.causeText,
    ref: outage.causeRef,
    failed_requests: outage.failedRequests,
  };
}

/** A month of the calendar, UTC, from `2026-01`; undefined for any other text. */
export function monthOf(text: string): { text: string; from: number; to: number } | undefined {
  const match = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text);
  if (match === null) return undefined;
  const [year, month] = [Number(match[1]), Number(match[2])];
  return { text, from: Date.UTC(year, month - 1), to: Date.UTC(year, month) };
}
