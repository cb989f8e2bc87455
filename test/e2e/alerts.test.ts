import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Message } from "../../src/observability/core/alerts/message.ts";
import { freePort } from "../support/ports.ts";
import { type HookReceiver, startReceiver } from "../support/webhook-receiver.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(300_000);

const manifest = (command: string) =>
  "kind: deployment\nscope: shop\nname: web\nspec:\n" +
  `  {image: berth-fixture:1, command: [sh, -c, '${command}'], stop_grace: 0s,\n` +
  "   rollout: {min_ready: 0s, crash_loop_restarts: 2, crash_loop_after: 30s, auto_rollback: false}}\n";

type Sent = Pick<Message, "fired" | "resolved"> & { title: string; text: string };

/** A pod that crashes again and again, a channel, and nobody who looks: the whole way with the executable. */
describe("a crash loop", () => {
  let berth: Rig;
  let receiver: HookReceiver;
  let http: number;
  beforeAll(async () => {
    receiver = startReceiver();
    http = await freePort();
    berth = await rig({ flags: ["--allow-private-hooks", "--ingress-http-addr", `127.0.0.1:${http}`] });
  });
  afterAll(async () => {
    await berth?.close();
    await receiver.stop();
  });

  const sent = (): Sent[] => receiver.received.map(({ body }) => JSON.parse(body) as Sent);
  const about = (rule: string, part: "fired" | "resolved") =>
    sent().filter((message) => message[part].some((alert) => alert.rule === rule));

  test("fires once, names its why, and resolves after the fix", async () => {
    for (const rule of ["crash-loop", "down", "deploy-failed"]) {
      expect((await berth.cli(["alerts", "rules", "set", rule, "--keep", "0s"])).exitCode).toBe(0);
    }
    const added = await berth.cli(["alerts", "channels", "add", "ops", "webhook", `${receiver.url}/hook`]);
    expect(added).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("alerts channels test ops") });
    const tested = await berth.cli(["alerts", "channels", "test", "ops"]);
    expect(tested).toMatchObject({ exitCode: 0, stdout: "delivered: status 204\n" });

    await berth.cli(["apply", "-y", "--no-wait", "-f", "-"], { stdin: manifest("echo no database; exit 3") });
    await waitFor("the alert on the channel", () => about("crash-loop", "fired").length > 0, 150_000);
    const [message] = about("crash-loop", "fired");
    const alert = message?.fired.find(({ rule }) => rule === "crash-loop");
    expect(alert).toMatchObject({ severity: "critical", title: "shop/web keeps crashing" });
    expect(alert?.why?.lines.at(-1)).toContain("no database");
    expect(alert?.why?.changes.join()).toContain("manifest.apply shop/web");
    expect(alert?.why?.next[0]).toBe("berth why shop/web");
    const listed = await berth.cli(["alerts"]);
    expect(listed.stdout).toContain("shop/web keeps crashing");
    expect((await berth.cli(["alerts", "show", alert?.id ?? ""])).stdout).toContain("no database");

    await berth.cli(["apply", "-y", "-f", "-"], { stdin: manifest("sleep 100000") });
    await waitFor("the end on the channel", () => about("crash-loop", "resolved").length > 0, 90_000);
    expect(about("crash-loop", "fired")).toHaveLength(1);
    expect((await berth.cli(["alerts", "history", "shop/web"])).stdout).toContain("keeps crashing");
    expect((await berth.cli(["alerts", "channels", "log"])).stdout).toContain("delivered");
  });

  test("that ended in errors for visitors makes the app failing, with the path where most of them are", async () => {
    for (const words of [
      ["--failed", "5"],
      ["--for", "0s"],
      ["--keep", "0s"],
    ]) {
      expect((await berth.cli(["alerts", "rules", "set", "error-rate", ...words])).exitCode).toBe(0);
    }
    const site = "kind: ingress\nscope: shop\nname: front\nspec: {host: shop.test, service: web, port: 8080}\n";
    const serving = (status: string) =>
      `${manifest(`while true; do printf "HTTP/1.1 ${status}\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n" | nc -l -p 8080; done`)}---\n${site}`;
    await berth.cli(["apply", "-y", "-f", "-"], { stdin: serving("500 Broken") });
    const ask = (path: string) =>
      fetch(`http://127.0.0.1:${http}${path}`, { headers: { Host: "shop.test" }, keepalive: false });
    await waitFor("the app behind the ingress", async () => (await ask("/")).status === 500, 60_000);
    for (let count = 0; count < 8; count++) await ask(`/orders/${count}/pay`);
    const told = await waitFor(
      "the app to be failing",
      async () => {
        const { stdout, exitCode } = await berth.cli(["status"]);
        return /deployment\/shop\/web +failing/.test(stdout) ? { stdout, exitCode } : undefined;
      },
      90_000,
    );

    expect(told.exitCode).toBe(1);
    expect(told.stdout).toMatch(/of the last 5 minutes, most at GET \/orders\/:id\/pay/);
    expect((await berth.cli(["why", "shop/web"])).stdout).toContain("of its requests");
  });
});
