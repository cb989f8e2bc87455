import { describe, expect, test } from "bun:test";
import { formatCpu, formatMemory, parseCpu, parseMemory } from "../../../../src/base/pure/quantity.ts";

describe("CPU", () => {
  test.each([
    ["500m", 5e8],
    ["1", 1e9],
    ["1.5", 15e8],
    ["0.000000001", 1],
    ["10m", 1e7],
  ])("%s", (text, nano) => {
    expect(parseCpu(text)).toBe(nano);
  });
  test.each(["", "0", "0m", "-1", "1,5", "1k", "m", "1e3", "0x10", " 1", "1 ", ".5", "5.", "99999999999", "NaN"])(
    "%j is none",
    (text) => {
      expect(parseCpu(text)).toBeUndefined();
    },
  );
  test("prints as a decimal count", () => {
    expect(formatCpu(5e8)).toBe("0.5");
    expect(formatCpu(2e9)).toBe("2");
    expect(formatCpu(1)).toBe("0.000000001");
  });
});

describe("memory", () => {
  test.each([
    ["1048576", 1048576],
    ["512Mi", 512 * 1024 ** 2],
    ["1.5Gi", 1.5 * 1024 ** 3],
    ["1K", 1000],
    ["1Ki", 1024],
    ["2G", 2e9],
    ["1Ti", 1024 ** 4],
  ])("%s", (text, bytes) => {
    expect(parseMemory(text)).toBe(bytes);
  });
  test.each(["", "0", "0Mi", "-5", "5m", "5MB", "5 Mi", "Mi", "1e9", "9999999999999999Ti", "5mi"])(
    "%j is none",
    (text) => {
      expect(parseMemory(text)).toBeUndefined();
    },
  );
  test("prints with the largest binary unit that divides evenly", () => {
    expect(formatMemory(512 * 1024 ** 2)).toBe("512Mi");
    expect(formatMemory(1536 * 1024 ** 2)).toBe("1536Mi");
    expect(formatMemory(1000)).toBe("1000");
  });
});
