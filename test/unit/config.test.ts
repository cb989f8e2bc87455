import { describe, expect, test } from "bun:test";
import { serveOptions } from "../../src/config.ts";

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
