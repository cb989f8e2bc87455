import { afterEach, describe, expect, test } from "bun:test";
import type { Endpoint } from "../../src/base/wire/endpoint.ts";
import { orchestrationEndpoints } from "../../src/orchestration/api/endpoints.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { createOrchestrationApp } from "../../src/orchestration/http/app.ts";
import { mountBackups, mountDatabases } from "../../src/backups/http/mount.ts";
import type { Rehearsals } from "../../src/backups/service/rehearsals.ts";
import type { Drills } from "../../src/backups/service/drills.ts";
import type { Databases } from "../../src/backups/service/databases.ts";
import type { Repairs } from "../../src/backups/service/repairs.ts";
import type { Restores } from "../../src/backups/service/restore.ts";
import type { Backups } from "../../src/backups/service/create.ts";
import { mountIdentity } from "../../src/identity/http/manage/mount.ts";
import { type IngressRoutes, mountIngress } from "../../src/ingress/http/mount.ts";
import { mountObservability } from "../../src/observability/http/shared.ts";
import type { Observability } from "../../src/observability/service/observability.ts";
import type { SourceReader } from "../../src/orchestration/api/sources.ts";
import { mountSources } from "../../src/orchestration/http/sources.ts";
import type { Management } from "../../src/identity/service/manage/manage.ts";
import { createLog } from "../../src/base/words/log.ts";
import { connectRaw } from "../support/raw-client.ts";
import { createRecordingController } from "../support/recording-controller.ts";
import { type Plane, startPlane } from "../support/socket-plane.ts";

/** Tells every call, and answers none. */
function recording(calls: string[], whole: string): unknown {
  const part = (name: string): unknown =>
    new Proxy(() => undefined, {
      get: (_target, key) => part(`${name}.${String(key)}`),
      apply: () => {
        calls.push(name);
        throw new Error(`${name} was called`);
      },
    });
  return part(whole);
}

const recordingManagement = (calls: string[]) => recording(calls, "identity") as Management;
const recordingObservability = (calls: string[]) => recording(calls, "observability") as Observability;
const recordingSources = (calls: string[]) => recording(calls, "sources") as SourceReader;
const recordingIngress = (calls: string[]) => recording(calls, "ingress") as IngressRoutes;

const changing = orchestrationEndpoints.filter(({ method }) => method !== "GET");
const target = ({ path }: Endpoint) => path.replaceAll(/:\w+/g, "x");

describe("a mistyped query parameter", () => {
  const done: string[] = [];
  const { controller, calls } = createRecordingController();
  const app = createOrchestrationApp({
    controller,
    mountOthers(plane, paging) {
      mountIdentity(plane, recordingManagement(done), paging);
      mountIngress(plane, recordingIngress(done));
      mountObservability(plane, recordingObservability(done));
      mountSources(plane, recordingSources(done));
      mountDatabases(plane, recording(done, "databases") as Databases);
      mountBackups(plane, recording(done, "backups") as Backups, {
        ...{ restores: recording(done, "restores") as Restores, drills: recording(done, "drills") as Drills },
        rehearsals: recording(done, "rehearsals") as Rehearsals<unknown>,
        repairs: recording(done, "repairs") as Repairs,
      });
    },
    version: "1",
    names: naming(),
    log: createLog(() => undefined, "error"),
    limits: { jsonDepthMax: 64, eventsPageMax: 1_000, execInputBytesMax: 1_000, logPingMs: 25_000 },
  });

  // These are answered outside the app: below.
  const sessions = ["/pods/:name/exec", "/run", "/pods/:name/files", "/pods/:name/forward"];
  const mounted = changing.filter(({ path }) => !sessions.includes(path));
  test.each(mounted.map((endpoint) => [endpoint.method, target(endpoint)]))(
    "is refused by %s %s",
    async (method, path) => {
      const init = { method, body: method === "DELETE" ? null : "[]" };
      const answer = await app.fetch(new Request(`http://localhost${path}?dryrun=true`, init));
      const { error } = (await answer.json()) as { error: string };
      expect({ status: answer.status, error }).toEqual({
        status: 400,
        error: expect.stringContaining('query "dryrun"'),
      });
      expect([...calls, ...done]).toEqual([]);
    },
  );

  test("names the one that was meant", async () => {
    const answer = await app.fetch(new Request("http://localhost/apply?dryrun=true", { method: "POST", body: "[]" }));
    expect(((await answer.json()) as { error: string }).error).toContain('did you mean "dry_run"');
  });

  test("is ignored by reads", async () => {
    const answer = await app.fetch(new Request("http://localhost/pods?scop=s"));
    expect(answer.status).toBe(200);
  });
});

describe("a session", () => {
  let plane: Plane | undefined;
  afterEach(() => plane?.close());
  test.each([
    ["/pods/shop-web.1/exec?usr=app", "user"],
    ["/run?scope=shop&name=web&usr=app", "user"],
    ["/pods/shop-web.1/files?pth=/tmp", "path"],
    ["/pods/shop-web.1/forward?prt=80", "port"],
  ])("refuses POST %s", async (target, meant) => {
    plane = await startPlane();
    await plane.pod("shop-web.1");
    const client = await connectRaw(plane.front.tcp);
    const body = '{"command":["id"]}';
    const head = `POST ${target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`;
    await client.send(head + body);
    const text = await client.all();
    expect(text).toStartWith("HTTP/1.1 400 ");
    expect(text).toContain(`did you mean \\"${meant}\\"`);
  });
});

/** Query parameters of docs/contract/orchestration.md, 4 for routes that change something: none of them may be rejected. */
const contract: [string, string, string][] = [
  ["POST", "/apply", "dry_run prune"],
  ["DELETE", "/apply", "kind name scope prune"],
  ["DELETE", "/resource", "scope name ordinal prune"],
  ["DELETE", "/scope", "scope prune"],
  ["POST", "/pods/:name/exec", "tty interactive workdir user cols rows"],
  ["POST", "/pods/:name/stop", "freeze"],
  ["POST", "/config", "scope name restart"],
  ["DELETE", "/config", "scope name key restart"],
  ["POST", "/restart", "kind scope name"],
  ["POST", "/releases/run", "scope name"],
  ["POST", "/rollback", "kind scope name release_id"],
  ["POST", "/jobs/run", "scope name"],
  ["POST", "/cronjobs/run", "scope name"],
];
test.each(contract)("%s %s takes %s", (method, path, words) => {
  const endpoint = changing.find((it) => it.method === method && it.path === path);
  expect(Object.keys(endpoint?.query?.properties ?? {})).toEqual(expect.arrayContaining(words.split(" ")));
});
