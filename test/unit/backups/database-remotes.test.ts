import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { readSsh } from "../../../src/backups/core/rclone-remote.ts";
import { makeRecoveryKey } from "../../../src/backups/core/recovery-key.ts";
import { createDatabaseRemotes } from "../../../src/backups/service/database-remotes.ts";
import { createRclone, type Rclone } from "../../../src/backups/restic/rclone.ts";
import { pointInTimeLimits } from "../../../src/config/backup-limits.ts";
import { isRoot } from "../../support/is-root.ts";
import { startSshd } from "../../support/sshd.ts";

const key = makeRecoveryKey("0123456789abcdef", new Uint8Array(200).fill(7)).text;
const target = {
  ...{ name: "disk", url: "/srv/copies", credentials: {}, everyMs: 1, keep: "7d", createdAt: 0, prunedAt: undefined },
};

test("each database has a password of its own, which is the same each time and at every target", async () => {
  const words: (string | undefined)[] = [];
  const rclone: Rclone = {
    run: async ({ from }) => {
      words.push(typeof from === "string" ? from : undefined);
      return `${words.length}\n`;
    },
  } as Rclone;
  const { remoteOf } = createDatabaseRemotes({
    ...{ records: { key: () => key, targets: () => [target] }, rclone, limits: { askMs: 1, workMs: 1 } },
    signal: new AbortController().signal,
  });
  await remoteOf({ scope: "data", name: "main" }, target);
  await remoteOf({ scope: "data", name: "main" }, { ...target, url: "/mnt/other" });
  await remoteOf({ scope: "data", name: "other" }, target);
  expect(words.length).toBe(2);
  expect(new Set(words).size).toBe(2);
  for (const word of words) expect(word).toMatch(/^[0-9a-f]{64}$/);
});

const limits = { askMs: 60_000, workMs: 60_000 };
const targetAt = (name: string, url: string) => ({ ...target, name, url });
const remotesOf = (rclone: Rclone, targets = [target]) =>
  createDatabaseRemotes({
    ...{ records: { key: () => key, targets: () => targets }, rclone, limits, signal: new AbortController().signal },
  });

test.if(isRoot && Bun.which("rclone") !== null)(
  "files of a database go to a machine by SFTP and come back",
  async () => {
    await using sshd = await startSshd(["Subsystem sftp internal-sftp"]);
    const folder = mkdtempSync(join(tmpdir(), "berth-sftp."));
    try {
      const rclone = createRclone({ outputBytesMax: pointInTimeLimits.outputBytesMax }, async () => []);
      const said = `hostname 127.0.0.1\nport ${sshd.port}\nuser root\nidentityfile /none ${sshd.key}\nuserknownhostsfile ${sshd.knownHosts}\n`;
      const { remoteOf } = remotesOf({ ...rclone, ssh: async () => readSsh(said, existsSync) });
      const at = targetAt("nas", `sftp://root@127.0.0.1:${sshd.port}${folder}`);
      const remote = await remoteOf({ scope: "data", name: "main" }, at);
      expect(await remote.list("")).toEqual([]);
      await remote.write("7/wal/a", "hello", 5);
      expect(await remote.list("")).toEqual([{ path: "7/wal/a", bytes: 5 }]);
      expect(await remote.text("7/wal/a")).toBe("hello");
      await remote.bring(["7/wal/a"], join(folder, "back"));
      expect(readFileSync(join(folder, "back/7/wal/a"), "utf8")).toBe("hello");
      const stored = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
        (entry) => entry.isFile() && !entry.parentPath.includes("/back"),
      );
      expect(stored.length).toBe(1);
      for (const { parentPath, name } of stored)
        expect(readFileSync(join(parentPath, name), "latin1")).not.toContain("hello");
      await remote.remove(["7/wal/a"]);
      expect(await remote.list("7/wal")).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test("the target of WAL: the first that is a folder or S3, else by SFTP, and never a REST server", () => {
  const [rest, nas, disk] = [targetAt("r", "rest:https://a/b"), targetAt("nas", "sftp://a@b/c"), target];
  const of = (...targets: (typeof target)[]) => remotesOf({} as Rclone, targets).targetOf(undefined).name;
  expect([of(rest, nas, disk), of(rest, nas)]).toEqual(["disk", "nas"]);
  expect(() => of(rest)).toThrow("a folder, S3 or SFTP, which alone can hold WAL");
});

test("ssh says how a machine is reached; one behind another is refused with its reason", () => {
  const said =
    "host nas\nuser backup\nhostname 10.0.0.7\nport 2222\nidentityfile ~/.ssh/id_rsa\nidentityfile ~/.ssh/id_ed25519\n";
  const known = "userknownhostsfile /root/.ssh/known_hosts /root/.ssh/known_hosts2\nproxyjump none\n";
  const isThere = (path: string) => ["/root/.ssh/id_ed25519", "/root/.ssh/known_hosts"].includes(path);
  expect(readSsh(said + known, isThere)).toEqual({
    ...{ hostname: "10.0.0.7", port: "2222", user: "backup" },
    ...{ key: "/root/.ssh/id_ed25519", knownHosts: "/root/.ssh/known_hosts" },
  });
  // Without a file, rclone takes any key of any machine.
  expect(() => readSsh(said, isThere)).toThrow("no file says which host key 10.0.0.7 has");
  const ofAll = "userknownhostsfile /root/none\nglobalknownhostsfile /root/.ssh/known_hosts\n";
  expect(readSsh(said + ofAll, isThere).knownHosts).toBe("/root/.ssh/known_hosts");
  expect(() => readSsh(`${said}proxyjump gate\n`, isThere)).toThrow('ssh reaches this one through "gate"');
});
