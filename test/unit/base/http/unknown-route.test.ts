import { expect, test } from "bun:test";
import type { Endpoint } from "../../../../src/base/wire/endpoint.ts";
import { createUnknownRoute } from "../../../../src/base/http/unknown-route.ts";

const endpoints: Endpoint[] = [
  { method: "GET", path: "/pods/:name", summary: "" },
  { method: "POST", path: "/pods/:name/stop", summary: "" },
  { method: "DELETE", path: "/pods/:name", summary: "" },
  { method: "GET", path: "/a.json", summary: "" },
];
const unknown = createUnknownRoute(endpoints);

test.each([
  ["/pods/x", "GET, HEAD, DELETE"],
  ["/pods/x/stop", "POST"],
  ["/a.json", "GET, HEAD"],
])("another method on %s is 405", (path, allow) => {
  const response = unknown("PUT", path);
  expect([response.status, response.headers.get("allow")]).toEqual([405, allow]);
});

test.each(["/pods", "/pods/", "/pods/x/y", "/axjson", "/pods/x/stop/", "/x/pods/x"])("%s is 404", async (path) => {
  const response = unknown("PUT", path);
  expect(response.status).toBe(404);
  expect(response.headers.has("allow")).toBe(false);
  expect(await response.json()).toEqual({
    status: "error",
    error: expect.stringContaining(JSON.stringify(path)),
    code: "not_found",
  });
});
