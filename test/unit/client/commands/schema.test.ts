import { describe, expect, test } from "bun:test";
import { cli } from "../../../support/cli.ts";

describe("schema", () => {
  test("prints a schema without a server", async () => {
    const { code, out, calls } = await cli(["schema"]);
    expect([code, calls]).toEqual([0, []]);
    expect(JSON.parse(out).title).toBe("berth manifest");
    expect(JSON.parse((await cli(["schema", "deployments"])).out).title).toBe("berth deployment");
    expect(JSON.parse((await cli(["schema", "job", "-o", "json"])).out).data.title).toBe("berth job");
  });

  test.each([
    [["deploymnt"], 'error: no schema of "deploymnt": did you mean "deployment"?\n'],
    [
      ["pg"],
      'error: no schema of "pg": known are deployment, statefulset, ingress, job, cronjob, asset, registry, app\n',
    ],
    [["job", "app"], "error: say one kind: schema [KIND]\n"],
  ])("%p ends with 2", async (words, err) => {
    expect(await cli(["schema", ...words])).toMatchObject({ code: 2, err });
  });
});
