import { expect, test } from "bun:test";
import { type AccessFacts, checkAccess } from "../../../src/local/check-access.ts";

const group = { name: "berth", gid: 990, members: new Set([1000]) };
const facts: AccessFacts = {
  addr: "127.0.0.1:8686",
  insecure: false,
  socket: "/opt/berth/run/berth.sock",
  socketMode: 0o140660,
  socketGid: 990,
  group,
  members: ["alice"],
  tablesError: undefined,
};
const none = { ...group, gid: undefined, members: new Set<number>() };

test.each([
  ["a group with members", {}, "ok", "the group berth (alice)"],
  ["an empty group", { members: [] }, "ok", "no members yet"],
  ["no group", { group: none, socketGid: 0 }, "ok", "groupadd --system berth"],
  ["no server yet", { socketMode: undefined, socketGid: undefined }, "ok", "alice"],
  ["a socket older than the group", { socketGid: 0 }, "warn", "made before the group"],
  ["a port that asks nobody", { insecure: true, addr: "0.0.0.0:8686" }, "warn", "everybody who reaches 0.0.0.0:8686"],
  ["tables that cannot be read", { tablesError: "EACCES" }, "fail", "no user at 127.0.0.1:8686: EACCES"],
  ["the same where there is no port", { addr: "", tablesError: "EACCES" }, "ok", "alice"],
] satisfies [string, Partial<AccessFacts>, string, string][])("%s", (_what, change, status, text) => {
  const check = checkAccess({ ...facts, ...change });
  expect(check).toMatchObject({ name: "who may connect", status, detail: expect.stringContaining(text) });
  expect(check.mend === undefined).toBe(status === "ok");
});
