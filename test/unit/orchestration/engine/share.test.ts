import { expect, test } from "bun:test";
import { createShare } from "../../../../src/orchestration/engine/share.ts";

test("callers of one key share the work, of another key they do not, and nothing is kept", async () => {
  const share = createShare<number>();
  let runs = 0;
  const gate = Promise.withResolvers<void>();
  const work = async () => {
    runs += 1;
    await gate.promise;
    return runs;
  };
  const same = [share("a", work), share("a", work)];
  const other = share("b", work);
  expect(runs).toBe(2);
  gate.resolve();
  expect(await Promise.all([...same, other])).toEqual([2, 2, 2]);
  await share("a", work);
  expect(runs).toBe(3);
});

test("a failure goes to all who waited, and the next try starts anew", async () => {
  const share = createShare<string>();
  const failing = () => Promise.reject(new Error("no"));
  const outcomes = await Promise.allSettled([share("a", failing), share("a", failing)]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await share("a", async () => "yes")).toBe("yes");
});
