import { expect, test } from "bun:test";
import { join } from "node:path";
import { cli } from "../../../support/cli.ts";
import { folder } from "../../../support/files.ts";

test("a shell that names a server is told that its default remote has no effect there", async () => {
  using at = folder({});
  const remotesFile = join(at.path, "remotes.json");
  const add = ["remote", "add", "production", "root@server.example.com"];
  const { err, out } = await cli(add, { remotesFile, endpointVariable: "unix:/demo/berth.sock" });
  expect(out).toStartWith("production (root@server.example.com) is stored, and is the default\n");
  expect(err).toBe("! BERTH_ENDPOINT=unix:/demo/berth.sock wins in this shell: unset BERTH_ENDPOINT\n");
  const other = ["remote", "add", "staging", "root@10.0.0.5"];
  expect((await cli(other, { remotesFile, endpointVariable: "unix:/demo/berth.sock" })).err).toBe("");
});
