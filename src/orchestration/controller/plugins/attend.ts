import { Failure } from "../../../base/wire/failure.ts";
import { keyOf } from "../../api/manifest-key.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import { isOwn, makerOf } from "../../core/plugins/maker.ts";
import type { AttendInput } from "../../api/plugins/protocol.ts";
import { parseDuration } from "../../../base/pure/duration.ts";
import { createBackoff, type Backoff } from "../../../base/words/backoff.ts";
import { createLimit } from "../../../base/words/limit.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import { attendTo } from "./attend-run.ts";
import type { Attendance, ExclusiveCall } from "../state/attendance.ts";
import type { Context } from "../state/context.ts";
import { hasServed, unreadyPods } from "./unready.ts";
import { sleepAbout } from "../../../base/words/sleep-about.ts";

type Reason = AttendInput["reason"];

/** What is known about one block. */
interface Attended {
  /** On the steady clock; undefined: nothing is due. */
  dueAt: number | undefined;
  reason: Reason;
  /** Whether a pod of it was ever ready: before that none counts as unready. */
  served: boolean;
  /** Pod name to when it was first seen not ready, on the steady clock. */
  unready: Map<string, number>;
  /** Pods that the plugin has been asked about since they became unready. */
  asked: Set<string>;
  backoff: Backoff;
  /** What the last attempt failed with: the same again is not reported. */
  error: string | undefined;
}

interface Command {
  name: string;
  since: number;
  /** Resolves when it has ended, however it ended. */
  over: Promise<void>;
}

export function createAttendance(contextOf: () => Context): Attendance {
  /** Plugin and SCOPE/NAME to the exclusive command that runs. */
  const running = new Map<string, Command>();
  const known = new Map<string, Attended>();
  const underWay = new Set<Promise<void>>();

  async function alone<T>(call: ExclusiveCall, work: () => Promise<T>): Promise<T> {
    const place = placeOf(call);
    if (place === undefined) return work();
    const { clock } = contextOf();
    await attendanceOf(call, place);
    const other = running.get(place);
    if (other !== undefined) throw busy(call, other, clock.steady());
    const over = Promise.withResolvers<void>();
    running.set(place, { name: call.command, since: clock.steady(), over: over.promise });
    try {
      return await work();
    } catch (error) {
      // It may have been cut off half-way: its plugin looks at what it has left.
      for (const block of blocksAt(contextOf(), call.plugin, place))
        make(block, { reason: "interrupted", dueAt: clock.steady() });
      throw error;
    } finally {
      running.delete(place);
      over.resolve();
    }
  }

  /** What the server does by itself must not make a caller fail: the caller waits for it. */
  async function attendanceOf({ plugin, command }: ExclusiveCall, place: string): Promise<void> {
    const own = plugin.yml.attend?.command;
    if (command === own) return;
    for (let other = running.get(place); other?.name === own && other !== undefined; other = running.get(place)) {
      await other.over;
    }
  }

  function make(block: ManifestKey, due: Pick<Attended, "reason" | "dueAt">): Attended {
    const at = known.get(formatKey(block));
    if (at !== undefined) return Object.assign(at, due);
    const { attendBackoffFirstMs: firstMs, attendBackoffMaxMs: maxMs } = contextOf().limits;
    const backoff = createBackoff({ firstMs, maxMs, random: Math.random });
    const fresh = { ...due, served: false, unready: new Map(), asked: new Set<string>(), backoff, error: undefined };
    known.set(formatKey(block), fresh);
    return fresh;
  }

  function look(limit: ReturnType<typeof createLimit>): void {
    const context = contextOf();
    const now = context.clock.steady();
    const blocks = attendedBlocks(context);
    const there = new Set(blocks.map(({ block }) => formatKey(block)));
    for (const text of known.keys()) if (!there.has(text)) known.delete(text);
    for (const attended of blocks) {
      const { block, plugin, unreadyMs } = attended;
      const at = known.get(formatKey(block)) ?? make(block, { reason: "start", dueAt: undefined });
      at.served ||= hasServed(context, block);
      watch(at, { pods: at.served ? unreadyPods(context, block) : [], now, unreadyMs });
      const place = `${plugin.yml.name} ${block.scope}/${block.name}`;
      if (at.dueAt === undefined || at.dueAt > now || running.has(place)) continue;
      at.dueAt = undefined;
      const work = limit(() => attend(attended, at));
      underWay.add(work);
      void work.finally(() => underWay.delete(work));
    }
  }

  async function attend({ block, plugin, unreadyMs }: AttendedBlock, at: Attended): Promise<void> {
    const context = contextOf();
    const { clock, log } = context;
    if (running.has(`${plugin.yml.name} ${block.scope}/${block.name}`)) {
      // Another command has begun while this one had to queue.
      at.dueAt = clock.steady();
      return;
    }
    const unready = [...at.unready].map(([pod, since]) => ({ pod, ms: Math.round(clock.steady() - since) }));
    for (const { pod, ms } of unready) if (ms >= unreadyMs) at.asked.add(pod);
    try {
      const again = await attendTo(context, { block, plugin, reason: at.reason, unready, known: at.error });
      at.backoff.reset();
      at.error = undefined;
      if (again !== undefined) make(block, { reason: at.reason, dueAt: clock.steady() + again });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const inMs = at.backoff.next();
      if (message !== at.error)
        log.warn("plugin could not attend to a block", { block: formatKey(block), error, inMs });
      at.error = message;
      at.dueAt = clock.steady() + inMs;
    }
  }

  return {
    alone,
    async run(signal) {
      const { clock, limits, link, log } = contextOf();
      const limit = createLimit(limits.attendAtOnceMax);
      // A server that died may have left any of them half-way.
      for (const block of contextOf().store.blocks.keys()) make(block, { reason: "start", dueAt: clock.steady() });
      while (!signal.aborted) {
        // Nothing is known about pods while the engine is away, and nothing can be done about them.
        if (link.up()) {
          try {
            look(limit);
          } catch (error) {
            log.error("blocks not looked at", { error });
          }
        }
        const attends = contextOf()
          .plugins.registry.list()
          .plugins.some(({ yml }) => yml.attend !== undefined);
        await sleepAbout(clock, attends ? limits.attendLookMs : limits.resyncMs, signal);
      }
      await Promise.allSettled(underWay);
    },
  };
}

/** Keeps the times of pods that are not ready, and sets when the plugin is asked about them. */
function watch(
  at: Attended,
  { pods, now, unreadyMs }: { pods: readonly string[]; now: number; unreadyMs: number },
): void {
  for (const pod of at.unready.keys()) if (!pods.includes(pod)) at.unready.delete(pod);
  for (const pod of at.asked) if (!pods.includes(pod)) at.asked.delete(pod);
  for (const pod of pods) if (!at.unready.has(pod)) at.unready.set(pod, now);
  if (at.unready.size === 0 && at.reason === "unready") at.dueAt = undefined;
  const isNews = [...at.unready].some(([pod, since]) => now - since >= unreadyMs && !at.asked.has(pod));
  if (isNews && at.dueAt === undefined) Object.assign(at, { dueAt: now, reason: "unready" });
}

/** What an exclusive command is alone with: its plugin and the block that its first word names. */
function placeOf({ plugin: { yml }, command, args }: ExclusiveCall): string | undefined {
  const isExclusive =
    yml.attend?.command === command ||
    yml.commands.some(({ name, exclusive }) => name === command && exclusive === true);
  const block = args.find((word) => !word.startsWith("-"));
  return isExclusive && block !== undefined ? `${yml.name} ${block}` : undefined;
}

function busy({ plugin, args }: ExclusiveCall, { name, since }: Command, now: number): Failure {
  const block = args.find((word) => !word.startsWith("-"));
  const seconds = Math.max(Math.round((now - since) / 1_000), 0);
  const who = `"${plugin.yml.name}:${name}" has been running for ${block} for ${seconds} s`;
  return new Failure("conflict", `${who}; wait until it has ended, and try again`);
}

function blocksAt(context: Context, plugin: Plugin, place: string): ManifestKey[] {
  const maker = makerOf(plugin);
  return context.store.blocks
    .keys()
    .filter((block) => isOwn(block, maker) && place === `${block.plugin} ${block.scope}/${block.name}`);
}

interface AttendedBlock {
  block: ManifestKey;
  plugin: Plugin;
  unreadyMs: number;
}

function attendedBlocks({ store, plugins }: Context): AttendedBlock[] {
  return store.blocks.keys().flatMap((block) => {
    const plugin = plugins.registry.find(block.plugin);
    const { attend } = plugin?.yml ?? {};
    if (plugin === undefined || attend === undefined || !plugin.enabled || !isOwn(block, makerOf(plugin))) return [];
    return [{ block: keyOf(block), plugin, unreadyMs: parseDuration(attend.unready) ?? 0 }];
  });
}
