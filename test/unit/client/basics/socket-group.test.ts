import { chownSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { groupAdvice, socketGroup } from "../../../../src/client/basics/socket-group.ts";
import { folder } from "../../../support/files.ts";

test.skipIf(process.getuid?.() !== 0)(
  "the group is that of the closest folder around the socket that can be seen",
  () => {
    using place = folder({ group: "root:x:0:\nshop:x:61234:ana\n", "root/a": "" });
    const socket = join(place.path, "root/run/berth.sock");
    const groups = join(place.path, "group");
    expect(socketGroup(socket, groups)).toBeUndefined();
    chownSync(join(place.path, "root"), 0, 61_234);
    expect(socketGroup(socket, groups)).toBe("shop");
    expect(socketGroup(socket, join(place.path, "none"))).toBeUndefined();
  },
);

test("the advice names the group, or how to make one", () => {
  expect(groupAdvice("shop").join("\n")).toContain("sudo usermod -aG shop $USER");
  expect(groupAdvice(undefined).join("\n")).toContain("sudo groupadd --system berth");
});
