import { expect, test } from "bun:test";
import { isAlive, waitFor } from "../../support/wait.ts";

test("returns the first value that is neither undefined nor false", async () => {
  const answers = [undefined, false as const, 0];
  expect(await waitFor("zero", () => answers.shift())).toBe(0);
});

test("a probe that throws is asked again", async () => {
  let asked = 0;
  const probe = () => {
    if (++asked < 3) throw new Error("not yet");
    return asked;
  };
  expect(await waitFor("three", probe)).toBe(3);
});

test("gives up with what it waited for, and the last error as the cause", async () => {
  const probe = () => {
    throw new Error("still down");
  };
  const failure = await waitFor("the moon", probe, 0).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  expect(String(failure)).toContain("the moon");
  expect((failure as Error).cause).toEqual(new Error("still down"));
});

test("one that ended, but whose parent has not asked for it, is dead", async () => {
  // The shell becomes a program that never asks for the child it had.
  const parent = Bun.spawn(["sh", "-c", "sleep 0.3 & echo $!; exec sleep 60"], { stdout: "pipe" });
  const { value } = await parent.stdout.getReader().read();
  const child = Number(new TextDecoder().decode(value));
  await waitFor("the child to end", () => !isAlive(child));
  expect(() => process.kill(child, 0)).not.toThrow();
  parent.kill();
  await parent.exited;
});

test("knows the living from the dead", async () => {
  expect(isAlive(process.pid)).toBe(true);
  const child = Bun.spawn(["true"]);
  await child.exited;
  expect(isAlive(child.pid)).toBe(false);
});
