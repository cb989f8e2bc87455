import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Failure } from "../../src/base/wire/failure.ts";
import { limits } from "../../src/config/config.ts";
import { createFrameReader, encodeFrame, frameTypes } from "../../src/orchestration/api/exec-frames.ts";
import type { FileStat } from "../../src/orchestration/engine/session.ts";
import type { RawClient } from "../support/raw-client.ts";
import { type Plane, startPlane } from "../support/socket-plane.ts";
import { waitFor } from "../support/wait.ts";

const pod = "s-web.ab1cd";
const folder: FileStat = { kind: "folder", sizeBytes: 4096, mode: 0o755, linkTarget: undefined };
let plane: Plane;

beforeAll(async () => {
  plane = await startPlane({ limits: { ...limits, copiesMax: 1, copyBytesMax: 1_000 } });
  await plane.pod(pod);
  const { runtime } = plane;
  runtime.setFile(pod, "/data", { stat: folder, archive: [Buffer.from("one "), Buffer.from("two")] });
  runtime.setFile(pod, "/link", { stat: { ...folder, kind: "link", linkTarget: "/data" }, archive: [] });
  runtime.setFile(pod, "/broken", { stat: folder, archive: [Buffer.from("one "), new Failure("unavailable", "gone")] });
  runtime.setFile(pod, "/large", { stat: folder, archive: [Buffer.alloc(900), Buffer.alloc(900)] });
});
afterAll(() => plane.close());

const at = (path: string) => `${plane.front.url}/pods/${pod}/${path}`;
const get = (path: string) => fetch(at(path));

describe("stat", () => {
  test("says what is there", async () => {
    const answer = await (await get("files/stat?path=/link")).json();
    expect(answer).toEqual({
      status: "ok",
      data: { path: "/link", kind: "link", size_bytes: 4096, mode: "755", link_target: "/data" },
    });
  });
});

describe("reading", () => {
  test("passes the archive on, and writes it to the log of events", async () => {
    const answer = await get("files?path=/data");
    expect(answer.headers.get("content-type")).toBe("application/octet-stream");
    expect(await answer.text()).toBe("one two");
    await waitFor("the event", () => {
      const { events } = plane.controller.events({ limit: 100 });
      return events.some(({ action, detail }) => action === "pod.files.read" && detail?.path === "/data");
    });
  });

  test.each([["/broken"], ["/large"]])(
    "%s breaks off, so that nothing looks whole, and leaves its place",
    async (path) => {
      const read = async () => (await get(`files?path=${path}`)).text();
      expect(await read().then(String, () => "broken off")).toBe("broken off");
      expect(await (await get("files?path=/data")).text()).toBe("one two");
    },
  );
});

test("a reader that left before the archive was opened holds no place", async () => {
  const options = { actor: "ana", signal: AbortSignal.abort() };
  await plane.controller.readFiles({ name: pod, path: "/data" }, options);
  expect(await (await get("files?path=/data")).text()).toBe("one two");
});

async function open(query = "?path=/data", name = pod): Promise<RawClient> {
  const client = await plane.front.connect();
  await client.send(`POST /pods/${name}/files${query} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`);
  return client;
}

const stdin = (text: string) => encodeFrame(frameTypes.stdin, Buffer.from(text));
const framesOf = (text: string) => {
  const { frames } = createFrameReader().push(Buffer.from(text.slice(text.indexOf("\r\n\r\n") + 4), "latin1"));
  return frames.map(({ type, payload }) => [type, Buffer.from(payload).toString()]);
};

describe("writing", () => {
  test("takes an archive in frames, and says when all of it is there", async () => {
    const client = await open();
    for (const part of ["arch", "ive", ""]) await client.send(stdin(part));
    const text = await client.all();
    expect(framesOf(text)).toEqual([[frameTypes.exit, '{"exit_code":0}']]);
    expect(Buffer.from(plane.runtime.written(pod, "/data") ?? []).toString()).toBe("archive");
    client.abort();
  });

  test("one that goes on while another does is refused, until a client that left has left its place", async () => {
    const first = await open();
    await first.until((text) => text.includes("200 OK"));
    expect(await (await open()).all()).toStartWith("HTTP/1.1 429 ");
    expect((await get("files?path=/data")).status).toBe(429);
    await first.send(stdin("half"));
    first.abort();
    await waitFor("a free place", async () => (await get("files?path=/data")).status === 200);
    expect(Buffer.from(plane.runtime.written(pod, "/data") ?? []).toString()).toBe("archive");
  });

  test("what is too large, or refused by the engine, ends with the reason", async () => {
    const large = await open();
    await large.send(Buffer.concat([stdin("x".repeat(1_001)), stdin("")]));
    expect(framesOf(await large.all())).toEqual([[frameTypes.error, "a copy has at most 1000 bytes"]]);
    large.abort();
    plane.runtime.fail("writeFiles", new Failure("conflict", "container rootfs is marked read-only"), 1);
    const refused = await open();
    expect(framesOf(await refused.all())).toEqual([[frameTypes.error, "container rootfs is marked read-only"]]);
    refused.abort();
  });
});

test.each([
  ["without a path", pod, "", 400, "query path: is required"],
  ["a path that is not absolute", pod, "?path=data", 400, "does not start with /"],
  ["a bad name", "..%2fetc", "?path=/", 400, "pod name"],
  ["an unknown pod", "s-web.none", "?path=/data", 404, "no container"],
  ["a path where nothing is", pod, "?path=/none", 404, "does not exist in s-web.ab1cd"],
  ["a link in place of a folder", pod, "?path=/link", 409, "is not a folder"],
])("%s is refused in the envelope", async (_, name, query, status, words) => {
  const text = await (await open(query, name)).all();
  expect(text).toStartWith(`HTTP/1.1 ${status} `);
  expect(text).toContain(words);
  if (status !== 409) {
    const answers = [`files${query}`, `files/stat${query}`].map((path) =>
      fetch(`${plane.front.url}/pods/${name}/${path}`),
    );
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(status);
  }
});
