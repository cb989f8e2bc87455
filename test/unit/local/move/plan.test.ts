import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Facts } from "../../../../src/local/move/here.ts";
import { type Inventory, linksIn } from "../../../../src/local/move/inventory.ts";
import { expectedSeconds, makePlan, planLines } from "../../../../src/local/move/plan.ts";

const GB = 1e9;

const facts = (more: Partial<Facts> = {}): Facts => ({
  ...{ isRoot: true, version: "0.1.0 (commit: a)", root: "/opt/berth", installation: "old", prefix: "berth" },
  ...{ parked: undefined, manifests: 3, settings: [], hasRsync: true, ownDocker: true, architecture: "x86_64" },
  ...{ dockerVersion: "29", rootFreeBytes: 100 * GB, dockerFreeBytes: 100 * GB, sameDisk: true },
  ...{ missingImages: [], takenPorts: [] },
  ...more,
});
const empty = (more: Partial<Facts> = {}) => facts({ installation: "new", manifests: 0, ...more });

const has = (more: Partial<Inventory> = {}): Inventory => ({
  volumes: [{ name: "berth-shop-db-data-0", labels: {}, folder: "/v", bytes: 4 * GB, files: 20_000 }],
  images: [
    { id: "sha256:a", bytes: GB, tags: ["berth-kept/image:a", "web:1"] },
    { id: "sha256:b", bytes: 2 * GB, tags: [] },
  ],
  ...{ elsewhere: [], strangers: [], root: { bytes: GB, files: 100 }, containers: 4, graceMs: 30_000 },
  ...{ hostPaths: [], links: [], ports: [], targets: [] },
  ...more,
});

const plan = (there: Facts, inventory = has(), here = facts()) =>
  makePlan({ to: "root@new", here, there, has: inventory, spareBytes: GB });

test("the plan counts what is copied, and only images that are not there", () => {
  const made = plan(empty({ missingImages: ["sha256:b"] }), has({ hostPaths: ["/srv/music"] }));
  expect(made).toMatchObject({ problems: [], bytes: 7 * GB, state_bytes: GB, containers: 4, grace_seconds: 30 });
  expect(made.images.map(({ id }) => id)).toEqual(["sha256:b"]);
  expect(made.not_moved[0]).toStartWith("/srv/music: ");
  const text = planLines(made).join("\n");
  for (const part of ["root@new: 7GB", `about ${made.expected_seconds} s`, "berth-shop-db-data-0  4GB", "up to 30 s"])
    expect(text).toContain(part);
  expect(text).toContain("the way back");
  expect(text).not.toContain("problems");
});

test.each<[string, Facts, Partial<Inventory>, Partial<Facts>]>([
  ["not root there", empty({ isRoot: false }), {}, {}],
  ["needs root here", empty(), {}, { isRoot: false }],
  ["rsync is missing there: apt-get install rsync", empty({ hasRsync: false }), {}, {}],
  ["rsync is missing here: apt-get install rsync", empty(), {}, { hasRsync: false }],
  ["berth server upgrade", empty({ version: "0.2.0 (commit: b)" }), {}, {}],
  ["the processor is aarch64 there", empty({ architecture: "aarch64" }), {}, {}],
  ["berth server install --prefix berth", empty({ prefix: "dock" }), {}, {}],
  ["with apps of its own", empty({ manifests: 1 }), {}, {}],
  ["with apps of its own", empty({ parked: "arriving", installation: "third" }), {}, {}],
  ["the server of this machine itself", facts({ manifests: 0 }), {}, {}],
  ["Docker runs on another machine", empty({ ownDocker: false }), {}, {}],
  ["too little room for volumes, images and state there", empty({ rootFreeBytes: 5 * GB }), {}, {}],
  ["too little room for volumes and images there", empty({ sameDisk: false, dockerFreeBytes: 4 * GB }), {}, {}],
  ["too little room for the state there", empty({ sameDisk: false, rootFreeBytes: GB }), {}, {}],
  ['the data of volume "nfs"', empty(), { elsewhere: ["nfs"] }, {}],
  ["(data: copier): stop it first", empty(), { strangers: ["data: copier"] }, {}],
])("%s keeps a move from beginning", (text, there, inventory, here) => {
  const { problems } = plan(there, has(inventory), facts(here));
  expect(problems).toEqual([expect.stringContaining(text)]);
});

test("an earlier move of the same server is taken up again, whatever room is left", () => {
  for (const parked of ["arriving", "moved"] as const)
    expect(plan(empty({ parked, installation: "old", rootFreeBytes: 0 })).problems).toEqual([]);
});

test("links to other places are told, and no text of the other machine drives the terminal", async () => {
  const root = mkdtempSync(join(tmpdir(), "berth-links."));
  try {
    mkdirSync(join(root, "logs"));
    for (const [name, to] of Object.entries({ inner: join(root, "logs"), relative: "logs", "logs/outer": tmpdir() }))
      symlinkSync(to, join(root, name));
    const links = await linksIn(root);
    expect(links).toEqual([join(root, "logs/outer")]);
    symlinkSync(root, join(root, "whole"));
    expect(await linksIn(join(root, "whole"))).toContain(join(root, "whole/logs/outer"));
    rmSync(join(root, "whole"));
    const lines = planLines(plan(empty({ version: "\u001b[2J" }), has({ links }))).join("\n");
    expect(lines).toContain(`${join(root, "logs/outer")}: a link to another place`);
    expect(lines).not.toContain("\u001b");
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("settings that differ, ports that are taken and copies that stay behind are notes", () => {
  const setting = (flag: string, value: string) => ({ flag, value });
  const here = facts({ settings: [setting("--smtp-url", "smtp://mail"), setting("--root", "/srv/berth")] });
  const there = empty({ takenPorts: [80], settings: [setting("--smtp-url", "none"), setting("--root", "/opt/berth")] });
  const targets = [{ name: "disk", folder: "/mnt/copies" }];
  expect(plan(there, has({ containers: 0, targets }), here).notes).toEqual([
    'setting --smtp-url is "smtp://mail" here and "none" there',
    "port 80 is taken there, and used here: end what listens on it",
    expect.stringMatching(
      /^backup target "disk" is a folder of this machine \(\/mnt\/copies\): its copies stay here; /,
    ),
  ]);
});

test("the seconds of the switch grow with files and containers, and go by a comparison that was measured", () => {
  const of = (containers: number, files: number, passMs?: number) => expectedSeconds({ containers, files, passMs });
  expect([of(0, 0), of(10, 0), of(0, 1_000_000), of(0, 1_000_000, 3_000)]).toEqual([8, 18, 108, 11]);
});
