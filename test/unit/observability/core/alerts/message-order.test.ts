import { expect, test } from "bun:test";
import { nextMessages } from "../../../../../src/observability/core/alerts/message-order.ts";

interface Case {
  id: string;
  channel?: string;
  alerts: string[];
  ends?: string[];
  groups?: string[];
}

/** `id:alerts` of what may go next; `heard` are `channel alert`. */
function next(cases: readonly Case[], heard: readonly string[] = [], late: readonly string[] = []): string[] {
  const waiting = cases.map(({ id, alerts, channel = "ops", ends = [], groups = ["g"] }) => ({
    ...{ id, alerts, channel, ends, groups, nextAt: 100 },
  }));
  return nextMessages(waiting, {
    isHeard: (channel, alert) => heard.includes(`${channel} ${alert}`),
    isLate: ({ id }) => late.includes(id),
  }).map(({ id, alerts, nextAt }) => `${id}:${alerts.join(",")}${nextAt === 0 ? " now" : ""}`);
}

const fires = (id: string, ...alerts: string[]): Case => ({ id, alerts });
const ends = (id: string, ...alerts: string[]): Case => ({ id, alerts, ends: alerts });

test.each<[string, string[], string[]]>([
  ["an alert that ended before its channel heard of it", next([fires("1", "a"), ends("2", "a")]), ["1: now"]],
  ["the end of an alert that the channel never heard of", next([ends("2", "a")]), ["2: now"]],
  ["the end of one that it heard of", next([ends("2", "a")], ["ops a"]), ["2:a"]],
  ["the end of one that another channel heard of", next([ends("2", "a")], ["chat a"]), ["2: now"]],
  ["the rest of a message", next([fires("1", "a", "b"), ends("2", "a")]), ["1:b"]],
  ["messages of one group", next([fires("1", "a"), fires("2", "b")]), ["1:a"]],
  ["messages of two groups", next([fires("1", "a"), { ...fires("2", "b"), groups: ["h"] }]), ["1:a", "2:b"]],
  [
    "a message of all groups between others",
    next([fires("1", "a"), { ...fires("2", "b", "c"), groups: ["g", "h"] }, { ...fires("3", "d"), groups: ["h"] }]),
    ["1:a"],
  ],
  ["messages of two channels", next([fires("1", "a"), { ...fires("2", "a"), channel: "chat" }]), ["1:a", "2:a"]],
  ["an alarm that is too old", next([fires("1", "a")], [], ["1"]), ["1: now"]],
  [
    "an end in a message that is too old for its alarm",
    next([{ id: "1", alerts: ["a", "b"], ends: ["b"] }], ["ops b"], ["1"]),
    ["1:b"],
  ],
])("%s", (_, got, wanted) => expect(got).toEqual(wanted));
