import { describe, expect, test } from "bun:test";
import type { LogLine } from "../../../../src/observability/api/log-search.ts";
import { cli } from "../../../support/cli.ts";

const line = (text: string, second: number, more: Partial<LogLine> = {}): LogLine => ({
  ...{ at: `2026-01-31T13:05:0${second}.000Z`, scope: "shop", name: "web", pod: "shop-web.aaaaa", replica_id: "aaaaa" },
  ...{ stream: "stdout", level: "none", text },
  ...more,
});
const page = (...lines: LogLine[]) => ({ lines });

describe("logs from the store", () => {
  test("passes the filters on as one query, and prints each line with its pod", async () => {
    const argv = [
      "logs",
      "shop/web",
      "--grep",
      'say "hi"',
      "--grep",
      "/t.me/i",
      "--field",
      "status>=500",
      "--field",
      "path=/a b",
      "--level",
      "warn",
      "--since",
      "2h",
      "--until",
      "1h",
      "--release",
      "r2",
    ];
    const { out, code, calls } = await cli(argv, { server: () => page(line("one", 1), line("two", 2)) });
    expect(code).toBe(0);
    expect(out).toBe("shop-web.aaaaa | one\nshop-web.aaaaa | two\n");
    const query = {
      app: "shop/web",
      q: String.raw`"say \"hi\"" /t.me/i status>="500" path="/a b"`,
      level: "warn",
      from: "2h",
      until: "1h",
      release: "r2",
      order: "asc",
      limit: "10000",
    };
    expect(calls).toEqual([expect.objectContaining({ method: "GET", path: "/logs/search", query })]);
  });

  test.each([
    ["shop/web.aaaaa", { app: "shop/web", replica: "aaaaa" }],
    ["shop/web.v2", { app: "shop/web.v2" }],
    ["shop-web.aaaaa", { q: 'pod="shop-web.aaaaa"' }],
    ["deployment/shop/web", { app: "shop/web" }],
    ["shop", { app: "shop" }],
  ])("%s names what is searched", async (reference, query) => {
    const { calls } = await cli(["logs", reference, "--stored"], { server: () => page() });
    expect(calls[0]?.query).toEqual({ ...query, order: "asc", limit: "10000" });
  });

  test("-n takes the newest, oldest first, over pages; -t and --no-prefix shape the line", async () => {
    const pages = [{ lines: [line("three", 3), line("two", 2)], cursor: "2.1" }, page(line("one", 1))];
    const { out, calls } = await cli(["logs", "shop/web", "--stored", "-n", "5", "-t", "--no-prefix"], {
      server: () => pages.shift(),
    });
    expect(out).toBe("2026-01-31T13:05:01.000Z one\n2026-01-31T13:05:02.000Z two\n2026-01-31T13:05:03.000Z three\n");
    expect(calls.map(({ query }) => [query.order, query.limit, query.cursor])).toEqual([
      ["desc", "5", undefined],
      ["desc", "3", "2.1"],
    ] as never);
  });

  test("reads page by page until there is no cursor, also past a page that found nothing in its time", async () => {
    const pages = [{ lines: [line("one", 1)], cursor: "1.1" }, { lines: [], cursor: "2.0" }, page(line("two", 2))];
    const { out, calls } = await cli(["logs", "shop/web", "--stored"], { server: () => pages.shift() });
    expect(out).toBe("shop-web.aaaaa | one\nshop-web.aaaaa | two\n");
    expect(calls.map(({ query }) => query.cursor)).toEqual([undefined, "1.1", "2.0"] as never);
  });

  test("-C shows the lines around, none twice, groups apart", async () => {
    const all = Array.from({ length: 9 }, (_, at) => line(`line ${at}`, at));
    const server = ({ path, query }: { path: string; query: Record<string, string> }) => {
      if (path === "/logs/search") return page(all[1] as LogLine, all[2] as LogLine, all[7] as LogLine);
      const at = all.findIndex((one) => one.at === query.at);
      return { before: all.slice(Math.max(at - 1, 0), at + 1), after: all.slice(at + 1, at + 2) };
    };
    const { out } = await cli(["logs", "shop/web", "--grep", "x", "-C", "1", "--no-prefix"], { server });
    expect(out).toBe("line 0\nline 1\nline 2\nline 3\n--\nline 6\nline 7\nline 8\n");
  });

  test("colours by level on a terminal alone; -o json is an object for each line", async () => {
    const server = () => page(line("bad", 1, { level: "error" }));
    expect((await cli(["logs", "shop/web", "--stored"], { server, color: true })).out).toContain(
      "\u001b[31mbad\u001b[39m",
    );
    expect((await cli(["logs", "shop/web", "--stored"], { server })).out).toBe("shop-web.aaaaa | bad\n");
    const json = await cli(["logs", "shop/web", "--stored", "-o", "json"], { server });
    expect(JSON.parse(json.out)).toMatchObject({ line: "bad", pod: "shop-web.aaaaa", level: "error" });
  });

  test("nothing found is said, and is no failure", async () => {
    const { code, err } = await cli(["logs", "shop/web", "--grep", "x"], { server: () => page() });
    expect([code, err]).toEqual([0, expect.stringContaining('no stored line of "shop/web" fits')]);
  });

  test("an app without pods shows what it wrote before", async () => {
    const server = ({ path }: { path: string }) =>
      path === "/pods" ? { pods: [] } : path === "/logs/search" ? page(line("old", 1)) : [];
    const { out, err, code } = await cli(["logs", "shop/web"], { server });
    expect([code, out]).toEqual([0, "shop-web.aaaaa | old\n"]);
    expect(err).toContain('"shop/web" has no pods now');
  });

  test("-f reads lines as they come, and comes back after the last one", async () => {
    const bodies = [
      [line("one", 1), line("two", 2)],
      [line("two", 2), line("three", 3)],
    ];
    const body = (lines: LogLine[]) =>
      new Response(lines.map((one) => `${JSON.stringify(one)}\n\n`).join(""), {
        headers: { "Content-Type": "application/x-ndjson" },
      });
    const { out, calls } = await cli(["logs", "shop/web", "--level", "info", "-f"], {
      server: () => body(bodies.shift() ?? []),
      onSleep: (_, interrupt) => {
        if (bodies.length === 0) interrupt();
      },
    });
    expect(out).toBe("shop-web.aaaaa | one\nshop-web.aaaaa | two\nshop-web.aaaaa | three\n");
    expect(calls[1]).toMatchObject({
      path: "/logs/stream",
      query: { from: "2026-01-31T13:05:02.000Z", follow: "true" },
    });
  });

  test.each([
    [["--level", "loud"], 'unknown level "loud"'],
    [["--field", "status"], '--field "status" is not KEY=VALUE'],
    [["--stored", "-n", "x"], '--tail "x" is not a whole number'],
    [["--grep", "x", "-C", "3", "-f"], "leave out -f"],
  ])("%j is a usage error", async (flags, text) => {
    const { code, err } = await cli(["logs", "shop/web", ...flags]);
    expect([code, err]).toEqual([2, expect.stringContaining(text)]);
  });
});

test("a number of lines that is none is named before a server is asked", async () => {
  const { err, code, calls } = await cli(["logs", "shop/web", "-n", "many"]);
  expect([err, code, calls]).toEqual(['error: --tail takes a number of lines, got "many"\n', 2, []]);
});
