import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { readRemotes, type Remotes, writeRemotes } from "../../../../src/client/remote/remotes.ts";
import { chooseTarget } from "../../../../src/client/remote/target.ts";
import { clientLimits } from "../../../../src/config/config.ts";
import { folder } from "../../../support/files.ts";

const read = (file: string) => readRemotes(file, clientLimits.tunnel);

const stored: Remotes = {
  default: "production",
  list: [
    {
      name: "eu-1",
      host: "eu.example",
      port: 2222,
      identity: "~/.ssh/eu",
      socket: "/srv/run/berth.sock",
      groups: ["eu"],
    },
    { name: "eu-2", host: "::1", groups: ["eu"] },
    { name: "production", host: "shop.example", user: "deploy", groups: [] },
  ],
};

test("what is written is read again, and no other user can read it", () => {
  using place = folder({});
  const file = join(place.path, "new/remotes.json");
  writeRemotes(file, stored);
  expect(read(file)).toEqual(stored);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(place.path, "new")).mode & 0o777).toBe(0o700);
  writeRemotes(file, { list: [] });
  expect(read(file)).toEqual({ list: [] });
});

test("a file that does not exist holds none", () => {
  expect(read("/nonexistent/remotes.json")).toEqual({ list: [] });
});

test.each([
  ["{", "is not JSON"],
  ["[]", "is not an object"],
  ['{"remote":{}}', "remote: is not a known field; there are default, remotes"],
  ['{"remotes":[]}', "remotes: is not an object"],
  ['{"remotes":{"a":1}}', "remotes.a: is not an object"],
  ['{"remotes":{"a":{}}}', "remotes.a.host: is missing"],
  ['{"remotes":{"a":{"host":1}}}', "remotes.a.host: is not a text"],
  ['{"remotes":{"a":{"host":"-o"}}}', 'remotes.a: "-o" is not a host name'],
  ['{"remotes":{"A":{"host":"h"}}}', 'remotes.A: "A" cannot be a name'],
  ['{"remotes":{"a":{"host":"h","port":"22"}}}', "remotes.a.port: is not a number"],
  ['{"remotes":{"a":{"host":"h","port":0}}}', 'remotes.a: "0" is not a port'],
  ['{"remotes":{"a":{"host":"h","socket":"x"}}}', "remotes.a.socket: "],
  ['{"remotes":{"a":{"host":"h","groups":"x"}}}', "remotes.a.groups: is not a list"],
  ['{"remotes":{"a":{"host":"h","groups":["B"]}}}', "remotes.a.groups[0]: "],
  ['{"default":"b","remotes":{"a":{"host":"h"}}}', "default: does not name one of the remotes"],
])("%s is refused with its place", (text, message) => {
  using place = folder({ "remotes.json": text });
  const file = join(place.path, "remotes.json");
  expect(() => read(file)).toThrow(message);
  expect(() => read(file)).toThrow(file);
});

test("too many remotes and too large a file are refused", () => {
  using place = folder({ "remotes.json": '{"remotes":{"a":{"host":"h"},"b":{"host":"h"}}}' });
  const file = join(place.path, "remotes.json");
  expect(() => readRemotes(file, { remotesMax: 1, fileBytesMax: 1_000 })).toThrow("more than 1 entries");
  expect(() => readRemotes(file, { remotesMax: 9, fileBytesMax: 10 })).toThrow("larger than 10 bytes");
});

const own = "http://127.0.0.1:8686";
const choose = (named: { endpoint?: string; remote?: string }, remotes = stored) =>
  chooseTarget(named, own, () => remotes);

test("which server a command goes to", () => {
  expect(choose({})).toMatchObject({ type: "remote", remote: { name: "production" } });
  expect(choose({}, { list: stored.list })).toEqual({ type: "endpoint", endpoint: own });
  expect(choose({ remote: "local" })).toEqual({ type: "endpoint", endpoint: own });
  expect(choose({ endpoint: "unix:/x" })).toEqual({ type: "endpoint", endpoint: "unix:/x" });
  expect(choose({ remote: "eu-2" })).toMatchObject({ type: "remote", remote: { name: "eu-2" } });
  expect(choose({ remote: "eu" })).toMatchObject({ type: "group", remotes: [{ name: "eu-1" }, { name: "eu-2" }] });
  expect(choose({ remote: "ana@h:22" })).toMatchObject({
    type: "remote",
    remote: { user: "ana", host: "h", port: 22 },
  });
  expect(() => choose({ remote: "a", endpoint: "b" })).toThrow("both a remote (a) and an endpoint (b) are given");
  expect(() => choose({ remote: "producton" })).toThrow('no remote "producton": did you mean "production"?');
  expect(() => choose({ remote: "x" }, { list: [] })).toThrow("add it with: berth remote add x user@host");
});

test("an endpoint that is named is used without a look at the file", () => {
  const file = () => {
    throw new Error("not asked");
  };
  expect(chooseTarget({ endpoint: own }, own, file)).toEqual({ type: "endpoint", endpoint: own });
});
