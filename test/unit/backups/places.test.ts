import { dlopen, ptr } from "bun:ffi";
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer, request as connect } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { folders } from "../../../src/backups/restic/folders.ts";
import { createRestic } from "../../../src/backups/restic/restic.ts";
import { createRepository } from "../../../src/backups/service/repository.ts";
import { isRoot } from "../../support/is-root.ts";
import { patientBackups } from "../../support/patient-backups.ts";
import { startSshd } from "../../support/sshd.ts";
import { waitFor } from "../../support/wait.ts";

setDefaultTimeout(240_000);

const access = { installation: "0123456789abcdef", password: "a word" };
/** A place that goes on failing is given up sooner than a server does. */
const hasty = { ...patientBackups, resticStallMs: 1_500 };
const source = (path: string) => JSON.stringify(join(import.meta.dir, "../../../src/backups", path));
const lacks = (...programs: string[]) =>
  !isRoot || ["restic", ...programs].some((program) => Bun.which(program) === null);

/** Places that copies go to, as they are and as they fail, with restic itself. */
describe("a place for copies", () => {
  let folder: string;
  let data: string;
  let store: string;
  const { signal } = new AbortController();
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "berth-places."));
    [data, store] = [join(folder, "data"), join(folder, "store")];
    for (const path of [data, store]) mkdirSync(path);
    writeFileSync(join(data, "file"), "yesterday");
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const repositoryAt = (url: string, limits: typeof hasty = patientBackups) => {
    const restic = createRestic(join(folder, "cache"), limits, () => "berth-aa");
    return createRepository(restic, { ...access, credentials: {}, url }, limits);
  };

  /** Copies and brings back in a process for which `home` is the home of root: ssh takes its keys from there. */
  async function overSsh(home: string, url: string): Promise<string> {
    const given = { folder, access: { ...access, credentials: {}, url }, limits: patientBackups };
    const script = `
      const { createRestic } = await import(${source("restic/restic.ts")});
      const { createRepository } = await import(${source("service/repository.ts")});
      const { folder, access, limits } = ${JSON.stringify(given)};
      const repository = createRepository(createRestic(folder + "/cache", limits, () => "berth-aa"), access, limits);
      const { signal } = new AbortController();
      try {
        await repository.make();
        const { snapshot } = await repository.backup({ folder: folder + "/data", tags: ["berth-state"] }, signal);
        await repository.restore(snapshot, folder + "/back", signal);
        console.log((await repository.snapshots()).length);
      } catch (error) { console.log(error.code, error.message); }`;
    const users = join(folder, "passwd");
    writeFileSync(users, `root:x:0:0:root:${home}:/bin/sh\n`);
    const words = ["unshare", "--mount", "sh", "-ec", 'mount --bind "$0" /etc/passwd; exec "$@"', users];
    const child = Bun.spawn([...words, process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
    return (await new Response(child.stdout).text()).trim();
  }

  const sftpName = "by SFTP, with the keys of root and a machine that they know";
  test.skipIf(lacks("sshd", "ssh", "unshare"))(sftpName, async () => {
    await using sshd = await startSshd(["Subsystem sftp internal-sftp"]);
    const home = join(folder, "home");
    mkdirSync(join(home, ".ssh"), { recursive: true, mode: 0o700 });
    copyFileSync(sshd.key, join(home, ".ssh/id_ed25519"));
    const url = `sftp://root@127.0.0.1:${sshd.port}${store}`;
    expect(await overSsh(home, url)).toMatch(
      /^unavailable opening target sftp:\S+ failed: .*(?:[Hh]ost key|: ssh -o )/,
    );
    expect(readdirSync(store)).toEqual([]);
    copyFileSync(sshd.knownHosts, join(home, ".ssh/known_hosts"));
    expect(await overSsh(home, url)).toBe("1");
    expect(readFileSync(join(folder, "back/file"), "utf8")).toBe("yesterday");
    expect(readdirSync(join(store, access.installation, "locks"))).toEqual([]);
    await sshd.stop();
    expect(await overSsh(home, url)).toMatch(
      /^unavailable opening target sftp:\S+ failed: .*(refused|closed|connect)/i,
    );
  });

  const faultsName = "that answers 503 or breaks off now and then is asked again; one that goes on so is given up";
  test.skipIf(lacks("rclone"))(faultsName, async () => {
    const words = ["serve", "restic", "--addr", "127.0.0.1:0", store];
    const server = Bun.spawn(["rclone", ...words], { stdout: "ignore", stderr: "pipe" });
    let fault: (method: string, path: string) => "busy" | "cut" | undefined = () => undefined;
    let faults = 0;
    const port = await portOf(server.stderr);
    const front = createServer((request, response) => {
      const { url: path = "", method = "GET", headers } = request;
      const kind = fault(method, path);
      if (kind !== undefined) faults += 1;
      if (kind === "busy") response.writeHead(503).end("busy");
      if (kind === "cut") {
        response.writeHead(200, { "Content-Length": 1_000 }).write("cut", () => response.destroy());
      }
      if (kind !== undefined) return;
      const asked = connect({ port, host: "127.0.0.1", path, method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      request.pipe(asked);
    });
    await new Promise<void>((done) => void front.listen(0, "127.0.0.1", done));
    try {
      const url = `rest:http://127.0.0.1:${(front.address() as AddressInfo).port}/`;
      const repository = repositoryAt(url);
      await repository.make();
      let asked = 0;
      fault = (method, path) => {
        // restic 0.14 does not ask again for what it opens first.
        if (path.endsWith("/config")) return undefined;
        asked += 1;
        if (asked % 3 !== 0) return undefined;
        return method === "GET" && asked % 2 === 1 ? "cut" : "busy";
      };
      const { snapshot } = await repository.backup({ folder: data, tags: ["berth-state"] }, signal);
      await repository.restore(snapshot, join(folder, "back"), signal);
      expect(readFileSync(join(folder, "back/file"), "utf8")).toBe("yesterday");
      expect(faults).toBeGreaterThan(2);
      fault = (_, path) => (path.endsWith("/config") ? undefined : "busy");
      const given = repositoryAt(url, hasty).backup({ folder: data, tags: ["berth-state"] }, signal);
      await expect(given).rejects.toThrow(/it failed again and again.*503/);
      fault = () => undefined;
      expect(await repository.snapshots()).toHaveLength(1);
    } finally {
      front.closeAllConnections();
      front.close();
      server.kill();
      await server.exited;
    }
  });

  const vastName = "gives back a file of 1 GB that is mostly holes, with its holes";
  test.skipIf(lacks())(vastName, async () => {
    const [vast, word] = [2 ** 30, "in the middle"];
    const file = openSync(join(data, "vast"), "w");
    for (const [at, text] of [
      [2 ** 29, word],
      [vast - 4, "end."],
    ] as const)
      writeSync(file, text, at);
    closeSync(file);
    const repository = repositoryAt(store);
    await repository.make();
    const { snapshot } = await repository.backup({ folder: data, tags: ["berth-state"] }, signal);
    rmSync(join(data, "vast"));
    const back = join(folder, "back");
    await repository.restore(snapshot, back, signal);
    await folders.complete(back, signal);
    const { size, blocks } = statSync(join(back, "vast"));
    expect(size).toBe(vast);
    expect(blocks * 512).toBeLessThan(vast / 100);
    const found = openSync(join(back, "vast"), "r");
    const bytes = Buffer.alloc(word.length + 1);
    readSync(found, bytes, 0, bytes.length, 2 ** 29);
    closeSync(found);
    expect(bytes.toString()).toBe(`${word}\0`);
  });

  const rightsName = "gives back the access control list of a file, and its other attributes";
  test.skipIf(lacks())(rightsName, async () => {
    const { symbols: libc } = dlopen("libc.so.6", {
      setxattr: { args: ["ptr", "ptr", "ptr", "u64", "int"], returns: "int" },
      getxattr: { args: ["ptr", "ptr", "ptr", "u64"], returns: "i64" },
    });
    const kept: Buffer[] = [];
    const text = (value: string) => {
      const bytes = Buffer.from(`${value}\0`);
      kept.push(bytes);
      return ptr(bytes);
    };
    // Entries of user, user 1000, group, mask and others; see acl(5).
    const rows = [
      [1, 6],
      [2, 7, 1_000],
      [4, 4],
      [16, 7],
      [32, 0],
    ] as const;
    const list = Buffer.alloc(4 + rows.length * 8);
    list.writeUInt32LE(2);
    for (const [at, [tag, rights, id = 0xffff_ffff]] of rows.entries()) {
      list.writeUInt16LE(tag, 4 + at * 8);
      list.writeUInt16LE(rights, 6 + at * 8);
      list.writeUInt32LE(id, 8 + at * 8);
    }
    const attributes = { "system.posix_acl_access": list, "user.origin": Buffer.from("https://example.com/") };
    // Not every file system has all of them.
    const stored = Object.entries(attributes).filter(([name, value]) => {
      const path = text(join(data, "file"));
      return libc.setxattr(path, text(name), ptr(value), BigInt(value.length), 0) === 0;
    });
    const repository = repositoryAt(store);
    await repository.make();
    const { snapshot } = await repository.backup({ folder: data, tags: ["berth-state"] }, signal);
    await repository.restore(snapshot, join(folder, "back"), signal);
    for (const [name, value] of stored) {
      const found = Buffer.alloc(200);
      const bytes = libc.getxattr(text(join(folder, "back/file")), text(name), ptr(found), 200n);
      expect([name, found.subarray(0, Math.max(0, Number(bytes)))]).toEqual([name, value]);
    }
  });

  const cutName = "that lost the end of a pack gives no data back, says which way is out, and fails its check";
  test.skipIf(lacks())(cutName, async () => {
    writeFileSync(join(data, "large"), crypto.getRandomValues(new Uint8Array(60_000)));
    const repository = repositoryAt(store);
    await repository.make();
    const { snapshot } = await repository.backup({ folder: data, tags: ["berth-state"] }, signal);
    const packs = join(store, access.installation, "data");
    for (const entry of readdirSync(packs, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile()) truncateSync(path, Math.floor(statSync(path).size / 2));
    }
    rmSync(join(folder, "cache"), { recursive: true });
    const given = repositoryAt(store, hasty);
    await expect(given.restore(snapshot, join(folder, "back"), signal)).rejects.toThrow(
      /take another copy.*berth backup repair/,
    );
    await expect(given.check("1/1", signal)).rejects.toThrow(/checking what is at target/);
  });
});

async function portOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  let said = "";
  return waitFor("its port", async () => {
    said += new TextDecoder().decode((await reader.read()).value);
    return /http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1];
  });
}
