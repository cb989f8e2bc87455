import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  createFrameReader,
  encodeFrame,
  type Frame,
  frameTypes,
  jsonFrame,
} from "../../src/orchestration/api/exec-frames.ts";
import type { ExecResult } from "../../src/orchestration/api/exec.ts";
import { Failure } from "../../src/base/wire/failure.ts";
import type { ExecIo, ExecProgram } from "../support/memory-runtime/execs.ts";
import type { ExecSpec } from "../../src/orchestration/engine/session.ts";
import { eventually } from "../support/front.ts";
import { type Plane, startPlane } from "../support/socket-plane.ts";
import { connectRaw, type RawClient } from "../support/raw-client.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";

const pod = "s-web.ab1cd";
let plane: Plane;
let specs: ExecSpec[];
let program: ExecProgram;

beforeAll(async () => {
  plane = await startPlane();
  await plane.pod(pod);
  plane.runtime.onExec(({ spec }) => {
    specs.push(spec);
    return spec.command[0] === "missing" ? undefined : (io) => program(io);
  });
});
afterAll(() => plane.close());
beforeEach(() => {
  specs = [];
  program = cat;
});

/** Sends input back as it comes, and what it was when it ends. */
const cat: ExecProgram = async ({ input, stdout }) => {
  for await (const bytes of input) await stdout(bytes);
  await stdout("<end>");
  return 0;
};

const untilKilled = ({ killed }: ExecIo) =>
  new Promise<number>((resolve) => killed.addEventListener("abort", () => resolve(1)));

interface Ask {
  name?: string;
  query?: string;
  body?: string;
  version?: string;
  headers?: string;
}

function request({ name = pod, query = "", body = '{"command":["sh"]}', version = "1.1", headers = "" }: Ask): string {
  return (
    `POST /pods/${name}/exec${query} HTTP/${version}\r\nHost: localhost\r\n${headers}` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

async function open(ask: Ask, early: string | Uint8Array = ""): Promise<RawClient> {
  const client = await plane.front.connect();
  await client.send(Buffer.concat([Buffer.from(request(ask)), Buffer.from(early)]));
  return client;
}

const bodyOf = (text: string) => text.slice(text.indexOf("\r\n\r\n") + 4);
const headOf = (text: string) => text.slice(0, text.indexOf("\r\n\r\n"));

function framesOf(text: string): { kind: string; text: string }[] {
  const { frames } = createFrameReader().push(Buffer.from(bodyOf(text), "latin1"));
  return frames.map(({ type, payload }: Frame) => ({
    kind: Object.entries(frameTypes).find(([, value]) => value === type)?.[0] ?? "?",
    text: Buffer.from(payload).toString(),
  }));
}

const stdin = (text: string) => encodeFrame(frameTypes.stdin, Buffer.from(text));

describe("refused before the takeover, in the envelope", () => {
  test.each<[string, Ask, number, string]>([
    ["a bad name", { name: "..%2fetc" }, 400, "pod name"],
    ["a name that cannot be decoded", { name: "%ff" }, 400, "pod name"],
    ["no body", { body: "" }, 400, "the body is empty"],
    ["bad JSON", { body: "{" }, 400, "body line 1"],
    ["a body that is no object", { body: "[]" }, 400, "the body must be an object"],
    ["no command", { body: "{}" }, 400, "command: must be a list of words"],
    ["an empty command", { body: '{"command":[]}' }, 400, "command: must be a list of words"],
    ["an empty program", { body: '{"command":[""]}' }, 400, "command[0]: is empty"],
    ["a bad env", { body: '{"command":["a"],"env":["NOVALUE"]}' }, 400, "env[0]: is not KEY=value"],
    ["a bad flag", { query: "?tty=maybe" }, 400, 'query tty: \\"maybe\\"'],
    ["a flag given twice", { query: "?tty=true&tty=false" }, 400, "query tty: given more than once"],
    ["a missing pod", { name: "s-web.gone" }, 404, 's-web.gone\\"'],
    ["a missing program", { body: '{"command":["missing"]}' }, 409, "executable file not found"],
  ])("%s", async (_what, ask, status, text) => {
    const client = await open(ask, "bytes that must not be taken for a request");
    const answer = await client.all();
    expect(answer).toStartWith(`HTTP/1.1 ${status} `);
    expect(headOf(answer)).toContain("Content-Type: application/json");
    expect(JSON.parse(bodyOf(answer)).status).toBe("error");
    expect(bodyOf(answer)).toContain(text);
  });

  test("a pod that does not run", async () => {
    await plane.pod("s-web.down");
    await plane.runtime.stop(podRef("s-web.down"), { graceMs: 0 });
    const answer = await (await open({ name: "s-web.down" })).all();
    expect(answer).toStartWith("HTTP/1.1 409 ");
  });

  test("an engine that is down", async () => {
    const cut = await startPlane();
    cut.runtime.engineDown();
    await eventually(() => cut.log.some(({ message }) => message === "engine down"));
    const client = await cut.front.connect();
    await client.send(request({}));
    const answer = await client.all();
    expect(answer).toStartWith("HTTP/1.1 503 ");
    expect(headOf(answer)).toContain("Retry-After: ");
    await cut.close();
  });

  test("a bug shows nothing but an id", async () => {
    plane.runtime.fail("exec", new Error("secret detail") as Failure, 1);
    const answer = await (await open({})).all();
    expect(answer).toStartWith("HTTP/1.1 500 ");
    expect(answer).not.toContain("secret detail");
  });
});

describe("raw", () => {
  test("the head is the contract's, and tells the id", async () => {
    program = () => 0;
    const answer = await (await open({})).all();
    const [, id] = /X-Exec-Id: (\S+)/.exec(answer) ?? [];
    expect(headOf(answer)).toBe(
      "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n" +
        `X-Berth-Container: ${pod}\r\nConnection: close\r\nX-Exec-Id: ${id}`,
    );
  });

  test("command, env and options reach the runtime", async () => {
    program = () => 0;
    const query = "?tty=true&interactive=1&workdir=%20/srv&user=1000:1000&cols=120&rows=40";
    await (await open({ query, body: '{"command":["ls","-l"],"env":["A=1","B=x=y"]}' })).all();
    expect(specs).toEqual([
      {
        command: ["ls", "-l"],
        env: ["A=1", "B=x=y"],
        tty: true,
        interactive: true,
        workdir: "/srv",
        user: "1000:1000",
        size: { cols: 120, rows: 40 },
      },
    ]);
  });

  test.each(["?cols=0&rows=0", "?cols=abc&rows=40", "?cols=70000&rows=40", "?cols=80&rows=-1", "?cols=80"])(
    "%s is no size",
    async (query) => {
      program = () => 0;
      await (await open({ query: `${query}&tty=true` })).all();
      expect(specs[0]).not.toHaveProperty("size");
    },
  );

  test("stdout and stderr are interleaved; input is echoed, early bytes included; FIN ends stdin, output goes on", async () => {
    program = async ({ input, stdout, stderr }) => {
      await stdout("hi ");
      await stderr("err ");
      return cat({ input, stdout } as ExecIo);
    };
    const client = await open({ query: "?interactive=true" }, "early ");
    await client.until((text) => text.endsWith("hi err early "));
    await client.send("later ");
    await client.until((text) => text.endsWith("later "));
    client.finish();
    expect(bodyOf(await client.all())).toBe("hi err early later <end>");
  });

  test("FIN right behind the request", async () => {
    const client = await open({ query: "?interactive=true" }, "all");
    client.finish();
    expect(bodyOf(await client.all())).toBe("all<end>");
  });

  test("with a terminal FIN is ignored: the client sends the end character itself", async () => {
    let ended = false;
    program = async ({ input, stdout }) => {
      for await (const bytes of input) {
        await stdout(bytes);
        if (bytes.includes(4)) return 0;
      }
      ended = true;
      return 0;
    };
    const client = await open({ query: "?interactive=true&tty=true" }, "a");
    await client.until((text) => text.endsWith("a"));
    await client.send("\x04");
    client.finish();
    expect(bodyOf(await client.all())).toBe("a\x04");
    expect(ended).toBe(false);
  });

  test("without interactive the command has no stdin and client bytes go nowhere", async () => {
    const client = await open({}, "ignored");
    expect(bodyOf(await client.all())).toBe("<end>");
  });

  test("HTTP/1.0, a chunked body, and a connection that served requests before", async () => {
    program = async ({ stdout }) => {
      await stdout("ok");
      return 0;
    };
    expect(bodyOf(await (await open({ version: "1.0" })).all())).toBe("ok");
    const client = await plane.front.connect();
    const head = `POST /pods/${pod}/exec HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`;
    await client.send(`GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n${head}`);
    await client.until((text) => text.includes('"ok"'));
    await client.send('12\r\n{"command":["sh"]}\r\n0\r\n\r\n');
    expect(await client.all()).toEndWith("\r\n\r\nok");
  });

  test("over the unix socket", async () => {
    const client = await connectRaw(plane.front.unix);
    await client.send(`${request({ query: "?interactive=true" })}x`);
    await client.until((text) => text.endsWith("x"));
    client.finish();
    expect(bodyOf(await client.all())).toBe("x<end>");
  });

  test("the exit code is remembered under the id", async () => {
    const gate = Promise.withResolvers<void>();
    program = async () => {
      await gate.promise;
      return 7;
    };
    const client = await open({});
    const head = await client.until((text) => text.includes("\r\n\r\n"));
    const [, id] = /X-Exec-Id: (\S+)/.exec(head) ?? [];
    const ask = async (name: string): Promise<{ data: ExecResult; error?: string }> => {
      const response = await fetch(`${plane.front.url}/pods/${name}/exec/${id}`);
      return response.json() as Promise<{ data: ExecResult }>;
    };
    expect((await ask(pod)).data).toMatchObject({ id, name: pod, running: true });
    gate.resolve();
    await client.all();
    const { data } = await ask(pod);
    expect(data).toMatchObject({ id, name: pod, running: false, exit_code: 7 });
    expect(Date.parse(data.ended_at ?? "")).toBeGreaterThanOrEqual(Date.parse(data.started_at));
    expect((await ask("s-web.other")).error).toContain("no exec session");
  });

  test("the event log names who, where and the program, but no arguments", async () => {
    program = () => 0;
    const headers = "X-Berth-Actor: ana@laptop\r\n";
    await (await open({ headers, body: '{"command":["mysql","-psecret"]}' })).all();
    await eventually(() => plane.store.events.list({ limit: 100 }).some(({ actor }) => actor === "ana@laptop"));
    const event = plane.store.events.list({ limit: 100 }).find(({ actor }) => actor === "ana@laptop");
    expect(event).toMatchObject({ action: "pod.exec", detail: { pod, program: "mysql", tty: false } });
    expect(JSON.stringify(event)).not.toContain("secret");
  });
});

describe("framed", () => {
  const framed = "?framing=1&interactive=true";

  test("the head says so; stdout, stderr and exit code come apart", async () => {
    program = async ({ stdout, stderr }) => {
      await stdout("out");
      await stderr("err");
      return 42;
    };
    const answer = await (await open({ query: framed })).all();
    expect(headOf(answer)).toEndWith("\r\nX-Exec-Framing: 1");
    expect(framesOf(answer)).toEqual([
      { kind: "stdout", text: "out" },
      { kind: "stderr", text: "err" },
      { kind: "exit", text: '{"exit_code":42}' },
    ]);
  });

  test("stdin comes in frames, early ones included; an empty one closes it", async () => {
    const client = await open({ query: framed }, stdin("early "));
    await client.send(Buffer.concat([stdin("la"), stdin("ter"), encodeFrame(frameTypes.stdin, new Uint8Array(0))]));
    const frames = framesOf(await client.all());
    expect(frames.map(({ text }) => text).join("")).toBe('early later<end>{"exit_code":0}');
  });

  test("a frame of an unknown type is skipped", async () => {
    const end = encodeFrame(frameTypes.stdin, new Uint8Array(0));
    const client = await open({ query: framed }, Buffer.concat([encodeFrame(99, Buffer.from("?")), end]));
    expect(framesOf(await client.all()).map(({ text }) => text)).toEqual(["<end>", '{"exit_code":0}']);
  });

  test("a frame that is too long ends the session with its reason", async () => {
    program = untilKilled as ExecProgram;
    const client = await open({ query: framed }, Buffer.from([0, 0xff, 0, 0, 0]));
    const frames = framesOf(await client.all());
    expect(frames).toEqual([{ kind: "error", text: expect.stringContaining("too long") }]);
  });

  test("resize reaches the terminal, also before the command has started; nonsense does not", async () => {
    const seen: string[] = [];
    program = async ({ input, size, stdout }) => {
      for await (const bytes of input) {
        seen.push(`${Buffer.from(bytes)} ${JSON.stringify(size())}`);
        await stdout("+");
      }
      return 0;
    };
    const size = (cols: unknown, rows: unknown) => jsonFrame(frameTypes.resize, { cols, rows });
    const client = await open({ query: `${framed}&tty=true` }, Buffer.concat([size(100, 30), stdin("a")]));
    await client.until((text) => text.endsWith("+"));
    await client.send(Buffer.concat([size(50, 20), size(-1, "x"), encodeFrame(frameTypes.resize, Buffer.from("{"))]));
    await client.send(stdin("b"));
    await client.until((text) => text.split("+").length === 3);
    expect(seen).toEqual(['a {"cols":100,"rows":30}', 'b {"cols":50,"rows":20}']);
    client.abort();
  });

  test("what breaks in the middle is told in an error frame", async () => {
    program = async ({ stdout }) => {
      await stdout("begun");
      throw new Failure("unavailable", "the engine went away");
    };
    const frames = framesOf(await (await open({ query: framed })).all());
    expect(frames).toEqual([
      { kind: "stdout", text: "begun" },
      { kind: "error", text: "the engine went away" },
    ]);
  });
});

describe("a client that goes away", () => {
  const kinds: [string, string, (client: RawClient) => void][] = [
    ["raw, by reset", "?interactive=true", (client) => client.abort()],
    ["raw with a terminal, by reset", "?interactive=true&tty=true", (client) => client.abort()],
    ["raw without stdin, by reset", "", (client) => client.abort()],
    ["framed, by reset", "?interactive=true&framing=1", (client) => client.abort()],
    ["framed, by FIN without a half-close frame", "?interactive=true&framing=1", (client) => client.finish()],
    ["framed without stdin, by FIN", "?framing=1", (client) => client.finish()],
  ];
  test.each(kinds)("%s: the command is ended", async (_name, query, leave) => {
    const ended = Promise.withResolvers<void>();
    program = async (io) => {
      await io.stdout("x");
      const code = await untilKilled(io);
      ended.resolve();
      return code;
    };
    const client = await open({ query });
    await client.until((text) => text.includes("x", text.indexOf("\r\n\r\n") + 4));
    leave(client);
    await ended.promise;
  });

  test("by closing its unix socket, in raw mode too", async () => {
    const ended = Promise.withResolvers<void>();
    program = async (io) => {
      await io.stdout("x");
      const code = await untilKilled(io);
      ended.resolve();
      return code;
    };
    const client = await connectRaw(plane.front.unix);
    await client.send(request({}));
    await client.until((text) => text.endsWith("x"));
    client.abort();
    await ended.promise;
  });

  test("framed with a half-close frame: FIN means nothing more", async () => {
    const gate = Promise.withResolvers<void>();
    program = async ({ input, stdout }) => {
      for await (const _bytes of input);
      await gate.promise;
      await stdout("done");
      return 3;
    };
    const client = await open({ query: "?interactive=true&framing=1" }, encodeFrame(0, new Uint8Array(0)));
    await client.until((text) => text.includes("\r\n\r\n"));
    client.finish();
    await Bun.sleep(20);
    gate.resolve();
    expect(framesOf(await client.all())).toEqual([
      { kind: "stdout", text: "done" },
      { kind: "exit", text: '{"exit_code":3}' },
    ]);
  });

  test("while the command is being started", async () => {
    const ended = Promise.withResolvers<void>();
    program = async (io) => {
      const code = await untilKilled(io);
      ended.resolve();
      return code;
    };
    plane.runtime.delay("exec", 100);
    const client = await open({ query: "?framing=1" });
    client.abort();
    await ended.promise;
    plane.runtime.delay("exec", 0);
  });
});

describe("back-pressure", () => {
  test("a slow reader slows the command, memory stays bounded, nothing is lost", async () => {
    const block = Buffer.alloc(64 * 1024, "o");
    const blocks = 1_600;
    let written = 0;
    program = async ({ stdout }) => {
      for (; written < blocks; written += 1) await stdout(block);
      return 0;
    };
    const client = await connectRaw(plane.front.tcp, { keep: false });
    client.pause();
    await client.send(request({}));
    let before = -1;
    while (before !== written || written === 0) {
      before = written;
      await Bun.sleep(30);
    }
    expect(written).toBeLessThan(blocks / 4);
    client.resume();
    await client.all();
    expect(client.receivedBytes).toBeGreaterThan(block.length * blocks);
  });

  test("a command that does not read makes the client wait", async () => {
    const gate = Promise.withResolvers<void>();
    let received = 0;
    program = async ({ input, stdout }) => {
      await gate.promise;
      for await (const bytes of input) received += bytes.length;
      await stdout("all read");
      return 0;
    };
    const total = 64 * 1024 * 1024;
    const client = await open({ query: "?interactive=true" });
    const sending = client.send(Buffer.alloc(total)).then(() => client.finish());
    let sent = false;
    void sending.then(() => {
      sent = true;
    });
    await Bun.sleep(150);
    expect(sent).toBe(false);
    gate.resolve();
    await sending;
    expect(bodyOf(await client.all())).toBe("all read");
    expect(received).toBe(total);
  });

  test("input after the command has closed its stdin is dropped", async () => {
    program = async ({ stdout }) => {
      await stdout("no thanks");
      return 0;
    };
    const client = await open({ query: "?interactive=true" });
    await client.send(Buffer.alloc(4 * 1024 * 1024));
    expect(bodyOf(await client.all())).toBe("no thanks");
  });
});

test("a server that stops ends its sessions, and their commands", async () => {
  const own = await startPlane();
  await own.pod(pod);
  const ended = Promise.withResolvers<void>();
  own.runtime.onExec(() => async (io) => {
    await io.stdout("up");
    const code = await untilKilled(io);
    ended.resolve();
    return code;
  });
  const client = await own.front.connect();
  await client.send(request({}));
  await client.until((text) => text.endsWith("up"));
  await own.close();
  await Promise.all([ended.promise, client.all()]);
});
