import { readCount, readParam } from "../../base/http/request.ts";
import { Failure } from "../../base/wire/failure.ts";
import { deleteChannel, listAlertDeliveries, listChannels, putChannel, testChannel } from "../api/alert-channels.ts";
import { deleteHeartbeat, getHeartbeat, putHeartbeat } from "../api/alert-heartbeat.ts";
import { deleteRule, getRule, listRules, putRule } from "../api/alert-rules.ts";
import { addSilence, deleteSilence, listSilences } from "../api/alert-silences.ts";
import { acknowledgeAlert, type Alert, getAlert, listAlertHistory, listAlerts } from "../api/alerts.ts";
import type { PlaneEndpoint } from "../api/plane-endpoint.ts";
import type { AlertRoom } from "../service/alerts/create.ts";
import type { MountRoom, RoomCall } from "./both-planes.ts";

const pageDefault = 50;
const pageMax = 500;

/** Alerts with their rules, silences, channels and heartbeat. */
export function mountAlerts(mount: MountRoom, room: AlertRoom): void {
  const { alerts } = room;
  const seen = (call: RoomCall<PlaneEndpoint>, id: string): Alert => {
    const alert = alerts.get(id);
    if (call.sees(alert.labels)) return alert;
    throw new Failure("not_found", `there is no alert "${id}"; list them with: berth alerts`);
  };
  mount(listAlerts, ({ query, sees }) => {
    const { alerts: all, ...rest } = alerts.list(query);
    return { ...rest, alerts: all.filter(({ labels }) => sees(labels)) };
  });
  mount(listAlertHistory, ({ query: { scope, name, rule, before, limit }, sees }) => {
    const filter = { scope, name, rule, before, limit: readCount("limit", limit, pageMax) ?? pageDefault };
    return { alerts: alerts.history(filter).filter(({ labels }) => sees(labels)) };
  });
  mount(getAlert, (call) => seen(call, readParam(call.params, "id")));
  mount(acknowledgeAlert, (call) => {
    const { id } = seen(call, readParam(call.params, "id"));
    return alerts.acknowledge(id, call.body, call.actor);
  });
  mountRules(mount, room);
  mountChannels(mount, room);
}

function mountRules(mount: MountRoom, { rules, silences }: AlertRoom): void {
  mount(listRules, () => ({ rules: rules.list() }));
  mount(getRule, ({ params }) => rules.get(readParam(params, "name")));
  mount(putRule, ({ params, body, actor, requireAllApps }) => {
    requireAllApps();
    return rules.put(readParam(params, "name"), body, actor);
  });
  mount(deleteRule, ({ params, requireAllApps }) => {
    requireAllApps();
    return rules.remove(readParam(params, "name"));
  });
  mount(listSilences, () => ({ silences: silences.list() }));
  mount(addSilence, ({ body, actor, requireAllApps }) => {
    requireAllApps();
    return silences.add(body, actor);
  });
  mount(deleteSilence, ({ params, requireAllApps }) => {
    requireAllApps();
    return silences.remove(readParam(params, "id"));
  });
}

function mountChannels(mount: MountRoom, { channels, heartbeat }: AlertRoom): void {
  mount(listChannels, () => ({ channels: channels.list() }));
  mount(putChannel, ({ params, body, requireAllApps }) => {
    requireAllApps();
    return channels.put(readParam(params, "name"), body);
  });
  mount(deleteChannel, ({ params, requireAllApps }) => {
    requireAllApps();
    return channels.remove(readParam(params, "name"));
  });
  mount(testChannel, ({ params, requireAllApps }) => {
    requireAllApps();
    return channels.test(readParam(params, "name"));
  });
  mount(listAlertDeliveries, ({ query: { channel, limit }, requireAllApps }) => {
    requireAllApps();
    const count = readCount("limit", limit, pageMax) ?? pageDefault;
    return { deliveries: channels.deliveries({ channel, limit: count }) };
  });
  mount(getHeartbeat, () => heartbeat.view());
  mount(putHeartbeat, ({ body, requireAllApps }) => {
    requireAllApps();
    return heartbeat.put(body);
  });
  mount(deleteHeartbeat, ({ requireAllApps }) => {
    requireAllApps();
    return heartbeat.remove();
  });
}
