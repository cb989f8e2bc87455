import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { executable, berth as run } from "../support/executable.ts";
import { deployment, fixtureImage, statefulset } from "../support/manifests.ts";
import { laptop } from "../support/pushes.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";
import { notedCopy } from "../../src/orchestration/store/copy.ts";

setDefaultTimeout(120_000);

/** Volumes of real containers that come back from copies at a target, by the restic of this machine. */
describe("restores of volumes", () => {
  let berth: Rig;
  let folder: string;
  let copies: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "berth-restores."));
    copies = join(folder, "copies");
    berth = await rig();
    expect((await cli("backup", "target", "add", "disk", copies)).exitCode).toBe(0);
  });
  afterEach(async () => {
    await berth?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const cli = (...args: string[]) => berth.cli(args);
  const restore = (...args: string[]) => cli("backup", "restore", ...args, "-y");
  const volumeOf = (ordinal = 0) => `${berth.prefix}-shop-db-data-${ordinal}`;
  const dataOf = (volume = volumeOf()) => berth.docker(["volume", "inspect", "-f", "{{.Mountpoint}}", volume]).trim();
  const claims = { volume_claims: [{ name: "data", mount_path: "/data" }], backup: { every: "1d" } };
  const database = (spec: object = {}) => statefulset("shop", "db", { ...claims, ...spec });

  const copyDatabase = async () => {
    const made = await cli("backup", "now", "shop/db");
    expect([made.exitCode, made.stdout]).toEqual([0, expect.stringContaining("shop/db/data/0")]);
  };

  /** A container that has just been replaced takes no command, and the next one comes a moment later. */
  const inPod = (...command: string[]) => {
    for (let tries = 1; ; tries += 1) {
      const id = berth.docker(["ps", "-q", "--filter", `label=${berth.prefix}.name=db`]).trim();
      const run = Bun.spawnSync(["docker", "-H", berth.dockerHost, "exec", id, ...command], { stderr: "pipe" });
      if (run.success) return `${run.stdout.toString().trim()}\n`;
      if (tries === 100) throw new Error(`${command.join(" ")}: ${run.stderr.toString()}`);
      Bun.sleepSync(100);
    }
  };

  test("in place: data, holes, owner and links come back, the app sees them, and an undo brings back what was there", async () => {
    expect(await berth.apply(database())).toMatchObject({ status: 200 });
    await berth.ready("statefulset", "shop", "db");
    inPod(
      "sh",
      "-c",
      "echo good >/data/a; mkdir /data/sub; echo x >/data/sub/f; ln /data/a /data/hard; ln -s a /data/soft",
    );
    inPod("sh", "-c", "chown -R 70:70 /data; chmod 700 /data; chmod 4755 /data/sub/f");
    writeFileSync(join(dataOf(), "sparse"), "");
    truncateSync(join(dataOf(), "sparse"), 64 * 1024 * 1024);
    await copyDatabase();
    inPod("sh", "-c", "rm -r /data/a /data/sub; echo bad >/data/b");

    const plan = await cli("backup", "restore", "shop/db", "--in-place");
    expect([plan.exitCode, plan.stderr]).toEqual([5, expect.stringContaining("shop/db/data/0")]);
    expect(inPod("ls", "/data")).toContain("b\n");
    const done = await restore("shop/db", "--in-place");
    expect(done).toMatchObject({ exitCode: 0 });
    expect(done.stdout).toContain("shop/db/data/0  restored");
    await berth.ready("statefulset", "shop", "db");
    expect(inPod("sh", "-c", "cat /data/a /data/sub/f; stat -c '%u %a' /data /data/sub/f; readlink /data/soft")).toBe(
      "good\nx\n70 700\n70 4755\na\n",
    );
    expect(inPod("ls", "/data").split("\n")).not.toContain("b");
    const [a, hard] = ["a", "hard"].map((name) => statSync(join(dataOf(), name)).ino);
    expect(a).toBe(hard as number);
    const { size, blocks } = statSync(join(dataOf(), "sparse"));
    expect([size, blocks * 512 < 1024 * 1024]).toEqual([64 * 1024 * 1024, true]);

    inPod("sh", "-c", "echo later >/data/later");
    const undone = await restore("--undo", "shop/db");
    expect([undone.exitCode, undone.stdout]).toEqual([0, expect.stringContaining("undone")]);
    await berth.ready("statefulset", "shop", "db");
    expect(inPod("ls", "/data").split("\n")).toEqual(expect.arrayContaining(["b", "hard"]));
    expect(inPod("ls", "/data")).not.toContain("later");
    expect((await restore("--undo", "shop/db")).stderr).toContain("nothing to undo");
  });

  test("one file into its place and into a folder; a link on the way is not followed", async () => {
    expect(await berth.apply(database())).toMatchObject({ status: 200 });
    await berth.ready("statefulset", "shop", "db");
    inPod("sh", "-c", "mkdir -p /data/etc/app; echo one >/data/etc/app/conf; echo keep >/data/etc/other");
    await copyDatabase();
    inPod("sh", "-c", "echo two >/data/etc/app/conf; echo new >/data/etc/other");
    expect(await restore("shop/db", "--in-place", "--path", "/etc/app/conf")).toMatchObject({ exitCode: 0 });
    await berth.ready("statefulset", "shop", "db");
    expect(inPod("cat", "/data/etc/app/conf", "/data/etc/other")).toBe("one\nnew\n");
    expect(await restore("--undo", "shop/db")).toMatchObject({ exitCode: 0 });
    await berth.ready("statefulset", "shop", "db");
    expect(inPod("cat", "/data/etc/app/conf")).toBe("two\n");

    // Its folder is gone: what is missing comes back with it.
    inPod("rm", "-r", "/data/etc");
    expect(await restore("shop/db", "--in-place", "--path", "etc/app/conf")).toMatchObject({ exitCode: 0 });
    await berth.ready("statefulset", "shop", "db");
    expect(readdirSync(join(dataOf(), "etc"), { recursive: true }).sort()).toEqual(["app", "app/conf"]);

    const into = join(folder, "found");
    expect(await restore("shop/db", "--path", "etc/other", "--into", into)).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(into, "etc/other"), "utf8")).toBe("keep\n");
    expect(statSync(into).mode & 0o777).toBe(0o700);
    expect((await restore("shop/db", "--into", into)).stderr).toContain("is there and not empty");
    expect((await restore("shop/db", "--path", "nope", "--into", `${into}2`)).stderr).toContain('does not hold "nope"');

    const outside = join(folder, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "conf"), "mine\n");
    inPod("sh", "-c", `rm -r /data/etc/app; ln -s ${outside} /data/etc/app`);
    const refused = await restore("shop/db", "--in-place", "--path", "etc/app/conf");
    expect([refused.exitCode, refused.stdout]).toEqual([
      1,
      expect.stringContaining('"etc/app" in the volume is a link now'),
    ]);
    expect(readFileSync(join(outside, "conf"), "utf8")).toBe("mine\n");
    await berth.ready("statefulset", "shop", "db");
  });

  test("a volume that is gone comes back for the app that waits for it; a copy beside is a volume to mount", async () => {
    expect(await berth.apply(database())).toMatchObject({ status: 200 });
    await berth.ready("statefulset", "shop", "db");
    inPod("sh", "-c", "echo good >/data/a; chown 70 /data/a");
    await copyDatabase();
    const beside = await restore("shop/db", "--beside");
    const [, mount = ""] = /"(data-0-of-[0-9tz]+)" in manifests/.exec(beside.stdout) ?? [];
    expect([beside.exitCode, mount]).toEqual([0, expect.stringContaining("data-0-of-")]);
    expect((await restore("shop/db", "--beside")).stderr).toContain("is there already");
    expect(readFileSync(join(dataOf(`${berth.prefix}_shop_${mount}`), "a"), "utf8")).toBe("good\n");
    expect((await restore("shop/db")).stderr).toContain("no volume is missing");

    await cli("scale", "shop/db", "0");
    await waitFor("no pods", async () => (await berth.pods("shop", "db")).length === 0);
    berth.docker(["volume", "rm", volumeOf()]);
    await cli("scale", "shop/db", "1");
    await berth.tells("shop/db", "VolumeMissing");
    const all = await restore("--all");
    expect(all).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("which is missing") });
    expect(all.stdout).toMatch(/restored .* into \S+-db-data-0\n$/);
    await berth.ready("statefulset", "shop", "db");
    expect(inPod("cat", "/data/a")).toBe("good\n");
    expect(readdirSync(join(dataOf(), ".."))).toEqual(["_data"]);
  });

  /** What drills have made: containers, volumes and networks. */
  const ofDrills = () =>
    [
      ["ps", "-aq"],
      ["volume", "ls", "-q"],
      ["network", "ls", "-q"],
    ].map((words) => berth.docker([...words, "--filter", `label=${berth.prefix}.role=drill`]).trim());

  /** Drills the copy of shop/db, and asks from inside of it what is in reach. The copy starts once `/tmp/go` is there. */
  async function drillShut(live: string) {
    // A process of its own, since each command of Docker stops this one. It listens on every address of the machine.
    const server = 'console.log(Bun.serve({ hostname: "0.0.0.0", port: 0, fetch: () => new Response("here") }).port)';
    const machine = Bun.spawn([process.execPath, "-e", server], { stdout: "pipe" });
    try {
      const port = new TextDecoder().decode((await machine.stdout.getReader().read()).value).trim();
      const drill = cli("backup", "drill", "shop/db");
      const copy = () => berth.docker(["ps", "-q", "--filter", `label=${berth.prefix}.role=drill`]).trim();
      await waitFor("the copy to run", () => copy() !== "", 60_000);
      const id = copy();
      const run = (of: string, script: string) => berth.docker(["exec", of, "sh", "-c", script]).trim();
      await waitFor("the copy to listen", () => run(id, "wget -qO- http://db/a || true") !== "");
      for (const name of ["db", "db.shop", "db-0.shop"])
        expect([name, run(id, `timeout 20 wget -qO- http://${name}/a`)]).toEqual([name, "now"]);
      const [network] = Object.values(
        JSON.parse(berth.docker(["inspect", "-f", "{{json .NetworkSettings.Networks}}", live])) as Record<
          string,
          { IPAddress: string; Gateway: string }
        >,
      );
      const own = run(id, "hostname -i").replace(/\d+$/, "1");
      const reached = (of: string, places: string[]) =>
        run(
          of,
          `for place in ${places.join(" ")}; do timeout 3 wget -qO- http://$place >/dev/null 2>&1 && echo $place & done; wait`,
        );
      // The same words reach the live app and the machine from a container that is not of a drill.
      const alive = [`${network?.IPAddress}/a`, `${network?.Gateway}:${port}`];
      await waitFor("the live app and the machine to answer", () => reached(live, alive).split("\n").length === 2);
      // The default route that the engine makes leads to an address which nothing has.
      const route = run(id, "awk '$2 == \"00000000\" { print $3 }' /proc/net/route");
      const gateway = route === "" ? own : [...Buffer.from(route, "hex")].reverse().join(".");
      expect(gateway).toBe(own);
      const outside = [...alive, `${own}:${port}`, `host.docker.internal:${port}`, "169.254.169.254"];
      expect(reached(id, outside)).toBe("");
      expect(run(id, "ls /var/run/docker.sock 2>/dev/null || true")).toBe("");
      const ports = berth.docker(["inspect", "-f", "{{json .HostConfig.PortBindings}}", id]).trim();
      expect(ports).toMatch(/^(\{\}|null)$/);
      run(id, "touch /tmp/go");
      return await drill;
    } finally {
      machine.kill();
    }
  }

  test("what cannot be read, fits no disk or names no copy changes nothing; a drill tries a copy out of reach", async () => {
    const waits = ["sh", "-c", "[ ! -e /data/hold ] || [ -e /tmp/go ]"];
    const probes = {
      startup: { exec: { command: waits }, period: "1s" },
      readiness: { http_get: { path: "/a", port: 80 }, period: "1s" },
    };
    const web = { command: ["httpd", "-f", "-p", "80", "-h", "/data"], probes };
    expect(await berth.apply(database(web))).toMatchObject({ status: 200 });
    const live = () => berth.docker(["ps", "-q", "--filter", `label=${berth.prefix}.name=db`]).trim();
    await waitFor("the container", () => live() !== "");
    inPod("sh", "-c", "head -c 3000000 /dev/urandom >/data/big; echo now >/data/a");
    await berth.ready("statefulset", "shop", "db");
    inPod("touch", "/data/hold");
    await copyDatabase();
    inPod("sh", "-c", "rm /data/hold; echo later >/data/a");
    const id = live();
    const drilled = await drillShut(id);
    expect([drilled.exitCode, drilled.stderr]).toEqual([0, ""]);
    expect(drilled.stdout).toMatch(/^shop\/db {2}proved by its own check: ready in [\d.ms ]+, from a copy that was/);
    expect(ofDrills()).toEqual(["", "", ""]);
    expect([live(), inPod("cat", "/data/a")]).toEqual([id, "later\n"]);

    const none = await restore("shop/web", "--in-place");
    expect(none.stderr).toContain("no copy of a volume of shop/web: there are copies of shop/db");
    expect((await restore("shop/db", "--in-place", "--at", "2020-01-01 10:00")).stderr).toContain("they are of ");
    expect((await restore("shop/db", "--in-place", "--path", "../x")).stderr).toContain("is not a file or folder");
    expect((await restore("shop/db", "--into", "relative")).stderr).toContain("is not the full path of a folder");
    for (const pack of readdirSync(copies, { recursive: true, withFileTypes: true })) {
      const path = join(pack.parentPath, pack.name);
      if (pack.isFile() && path.includes("/data/") && statSync(path).size > 1_000_000)
        writeFileSync(path, readFileSync(path).fill(0, 100_000));
    }
    const damaged = await restore("shop/db", "--in-place");
    expect([damaged.exitCode, damaged.stdout]).toEqual([
      1,
      expect.stringMatching(/failed: .* errors, the first of \/\w+: /),
    ]);
    expect(damaged.stdout).toContain("take another copy");
    expect(inPod("cat", "/data/a")).toBe("later\n");
    expect(readdirSync(join(dataOf(), ".."))).toEqual(["_data"]);
  });

  test("a server that is killed in the middle ends or undoes the restore at its next start, and removes its drill", async () => {
    expect(await berth.apply(database())).toMatchObject({ status: 200 });
    await berth.ready("statefulset", "shop", "db");
    inPod(
      "sh",
      "-c",
      "echo good >/data/a; i=0; while [ $i -lt 300 ]; do head -c 100000 /dev/urandom >/data/f$i; i=$((i+1)); done",
    );
    await copyDatabase();
    inPod("sh", "-c", "echo bad >/data/a");
    const states = new Set<string>();
    // The last one is another each time.
    for (const pauseMs of [0, 300, 600 + Math.random() * 600]) {
      await berth.call("POST", "/backups/restores", { scope: "shop", name: "db", way: "in_place" });
      await Bun.sleep(pauseMs);
      await berth.stop("SIGKILL");
      await berth.start();
      const rows = async () => {
        const { body } = await berth.call("GET", "/backups/restores");
        return (body.data as unknown as { restores: { state: string; ended_at?: string }[] }).restores;
      };
      await waitFor("the end of the restore", async () => (await rows()).every(({ ended_at: at }) => at !== undefined));
      const state = (await rows())[0]?.state ?? "";
      states.add(state);
      await berth.ready("statefulset", "shop", "db");
      const wanted = state === "done" ? "good\n" : "bad\n";
      await waitFor(`${state}: the data to be ${wanted}`, () => inPod("cat", "/data/a") === wanted);
      await waitFor("all files", () => inPod("sh", "-c", "ls /data | wc -l") === "301\n");
      if (state === "done") inPod("sh", "-c", "echo bad >/data/a");
      const left = () => readdirSync(join(dataOf(), "..")).length - 1;
      const done = (await rows()).filter((row) => row.state === "done").length;
      await waitFor(`${done} volumes to be kept for an undo`, () => left() === done);
    }
    expect(states.has("failed")).toBe(true);
    // A server that starts first asks its targets whether another one acts.
    const begin = () => berth.call("POST", "/backups/drills", { scope: "shop", name: "db" });
    await waitFor("the drill to begin", async () => (await begin()).status === 200);
    await waitFor("the drill", () => !ofDrills().slice(1).includes(""), 60_000);
    await berth.stop("SIGKILL");
    await berth.start();
    await waitFor("what the killed drill left to go", () => ofDrills().join("") === "", 60_000);
    expect(existsSync(dataOf())).toBe(true);
  });

  /** An image that no registry holds, as a build makes it; its id. */
  const madeHere = (name: string) => {
    berth.docker(["create", "--name", name, fixtureImage, "true"]);
    try {
      return berth.docker(["commit", "-m", name, name, name]).trim();
    } finally {
      berth.docker(["rm", name]);
    }
  };

  const small = {
    probes: { readiness: { exec: { command: ["true"] }, period: "1s" } },
    resources: { limits: { memory: "64M" } },
  };

  /** Two changes of shop/web, whose release commands meet the data of today; the file is of its volume. */
  async function rehearseOnCopies(spec: object, file: string) {
    const live = () => berth.docker(["ps", "-q", "--filter", `label=createdby=${berth.prefix}`]).trim();
    const before = live();
    const rehearse = async (script: string) => {
      const change = join(folder, "change.json");
      const release = { command: ["sh", "-c", script] };
      writeFileSync(change, JSON.stringify(deployment("shop", "web", { ...spec, ...small, release })));
      return cli("rehearse", "-f", change);
    };
    const bad = await rehearse("! grep picture /files/upload || exit 3");
    expect([bad.exitCode, bad.stdout]).toEqual([
      1,
      expect.stringMatching(
        /^shop\/web {2}failed: its release command ended with exit code 3; it printed last: a picture, on data that was/,
      ),
    ]);
    const good = await rehearse("grep picture /files/upload && echo moved >/files/upload");
    expect([good.exitCode, good.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^shop\/web {2}passed: its release command passed, ready in .*\nshop\/db \(beside it\) {2}passed/,
      ),
    ]);
    expect([ofDrills(), live(), readFileSync(file, "utf8")]).toEqual([["", "", ""], before, "a picture"]);
    expect((await cli("releases", "shop/web", "-o", "json")).stdout).not.toContain("moved");
  }

  test("a burnt server: state, volumes and images come back by one command, and the same command goes on", async () => {
    const own = `${berth.prefix}-made-here`;
    const image = madeHere(own);
    expect((await cli("backup", "target", "add", "disk", copies, "--images", "--logs")).exitCode).toBe(0);
    const web = { image: own, volumes: ["files:/files"], backup: {} };
    await berth.apply(database(small), deployment("shop", "web", web));
    for (const [kind, name] of [
      ["statefulset", "db"],
      ["deployment", "web"],
    ] as const)
      await berth.ready(kind, "shop", name);
    inPod("sh", "-c", "echo 'users of ann' >/data/users; chown -R 70:71 /data; chmod 750 /data");
    const files = () => dataOf(`${berth.prefix}_shop_files`);
    writeFileSync(join(files(), "upload"), "a picture");
    using ana = await laptop(berth.root);
    const commit = await ana.commit("as it was pushed");
    expect((await ana.git("push", "-q", "berth", "HEAD:feature", "HEAD:refs/tags/v1")).exitCode).toBe(0);
    const now = await cli("backup", "now");
    expect([now.exitCode, now.stdout]).toEqual([0, expect.stringContaining("shop/db/data/0")]);
    for (const part of ["repositories", "logs"])
      expect(now.stdout).toMatch(new RegExp(` disk {2}${part} {2}[0-9a-f]{8} `));
    await rehearseOnCopies(web, join(files(), "upload"));
    // The state knows that its volumes were copied.
    expect((await cli("backup", "now")).exitCode).toBe(0);
    const keyFile = join(folder, "key.txt");
    writeFileSync(keyFile, (await cli("backup", "key")).stdout);

    await berth.server.stop("SIGKILL");
    const mine = ["--filter", `label=createdby=${berth.prefix}`];
    const containers = berth
      .docker(["ps", "-aq", ...mine])
      .split("\n")
      .filter(Boolean);
    berth.docker(["rm", "-f", ...containers]);
    berth.docker(["volume", "rm", volumeOf(), `${berth.prefix}_shop_files`]);
    berth.docker(["rmi", "-f", image]);

    const root = join(folder, "root");
    const began = performance.now();
    const took = (what: string) => `${what} ${((performance.now() - began) / 1_000).toFixed(1)} s`;
    const times: string[] = [];
    const words = ["--all", "--logs", "--from", copies, "--key-file", keyFile, "--root", root, "-y"];
    const restored = run(["server", "restore", ...words]);
    // No service is installed for this folder: the command waits for the server that somebody starts.
    await waitFor("the state", () => notedCopy(join(root, "state.db")) !== undefined, 60_000);
    const second = await rig({ root, flags: ["--prefix", berth.prefix] });
    try {
      times.push(took("server up after"));
      const all = await restored;
      expect([all.exitCode, all.stderr]).toEqual([0, expect.stringContaining("shop/web/files")]);
      for (const part of [
        /==> shop\/db\/data\/0 +\d{4}-/,
        /==> repositories +\d{4}-/,
        /==> logs, after \d+\.\d s: the server takes them up when it starts\n/,
        /==> state, after \d+\.\d s\n==> repositories, after \d+\.\d s\n==> start the server now, in another terminal: berth serve --root /,
        /==> the server answers, after \d+\.\d s\n/,
        /^shop\/db\/data\/0 {2}restored .* in \d+\.\d s into /m,
        /==> volumes and databases, after \d+\.\d s\n==> look at it .*, then run berth restore --confirm --root /,
      ])
        expect(all.stdout).toMatch(part);
      times.push(took("volumes after"), ...all.stdout.trim().split("\n"));
      const again = await run(["server", "restore", ...words]);
      expect([again.exitCode, again.stdout]).toEqual([
        0,
        expect.stringMatching(
          / already: going on with what is missing\n==> logs: .* already\n==> repositories: .* stay\n(?:.*\n)*no volume is missing/,
        ),
      ]);
      const sends = `${executable} upload-pack --root ${root}`;
      const cloned = await ana.git("clone", "-q", "-u", sends, "-b", "feature", "deploy@server:shop", "copy");
      expect([cloned.exitCode, cloned.stderr]).toEqual([0, ""]);
      expect((await ana.git("-C", "copy", "rev-parse", "HEAD", "v1")).stdout).toBe(`${commit}\n${commit}\n`);
      expect((await second.call("GET", "/system")).body.data).toMatchObject({ store: { collection_held: true } });
      await second.ready("statefulset", "shop", "db");
      await second.ready("deployment", "shop", "web");
      times.push(took("apps ready after"));
      expect(inPod("sh", "-c", "cat /data/users; stat -c '%u %g %a' /data /data/users")).toBe(
        "users of ann\n70 71 750\n70 71 644\n",
      );
      expect(readFileSync(join(files(), "upload"), "utf8")).toBe("a picture");
      const web = berth.docker(["ps", "-q", "--filter", `label=${berth.prefix}.name=web`]).trim();
      expect(berth.docker(["inspect", "-f", "{{.Image}}", web]).trim()).toBe(image);
      expect(berth.docker(["inspect", "-f", "{{.Id}}", own]).trim()).toBe(image);
      console.info(times.join("\n"));
    } finally {
      await second.close();
      berth.docker(["rmi", "-f", image]);
    }
  }, 360_000);
});
