import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { encodeFrame, frameTypes, jsonFrame } from "../../src/orchestration/api/exec-frames.ts";
import { deployment } from "../support/manifests.ts";
import { freePort } from "../support/ports.ts";
import { type Rig, rig } from "../support/rig.ts";
import { openTerminalSocket } from "../support/terminal-socket.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

/** Terminals and files of the observability plane: the executable, and real containers. */
let berth: Rig;
let address: string;
let https: number;
let pod: string;
let token: string;

const api = "/api/pat/v1";
const typed = (text: string) => encodeFrame(frameTypes.stdin, new TextEncoder().encode(text));
const bearer = (own = token) => ({ Authorization: `Bearer ${own}` });

beforeAll(async () => {
  https = await freePort();
  address = `127.0.0.1:${await freePort()}`;
  const doors = ["--ingress-http-addr", "", "--ingress-https-addr", `127.0.0.1:${https}`];
  berth = await rig({ flags: [...doors, "--observability-addr", address] });
  await berth.apply(deployment("shop", "web", { command: ["sleep", "3600"], env: { COLOUR: "green" } }));
  await berth.ready("deployment", "shop", "web");
  pod = (await berth.pods("shop", "web"))[0]?.name ?? "";
  token = await newToken();
});
afterAll(() => berth?.close());

async function newToken(): Promise<string> {
  const made = await berth.cli(["pat", "create", "--scope=read,exec,config:reveal"]);
  return made.stdout.split("\n")[0] ?? "";
}

const ask = (path: string, init: RequestInit = {}) =>
  fetch(`http://${address}${api}${path}`, { ...init, headers: { ...init.headers, ...bearer() } });
const running = (word: string) => berth.docker(["exec", pod, "ps"]).includes(word);

test("a terminal echoes, knows its size, is resized, and tells the exit code", async () => {
  const terminal = await openTerminalSocket(`ws://${address}${api}/exec/${pod}?cols=90&rows=30`, bearer());
  terminal.send(typed("stty size; echo $((6*7))-$COLOUR\n"));
  await waitFor("the output", () => terminal.output().includes("30 90") && terminal.output().includes("42-green"));
  terminal.send(jsonFrame(frameTypes.resize, { cols: 120, rows: 50 }));
  terminal.send(typed("stty size\n"));
  await waitFor("the new size", () => terminal.output().includes("50 120"));
  terminal.send(typed("exit 7\n"));
  await waitFor("the end", () => terminal.closed !== undefined);
  expect([terminal.exitCode(), terminal.closed]).toEqual([7, 1000]);
});

test("a run beside the app has a container of its own, which is removed after it", async () => {
  const command = encodeURIComponent(JSON.stringify(["sh", "-c", "hostname; echo of-$COLOUR >&2; cat"]));
  const terminal = await openTerminalSocket(
    `ws://${address}${api}/apps/shop/web/run?tty=false&command=${command}`,
    bearer(),
  );
  await waitFor("the output", () => terminal.output().includes("of-green"));
  expect(terminal.output()).not.toContain(pod);
  terminal.send(typed("last words"));
  terminal.send(encodeFrame(frameTypes.stdin, new Uint8Array()));
  await waitFor("the end", () => terminal.closed !== undefined);
  expect(terminal.output()).toContain("last words");
  expect(terminal.exitCode()).toBe(0);
  await waitFor("the end of the container", async () => (await berth.pods("shop", "web")).length === 1);
});

test("a token that is revoked cuts its terminals, and what they ran ends", async () => {
  const own = await newToken();
  const terminal = await openTerminalSocket(`ws://${address}${api}/exec/${pod}`, bearer(own));
  terminal.send(typed("sleep 4242\n"));
  await waitFor("the process", () => running("sleep 4242"));
  await berth.cli(["pat", "revoke", own.slice(4, 10), "-y"]);
  await waitFor("the end", () => terminal.closed !== undefined);
  expect(terminal.fault()).toContain("has ended");
  await waitFor("the end of the process", () => !running("sleep 4242"));
});

test("what a client ran ends when the client is gone", async () => {
  const terminal = await openTerminalSocket(`ws://${address}${api}/exec/${pod}`, bearer());
  terminal.send(typed("sleep 4343.4343\n"));
  await waitFor("the process", () => running("sleep 4343.4343"));
  terminal.leave();
  await waitFor("the end of the process", () => !running("sleep 4343.4343"));
});

test("a terminal goes through an ingress to @observability, over TLS", async () => {
  const host = "dashboard.test";
  const spec = { host, service: "@observability", tls: { provider: "internal" } };
  await berth.apply({ kind: "ingress", scope: "platform", name: "dashboard", spec });
  const ca = (await berth.cli(["ca"])).stdout;
  const tls = { ca, serverName: host, checkServerIdentity: () => undefined };
  const terminal = await waitFor("the terminal behind the ingress", () =>
    openTerminalSocket(`wss://127.0.0.1:${https}${api}/exec/${pod}`, { ...bearer(), Host: `${host}:${https}` }, tls),
  );
  terminal.send(typed("echo $((40+2))-over-tls\n"));
  await waitFor("the output", () => terminal.output().includes("42-over-tls"));
  terminal.send(typed("exit\n"));
  await waitFor("the end", () => terminal.closed === 1000);
  const Host = `${host}:${https}`;
  const Origin = `https://${Host}`;
  const session = `https://127.0.0.1:${https}/ui/api/session`;
  const signedIn = await fetch(session, {
    ...{ method: "POST", headers: { Host, Origin, "X-Berth-UI": "1" }, body: JSON.stringify({ token }), tls },
  });
  const [Cookie = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";");
  const url = `wss://127.0.0.1:${https}${api}/exec/${pod}`;
  const browser = await openTerminalSocket(url, { Host, Origin, Cookie }, tls);
  await expect(openTerminalSocket(url, { Host, Cookie, Origin: "https://evil.test" }, tls)).rejects.toThrow("refused");
  await fetch(session, { method: "DELETE", headers: { Host, Origin, Cookie, "X-Berth-UI": "1" }, tls });
  await waitFor("the end with the session", () => browser.fault().includes("has ended"));
});

test("files: a folder is listed, a file is written and read, whatever its name is", async () => {
  const name = "two\nlines é.txt";
  const at = (path: string) => `/pods/${pod}/file?path=${encodeURIComponent(path)}`;
  const bytes = crypto.getRandomValues(new Uint8Array(300_000));
  const put = await ask(at(`/tmp/${name}`), { method: "PUT", body: bytes });
  expect([put.status, await put.json()]).toMatchObject([200, { data: { size_bytes: bytes.length } }]);
  const got = await ask(at(`/tmp/${name}`));
  expect(Buffer.from(await got.arrayBuffer()).equals(bytes)).toBe(true);
  const part = await ask(`${at(`/tmp/${name}`)}&offset=299990&length=100`);
  expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(299_990))).toBe(true);
  const list = async (path: string) => {
    const answer = await ask(`/pods/${pod}/files?path=${encodeURIComponent(path)}`);
    return ((await answer.json()) as { data: { entries: { name: string; kind: string }[] } }).data.entries;
  };
  expect(await list("/tmp")).toContainEqual(expect.objectContaining({ name, kind: "file", size_bytes: 300_000 }));
  expect(await list("/")).toContainEqual(expect.objectContaining({ name: "etc", kind: "folder" }));
  berth.docker(["exec", pod, "mv", "/bin/sh", "/bin/sh.away"]);
  const without = [await list("/tmp"), await list("/")];
  berth.docker(["exec", pod, "mv", "/bin/sh.away", "/bin/sh"]);
  expect(without[0]).toContainEqual(expect.objectContaining({ name, kind: "file", size_bytes: 300_000 }));
  expect(without[1]).toContainEqual(expect.objectContaining({ name: "etc", kind: "folder" }));
  expect((await ask(at("/tmp"))).status).toBe(409);
  expect((await ask(at("/tmp/none"))).status).toBe(404);
});

test("the audit trail says who ran what and how it ended, and never what was typed", async () => {
  const list = await berth.cli(["pat", "create", "--scope=admin"]);
  const admin = list.stdout.split("\n")[0] ?? "";
  const answer = await fetch(`http://${address}${api}/audit?limit=100`, { headers: bearer(admin) });
  const text = await answer.text();
  expect(text).toContain("exit code 7");
  expect(text).toContain("terminal ended");
  expect(text).toContain("the client left");
  expect(text).not.toContain("COLOUR-");
  expect(text).not.toContain("4343.4343");
});
