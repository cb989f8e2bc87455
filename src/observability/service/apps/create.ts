import { tokenNames } from "../tokens/tokens.ts";
import { createStreamRoom, type StreamRoom } from "./stream-room.ts";
import type { AuditTrail } from "../audit.ts";
import type { ObservabilityContext } from "../context.ts";
import { type Actions, createActions } from "./actions.ts";
import type { AppProblem } from "../../api/app-model.ts";
import type { HostStrip } from "../../api/apps.ts";
import { type Apps, createApps } from "./apps.ts";
import { createDeploys, type Deploys } from "./deploys.ts";
import { createEdgeReader } from "./edge.ts";
import { createFigures } from "./figures.ts";
import { type AppModel, createAppModel } from "./model.ts";
import { createOperations, type Operations } from "./operations.ts";
import { createSettings, type Settings } from "./settings.ts";

export interface AppsRoom {
  apps: Apps;
  model: AppModel;
  operations: Operations;
  actions: Actions;
  deploys: Deploys;
  settings: Settings;
  stream: StreamRoom;
  run(signal: AbortSignal): Promise<void>;
}

interface AppsParts {
  audit: AuditTrail;
  host: () => HostStrip | undefined;
  /** Problems that other rooms know of. */
  noted: () => AppProblem[];
}

/** What the event log says of what this room does by itself; it only reads. */
const ownName = "observability";

/** Enough that two runs of a server never have the same. */
const epochBytes = 6;

/** Apps as everything else of the plane shows them. */
export function createAppsRoom(context: ObservabilityContext, { audit, host, noted }: AppsParts): AppsRoom {
  const { platform, clock, log, limits } = context;
  const client = platform.as(ownName);
  const edge = createEdgeReader({ client, clock, log });
  const figures = createFigures({ client, edge, log, usageAt: platform.apps.usageAt, limits: limits.apps });
  const nameOf = tokenNames(context.store);
  const model = createAppModel({
    ...{ watch: platform.apps, edge, figures, host, noted, nameOf, clock, log },
    limits: limits.apps,
  });
  const apps = createApps({
    ...{ model, edge, figures, client, nameOf, clock, limits: limits.apps },
    releasesOf: platform.apps.releases,
  });
  const operations = createOperations({ ...context, model, limits: limits.apps });
  const stream = createStreamRoom({
    ...{ model, operations, client, nameOf, clock, log },
    version: () => edge.now.version,
    epoch: Buffer.from(context.randomBytes(epochBytes)).toString("hex"),
    limits: limits.apps.stream,
  });
  return {
    apps,
    model,
    operations,
    actions: createActions({ platform, apps, model, operations }),
    deploys: createDeploys({ platform, operations }),
    settings: createSettings({ platform, audit }),
    stream,
    run: async (signal) => void (await Promise.all([model, operations, stream].map((room) => room.run(signal)))),
  };
}
