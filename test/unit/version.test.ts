import { expect, test } from "bun:test";
import manifest from "../../package.json";
import { commit, version, versionText } from "../../src/version.ts";

test("the version is that of package.json, and unbuilt source knows no commit", () => {
  expect(version).toBe(manifest.version);
  expect(commit).toBe("unknown");
  expect(versionText()).toBe(`${manifest.version} (commit: unknown)`);
});
