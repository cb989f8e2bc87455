import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { kitShell, startKitShell } from "../../../support/shell.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-pod."));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const pod = (lines: string, ...args: string[]) => kitShell(["pod.sh"], lines, ...args);

test("the ordinal comes from the variable of the platform, whatever its prefix is", async () => {
  expect((await pod("env_prefix=ACME ACME_REPLICA_ORDINAL=2; own_ordinal")).stdout).toBe("2");
  expect((await pod("env_prefix=ACME; own_ordinal")).stdout).toBe("0");
  expect((await pod("block_name=main block_scope=data; host_of 1")).stdout).toBe("main-1.data");
});

test.each([
  ["nameserver 127.0.0.11\noptions ndots:0\n", "", "timeout:1 attempts:2"],
  ["", "", "timeout:1 attempts:2"],
  ["nameserver 127.0.0.11\noptions ndots:0 timeout:3\n", "", ""],
  ["options attempts:3", "", ""],
  ["options ndots:0\n", "timeout:4", "timeout:4"],
])("names are looked up soon, unless somebody wants it otherwise: %j, %j", async (file, own, options) => {
  const path = join(folder, "resolv.conf");
  if (file !== "") writeFileSync(path, file);
  const asked = await pod(`RES_OPTIONS=${own}\nlook_up_soon "$1"\necho "$RES_OPTIONS"`, path);
  expect(asked).toEqual({ exitCode: 0, stdout: `${options}\n`, stderr: "" });
});

describe("the user to go on as", () => {
  const root = "is_root() { true; }";

  test("an image without it goes on as root where the server can", async () => {
    expect(await pod(`${root}\nas_owner script\nown_folders /nowhere\necho went on`)).toMatchObject({
      exitCode: 0,
      stdout: "went on\n",
    });
  });

  test.each(["as_owner script", "own_folders /nowhere"])("and is refused where it cannot: %s", async (call) => {
    const { exitCode, stderr } = await pod(
      `${root}\nowner_needed="MQ refuses to run as root"\n${call}\necho went on >&2`,
    );
    expect([exitCode, stderr]).toEqual([
      1,
      'mq: the image has no user "nobody-of-that-name" and MQ refuses to run as root; use an image that has one\n',
    ]);
  });

  test("who is not root goes on as they are", async () => {
    const user = "is_root() { false; }\nowner_needed=x";
    expect((await pod(`${user}\nas_owner script\nown_folders /nowhere\necho went on`)).stdout).toBe("went on\n");
  });

  test("root is who the kernel says it is", async () => {
    const asked = await pod("if is_root; then echo yes; else echo no; fi\nid -u");
    expect(asked.stdout).toBe(process.getuid?.() === 0 ? "yes\n0\n" : `no\n${process.getuid?.()}\n`);
  });

  test("a user is known from the file of users, and from nowhere else where there is none", async () => {
    const known = "if has_owner; then echo yes; else echo no; fi";
    expect((await pod(`owner=root\nid() { false; }\n${known}`)).stdout).toBe("yes\n");
    expect((await pod(`id() { false; }\n${known}`)).stdout).toBe("no\n");
    expect((await pod(`id() { true; }\n${known}`)).stdout).toBe("yes\n");
  });

  test.each([
    ["of util-linux", "", "yes"],
    ["of util-linux beside BusyBox", "cp /bin/true $1/busybox", "yes"],
    ["of BusyBox, as a link", "cp /bin/true $1/busybox; ln -sf busybox $1/setpriv", "no"],
    ["of BusyBox, as the same file", "cp /bin/true $1/busybox; ln -f $1/busybox $1/setpriv", "no"],
  ])("a setpriv %s can change the user or not", async (_what, lines, answer) => {
    const script = `cp /bin/true "$1/setpriv"\n${lines}\nPATH=$1\nif has_full_setpriv; then echo yes; else echo no; fi`;
    expect((await pod(script, folder)).stdout).toBe(`${answer}\n`);
  });
});

describe("the first process", () => {
  const script = (text: string) => {
    const path = join(folder, "serve.sh");
    writeFileSync(path, text);
    return path;
  };

  test.each([0, 7])("ends with the exit code of the script: %d", async (code) => {
    const { exitCode, stdout } = await pod('as_first "$1"\necho never', script(`echo "$1"; exit ${code}`));
    expect([exitCode, stdout]).toEqual([code, "owner\n"]);
  });

  test("hands signals on, as often as they come, and waits for the end", async () => {
    const path = script(
      "trap 'echo asked; n=$((n + 1))' TERM\nn=0\necho up\nwhile [ $n -lt 2 ]; do sleep 0.05; done\nexit 9",
    );
    const child = startKitShell(["pod.sh"], 'as_first "$1"', path);
    const reader = child.stdout.getReader();
    const decoder = new TextDecoder();
    let said = "";
    const until = async (text: string) => {
      while (said !== text) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`ended with: ${said}`);
        said += decoder.decode(value);
      }
    };
    await until("up\n");
    child.kill("SIGTERM");
    await until("up\nasked\n");
    child.kill("SIGTERM");
    await until("up\nasked\nasked\n");
    expect(await child.exited).toBe(9);
  });

  test("a stop that comes while the script is being started ends it", async () => {
    // In a subshell $$ is the first process. What that does once it knows its child takes it a moment, when it is traced.
    const slowly = `PS4='$([ -z "\${child:-}" ] || sleep 0.3)'\nset -x`;
    const early = `as_owner() { kill -TERM $$; }\n${slowly}\nas_first "$1"`;
    const { exitCode, stdout } = await pod(early, script("sleep 2; echo went on"));
    expect([exitCode, stdout]).toEqual([143, ""]);
  });

  test("a child that ended before anybody waited still tells its exit code", async () => {
    expect((await pod("(exit 5) &\nchild=$!\nsleep 0.1\noutlive $child || exit $?")).exitCode).toBe(5);
  });
});

describe("who decides", () => {
  const handover = (lines: string) =>
    kitShell(["pod.sh", "handover.sh"], `backups=$1\nsave_state() { echo "$epoch $primary"; }\n${lines}`, folder);

  test("the older word does not count", async () => {
    expect((await handover("epoch=3 primary=0; remember 3 1; remember 4 2")).stdout).toBe("3 1\n4 2\n");
    const older = await handover("epoch=3 primary=0; remember 2 1");
    expect([older.exitCode, older.stderr]).toEqual([1, "mq: epoch 2 is older than what this pod knows (3)\n"]);
  });
});
