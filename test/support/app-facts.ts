import type { AppFacts, AppWatch, ReleaseFacts, ReplicaFacts } from "../../src/orchestration/api/app-facts.ts";

/** A replica that runs and is ready, but for what is given. */
export function replicaFacts(over: Partial<ReplicaFacts> = {}): ReplicaFacts {
  return {
    id: "c1",
    name: "shop-web.abcde",
    replicaId: "abcde",
    ordinal: undefined,
    node: "local",
    image: "web:1",
    releaseId: undefined,
    state: "running",
    ready: true,
    reason: undefined,
    leaving: false,
    frozen: false,
    createdAt: 0,
    startedAt: 0,
    upSince: 0,
    restarts: 0,
    crashes: 0,
    exitCode: undefined,
    oomKilled: false,
    cannotStart: undefined,
    ports: [],
    ...over,
  };
}

/** deployment/shop/web with one replica, settled, but for what is given. */
export function appFacts(over: Partial<AppFacts> = {}): AppFacts {
  return {
    kind: "deployment",
    scope: "shop",
    name: "web",
    revision: 1,
    generation: 1,
    updatedAt: 0,
    block: undefined,
    image: "web:1",
    status: {
      phase: "ready",
      conditions: [],
      warnings: [],
      observedRevision: 1,
      observedGeneration: 1,
      error: undefined,
      nextRetryAt: undefined,
    },
    replicas: 1,
    frozenIds: [],
    release: undefined,
    rollbackTo: undefined,
    canary: undefined,
    deleting: false,
    pods: [replicaFacts()],
    ...over,
  };
}

/** What the controller hands out of apps, told by hand. */
export interface FakeWatch extends AppWatch {
  /** The app is now like this. */
  put(facts: AppFacts): void;
  remove(facts: Pick<AppFacts, "kind" | "scope" | "name">): void;
  engineDown(error: string): void;
  engineUp(): void;
  /** Kept releases of each app before its newest one, newest first. */
  before: ReleaseFacts[];
}

export function fakeWatch(apps: readonly AppFacts[] = []): FakeWatch {
  const textOf = ({ kind, scope, name }: Pick<AppFacts, "kind" | "scope" | "name">) => `${kind}/${scope}/${name}`;
  const known = new Map(apps.map((facts) => [textOf(facts), facts]));
  const listeners = new Set<Parameters<AppWatch["subscribe"]>[0]>();
  let engine: ReturnType<AppWatch["engine"]> = { up: true, since: 0, error: undefined };
  const tell: Parameters<AppWatch["subscribe"]>[0] = (key) => {
    for (const listener of listeners) listener(key);
  };
  const before: ReleaseFacts[] = [];
  return {
    before,
    releases({ before: edge, limit, isWanted }) {
      const isOlder = ({ startedAt, id }: ReleaseFacts) =>
        edge === undefined || startedAt < edge.startedAt || (startedAt === edge.startedAt && id < edge.id);
      return [...known.values()]
        .filter(isWanted)
        .flatMap(({ kind, scope, name, release }) =>
          [release ?? [], before].flat().map((one) => ({ ...one, app: { kind, scope, name } })),
        )
        .filter(isOlder)
        .sort((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1))
        .slice(0, limit);
    },
    keys: () => [...known.values()].map(({ kind, scope, name }) => ({ kind, scope, name })),
    of: (key) => known.get(textOf(key)),
    usageAt: () => undefined,
    engine: () => engine,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    put(facts) {
      known.set(textOf(facts), facts);
      tell(facts);
    },
    remove(facts) {
      known.delete(textOf(facts));
      tell(facts);
    },
    engineDown(error) {
      engine = { up: false, since: 0, error };
      tell(undefined);
    },
    engineUp() {
      engine = { up: true, since: 0, error: undefined };
      tell(undefined);
    },
  };
}
