import { expect, test } from "bun:test";
import fc from "fast-check";
import { specSchemas } from "../../src/orchestration/api/kinds/schemas.ts";
import type { PodEndpoint } from "../../src/orchestration/api/pod-endpoint.ts";
import { hostOk } from "../../src/base/pure/hosts.ts";
import { askedCertificates } from "../../src/ingress/core/certificates/asked.ts";
import { sitesOf } from "../../src/ingress/core/sites.ts";
import { endpoint, ingress, sitesInput } from "../support/ingress-input.ts";
import { specs } from "./core-specs.ts";

const names = fc.constantFrom("web", "api", "db");
const endpoints: fc.Arbitrary<PodEndpoint[]> = fc
  .array(
    fc.record({ name: names, ready: fc.boolean(), leaving: fc.boolean(), ip: fc.constantFrom("10.0.0.1", undefined) }),
    { maxLength: 6 },
  )
  .map((all) => all.map((one, index) => endpoint({ ...one, id: `c${index}` })));

/** What another version may have stored: fields of ours with values of any kind. */
const fields = Object.keys(specSchemas.ingress.properties);
const wild = fc
  .tuple(specs.ingress, fc.dictionary(fc.constantFrom(...fields), fc.jsonValue({ maxDepth: 3 })))
  .map(([spec, odd]) => ({ ...spec, ...odd }));

const manifests = (spec: fc.Arbitrary<Record<string, unknown>>) =>
  fc.array(spec, { maxLength: 4 }).map((all) => all.map((one, index) => ingress(`i${index}`, one)));

const inputOf = (ingresses: ReturnType<typeof ingress>[], running: PodEndpoint[]) =>
  sitesInput({ ingresses, endpoints: running, serviceKinds: () => ["deployment"] });

test("a valid ingress is one site or one TCP site, and only ready and leaving replicas are upstreams", () => {
  fc.assert(
    fc.property(specs.ingress, endpoints, (spec, running) => {
      const { sites, tcp } = sitesOf(inputOf([ingress("web", spec)], running));
      const all = [...sites, ...tcp];
      expect(all.map(({ id }) => id)).toEqual(["shop/web"]);
      const serving = running.filter((one) => (one.ready || one.leaving) && one.ip !== undefined).map(({ id }) => id);
      for (const { id } of all.flatMap(({ upstreams }) => upstreams)) expect(serving).toContain(id);
    }),
  );
});

test("whatever is stored, no two sites have one host and path, no redirected host is served, no port is listened on twice", () => {
  fc.assert(
    fc.property(manifests(wild), endpoints, (ingresses, running) => {
      const { sites, tcp } = sitesOf(inputOf(ingresses, running));
      const routes = sites.flatMap(({ hosts, paths }) =>
        hosts.flatMap((host) => paths.map(({ prefix }) => host + prefix)),
      );
      const served = sites.flatMap(({ hosts }) => hosts);
      const redirected = sites.flatMap(({ options }) => options.redirects.map(({ from }) => from));
      expect(new Set(routes).size).toBe(routes.length);
      expect(redirected.filter((host) => served.includes(host))).toEqual([]);
      expect(new Set(redirected).size).toBe(redirected.length);
      const port = ({ listen }: (typeof tcp)[number]) => listen.slice(listen.lastIndexOf(":"));
      expect(new Set(tcp.map((one) => `${port(one)} ${one.tlsName ?? ""}`)).size).toBe(tcp.length);
      for (const one of tcp)
        for (const other of tcp)
          if (one !== other && port(one) === port(other))
            expect([one.tlsName !== undefined, other.listen]).toEqual([true, one.listen]);
      expect([...served, ...redirected].filter((host) => !hostOk(host))).toEqual([]);
      for (const { names: hosts } of askedCertificates(ingresses))
        expect(hosts.filter((host) => !hostOk(host))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test("the order in which manifests and replicas come does not matter", () => {
  fc.assert(
    fc.property(manifests(wild), endpoints, (ingresses, running) => {
      const backwards = inputOf(ingresses.toReversed(), running.toReversed());
      expect(sitesOf(backwards)).toEqual(sitesOf(inputOf(ingresses, running)));
    }),
  );
});
