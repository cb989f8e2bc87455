import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Listener } from "../../../src/base/http/listener.ts";
import { Failure } from "../../../src/base/wire/failure.ts";
import { encodeFrame, frameTypes, jsonFrame } from "../../../src/orchestration/api/exec-frames.ts";
import type { PodCommand } from "../../../src/observability/service/platform.ts";
import { observabilityLimits } from "../../../src/config/observability-limits.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";
import { type FakeCommand, fakeCommand } from "../../support/fake-command.ts";
import { openTerminalSocket, type TerminalSocket } from "../../support/terminal-socket.ts";
import { waitFor } from "../../support/wait.ts";

let it: PlaneWorld;
let listener: Listener;
let started: { pod: string; asked: PodCommand; command: FakeCommand }[];
let sockets: TerminalSocket[];
let stopping: AbortController;
let running: Promise<void>;

const pod = "shop-web.abcde";
const limits = { ...observabilityLimits.terminals, perTokenMax: 2, openMax: 3 };

beforeEach(() => {
  started = [];
  sockets = [];
  const begin = (name: string, asked: PodCommand) => {
    const command = fakeCommand();
    started.push({ pod: name, asked, command });
    return Promise.resolve({ ...command.session, container: name });
  };
  it = planeWorld({
    limits: { terminals: limits },
    inside: { exec: begin, run: ({ scope, name }, asked) => begin(`${scope}-${name}.run`, asked) },
  });
  listener = it.listen();
  stopping = new AbortController();
  running = it.running.run(stopping.signal);
});

afterEach(async () => {
  for (const socket of sockets) socket.leave();
  stopping.abort();
  await running;
  await listener.stop(0);
  it.close();
});

async function open(headers: Record<string, string>, path = `/exec/${pod}`): Promise<TerminalSocket> {
  const socket = await openTerminalSocket(`ws://${listener.address}/api/pat/v1${path}`, headers);
  sockets.push(socket);
  return socket;
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const audit = () => it.store.audit.list({ limit: 50 });

test("a terminal carries input, output, its size and the exit code", async () => {
  const command = encodeURIComponent(JSON.stringify(["bash", "-l"]));
  const socket = await open(bearer(await it.token(["exec"])), `/exec/${pod}?command=${command}&cols=90&rows=30`);
  expect(socket.protocol).toBe("berth.exec.v1");
  const { asked, command: ran } = await waitFor("the command", () => started[0]);
  expect(asked).toMatchObject({ command: ["bash", "-l"], tty: true, size: { cols: 90, rows: 30 } });
  socket.send(encodeFrame(frameTypes.stdin, new TextEncoder().encode("echo hi\n")));
  socket.send(jsonFrame(frameTypes.resize, { cols: 100, rows: 40 }));
  await waitFor("the input", () => ran.input() === "echo hi\n" && ran.sizes.length === 1);
  expect(ran.sizes).toEqual([{ cols: 100, rows: 40 }]);
  ran.print("hi\n");
  await waitFor("the output", () => socket.output() === "hi\n");
  ran.exit(3);
  await waitFor("the end", () => socket.closed !== undefined);
  expect([socket.exitCode(), socket.closed]).toEqual([3, 1000]);
  const ended = await waitFor("the record", () => audit().find(({ action }) => action === "terminal ended"));
  expect(ended).toMatchObject({ outcome: "exit code 3", params: { pod, program: "bash" } });
  expect(audit().find(({ action }) => action.startsWith("GET"))).toMatchObject({
    ...{ outcome: "ok", requestId: ended.requestId, params: { command: '["bash","-l"]' } },
  });
  expect(JSON.stringify(audit())).not.toContain("echo hi");
});

test("a run has a container of its own", async () => {
  const socket = await open(bearer(await it.token(["exec"])), "/apps/shop/web/run?tty=false");
  const { asked, command } = await waitFor("the command", () => started[0]);
  expect(asked).toMatchObject({ command: ["sh"], tty: false });
  socket.send(encodeFrame(frameTypes.stdin, new Uint8Array()));
  await waitFor("the end of the input", () => command.inputEnded());
  command.exit(0);
  await waitFor("the record", () => audit().find(({ params }) => params.pod === "shop-web.run"));
});

test("a revoked token cuts its terminals and ends the commands, and no others", async () => {
  const token = await it.token(["exec"]);
  const cut = await open(bearer(token));
  const kept = await open(bearer(await it.token(["exec"])));
  await waitFor("both", () => started.length === 2);
  await it.manage(`DELETE /pats/${token.slice(4, 10)}`);
  await waitFor("the end", () => cut.closed !== undefined);
  expect(cut.fault()).toContain("the token or the session has ended");
  expect(started.map(({ command }) => command.killed())).toEqual([true, false]);
  expect(kept.closed).toBeUndefined();
});

test("a client that leaves ends the command", async () => {
  const socket = await open(bearer(await it.token(["exec"])));
  const { command } = await waitFor("the command", () => started[0]);
  socket.leave();
  await waitFor("its end", () => command.killed());
  expect(await waitFor("the record", () => audit().find(({ action }) => action === "terminal ended"))).toMatchObject({
    outcome: "the client left",
  });
});

test("a terminal in which nothing moves ends", async () => {
  const socket = await open(bearer(await it.token(["exec"])));
  await waitFor("the command", () => started[0]);
  it.clock.moveTo(it.clock.steady() + limits.idleMs);
  await waitFor("the end", () => socket.closed !== undefined);
  expect(socket.fault()).toContain("nothing moved for 30 minutes");
  expect(started[0]?.command.killed()).toBe(true);
});

test("input that the command does not read ends the terminal before it grows", async () => {
  const socket = await open(bearer(await it.token(["exec"])));
  const { command } = await waitFor("the command", () => started[0]);
  command.stall();
  for (let count = 0; count < 5; count += 1) {
    socket.send(encodeFrame(frameTypes.stdin, new Uint8Array(512 * 1024)));
  }
  await waitFor("the end", () => socket.closed !== undefined);
  expect(socket.fault()).toContain("does not read its input");
  expect(command.killed()).toBe(true);
});

test("a command that cannot start is told in a frame", async () => {
  const broken = planeWorld({ inside: { exec: () => Promise.reject(new Failure("conflict", "it does not run")) } });
  const own = broken.listen();
  const url = `ws://${own.address}/api/pat/v1/exec/${pod}`;
  const socket = await openTerminalSocket(url, bearer(await broken.token(["exec"])));
  await waitFor("the end", () => socket.closed !== undefined);
  expect([socket.fault(), socket.closed]).toEqual(["it does not run", 1011]);
  await own.stop(0);
  broken.close();
});

test("one token has so many terminals, and all together have so many", async () => {
  const token = await it.token(["exec"]);
  await open(bearer(token));
  await open(bearer(token));
  await expect(open(bearer(token))).rejects.toThrow("429");
  await open(bearer(await it.token(["exec"])));
  await expect(open(bearer(await it.token(["exec"])))).rejects.toThrow("503");
  sockets[0]?.leave();
  await waitFor("room", () => audit().some(({ action }) => action === "terminal ended"));
  await open(bearer(await it.token(["exec"])));
});

test("with a session, only a page of this plane opens a terminal", async () => {
  it.peer.ip = "127.0.0.1";
  const own = `http://${listener.address}`;
  const signedIn = await fetch(`${own}/ui/api/session`, {
    ...{ method: "POST", headers: { "X-Berth-UI": "1", Origin: own } },
    body: JSON.stringify({ token: await it.token(["exec"]) }),
  });
  const [Cookie = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";");
  const other = own.replace("127.0.0.1", "localhost");
  await expect(open({ Cookie })).rejects.toThrow("403");
  await expect(open({ Cookie, Origin: "https://evil.example" })).rejects.toThrow("403");
  await expect(open({ Cookie, Origin: other })).rejects.toThrow("403");
  await expect(open({ Cookie, Origin: own.replace("http:", "https:") })).rejects.toThrow("403");
  await expect(open({ Cookie, Origin: own, "Sec-Fetch-Site": "same-site" })).rejects.toThrow("403");
  const socket = await open({ Cookie, Origin: own, "Sec-Fetch-Site": "same-origin" });
  await waitFor("the command", () => started.length === 1);
  await fetch(`${own}/ui/api/session`, { method: "DELETE", headers: { Cookie, "X-Berth-UI": "1", Origin: own } });
  await waitFor("the end with the session", () => socket.closed !== undefined);
  expect(started[0]?.command.killed()).toBe(true);
});

test("who may not, and what is wrong, is told before the connection changes", async () => {
  const token = await it.token(["exec"]);
  const status = async (path: string, own = token) => (await it.ask(`GET ${path}`, { token: own })).status;
  expect(await status(`/exec/${pod}`)).toBe(426);
  expect(await status(`/exec/${pod}`, await it.token(["read", "actions", "config:reveal"]))).toBe(403);
  for (const query of [
    "command=ls",
    "command=[]",
    'command=[""]',
    "command=[1]",
    "cols=0&rows=1",
    "cols=abc",
    "rows=-1&tty=false",
    "tty=maybe",
  ]) {
    expect([query, await status(`/exec/${pod}?${query}`)]).toEqual([query, 400]);
  }
  const limited = bearer(await it.token(["exec"], { apps: ["other"] }));
  await expect(open(limited)).rejects.toThrow("404");
  await expect(open(limited, "/apps/shop/web/run")).rejects.toThrow("404");
  await expect(open({ ...bearer(token), "Sec-WebSocket-Protocol": "chat" })).rejects.toThrow("400");
  expect(started).toEqual([]);
});
