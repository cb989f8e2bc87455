import { expect, test } from "bun:test";
import { cli } from "../../../support/cli.ts";

const answers = (version: string) => () =>
  Response.json({ status: "ok", version }, { headers: { "X-Berth-Version": version } });

test("another version of the server is said once on stderr, beside JSON too", async () => {
  const { err } = await cli(["version", "-o", "json"], { server: answers("1.3.0 (commit: def)") });
  expect(err.match(/this berth is 1\.2\.3 and the server is 1\.3\.0/g)).toHaveLength(1);
});

test("the same version of another commit is no news", async () => {
  expect((await cli(["version"], { server: answers("1.2.3 (commit: def)") })).err).toBe("");
});
