import { theServer } from "../../../access/principal.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { formatKey } from "../../api/manifest.ts";
import { ownMessage } from "../../core/deploy-message.ts";
import type { AtomicApply, AtomicMember } from "../../store/atomic-records.ts";
import type { Transaction } from "../../store/store.ts";
import { change, type Incoming } from "./apply-change.ts";
import { copyBefore } from "../rollout/copy-before.ts";
import { materialise } from "../desired/assets.ts";
import { lookAtGroup, memberFate } from "./atomic.ts";
import type { Context } from "../state/context.ts";
import { deleteInside } from "./delete-inside.ts";
import { sleepAbout } from "../../../base/words/sleep-about.ts";

/** Sees atomic applies to their end, with or without a client that waits, and also after a restart of the server. */
interface AtomicRoom {
  run(signal: AbortSignal): Promise<void>;
}

/** Looks at what others have in the way of going back before it is given up. */
const triesMax = 5;

export function createAtomicRoom(context: Context): AtomicRoom {
  const { store, clock, progress, limits, log } = context;
  const tries = new Map<string, number>();
  /** Those that go back now: a copy of a database before that may take hours, and the others do not wait for it. */
  const returning = new Map<string, Promise<void>>();
  let waking = new AbortController();

  async function look(): Promise<void> {
    for (const group of store.atomic.waiting()) {
      const fate = lookAtGroup(context, group);
      if (fate.is === "waiting" || returning.has(group.id)) continue;
      const onError = (error: unknown) => log.error("atomic apply not ended", { id: group.id, error });
      if (fate.is === "kept") await keep(context, group).catch(onError);
      else {
        const back = goBack({ ...group, failed: fate.ref }, fate.why).catch(onError);
        returning.set(
          group.id,
          back.finally(() => returning.delete(group.id)),
        );
      }
    }
  }

  async function goBack(group: AtomicApply, why: string): Promise<void> {
    try {
      await putAllBack(context, group, why);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const count = (tries.get(group.id) ?? 0) + 1;
      tries.set(group.id, count);
      if (count < triesMax) return;
      await end(context, group, { state: "stuck", error: `${why}; not put back: ${error.message}` });
    }
    tries.delete(group.id);
  }

  return {
    async run(signal) {
      const leave = progress.moved.subscribe(() => {
        if (store.atomic.waiting().length > 0) waking.abort();
      });
      while (!signal.aborted) {
        waking = new AbortController();
        await look();
        await sleepAbout(clock, limits.resyncMs, AbortSignal.any([signal, waking.signal]));
      }
      leave();
      await Promise.all(returning.values());
    },
  };
}

async function keep(context: Context, group: AtomicApply): Promise<void> {
  await end(context, group, { state: "kept", error: undefined });
}

/** With the specs of before, nothing secret is kept any longer. */
function ended(context: Context, group: AtomicApply, end: Pick<AtomicApply, "state" | "error">): AtomicApply {
  const members = group.members.map((member): AtomicMember => {
    const fate = memberFate(context, member);
    const what = fate.is === "left" ? "left" : "kept";
    const outcome = fate.is === "left" ? `left as it is: ${fate.why}` : "kept";
    return { ...member, previous: undefined, fate: member.fate ?? what, outcome: member.outcome ?? outcome };
  });
  return { ...group, ...end, members, endedAt: context.clock.now() };
}

async function end(context: Context, group: AtomicApply, how: Pick<AtomicApply, "state" | "error">): Promise<void> {
  await context.store.write((tx) => record(context, tx, ended(context, group, how)));
}

function record(context: Context, tx: Transaction, group: AtomicApply): void {
  tx.atomic.put(group);
  const { id, state, error } = group;
  const detail = { apply: id, resources: group.members.map(formatKey), ...(error === undefined ? {} : { error }) };
  tx.events.append({ actor: "reconciler", action: `apply.${state}`, detail }, context.clock.now());
}

/**
 * One transaction: all that the apply wrote is as it was, or nothing is touched. What somebody else changed since is
 * theirs and stays.
 */
async function putAllBack(context: Context, group: AtomicApply, why: string): Promise<void> {
  const look = () => group.members.map((member) => ({ member, fate: memberFate(context, member) }));
  const oursOf = (seen: ReturnType<typeof look>) =>
    seen.filter(({ fate }) => fate.is !== "left").map(({ member }) => member);
  const back = oursOf(look()).flatMap(({ kind, scope, name, previous: spec, imageId }) =>
    spec === undefined ? [] : [{ key: { kind, scope, name }, spec, imageId }],
  );
  await copyBefore(context, back, { left: context.closing });
  // The copy may have taken long: what somebody has changed meanwhile is theirs too.
  const fates = look();
  const ours = oursOf(fates);
  const incoming = await incomingOf(context, ours);
  const imageIds = new Map(ours.flatMap((member) => (member.imageId ? [[formatKey(member), member.imageId]] : [])));
  const written = incoming.flatMap(({ asset }) => Object.values(asset?.files ?? {}));
  const release = context.assetHolds.hold(written);
  const stored = context.store.write((tx) => {
    const now = context.clock.now();
    const reason = `atomic apply: ${why}`;
    for (const { kind, scope, name, action } of ours) {
      const key = { kind, scope, name };
      if (action === "created") deleteInside(tx, { key, prune: false, actor: "reconciler", why: reason, now });
    }
    // The releases of those that were well record why they go.
    const message = ownMessage(reason, context.limits.messageCharactersMax);
    const options = { dryRun: false, prune: false, actor: "reconciler", by: theServer, message };
    change(context, tx, { incoming, options, pulled: undefined, goingBack: { imageIds } });
    const members = fates.map(({ member, fate }) => ({
      ...member,
      fate: fateBack(member, fate.is === "left"),
      outcome: fate.is === "left" ? `left as it is: ${fate.why}` : undone[member.action],
    }));
    record(context, tx, ended(context, { ...group, members }, { state: "put_back", error: why }));
  });
  await stored.finally(release);
  for (const { kind, scope, name } of ours) context.enqueue({ kind, scope, name });
}

function fateBack({ action }: AtomicMember, isLeft: boolean): NonNullable<AtomicMember["fate"]> {
  if (isLeft) return "left";
  return action === "created" ? "deleted" : "put_back";
}

const undone: Record<AtomicMember["action"], string> = {
  created: "deleted again; its volumes and config stay",
  updated: "put back",
  deleted: "put back, with a release history of its own",
  unchanged: "put back",
};

/** The bytes of asset files are on the disk before the transaction, as in any apply. */
async function incomingOf(context: Context, members: readonly AtomicMember[]): Promise<Incoming[]> {
  const incoming: Incoming[] = [];
  for (const { kind, scope, name, previous: spec } of members) {
    if (spec === undefined) continue;
    const key = { kind, scope, name };
    const place = { within: [formatKey(key)] };
    const item: Incoming = { key, spec, ifRevision: undefined, place, asset: undefined };
    if (kind === "asset") {
      const { problems, ...asset } = await materialise(context, item, { dryRun: false, previous: undefined });
      if (problems.length > 0) throw new Failure("unavailable", problems.map(({ message }) => message).join("; "));
      item.asset = asset;
    }
    incoming.push(item);
  }
  return incoming;
}
