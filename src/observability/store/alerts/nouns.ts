import type { Database } from "bun:sqlite";
import type { Seal } from "../../../base/sqlite/seal.ts";
import { type Alerts, createAlerts } from "./alerts.ts";
import { type AlertSettings, type Channels, createAlertSettings, createChannels } from "./channels.ts";
import { type AlertDeliveries, createAlertDeliveries } from "./deliveries.ts";
import { createHeard, type Heard } from "./heard.ts";
import { createOutages, type Outages } from "./outages.ts";
import { type AlertRules, createAlertRules, createSilences, type Silences } from "./rules.ts";

/** The nouns of alerts and incidents. Call what writes only inside a write of the store. */
export interface AlertNouns {
  alerts: Alerts;
  rules: AlertRules;
  silences: Silences;
  channels: Channels;
  settings: AlertSettings;
  deliveries: AlertDeliveries;
  heard: Heard;
  outages: Outages;
}

export function createAlertNouns(db: Database, seal: Seal): AlertNouns {
  return {
    alerts: createAlerts(db),
    rules: createAlertRules(db),
    silences: createSilences(db),
    channels: createChannels(db, seal),
    settings: createAlertSettings(db, seal),
    deliveries: createAlertDeliveries(db),
    heard: createHeard(db),
    outages: createOutages(db),
  };
}
