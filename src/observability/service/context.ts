import type { SteadyClock } from "../../base/words/clock.ts";
import type { Gate } from "../../base/deliver/gate.ts";
import type { Log } from "../../base/words/log.ts";
import type { ObservabilityStore } from "../store/open-store.ts";
import type { AppsLimits } from "./apps/limits.ts";
import type { AlertOutside } from "./alert-parts.ts";
import type { TelemetryLimits } from "./telemetry/create.ts";
import type { MetricsRoom } from "./metrics/create.ts";
import type { PeopleIdentity } from "./people/identity.ts";
import type { PluginLimits } from "./plugins/limits.ts";
import type { FileLimits } from "./files/limits.ts";
import type { ShelfLimits } from "./saved/shelf.ts";
import type { Platform } from "./platform.ts";
import type { TerminalLimits } from "./terminals/limits.ts";

/** Limits of the plane itself: see `observabilityLimits` of `config/`, where each is explained. */
export interface PlaneLimits {
  tokens: {
    activeMax: number;
    endedKept: number;
    nameCharactersMax: number;
    networksMax: number;
    lifeMaxMs: number;
    graceMs: number;
    touchMs: number;
    agentCharactersMax: number;
  };
  sessions: {
    lifeMs: number;
    openMax: number;
    linkMs: number;
    linksMax: number;
    clockJumpMs: number;
    clockHoldMs: number;
  };
  people: { max: number; pendingMs: number; pendingMax: number; pendingOfClientMax: number; lookMs: number };
  rates: Record<"actions" | "clicks" | "reads" | "failures" | "refusals", { burst: number; perMinute: number }> & {
    keysMax: number;
  };
  streamsPerTokenMax: number;
  streamsMax: number;
  expiryLookMs: number;
  terminals: TerminalLimits;
  files: FileLimits;
  hostMs: number;
  auditKept: number;
  saved: { searches: ShelfLimits; boards: ShelfLimits };
  apps: AppsLimits;
  plugins: PluginLimits;
  telemetry: TelemetryLimits;
}

/** What every room of the plane works with. */
export interface ObservabilityContext {
  store: ObservabilityStore;
  clock: SteadyClock;
  log: Log;
  limits: PlaneLimits;
  /** While it is closed, no alert is looked for, and nothing is sent. */
  gate: Gate;
  randomBytes: (count: number) => Uint8Array;
  platform: Platform;
  metrics: MetricsRoom;
  /** What names of exported metrics begin with. */
  prefix: string;
  alerts: AlertOutside;
  people: PeopleIdentity;
}
