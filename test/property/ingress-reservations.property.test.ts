import { expect, test } from "bun:test";
import fc from "fast-check";
import { duplicateReservations } from "../../src/orchestration/core/reservations.ts";

interface Ingress {
  hosts: string[];
  paths: string[];
  redirects: string[];
}

const hosts = ["a.test", "*.a.test", "b.a.test", "*.b.a.test", "c.b.a.test"];
const paths = ["/", "/api", "/api/v1", "/apis"];
const requests = ["a.test", "b.a.test", "c.b.a.test", "d.a.test", "d.b.a.test"].flatMap((host) =>
  ["/", "/api", "/api/v1/x", "/apis"].map((path) => ({ host, path })),
);

/** Hosts are served or redirected, as validation has it. */
const ingress: fc.Arbitrary<Ingress> = fc
  .record({
    hosts: fc.uniqueArray(fc.constantFrom(...hosts), { minLength: 1, maxLength: 3 }),
    paths: fc.uniqueArray(fc.constantFrom(...paths), { minLength: 1, maxLength: 3 }),
    redirects: fc.uniqueArray(fc.constantFrom("a.test", "b.a.test"), { maxLength: 2 }),
  })
  .map((one) => ({ ...one, redirects: one.redirects.filter((host) => !one.hosts.includes(host)) }));

/** Every way in which an ingress matches a request: how specific the host is, and the path; a redirect has any path. */
function matches({ hosts: own, paths: prefixes, redirects }: Ingress, request: { host: string; path: string }) {
  const isUnder = (prefix: string) => prefix === "/" || `${request.path}/`.startsWith(`${prefix}/`);
  const fits = (host: string) =>
    host === request.host || (host.startsWith("*.") && request.host.endsWith(host.slice(1)));
  const rank = (host: string) => (host.startsWith("*.") ? host.length - 1 : 1_000);
  return [
    ...own.filter(fits).flatMap((host) => prefixes.filter(isUnder).map((path) => ({ rank: rank(host), path }))),
    ...redirects.filter(fits).map((host) => ({ rank: rank(host), path: undefined })),
  ];
}

function meets(a: Ingress, b: Ingress): boolean {
  return requests.some((request) => {
    const others = matches(b, request);
    return matches(a, request).some((mine) =>
      others.some(
        ({ rank, path }) => rank === mine.rank && (path === undefined || mine.path === undefined || path === mine.path),
      ),
    );
  });
}

const draft = (name: string, { hosts: own, paths: prefixes, redirects }: Ingress) => ({
  kind: "ingress" as const,
  scope: "shop",
  name,
  spec: {
    hosts: own,
    locations: prefixes.map((path) => ({ path })),
    redirects: redirects.map((from) => ({ from, to: "z.test" })),
  },
});

test("two ingresses collide exactly when some request matches both of them equally well", () => {
  fc.assert(
    fc.property(ingress, ingress, (a, b) => {
      const clashes = duplicateReservations([draft("a", a), draft("b", b)]);
      expect(clashes.length > 0).toBe(meets(a, b));
    }),
    { numRuns: 2_000 },
  );
});
