import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHost, type Host, type HostLimits, type Invocation } from "../../../../src/orchestration/plugins/host.ts";
import { thrownBy } from "../../../support/failure.ts";
import { waitFor } from "../../../support/wait.ts";

const limits: HostLimits = {
  pluginStdoutBytesMax: 1024 * 1024,
  pluginStderrBytesMax: 1024 * 1024,
  pluginTailBytes: 1_000,
  pluginKillGraceMs: 200,
  pluginDrainMs: 200,
  pluginsAtOnceMax: 3,
};

/** Test files run beside each other, and what has a run's variable ends with the run. */
const runVariable = `TEST_${process.pid}_RUN_ID`;

let folder: string;
let host: Host;
let ids = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "host-"));
  host = createHost({ limits, runVariable });
});
afterEach(async () => {
  await host.close();
  rmSync(folder, { recursive: true, force: true });
});

function script(text: string, more: Partial<Invocation> = {}): Invocation {
  const path = join(folder, `s${++ids}`);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  const env = { PATH: "/usr/bin:/bin" };
  return { id: `run-${process.pid}-${ids}`, argv: [path], folder, env, stdin: "{}", timeoutMs: 10_000, ...more };
}

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** Whether any process carries the marker of the run. */
async function isAlive(id: string): Promise<boolean> {
  const found = Bun.spawnSync(["sh", "-c", `grep -lz '${runVariable}=${id}$' /proc/[0-9]*/environ 2>/dev/null`]);
  return found.stdout.length > 0;
}

test("runs in the folder with its words, its input and only its environment", async () => {
  const done = await host.run(
    script('printf "%s|%s|" "$1" "$2"; cat; printf "|%s|%s" "$PWD" "$HOME"; echo note >&2; exit 3', {
      stdin: '{"a":1}',
    }),
  );
  expect(done.ending).toEqual({ how: "exited", code: 3 });
  expect(text(done.stdout)).toBe(`||{"a":1}|${folder}|`);
  expect(done.stderr).toBe("note\n");
});

test("words are passed verbatim", async () => {
  const plain = script('for w in "$@"; do printf "[%s]" "$w"; done');
  const done = await host.run({ ...plain, argv: [...plain.argv, "-h", "a b", "--", "$(id)", ""] });
  expect(text(done.stdout)).toBe("[-h][a b][--][$(id)][]");
});

test("a process that never reads its input is fine", async () => {
  const done = await host.run(script("echo ok", { stdin: "x".repeat(500_000) }));
  expect(text(done.stdout)).toBe("ok\n");
});

test("lines of standard error are told as they come", async () => {
  const lines: string[] = [];
  const done = await host.run(
    script('printf "one\\ntw" >&2; printf "o\\r\\nrest" >&2', { onLine: (it) => lines.push(it) }),
  );
  expect(lines).toEqual(["one", "two"]);
  expect(done.stderr).toBe("one\ntwo\r\nrest");
});

test("the time limit ends the whole group, also one that ignores the request", async () => {
  const hanging = script('trap "" TERM; sleep 60 & sleep 60', { timeoutMs: 100 });
  const done = await host.run(hanging);
  expect(done.ending).toEqual({ how: "timed_out" });
  expect(await isAlive(hanging.id)).toBe(false);
});

test("a signal from outside cancels", async () => {
  const stop = new AbortController();
  const hanging = script("sleep 60", { signal: stop.signal });
  const running = host.run(hanging);
  setTimeout(() => stop.abort(), 50);
  expect((await running).ending).toEqual({ how: "cancelled" });
  expect(await isAlive(hanging.id)).toBe(false);
  expect((await host.run(script("sleep 60", { signal: stop.signal }))).ending).toEqual({ how: "cancelled" });
});

test("a death by signal is told", async () => {
  expect((await host.run(script("kill -SEGV $$"))).ending).toEqual({ how: "signalled", signal: "SIGSEGV" });
});

test("what it leaves in its group is ended with it", async () => {
  const leaving = script("sleep 60 >/dev/null 2>&1 & echo done");
  const done = await host.run(leaving);
  expect(text(done.stdout)).toBe("done\n");
  expect(await isAlive(leaving.id)).toBe(false);
});

test("a process that left the group and holds the output open keeps nobody waiting, and is ended", async () => {
  const leaving = script("setsid sleep 60 & sleep 0.1; echo done");
  const begun = performance.now();
  const done = await host.run(leaving);
  expect(performance.now() - begun).toBeLessThan(5_000);
  expect(text(done.stdout)).toBe("done\n");
  expect(await isAlive(leaving.id)).toBe(false);
});

test("one that let go of everything is found soon after", async () => {
  const leaving = script("setsid sleep 60 >/dev/null 2>&1 </dev/null & sleep 0.1; echo done");
  expect((await host.run(leaving)).ending).toEqual({ how: "exited", code: 0 });
  await waitFor("the process to be ended", async () => !(await isAlive(leaving.id)));
});

test("floods end it, memory stays bounded", async () => {
  const out = await host.run(script("cat /dev/zero"));
  expect(out.ending).toEqual({ how: "flooded", stream: "standard output" });
  expect(out.stdout.byteLength).toBeLessThanOrEqual(limits.pluginStdoutBytesMax);
  const err = await host.run(script("cat /dev/zero >&2"));
  expect(err.ending).toEqual({ how: "flooded", stream: "standard error" });
  expect(err.stderr.length).toBeLessThanOrEqual(limits.pluginTailBytes);
});

test("scripts for bun run on this executable where the machine has none", async () => {
  const path = join(folder, "main.ts");
  const source =
    "const said: string[] = process.argv.slice(2);\nconsole.log(JSON.stringify([said, await Bun.stdin.text()]));\n";
  for (const first of ["#!/usr/bin/env bun", "#!/usr/bin/env -S bun run", "#!/nowhere/bun"]) {
    writeFileSync(path, `${first}\n${source}`);
    chmodSync(path, 0o755);
    const plain = script("true");
    const done = await host.run({ ...plain, argv: [path, "hello", "-h", "--", "x"], env: { PATH: "/usr/bin:/bin" } });
    expect([done.stderr, JSON.parse(text(done.stdout))]).toEqual(["", [["hello", "-h", "--", "x"], "{}"]]);
  }
});

test("a bun that not every user can execute is not the one that runs a script", async () => {
  const place = join(folder, "closed");
  const bun = join(place, "bin", "bun");
  mkdirSync(join(place, "bin"), { recursive: true });
  writeFileSync(bun, "#!/bin/sh\necho the closed one\n");
  chmodSync(bun, 0o755);
  chmodSync(place, 0o700);
  const path = join(folder, "main.ts");
  for (const first of ["#!/usr/bin/env bun", `#!${bun}`]) {
    writeFileSync(path, `${first}\nconsole.log("berth's own");\n`);
    chmodSync(path, 0o755);
    const env = { PATH: `${join(place, "bin")}:/usr/bin:/bin` };
    const done = await host.run({ ...script("true"), argv: [path], env });
    expect(text(done.stdout).trim()).toBe("berth's own");
  }
});

test("what cannot be started says why", async () => {
  const plain = script("true");
  const missing = { ...plain, argv: [join(folder, "nothing")] };
  expect(await thrownBy(() => host.run(missing))).toMatchObject({
    code: "not_found",
    message: expect.stringContaining("nothing"),
  });
  chmodSync(plain.argv[0] ?? "", 0o644);
  expect(await thrownBy(() => host.run(plain))).toMatchObject({
    code: "invalid",
    message: expect.stringContaining("is not executable"),
  });
  expect(await thrownBy(() => host.run({ ...plain, folder: join(folder, "gone") }))).toMatchObject({
    code: "not_found",
    message: expect.stringContaining("folder"),
  });
});

test("one more than may run at the same time is refused, the next after one has ended is not", async () => {
  const stop = new AbortController();
  const running = [1, 2, 3].map(() => host.run(script("sleep 60", { signal: stop.signal })));
  expect(host.running()).toBe(3);
  expect(await thrownBy(() => host.run(script("true")))).toMatchObject({ code: "unavailable" });
  stop.abort();
  await Promise.all(running);
  expect((await host.run(script("true"))).ending).toEqual({ how: "exited", code: 0 });
});

test("what a server of before left is ended by its owner, that of others is not", async () => {
  const left = (value: string) => Bun.spawn(["sleep", "60"], { env: { PATH: "/usr/bin:/bin", [runVariable]: value } });
  const [own, other] = [left(`a${process.pid}.x`), left(`b${process.pid}.x`)];
  const next = createHost({ limits, runVariable, owner: `a${process.pid}` });
  await next.endLeftovers();
  expect(await own.exited).toBe(137);
  expect(other.killed).toBe(false);
  other.kill();
  const done = await next.run(script(`printf %s "$${runVariable}"`));
  expect(text(done.stdout)).toStartWith(`a${process.pid}.run-`);
});

test("closing ends what runs", async () => {
  const hanging = script("sleep 60");
  const running = host.run(hanging);
  await host.close();
  expect((await running).ending).toEqual({ how: "cancelled" });
  expect(await isAlive(hanging.id)).toBe(false);
});
