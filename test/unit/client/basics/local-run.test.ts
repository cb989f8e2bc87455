import { expect, test } from "bun:test";
import { createRunLocal } from "../../../../src/client/basics/local-run.ts";

const runLocal = createRunLocal({ PATH: process.env.PATH });

test("answers with the exit code, and with 127 where the program is not there", async () => {
  expect(await runLocal({ argv: ["sh", "-c", "exit 7"], env: {} })).toBe(7);
  expect(await runLocal({ argv: ["/no/such/program"], env: {} })).toBe(127);
});

test("a request to end goes to the program, and no longer once it has ended", async () => {
  const heard: string[] = [];
  const own = () => void heard.push("ours");
  process.on("SIGTERM", own);
  try {
    const running = runLocal({ argv: ["sleep", "600"], env: {} });
    process.kill(process.pid, "SIGTERM");
    expect(await running).toBe(143);
    expect([heard, process.listeners("SIGTERM")]).toEqual([[], [own]]);
  } finally {
    process.off("SIGTERM", own);
  }
});
