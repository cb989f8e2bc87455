import { expect, test } from "bun:test";
import {
  isOwn,
  type Maker,
  makerOf,
  makerText,
  originOfSource,
  wayBack,
} from "../../../../../src/orchestration/core/plugins/maker.ts";

const from = (origin: "folder" | "installed" | "linked" | "bundled", source?: string): Maker =>
  makerOf({
    yml: { name: "postgres" },
    origin,
    folder: "/dev/postgres",
    ...(source === undefined ? {} : { lock: { source } }),
  });

/** Every way that a plugin of one name can come to a server. */
const makers: Record<string, Maker> = {
  bundled: from("bundled"),
  "by hand": from("folder"),
  linked: from("linked"),
  release: from("installed", "acme/postgres"),
  "release of another owner": from("installed", "other/postgres"),
  git: from("installed", "https://git.test/acme/postgres.git"),
  folder: from("installed", "/srv/postgres"),
  "another name": { ...from("bundled"), plugin: "redis" },
  unknown: { plugin: "postgres", origin: "unknown", source: "" },
  unrecorded: { plugin: "postgres", origin: "unrecorded", source: "" },
};

test("a plugin is the block's own if name, origin and source are the same, and in no other case", () => {
  for (const [blockName, block] of Object.entries(makers)) {
    for (const [pluginName, plugin] of Object.entries(makers)) {
      expect([blockName, pluginName, isOwn(block, plugin)]).toEqual([blockName, pluginName, blockName === pluginName]);
    }
  }
});

test("two spellings of one source are one, and credentials are no part of it", () => {
  const same = [
    ["acme/Postgres", "https://github.com/Acme/postgres.git"],
    ["https://git.test/a/b", "https://me:secret@git.test/a/b.git"],
    ["/srv/postgres", "/srv/postgres/"],
  ];
  for (const [one = "", other = ""] of same) expect(originOfSource(one)).toEqual(originOfSource(other));
  expect(JSON.stringify(originOfSource("https://me:secret@git.test/a/b.git"))).not.toContain("secret");
});

test("a message names the maker and, where it is known, the command that brings it back", () => {
  const said = Object.entries(makers).map(([name, maker]) => [name, makerText(maker), wayBack(maker)]);
  expect(said.slice(0, 4)).toEqual([
    ["bundled", 'the bundled plugin "postgres"', "berth plugins remove postgres"],
    ["by hand", 'the plugin "postgres" that was put into the folder by hand', undefined],
    ["linked", 'the plugin "postgres" from /dev/postgres', "berth plugins install /dev/postgres --replace"],
    ["release", 'the plugin "postgres" from acme/postgres', "berth plugins install acme/postgres --replace"],
  ]);
  expect(said.at(-2)).toEqual(["unknown", 'a plugin "postgres" of unknown origin', undefined]);
});
