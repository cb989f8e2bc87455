import { deleteChannel, listAlertDeliveries, listChannels, putChannel, testChannel } from "./alert-channels.ts";
import { deleteHeartbeat, getHeartbeat, putHeartbeat } from "./alert-heartbeat.ts";
import { deleteRule, getRule, listRules, putRule } from "./alert-rules.ts";
import { addSilence, deleteSilence, listSilences } from "./alert-silences.ts";
import { acknowledgeAlert, getAlert, listAlertHistory, listAlerts } from "./alerts.ts";
import { incidentEndpoints } from "./incidents.ts";
import type { PlaneEndpoint } from "./plane-endpoint.ts";

/** Alerts and incidents; the orchestration plane has the same under the paths without the prefix. */
export const alertEndpoints: PlaneEndpoint[] = [
  listAlerts,
  listAlertHistory,
  listRules,
  getRule,
  putRule,
  deleteRule,
  listSilences,
  addSilence,
  deleteSilence,
  listChannels,
  putChannel,
  deleteChannel,
  testChannel,
  listAlertDeliveries,
  getHeartbeat,
  putHeartbeat,
  deleteHeartbeat,
  getAlert,
  acknowledgeAlert,
  ...incidentEndpoints,
];
