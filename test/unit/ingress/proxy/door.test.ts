import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Door, type DoorOptions, openDoor } from "../../../../src/ingress/proxy/door.ts";
import { systemClock } from "../../../../src/base/words/clock.ts";
import { silentLog } from "../../../support/silent-log.ts";

let folder: string;
let open: Door[];
let asked: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "door."));
  [open, asked] = [[], []];
});
afterEach(() => {
  for (const door of open) door.close();
  rmSync(folder, { recursive: true, force: true });
});

async function door(more: Partial<DoorOptions> = {}): Promise<Door> {
  const made = await openDoor({
    portFile: join(folder, "door.port"),
    async answer(name, client) {
      asked.push(`${name} from ${client}`);
      return name.startsWith("yes.");
    },
    waitMs: 60_000,
    connectionsMax: 2,
    clock: systemClock,
    log: silentLog,
    retryMs: 10,
    ...more,
  });
  open.push(made);
  return made;
}

/** Sends the parts one after the other; resolves with the answer once the door closes. */
function say({ address }: Door, ...parts: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(address.split(":")[1]), "127.0.0.1");
    let answer = "";
    socket.on("data", (data) => {
      answer += data.toString();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(answer));
    socket.on("connect", () => {
      for (const part of parts) socket.write(part);
    });
  });
}

test("a question is one line, whose answer is yes or no", async () => {
  const made = await door();
  expect(await say(made, `${made.word} yes.test`, " 192.0.2.1\n")).toBe("yes\n");
  expect(await say(made, `${made.word} other.test 192.0.2.2\n`)).toBe("no\n");
  expect(asked).toEqual(["yes.test from 192.0.2.1", "other.test from 192.0.2.2"]);
});

test("without the word nothing is asked, and a line without an end is cut off", async () => {
  const made = await door();
  expect(await say(made, "word yes.test 192.0.2.1\n")).toBe("no\n");
  expect(await say(made, "x".repeat(1_000))).toBe("");
  expect(asked).toEqual([]);
});

test("an answer that takes too long, or fails, is no", async () => {
  const made = await door({
    waitMs: 20,
    answer: (_name, _client, signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(false))),
  });
  expect(await say(made, `${made.word} yes.test 192.0.2.1\n`)).toBe("no\n");
  const broken = await door({ answer: () => Promise.reject(new Error("broken")) });
  expect(await say(broken, `${broken.word} yes.test 192.0.2.1\n`)).toBe("no\n");
});

test("a connection that asks nothing is ended, and its place is free again", async () => {
  const made = await door({ waitMs: 20, connectionsMax: 1 });
  await expect(say(made, "half of a line")).rejects.toThrow("ECONNRESET");
  expect(await say(made, `${made.word} yes.test 192.0.2.1\n`)).toBe("yes\n");
});

test("only so many questions wait at one time", async () => {
  const waiting: ((isYes: boolean) => void)[] = [];
  const full = Promise.withResolvers<void>();
  const made = await door({
    answer: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 2) full.resolve();
      }),
  });
  const line = `${made.word} yes.test 192.0.2.1\n`;
  const first = [say(made, line), say(made, line)];
  await full.promise;
  expect(await say(made, line)).toBe("");
  for (const answer of waiting) answer(true);
  expect(await Promise.all(first)).toEqual(["yes\n", "yes\n"]);
});

test("the next server has the same port and word, which only the owner can read", async () => {
  const before = await door();
  before.close();
  expect(await door()).toMatchObject({ address: before.address, word: before.word });
  expect(statSync(join(folder, "door.port")).mode & 0o777).toBe(0o600);
});
