import { describe, expect, test } from "bun:test";
import { type Call, cli, refusal } from "../../../support/cli.ts";

const plugin = {
  name: "postgres",
  kinds: ["postgres", "pg"],
  commands: [{ name: "expand" }],
  aliases: [],
  enabled: true,
};
const schema = {
  type: "object",
  description: "a database",
  properties: {
    image: { type: "string", description: "image of the server" },
    backups: { type: "object", properties: { keep: { type: "integer", default: 30, description: "how many" } } },
    mode: { enum: ["a", "b"] },
  },
  required: ["image"],
};
const server = ({ path, query }: Call) => {
  if (path === "/plugins") return { plugins: [plugin], errors: [] };
  if (path === "/plugins/postgres/schema") return { plugin: "postgres", kind: query.kind, schema };
  return undefined;
};

describe("explain", () => {
  test("prints the fields of a core kind without a server", async () => {
    const { code, out, calls } = await cli(["explain", "deployments"]);
    expect([code, calls]).toEqual([0, []]);
    expect(out).toMatch(/^ {2}image +text +image reference/m);
    expect(out).toMatch(/^ {2}replicas +integer +=1 +\S/m);
    expect((await cli(["explain", "job.resources.limits.cpu"])).out).toStartWith("job.resources.limits.cpu  text");
  });

  test("prints the fields of a block from the schema that its plugin publishes", async () => {
    const { code, out } = await cli(["explain", "pg"], { server });
    expect(code).toBe(0);
    expect(out).toStartWith("pg  a database\n");
    expect(out).toMatch(/^ {2}image +text +required +image of the server$/m);
    expect(out).toMatch(/^ {4}keep +integer +=30 +how many$/m);
    expect(out).toMatch(/^ {2}mode +"a" or "b"$/m);
    expect((await cli(["explain", "pg.backups"], { server })).out).toContain("keep");
    expect(JSON.parse((await cli(["explain", "pg", "-o", "json"], { server })).out).data).toEqual(schema);
  });

  test("lists the kinds there are, those of plugins where a server is reached", async () => {
    expect((await cli(["explain"], { server })).out).toMatch(/^postgres +plugin postgres$/m);
    const { code, out } = await cli(["explain"], { server: () => refusal(503, "x") });
    expect(code).toBe(0);
    expect(out).toContain("deployment");
  });

  test.each([
    [["explain", "postgrs"], 'error: unknown kind "postgrs": did you mean "postgres"?\n'],
    [["explain", "deployment.imag"], 'error: deployment has no field "imag": did you mean "deployment.image"?\n'],
    [["explain", "a", "b"], "error: say one kind: explain KIND[.FIELD]\n"],
  ])("%p ends with 2", async (argv, err) => {
    expect(await cli(argv, { server })).toMatchObject({ code: 2, err });
  });

  test("a plugin without a schema is told as the server tells it", async () => {
    const none = (call: Call) => (call.path.endsWith("/schema") ? refusal(404, "publishes no schema") : server(call));
    expect(await cli(["explain", "pg"], { server: none })).toMatchObject({
      code: 1,
      err: "error: publishes no schema\n",
    });
  });
});
