import type { AppWatch } from "../../api/app-facts.ts";
import type { Download } from "../../../base/deliver/download.ts";
import type { PruneSummary } from "../../api/apply.ts";
import type { ManifestKey, StoredManifest } from "../../api/manifest.ts";
import type { Naming } from "../../core/naming.ts";
import type { Assets } from "../../../base/disk/assets.ts";
import type { ContextLimits } from "../../../base/disk/contexts.ts";
import type { Layout } from "../../../base/disk/layout.ts";
import type { Outbox } from "../../../base/deliver/outbox.ts";
import type { SteadyClock } from "../../../base/words/clock.ts";
import type { Limit } from "../../../base/words/limit.ts";
import type { Gate } from "../../../base/deliver/gate.ts";
import type { Log } from "../../../base/words/log.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Store } from "../../store/store.ts";
import type { Attendance } from "./attendance.ts";
import type { AssetHolds } from "./asset-holds.ts";
import type { Canaries } from "./canaries.ts";
import type { Deaths } from "./deaths.ts";
import type { EngineLink } from "./engine-link.ts";
import type { JobTable } from "./job-table.ts";
import type { Departures } from "./departures.ts";
import type { Leaving } from "./leaving.ts";
import type { Guards } from "./guards.ts";
import type { LogReaders } from "./log-readers.ts";
import type { Notes } from "./notes.ts";
import type { CallbackDoor, PluginRoom } from "./plugin-room.ts";
import type { ValidationLimits } from "../../core/rules/rule.ts";
import type { PodTable } from "./pod-table.ts";
import type { Knock } from "./knock.ts";
import type { PortRoom } from "./port-room.ts";
import type { ProbeRoom } from "./probe-room.ts";
import type { Progress } from "./progress.ts";
import type { IngressGate, IngressPluginState } from "./ingress-gate.ts";
import type { Receipts, TrafficOf } from "./receipts.ts";
import type { ReleasePhases } from "./release-phase-room.ts";
import type { UsageSampler } from "./usage-sampler.ts";
import type { VolumeHolds } from "./volume-holds.ts";

/** Bounds that the controller keeps; see `config.ts`, where each is explained. */
export interface ControllerLimits extends ValidationLimits {
  messageCharactersMax: number;
  configKeysMax: number;
  configValueBytesMax: number;
  previews: {
    countMax: number;
    lookMs: number;
    clockJumpMs: number;
    clockHoldMs: number;
    branchCharactersMax: number;
  };
  containerNameMax: number;
  eventsPageMax: number;
  reconcileWorkers: number;
  returnCopyMs: number;
  engineCallsMax: number;
  resyncMs: number;
  enginePingMs: number;
  engineSilenceMs: number;
  guardLookMs: number;
  canarySaveMs: number;
  startAfterMs: number;
  startAfterLookMs: number;
  autoscaleMs: number;
  sleepLookMinMs: number;
  sleepLookMaxMs: number;
  backoffFirstMs: number;
  backoffMaxMs: number;
  orphanGraceMs: number;
  diskFloorBytes: number;
  pruneWaitMs: number;
  execResultsKept: number;
  appRunsMax: number;
  forwardsMax: number;
  forwardBytesMax: number;
  forwardMs: number;
  copiesMax: number;
  copyBytesMax: number;
  runsAtOnceMax: number;
  runContainersKept: number;
  deliveriesKept: number;
  webhookBodyBytesMax: number;
  webhookPausesMs: readonly number[];
  webhooksInFlightMax: number;
  pluginTailLines: number;
  pluginHiddenFrom: number;
  pluginConfig: { keysMax: number; valueBytesMax: number; allBytesMax: number };
  expandAtOnceMax: number;
  expandTimeoutMs: number;
  dispatchTimeoutMs: number;
  actionsMax: number;
  pluginArgsMax: number;
  attendLookMs: number;
  attendBackoffFirstMs: number;
  attendBackoffMaxMs: number;
  attendAtOnceMax: number;
  pluginArgBytesMax: number;
  pluginArgsBytesMax: number;
  buildsAtOnceMax: number;
  buildMs: number;
  buildIdleMs: number;
  buildMemoryBytes: number | undefined;
  buildCpuShares: number;
  buildLogBytesMax: number;
  builtImageGraceMs: number;
  disk: DiskLimits;
  buildContexts: ContextLimits;
}

/** See `diskLimits` of `config/`. */
interface DiskLimits {
  freshMs: number;
  filesMax: number;
  caps: { metrics: number; logs: number; builds: number };
}

/** What the controller is given from outside. */
export interface Outside {
  store: Store;
  /** Closed while a restore is not confirmed: nothing but replicas is made, and nothing is sent. */
  gate: Gate;
  engine: Engine;
  assets: Assets;
  layout: Layout;
  names: Naming;
  clock: SteadyClock;
  log: Log;
  limits: ControllerLimits;
  randomBytes: (count: number) => Uint8Array;
  /** For what the server itself leads to: the probes of its pods. It must not follow redirects. */
  fetch: (url: string, options: { signal: AbortSignal; headers?: Record<string, string> }) => Promise<Response>;
  /** For addresses that manifests name. */
  download: Download;
  /** What every image build gets as arguments unless its own say otherwise: the proxy of the site. Absent: nothing. */
  buildArguments?: Readonly<Record<string, string>>;
  /** How a TCP port is asked; absent: by connecting. */
  knock?: Knock;
  /** What visitors saw, as the ingress counted it; absent: there is no ingress. */
  trafficOf?: TrafficOf;
  /** Why ingresses are not served now; undefined when they are. Absent: this is not known. */
  ingressProblem?: () => string | undefined;
  /** How the proxy serves an ingress, and what it lacks; undefined until the proxy is set up. */
  ingressServed?: (manifest: StoredManifest) => { phase: string; why?: string } | undefined;
  /**
   * How much each resource is in use, as the ingress counts it now: `mark` changes with every request, `active` are those
   * under way. Undefined for what no ingress leads to. Fails while the proxy does not answer. Absent: no ingress.
   */
  ingressUse?: () => Promise<(key: ManifestKey) => { mark: string; active: number } | undefined>;
  /** Who routes an ingress that names no plugin; absent: the server itself. */
  routing?: {
    /** The operator's choice; empty: none. */
    plugin: string;
    /** The server listens on no address for visitors. */
    isOwnOff: boolean;
  };
  /** What the plugin of an ingress (`scope/name`) said last; undefined for an ingress without one. */
  ingressPluginOf?: (id: string) => IngressPluginState | undefined;
  /** When the newest copy of a volume was begun, of those that this server knows; epoch milliseconds. Absent: there are none. */
  newestCopy?: (volume: ManifestKey & { claim: string; ordinal: number | undefined }) => number | undefined;
  /**
   * Makes a copy of a database, to its targets if it has some, else by `plugin` on this machine, and waits for its end. Fails
   * with what went wrong. Absent: no copies are made.
   */
  copyBefore?: (database: ManifestKey & { plugin?: string }) => Promise<void>;
  /** Whether the engine has an image now, from a copy outside of the machine if need be. Never rejects. Absent: there are none. */
  bringImage?: (id: string) => Promise<boolean>;
  /** Takes replicas in and out of the ingress; absent: there is none. */
  ingressGate?: IngressGate;
  /** Memory that processes can still take; absent: it is not known. */
  freeMemory?: () => number | undefined;
  /** Webhooks may reach into the machine and its networks; absent: they may not. */
  privateWebhooks?: boolean;
  /** Whether containers reach each other, once that was tried. */
  forwarding?: () => { state: string; detail: string } | undefined;
  /** Ids of containers that the server itself holds still for a moment: what their probes say is not about them. */
  stills?: ReadonlySet<string>;
  /** The listener for telemetry of containers; absent: it is turned off. */
  telemetry?: CallbackDoor;
  about: {
    version: string;
    dockerHost: string;
    startedAt: number;
    /** What the server was started with; without secrets. */
    settings?: readonly { flag: string; value: string }[];
  };
  /** Other services of this server and where they listen, `host:port`. */
  listeners?: () => readonly { name: string; address: string }[];
}

/** A caller that waits for a tear-down. */
export interface ExpectedTearDown {
  /**
   * The summary once the work that the caller asked for is done. After `pruneWaitMs`, when the server stops, or at once
   * while the engine is down, it is a summary which says that the work goes on by itself.
   */
  summary(): Promise<PruneSummary>;
  /** The transaction was undone: nothing is waited for. */
  forget(): void;
}

/** Finishes what a delete mark asks for, and lets a caller wait for it. */
export interface TearDown {
  /** Registers a caller. Call it in the transaction that leaves the mark, so that no other work is taken for this one. */
  expect(key: ManifestKey): ExpectedTearDown;
  /** Removes containers, with prune volumes and files, then the mark; again for a delete that came meanwhile. For the reconciler. */
  finish(key: ManifestKey): Promise<void>;
}

/** What every room of the controller works with; made once by `create.ts`. */
export interface Context extends Outside {
  /** What the engine last said about our containers. */
  pods: PodTable;
  link: EngineLink;
  probes: ProbeRoom;
  ports: PortRoom;
  knock: Knock;
  progress: Progress;
  usage: UsageSampler;
  deaths: Deaths;
  notes: Notes;
  releasePhases: ReleasePhases;
  receipts: Receipts;
  guards: Guards;
  canaries: Canaries;
  /** Sends the webhook calls that transactions put into the store. */
  outbox: Pick<Outbox, "wake">;
  leaving: Leaving;
  departures: Departures;
  volumeHolds: VolumeHolds;
  logReaders: LogReaders;
  /** Tells that a resource or its pods may be others than before; many changes are reported many times. */
  apps: Pick<AppWatch, "subscribe">;
  plugins: PluginRoom;
  attendance: Attendance;
  /** Asset files that nothing referred to at the last collection. */
  unusedAssets: Set<string>;
  /** Those of applies under way. */
  assetHolds: AssetHolds;
  /** Bounds container starts over all resources. */
  starts: Limit;
  /** Runs of jobs and cron jobs under way. */
  jobs: JobTable;
  tearDown: TearDown;
  /** Names of the containers that a client is connected to; others of their role are left over. */
  attached: Set<string>;
  /** Asks for a round over the resource, at once or after a while. */
  enqueue: (key: ManifestKey, afterMs?: number) => void;
  /** How many resources wait for a round. */
  queued: () => number;
  /** Aborts when the server stops: what runs in containers goes on, what waits for it here does not. */
  closing: AbortSignal;
}
