import { registeredDomain } from "./names.ts";

/** One order placed at a CA, whatever became of it. */
export interface PlacedOrder {
  /** Epoch milliseconds. */
  at: number;
  account: string;
  name: string;
  /** The name had a certificate of this CA before. */
  isRenewal: boolean;
  /** A visitor caused it. Such orders have only half of what their domain and account may order. */
  isOnDemand?: boolean;
}

interface Allowance {
  most: number;
  perMs: number;
}

/** Below the limits of public CAs; docs/certificates.md has the figures. */
export interface BudgetLimits {
  /** Orders for the same name. */
  perName: Allowance;
  /** New names under one registered domain. Renewals are not counted, because CAs do not count them either. */
  perDomain: Allowance;
  perAccount: Allowance;
}

type BudgetAnswer = { isFree: true } | { isFree: false; until: number; reason: string };

/** Whether one more order may be placed now; if not, from when on, and which allowance is used up. */
export function mayOrder(order: PlacedOrder, placed: readonly PlacedOrder[], limits: BudgetLimits): BudgetAnswer {
  const ofAccount = placed.filter(({ account }) => account === order.account);
  const domain = registeredDomain(order.name);
  const inDomain = ({ name, isRenewal }: PlacedOrder) => !isRenewal && registeredDomain(name) === domain;
  const answer = (orders: readonly PlacedOrder[], allowance: Allowance, what: string): BudgetAnswer =>
    check({ orders, allowance, now: order.at, what });
  const ofName = ofAccount.filter(({ name }) => name === order.name);
  const onDemandAnswers = (): BudgetAnswer[] => {
    const caused = ofAccount.filter(({ isOnDemand }) => isOnDemand === true);
    const ofDomain = answer(caused.filter(inDomain), half(limits.perDomain), `names on demand under ${domain}`);
    return [
      ...(order.isRenewal ? [] : [ofDomain]),
      answer(caused, half(limits.perAccount), "names on demand of this account"),
    ];
  };
  const answers = [
    answer(ofName, limits.perName, order.name),
    order.isRenewal ? free : answer(ofAccount.filter(inDomain), limits.perDomain, `new names under ${domain}`),
    answer(ofAccount, limits.perAccount, "this account"),
    ...(order.isOnDemand === true ? onDemandAnswers() : []),
  ];
  return answers.reduce((worst, answer) => (isLater(answer, worst) ? answer : worst), free);
}

/** So that hosts that manifests name are never held up by visitors. */
function half({ most, perMs }: Allowance): Allowance {
  return { most: Math.max(1, Math.floor(most / 2)), perMs };
}

const free: BudgetAnswer = { isFree: true };

function isLater(answer: BudgetAnswer, than: BudgetAnswer): boolean {
  return !answer.isFree && (than.isFree || answer.until > than.until);
}

interface Count {
  orders: readonly PlacedOrder[];
  allowance: Allowance;
  now: number;
  what: string;
}

/** An order that lies further ahead than the allowance reaches was written while the clock was wrong. */
function check({ orders, allowance: { most, perMs }, now, what }: Count): BudgetAnswer {
  const times = orders.map(({ at }) => at).filter((at) => at > now - perMs && at <= now + perMs);
  if (times.length < most) return free;
  const oldest = times.toSorted((a, b) => a - b).at(-most) ?? now;
  const reason = `budget: ${most} orders for ${what} within ${hours(perMs)} are used up`;
  return { isFree: false, until: oldest + perMs, reason };
}

function hours(ms: number): string {
  const count = Math.round(ms / 3_600_000);
  return count % 24 === 0 && count > 24 ? `${count / 24} days` : `${count} h`;
}

/** Orders older than this count for nothing any more. */
export function budgetMemoryMs({ perName, perDomain, perAccount }: BudgetLimits): number {
  return Math.max(perName.perMs, perDomain.perMs, perAccount.perMs);
}
