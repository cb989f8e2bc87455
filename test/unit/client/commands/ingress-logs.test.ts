import { expect, test } from "bun:test";
import type { AccessEntry } from "../../../../src/ingress/api/access-log.ts";
import { cli } from "../../../support/cli.ts";

const entry: AccessEntry = {
  ...{ seq: 5, time: "2026-01-02T10:00:00.123Z", ingress: "shop/web", replica: "k3", client: "203.0.113.7" },
  ...{ method: "GET", host: "shop.test", path: "/a\u001b[2J", status: 200, bytes_in: 70, bytes_out: 400 },
  ...{ ms: 12, held_ms: 0, retries: 0, request_id: "id-1" },
};
const lost: AccessEntry = { ...entry, path: "/b", status: 503, held_ms: 900, retries: 2, request_id: "id-2" };
delete lost.replica;

test("logs shows a line for each request, and passes the filters on", async () => {
  const argv = ["ingress", "logs", "shop/web", "--status", "5xx", "--id", "id-1", "-n", "7"];
  const { out, code, calls } = await cli(argv, { server: () => ({ entries: [entry, lost] }) });
  expect(code).toBe(0);
  const query = { ingress: "shop/web", status: "5xx", request_id: "id-1", limit: "7" };
  expect(calls).toMatchObject([{ method: "GET", path: "/ingress/logs", query }]);
  const [first, second] = out.split("\n");
  expect(first).toMatch(
    /^2026-01-02 10:00:00Z {2}200 {2}GET {2}shop\.test\/a.* 12 ms {2}shop\/web\.k3 {2}203\.0\.113\.7 {2}id-1$/,
  );
  expect(second).toContain("503  GET  shop.test/b  12 ms  held 900 ms  2 retries  shop/web  203.0.113.7  id-2");
  expect(out).not.toContain("\u001b");
});

test("an empty log says how entries come into it; -o json is the answer itself", async () => {
  const server = () => ({ entries: [] });
  expect((await cli(["ingress", "logs"], { server })).out).toContain("access_log: all or sampled");
  const json = await cli(["ingress", "logs", "-o", "json"], { server: () => ({ entries: [entry] }) });
  expect(JSON.parse(json.out)).toEqual({ status: "ok", data: { entries: [entry] } });
});

test("-f goes on after the last entry until Ctrl-C", async () => {
  const pages = [[entry], [], [lost]];
  const { out, code, calls } = await cli(["ingress", "logs", "-f", "--status", "200"], {
    server: () => ({ entries: pages.shift() ?? [] }),
    onSleep: (_, interrupt) => {
      if (pages.length === 0) interrupt();
    },
  });
  expect(code).toBe(130);
  expect(out.trim().split("\n")).toHaveLength(2);
  expect(calls.map(({ query }) => query.after)).toEqual([undefined, "5", "5"] as never);
  expect(calls.every(({ query }) => query.status === "200")).toBe(true);
});

test("two ingresses at once are a usage error", async () => {
  expect(await cli(["ingress", "logs", "a", "b"])).toMatchObject({ code: 2, calls: [] });
});
