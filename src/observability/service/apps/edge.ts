import type { Client } from "../../../base/wire/client.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import type { SteadyClock } from "../../../base/words/clock.ts";
import type { Log } from "../../../base/words/log.ts";
import { type AppBackup, listBackupApps } from "../../../backups/api/backups.ts";
import { type CertificateView, listCertificates } from "../../../ingress/api/certificates.ts";
import { getIngress, type IngressStatus } from "../../../ingress/api/ingress.ts";
import { system } from "../../../orchestration/api/health.ts";
import { type JobRun, listRuns } from "../../../orchestration/api/jobs.ts";
import { keyText } from "../../../orchestration/api/manifest-key.ts";
import { listLocks, type Lock } from "../../../orchestration/api/locks.ts";
import type { AppHost } from "../../api/app-model.ts";
import { hostsByApp } from "../../core/apps/hosts.ts";

/** What surrounds the apps: read now and then, since nothing tells when it changes. */
interface Edge {
  ingress: IngressStatus | undefined;
  certificates: readonly CertificateView[];
  locks: readonly Lock[];
  /** Newest first. */
  runs: readonly JobRun[];
  collectionHeld: boolean;
  held: string | undefined;
  /** What the server tried and saw of its machine. */
  machine: Pick<DataOf<typeof system>, "forwarding" | "disks">;
  /** Version of the server; empty until it was asked. */
  version: string;
  /** By `SCOPE/NAME`. */
  hosts: ReadonlyMap<string, readonly AppHost[]>;
  /** Copies of apps with volumes, by the keys of the apps as text. */
  backups: ReadonlyMap<string, AppBackup>;
}

export interface EdgeReader {
  readonly now: Edge;
  /** Reads again what is older than `maxAgeMs`; what cannot be read stays as it was. True where something changed. */
  refresh(maxAgeMs: number): Promise<boolean>;
}

const runsRead = 1_000;

export function createEdgeReader({ client, clock, log }: { client: Client; clock: SteadyClock; log: Log }): EdgeReader {
  let edge: Edge = {
    ingress: undefined,
    certificates: [],
    locks: [],
    runs: [],
    collectionHeld: false,
    held: undefined,
    machine: {},
    version: "",
    hosts: new Map(),
    backups: new Map(),
  };
  let text = "";
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<boolean> | undefined;

  async function part<T>(what: string, read: () => Promise<T>, before: T): Promise<T> {
    try {
      return await read();
    } catch (error) {
      log.debug("not read for the list of apps", { what, error });
      return before;
    }
  }

  async function read(): Promise<boolean> {
    const [ingress, certificates, locks, runs, backups, server] = await Promise.all([
      part("ingress", () => client.call(getIngress), edge.ingress),
      part("certificates", async () => (await client.call(listCertificates)).certificates, edge.certificates),
      part("locks", async () => (await client.call(listLocks)).locks, edge.locks),
      part("runs", async () => (await client.call(listRuns, { query: { limit: runsRead } })).runs, edge.runs),
      part("backups", async () => byApp((await client.call(listBackupApps)).apps), edge.backups),
      part("system", () => client.call(system), undefined),
    ]);
    const hosts = hostsByApp(ingress?.sites ?? [], certificates);
    const { version = edge.version, store = { collection_held: edge.collectionHeld } } = server ?? {};
    const collectionHeld = store.collection_held;
    const held = server === undefined ? edge.held : server.held;
    const machine = server === undefined ? edge.machine : { forwarding: server.forwarding, disks: server.disks };
    edge = { ingress, certificates, locks, runs, collectionHeld, held, machine, version, hosts, backups };
    readAt = clock.steady();
    // Counters of the proxy move all the time and are shown elsewhere.
    const shown = [
      ingress?.proxy.state,
      ingress?.proxy.problem,
      certificates,
      locks,
      runs,
      collectionHeld,
      held,
      machine.forwarding?.state,
      machine.disks?.map(({ path, read_only: isReadOnly }) => [path, isReadOnly]),
      [...hosts],
      [...backups],
    ];
    const before = text;
    text = JSON.stringify(shown);
    return text !== before;
  }

  return {
    get now() {
      return edge;
    },
    async refresh(maxAgeMs) {
      if (reading === undefined && clock.steady() - readAt <= maxAgeMs) return false;
      reading ??= read().finally(() => {
        reading = undefined;
      });
      return reading;
    },
  };
}

function byApp(apps: DataOf<typeof listBackupApps>["apps"]): Edge["backups"] {
  return new Map(apps.map(({ kind, scope, name, ...backup }) => [keyText({ kind, scope, name }), backup]));
}
