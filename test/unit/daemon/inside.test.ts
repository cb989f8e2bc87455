import { expect, test } from "bun:test";
import { unnamed } from "../../../src/access/principal.ts";
import type { Client } from "../../../src/base/wire/client.ts";
import { createInside } from "../../../src/daemon/inside.ts";
import { health } from "../../../src/orchestration/api/health.ts";

/** A plane that answers every call with one promise. */
const answering = (answer: Promise<unknown>) => () => ({ call: () => answer, raw: () => answer }) as unknown as Client;

test("a stop lets calls under way end, and answers new ones 503 with a time to try again", async () => {
  const answer = Promise.withResolvers<Response>();
  const inside = createInside(answering(answer.promise));
  const client = inside.as("alerts", unnamed);
  const underWay = client.raw(health);
  let isStopped = false;
  const stopped = inside.stop(60_000).then(() => {
    isStopped = true;
  });
  const refused = await client.raw(health);
  expect([refused.status, refused.headers.get("retry-after"), isStopped]).toEqual([503, "1", false]);
  expect(await refused.json()).toMatchObject({ status: "error", code: "unavailable" });
  await expect(client.call(health)).rejects.toMatchObject({
    status: 503,
    message: "the server is stopping, try again",
  });
  answer.resolve(new Response("done"));
  expect(await (await underWay).text()).toBe("done");
  await stopped;
});

test("a call that hangs does not hold up the stop for longer than its grace", async () => {
  const inside = createInside(answering(new Promise(() => undefined)));
  void inside.as("alerts", unnamed).call(health);
  await inside.stop(5);
  await createInside(answering(Promise.resolve())).stop(60_000);
});
