import { expect, test } from "bun:test";
import { operator, type Principal, tokenPrincipal } from "../../src/access/principal.ts";
import {
  backupEndpoints,
  listBackupApps,
  listBackupRuns,
  listBackupTargets,
  listSnapshots,
} from "../../src/backups/api/backups.ts";
import { databaseEndpoints } from "../../src/backups/api/databases.ts";
import { drillEndpoints, listDrills } from "../../src/backups/api/drills.ts";
import { mountBackups, mountDatabases } from "../../src/backups/http/mount.ts";
import { listRestores, restoreEndpoints } from "../../src/backups/api/restore.ts";
import type { Backups } from "../../src/backups/service/create.ts";
import type { Databases } from "../../src/backups/service/databases.ts";
import type { Drills } from "../../src/backups/service/drills.ts";
import { rehearsalEndpoints } from "../../src/backups/api/rehearsals.ts";
import type { Rehearsals } from "../../src/backups/service/rehearsals.ts";
import { repairEndpoints } from "../../src/backups/api/repairs.ts";
import type { Repairs } from "../../src/backups/service/repairs.ts";
import type { Restores } from "../../src/backups/service/restore.ts";
import { createLog } from "../../src/base/words/log.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { createOrchestrationApp } from "../../src/orchestration/http/app.ts";
import { createRecordingController } from "../support/recording-controller.ts";

const called: string[] = [];
const backups = new Proxy({} as Backups & Databases, {
  get: (_, name) => () => {
    called.push(String(name));
    const apps = ["web", "db"].map((one) => ({ kind: "deployment", scope: "shop", name: one, volumes: [] }));
    return name === "listApps" ? apps : name === "listTargets" || name === "listRuns" ? [] : Promise.resolve({});
  },
});
const recorded = <T extends object>() =>
  new Proxy({} as T, {
    get: (_, name) => () => {
      called.push(String(name));
      return Promise.resolve({});
    },
  });
const others = {
  restores: recorded<Restores>(),
  drills: recorded<Drills>(),
  rehearsals: recorded<Rehearsals<unknown>>(),
  repairs: recorded<Repairs>(),
};
const app = createOrchestrationApp({
  controller: createRecordingController().controller,
  mountOthers(plane) {
    mountBackups(plane, backups, others);
    mountDatabases(plane, backups);
  },
  version: "1",
  names: naming(),
  log: createLog(() => undefined, "error"),
  limits: { jsonDepthMax: 64, eventsPageMax: 1_000, execInputBytesMax: 1_000, logPingMs: 25_000 },
});
const ask = (by: Principal, { method, path }: { method: string; path: string }) => {
  const bodies: Record<string, object> = {
    "/backups/targets/:name": { url: "/srv/copies" },
    "/backups/restores/plan": {},
    "/backups/restores": {},
    "/backups/drills": {},
    "/backups/targets/:name/repair": { step: "look" },
    "/rehearsals": {},
    "/backups/databases/restores": {},
    "/backups/restores/undo": { scope: "shop", name: "web" },
  };
  const body = method === "GET" || bodies[path] === undefined ? undefined : JSON.stringify(bodies[path]);
  return app.behind(
    new Request(
      `http://localhost${path.replace(":name", "disk")}${path.includes("/databases") ? "?scope=data&name=main&into=data/copy" : ""}`,
      { method, body: body ?? null },
    ),
    by,
  );
};

const endpoints = [
  ...backupEndpoints,
  ...restoreEndpoints,
  ...databaseEndpoints,
  ...drillEndpoints,
  ...rehearsalEndpoints,
  ...repairEndpoints,
];

/** What there is and how it went: for everyone who may see the machine, or the app. */
const reads: readonly { path: string; method: string }[] = [
  listBackupTargets,
  listBackupRuns,
  listSnapshots,
  listRestores,
  listDrills,
];
const guarded = endpoints.filter((one) => one !== listBackupApps && !reads.includes(one));

const everyScope = { scopes: ["read", "actions", "host:read", "config:reveal", "exec", "admin"], apps: ["shop/web"] };
const notAdmin = { scopes: ["read", "actions", "host:read", "config:reveal", "exec"], apps: [] };
const strangers: [string, Principal][] = [
  ["a token without admin", tokenPrincipal(notAdmin)],
  ["a token of one app", tokenPrincipal(everyScope)],
  ["a person without admin", tokenPrincipal({ ...notAdmin, person: "ann" })],
  ["a run of a plugin that a token started", { type: "plugin", askedBy: tokenPrincipal(notAdmin) }],
  ["a pod", { type: "pod" }],
  ["a caller that no door named", { type: "unnamed" }],
];

test.each(strangers)("%s changes no copy, restores nothing and gets no key", async (_, by) => {
  for (const endpoint of guarded) {
    called.length = 0;
    const answer = await ask(by, endpoint);
    expect([endpoint.method, endpoint.path, answer.status, called]).toEqual([endpoint.method, endpoint.path, 403, []]);
  }
});

test.each(strangers)("%s sees how copies go if it may see the machine", async (name, by) => {
  const sees = name === "a token without admin" || name === "a person without admin";
  for (const endpoint of reads) {
    const answer = await ask(by, endpoint);
    expect([endpoint.path, answer.status]).toEqual([endpoint.path, sees ? 200 : 403]);
  }
});

test("a token of one app sees the copies of that app alone", async () => {
  const names = async (by: Principal) => {
    const { data } = (await (await ask(by, listBackupApps)).json()) as { data: { apps: { name: string }[] } };
    return data.apps.map(({ name }) => name);
  };
  expect(await names(tokenPrincipal(everyScope))).toEqual(["web"]);
  expect(await names(tokenPrincipal(notAdmin))).toEqual(["web", "db"]);
});

test("an operator reaches each of them", async () => {
  for (const endpoint of endpoints) {
    called.length = 0;
    const answer = await ask(operator, endpoint);
    // The list of apps asks for the drill of each.
    const asked = called.filter((name) => name !== "of");
    expect([endpoint.path, answer.status, asked.length]).toEqual([endpoint.path, 200, 1]);
  }
});

test("a database is named as a resource is, and not as a path", async () => {
  const query = (path: string) => app.behind(new Request(`http://localhost${path}`), operator);
  for (const name of ["..", "a/b", "", "A", "a..%2F", ".a"]) {
    expect((await query(`/backups/databases?scope=data&name=${encodeURIComponent(name)}`)).status).toBe(400);
  }
  for (const into of ["", "&into=data/../x", "&into=..%2Fx"]) {
    const target = `http://localhost/backups/databases/restores?scope=data&name=main${into}`;
    expect((await app.behind(new Request(target, { method: "POST", body: "{}" }), operator)).status).toBe(400);
  }
});
