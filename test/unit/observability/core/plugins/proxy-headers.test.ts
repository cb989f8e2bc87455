import { expect, test } from "bun:test";
import { answeredHeaders, forwardedHeaders } from "../../../../../src/observability/core/plugins/proxy-headers.ts";

test("the length of a body goes on, for servers that know no chunks; headers of the connection stay here", () => {
  const given = new Headers({
    "Content-Length": "11",
    "Transfer-Encoding": "chunked",
    Connection: "x-hop",
    "X-Hop": "1",
  });
  const sent = forwardedHeaders(given, { client: "192.0.2.1", base: "/b", headerPrefix: "X-Berth" });
  expect(Object.fromEntries(sent)).toEqual({
    ...{ "content-length": "11", "x-forwarded-for": "192.0.2.1", "x-forwarded-prefix": "/b" },
  });
});

test.each([
  ["/login?a=1", "/b/login?a=1"],
  ["http://10.0.0.2:80/x", "/b/x"],
  ["//evil.example/x", "//evil.example/x"],
  ["https://example.com/", "https://example.com/"],
  ["next", "next"],
])("a move to %s is told as %s", (location, told) => {
  const headers = answeredHeaders(new Headers({ Location: location }), { origin: "http://10.0.0.2:80", base: "/b" });
  expect(headers.get("location")).toBe(told);
});

test.each(["X-Berth", "X-Acme"])(
  "no header of this product reaches a plugin where they begin with %s",
  (headerPrefix) => {
    const given = new Headers({ [`${headerPrefix}-Ingress`]: "word", "X-Berth-UI": "1", "X-Other": "1" });
    const sent = forwardedHeaders(given, { client: "192.0.2.1", base: "/b", headerPrefix });
    expect([...sent.keys()]).toEqual(["x-forwarded-for", "x-forwarded-prefix", "x-other"]);
  },
);
