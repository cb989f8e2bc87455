import { expect, test } from "bun:test";
import { identifier, readFields } from "../../../../plugins/kit/fields.ts";

test("what is left out, or null, has its default", () => {
  const fields = readFields({ user: null });
  expect(fields.text("user", "app", identifier)).toBe("app");
  expect(fields.whole("replicas", 1, { least: 1, most: 9 })).toBe(1);
  expect(fields.flag("on", true)).toBe(true);
  expect([fields.words("users"), fields.map("settings"), fields.blocks("databases"), fields.block("backups")]).toEqual([
    [],
    {},
    [],
    undefined,
  ]);
  expect(() => fields.done()).not.toThrow();
});

test("every fault is told at once, with its path", () => {
  const fields = readFields({
    user: "1x",
    replicas: 1.5,
    on: "yes",
    users: ["ok", 7],
    settings: { a: [] },
    databases: [{ nam: "x" }, "y"],
    backups: [],
    sotrage: "1Gi",
  });
  fields.text("user", "app", identifier);
  fields.whole("replicas", 1, { least: 1, most: 9 });
  fields.flag("on", true);
  fields.words("users", identifier);
  fields.map("settings");
  for (const database of fields.blocks("databases")) database.name("name", identifier);
  fields.block("backups");
  expect(() => fields.done()).toThrow(
    [
      'spec.user: "1x" is not lower-case letters, digits and "_", not beginning with a digit',
      "spec.replicas: expected a whole number from 1 to 9, got 1.5",
      'spec.on: expected true or false, got "yes"',
      "spec.users[1]: expected text, got number",
      "spec.settings.a: expected text, got a list",
      "spec.databases[1]: expected an object, got string",
      "spec.databases[0].name: is required",
      "spec.backups: expected an object, got a list",
      "spec.databases[0].nam: unknown field; known are name",
      "spec.sotrage: unknown field; known are backups, databases, on, replicas, settings, user, users",
    ].join("\n"),
  );
});

test("a block written once counts as a list of one; numbers and booleans are text in a map", () => {
  const fields = readFields({ databases: { name: "x" }, settings: { a: 1, b: true, c: "d" } });
  expect(fields.blocks("databases").map((database) => database.name("name", identifier))).toEqual(["x"]);
  expect(fields.map("settings")).toEqual({ a: "1", b: "true", c: "d" });
});
