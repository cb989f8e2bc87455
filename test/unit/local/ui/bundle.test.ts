import { beforeAll, describe, expect, test } from "bun:test";
import { bundleUi } from "../../../../src/local/ui/bundle.ts";
import { readExamples } from "../../../../src/local/ui/read-examples.ts";
import type { UiFile } from "../../../../src/observability/http/ui-pages.ts";

let files: UiFile[];
let page: string;

/** Names of namespaces, and services in commands that a page shows: nothing is asked of them. */
const inTexts = new Set([
  "www.w3.org",
  "ntfy.sh",
  "hc-ping.com",
  "chat.example.com",
  "git.example.com",
  "example.com",
  "hooks.slack.com",
  "discord.com",
  "hello.localhost",
  "berth.example.com",
  "shop.com",
]);

/** Of the address to the last byte that a first page needs. */
const firstLoadMax = 60 * 1024;

beforeAll(async () => {
  files = await bundleUi({ gallery: false });
  page = new TextDecoder().decode(files.find(({ name }) => name === "index.html")?.bytes);
});

describe("the bundled web UI", () => {
  test("is one page and files with a digest in their names, all of which are there", () => {
    expect(files.filter(({ name }) => !/-[0-9a-z]{8}\.(?:js|css|svg)$/.test(name)).map(({ name }) => name)).toEqual([
      "index.html",
    ]);
    const asked = Array.from(page.matchAll(/"\/assets\/([^"]+)"/g), ([, name]) => name);
    expect(asked.length).toBeGreaterThan(2);
    for (const name of asked) expect(files.map((file) => file.name)).toContain(name ?? "");
  });

  test("loads less than 60 KiB at first, zipped", () => {
    const first = files.filter(({ name }) => name === "index.html" || page.includes(name));
    const sum = first.reduce((bytes, file) => bytes + Bun.gzipSync(file.bytes).length, 0);
    expect(sum).toBeGreaterThan(8_000);
    expect(sum).toBeLessThan(firstLoadMax);
  });

  test("holds the page of all parts only for those who work on it", async () => {
    const holdsPage = (bundled: UiFile[]) =>
      bundled.some(({ bytes }) => new TextDecoder().decode(bytes).includes("20,000 lines of a log"));
    expect(holdsPage(files)).toBe(false);
    expect(holdsPage(await bundleUi({ gallery: true }))).toBe(true);
  });

  test("holds every example, in a file that the first page does not load", () => {
    const texts = files.filter(({ name }) => !page.includes(name)).map(({ bytes }) => new TextDecoder().decode(bytes));
    for (const { name, about, text } of readExamples()) {
      expect([name, about.endsWith("."), text.length > 100]).toEqual([name, true, true]);
      expect(texts.some((one) => one.includes(about))).toBe(true);
    }
  });

  test("names no other host, has no inline script, and no schemas", () => {
    expect(page).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=/);
    for (const { name, bytes } of files) {
      const text = new TextDecoder().decode(bytes);
      const hosts = Array.from(text.matchAll(/https?:\/\/([\w.-]+)/g), ([, host]) => host);
      expect({ name, hosts: hosts.filter((host = "") => !inTexts.has(host)) }).toEqual({ name, hosts: [] });
      expect(text).not.toContain("additionalProperties");
    }
  });
});
