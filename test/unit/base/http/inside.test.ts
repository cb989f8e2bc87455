import { expect, test } from "bun:test";
import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { operator, type Principal } from "../../../../src/access/principal.ts";
import { mapError } from "../../../../src/base/http/error-mapping.ts";
import { createInsideClient } from "../../../../src/base/http/inside.ts";
import { type Call, createOperatorPlane, mount, mountStream } from "../../../../src/base/http/mount.ts";
import { endpoint } from "../../../../src/base/wire/endpoint.ts";
import { Failure } from "../../../../src/base/wire/failure.ts";
import { Flag, Text } from "../../../../src/base/wire/query.ts";
import { createLog } from "../../../../src/base/words/log.ts";

const Body = Type.Object({ list: Type.Array(Type.Number()) });
const store = endpoint({
  ...{ method: "POST", path: "/things/:name", summary: "stores" },
  query: Type.Object({ dry_run: Flag("no change"), message: Text("why") }),
  body: Body,
  data: Type.Object({ stored: Type.String() }),
});
const follow = endpoint({ method: "GET", path: "/things/:name/lines", summary: "follows", stream: "text/plain" });
const gone = endpoint({ method: "GET", path: "/gone", summary: "is not in the list" });

function world(answer: (call: Call<typeof store>) => { stored: string } = () => ({ stored: "yes" })) {
  const log = createLog(() => undefined, "error");
  const app = new Elysia();
  const seen: Call<typeof store>[] = [];
  const plane = createOperatorPlane({
    ...{
      app,
      endpoints: [store, follow],
      actorHeader: "X-Actor",
      principals: new WeakMap<Request, Principal>(),
      jsonDepthMax: 10,
    },
    mapError: (error) => mapError(error, log),
  });
  mount(plane, store, (call) => {
    seen.push(call);
    return answer(call);
  });
  mountStream(plane, gone, async () => new Response("is not in the list"));
  mountStream(plane, follow, async ({ params }, { signal }) => new Response(`${params.name} ${signal.aborted}`));
  return { seen, client: createInsideClient(plane, plane.servedBy, { actor: "pat:abc", by: operator }) };
}

test("a handler gets what it would get over HTTP, with the actor and the principal of the caller", async () => {
  const { client, seen } = world();
  const body: Static<typeof Body> = { list: [1] };
  const query = { dry_run: true, message: " why ", later: undefined };
  expect(await client.call(store, { params: { name: "a/b c" }, query, body })).toEqual({ stored: "yes" });
  const [call] = seen;
  expect(call).toMatchObject({ actor: "pat:abc", by: operator, params: { name: "a/b c" } });
  expect(call?.query).toEqual({ dry_run: "true", message: "why" });
  body.list.push(2);
  expect(call?.body).toEqual({ list: [1] });
});

test("what a handler refuses, and a query that does not fit, fail with the status and the text of the answer", async () => {
  const refusing = world(() => {
    throw new Failure("conflict", "it is there");
  });
  const input = { params: { name: "a" }, body: { list: [] } };
  await expect(refusing.client.call(store, input)).rejects.toMatchObject({ status: 409, message: "it is there" });
  const blank = world().client.call(store, { ...input, query: { message: "" } });
  await expect(blank).rejects.toMatchObject({ status: 400, message: expect.stringContaining("query message") });
  const response = await refusing.client.raw(store, input);
  expect([response.status, await response.json()]).toMatchObject([409, { status: "error", error: "it is there" }]);
});

test("a bug is an internal error, as over HTTP", async () => {
  const { client } = world(() => {
    throw new TypeError("x is undefined");
  });
  const failing = client.call(store, { params: { name: "a" }, body: { list: [] } });
  await expect(failing).rejects.toMatchObject({ status: 500, message: expect.stringMatching(/^internal error, id /) });
});

test("a stream is answered as it is, and ends with the signal of its caller", async () => {
  const { client } = world();
  expect(await (await client.raw(follow, { params: { name: "a" } })).text()).toBe("a false");
  expect(await (await client.raw(follow, { params: { name: "a" }, signal: AbortSignal.abort() })).text()).toBe(
    "a true",
  );
});

test("an endpoint that the plane does not serve is not found", async () => {
  const { client } = world();
  await expect(client.call(gone)).rejects.toMatchObject({ status: 404 });
  expect((await client.raw(gone)).status).toBe(404);
});
