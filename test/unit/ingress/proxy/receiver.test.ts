import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openReceiver, type Receiver } from "../../../../src/ingress/proxy/receiver.ts";
import { systemClock } from "../../../../src/base/words/clock.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { waitFor } from "../../../support/wait.ts";

let folder: string;
let lines: string[];
let open: Receiver[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "receiver."));
  [lines, open] = [[], []];
});
afterEach(() => {
  for (const receiver of open) receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

async function receiver(linesPerSecondMax = 1_000, onLine = (line: string) => void lines.push(line)) {
  const clock = { ...systemClock, steady: () => 0 };
  const made = await openReceiver({
    portFile: join(folder, "port"),
    linesPerSecondMax,
    onLine,
    clock,
    log: silentLog,
    retryMs: 10,
  });
  open.push(made);
  return made;
}

async function send({ address, word }: Pick<Receiver, "address" | "word">, ...texts: string[]): Promise<void> {
  const socket = await Bun.udpSocket({});
  const port = Number(address.split(":")[1]);
  for (const text of texts) socket.send(`${word} ${text}`, port, "127.0.0.1");
  await Bun.sleep(1);
  socket.close();
}

test("each datagram is one line", async () => {
  const made = await receiver();
  await send(made, "a b\n", "c");
  await waitFor("two lines", () => lines.length === 2);
  expect([lines.toSorted(), made.dropped()]).toEqual([["a b\n", "c"], 0]);
});

test("the next server listens at the same port, and at another one when it is taken", async () => {
  const { address, word, close } = await receiver();
  close();
  open = [];
  expect(await receiver()).toMatchObject({ address, word });
  expect((await receiver()).address).not.toBe(address);
  writeFileSync(join(folder, "port"), "no port");
  expect((await receiver()).address).toMatch(/^127\.0\.0\.1:\d+$/);
});

test("lines of other programs neither count nor take the place of the proxy's", async () => {
  const made = await receiver(2);
  await send({ ...made, word: "word" }, ...Array.from({ length: 50 }, (_, index) => `forged ${index}`));
  await send({ ...made, word: "" }, made.word);
  await send(made, "own");
  await waitFor("the own one", () => lines.length > 0);
  expect([lines, made.dropped()]).toEqual([["own"], 0]);
  expect(statSync(join(folder, "port")).mode & 0o077).toBe(0);
});

test("lines beyond the rate are dropped and counted", async () => {
  const made = await receiver(2);
  await send(made, "1", "2", "3", "4", "5");
  await waitFor("the drops", () => made.dropped() === 3);
  expect(lines).toHaveLength(2);
});

test("a line that cannot be counted ends nothing", async () => {
  const made = await receiver(1_000, (line) => {
    if (line === "bad") throw new Error("no");
    lines.push(line);
  });
  await send(made, "bad");
  await send(made, "good");
  await waitFor("the good one", () => lines.includes("good"));
});
