import { describe, expect, test } from "bun:test";
import {
  axisSteps,
  bytesText,
  countText,
  durationText,
  many,
  percentText,
  rateText,
  shareText,
} from "../../../../src/ui/text/figures.ts";

describe("figures", () => {
  test.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1 KiB"],
    [1_500_000, "1.4 MiB"],
    [1024 ** 3 - 1, "1 GiB"],
    [3 * 1024 ** 5, "3 PiB"],
  ])("%d bytes", (bytes, text) => expect(bytesText(bytes)).toBe(text));

  test.each([
    [9_999, "9999"],
    [12_431, "12.4k"],
    [999_949, "999.9k"],
    [3_120_000, "3.1M"],
  ])("a count of %d", (count, text) => expect(countText(count)).toBe(text));

  test.each([
    [0, "0/s"],
    [0.01, "<0.1/s"],
    [0.5, "0.5/s"],
    [240.4, "240/s"],
  ])("a rate of %d", (rate, text) => expect(rateText(rate)).toBe(text));

  test.each([
    [12, "12 ms"],
    [2_400, "2.4 s"],
    [45_000, "45 s"],
    [200_000, "3 min 20 s"],
    [7_500_000, "2 h 5 min"],
    [360_000_000, "4 d 4 h"],
    [3_600_000, "1 h"],
  ])("%d ms", (ms, text) => expect(durationText(ms)).toBe(text));

  test("a share that is not zero never reads as zero", () => {
    expect(shareText(1, 1_000_000)).toBe("<0.1 %");
    expect(shareText(0, 12)).toBe("0 %");
    expect(shareText(1, 0)).toBe("0 %");
    expect(percentText(99.96)).toBe("100 %");
  });

  test("one and many", () => {
    expect(many(1, "replica")).toBe("1 replica");
    expect(many(3, "replica")).toBe("3 replicas");
    expect(many(2, "is", "are")).toBe("2 are");
  });

  test("marks of an axis are round figures", () => {
    expect(axisSteps(bytesText)).toContain(512 * 1024);
    expect(axisSteps(bytesText)).not.toContain(500_000);
    expect(axisSteps(rateText)).toContain(0.2);
    expect(axisSteps(rateText)).not.toContain(0.25);
  });
});
