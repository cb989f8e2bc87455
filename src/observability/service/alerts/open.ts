import type { ObservabilityContext } from "../context.ts";
import { type AlertRoom, createAlerts } from "./create.ts";
import type { AlertParts } from "./parts.ts";

const idBytes = 8;

/** The room of alerts over the store and the platform of the plane. */
export function openAlerts(context: ObservabilityContext): AlertRoom {
  return createAlerts(alertParts(context), () => Promise.resolve());
}

function alertParts({ store, clock, log, randomBytes, platform, alerts: outside }: ObservabilityContext): AlertParts {
  return {
    ...outside,
    store: {
      ...store.alerting,
      write: (change, options) => store.write(({ alerting }) => change(alerting), options),
    },
    clock,
    log,
    newId: () => Buffer.from(randomBytes(idBytes)).toString("hex"),
    client: platform.as("alerts"),
  };
}
