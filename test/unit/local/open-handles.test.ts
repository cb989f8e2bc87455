import { expect, test } from "bun:test";
import { systemClock } from "../../../src/base/words/clock.ts";
import { isBeingOpened, openHandles } from "../../../src/local/open-handles.ts";

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

test.each([
  ["socket 21: tcp 5: 0200007F:C350 0A00007F:1628 02 00000001:00000000 01:00000064 00000000 0 0 81 2", true],
  ["socket 21: tcp6 5: 00:C350 01:1628 02 00000001:00000000 01:00000064 00000000 0 0 81 2", true],
  ["socket 21: tcp 5: 0200007F:C350 0A00007F:1628 01 00000000:00000000 00:00000000 00000000 0 0 81 2", false],
  ["child 02: sleep 1", false],
])("that %s is a connection being opened: %p", (handle, expected) => expect(isBeingOpened(handle)).toBe(expected));
