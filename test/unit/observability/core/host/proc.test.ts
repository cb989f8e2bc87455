import { describe, expect, test } from "bun:test";
import {
  cpuTicks,
  diskBytes,
  diskMounts,
  loadAverages,
  memoryBytes,
  networkBytes,
  pressurePercent,
  uptimeSeconds,
} from "../../../../../src/observability/core/host/proc.ts";
import { cpuPercent } from "../../../../../src/observability/core/host/reading.ts";

describe("the files of the kernel", () => {
  test("ticks of all cores: guests are part of user time and count once", () => {
    const ticks = cpuTicks("cpu  100 10 50 800 20 5 5 10 40 0\ncpu0 1 2 3 4\nintr 5\n");
    expect(ticks).toEqual({ total: 1000, idle: 820, ioWait: 20, steal: 10 });
    expect(cpuTicks("")).toBeUndefined();
  });

  test("CPU in percent is the busy share of what passed between two readings", () => {
    const before = { total: 1000, idle: 800, ioWait: 0, steal: 0 };
    expect(cpuPercent(before, { total: 1200, idle: 850, ioWait: 0, steal: 0 })).toBe(75);
    expect(cpuPercent(before, before)).toBeUndefined();
    expect(cpuPercent(undefined, before)).toBeUndefined();
    // Counters of a machine that was suspended can go back a little.
    expect(cpuPercent(before, { total: 1100, idle: 950, ioWait: 0, steal: 0 })).toBe(0);
  });

  test("memory in bytes, with what can still be taken", () => {
    const text = "MemTotal:  2048 kB\nMemFree: 1 kB\nMemAvailable:  1024 kB\nSwapTotal: 100 kB\nSwapFree: 40 kB\n";
    expect(memoryBytes(text)).toEqual({
      total: 2048 * 1024,
      available: 1024 * 1024,
      swapTotal: 100 * 1024,
      swapUsed: 60 * 1024,
    });
    expect(memoryBytes("")).toEqual({ total: 0, available: 0, swapTotal: 0, swapUsed: 0 });
  });

  test("load, uptime and pressure", () => {
    expect(loadAverages("0.50 1.25 2.00 3/400 12345\n")).toEqual([0.5, 1.25, 2]);
    expect(loadAverages("")).toEqual([0, 0, 0]);
    expect(uptimeSeconds("123.99 456.00\n")).toBe(123);
    expect(pressurePercent("some avg10=12.34 avg60=1.00 avg300=0.00 total=5\nfull avg10=9.00\n")).toBe(12.34);
    expect(pressurePercent("")).toBeUndefined();
  });

  test("mounts: each disk once, at its shortest path, and the root whatever it is", () => {
    const lines = [
      "1 0 0:30 / / rw - overlay overlay rw",
      "2 1 8:1 / /data rw shared:1 - ext4 /dev/sda1 rw",
      "3 1 8:1 /sub /data/bind rw - ext4 /dev/sda1 rw",
      "4 1 8:2 / /my\\040disk rw - xfs /dev/sda2 rw",
      "5 1 0:5 / /proc rw - proc proc rw",
      "6 1 0:6 / /run rw - tmpfs tmpfs rw",
    ];
    expect(diskMounts(lines.join("\n"))).toEqual(["/", "/data", "/my disk"]);
  });

  test("network: without loopback and what Docker makes for containers", () => {
    const text = [
      "Inter-|   Receive  |  Transmit",
      " face |bytes packets errs drop fifo frame compressed multicast|bytes packets",
      "    lo: 999 1 0 0 0 0 0 0 999 1 0 0 0 0 0 0",
      "  eth0: 100 1 0 0 0 0 0 0 50 1 0 0 0 0 0 0",
      "wlan0:7 1 0 0 0 0 0 0 3 1 0 0 0 0 0 0",
      "veth12ab: 100 1 0 0 0 0 0 0 50 1 0 0 0 0 0 0",
      "br-0123: 100 1 0 0 0 0 0 0 50 1 0 0 0 0 0 0",
    ].join("\n");
    expect(networkBytes(text)).toEqual({ receivedBytes: 107, sentBytes: 53 });
  });

  test("disks: whole ones, in sectors of 512 bytes", () => {
    const text = [
      "   8       0 sda 10 0 100 5 20 0 200 5 0 5 10",
      "   8       1 sda1 10 0 100 5 20 0 200 5 0 5 10",
      " 259       0 nvme0n1 1 0 2 0 1 0 4 0 0 0 0",
      " 259       1 nvme0n1p1 1 0 2 0 1 0 4 0 0 0 0",
      "   7       0 loop0 1 0 2 0 1 0 4 0 0 0 0",
    ].join("\n");
    expect(diskBytes(text)).toEqual({ readBytes: 102 * 512, writtenBytes: 204 * 512 });
  });
});
