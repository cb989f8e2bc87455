import { expect, test } from "bun:test";
import type { Drain } from "../../../../src/observability/api/log-drains.ts";
import { cli } from "../../../support/cli.ts";

const drain: Drain = {
  ...{
    name: "loki",
    type: "http",
    target: "logs.test",
    apps: ["shop/*"],
    level: "warn",
    created_at: "2026-01-31T13:05:00.000Z",
  },
  ...{ delivered_lines: 12, delivered_until: "2026-01-31T13:05:07.000Z", state: "failing", failures: 2 },
  refused_lines: 0,
  ...{ last_error: "the other side answered with status 503", next_at: "2026-01-31T13:06:00.000Z" },
};

test("the list has a row for each drain, and why one fails", async () => {
  const { out, code, calls } = await cli(["drains"], { server: () => ({ drains: [drain] }) });
  expect([code, calls[0]?.path]).toEqual([0, "/logs/drains"]);
  const [, row, fault] = out.split("\n");
  expect(row).toMatch(
    /^loki {2}http logs\.test {2}shop\/\*, warn and above {2}failing {2}12 lines until 2026-01-31 13:05:07Z$/,
  );
  expect(fault).toBe("loki: the other side answered with status 503; next try at 2026-01-31 13:06:00Z");
  const last_refused = { at: "2026-01-31T13:05:00.000Z", app: "shop/web", result: "status 400" };
  const refused = { ...drain, refused_lines: 2, last_refused };
  expect((await cli(["drains"], { server: () => ({ drains: [refused] }) })).out).toEndWith(
    "loki: 2 lines were refused and left out, the last of shop/web: status 400\n",
  );
  expect((await cli(["drains", "list"], { server: () => ({ drains: [] }) })).out).toContain("no drains");
});

test.each([
  [
    ["a", "http", "https://x.test/in", "--header", "Authorization: Bearer x", "--app", "shop/*"],
    { target: { type: "http", url: "https://x.test/in", headers: { Authorization: "Bearer x" } }, apps: ["shop/*"] },
  ],
  [
    ["a", "syslog", "x.test:6514", "--level", "warn"],
    { target: { type: "syslog", host: "x.test", port: 6514, tls: true }, level: "warn" },
  ],
  [["a", "syslog", "x.test:514", "--plain"], { target: { type: "syslog", host: "x.test", port: 514, tls: false } }],
  [
    ["a", "s3", "logs", "--key-id", "ID", "--prefix", "p/"],
    { target: { type: "s3", bucket: "logs", access_key_id: "ID", secret_access_key: "SECRET", prefix: "p/" } },
  ],
])("add %j", async (words, body) => {
  const { code, calls, out } = await cli(["drains", "add", ...words], { server: () => drain, stdin: "SECRET\n" });
  expect([code, calls[0]]).toMatchObject([0, { method: "PUT", path: "/logs/drains/a", body }]);
  expect(out).toContain("berth drains test loki");
});

test("test and remove", async () => {
  const failed = await cli(["drains", "test", "loki"], {
    server: () => ({ delivered: false, result: "connection refused" }),
  });
  expect([failed.code, failed.err]).toEqual([
    1,
    expect.stringContaining("the test line was not delivered: connection refused"),
  ]);
  expect(
    (
      await cli(["drains", "test", "loki"], {
        server: () => ({ delivered: true, result: "logs.test took a test line" }),
      })
    ).out,
  ).toBe("logs.test took a test line\n");
  const removed = await cli(["drains", "remove", "loki"], { server: () => drain });
  expect([removed.out, removed.calls[0]?.method]).toEqual(["removed loki\n", "DELETE"]);
});

test.each([
  [["add", "a"], "takes a NAME"],
  [["add", "a", "fax", "x"], 'unknown type "fax"'],
  [["add", "a", "syslog", "x"], '"x" is not HOST:PORT'],
  [["add", "a", "s3", "x"], "s3 needs --key-id"],
  [["add", "a", "http", "https://x", "--header", "bad"], '--header "bad" is not NAME: VALUE'],
  [["remove"], "write the NAME of one drain"],
  [["purge"], 'unknown command "drains purge"'],
])("%j is a usage error", async (words, text) => {
  const { code, err } = await cli(["drains", ...words]);
  expect([code, err]).toEqual([2, expect.stringContaining(text)]);
});
