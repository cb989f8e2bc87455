import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Change, Running } from "../../src/ingress/core/change.ts";
import { allChanges, changes } from "../../src/ingress/core/changes.ts";
import type { Site, Table, TcpSite, Upstream } from "../../src/ingress/core/table.ts";
import { replicaChanges } from "../../src/ingress/core/replica-changes.ts";
import { proxySetup } from "../support/haproxy.ts";
import { site, table, tcpSite, upstream } from "../support/ingress-table.ts";

const setup = proxySetup("/run/x", { spareBackends: 2 });

const replica: fc.Arbitrary<Upstream> = fc
  .record({ port: fc.integer({ min: 3_000, max: 3_005 }), isLeaving: fc.boolean(), weight: fc.constantFrom(5, 100) })
  .map(({ port, ...rest }) => upstream(port, rest));
const replicas = fc.array(replica, { maxLength: 4 });

/** Sites of every kind: common ones, one with options of its own, one on a port of its own. */
const kinds: ((upstreams: Upstream[]) => Site | TcpSite)[] = [
  (upstreams) => site("a", upstreams),
  (upstreams) => site("b", upstreams),
  (upstreams) => site("own", upstreams, { options: { compress: true, limits: limited } }),
  (upstreams) => tcpSite("db", ":6380", { upstreams }),
];
const limited = { bodyBytes: 10, responseMs: 300_000, tunnelMs: 86_400_000, connectionsPerReplica: 7 };

/** Each step gives new replicas to some sites; the others stay the very same objects. */
const step = fc.tuple(...kinds.map(() => fc.option(replicas)));

function next(before: Table, lists: readonly (Upstream[] | null)[]): Table {
  const all = [...before.sites, ...before.tcp].map((one, index) => {
    const list = lists[index];
    return list === null || list === undefined ? one : (kinds[index]?.(list) ?? one);
  });
  const tcp = all.flatMap((one) => ("options" in one ? [] : [one]));
  return { ...before, sites: all.flatMap((one) => ("options" in one ? [one] : [])), tcp };
}

const shown = ({ assignment, files, replaced: _, ...rest }: Change) => ({
  ...rest,
  assignment: { ...assignment, used: [...assignment.used].sort() },
  files: files.map(({ path, content }) => [path, content]),
});

test("a change of replicas alone is what the comparison of everything finds", () =>
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
      let before = next(
        table([site("a", []), site("b", []), site("own", [])], { http: ":80", tcp: [tcpSite("db", ":6380")] }),
        kinds.map(() => [upstream(3_000)]),
      );
      let running: Running = { table: before, assignment: changes(undefined, before, setup).assignment };
      for (const lists of steps) {
        const after = next(before, lists);
        const quick = replicaChanges(running, after, setup);
        expect(quick).toBeDefined();
        if (quick === undefined) return;
        expect(shown(quick)).toEqual(shown(allChanges(running, after, setup)));
        running = { table: after, assignment: quick.assignment };
        before = after;
      }
    }),
  ));

test("any other change is compared as a whole", () => {
  const first = table([site("a", [upstream(3_000)])], { http: ":80" });
  const running = { table: first, assignment: changes(undefined, first, setup).assignment };
  const others: Table[] = [
    { ...first, challenges: [{ token: "t", keyAuthorization: "k" }] },
    { ...first, sites: [...first.sites, site("b", [])] },
    { ...first, sites: [site("a", [upstream(3_000)], { options: { isInMaintenance: true } })] },
    { ...first, sites: [site("a", [upstream(3_001, { address: "not an address" })])] },
    { ...first, listen: { ...first.listen, http: [":81"] } },
    { ...first, onDemand: true },
  ];
  for (const other of others) expect(replicaChanges(running, other, setup)).toBeUndefined();
  // A server that has just started knows only what is on disk.
  const read = { table: structuredClone(first), assignment: structuredClone(running.assignment) };
  expect(replicaChanges(read, next(first, [[upstream(3_001)]]), setup)).toBeUndefined();
});
