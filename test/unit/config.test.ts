import { describe, expect, test } from "bun:test";
import { serveOptions } from "../../src/config.ts";
import { parseInterval } from "../../src/config-values.ts";

describe("allow private hooks", () => {
  test("is off unless the environment or the flag says so; the flag wins", () => {
    expect(serveOptions({}, {}).allowPrivateHooks).toBe(false);
    expect(serveOptions({}, { BERTH_ALLOW_PRIVATE_HOOKS: "1" }).allowPrivateHooks).toBe(true);
    expect(serveOptions({}, { BERTH_ALLOW_PRIVATE_HOOKS: "true" }).allowPrivateHooks).toBe(true);
    expect(serveOptions({}, { BERTH_ALLOW_PRIVATE_HOOKS: "" }).allowPrivateHooks).toBe(false);
    expect(serveOptions({ allowPrivateHooks: "true" }, { BERTH_ALLOW_PRIVATE_HOOKS: "0" }).allowPrivateHooks).toBe(
      true,
    );
  });

  test("a word that is neither is refused, not guessed", () => {
    expect(() => serveOptions({}, { BERTH_ALLOW_PRIVATE_HOOKS: "off" })).toThrow('"off" is not a boolean');
  });
});

describe("stats interval", () => {
  test("15 s unless the environment or the flag says otherwise; 0 turns it off", () => {
    expect(serveOptions({}, {}).statsIntervalMs).toBe(15_000);
    expect(serveOptions({}, { BERTH_STATS_INTERVAL: "1m" }).statsIntervalMs).toBe(60_000);
    expect(serveOptions({ statsIntervalMs: "0" }, { BERTH_STATS_INTERVAL: "1m" }).statsIntervalMs).toBe(0);
  });

  test.each(["", "15", "soon", "500ms", "-1s"])("%p is refused", (text) => {
    expect(() => parseInterval(text)).toThrow(`interval "${text}"`);
  });
});
