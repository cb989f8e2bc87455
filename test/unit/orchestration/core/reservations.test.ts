import { describe, expect, test } from "bun:test";
import type { CoreDraft } from "../../../../src/orchestration/core/draft.ts";
import {
  conflictCode,
  reservedField,
  reservationsOf,
  conflictText,
  duplicateReservations,
} from "../../../../src/orchestration/core/reservations.ts";

const resource = (kind: CoreDraft["kind"], ref: string, spec: CoreDraft["spec"] = {}): CoreDraft => {
  const [scope = "", name = ""] = ref.split("/");
  return { kind, scope, name, spec };
};
const reserved = (manifest: CoreDraft) => reservationsOf(manifest).map(({ name, owner }) => `${name} ${owner}`);
const clash = (a: CoreDraft, b: CoreDraft) => duplicateReservations([a, b]).map(({ name }) => name);

describe("what is reserved", () => {
  test("a deployment: the name of its containers, that of its release containers when it has a release", () => {
    expect(reserved(resource("deployment", "shop/web"))).toEqual(["app:shop-web shop/web"]);
    expect(reserved(resource("deployment", "shop/web", { release: {} }))).toEqual([
      "app:shop-web shop/web",
      "app:shop-web-release shop/web",
    ]);
  });
  test("a statefulset: its volumes and numbered host names too", () => {
    const spec = { volume_claims: [{ name: "data", mount_path: "/d" }, { name: "logs", mount_path: "/l" }, "odd"] };
    expect(reserved(resource("statefulset", "shop/db", spec))).toEqual([
      "app:shop-db shop/db",
      "volume:shop-db-data shop/db",
      "volume:shop-db-logs shop/db",
      "alias:db-#.shop statefulset:db",
    ]);
  });
  test("a registry: its host", () => {
    expect(reserved({ kind: "registry", scope: "", name: "acme", spec: { url: "https://R.test/v2" } })).toEqual([
      "registry:r.test registry/acme",
    ]);
  });
  test("jobs reserve their name, assets nothing", () => {
    expect(reserved(resource("job", "shop/x"))).toEqual(["app:shop-x shop/x"]);
    expect(reserved(resource("cronjob", "shop/x"))).toEqual(["app:shop-x shop/x"]);
    expect(reserved(resource("asset", "shop/x"))).toEqual([]);
  });
});

describe("conflicts", () => {
  test("two pairs with one container name", () => {
    expect(clash(resource("deployment", "a-b/c"), resource("job", "a/b-c"))).toEqual(["app:a-b-c"]);
  });
  test("several kinds under one identity are one owner", () => {
    expect(clash(resource("deployment", "a/b"), resource("statefulset", "a/b"))).toEqual([]);
  });
  test("the release containers of another", () => {
    const web = resource("deployment", "a/web", { release: { command: ["x"] } });
    expect(clash(web, resource("deployment", "a/web-release"))).toEqual(["app:a-web-release"]);
    expect(clash(resource("deployment", "a/web"), resource("deployment", "a/web-release"))).toEqual([]);
  });
  test("volumes of two statefulsets", () => {
    const claim = (name: string) => ({ volume_claims: [{ name, mount_path: "/x" }] });
    const found = clash(resource("statefulset", "a/b", claim("c-d")), resource("statefulset", "a/b-c", claim("d")));
    expect(found).toEqual(["volume:a-b-c-d"]);
  });
  test("a name that a statefulset's pod has or may get", () => {
    const db = resource("statefulset", "a/db");
    expect(clash(db, resource("deployment", "a/db-7"))).toEqual(["alias:db-#.a"]);
    expect(clash(db, resource("statefulset", "a/db-7"))).toEqual(["alias:db-#.a"]);
    expect(clash(db, resource("deployment", "b/db-7"))).toEqual([]);
    expect(clash(db, resource("deployment", "a/db-x"))).toEqual([]);
  });
  test("numbered names do not disturb each other without such a statefulset", () => {
    expect(clash(resource("deployment", "a/db-0"), resource("deployment", "a/db-1"))).toEqual([]);
    expect(clash(resource("deployment", "a/db-0"), resource("statefulset", "a/db-1"))).toEqual([]);
  });
  test("the indexes are those of the batch", () => {
    const batch = [resource("asset", "a/z"), resource("deployment", "a-b/c"), resource("deployment", "a/b-c")];
    expect(duplicateReservations(batch)).toEqual([{ name: "app:a-b-c", first: 1, second: 2 }]);
  });
});

describe("telling", () => {
  test("a taken host is invalid, a taken name a conflict", () => {
    for (const name of ["host:a.test/", "domain:a.test", "tls:a.test", "tcp:5432"]) {
      expect(conflictCode(name)).toBe("invalid");
    }
    for (const name of ["app:a-b", "volume:a-b-c", "alias:db-#.a", "registry:r.test"]) {
      expect(conflictCode(name)).toBe("conflict");
    }
  });
  test("the field that a reserved name comes from", () => {
    const names = ["host:a/", "domain:a", "tls:a", "tcp:1", "registry:r", "volume:a-b-c", "app:a-b", "alias:a-#.b"];
    expect(names.map(reservedField)).toEqual([
      "spec.host",
      "spec.host",
      "spec.tls",
      "spec.tcp.port",
      "spec.url",
      "spec.volume_claims",
      "name",
      "name",
    ]);
  });
  test.each([
    ["host:a.test/api", '"a.test/api" is already served by ingress/shop/web; use another host or path'],
    ["domain:a.test", '"a.test" is also in ingress/shop/web, and a host that one ingress redirects'],
    ["tls:a.test", 'the certificate settings of "a.test" differ from those in ingress/shop/web; write the same'],
    ["tcp:5432", "port 5432 already leads to ingress/shop/web; use another port"],
    ["app:a-b-c", '"a-b-c" of containers and files belongs to ingress/shop/web'],
    ["volume:a-b-data", 'volumes "a-b-data-<ordinal>" belong to ingress/shop/web'],
    ["alias:db-#.a", '"db-#.a" (# is an ordinal) belong to ingress/shop/web'],
    ["registry:localhost:5000", 'the login of "localhost:5000" is already in ingress/shop/web'],
  ])("%s", (name, text) => {
    expect(conflictText(name, { kind: "ingress", scope: "shop", name: "web" })).toContain(text);
  });
});
