import { expect, test } from "bun:test";
import { parseVolume, plainPath } from "../../../../src/orchestration/core/volumes.ts";

const asset = "${" + "asset.shop.web.conf}";

test.each([
  ["data:/data", { type: "volume", source: "data", target: "/data", readOnly: false }],
  ["data:/data:ro,external", { type: "volume", source: "data", target: "/data", readOnly: true, external: true }],
  ["blog/data:/data", { type: "volume", source: "blog/data", target: "/data", readOnly: false }],
  ["/srv/x:/x:ro", { type: "bind", source: "/srv/x", target: "/x", readOnly: true }],
  ["/srv/x:/x:rw", { type: "bind", source: "/srv/x", target: "/x", readOnly: false }],
  ["/:/host:ro", { type: "bind", source: "/", target: "/host", readOnly: true }],
  [`${asset}:/etc/web.yml`, { type: "bind", source: asset, target: "/etc/web.yml", readOnly: true }],
  [`${asset}:/etc/web.yml:ro`, { type: "bind", source: asset, target: "/etc/web.yml", readOnly: true }],
] as const)("%s", (text, mount) => {
  expect(parseVolume(text)).toEqual({ ok: true, value: mount });
});

test.each([
  ["/data", "is not a volume"],
  ["data:data", "not an absolute path"],
  ["data:/", "the whole root folder"],
  ["data:/a/../b", 'climbs with ".."'],
  ["/srv/../etc:/x", 'climbs with ".."'],
  ["./x:/x", "neither an absolute path nor a volume name"],
  ["~/x:/x", "neither an absolute path nor a volume name"],
  [":/x", "neither an absolute path nor a volume name"],
  ["blog/data/x:/x", "neither an absolute path nor a volume name"],
  ["/srv/x:/x:external", "is not the name of a volume"],
  ["blog/data:/x:external", "is not the name of a volume"],
  ["a:/x:ro,rw", 'the mode "ro,rw"'],
  ["a:/x:z", 'the mode "z"'],
  ["a:/x:ro:z", "is not a volume"],
  [`${asset}:/x:rw`, "assets are read-only"],
  [`${asset}/sub:/x`, "not one asset reference"],
  ["", "is not a volume"],
])("%j is refused: %s", (text, reason) => {
  const mount = parseVolume(text);
  expect(mount.ok).toBe(false);
  if (!mount.ok) expect(mount.error).toContain(reason);
});

test("one spelling per folder", () => {
  expect(plainPath("/a//b/./c/")).toBe("/a/b/c");
});
