import { expect, test } from "bun:test";
import { loadPart } from "../../../../src/ui/browser/part.ts";

test("a part of the page that was cut off is loaded once more, and one that is gone fails", async () => {
  const failing = (times: number) => {
    let calls = 0;
    const load = async () => {
      calls += 1;
      if (calls <= times) throw new Error(`cut off ${calls}`);
      return calls;
    };
    return loadPart(load, 0);
  };
  expect(await failing(0)).toBe(1);
  expect(await failing(1)).toBe(2);
  await expect(failing(2)).rejects.toThrow("cut off 2");
});
