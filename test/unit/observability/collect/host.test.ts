import { expect, test } from "bun:test";
import { readHost } from "../../../../src/observability/collect/host.ts";

test("this machine tells memory, cores and how full its root is", async () => {
  const { memory, cores, mounts, cpu, uptimeSeconds } = await readHost();
  expect(memory.total).toBeGreaterThan(memory.available);
  expect(cores).toBeGreaterThan(0);
  expect(cpu?.total).toBeGreaterThan(0);
  expect(uptimeSeconds).toBeGreaterThan(0);
  const root = mounts.find(({ mount }) => mount === "/");
  expect(root?.totalBytes).toBeGreaterThan(root?.usedBytes ?? 0);
});

test("a kernel that tells nothing is no error", async () => {
  const { memory, cpu, mounts, pressure } = await readHost("/nothing/here");
  expect([memory.total, cpu, mounts, pressure.cpu]).toEqual([0, undefined, [], undefined]);
});

test("disks that are known are read without the table of mounts", async () => {
  const { mounts } = await readHost("/nothing/here", ["/"]);
  expect(mounts.map(({ mount }) => mount)).toEqual(["/"]);
});
