import { expect, test } from "bun:test";
import { createChallengeDoor } from "../../../../src/ingress/certs/challenge-door.ts";

test("answers go to the proxy that is connected; without one it is said in words", async () => {
  const door = createChallengeDoor();
  await expect(door.set("t", "text")).rejects.toThrow("proxy: it does not run");
  await door.clear("t");
  const answers = new Map<string, string>();
  door.connect({
    set: async (token, text) => void answers.set(token, text),
    clear: async (token) => void answers.delete(token),
  });
  await door.set("t", "text");
  expect([...answers]).toEqual([["t", "text"]]);
  await door.clear("t");
  expect(answers.size).toBe(0);
  door.connect(undefined);
  await expect(door.set("t", "text")).rejects.toThrow("proxy: it does not run");
});
