import { expect, test } from "bun:test";
import { createSecretHider } from "../../../../../src/orchestration/core/build/hide-secrets.ts";

test("secrets, and the lines of long ones, are hidden in a line; short parts are not", () => {
  const hide = createSecretHider({ token: "abcd1234\n", key: "BEGIN KEY\nqwertz\nno\nEND KEY", part: "abcd" });
  expect(hide("token=abcd1234 and abcd")).toBe("token=******** and ********");
  expect(hide("  qwertz")).toBe("  ********");
  expect(hide("no")).toBe("no");
});

test("without secrets nothing changes", () => {
  expect(createSecretHider({ empty: "" })("any text")).toBe("any text");
});
