import { expect, test } from "bun:test";
import { systemClock } from "../../../src/base/words/clock.ts";
import { openHandles } from "../../../src/local/open-handles.ts";

test("sleeps, child processes and sockets that are open are named", async () => {
  const over = new AbortController();
  const sleep = systemClock.sleep(61_234, over.signal);
  const child = Bun.spawn(["sleep", "60"]);
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  try {
    const found = openHandles().join("\n");
    expect(found).toContain("sleep of 61234 ms");
    expect(found).toContain(`child ${child.pid}: sleep 60`);
    const port = listener.port.toString(16).toUpperCase().padStart(4, "0");
    expect(found).toMatch(new RegExp(`socket \\d+: tcp \\d+: 0100007F:${port} `));
  } finally {
    over.abort();
    await sleep;
    child.kill();
    await child.exited;
    listener.stop();
  }
  expect(openHandles().join("\n")).not.toContain("sleep of 61234");
});
