import type { ObservabilityContext } from "../context.ts";
import { type Apps, createApps } from "./apps.ts";
import { createEdgeReader } from "./edge.ts";
import { createFigures } from "./figures.ts";
import { type AppModel, createAppModel } from "./model.ts";

export interface AppsRoom {
  apps: Apps;
  model: AppModel;
  run(signal: AbortSignal): Promise<void>;
}

/** What the event log says of what this room does by itself; it only reads. */
const ownName = "observability";

/** Apps as everything else of the plane shows them. */
export function createAppsRoom({ platform, clock, log, limits }: ObservabilityContext): AppsRoom {
  const client = platform.as(ownName);
  const edge = createEdgeReader({ client, clock, log });
  const figures = createFigures({ client, edge, log, limits: limits.apps });
  const host = () => platform.host?.();
  const model = createAppModel({ watch: platform.apps, edge, figures, host, clock, log, limits: limits.apps });
  const apps = createApps({ model, edge, figures, client, clock, limits: limits.apps });
  return { apps, model, run: model.run };
}
