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
  mount(listRules, (call) => ({ rules: rules.list().filter(({ apps }) => meetsReach(call, apps)) }));
  mount(getRule, (call) => {
    const name = readParam(call.params, "name");
    const rule = rules.get(name);
    if (meetsReach(call, rule.apps)) return rule;
    throw new Failure("not_found", `there is no alert rule "${name}"; list them with: berth alerts rules`);
  });
  mount(putRule, ({ params, body, actor, requireAllApps }) => {
    requireAllApps();
    return rules.put(readParam(params, "name"), body, actor);
  });
  mount(deleteRule, ({ params, requireAllApps }) => {
    requireAllApps();
    return rules.remove(readParam(params, "name"));
  });
  mount(listSilences, (call) => ({
    silences: silences.list().filter(({ matcher: { app } }) => meetsReach(call, app === undefined ? undefined : [app])),
  }));
  mount(addSilence, ({ body, actor, requireAllApps }) => {
    requireAllApps();
    return silences.add(body, actor);
  });
  mount(deleteSilence, ({ params, requireAllApps }) => {
    requireAllApps();
    return silences.remove(readParam(params, "id"));
  });
}

/** Whether a rule or a silence is about everything or about an app of the caller: others would tell names of apps. */
function meetsReach({ sees }: RoomCall<PlaneEndpoint>, apps: readonly string[] | undefined): boolean {
  if (apps === undefined || apps.length === 0) return true;
  return apps.every((glob) => {
    const [scope = "", name = "*"] = glob.split("/");
    return glob === "*" || glob === "*/*" || sees({ scope, name });
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
