import { describe, expect, test } from "bun:test";
import { createUiPages } from "../../../../src/observability/http/ui-pages.ts";

const bytes = (text: string) => new Uint8Array(new TextEncoder().encode(text));
const script = "console.log('hello');".repeat(100);
const pages = createUiPages(async () => [
  { name: "index.html", bytes: bytes("<!doctype html>") },
  { name: "main-0123abcd.js", bytes: bytes(script) },
]);
const get = (path: string, init?: RequestInit) => pages(new Request(`http://berth.example${path}`, init));

describe("the pages of the web UI", () => {
  test("every address that a person can open is the page, and is asked for again each time", async () => {
    for (const path of ["/", "/apps/shop/web", "/apps/a/b/logs?q=x"]) {
      const answer = await get(path);
      expect(answer.headers.get("cache-control")).toBe("no-cache");
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(await answer.text()).toBe("<!doctype html>");
    }
  });

  test("files are kept for ever, zipped where the browser can", async () => {
    const zipped = await get("/assets/main-0123abcd.js", { headers: { "Accept-Encoding": "br, gzip" } });
    expect(zipped.headers.get("cache-control")).toContain("immutable");
    expect(zipped.headers.get("content-encoding")).toBe("gzip");
    expect(new TextDecoder().decode(Bun.gunzipSync(new Uint8Array(await zipped.arrayBuffer())))).toBe(script);
    const plain = await get("/assets/main-0123abcd.js", { headers: { "Accept-Encoding": "gzip;q=0" } });
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(await plain.text()).toBe(script);
  });

  test("a browser that has the page gets 304", async () => {
    const etag = (await get("/")).headers.get("etag") ?? "";
    const again = await get("/", { headers: { "If-None-Match": etag } });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe("");
  });

  test("a file of another version is a 404 and not the page", async () => {
    const answer = await get("/assets/main-99999999.js");
    expect(answer.status).toBe(404);
    expect(await answer.json()).toEqual({
      status: "error",
      error: "no file /assets/main-99999999.js in the web UI of this version",
    });
  });

  test("other methods are refused", async () => {
    const answer = await get("/", { method: "POST" });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("GET, HEAD");
    expect(await (await get("/", { method: "HEAD" })).text()).toBe("");
  });

  test("every answer has the strict policy", async () => {
    for (const answer of [
      await get("/"),
      await get("/assets/main-0123abcd.js"),
      await get("/assets/none"),
      await get("/", { method: "PUT" }),
    ]) {
      const policy = answer.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("require-trusted-types-for 'script'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    }
  });
});
