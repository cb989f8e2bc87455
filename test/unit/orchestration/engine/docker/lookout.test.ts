import { expect, test } from "bun:test";
import { createLookout } from "../../../../../src/orchestration/engine/docker/lookout.ts";

/** How often a log that grows by so many bytes at each look is looked at within a while. */
async function looksAt(bytes: number): Promise<number> {
  let looks = 0;
  const hold = () => {
    looks += 1;
    return { isReadable: false, grown: bytes };
  };
  const lookout = createLookout("/dev/null", { hold });
  await Bun.sleep(400);
  lookout.close();
  return looks;
}

test("a log that is written slowly is looked at more rarely than a fast one, and a silent one hardly at all", async () => {
  const [fast, slow, silent] = await Promise.all([looksAt(Number.POSITIVE_INFINITY), looksAt(100), looksAt(0)]);
  expect(fast).toBeGreaterThan(3 * slow);
  expect(slow).toBeGreaterThan(silent);
  expect(silent).toBeLessThan(15);
});
