import { afterEach, beforeEach, expect, test } from "bun:test";
import { deployment } from "../support/manifests.ts";
import { type Ask, plane } from "../support/plane.ts";
import { type World, world } from "../support/world.ts";

let it: World;
let ask: Ask;
beforeEach(async () => {
  it = await world();
  ask = plane(it);
  await it.apply([deployment("shop", "web"), deployment("shop-taken", "web")]);
});
afterEach(() => it.close());

const put = "POST /previews?of=shop&for=1d&branch=";

test("a preview is set aside, listed and deleted", async () => {
  const made = await ask(`${put}feature%2Fcart&host=cart.example.com`);
  expect([made.status, made.data]).toEqual([
    200,
    expect.objectContaining({ of: "shop", branch: "feature/cart", host: "cart.example.com" }),
  ]);
  expect((await ask("GET /previews")).data).toEqual({ previews: [made.data] });
  expect((await ask("GET /previews?of=blog")).data).toEqual({ previews: [] });
  expect((await ask("DELETE /previews?of=shop&branch=feature%2Fcart")).status).toBe(200);
  expect((await ask("GET /previews")).data).toEqual({ previews: [] });
});

test.each([
  [`${put}taken`, 409],
  [put, 400],
  ["POST /previews?of=shop&branch=a", 400],
  ["POST /previews?of=shop&branch=a&for=never", 400],
  ["POST /previews?of=shop&branch=a&for=1d&host=a%20b", 400],
  ["POST /previews?branch=a&for=1d", 400],
  ["DELETE /previews?of=shop&branch=none", 404],
  ["DELETE /previews?of=shop&branch=taken", 404],
])("%s is answered %d, and changes nothing", async (request, status) => {
  expect((await ask(request)).status).toBe(status);
  expect((await ask("GET /previews")).data).toEqual({ previews: [] });
  expect(it.store.manifests.list({ scope: "shop-taken" })).toHaveLength(1);
});

test.each([
  [{ host: "x.example.com" }, "spec.preview.host"],
  [{ host: "{branch}.a b" }, "spec.preview.host"],
  [{ ttl: "soon" }, "spec.preview.ttl"],
  [{ replica: 1 }, "spec.preview.replica"],
])("preview settings %j are refused with their path; good ones change no container", async (preview, path) => {
  const app = (settings: object) => [
    { kind: "app", scope: "shop", name: "web", spec: { image: "web:1", ...settings } },
  ];
  const refused = await ask("POST /apply", app({ preview }));
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(path)]);
  await ask("POST /apply", app({}));
  const hash = it.store.manifests.get({ kind: "deployment", scope: "shop", name: "web" })?.revision;
  expect((await ask("POST /apply", app({ preview: { host: "{branch}.example.com" } }))).status).toBe(200);
  expect(it.store.manifests.get({ kind: "deployment", scope: "shop", name: "web" })?.revision).toBe(hash);
});
