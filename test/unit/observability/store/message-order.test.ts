import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { alertTables } from "../../../../src/observability/store/migrations/0003-alerts.ts";
import { messageOrder } from "../../../../src/observability/store/migrations/0007-message-order.ts";

test("an upgrade knows what channels heard of, and the order of what waits", () => {
  const db = new Database(":memory:");
  db.run(alertTables);
  for (const [id, ended] of [
    ["fires", 0],
    ["over", 1],
    ["ending", 1],
    ["unheard", 0],
  ] as const)
    db.run(
      "insert into alerts (id, fingerprint, rule, severity, labels, state, title, detail, since, group_key, end_sent)" +
        " values (?, ?, 'down', 'info', '{}', 'resolved', '', '', 1, ?, ?)",
      [id, id, `group of ${id}`, ended],
    );
  db.run("insert into alert_channels values ('ops', x'00', 'info', '[]', 0, 1)");
  const body = JSON.stringify({ fired: [], reminded: [], resolved: [{ id: "ending" }] });
  db.run("insert into alert_messages values ('m1', 'g', ?, 1), ('m2', 'g', ?, 2)", [
    body.replace("ending", "none"),
    body,
  ]);
  const add = (message: string, alerts: string[], status: string, attempts: number) =>
    db.run(
      "insert into alert_deliveries (id, message, channel, title, alerts, status, attempts, next_at, created_at)" +
        " values (?, ?, 'ops', '', ?, ?, ?, 1, 1)",
      [`${message} ${alerts.join()}`, message, JSON.stringify(alerts), status, attempts],
    );
  add("m1", ["fires", "over", "ending"], "delivered", 1);
  add("m1", ["unheard"], "waiting", 0);
  add("m2", ["ending", "fires"], "waiting", 0);
  db.run(messageOrder);
  expect(db.query("select alert, group_key from alert_heard order by alert").values()).toEqual([
    ["ending", "group of ending"],
    ["fires", "group of fires"],
  ]);
  expect(db.query("select ends, groups from alert_deliveries where status = 'waiting' order by seq").values()).toEqual([
    ["[]", '["group of unheard"]'],
    ['["ending"]', '["group of ending","group of fires"]'],
  ]);
});
