import { signalOf } from "../../../base/pure/exit-code.ts";
import type { ProbeTransition } from "../../core/probe.ts";
import type { PodEvent } from "../../engine/pod.ts";
import type { Context } from "../state/context.ts";
import type { Pod } from "../state/pod.ts";

/** Makes events, and records of deaths, of what happens to replicas without anybody having asked for it. */
interface Incidents {
  /** An event of the engine about a container that is known, before the table has taken it in. */
  heard(pod: Pod, event: PodEvent): void;
  /** A probe crossed its threshold. */
  probed(pod: Pod, change: ProbeTransition): void;
  /** Resolves when all that was heard is written. */
  settled(): Promise<void>;
}

/** What happens again and again to one container is reported a few times, and then once a minute with the count. */
const toldFirst = 3;
const foldMs = 60_000;
const linesTold = 5;
const lineCharsTold = 200;
/** An end this long after a signal by hand is one of its own. */
const killedMs = 600_000;

interface Told {
  count: number;
  /** On the steady clock. */
  at: number;
  untold: number;
}

/** The last lines of an output as the detail of an event shows them. */
export function linesOf(logs: readonly string[]): { last_lines?: string[] } {
  const lines = logs.slice(-linesTold).map((line) => line.slice(0, lineCharsTold));
  return lines.length === 0 ? {} : { last_lines: lines };
}

export function createIncidents(contextOf: () => Context): Incidents {
  const told = new Map<string, Told>();
  /** Containers that somebody sent a signal: a crash has none before it. When, on the steady clock. */
  const killed = new Map<string, number>();
  const starved = new Set<string>();
  const writing = new Set<Promise<void>>();

  function forgetGone(): void {
    const { pods } = contextOf();
    const isGone = (id: string) => pods.byId(id) === undefined;
    for (const text of told.keys()) if (isGone(text.slice(0, text.indexOf(" ")))) told.delete(text);
    for (const id of killed.keys()) if (isGone(id)) killed.delete(id);
    for (const id of starved) if (isGone(id)) starved.delete(id);
  }

  /** How many it stands for; undefined when it is only counted. */
  function fold(pod: Pod, what: string): number | undefined {
    const key = `${pod.id} ${what}`;
    const now = contextOf().clock.steady();
    const before = told.get(key) ?? { count: 0, at: now, untold: 0 };
    if (before.count >= toldFirst && now - before.at < foldMs) {
      told.set(key, { ...before, untold: before.untold + 1 });
      return undefined;
    }
    forgetGone();
    told.set(key, { count: before.count + 1, at: now, untold: 0 });
    return before.untold + 1;
  }

  function carryOut(pod: Pod, work: () => Promise<void>): void {
    const one = work()
      .catch((error) => contextOf().log.warn("incident not recorded", { pod: pod.name, error }))
      .finally(() => writing.delete(one));
    writing.add(one);
  }

  function isExpected({ store, leaving }: Context, { id, key, replicaId }: Pod): boolean {
    return leaving.has(id) || store.frozen.list(key).includes(replicaId) || store.manifests.get(key) === undefined;
  }

  async function note(pod: Pod, action: string, detail: Record<string, unknown>): Promise<void> {
    const { notes, clock } = contextOf();
    const event = { actor: "reconciler", action, ...pod.key, detail: { replica_id: pod.replicaId, ...detail } };
    await notes.write((tx) => tx.events.append(event, clock.now()), { durable: false });
  }

  async function died(pod: Pod, event: PodEvent, oomKilled: boolean): Promise<void> {
    const context = contextOf();
    const { exitCode } = event;
    const action = oomKilled ? "replica.oom" : exitCode === 0 ? "replica.exit" : "replica.crash";
    const times = fold(pod, action);
    if (times === undefined) return;
    const found = await context.engine.inspect(pod);
    // As the engine dates it, so that a later look knows it for the same death.
    const finishedAt = found?.finishedAt ?? event.at;
    const dead: Pod = { ...pod, state: "exited", finishedAt, exitCode, lastExitCode: exitCode, oomKilled, error: "" };
    const death = await context.deaths.examine(dead, oomKilled ? "it ran out of memory" : "it ended by itself");
    const [only = "", ...more] = death.logs;
    if (more.length === 0 && /^exec .+: exec format error$/.test(only)) {
      context.pods.cannotStart(pod.id, only);
      context.enqueue(pod.key);
    }
    await context.deaths.keep(death);
    const signal = signalOf(exitCode);
    await note(pod, action, {
      ...(exitCode === undefined ? {} : { exit_code: exitCode }),
      ...(signal === undefined ? {} : { signal }),
      ...(times > 1 ? { times } : {}),
      ...linesOf(death.logs),
    });
  }

  return {
    heard(pod, event) {
      if (pod.role !== undefined) return;
      const now = contextOf().clock.steady();
      if (event.action === "kill") killed.set(pod.id, now);
      if (event.action === "oom") starved.add(pod.id);
      if (event.action !== "die") return;
      const killedAt = killed.get(pod.id);
      const oomKilled = starved.delete(pod.id);
      killed.delete(pod.id);
      if ((killedAt !== undefined && now - killedAt < killedMs) || isExpected(contextOf(), pod)) return;
      carryOut(pod, () => died({ ...pod }, event, oomKilled));
    },
    probed(pod, { probe, from, to, text }) {
      // A start that succeeds is the rule, and what liveness does is reported when it is done.
      if (probe === "liveness" || (to === "healthy" && from !== "unhealthy") || isExpected(contextOf(), pod)) return;
      const times = fold(pod, `${probe} ${to}`);
      if (times === undefined) return;
      const failing = contextOf().probes.failing(pod);
      const since = failing === undefined ? {} : { since: new Date(failing.since).toISOString() };
      const check = failing === undefined ? {} : { check: failing.check };
      const again = times > 1 ? { times } : {};
      const detail = { probe, ...check, got: text, ...since, ...again };
      carryOut(pod, async () => {
        const lines = to === "healthy" ? {} : linesOf((await contextOf().deaths.examine(pod, "")).logs);
        await note(pod, `probe.${to}`, { ...detail, ...lines });
      });
    },
    async settled() {
      await Promise.all(writing);
    },
  };
}
