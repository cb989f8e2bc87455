import { expect, setDefaultTimeout, test } from "bun:test";
import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import type { MovePlan } from "../../src/local/move/plan.ts";
import type { MoveRecord } from "../../src/local/parked.ts";
import { docker, type Dockerd, startDockerd } from "../support/dockerd.ts";
import { berth as run, executable } from "../support/executable.ts";
import { cronjob, statefulset } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { type Sshd, startSshd } from "../support/sshd.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(300_000);

/**
 * Counts on from what the volume has, and ends only when it is killed: the switch has to wait for that. A second file of each
 * start changes, and keeps its size and time.
 */
const writer = `trap '' TERM; begun=$(tail -n 1 /data/log 2>/dev/null || echo 0); i=$begun; while true; do i=$((i+1))
  echo $i >>/data/log; printf %08d $i >/data/same.$begun; touch -d "2020-01-01 00:00:00" /data/same.$begun; sleep 0.1; done`;
const image = "berth-only-here:1";

let old: Rig;
let next: Rig;
let daemon: Dockerd;
let sshd: Sshd;

const env = () => ({ BERTH_SSH_CONFIG: sshd.clientConfig });
const move = (...words: string[]) => run(["move", ...words, "--root", old.root], { env: env() });
const there = () => `ssh://root@127.0.0.1:${sshd.port}`;
const volumeName = () => `${old.prefix}-shop-db-data-0`;
const folderOf = (host: string) => docker(host, ["volume", "inspect", "--format", "{{.Mountpoint}}", volumeName()]);
const numbersIn = (folder: string) => readFileSync(join(folder, "log"), "utf8").trim().split("\n").map(Number);
const running = (server: Rig) => docker(server.dockerHost, ["ps", "-q", "--filter", `label=createdby=${old.prefix}`]);
const record = (): Partial<MoveRecord> =>
  existsSync(join(old.root, "move.json")) ? JSON.parse(readFileSync(join(old.root, "move.json"), "utf8")) : {};

/** Every number from 1 on, each once. */
function expectWhole(numbers: readonly number[]): void {
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
}

test("a server moves to another machine with all of its data, and comes back; a killed move changes nothing", async () => {
  old = await rig();
  try {
    daemon = await startDockerd();
    next = await rig({ dockerHost: daemon.host, flags: ["--prefix", old.prefix] });
    sshd = await startSshd([`SetEnv BERTH_ROOT=${next.root} PATH=${dirname(executable)}:${process.env.PATH}`]);
    await story();
  } finally {
    await sshd?.[Symbol.asyncDispose]();
    await next?.close();
    await daemon?.close();
    await old.close();
  }
});

async function story(): Promise<void> {
  old.docker(["commit", old.docker(["create", "berth-fixture:1", "true"]), image]);
  const volume_claims = [{ name: "data", mount_path: "/data" }];
  const spec = { image, command: ["sh", "-c", writer], volume_claims, stop_grace: "2s", restart: "always" };
  await old.apply(
    statefulset("shop", "db", spec),
    cronjob("shop", "tick", { schedule: "0 0 29 2 *" }, { command: ["true"] }),
  );
  await old.ready("statefulset", "shop", "db");
  const source = folderOf(old.dockerHost);
  writeFileSync(join(source, "one"), "linked twice");
  linkSync(join(source, "one"), join(source, "two"));
  // Its name is not UTF-8.
  writeFileSync(Buffer.concat([Buffer.from(join(source, "caf")), Buffer.from([0xe9])]), "latin");
  writeFileSync(join(source, "sparse"), "");
  truncateSync(join(source, "sparse"), 50_000_000);
  await old.cli(["config", "set", "shop/db", "WORD=secret"]);

  const planned = await move("--to", there(), "--plan", "-o", "json");
  expect(planned.stderr).toBe("");
  const { data: plan } = JSON.parse(planned.stdout) as { data: MovePlan };
  expect(plan).toMatchObject({ problems: [], containers: 1, grace_seconds: 2, volumes: [{ name: volumeName() }] });
  expect(plan.images.flatMap(({ tags }) => tags)).toContain(image);
  expect(plan.bytes).toBeLessThan(40_000_000);
  const unasked = await move("--to", there());
  expect([unasked.exitCode, unasked.stdout, unasked.stderr]).toEqual([
    5,
    expect.stringContaining("the way back"),
    expect.stringContaining("nothing was changed"),
  ]);

  // Killed in the middle of the switch.
  const killed = Bun.spawn([executable, "move", "--to", there(), "--root", old.root, "-y"], {
    ...{ env: { ...process.env, ...env() }, stdin: "ignore", stdout: "ignore", stderr: "ignore" },
  });
  await waitFor("the switch to begin", () => record().phase === "leaving", 120_000);
  killed.kill("SIGKILL");
  await killed.exited;
  await waitFor("the old server acts again", async () => (await old.call("GET", "/system")).status === 200);
  const before = numbersIn(source).length;
  await waitFor("its app writes again", () => numbersIn(source).length > before + 2);
  expect(existsSync(join(old.root, "move.json"))).toBe(false);
  expect(running(next)).toBe("");
  expect((await next.cli(["get"])).stderr).toContain("moves to this server, which acts when all of it is here");

  const moved = await move("--to", there(), "-y", "-i", relative(process.cwd(), sshd.key));
  expect([moved.stderr, moved.exitCode]).toEqual(["", 0]);
  expect(record().identity).toBe(sshd.key);
  expect(moved.stdout).toMatch(/the switch took \d+\.\d s, expected were \d+ s/);
  expect(running(old)).toBe("");
  const [container] = (await old.docker(["ps", "-aq", "--filter", `label=${old.prefix}.name=db`])).split("\n");
  const policy = "{{.HostConfig.RestartPolicy.Name}}";
  expect(old.docker(["inspect", "--format", policy, container ?? ""])).toBe("unless-stopped");
  expect((await old.cli(["get"])).stderr).toContain(`this server moved to root@127.0.0.1:${sshd.port} at `);
  const left = numbersIn(source);
  const target = folderOf(next.dockerHost);
  await waitFor("the app goes on there", () => numbersIn(target).length > left.length + 2);
  expectWhole(left);
  expectWhole(numbersIn(target));
  expect(numbersIn(source)).toEqual(left);
  const same = readdirSync(source).filter((name) => name.startsWith("same."));
  expect(same).toHaveLength(2);
  for (const name of same)
    expect(readFileSync(join(target, name), "utf8")).toBe(readFileSync(join(source, name), "utf8"));
  expect(statSync(join(target, "one")).ino).toBe(statSync(join(target, "two")).ino);
  expect(readdirSync(target, "buffer").some((name) => name.at(-1) === 0xe9)).toBe(true);
  const sparse = statSync(join(target, "sparse"));
  expect([sparse.size, sparse.blocks < 1_000]).toEqual([50_000_000, true]);
  expect((await next.cli(["config", "get", "shop/db", "WORD"])).stdout).toBe("secret\n");
  const system = (await next.call("GET", "/system")).body.data as unknown as Record<string, unknown>;
  expect([system.held, system.store]).toEqual([undefined, { manifests: 2, collection_held: false }]);
  expect(readdirSync(join(old.root, "copies")).filter((name) => name.startsWith("move"))).toEqual([]);
  // A server that is started while it is away waits as well.
  await old.stop("SIGKILL");
  void old.start().catch(() => undefined);
  await waitFor("it waits", async () => (await old.cli(["get"])).stderr.includes("this server moved to "));
  expect(running(old)).toBe("");

  const closed = await move("--to", there(), "-y");
  expect([closed.exitCode, closed.stderr]).toEqual([1, expect.stringContaining("berth move --undo")]);
  await sshd.stop();
  const unreached = await move("--undo", "-y");
  expect([unreached.exitCode, unreached.stderr]).toEqual([4, expect.stringContaining("berth move --undo --force")]);
  await sshd.again();
  expect(await move("--undo", "-y")).toMatchObject({ exitCode: 0, stderr: "" });
  expect(running(next)).toBe("");
  await old.ready("statefulset", "shop", "db");
  expect(JSON.parse(readFileSync(join(old.root, "life.json"), "utf8"))).toMatchObject({ number: 2 });
  await waitFor("the app goes on here", () => numbersIn(source).length > left.length + 2);
  expectWhole(numbersIn(source));
  rmSync(join(source, "sparse"));
}
