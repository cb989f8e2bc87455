import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Layout, layoutOf } from "../../../../src/base/disk/layout.ts";
import {
  leaveSocketFolder,
  liesWithin,
  linkSocket,
  makeFolders,
  openRootToGroup,
  prepareRoot,
} from "../../../../src/base/disk/root.ts";
import { diskRoot } from "../../../support/disk-root.ts";
import { isRoot } from "../../../support/is-root.ts";

let layout: Layout;
let remove: () => void;
beforeEach(async () => {
  ({ layout, remove } = await diskRoot());
});
afterEach(() => remove());

const modeOf = (path: string) => statSync(path).mode & 0o777;

test("every path of the layout is under the root", () => {
  for (const path of Object.values(layoutOf("/srv/box"))) expect(path).toStartWith("/srv/box");
});

test("folders with secrets are for the owner alone, also when someone loosened them", async () => {
  chmodSync(layout.run, 0o777);
  await prepareRoot(layout);
  for (const folder of [layout.run, layout.backups, layout.logs]) expect(modeOf(folder)).toBe(0o700);
  for (const folder of [layout.apps, layout.volumes]) expect(modeOf(folder)).toBe(0o755);
  expect(modeOf(layout.assets)).toBe(0o711);
});

test("a root that we make lets the users of plugins through, whatever the umask, and nobody look", async () => {
  rmSync(layout.root, { recursive: true });
  const before = process.umask(0o077);
  await prepareRoot(layout).finally(() => process.umask(before));
  expect(modeOf(layout.root)).toBe(0o711);
});

test("the root's own mode is the operator's", async () => {
  chmodSync(layout.root, 0o710);
  await prepareRoot(layout);
  expect(modeOf(layout.root)).toBe(0o710);
});

test("half-written files are cleared, others are not", async () => {
  const half = join(layout.assets, ".abc.0123456789abcdef.tmp");
  const whole = join(layout.assets, "mine.tmp");
  for (const file of [half, whole]) writeFileSync(file, "x");
  await prepareRoot(layout);
  expect([existsSync(half), existsSync(whole)]).toEqual([false, true]);
});

test("a folder that cannot be made is named", async () => {
  rmSync(layout.apps, { recursive: true });
  writeFileSync(layout.apps, "a file");
  await expect(makeFolders(layout)).rejects.toMatchObject({
    name: "Failure",
    message: expect.stringContaining("apps"),
  });
});

describe("a root whose path is too long for sockets", () => {
  const long = (length: number) => `/srv/${"r".repeat(length - "/srv/".length)}`;

  test("has its sockets in a short folder, as soon as HAProxy would refuse them below it, and no sooner", () => {
    const longest = 97 - "/run/haproxy-master.sock".length;
    expect(layoutOf(long(longest)).sockets).toBe(`${long(longest)}/run`);
    const { sockets, socket, ingressSocket, ingressMaster, run } = layoutOf(long(longest + 1));
    expect(sockets).toMatch(/^\/run\/berth-[0-9a-f]{12}$/);
    expect(run).toBe(`${long(longest + 1)}/run`);
    for (const path of [socket, ingressSocket, ingressMaster]) expect(path).toStartWith(`${sockets}/`);
    expect(layoutOf(long(150)).sockets).not.toBe(sockets);
    // Bytes count, not characters.
    expect(layoutOf(`/srv/${"é".repeat(40)}`).sockets).toStartWith("/run/berth-");
  });

  // The folder is in /run, where only root may make one.
  let root: string;
  beforeEach(() => {
    root = join(layout.root, "r".repeat(150 - layout.root.length - 1));
  });
  afterEach(() => rmSync(layoutOf(root).sockets, { recursive: true, force: true }));

  test.skipIf(!isRoot)(
    "keeps that folder to its user, opens it to the group, and removes it with the server",
    async () => {
      const its = layoutOf(root);
      await makeFolders(its);
      expect(modeOf(its.sockets)).toBe(0o700);
      chmodSync(its.sockets, 0o777);
      await makeFolders(its);
      expect(modeOf(its.sockets)).toBe(0o700);
      // A repository of a copy that was made on another machine, and a link out of it.
      mkdirSync(join(its.repositories, "shop.git/refs"), { recursive: true });
      for (const path of ["shop.git/refs", "shop.git"]) chownSync(join(its.repositories, path), 0, 4242);
      symlinkSync(layout.root, join(its.repositories, "shop.git/link"));
      await openRootToGroup(its, process.getgid?.() ?? 0);
      for (const path of ["shop.git", "shop.git/refs"])
        expect(statSync(join(its.repositories, path)).gid).toBe(process.getgid?.() ?? 0);
      expect(modeOf(its.sockets)).toBe(0o710);
      await linkSocket(its);
      await linkSocket(its);
      expect(readlinkSync(join(its.run, "berth.sock"))).toBe(its.socket);
      writeFileSync(its.ingressSocket, "");
      await leaveSocketFolder(its);
      expect([existsSync(its.sockets), readdirSync(its.run)]).toEqual([true, []]);
      rmSync(its.ingressSocket);
      await leaveSocketFolder(its);
      expect(existsSync(its.sockets)).toBe(false);
    },
  );

  test.skipIf(!isRoot)("is refused where that name is another's", async () => {
    const its = layoutOf(root);
    symlinkSync(layout.run, its.sockets);
    await expect(makeFolders(its)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining(its.sockets),
    });
    rmSync(its.sockets);
    mkdirSync(its.sockets);
    chownSync(its.sockets, 65534, 65534);
    await expect(makeFolders(its)).rejects.toMatchObject({ message: expect.stringContaining("choose a shorter root") });
  });
});

test("a path lies in a folder wherever links lead, also one that is not there yet", async () => {
  const [root, other] = [join(layout.root, "own"), join(layout.root, "other")];
  for (const folder of [other, join(root, "in")]) mkdirSync(folder, { recursive: true });
  symlinkSync(root, join(other, "link"));
  symlinkSync(other, join(root, "out"));
  const paths = [
    root,
    join(root, "in/new/deep"),
    join(other, "link/new"),
    `${root}-beside`,
    join(root, "out/new"),
    "/",
  ];
  expect(await Promise.all(paths.map((path) => liesWithin(path, root)))).toEqual([
    true,
    true,
    true,
    ...[false, false, false],
  ]);
});
