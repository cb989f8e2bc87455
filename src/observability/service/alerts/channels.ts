import { isoTime } from "../../../base/pure/iso-time.ts";
import { Failure, problemsFailure } from "../../../base/wire/failure.ts";
import { schemaReader } from "../../../base/wire/read-body.ts";
import { type AlertDelivery, type Channel, ChannelBody } from "../../api/alert-channels.ts";
import type { Alert } from "../../api/alerts.ts";
import type { Message } from "../../core/alerts/message.ts";
import { nameProblems } from "../../core/alerts/rules.ts";
import { targetProblems, targetText } from "../../core/alerts/target-text.ts";
import type { ChannelRecord, DeliveryRecord } from "../../store/alerts/records.ts";
import type { AlertParts } from "../alert-parts.ts";
import type { SendDelivery } from "./send.ts";
import { deliveryView } from "./views.ts";

export interface ChannelRoom {
  list(): Channel[];
  /** Fails `invalid` with the path of each fault. */
  put(name: string, body: unknown): Promise<Channel>;
  /** Fails `not_found`. */
  remove(name: string): Promise<Channel>;
  /** Sends a message at once, one attempt, and answers with what came of it. */
  test(name: string): Promise<AlertDelivery>;
  deliveries(filter: { channel?: string | undefined; limit: number }): AlertDelivery[];
}

const readBody = schemaReader(ChannelBody);

export function createChannelRoom(parts: AlertParts, send: SendDelivery): ChannelRoom {
  const { store, clock, limits, newId } = parts;
  const view = (channel: ChannelRecord) => viewOf(channel, store.deliveries.lastOf(channel.name));
  const known = (name: string) => {
    const channel = store.channels.get(name);
    if (channel !== undefined) return channel;
    throw new Failure("not_found", `there is no alert channel "${name}"; list them with: berth alerts channels`);
  };
  return {
    list: () => store.channels.list().map(view),
    async put(name, body) {
      const channel = readChannel(name, body, parts);
      if (store.channels.get(name) === undefined && store.channels.list().length >= limits.channelsMax) {
        throw new Failure("conflict", `there are ${limits.channelsMax} channels, which is the most: remove one first`);
      }
      await store.write(({ channels }) => channels.put(channel));
      return view(known(name));
    },
    async remove(name) {
      const channel = view(known(name));
      await store.write(({ channels }) => channels.remove(name));
      return channel;
    },
    async test(name) {
      const channel = known(name);
      const now = clock.now();
      const body = testMessage(newId(), parts);
      const delivery: DeliveryRecord = {
        ...{ id: newId(), message: body.id, channel: name, title: "test message", alerts: [], ends: [], groups: [] },
        ...{ status: "waiting", attempts: 0, nextAt: now, createdAt: now, lastResult: undefined },
      };
      const made = await send({ channel, message: body, delivery }, AbortSignal.timeout(limits.testMs));
      const done: DeliveryRecord = {
        ...delivery,
        status: made.outcome === "delivered" ? "delivered" : "dropped",
        attempts: 1,
        lastResult: made.result,
      };
      await store.write(({ deliveries }) => {
        deliveries.addMessage({ id: body.id, group: "test", body, createdAt: now });
        deliveries.add(done);
      });
      return deliveryView(done);
    },
    deliveries: (filter) => store.deliveries.list(filter).map(deliveryView),
  };
}

function readChannel(name: string, given: unknown, { clock, sendMail }: AlertParts): ChannelRecord {
  const body = readBody(given);
  const problems = [...nameProblems("channel", name), ...targetProblems(body.target)];
  if (problems.length > 0) throw problemsFailure(problems);
  if (body.target.type === "mail" && sendMail === undefined) {
    const way = "start it with --smtp-url and --mail-from, see docs/operating.md";
    throw new Failure("conflict", `this server has no mail server to send with; ${way}`);
  }
  const { target, min_severity: minSeverity = "info", apps = [], lines = true } = body;
  return { name, target, minSeverity, apps, lines, createdAt: clock.now() };
}

function viewOf(channel: ChannelRecord, last: DeliveryRecord | undefined): Channel {
  const { name, target, minSeverity, apps, lines, createdAt } = channel;
  return {
    name,
    type: target.type,
    target: targetText(target),
    min_severity: minSeverity,
    apps: [...apps],
    lines,
    created_at: isoTime(createdAt),
    ...(last === undefined ? {} : { last: lastView(last) }),
  };
}

function lastView({ createdAt, status, lastResult }: DeliveryRecord): NonNullable<Channel["last"]> {
  return { at: isoTime(createdAt), status, ...(lastResult === undefined ? {} : { result: lastResult }) };
}

/** Looks like a real one, so that one sees how those will look. */
function testMessage(id: string, { clock, server }: AlertParts): Message {
  const at = isoTime(clock.now());
  const alert: Alert = {
    ...{ id, rule: "test", severity: "info", state: "firing", labels: {}, since: at, fired_at: at },
    title: `test message of ${server}`,
    detail: "Alerts of this server arrive here.",
    why: { changes: [], lines: [], next: ["berth alerts"] },
  };
  return { id, group: "test", server, at, fired: [alert], resolved: [], reminded: [], firing: 0, test: true };
}
