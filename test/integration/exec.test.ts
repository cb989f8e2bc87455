import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createFrameReader, frameTypes, jsonFrame } from "../../src/orchestration/api/exec-frames.ts";
import { createDockerEngine } from "../../src/orchestration/engine/docker/docker.ts";
import type { Engine } from "../../src/orchestration/engine/engine.ts";
import { requireDocker, type Scratch, scratch } from "../support/docker.ts";
import { type Plane, startPlaneOn } from "../support/socket-plane.ts";
import { connectRaw, type RawClient } from "../support/raw-client.ts";
import { waitFor } from "../support/wait.ts";

let place: Scratch;
let plane: Plane<Engine>;
let pod: string;

beforeAll(async () => {
  place = scratch();
  const { names, installationId } = place;
  plane = await startPlaneOn(() => createDockerEngine({ host: requireDocker(), installationId, names }), { names });
  pod = place.unique("exec.1");
  await plane.pod(pod, {}, { networkMode: "none", options: { init: true } });
});
afterAll(async () => {
  await plane.close();
  await place.cleanUp();
});

interface Ask {
  query?: string;
  env?: string[];
  keep?: boolean;
}

async function open(
  command: string[],
  { query = "", env = [], keep = true }: Ask = {},
  early = "",
): Promise<RawClient> {
  const client = await connectRaw(plane.front.tcp, { keep });
  const body = JSON.stringify({ command, env });
  const head = `POST /pods/${pod}/exec?${query} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`;
  await client.send(`${head}${body}${early}`);
  return client;
}

const sh = (script: string) => ["sh", "-c", script];
const bodyOf = (text: string) => text.slice(text.indexOf("\r\n\r\n") + 4);
const output = async (client: RawClient) => bodyOf(await client.all());

async function framed(command: string[], query = ""): Promise<Record<string, string>> {
  const text = await output(await open(command, { query: `framing=true&${query}` }));
  const { frames } = createFrameReader().push(Buffer.from(text, "latin1"));
  const of = (type: number) => frames.filter((frame) => frame.type === type).map((frame) => frame.payload);
  return {
    stdout: Buffer.concat(of(frameTypes.stdout)).toString(),
    stderr: Buffer.concat(of(frameTypes.stderr)).toString(),
    exit: Buffer.concat(of(frameTypes.exit)).toString(),
  };
}

/** Processes of the container whose command line holds the text. */
async function running(text: string): Promise<number> {
  const { Processes } = await place.docker.getContainer(pod).top();
  return Processes.filter((columns: string[]) => columns.join(" ").includes(text)).length;
}

describe("raw", () => {
  test("output without a terminal, both streams", async () => {
    const text = await output(await open(sh("echo out; echo err >&2")));
    expect(text.split("\n").sort().join("|")).toBe("|err|out");
  });

  test("workdir, user and env", async () => {
    const command = sh('pwd; id -u; echo "$A"');
    expect(await output(await open(command, { query: "workdir=/tmp&user=1234", env: ["A=x y"] }))).toBe(
      "/tmp\n1234\nx y\n",
    );
  });

  test("stdin with early bytes and half-close: output goes on after it", async () => {
    const client = await open(sh("cat; sleep 0.3; echo after"), { query: "interactive=true" }, "early ");
    await client.send("late\n");
    client.finish();
    expect(await output(client)).toBe("early late\nafter\n");
  });

  test("a terminal of the asked size, on which the command knows itself", async () => {
    // Older engines take the size only once the command runs.
    const command = sh("sleep 0.5; stty size; test -t 0 && test -t 1 && echo tty");
    const client = await open(command, { query: "tty=true&interactive=true&cols=123&rows=45" });
    expect(await output(client)).toBe("45 123\r\ntty\r\n");
  });

  test("on a terminal Ctrl-D is the end of input", async () => {
    const client = await open(["cat"], { query: "tty=true&interactive=true" });
    await client.send("abc\n");
    await client.until((text) => text.endsWith("abc\r\nabc\r\n"));
    await client.send("\x04");
    await client.all();
  });

  test("the exit code for later", async () => {
    const client = await open(sh("exit 9"));
    const head = await client.all();
    const id = /X-Exec-Id: (\S+)/.exec(head)?.[1];
    const response = await fetch(`${plane.front.url}/pods/${pod}/exec/${id}`);
    expect(((await response.json()) as { data: object }).data).toMatchObject({ running: false, exit_code: 9 });
  });

  test.each<[string, string, string[], string, number, string]>([
    ["a missing pod", "missing.1", ["ls"], "", 404, "missing.1"],
    ["a missing program", "", ["no-such-program"], "", 409, "no-such-program"],
    ["a missing user", "", ["ls"], "user=nobody-at-all", 409, "nobody-at-all"],
    ["a missing folder", "", ["ls"], "workdir=/no/such/folder", 409, "/no/such/folder"],
  ])("%s is told before the takeover", async (_what, name, command, query, status, text) => {
    const response = await fetch(`${plane.front.url}/pods/${name || pod}/exec?${query}`, {
      method: "POST",
      body: JSON.stringify({ command }),
    });
    const { error } = (await response.json()) as { error: string };
    expect([response.status, error]).toEqual([status, expect.stringContaining(text)]);
  });
});

describe("framed", () => {
  test("streams and exit code come apart", async () => {
    expect(await framed(sh("printf out; printf err >&2; exit 42"))).toEqual({
      stdout: "out",
      stderr: "err",
      exit: '{"exit_code":42}',
    });
  });

  test("a command that a signal ends has 128 and the signal as its code", async () => {
    expect((await framed(sh("kill -9 $$"))).exit).toBe('{"exit_code":137}');
  });

  test("resize while it runs", async () => {
    const resized = sh('until [ "$(stty size)" = "33 77" ]; do sleep 0.1; done; stty size');
    const client = await open(resized, { query: "framing=1&tty=1&interactive=1&cols=10&rows=10" });
    await client.until((text) => text.includes("\r\n\r\n"));
    await client.send(jsonFrame(frameTypes.resize, { cols: 77, rows: 33 }));
    expect(await output(client)).toContain("33 77");
  });
});

describe("a client that goes away", () => {
  test.each<[string, string, (client: RawClient) => void]>([
    ["reset of a raw session", "", (client) => client.abort()],
    ["reset of a terminal", "tty=true&interactive=true", (client) => client.abort()],
    ["FIN of a framed session", "framing=1&interactive=true", (client) => client.finish()],
  ])(
    "%s: its command is gone from the container",
    async (what, query, leave) => {
      const mark = `9${what.length}${query.length}`;
      const client = await open(sh(`trap '' HUP; echo up; sleep ${mark}`), { query });
      await client.until((text) => text.includes("up"));
      await waitFor("its command to run", async () => (await running(`sleep ${mark}`)) > 0);
      leave(client);
      await waitFor("the command to be gone", async () => (await running(`sleep ${mark}`)) === 0);
    },
    30_000,
  );
});

test("50 MB into a command that takes its time: complete", async () => {
  const bytes = Buffer.alloc(50 * 1024 * 1024, "i");
  const client = await open(sh("sleep 1; wc -c"), { query: "interactive=true" });
  await client.send(bytes);
  client.finish();
  expect((await output(client)).trim()).toBe(String(bytes.length));
}, 60_000);
