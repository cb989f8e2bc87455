import { expect, test } from "bun:test";
import { hostFinder } from "../../../../src/orchestration/core/host-uses.ts";

const finder = hostFinder(
  [
    { kind: "statefulset", scope: "data", name: "main" },
    { kind: "deployment", scope: "shop", name: "web-2" },
  ],
  "berth",
);
const found = (text: string) => finder.uses(text).map(({ what, host }) => `${what.scope}/${what.name} ${host}`);

test("hosts are found in URLs, lists and under their long names, of a replica too", () => {
  expect(found("postgres://app:pw@main-0.data:5432/app")).toEqual(["data/main main-0.data"]);
  expect(found("main-1.data.berth,main.data:5432")).toEqual(["data/main main-1.data.berth", "data/main main.data"]);
  expect(found('{"url":"http://Web-2.shop/x"}')).toEqual(["shop/web-2 Web-2.shop"]);
});

test("what only looks like one is none", () => {
  for (const text of [
    "main.data.example.com",
    "www.main.data",
    "main.database",
    "xmain.data",
    "main-x.data",
    "web-2-0.shop",
    "main.data-2",
    "",
  ]) {
    expect([text, found(text)]).toEqual([text, []]);
  }
});
