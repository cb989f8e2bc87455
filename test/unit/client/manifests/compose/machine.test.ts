import { expect, test } from "bun:test";
import { join } from "node:path";
import { machineAt } from "../../../../../src/client/manifests/compose/machine.ts";
import { folder } from "../../../../support/files.ts";

test("the text of a file that a stranger's Compose file names is read, and a device or a folder is not", () => {
  using place = folder({ "own.conf": "x", "long.conf": "y".repeat(2_000) });
  const machine = machineAt(place.path, place.path, { assetFolderFilesMax: 10, assetFolderBytesMax: 1_000 });
  expect(machine.text("own.conf")).toBe("x");
  // Of those that can be opened here this one has an end.
  for (const path of ["/dev/null", "long.conf", ".", "gone.conf"]) expect(machine.text(path)).toBeUndefined();
});

test("a pipe that it mounts is no folder with files", () => {
  using place = folder({ "below/a.conf": "x" });
  expect(Bun.spawnSync(["mkfifo", join(place.path, "pipe")]).exitCode).toBe(0);
  const machine = machineAt(place.path, place.path, { assetFolderFilesMax: 10, assetFolderBytesMax: 1_000 });
  expect([machine.filesIn("below"), machine.filesIn("pipe"), machine.filesIn("gone")]).toEqual([
    ...[["a.conf"], undefined, undefined],
  ]);
});
