import type { ManifestKey } from "../../api/manifest.ts";
import type { SteadyClock } from "../../../base/words/clock.ts";
import type { ContainerState, ObservedPod, PodEvent } from "../../engine/pod.ts";
import type { Engine } from "../../engine/engine.ts";
import { type KeyText, keyText } from "../../api/manifest-key.ts";
import { addCrashes, endOfRun, fill, type Pod, podOf } from "./pod.ts";

/**
 * Memory of the engine's state, filled by listings and moved along by events. Every change of a resource's pods
 * raises its version, so that a resync can tell in one comparison that nothing happened.
 */
export interface PodTable {
  /** Lists everything; returns the keys whose pods changed. */
  refreshAll(): Promise<KeyText[]>;
  /** Lists one resource and inspects what changed there. */
  refresh(key: ManifestKey): Promise<Pod[]>;
  /** Asks the engine about one pod, where something was heard of it since. */
  look(pod: Pod): Promise<void>;
  /** Takes an event into account; the key of the resource whose replica it is about, when it is ours. */
  observe(event: PodEvent): ManifestKey | undefined;
  /** Everything was listed once: what is not in the table is not there. */
  hasLooked(): boolean;
  /** Nothing was heard of the resource's containers that was not looked at since. */
  isFresh(key: ManifestKey): boolean;
  of(key: ManifestKey): Pod[];
  byName(name: string): Pod | undefined;
  byId(id: string): Pod | undefined;
  all(): Iterable<Pod>;
  keys(): Iterable<KeyText>;
  version(key: KeyText): number;
  /** It was started again by us; `why` where we had ended it, too. */
  healed(id: string, why?: string): void;
  /** Its process can never begin, as it says itself. */
  cannotStart(id: string, words: string): void;
  /** After a gap in the events: nothing known about details can be trusted. */
  forgetDetails(): void;
}

interface Listing {
  asked: number;
  containers: ObservedPod[];
}

interface TableOptions {
  engine: Engine;
  clock: SteadyClock;
  /** What the server before this one had counted. */
  earlierRestarts: (pod: Pod) => number;
  /** Pods of a resource came, went, or are in another state or at another address. May be called many times in a row. */
  onChange?: (key: KeyText) => void;
  /** A pod was inspected: its crashes, exit code or start may be others. */
  onLook?: (key: KeyText) => void;
}

export function createPodTable({ engine, clock, earlierRestarts, onChange, onLook }: TableOptions): PodTable {
  const byId = new Map<string, Pod>();
  const byName = new Map<string, Pod>();
  const byKey = new Map<KeyText, Map<string, Pod>>();
  const versions = new Map<KeyText, number>();
  const changed = new Set<KeyText>();
  /** Resources with containers that only an event has told of. */
  const heardOf = new Set<KeyText>();
  /** Everything was listed once, and events have been followed since. */
  let isComplete = false;
  let eventCount = 0;
  let hasLooked = false;

  function touch(key: KeyText): void {
    versions.set(key, (versions.get(key) ?? 0) + 1);
    changed.add(key);
    onChange?.(key);
  }

  function drop(pod: Pod): void {
    const key = keyText(pod.key);
    byId.delete(pod.id);
    if (byName.get(pod.name) === pod) byName.delete(pod.name);
    const siblings = byKey.get(key);
    siblings?.delete(pod.id);
    if (siblings?.size === 0) byKey.delete(key);
    touch(key);
  }

  function add(pod: Pod): void {
    const key = keyText(pod.key);
    byId.set(pod.id, pod);
    byName.set(pod.name, pod);
    const siblings = byKey.get(key) ?? new Map<string, Pod>();
    siblings.set(pod.id, pod);
    byKey.set(key, siblings);
    touch(key);
  }

  function setState(pod: Pod, state: ContainerState): void {
    if (pod.state === state) return;
    pod.state = state;
    if (state === "running") pod.restored = false;
    pod.changedAt = clock.now();
    touch(keyText(pod.key));
  }

  function setJoined(pod: Pod, joined: readonly string[]): void {
    const isSame = joined.length === pod.joined.length && joined.every((network) => pod.joined.includes(network));
    pod.joined = joined;
    if (!isSame) touch(keyText(pod.key));
  }

  function setAddress(pod: Pod, address: string | undefined): void {
    if (pod.address === address) return;
    pod.address = address;
    onChange?.(keyText(pod.key));
  }

  function rename(pod: Pod, name: string): void {
    if (pod.name === name) return;
    if (byName.get(pod.name) === pod) byName.delete(pod.name);
    pod.name = name;
    byName.set(name, pod);
    touch(keyText(pod.key));
  }

  /** `asked` is the event count when the listing was asked for. */
  function see(container: ObservedPod, asked: number): void {
    const known = byId.get(container.id);
    if (known === undefined) {
      const pod = podOf(container, clock);
      if (pod !== undefined) add({ ...pod, inherited: !hasLooked, earlierRestarts: earlierRestarts(pod) });
      return;
    }
    known.status = container.status;
    setJoined(known, container.joined);
    if (known.eventNumber > asked) return;
    rename(known, container.name);
    if (known.state !== container.state) known.stale = true;
    setAddress(known, container.address);
    setState(known, container.state);
  }

  async function listedSince(list: () => Promise<ObservedPod[]>): Promise<Listing> {
    const asked = eventCount;
    return { asked, containers: await list() };
  }

  /** Only what was known before the listing was asked for can be missing from it. */
  function take(known: Pod[], { asked, containers }: Listing): void {
    const seen = new Set<string>();
    for (const container of containers) {
      seen.add(container.id);
      see(container, asked);
    }
    for (const pod of known) if (!seen.has(pod.id) && byId.has(pod.id)) drop(pod);
  }

  async function inspectStale(pod: Pod): Promise<void> {
    if (!pod.stale) return;
    const asked = pod.eventNumber;
    const detail = await engine.inspect(pod);
    if (detail === undefined || pod.eventNumber !== asked) return;
    fill(pod, detail, clock);
    setAddress(pod, detail.address);
    onLook?.(keyText(pod.key));
  }

  return {
    async refreshAll() {
      changed.clear();
      const known = [...byId.values()];
      heardOf.clear();
      take(known, await listedSince(() => engine.observe()));
      isComplete = true;
      hasLooked = true;
      return [...changed];
    },
    hasLooked: () => hasLooked,
    isFresh(key) {
      return isComplete && !heardOf.has(keyText(key)) && this.of(key).every(({ stale }) => !stale);
    },
    async refresh(key) {
      const known = this.of(key);
      heardOf.delete(keyText(key));
      take(known, await listedSince(() => engine.observe(key)));
      await Promise.all(this.of(key).map(inspectStale));
      return this.of(key);
    },
    look: inspectStale,
    observe(event) {
      eventCount++;
      // A command in a container, a probe's for instance, changes nothing about it.
      if (event.action.startsWith("exec_")) return undefined;
      const pod = byId.get(event.id);
      // Who runs an init, a release command or a job waits for it; no resource is another for it.
      const isOneOff = event.identity?.role !== undefined;
      if (pod === undefined) {
        const key = isOneOff ? undefined : event.identity?.key;
        if (key !== undefined) heardOf.add(keyText(key));
        return key;
      }
      pod.eventNumber = eventCount;
      pod.stale = true;
      // Told here too: a container that is started again at once has no time to be inspected.
      if (event.action === "die") {
        endOfRun(pod, clock.steady());
        pod.exitCode = pod.lastExitCode = event.exitCode;
        pod.upSince = undefined;
        pod.killedFor = undefined;
        setAddress(pod, undefined);
      }
      if (event.action === "destroy") drop(pod);
      else if (event.action === "rename") rename(pod, event.name);
      const state = stateAfter[event.action];
      if (state !== undefined) setState(pod, state);
      return isOneOff ? undefined : pod.key;
    },
    of: (key) => [...(byKey.get(keyText(key))?.values() ?? [])],
    byName: (name) => byName.get(name),
    byId: (id) => byId.get(id),
    all: () => byId.values(),
    keys: () => byKey.keys(),
    version: (key) => versions.get(key) ?? 0,
    healed(id, why) {
      const pod = byId.get(id);
      if (pod === undefined) return;
      pod.earlierRestarts += 1;
      pod.killedFor = why;
      addCrashes(pod, 1, clock.steady());
      touch(keyText(pod.key));
    },
    cannotStart(id, words) {
      const pod = byId.get(id);
      if (pod !== undefined) pod.cannotStart = words;
    },
    forgetDetails() {
      isComplete = false;
      for (const pod of byId.values()) pod.stale = true;
    },
  };
}

/** What an event says about the state; `die` may turn into `restarting`, which the next listing shows. */
const stateAfter: Record<string, ContainerState> = {
  start: "running",
  unpause: "running",
  die: "exited",
  pause: "paused",
};
