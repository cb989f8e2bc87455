import { describe, expect, test } from "bun:test";
import {
  accessHint,
  hasRefusal,
  ownedPaths,
  type RefusedMount,
  refusedMount,
} from "../../../../src/orchestration/core/access-hint.ts";
import { naming } from "../../../../src/orchestration/core/naming.ts";
import { decodeSpec } from "../../../../src/orchestration/core/spec/decode.ts";

const data = { type: "volume", source: "berth_shop_data", destination: "/data", rw: true };
const inner = { ...data, source: "berth_shop_inner", destination: "/data/inner" };
const config = { type: "bind", source: "/srv/config", destination: "/etc/app", rw: false };

describe("a mount that the output of a program names with a refusal", () => {
  test.each([
    ["sh: can't create /data/file: Permission denied", "/data", "denied"],
    ["mkdir: cannot create directory '/data': Permission denied", "/data", "denied"],
    ["Error: EACCES: permission denied, open '/data/inner/db.sqlite'", "/data/inner", "denied"],
    ["chown: changing ownership of '/data': Operation not permitted", "/data", "denied"],
    ["touch: /etc/app/x: Read-only file system", "/etc/app", "read-only"],
    ["EROFS: read-only file system, mkdir '/etc/app/x'", "/etc/app", "read-only"],
  ] as const)("%s", (line, destination, refusal) => {
    const found = refusedMount(["begin", line, "bye"], [data, inner, config]);
    expect([found?.mount.destination, found?.refusal]).toEqual([destination, refusal]);
  });

  test.each([
    "sh: can't create /data2/file: Permission denied",
    "sh: can't create /srv/data/file: Permission denied",
    "open /data/file: no such file",
    "permission denied for table users",
    "listen tcp :80: bind: permission denied",
  ])("is none: %s", (line) => {
    expect(refusedMount([line], [data, inner, config])).toBeUndefined();
  });

  test("is that of the newest line", () => {
    const lines = ["open /etc/app/x: permission denied", "open /data/x: permission denied"];
    expect(refusedMount(lines, [data, config])?.mount).toBe(data);
    expect([hasRefusal(lines), hasRefusal(["fine"])]).toEqual([true, false]);
  });
});

describe("the hint", () => {
  const access = { user: { uid: 1000, gid: 1000 }, folder: { uid: 0, gid: 0, mode: 0o755, isEmpty: true } };
  const denied: RefusedMount = { mount: data, refusal: "denied" };
  const hint = (change: Partial<Parameters<typeof accessHint>[0]> = {}) =>
    accessHint({ ...denied, access, ref: "shop/web", canOwn: true, ...change });

  test("for an empty volume names the field", () => {
    expect(hint()).toBe(
      "the program runs as 1000:1000; the volume at /data belongs to 0:0 and is empty. " +
        'Set volume_owner: "1000:1000" in the manifest, then: berth apply -f FILE',
    );
  });

  test("for a volume with data, and where the field has no effect, is a command", () => {
    const command =
      "the program runs as 1000:1000; the volume at /data belongs to 0:0. Change its owner: " +
      "berth run shop/web -u 0 --entrypoint chown -- -R 1000:1000 /data";
    expect(hint({ canOwn: false })).toBe(command);
    expect(hint({ access: { ...access, folder: { ...access.folder, isEmpty: false } } })).toBe(command);
  });

  test("for a folder of the server names it", () => {
    expect(hint({ mount: { ...data, type: "bind", source: "/srv/data" } })).toBe(
      "the program runs as 1000:1000; the folder /srv/data of the server, mounted at /data, belongs to 0:0. " +
        "Run on the server: chown 1000:1000 /srv/data",
    );
  });

  test("for a mount that is read-only says so; one that is not shows no cause", () => {
    expect(hint({ mount: config, refusal: "read-only", access: undefined })).toBe(
      "/etc/app is mounted read-only, so the program cannot write below it",
    );
    expect(hint({ refusal: "read-only" })).toBeUndefined();
  });

  test.each([
    ["the engine cannot tell", undefined],
    ["the program is root", { ...access, user: { uid: 0, gid: 0 } }],
    ["the program owns the folder", { ...access, folder: { ...access.folder, uid: 1000 } }],
    ["the group is its own", { ...access, folder: { ...access.folder, gid: 1000 } }],
    ["a group may write, and it may be in that", { ...access, folder: { ...access.folder, mode: 0o775 } }],
    ["everybody may write", { ...access, folder: { ...access.folder, mode: 0o1777 } }],
  ])("is none where %s", (_, facts) => {
    expect(hint({ access: facts })).toBeUndefined();
  });
});

test("the field has an effect on claims and on volumes of the own scope", () => {
  const pod = decodeSpec("statefulset", {
    image: "web:1",
    volumes: ["files:/a/", "read:/b:ro", "blog/cc:/c", "dd:/d:external", "berth-shop-db-data-0:/e", "/srv/f:/f"],
    volume_claims: [{ name: "data", mount_path: "/data" }],
  });
  expect(ownedPaths("shop", pod, naming())).toEqual(["/a", "/data"]);
});
