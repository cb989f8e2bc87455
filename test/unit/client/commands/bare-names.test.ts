import { describe, expect, test } from "bun:test";
import { cli, refusal, type Server } from "../../../support/cli.ts";

const web = { kind: "deployment", scope: "nc", name: "web", spec: {}, metadata: { revision: 1 } };

/** A server with nc/web and no containers. */
const server: Server = ({ path, query }) => {
  if (path === "/pods") return { pods: [], degraded: [] };
  if (path !== "/apply") return undefined;
  if (query.kind !== undefined) return refusal(400, "some words for people", { reason: "UnknownKind" });
  const isMeant = (query.scope ?? web.scope) === web.scope && (query.name ?? web.name) === web.name;
  return isMeant ? [web] : [];
};

describe("a name without its scope", () => {
  const commands = ["logs", "logs -f", "get", "get pods", "export compose"];

  test.each(commands)("%p says what to write", async (command) => {
    const { err, code } = await cli([...command.split(" "), "web"], { server });
    expect([err, code]).toEqual(['error: no scope "web": write SCOPE/NAME, for example: nc/web\n', 1]);
  });

  test("logs of a scope without pods, and of a word that names nothing, are told as before", async () => {
    expect((await cli(["logs", "nc"], { server })).err).toStartWith('error: no pods of "nc"; see: berth get pods');
    expect((await cli(["logs", "none"], { server })).err).toStartWith('error: no pods of "none"; see: berth get pods');
  });
});

describe("a scope where a resource is wanted", () => {
  const refused = (fields: Record<string, string>) => () =>
    refusal(404, "some words for people", { reason: "NameIsScope", fields });

  test.each(["why", "rollback", "releases", "restart"])("%p says what to write", async (verb) => {
    const { err, code } = await cli([verb, "nc"], { server: refused({ scope: "nc", example: "nc/web" }) });
    expect(code).toBe(1);
    expect(err).toBe('error: some words for people\n  "nc" is a scope: write SCOPE/NAME, for example: nc/web\n');
  });

  test("without anything that fits in it, names the look at it", async () => {
    const { err } = await cli(["why", "nc"], { server: refused({ scope: "nc" }) });
    expect(err).toEndWith('\n  "nc" is a scope: write SCOPE/NAME; see: berth get nc\n');
  });
});

describe("a mistyped name", () => {
  const everywhere: Server = ({ path, query, method }) => {
    if (path === "/pods") return { pods: [], degraded: [] };
    if (path === "/events") return { events: [] };
    if (query.kind === "nd") return refusal(400, "some words for people", { reason: "UnknownKind" });
    if (path !== "/apply" || method !== "GET") return undefined;
    return [web, { ...web, kind: "job", name: "mig" }].filter((one) =>
      (["kind", "scope", "name"] as const).every((field) => (query[field] ?? one[field]) === one[field]),
    );
  };
  const commands = [
    ["get deployment", "nc/wbe", "nc/web"],
    ["get", "nc/wbe", "nc/web"],
    ["get", "nd/web", "nc/web"],
    ["get", "nd", "nc"],
    ["describe", "nc/wbe", "nc/web"],
    ["delete", "nc/wbe", "nc/web"],
    ["delete", "nv/web", "nc/web"],
    ["delete deployment", "nc/wbe", "nc/web"],
    ["ps", "nc/wbe", "nc/web"],
    ["events", "nc/wbe", "nc/web"],
    ["open", "nc/wbe", "nc/web"],
    ["run", "nc/mgi", "nc/mig"],
  ] as const;

  test.each(commands)("%s %s names the nearest", async (command, name, meant) => {
    const { err, code } = await cli([...command.split(" "), name], { server: everywhere });
    expect(err).toContain(`did you mean "${meant}"?`);
    expect(code).toBe(1);
  });

  test("far from all that is there, there is no guess", async () => {
    expect((await cli(["delete", "shop/database"], { server: everywhere })).err).toContain("see: berth get all");
  });
});
