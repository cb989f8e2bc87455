import { Failure } from "../../base/wire/failure.ts";
import type { SteadyClock } from "../../base/words/clock.ts";
import type { Log } from "../../base/words/log.ts";
import { type AskingLimits, createAsking } from "../core/certificates/asking.ts";
import { type OnDemandRules, questionFor, ruleFor } from "../core/certificates/on-demand.ts";
import type { WantedCertificate } from "../core/certificates/wanted.ts";
import type { CertificateStore } from "./store.ts";

/** Asks an address; resolves with the status of the answer. Fails when there is none in time. */
export type Ask = (url: string, signal: AbortSignal) => Promise<number>;

export interface OnDemandLimits extends AskingLimits {
  /** Names with permission. Beyond it, names without a certificate go, and then new ones are refused. */
  namesMax: number;
  /** Permission that is younger than this is not asked for again. */
  permissionMs: number;
  /** A name that still has no certificate is forgotten after this. */
  unissuedKeptMs: number;
}

/** A name that the address of its rule has permitted. */
interface Permitted {
  name: string;
  /** Epoch milliseconds. */
  at: number;
}

/** Names whose certificates visitors ask for. */
interface OnDemand {
  /** The certificates to have for the permitted names that a rule still lets in. */
  wanted(rules: OnDemandRules): WantedCertificate[];
  /** Whether a name has permission, asked for when it is not known. Never fails. */
  permits(name: string, client: string, rules: OnDemandRules): Promise<boolean>;
  /** Asks again before a certificate is issued, when the permission is old. Fails `forbidden` when it is refused. */
  confirm(name: string, ask: string, signal: AbortSignal): Promise<void>;
  /** Forgets names that no rule lets in, and those that got no certificate. */
  sweep(rules: OnDemandRules): Promise<void>;
}

interface OnDemandOptions {
  store: CertificateStore;
  clock: SteadyClock;
  ask: Ask;
  log: Log;
  limits: OnDemandLimits;
  hasCertificate: (name: string) => boolean;
}

/** The same for every answer and for none: its readers must not learn what is at an address inside. The log has the cause. */
function notPermitted(ask: string, name: string, cause: unknown): Failure {
  const message = `ask: ${ask} did not permit ${name}: it has to answer with 200; the log of the server says what came`;
  return new Failure("forbidden", message, { cause });
}

export function createOnDemand(options: OnDemandOptions): OnDemand {
  const { store, clock, log, limits, hasCertificate } = options;
  const permitted = new Map(store.list<Permitted>("demand").map(({ id, document }) => [id, document]));
  const asking = createAsking(limits);
  /** Name → the question that is under way. */
  const open = new Map<string, Promise<boolean>>();

  /** What lies ahead was dated by a clock that was wrong. */
  const isFresh = ({ at }: Permitted) => at <= clock.now() && clock.now() < at + limits.permissionMs;

  async function keep(name: string): Promise<void> {
    const one: Permitted = { name, at: clock.now() };
    permitted.set(name, one);
    await store.put("demand", name, one);
  }

  async function forget(name: string): Promise<void> {
    permitted.delete(name);
    await store.remove("demand", name);
  }

  /** Room for one more name. What has a certificate stays. */
  async function makeRoom(): Promise<boolean> {
    if (permitted.size < limits.namesMax) return true;
    const idle = [...permitted.values()].filter(({ name }) => !hasCertificate(name));
    const oldest = idle.toSorted((a, b) => a.at - b.at)[0];
    if (oldest === undefined || isFresh(oldest)) {
      log.warn("no more certificates on demand", { names: permitted.size });
      return false;
    }
    await forget(oldest.name);
    return true;
  }

  async function question(name: string, ask: string): Promise<boolean> {
    try {
      const status = await options.ask(questionFor(ask, name), new AbortController().signal);
      if (status === 200 && (await makeRoom())) {
        await keep(name);
        log.info("certificate on demand permitted", { name });
        return true;
      }
      asking.refused(name, clock.steady());
      log.debug("certificate on demand refused", { name, status });
    } catch (error) {
      asking.failed(name, clock.steady());
      log.warn("certificate on demand: the question was not answered", { name, ask, error });
    }
    return false;
  }

  return {
    wanted: (rules) =>
      [...permitted.keys()].flatMap((name) => {
        const rule = ruleFor(name, rules);
        return rule === undefined ? [] : [{ names: [name], ...rule }];
      }),
    async permits(name, client, rules) {
      const rule = ruleFor(name, rules);
      if (rule === undefined) return false;
      if (permitted.has(name)) return true;
      const now = clock.steady();
      const known = open.get(name);
      if (known !== undefined) return known;
      if (asking.isRefused(name, now) || !asking.take(client, now)) return false;
      const answer = question(name, rule.ask).finally(() => open.delete(name));
      open.set(name, answer);
      return answer;
    },
    async confirm(name, ask, signal) {
      const known = permitted.get(name);
      if (known !== undefined && isFresh(known)) return;
      const status = await options.ask(questionFor(ask, name), signal).catch((cause: unknown) => {
        throw notPermitted(ask, name, cause);
      });
      if (status !== 200) throw notPermitted(ask, name, new Error(`status ${status}`));
      if (known !== undefined) await keep(name);
    },
    async sweep(rules) {
      const now = clock.now();
      for (const { name, at } of [...permitted.values()]) {
        const isOld = !hasCertificate(name) && at + limits.unissuedKeptMs <= now;
        if (isOld || ruleFor(name, rules) === undefined) await forget(name);
      }
    },
  };
}
