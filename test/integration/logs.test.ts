import { afterAll, beforeAll, expect, test } from "bun:test";
import { createDockerEngine } from "../../src/orchestration/engine/docker/docker.ts";
import type { Engine } from "../../src/orchestration/engine/engine.ts";
import { requireDocker, type Scratch, scratch } from "../support/docker.ts";
import { type Plane, startPlaneOn } from "../support/socket-plane.ts";
import { connectRaw } from "../support/raw-client.ts";
import { waitFor } from "../support/wait.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";

let place: Scratch;
let plane: Plane<Engine>;

beforeAll(async () => {
  place = scratch();
  const { names, installationId } = place;
  plane = await startPlaneOn(() => createDockerEngine({ host: requireDocker(), installationId, names }), { names });
});
afterAll(async () => {
  await plane.close();
  await place.cleanUp();
});

const sh = (script: string) => ["sh", "-c", script];
const make = async (name: string, script: string) => {
  const pod = place.unique(name);
  // An engine that rotates away what a stalled reader has not seen yet is not what is tested here.
  const log = { maxSize: "100m", maxFiles: 1 };
  await plane.pod(pod, {}, { networkMode: "none", command: sh(script), log });
  return pod;
};
const get = (pod: string, query = "") => fetch(`${plane.front.url}/pods/${pod}/logs${query}`);
const exited = (pod: string) =>
  waitFor(`${pod} to end`, async () => (await plane.runtime.inspect(podRef(pod)))?.state === "exited");

test("stdout and stderr merged in order, as bytes, with tail and timestamps", async () => {
  const pod = await make("both.1", "echo one; sleep 0.1; echo two >&2; sleep 0.1; printf '\\001three'");
  await exited(pod);
  const bytes = Buffer.from(await (await get(pod)).arrayBuffer());
  expect(bytes).toEqual(Buffer.concat([Buffer.from("one\ntwo\n"), Buffer.of(1), Buffer.from("three")]));
  expect(await (await get(pod, "?tail=2")).text()).toStartWith("two\n");
  expect(await (await get(pod, "?tail=0")).text()).toBe("");
  expect(await (await get(pod, "?timestamps=true&tail=2")).text()).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z two\n/);
});

test("a container with a terminal", async () => {
  const pod = place.unique("tty.1");
  const created = await place.docker.createContainer({
    name: pod,
    Image: "berth-fixture:1",
    Cmd: sh("echo one; echo two >&2"),
    Tty: true,
    Labels: { [place.names.label.installation]: place.installationId },
    HostConfig: { NetworkMode: "none" },
  });
  await created.start();
  await exited(pod);
  expect(await (await get(pod)).text()).toBe("one\r\ntwo\r\n");
});

test("since leaves out what came before", async () => {
  const pod = await make("since.1", "echo old; sleep 2; echo new");
  await exited(pod);
  const started = (await plane.runtime.inspect(podRef(pod)))?.startedAt ?? 0;
  const since = new Date(started + 1_000).toISOString();
  expect(await (await get(pod, `?since=${since}`)).text()).toBe("new\n");
  expect(await (await get(pod, `?since=${(started + 1_000) / 1_000}`)).text()).toBe("new\n");
  expect(await (await get(pod, "?since=1h")).text()).toBe("old\nnew\n");
});

test("following shows each line when it is written, and ends with the container", async () => {
  const pod = await make("follow.1", "while [ ! -e /go ]; do sleep 0.1; done; echo went; sleep 0.2; echo end");
  const response = await get(pod, "?follow=true");
  expect(response.headers.get(`${place.names.headerPrefix}-Container`)).toBe(pod);
  const session = await plane.runtime.exec(podRef(pod), {
    command: ["touch", "/go"],
    env: [],
    tty: false,
    interactive: false,
  });
  for await (const _part of session.output);
  expect(await response.text()).toBe("went\nend\n");
});

test("who follows a flood gets all of it", async () => {
  const numbers = Array.from({ length: 20_000 }, (_, at) => `${at + 1}\n`).join("");
  for (let round = 0; round < 3; round++) {
    const pod = await make(`flood.${round}`, "seq 1 20000");
    expect((await (await get(pod, "?follow=true")).text()) === numbers).toBe(true);
  }
});

test("the logs of a scope: in the order of their times, with lines longer than Docker's messages; followed through a restart", async () => {
  const { label } = place.names;
  const scope = place
    .unique("m")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "")
    .slice(0, 20);
  const log = { maxSize: "100m", maxFiles: 1 };
  const start = async (replica: string, script: string) => {
    const pod = place.unique(`${scope}.${replica}`);
    const labels = {
      ...{ [label.kind]: "deployment", [label.scope]: scope, [label.name]: "web", [label.replicaId]: replica },
    };
    await plane.pod(pod, labels, { networkMode: "none", command: sh(script), log });
    return pod;
  };
  const long = "yes x | head -n 40000 | tr -d '\\n'; echo";
  const a = await start("a", `echo a1; sleep 0.4; echo a2; sleep 0.4; ${long}`);
  const b = await start("b", "sleep 0.2; echo b1; sleep 0.4; echo b2");
  await Promise.all([exited(a), exited(b)]);
  const merged = (query: string) => fetch(`${plane.front.url}/logs?scope=${scope}${query}`);
  const whole = await merged("");
  expect(whole.headers.get(`${place.names.headerPrefix}-Containers`)).toBe(`${a},${b}`);
  const wanted = [`[${a}] a1`, `[${b}] b1`, `[${a}] a2`, `[${b}] b2`, `[${a}] ${"x".repeat(40_000)}`, ""];
  // What the second container does is 0.2 s apart, which a busy machine can swallow: its own order is certain.
  const of = (pod: string, lines: readonly string[]) => lines.filter((line) => line.startsWith(`[${pod}]`));
  const lines = (await whole.text()).split("\n");
  expect([of(a, lines), of(b, lines), lines.length]).toEqual([of(a, wanted), of(b, wanted), wanted.length]);
  const times = (await (await merged("&timestamps=true")).text())
    .split("\n")
    .flatMap((line) => line.split(" ")[1] ?? []);
  expect(times).toHaveLength(5);
  expect(times).toEqual(times.toSorted());

  const c = await start("c", "echo run; while [ ! -e /go ]; do sleep 0.1; done; rm /go; echo end");
  const client = await connectRaw(plane.front.tcp);
  await client.send(`GET /logs?scope=${scope}&follow=true HTTP/1.0\r\nHost: localhost\r\n\r\n`);
  const count = (all: string, text: string) => all.split(`[${c}] ${text}\n`).length - 1;
  await client.until((all) => count(all, "run") === 1);
  for (const run of [1, 2]) {
    const session = await plane.runtime.exec(podRef(c), {
      command: ["touch", "/go"],
      env: [],
      tty: false,
      interactive: false,
    });
    for await (const _part of session.output);
    await client.until((all) => count(all, "end") >= run);
    if (run === 2) break;
    await exited(c);
    await plane.runtime.start(podRef(c));
    await client.until((all) => count(all, "run") >= 2);
  }
  // Also where Docker's stream went on through the restart, and the second run is read again.
  expect(count(await client.until(() => true), "run")).toBe(2);
  client.abort();
});

test("a reader that stalls does not hold up the pod, and gets everything", async () => {
  const lines = 200_000;
  const pod = await make(
    "slow.1",
    `i=0; while [ $i -lt 20 ]; do yes ${"x".repeat(99)} | head -n ${lines / 20}; i=$((i+1)); done`,
  );
  const client = await connectRaw(plane.front.tcp, { keep: false });
  client.pause();
  await client.send(`GET /pods/${pod}/logs?follow=true HTTP/1.0\r\nHost: localhost\r\n\r\n`);
  await exited(pod);
  client.resume();
  await client.all();
  const head = 300;
  expect(client.receivedBytes).toBeGreaterThan(lines * 100);
  expect(client.receivedBytes).toBeLessThan(lines * 100 + head);
}, 60_000);
