import { expect, test } from "bun:test";
import fc from "fast-check";
import { namedCgroups } from "../../src/orchestration/engine/docker/cgroup.ts";
import { createDemuxer } from "../../src/orchestration/engine/docker/demux.ts";
import { parseStat, treeOf } from "../../src/orchestration/engine/docker/process-tree.ts";

const frames = fc.array(fc.record({ stream: fc.constantFrom(1, 2), bytes: fc.uint8Array({ maxLength: 40 }) }), {
  maxLength: 12,
});

const wire = (rows: { stream: number; bytes: Uint8Array }[]) =>
  Buffer.concat(
    rows.flatMap(({ stream, bytes }) => {
      const head = Buffer.alloc(8);
      head[0] = stream;
      head.writeUInt32BE(bytes.length, 4);
      return [head, bytes];
    }),
  );

/** Which stream each byte is of. */
const labelled = (parts: { stream: string; bytes: Uint8Array }[]) =>
  parts.flatMap(({ stream, bytes }) => Array.from(bytes, (byte) => `${stream} ${byte}`));

test("framed output comes apart the same however it is cut, and nothing is held back", () => {
  fc.assert(
    fc.property(frames, fc.array(fc.nat(600)), (rows, cuts) => {
      const bytes = wire(rows);
      const edges = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
      const demux = createDemuxer();
      const parts = edges.slice(1).flatMap((end, index) => demux(bytes.subarray(edges[index], end)));
      const sent = rows.map((row) => ({ stream: row.stream === 2 ? "stderr" : "stdout", bytes: row.bytes }));
      expect(labelled(parts)).toEqual(labelled(sent));
    }),
  );
});

test("no line of the kernel's is taken for a process that it is not", () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(99_999), fc.nat(99_999), (name, pid, parent) => {
      const line = `${pid} (${name}) S ${parent} 3 ${pid} 0 -1 1 0 0 0 0 0 0 0 0 20 0 1 0 777 1 1`;
      expect(parseStat(line)).toEqual({ pid, parent, session: pid, startedAt: 777 });
    }),
  );
});

const process = fc.record({ pid: fc.nat(12), parent: fc.nat(12), session: fc.nat(12), startedAt: fc.nat(2) });
const processes = fc.uniqueArray(process, { selector: ({ pid }) => pid, maxLength: 12 });

test("a tree holds its living roots, and each other member hangs on one that is in it", () => {
  fc.assert(
    fc.property(processes, fc.array(process, { maxLength: 3 }), (listed, roots) => {
      const tree = treeOf(listed, roots);
      const pids = new Set(tree.map(({ pid }) => pid));
      const isRoot = (one: (typeof roots)[number]) =>
        roots.some(({ pid, startedAt }) => pid === one.pid && startedAt === one.startedAt);
      for (const one of tree) expect(isRoot(one) || pids.has(one.parent) || pids.has(one.session)).toBe(true);
      for (const one of listed) if (pids.has(one.parent) || pids.has(one.session)) expect(pids.has(one.pid)).toBe(true);
      if (!listed.some(isRoot)) expect(tree).toEqual([]);
    }),
  );
});

test("no text names a cgroup that is not the container's", () => {
  const row = fc.tuple(fc.nat(20), fc.constantFrom("", "cpuacct", "memory", "pids,x"), fc.constantFrom("/a/ID", "/b"));
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          row.map((parts) => parts.join(":")),
          fc.string(),
        ),
      ),
      (rows) => {
        for (const { cpu } of namedCgroups("/root", rows.join("\n"), "ID")) expect(cpu).toContain("ID");
      },
    ),
  );
});
