import { expect, test } from "bun:test";
import { pemLines, socketText } from "../../../../src/ingress/core/commands.ts";
import { UnsafeText } from "../../../../src/ingress/core/quote.ts";

const map = "/run/x/maps/routes.map";

test("the steps of a whole map carry the version that the first one was answered with", () => {
  const versions = { [map]: "3" };
  expect(socketText({ kind: "prepare-map", map })).toBe(`prepare map ${map}\n`);
  const entries = [
    { key: "a.test/", value: "p1" },
    { key: "b.test/", value: "p2|h" },
  ];
  expect(socketText({ kind: "fill-map", map, entries }, versions)).toBe(
    `add map @3 ${map} <<\na.test/ p1\nb.test/ p2|h\n\n`,
  );
  expect(socketText({ kind: "commit-map", map }, versions)).toBe(`commit map @3 ${map}\n`);
});

test("servers are closed, deleted and named in full", () => {
  const name = { backend: "p1", server: "s1" };
  expect(socketText({ kind: "close-sessions", ...name })).toBe("shutdown sessions server p1/s1\n");
  expect(socketText({ kind: "delete-server", ...name })).toBe("del server p1/s1\n");
});

test("a PEM text has no empty lines, one line break at its end, and nothing but text", () => {
  expect(pemLines("\nA\r\n\r\nB\n\n")).toBe("A\nB\n");
  for (const pem of ["", "\n\n", "A\n\0"]) expect(() => pemLines(pem)).toThrow(UnsafeText);
});
