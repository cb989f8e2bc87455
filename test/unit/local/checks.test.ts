import { describe, expect, test } from "bun:test";
import * as checks from "../../../src/local/checks.ts";

const docker: checks.DockerFacts = {
  version: "20.10.24",
  apiVersion: "1.41",
  liveRestore: true,
  hasInit: true,
  cgroupVersion: "2",
  rootDir: "/var/lib/docker",
};
const root: checks.RootFacts = {
  root: "/opt/berth",
  rootMode: 0o40700,
  rootUid: 0,
  uid: 0,
  keyPath: "/opt/berth/key",
  keyMode: 0o100600,
  databaseExists: true,
};
const server: checks.ServerFacts = {
  version: "1.0.0",
  engineUp: true,
  engineError: undefined,
  collectionHeld: false,
  failing: 0,
};
const gibibyte = 1024 ** 3;
const now = Date.parse("2026-03-01T00:00:00Z");

/** [what, check, status]: every check in every state it can give. */
const table: [string, checks.Check, checks.Check["status"]][] = [
  ["docker answers", checks.checkDocker("unix:///d", docker), "ok"],
  ["a newer API", checks.checkDocker("unix:///d", { ...docker, apiVersion: "2.0" }), "ok"],
  ["an API that only looks newer as text", checks.checkDocker("unix:///d", { ...docker, apiVersion: "1.9" }), "fail"],
  ["an old API", checks.checkDocker("unix:///d", { ...docker, apiVersion: "1.40" }), "fail"],
  ["no API version", checks.checkDocker("unix:///d", { ...docker, apiVersion: "" }), "fail"],
  ["no docker", checks.checkDocker("unix:///d", new Error("no such socket")), "fail"],
  ["live-restore on", checks.checkLiveRestore(docker), "ok"],
  ["docker-init there", checks.checkInit(docker), "ok"],
  ["docker-init missing", checks.checkInit({ ...docker, hasInit: false }), "warn"],
  ["live-restore off", checks.checkLiveRestore({ ...docker, liveRestore: false }), "warn"],
  ["cgroups", checks.checkCgroups(docker), "ok"],
  ["no cgroups", checks.checkCgroups({ ...docker, cgroupVersion: "" }), "warn"],
  [
    "containers that reach each other",
    checks.checkForwarding({ state: "open", detail: "tried: a reaches b, port 80" }),
    "ok",
  ],
  ["nobody to reach", checks.checkForwarding({ state: "untested", detail: "not tested: …" }), "skip"],
  ["room", checks.checkSpace("disk", space(9), gibibyte), "ok"],
  ["little room", checks.checkSpace("disk", space(2), gibibyte), "warn"],
  ["a read-only disk", checks.checkSpace("disk", { ...space(9), readOnly: true }, gibibyte), "fail"],
  ["no room", checks.checkSpace("disk", space(0.5), gibibyte), "fail"],
  ["an empty file system", checks.checkSpace("disk", { ...space(0), totalBytes: 0 }, gibibyte), "fail"],
  ["a plane turned off", checks.checkAddress("identity", "", "off"), "ok"],
  ["a free address", checks.checkAddress("identity", "127.0.0.1:1", "free"), "ok"],
  ["our address", checks.checkAddress("identity", "127.0.0.1:1", "ours"), "ok"],
  ["an address of another berth", checks.checkAddress("identity", "127.0.0.1:1", "berth"), "fail"],
  ["a taken address", checks.checkAddress("identity", "127.0.0.1:1", "taken"), "fail"],
  ["no root yet", checks.checkRoot({ ...root, rootMode: undefined, rootUid: undefined }), "ok"],
  ["a good root", checks.checkRoot(root), "ok"],
  ["a root anyone may read", checks.checkRoot({ ...root, rootMode: 0o40755 }), "ok"],
  ["a root others may write", checks.checkRoot({ ...root, rootMode: 0o40775 }), "fail"],
  ["another user's root", checks.checkRoot({ ...root, uid: 1000 }), "warn"],
  ["root looks at another user's root", checks.checkRoot({ ...root, rootUid: 1000 }), "ok"],
  ["a good key", checks.checkKey(root), "ok"],
  ["a key others may read", checks.checkKey({ ...root, keyMode: 0o100640 }), "fail"],
  ["no key and no database", checks.checkKey({ ...root, keyMode: undefined, databaseExists: false }), "ok"],
  ["a database without its key", checks.checkKey({ ...root, keyMode: undefined }), "fail"],
  ["a clock nothing is known of", checks.checkClock({ now, newestFileAt: undefined, synchronized: undefined }), "ok"],
  ["a clock that follows", checks.checkClock({ now, newestFileAt: now - 1, synchronized: true }), "ok"],
  ["a clock that does not", checks.checkClock({ now, newestFileAt: now, synchronized: false }), "warn"],
  ["a clock that went back", checks.checkClock({ now, newestFileAt: now + 3_600_000, synchronized: true }), "fail"],
  ["no server", checks.checkServer(undefined, "1.0.0"), "warn"],
  ["a good server", checks.checkServer(server, "1.0.0"), "ok"],
  ["a server without docker", checks.checkServer({ ...server, engineUp: false }, "1.0.0"), "fail"],
  ["a restored server", checks.checkServer({ ...server, collectionHeld: true }, "1.0.0"), "warn"],
  ["a server that cannot bring all up", checks.checkServer({ ...server, failing: 2 }, "1.0.0"), "warn"],
  ["a server of another version", checks.checkServer(server, "1.0.1"), "warn"],
];

function space(gibibytes: number): checks.Space {
  return { path: "/opt/berth", freeBytes: gibibytes * gibibyte, totalBytes: 10 * gibibyte, readOnly: false };
}

describe("a check", () => {
  for (const [what, check, status] of table) {
    test(`${what}: ${status}`, () => expect(check.status).toBe(status));
  }

  test("that found a fault says how to mend it, and no other does", () => {
    for (const [what, check, status] of table) {
      const isFault = status === "warn" || status === "fail";
      expect({ what, mend: check.mend !== undefined }).toEqual({ what, mend: isFault });
    }
  });
});

test("the taken address names the flag that moves it", () => {
  expect(checks.checkAddress("orchestration", "a:1", "taken").mend).toContain("--addr");
  expect(checks.checkAddress("identity", "a:1", "taken").mend).toContain("--identity-addr");
});

test("a restored server that waits is named, with what waits and what ends it", () => {
  const check = checks.checkServer({ ...server, collectionHeld: true, held: "restored from a backup" }, "1.0.0");
  expect(check.detail).toContain("cron jobs, webhooks, mails and copies wait until you confirm");
  expect(check.mend).toContain("berth restore --confirm");
});

test("modes print as chmod takes them", () => {
  expect(checks.checkKey({ ...root, keyMode: 0o100640 })).toMatchObject({
    detail: "/opt/berth/key has mode 0640: others may read it",
    mend: "chmod 600 /opt/berth/key",
  });
});

test("the identity service: who may read its users, and who reaches it", () => {
  const none = { path: "/r/identity.db", mode: undefined };
  const facts = { address: "127.0.0.1:8688", baseUrl: "https://id.shop.test", database: none, index: undefined };
  expect(checks.checkIdentity(facts)).toMatchObject({
    status: "ok",
    detail: expect.stringContaining("https://id.shop.test"),
  });
  expect(checks.checkIdentity({ ...facts, baseUrl: "http://127.0.0.1:8688" }).detail).toContain("--identity-base-url");
  expect(checks.checkIdentity({ ...facts, address: "" }).detail).toBe("turned off");
  const database = { path: "/r/identity.db", mode: 0o100644 };
  expect(checks.checkIdentity({ ...facts, address: "", database })).toMatchObject({
    status: "fail",
    mend: "chmod 600 /r/identity.db",
  });
  const index = "/r/identity-search.db";
  expect(checks.checkIdentity({ ...facts, index, database: { ...database, mode: 0o100600 } }).status).toBe("ok");
  expect(checks.checkIdentity({ ...facts, index })).toMatchObject({
    status: "fail",
    detail: "the users' database /r/identity.db is missing",
    mend: expect.stringContaining("move /r/identity-search.db away too"),
  });
});
