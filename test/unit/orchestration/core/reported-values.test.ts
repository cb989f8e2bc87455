import { describe, expect, test } from "bun:test";
import type { CoreKind, Spec } from "../../../../src/orchestration/api/manifest.ts";
import { naming } from "../../../../src/orchestration/core/naming.ts";
import {
  type ReferencedManifest,
  referenceFault,
  reportedValue,
  reportedValues,
} from "../../../../src/orchestration/core/reported-values.ts";

const names = naming("berth");
const referenced = (kind: CoreKind, spec: Spec, more: Partial<ReferencedManifest> = {}): ReferencedManifest => ({
  ...{ kind, scope: "shop", name: "web", spec },
  ...more,
});

describe("what a kind reports", () => {
  test.each<[string, ReferencedManifest, Record<string, string>]>([
    ["a deployment without ports", referenced("deployment", {}), { host: "web.shop.berth" }],
    [
      "a deployment with several: the container side of the first",
      referenced("deployment", { ports: ["127.0.0.1:80:8080", "9"] }),
      { host: "web.shop.berth", port: "8080" },
    ],
    [
      "one in the host's network has no name",
      referenced("deployment", { network_mode: "host", ports: ["1"] }),
      { port: "1" },
    ],
    ["one without a network", referenced("deployment", { network_mode: "none" }), {}],
    [
      "a statefulset: a name for each ordinal too",
      referenced("statefulset", { replicas: 2, ports: ["5432"] }),
      {
        host: "web.shop.berth",
        host_0: "web-0.shop.berth",
        host_1: "web-1.shop.berth",
        port: "5432",
      },
    ],
    ["an ingress", referenced("ingress", { host: "a.test" }), { host: "a.test", url: "http://a.test" }],
    [
      "an ingress with certificates: its first host",
      referenced("ingress", { hosts: ["*.b.test", "B.test", "c.test"], tls: {} }),
      { host: "b.test", url: "https://b.test" },
    ],
    [
      "an ingress whose certificates are off",
      referenced("ingress", { host: "a.test", tls: { enabled: false } }),
      { host: "a.test", url: "http://a.test" },
    ],
    ["an ingress of wildcards alone", referenced("ingress", { host: "*.a.test" }), {}],
    ["an asset whose content is not here", referenced("asset", { files: { a: "x" } }), {}],
    ["a job", referenced("job", { ports: ["1"] }), {}],
  ])("%s", (_, manifest, values) => {
    expect(reportedValues(manifest, names)).toEqual(values);
    for (const [field, value] of Object.entries(values)) expect(reportedValue(manifest, field, names)).toBe(value);
  });

  test("the digest of an asset is that of its content, in whatever order", () => {
    const digest = (digests: Record<string, string>) =>
      reportedValue(referenced("asset", {}, { digests }), "digest", names);
    expect(digest({ a: "1", b: "2" })).toMatch(/^[0-9a-f]{64}$/);
    expect(digest({ b: "2", a: "1" })).toBe(digest({ a: "1", b: "2" }));
    expect(digest({ a: "1", b: "3" })).not.toBe(digest({ a: "1", b: "2" }));
  });

  test("the name of an ordinal does not go when there are fewer replicas", () => {
    expect(reportedValue(referenced("statefulset", { replicas: 1 }), "host_2", names)).toBe("web-2.shop.berth");
    for (const field of ["host_", "host_01", "host_x", "toString", "__proto__"]) {
      expect(reportedValue(referenced("statefulset", { replicas: 1 }), field, names)).toBeUndefined();
    }
  });
});

describe("kinds and fields that cannot be referred to", () => {
  test.each<[string, string, string | undefined]>([
    ["deployment", "host", undefined],
    ["statefulset", "host_17", undefined],
    [
      "deployment",
      "host_0",
      '"host_0" is not among those of the kind deployment; did you mean "host"; it has host, port',
    ],
    ["ingress", "ur", 'did you mean "url"; it has host, url'],
    ["job", "exit_code", '"job" reports no values; kinds that do are deployment, statefulset, ingress, asset'],
    ["ingres", "url", 'did you mean "ingress"'],
    ["constructor", "url", '"constructor" reports no values'],
  ])("%s.%s", (kind, field, fault) => {
    if (fault === undefined) expect(referenceFault(kind, field)).toBeUndefined();
    else expect(referenceFault(kind, field)).toContain(fault);
  });
});
