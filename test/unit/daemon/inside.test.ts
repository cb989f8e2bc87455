import { expect, test } from "bun:test";
import { createInside } from "../../../src/daemon/inside.ts";

const request = () => new Request("http://localhost/apply");

test("a stop lets requests under way end, and answers new ones 503 with a time to try again", async () => {
  const answer = Promise.withResolvers<Response>();
  const inside = createInside(() => () => answer.promise);
  const underWay = inside.ask(request());
  let isStopped = false;
  const stopped = inside.stop(60_000).then(() => {
    isStopped = true;
  });
  const refused = await inside.ask(request());
  expect([refused.status, refused.headers.get("retry-after"), isStopped]).toEqual([503, "1", false]);
  expect(await refused.json()).toMatchObject({ status: "error", code: "unavailable" });
  answer.resolve(new Response("done"));
  expect(await (await underWay).text()).toBe("done");
  await stopped;
});

test("a request that hangs does not hold up the stop for longer than its grace", async () => {
  const inside = createInside(() => () => new Promise(() => undefined));
  void inside.ask(request());
  await inside.stop(5);
  await createInside(() => () => new Response()).stop(60_000);
});
