import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { createDockerEngine } from "../../src/orchestration/engine/docker/docker.ts";
import type { Engine } from "../../src/orchestration/engine/engine.ts";
import type { LogOptions } from "../../src/orchestration/engine/session.ts";
import { fixtureImage, requireDocker, type Scratch, scratch } from "../support/docker.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";

/** Logs whose files Docker changes while they are read. */
let place: Scratch;
let runtime: Engine;
const fallbacks: string[] = [];
const all: LogOptions = { follow: false, tail: undefined, since: undefined, timestamps: false };
const never = () => new AbortController().signal;

beforeAll(() => {
  place = scratch();
  const { names, installationId } = place;
  const onLogFallback = (why: string) => fallbacks.push(why);
  runtime = createDockerEngine({ host: requireDocker(), installationId, names, onLogFallback });
});
afterEach(() => place.cleanUp());
afterAll(() => runtime.close());

type LogConfig = { Type: string; Config: Record<string, string> };
const files = (size: string, count: number, more = {}): LogConfig => ({
  Type: "json-file",
  Config: { "max-size": size, "max-file": String(count), ...more },
});

async function create(name: string, script: string, log: LogConfig): Promise<string> {
  const container = await place.docker.createContainer({
    name: place.unique(name),
    Image: fixtureImage,
    Cmd: ["sh", "-c", script],
    Labels: { [place.names.label.installation]: place.installationId },
    HostConfig: { NetworkMode: "none", LogConfig: log },
  });
  return container.id;
}

const read = async (id: string, change: Partial<LogOptions> = {}) =>
  Buffer.concat(await Array.fromAsync(runtime.logs(podRef(id), { ...all, ...change }, never()))).toString();
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `${from + at}\n`).join("");
const touch = async (id: string, path: string) => {
  const session = await runtime.exec(podRef(id), { command: ["touch", path], env: [], tty: false, interactive: false });
  for await (const _part of session.output);
};
/** Begins when it is told to, so that every follower is there. */
const whenTold = (script: string) => `while [ ! -e /go ]; do sleep 0.05; done; ${script}`;
const isMissing = (line: string) => line.startsWith("[stream error] lines");

test("several clients follow 40,000 lines across rotations, and get each line once and in order", async () => {
  // At the pace of a busy app, and with files that hold all of it: a reader on a busy machine waits long for its turns.
  const script = "i=0; while [ $i -lt 40 ]; do seq $((i*1000+1)) $((i*1000+1000)); i=$((i+1)); sleep 0.05; done";
  const id = await create("flood", whenTold(script), files("500k", 8));
  await runtime.start(podRef(id));
  const followers = Array.from({ length: 4 }, () => read(id, { follow: true }));
  await touch(id, "/go");
  for (const text of await Promise.all(followers)) expect(text === numbers(1, 40_000)).toBe(true);
  expect(fallbacks).toEqual([]);
}, 60_000);

test("at full speed with files of 10 kB no line comes twice, and where lines are gone the place is named", async () => {
  const id = await create("small", whenTold("seq 1 40000"), files("10k", 3));
  await runtime.start(podRef(id));
  const followers = Array.from({ length: 3 }, () => read(id, { follow: true }));
  await touch(id, "/go");
  for (const text of await Promise.all(followers)) {
    let last = 0;
    let isNoted = false;
    for (const line of text.trimEnd().split("\n")) {
      if (!isMissing(line)) {
        const number = Number(line);
        if (!(number > last && (number === last + 1 || isNoted))) throw new Error(`${number} follows ${last}`);
        last = number;
      }
      isNoted = isMissing(line);
    }
    expect(last).toBe(40_000);
  }
}, 60_000);

test("a client that stalls gets what Docker has deleted meanwhile", async () => {
  const script =
    "i=0; while [ $i -lt 30 ]; do seq $((i*1000+1)) $((i*1000+1000)); i=$((i+1)); sleep 0.05; done; echo end";
  const id = await create("stalled", script, files("200k", 2));
  await runtime.start(podRef(id));
  let text = "";
  for await (const bytes of runtime.logs(podRef(id), { ...all, follow: true }, never())) {
    if (text === "") await runtime.wait(podRef(id), never());
    text += Buffer.from(bytes).toString();
  }
  expect(text === `${numbers(1, 30_000)}end\n`).toBe(true);
}, 60_000);

test("compressed files are part of the log, and its last lines are counted through them", async () => {
  const script = "i=0; while [ $i -lt 8 ]; do seq $((i*1000+1)) $((i*1000+1000)); i=$((i+1)); sleep 0.3; done";
  const id = await create("packed", script, files("200k", 5, { compress: "true" }));
  await runtime.start(podRef(id));
  const followed = read(id, { follow: true });
  await runtime.wait(podRef(id), never());
  expect((await followed) === numbers(1, 8_000)).toBe(true);
  expect((await read(id)) === numbers(1, 8_000)).toBe(true);
  expect((await read(id, { tail: 5_000 })) === numbers(3_001, 8_000)).toBe(true);
}, 60_000);

test("a container that is removed while it is followed ends the log with its last line", async () => {
  const id = await create("removed", "seq 1 3000; sleep 300", files("50k", 2));
  await runtime.start(podRef(id));
  const stream = runtime.logs(podRef(id), { ...all, follow: true }, never());
  let text = "";
  for await (const bytes of stream) {
    text += Buffer.from(bytes).toString();
    if (text.endsWith("3000\n")) await runtime.remove(podRef(id));
  }
  expect(text).toEndWith("2999\n3000\n");
}, 60_000);

test("another log driver is read through Docker, which is told once", async () => {
  const id = await create("local", "seq 1 100", { Type: "local", Config: {} });
  await runtime.start(podRef(id));
  await runtime.wait(podRef(id), never());
  expect(await read(id)).toBe(numbers(1, 100));
  expect(await read(id, { follow: true })).toBe(numbers(1, 100));
  expect(fallbacks).toEqual([expect.stringContaining("log driver")]);
});
