import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemClock } from "../../../../../src/base/words/clock.ts";
import { packLines } from "../../../../../src/observability/core/logs/packed-lines.ts";
import { createLogsRoom, type LogsRoom } from "../../../../../src/observability/service/logs/create.ts";
import { type LogFiles, logFiles } from "../../../../support/log-world.ts";
import { silentLog } from "../../../../support/silent-log.ts";
import { waitFor } from "../../../../support/wait.ts";

let files: LogFiles;
let room: LogsRoom;
let stop: () => Promise<void>;

beforeEach(() => {
  files = logFiles();
  room = createLogsRoom(files.platform, { clock: systemClock, log: silentLog });
  const stopping = new AbortController();
  const running = room.run(stopping.signal);
  stop = async () => {
    stopping.abort();
    await running;
  };
});
afterEach(async () => {
  await stop();
  files.close();
});

const everyone = { apps: [] };
const found = async (query = {}) => (await room.search(everyone, query)).lines.map(({ text }) => text);

test("a new container is read as soon as it is there, and its lines stay when it is gone", async () => {
  const pod = files.container("shop/web", "a");
  files.write(pod, "hello");
  await waitFor("the line", async () => (await found()).length === 1);
  files.write(pod, "good bye");
  files.remove(pod);
  await waitFor("the last line", async () => (await found()).length === 2);
  await waitFor("the container to be gone", async () => (await room.state()).containers === 0);
});

test("a thread that crashes is started again: no line is lost, none comes twice, and who followed is told", async () => {
  const pod = files.container("shop/web", "a");
  files.write(pod, "one");
  await waitFor("the line", async () => (await found()).length === 1);
  const ended = new Promise((resolve) => room.follow(everyone, {}, { onLines: () => undefined, onEnd: resolve }));
  files.crash();
  expect(String(await ended)).toContain("the logs are being opened again: try again");
  files.write(pod, "two");
  await waitFor("both lines", async () => (await found().catch(() => [])).length === 2);
  expect(await found()).toEqual(["two", "one"]);
});

test("lines that came another way are stored beside those of the pods", async () => {
  const source = { id: "otlp", pod: "otlp", replica: "", release: "", role: "" };
  const line = { at: Date.now(), level: "warn", text: "from outside" } as const;
  await room.ingest({ scope: "shop", name: "web" }, [packLines(source, "stdout", [line])]);
  expect(await found({ level: "warn" })).toEqual(["from outside"]);
  expect((await room.state()).waiting_lines).toBe(0);
});
