import { expect, test } from "bun:test";
import { routingFault, soleRouter } from "../../../../../src/orchestration/core/plugins/ingress-plugin.ts";

const router = (name: string, { enabled = true, commands = ["apply", "remove", "list"] } = {}) => ({
  yml: { name },
  enabled,
  argv: new Map(commands.map((command) => [command, []])),
});

test("the only plugin that can route is the one; others do not count, and two are a choice", () => {
  const other = router("postgres", { commands: ["expand", "backup"] });
  expect(soleRouter([other, router("caddy")])).toBe("caddy");
  expect(soleRouter([router("caddy"), router("nginx", { enabled: false })])).toBe("caddy");
  expect(soleRouter([router("caddy"), router("nginx")])).toBeUndefined();
  expect(soleRouter([other])).toBeUndefined();
});

test("a plugin that can route has no fault", () => {
  expect(routingFault("caddy", router("caddy"))).toBeUndefined();
  expect(routingFault("caddy", undefined)).toContain('"caddy" is not installed');
});
