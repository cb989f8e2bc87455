import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createMailSender } from "../../../../../src/base/deliver/mail.ts";
import { resolveHost } from "../../../../../src/base/deliver/resolve-host.ts";
import { signature } from "../../../../../src/base/deliver/signature.ts";
import { createWebhookSender } from "../../../../../src/base/deliver/webhook.ts";
import { secret } from "../../../../../src/base/words/secret.ts";
import { type AlertRoom, createAlerts } from "../../../../../src/observability/service/alerts/create.ts";
import { type AlertWorld, alertWorld, downStatus, listedApp, whyOfWeb } from "../../../../support/alert-world.ts";
import { type HookReceiver, startReceiver } from "../../../../support/webhook-receiver.ts";
import { type SmtpServer, startSmtpServer } from "../../../../support/smtp-server.ts";
import { waitFor } from "../../../../support/wait.ts";

let world: AlertWorld;
let room: AlertRoom;
let receiver: HookReceiver;
let smtp: SmtpServer;
let status = 200;
let allowPrivate = true;
let stopping: AbortController;

beforeEach(() => {
  status = 200;
  allowPrivate = true;
  stopping = new AbortController();
  receiver = startReceiver(() => new Response("{}", { status }));
  smtp = startSmtpServer();
  const url = secret(`smtp://127.0.0.1:${smtp.port}`);
  world = alertWorld({
    sendWebhook: (call, signal) =>
      createWebhookSender({
        ...{ fetch: (address, init) => fetch(address, init), resolve: resolveHost, allowPrivate },
        ...{ signing: secret("server"), headerPrefix: "X-Berth", userAgent: "berth/test", now: () => 1_000_000 },
        ...{ timeoutMs: 2_000, responseBytesMax: 10_000 },
      })(call, signal),
    sendMail: createMailSender({ url, from: "Berth <alerts@example.com>", timeoutMs: 2_000 }),
  });
  room = createAlerts(world.parts, () => Promise.resolve());
});
afterEach(async () => {
  stopping.abort();
  await receiver.stop();
  smtp.stop();
});

describe("the test button", () => {
  test.each([
    [{ type: "webhook" }, "/hook", '"test":true'],
    [{ type: "slack" }, "/hook", '"text":"*test message of vps1*'],
    [{ type: "discord" }, "/hook", '"content":"**test message of vps1**'],
    [{ type: "telegram", token: "1:abc", chat: "5" }, "/hook/bot1:abc/sendMessage", '"chat_id":"5"'],
    [{ type: "ntfy" }, "/", '"topic":"hook"'],
    [{ type: "pagerduty", key: "k" }, "/hook", '"routing_key":"k"'],
  ])("sends what %j takes, at once", async (target, path, text) => {
    await room.channels.put("a", { target: { ...target, url: `${receiver.url}/hook` } });
    expect(await room.channels.test("a")).toMatchObject({ status: "delivered", result: "status 200" });
    expect(receiver.received).toMatchObject([{ method: "POST", path }]);
    expect(receiver.received[0]?.body).toContain(text);
    expect(room.channels.list()[0]?.last).toMatchObject({ status: "delivered" });
  });

  test("signs a webhook with the secret of the channel", async () => {
    await room.channels.put("a", { target: { type: "webhook", url: receiver.url, secret: "own" } });
    await room.channels.test("a");
    const [got] = receiver.received;
    expect(got?.headers["x-berth-signature"]).toBe(signature(secret("own"), 1_000, got?.body ?? ""));
  });

  test("sends mail", async () => {
    await room.channels.put("post", { target: { type: "mail", to: ["ana@example.com", "bo@example.com"] } });
    expect(await room.channels.test("post")).toMatchObject({ status: "delivered", result: "accepted" });
    expect(smtp.received[0]).toContain("Subject: [info] test message of vps1");
    expect(smtp.received[0]).toContain("To: ana@example.com, bo@example.com");
  });

  test("says what the status of a service means", async () => {
    status = 404;
    await room.channels.put("a", { target: { type: "discord", url: receiver.url } });
    const made = await room.channels.test("a");
    expect(made).toMatchObject({ status: "dropped", result: expect.stringContaining("may have been deleted") });
  });

  test("reaches no address inside the machine unless the server allows it", async () => {
    allowPrivate = false;
    await room.channels.put("a", { target: { type: "webhook", url: receiver.url } });
    const made = await room.channels.test("a");
    expect(made.result).toContain("no public address");
    expect(receiver.received).toEqual([]);
  });
});

test("a message that does not arrive is sent again, and the log of deliveries tells", async () => {
  status = 500;
  await room.channels.put("a", { target: { type: "webhook", url: receiver.url } });
  world.answers["/apply"] = [listedApp("web", downStatus)];
  world.answers["/why"] = whyOfWeb;
  const running = room.run(stopping.signal);
  const move = () => {
    world.clock.moveTo(Math.min(world.clock.nextDue() ?? 0, world.clock.steady() + 15_000));
  };
  const delivery = () => room.channels.deliveries({ limit: 1 })[0];
  await waitFor("a first attempt", () => {
    if (delivery() === undefined) move();
    return (delivery()?.attempts ?? 0) > 0;
  });
  expect(delivery()).toMatchObject({ status: "waiting", attempts: 1, result: "status 500" });
  status = 200;
  await waitFor("the delivery", () => {
    move();
    return delivery()?.status === "delivered";
  });
  expect(new Set(receiver.received.map(({ headers }) => headers["x-berth-delivery"])).size).toBe(1);
  expect(JSON.parse(receiver.received.at(-1)?.body ?? "")).toMatchObject({ title: "shop/web is down", server: "vps1" });
  stopping.abort();
  await running;
});

test("nothing secret of a channel is shown or lies in the database", async () => {
  const token = "very-s3cret-token";
  await room.channels.put("a", { target: { type: "ntfy", url: `https://ntfy.sh/${token}`, token } });
  await room.heartbeat.put({ url: `https://hc.example/${token}` });
  expect(JSON.stringify([room.channels.list(), room.heartbeat.view()])).not.toContain(token);
  expect(Buffer.from(world.db.serialize()).includes(token)).toBe(false);
});

test.each([
  ["A b", { target: { type: "slack", url: "https://x.example" } }, "channel name"],
  ["a", { target: { type: "slak", url: "https://x.example" } }, "target"],
  ["a", { target: { type: "slack", url: "x" } }, "target.url"],
  ["a", { target: { type: "mail", to: ["ana"] } }, "not a mail address"],
])("channel %s %j is refused", (name, body, text) => {
  expect(room.channels.put(name, body)).rejects.toThrow(text);
});

test("mail needs a mail server", () => {
  const without = createAlerts(alertWorld({ sendMail: undefined }).parts, () => Promise.resolve());
  const target = { type: "mail", to: ["ana@example.com"] };
  expect(without.channels.put("a", { target })).rejects.toThrow("--smtp-url");
});

test("a message that waited for too long is dropped: yesterday's alarm would mislead", async () => {
  await room.channels.put("a", { target: { type: "webhook", url: receiver.url } });
  world.answers["/apply"] = [listedApp("web", downStatus)];
  for (let look = 0; look < 8; look += 1) {
    await room.look();
    world.clock.moveTo(world.clock.steady() + 15_000);
  }
  expect(room.channels.deliveries({ limit: 1 })).toMatchObject([{ status: "waiting", attempts: 0 }]);
  world.clock.moveTo(world.clock.steady() + 7 * 3_600_000);
  const running = room.run(stopping.signal);
  await waitFor("the drop", () => room.channels.deliveries({ limit: 9 }).at(-1)?.status === "dropped");
  expect(room.channels.deliveries({ limit: 9 }).at(-1)?.result).toBe("not sent within 6h");
  expect(receiver.received).toEqual([]);
  stopping.abort();
  await running;
});
