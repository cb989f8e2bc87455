import { afterAll, beforeAll, expect, test } from "bun:test";
import { limits } from "../../src/config/config.ts";
import type { ExecProgram } from "../support/memory-runtime/execs.ts";
import { cronjob, deployment, job, statefulset } from "../support/manifests.ts";
import type { RawClient } from "../support/raw-client.ts";
import { type Plane, startPlane } from "../support/socket-plane.ts";
import { waitFor } from "../support/wait.ts";

let plane: Plane;
let program: ExecProgram;

beforeAll(async () => {
  plane = await startPlane();
  plane.runtime.onExec(() => (io) => program(io));
  const options = { dryRun: false, prune: false, actor: "test" };
  const claims = { volume_claims: [{ name: "data", mount_path: "/data" }] };
  const manifests = [
    deployment("shop", "web"),
    deployment("blog", "web"),
    statefulset("shop", "db", { replicas: 2, ...claims }),
    statefulset("shop", "one", claims),
    job("shop", "report", { command: ["report"] }),
    cronjob("shop", "nightly", {}, { command: ["nightly"] }),
  ];
  await plane.controller.apply(manifests, options);
});
afterAll(() => plane.close());

const says: ExecProgram = async ({ stdout }) => {
  await stdout("done");
  return 3;
};

async function open(query: string, body = '{"command":["work"]}'): Promise<RawClient> {
  const client = await plane.front.connect();
  await client.send(
    `POST /run?${query} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return client;
}

const runs = () => plane.runtime.containers().filter(({ labels }) => labels["berth.role"] === "run");

test.each(["name=web&scope=shop", "name=report", "name=nightly", "name=one", "name=db&ordinal=1"])(
  "%s: a session as that of exec, with the container's name, and nothing left of it",
  async (query) => {
    program = says;
    const text = await (await open(query)).all();
    expect(text).toStartWith("HTTP/1.1 200 OK\r\n");
    const [, container = ""] = /^X-Berth-Container: (\S+)\r$/m.exec(text) ?? [];
    const [, id = ""] = /^X-Exec-Id: (\S+)\r$/m.exec(text) ?? [];
    expect(container).toMatch(/^shop-\w+-run-\w{5}$/);
    expect(text).toEndWith("\r\n\r\ndone");
    expect(runs()).toEqual([]);
    expect(plane.controller.execResult(container, id)).toMatchObject({ running: false, exit_code: 3 });
  },
);

test("the volumes are those of the pod that is named", async () => {
  const release = Promise.withResolvers<void>();
  program = async () => {
    await release.promise;
    return 0;
  };
  const client = await open("name=db&ordinal=1");
  await waitFor("the container", () => runs().length === 1);
  expect(runs()[0]?.mounts.map(({ source, destination }) => [source, destination])).toEqual([
    ["berth-shop-db-data-1", "/data"],
  ]);
  release.resolve();
  await client.all();
});

test.each([
  ["", 400, "name is required"],
  ["name=gone", 404, "gone not found"],
  ["name=web", 400, "exists|ambiguous"],
  ["name=web&scope=shop&ordinal=0", 400, "no numbered pods"],
  ["name=db", 400, "such as shop/db.0"],
  ["name=db&ordinal=first", 400, "is not a number"],
  ["name=web&kind=ingress", 400, "runs no containers"],
])("%p is refused with %d", async (query, status, words) => {
  const text = await (await open(query)).all();
  expect(text).toStartWith(`HTTP/1.1 ${status} `);
  expect(text).toMatch(new RegExp(words));
});

test("a body without a command is refused, and so is one too many", async () => {
  expect(await (await open("name=report", "{}")).all()).toContain("HTTP/1.1 400 ");
  const small = await startPlane({ limits: { ...limits, appRunsMax: 0 } });
  await small.controller.apply([job("shop", "report")], { dryRun: false, prune: false, actor: "test" });
  const options = { tty: false, interactive: false, actor: "test" };
  const one = small.controller.runApp({ name: "report" }, { command: ["x"] }, options);
  expect(await one.catch((error: Error) => error.message)).toContain("0 commands run in containers of their own");
  await small.close();
});

test("a client that leaves ends the command, and both ends are events with who ran it", async () => {
  program = ({ killed }) => new Promise((resolve) => killed.addEventListener("abort", () => resolve(1)));
  const client = await open("name=report");
  await waitFor("the container", () => runs().length === 1);
  const stopped = plane.controller.stopPod(runs()[0]?.name ?? "", { freeze: true, actor: "test" });
  expect(await stopped.catch((error: Error) => error.message)).toContain("ran with berth run");
  client.abort();
  await waitFor("the container to be gone", () => runs().length === 0);
  // The runs of earlier tests are there as well: only this one was left.
  const events = await waitFor("the events", () => {
    const found = plane.controller.events({ name: "report", limit: 10 }).events;
    const isLeft = (event: object) => JSON.stringify(event).includes("went away");
    return found.some((event) => event.action === "pod.run_ended" && isLeft(event)) && found;
  });
  expect(events.map(({ action, actor }) => [action, actor])).toContainEqual(["pod.run", "operator"]);
});
