import { requireAllApps, sees } from "../../access/apps.ts";
import { type Call, mount, type Plane } from "../../base/http/mount.ts";
import type { Endpoint } from "../../base/wire/endpoint.ts";
import { readCount, readParam } from "../../base/http/request.ts";
import { Failure } from "../../base/wire/failure.ts";
import { deleteChannel, listAlertDeliveries, listChannels, putChannel, testChannel } from "../api/alert-channels.ts";
import { deleteHeartbeat, getHeartbeat, putHeartbeat } from "../api/alert-heartbeat.ts";
import { deleteRule, getRule, listRules, putRule } from "../api/alert-rules.ts";
import { addSilence, deleteSilence, listSilences } from "../api/alert-silences.ts";
import { acknowledgeAlert, type Alert, getAlert, listAlertHistory, listAlerts } from "../api/alerts.ts";
import type { AlertRoom } from "../service/alerts/create.ts";

const pageDefault = 50;
const pageMax = 500;

/** Alerts with their rules, silences, channels and heartbeat. */
export function mountAlerts(plane: Plane, room: AlertRoom): void {
  const { alerts } = room;
  const seen = (call: Pick<Call<Endpoint>, "by">, id: string): Alert => {
    const alert = alerts.get(id);
    if (sees(call.by, alert.labels)) return alert;
    throw new Failure("not_found", `there is no alert "${id}"; list them with: berth alerts`);
  };
  mount(plane, listAlerts, ({ query, by }) => {
    const { alerts: all, ...rest } = alerts.list(query);
    return { ...rest, alerts: all.filter(({ labels }) => sees(by, labels)) };
  });
  mount(plane, listAlertHistory, ({ query: { scope, name, rule, before, limit }, by }) => {
    const filter = { scope, name, rule, before, limit: readCount("limit", limit, pageMax) ?? pageDefault };
    return { alerts: alerts.history(filter).filter(({ labels }) => sees(by, labels)) };
  });
  mount(plane, getAlert, (call) => seen(call, readParam(call.params, "id")));
  mount(plane, acknowledgeAlert, (call) => {
    const { id } = seen(call, readParam(call.params, "id"));
    return alerts.acknowledge(id, call.body, call.actor);
  });
  mountRules(plane, room);
  mountChannels(plane, room);
}

function mountRules(plane: Plane, { rules, silences }: AlertRoom): void {
  mount(plane, listRules, (call) => ({ rules: rules.list().filter(({ apps }) => meetsReach(call, apps)) }));
  mount(plane, getRule, (call) => {
    const name = readParam(call.params, "name");
    const rule = rules.get(name);
    if (meetsReach(call, rule.apps)) return rule;
    throw new Failure("not_found", `there is no alert rule "${name}"; list them with: berth alerts rules`);
  });
  mount(plane, putRule, ({ params, body, actor, by }) => {
    requireAllApps(by);
    return rules.put(readParam(params, "name"), body, actor);
  });
  mount(plane, deleteRule, ({ params, by }) => {
    requireAllApps(by);
    return rules.remove(readParam(params, "name"));
  });
  mount(plane, listSilences, (call) => ({
    silences: silences.list().filter(({ matcher: { app } }) => meetsReach(call, app === undefined ? undefined : [app])),
  }));
  mount(plane, addSilence, ({ body, actor, by }) => {
    requireAllApps(by);
    return silences.add(body, actor);
  });
  mount(plane, deleteSilence, ({ params, by }) => {
    requireAllApps(by);
    return silences.remove(readParam(params, "id"));
  });
}

/** Whether a rule or a silence is about everything or about an app of the caller: others would tell names of apps. */
function meetsReach({ by }: Pick<Call<Endpoint>, "by">, apps: readonly string[] | undefined): boolean {
  if (apps === undefined || apps.length === 0) return true;
  return apps.every((glob) => {
    const [scope = "", name = "*"] = glob.split("/");
    return glob === "*" || glob === "*/*" || sees(by, { scope, name });
  });
}

function mountChannels(plane: Plane, { channels, heartbeat }: AlertRoom): void {
  mount(plane, listChannels, () => ({ channels: channels.list() }));
  mount(plane, putChannel, ({ params, body, by }) => {
    requireAllApps(by);
    return channels.put(readParam(params, "name"), body);
  });
  mount(plane, deleteChannel, ({ params, by }) => {
    requireAllApps(by);
    return channels.remove(readParam(params, "name"));
  });
  mount(plane, testChannel, ({ params, by }) => {
    requireAllApps(by);
    return channels.test(readParam(params, "name"));
  });
  mount(plane, listAlertDeliveries, ({ query: { channel, limit }, by }) => {
    requireAllApps(by);
    const count = readCount("limit", limit, pageMax) ?? pageDefault;
    return { deliveries: channels.deliveries({ channel, limit: count }) };
  });
  mount(plane, getHeartbeat, () => heartbeat.view());
  mount(plane, putHeartbeat, ({ body, by }) => {
    requireAllApps(by);
    return heartbeat.put(body);
  });
  mount(plane, deleteHeartbeat, ({ by }) => {
    requireAllApps(by);
    return heartbeat.remove();
  });
}
