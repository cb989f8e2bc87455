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

const base64 = (text: string) => Buffer.from(text).toString("base64");
const password = "pä55 w?rd~(1)!>>>???";

test.each([
  ["base64", base64(password)],
  ["base64 for URLs", Buffer.from(password).toString("base64url")],
  ["base64 of echo", base64(`${password}\n`).replace(/.{0,4}$/, "")],
  ["encodeURIComponent", encodeURIComponent(password)],
  ["a form", new URLSearchParams({ p: password }).toString().slice(2)],
  ["lower-case digits", encodeURIComponent(password).replace(/%../g, (code) => code.toLowerCase())],
  ["a strict encoder", "p%C3%A455%20w%3Frd~%281%29%21%3E%3E%3E%3F%3F%3F"],
])("a secret is hidden in %s", (_, encoded) => {
  const shown = createSecretHider({ password })(`x ${encoded} y`);
  expect(shown).toContain("********");
  expect(shown).not.toContain(encoded);
});

test.each(["", "u", "us", "user:", "admin:", "a@b:"])(
  "a secret is hidden in the base64 of a text after %p",
  (before) => {
    const secret = "correct-horse-battery";
    for (const after of ["", "\n", "@host"]) {
      const shown = createSecretHider({ secret })(base64(before + secret + after));
      const left = Buffer.from(shown.replaceAll("********", "")).toString();
      expect(shown).toContain("********");
      expect(left.length).toBeLessThan(base64(before + after).length + 6);
    }
  },
);

test("each line of base64 that was broken is hidden", () => {
  const secret = Array.from({ length: 20 }, (_, at) => `line ${at} of a key`).join("\n");
  const hide = createSecretHider({ secret });
  for (const columns of [64, 76]) {
    const lines = base64(secret).match(new RegExp(`.{1,${columns}}`, "g")) ?? [];
    expect(lines.length).toBeGreaterThan(4);
    for (const line of lines.slice(0, -1)) expect(hide(line)).toBe("********");
  }
});

test("what only resembles a short secret stays", () => {
  const text = "YWJj abc a%20b the base64 of other words: b3RoZXIgd29yZHM=";
  expect(createSecretHider({ short: "abc", blank: " " })(text)).toBe(text);
});
