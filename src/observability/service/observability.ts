import type { AppsRoom } from "./apps/create.ts";
import type { AlertRoom } from "./alerts/create.ts";
import type { HostRoom } from "./host/create.ts";
import type { System } from "./host/system.ts";
import type { ActivityRoom } from "./activity/create.ts";
import type { TrafficRoom } from "./traffic/create.ts";
import type { Jobs } from "./jobs/create.ts";
import type { Pods } from "./pods/create.ts";
import type { PodLogs } from "./pod-logs/create.ts";
import type { IncidentRoom } from "./incidents/create.ts";
import type { AuditTrail } from "./audit.ts";
import type { MetricsAnswers } from "./metrics/answers.ts";
import type { Log } from "../../base/words/log.ts";
import type { DrainRoom } from "./drains/create.ts";
import type { LogsRoom } from "./logs/create.ts";
import type { PeopleRoom } from "./people/create.ts";
import type { Platform } from "./platform.ts";
import type { Rates } from "./rates.ts";
import type { Streams } from "./streams.ts";
import type { UiSessions } from "./sessions.ts";
import type { Access } from "./tokens/access.ts";
import type { ManagedTokens } from "./tokens/tokens.ts";

/** What the plane can do, one member per room; `http/app.ts` mounts each. */
export interface Observability {
  access: Access;
  rates: Rates;
  streams: Streams;
  audit: AuditTrail;
  tokens: ManagedTokens;
  sessions: UiSessions;
  people: PeopleRoom;
  platform: Platform;
  metrics: MetricsAnswers;
  log: Log;
  apps: AppsRoom;
  logs: LogsRoom;
  drains: DrainRoom;
  alerts: AlertRoom;
  incidents: IncidentRoom;
  host: HostRoom;
  system: System;
  pods: Pods;
  jobs: Jobs;
  activity: ActivityRoom;
  traffic: TrafficRoom;
  podLogs: PodLogs;
}
