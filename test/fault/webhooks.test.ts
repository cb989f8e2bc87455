import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { DataOf } from "../../src/base/wire/endpoint.ts";
import type { listDeliveries } from "../../src/orchestration/api/webhooks.ts";
import { type HookReceiver, startReceiver } from "../support/webhook-receiver.ts";
import { deployment } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

describe("webhooks of the executable", () => {
  let strict: Rig;
  let berth: Rig;
  let receiver: HookReceiver;
  beforeAll(async () => {
    [strict, berth] = await Promise.all([rig(), rig({ flags: ["--allow-private-hooks"] })]);
  });
  afterEach(() => receiver.stop());
  afterAll(() => Promise.all([strict?.close(), berth?.close()]));

  const hooked = (name: string) =>
    deployment("hook", name, { on_deploy: { success: [{ url: `${receiver.url}/in` }] } });

  async function deliveries(name: string, at = berth): Promise<DataOf<typeof listDeliveries>["deliveries"]> {
    const { body } = await at.call("GET", `/hooks/deliveries?scope=hook&name=${name}`);
    return (body.data as unknown as DataOf<typeof listDeliveries> | undefined)?.deliveries ?? [];
  }

  test("an address inside is refused, and that is on record", async () => {
    receiver = startReceiver();
    await strict.apply(hooked("refused"));
    const [only] = await waitFor("the call to be dropped", async () => {
      const list = await deliveries("refused", strict);
      return list.some(({ status }) => status === "dropped") && list;
    });
    expect(only?.last_result).toContain("--allow-private-hooks");
    expect(receiver.received).toEqual([]);
  });

  test("kill -9 in the middle of a delivery: it arrives after the next start, under the same id", async () => {
    let hangs = true;
    receiver = startReceiver(() =>
      hangs ? new Promise<Response>(() => undefined) : new Response(null, { status: 204 }),
    );
    await berth.apply(hooked("killed"));
    await waitFor("the first attempt", () => receiver.received.length > 0);
    await berth.stop("SIGKILL");
    hangs = false;
    const before = receiver.received.length;
    await berth.start();
    await waitFor("another attempt", () => receiver.received.length > before);
    await waitFor("the record", async () => (await deliveries("killed"))[0]?.status === "delivered");
    const ids = new Set(receiver.received.map(({ headers }) => headers[`x-${berth.prefix}-delivery`]));
    expect([...ids]).toEqual([(await deliveries("killed"))[0]?.id ?? ""]);
  });

  test("a receiver can check the signature with what `berth hooks secret` prints", async () => {
    receiver = startReceiver();
    await berth.apply(hooked("signed"));
    const [hook] = await waitFor("the call", () => receiver.received.length > 0 && receiver.received);
    const { stdout, exitCode } = await berth.cli(["hooks", "secret", "--root", berth.root]);
    expect(exitCode).toBe(0);
    const header = (name: string) => hook?.headers[`x-${berth.prefix}-${name}`];
    const text = `${header("timestamp")}.${hook?.body}`;
    expect(header("signature")).toBe(`sha256=${createHmac("sha256", stdout.trim()).update(text).digest("hex")}`);
    const listed = await berth.cli(["hooks", "list", "hook/signed"]);
    expect(listed.stdout).toContain("deploy.success");
    expect(listed.stdout).toContain(`POST ${receiver.url}/in`);
  });
});
