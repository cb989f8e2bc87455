import { expect, test } from "bun:test";
import { heldUntil } from "../../../../src/base/http/held.ts";

const failures: unknown[] = [];
const onFailure = (error: unknown) => void failures.push(error);
const late = () => new Response("late", { status: 503 });
const request = () => new Request("http://localhost/x");

test("requests wait for their handler, and later ones go straight to it", async () => {
  const coming = Promise.withResolvers<(request: Request) => Response>();
  const handle = heldUntil(coming.promise, { waitMs: 60_000, late, onFailure });
  const first = handle(request());
  coming.resolve(({ url }) => new Response(url));
  expect(await (await first).text()).toBe("http://localhost/x");
  expect(handle(request())).toBeInstanceOf(Response);
});

test("one that waits too long, and one whose handler never comes, gets an answer", async () => {
  const never = heldUntil(new Promise<never>(() => undefined), { waitMs: 5, late, onFailure });
  // The timer alone does not keep a process; this one does.
  const kept = setInterval(() => undefined, 1_000);
  expect((await never(request())).status).toBe(503);
  clearInterval(kept);
  const failed = heldUntil(Promise.reject(new Error("no start")), { waitMs: 60_000, late, onFailure });
  expect((await failed(request())).status).toBe(503);
  expect(failures).toEqual([new Error("no start")]);
});
