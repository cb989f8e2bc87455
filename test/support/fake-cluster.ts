import type { PodRecord } from "../../src/orchestration/api/pods.ts";
import type { Cluster } from "../../plugins/kit/cluster.ts";
import type { ExecRequest } from "../../plugins/kit/exec.ts";
import type { ServerKind } from "../../plugins/kit/server.ts";

export interface FakePod {
  running: boolean;
  frozen: boolean;
  role: "primary" | "standby";
  /** Undefined: scripts of older blocks call what does not answer a standby, and tell no position. */
  position: number | undefined;
  /** Tools that fail there. */
  broken?: string[];
}

export const primary = (): FakePod => ({ running: true, frozen: false, role: "primary", position: 10 });
export const standby = (position = 10): FakePod => ({ running: true, frozen: false, role: "standby", position });
export const stopped = (): FakePod => ({ running: false, frozen: true, role: "primary", position: 0 });
export const dead = (): FakePod => ({ running: false, frozen: false, role: "primary", position: 0 });

export const fakeKind: ServerKind = {
  what: "postgres",
  primaryKey: "PRIMARY",
  epochKey: "EPOCH",
  noteKey: "NOTE",
  promote: "promote",
  linksKey: "LINKS",
  keepKey: "KEEP",
  exposeKey: "EXPOSE",
  holds: "THINGS",
  script: "/berth/tools.sh",
  mark: "X",
  urls: ({ primary: at }) => ({ write: `db://pod-${at}`, read: "db://any" }),
};

/** A controller and its pods that remember; every plugin process that is made over it sees the same. */
export interface FakeWorld {
  pods: FakePod[];
  config: Record<string, string>;
  /** Everything that was done, in order. */
  done: string[];
  /** Called before each step; a throw is a kill of whoever did it. */
  before: (step: string) => void;
  /** What a new process of the plugin knows. */
  load(): Cluster;
}

/** Fails wherever two pods take writes. */
export function fakeWorld(pods: FakePod[], config: Record<string, string> = {}): FakeWorld {
  const world: FakeWorld = {
    pods,
    config: { PRIMARY: "0", EPOCH: "1", ...config },
    done: [],
    before: () => undefined,
    load: () => loadFrom(world),
  };
  return world;
}

function loadFrom(world: FakeWorld): Cluster {
  const { pods, config } = world;
  const record = (pod: FakePod, ordinal: number) =>
    ({ name: `data-main.${ordinal}`, replica_id: String(ordinal), ready: pod.running, ...pod }) as unknown as PodRecord;
  const ordinalIn = (name: string) => Number(name.split(".")[1]);
  const step = (text: string) => {
    world.before(text);
    world.done.push(text);
    const leading = pods.filter((each) => each.running && each.role === "primary");
    if (leading.length > 1) throw new Error("two primaries");
  };
  const exec = async ({ pod: name, command }: ExecRequest) => {
    const ordinal = ordinalIn(name);
    const pod = pods[ordinal];
    const [, , tool = "", ...args] = command;
    if (pod === undefined || !pod.running) throw new Error(`${name} does not run`);
    if (tool !== "status") step([tool, ordinal, ...args].join(" "));
    if (pod.broken?.includes(tool)) return { exitCode: 1, stdout: "", stderr: `${tool} failed` };
    if (tool === "promote") pod.role = "primary";
    if (pods.filter((each) => each.running && each.role === "primary").length > 1) throw new Error("two primaries");
    return { exitCode: 0, stdout: `role=${pod.role}\nposition=${pod.position ?? ""}\n`, stderr: "" };
  };
  return {
    kind: fakeKind,
    of: { scope: "data", name: "main" },
    config: { ...config },
    env: {},
    pods: pods.map(record),
    replicas: pods.length,
    primary: Number(config.PRIMARY),
    epoch: Number(config.EPOCH),
    progress: () => undefined,
    controller: {
      spec: async () => undefined,
      heldPorts: async () => [],
      config: async () => ({ ...config }),
      mounts: async () => [],
      runs: async () => false,
      backupRuns: async () => [],
      cancelRun: async () => undefined,
      requireConfigurable: async () => undefined,
      pods: async () => pods.map(record),
      exec,
      async setConfig(_of, vars) {
        const { PRIMARY, EPOCH, NOTE } = vars;
        const place = PRIMARY === undefined ? [] : [`${PRIMARY}@${EPOCH}`];
        const note = NOTE === undefined ? [] : [NOTE === "" ? "no note" : "note"];
        step(`config ${[...place, ...note].join(" ")}`);
        for (const [key, value] of Object.entries(vars)) {
          if (value === "") delete config[key];
          else config[key] = value;
        }
      },
      async freeze(name) {
        const pod = pods[ordinalIn(name)];
        if (pod === undefined) return false;
        if (!pod.frozen || pod.running) step(`freeze ${ordinalIn(name)}`);
        Object.assign(pod, { running: false, frozen: true });
        return true;
      },
      async start(name) {
        const pod = pods[ordinalIn(name)];
        const role = Number(config.PRIMARY) === ordinalIn(name) ? "primary" : "standby";
        step(`start ${ordinalIn(name)}`);
        Object.assign(pod ?? {}, { running: true, frozen: false, role });
      },
    },
  };
}
