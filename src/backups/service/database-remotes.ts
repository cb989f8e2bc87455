import { hkdfSync } from "node:crypto";
import { Failure } from "../../base/wire/failure.ts";
import { readRecoveryKey } from "../core/recovery-key.ts";
import { remoteEnvironment } from "../core/rclone-remote.ts";
import { readTarget } from "../core/target.ts";
import type { Rclone } from "../restic/rclone.ts";
import type { BackupRecords, StoredTarget } from "./records.ts";
import { createRemote, type Remote } from "./remote.ts";

/** Where the databases of this installation lie at its targets. */
export function createDatabaseRemotes({
  records,
  rclone,
  limits,
  signal,
}: {
  records: Pick<BackupRecords, "key" | "targets">;
  rclone: Rclone;
  limits: { askMs: number; workMs: number };
  signal: AbortSignal;
}) {
  const obscured = new Map<string, Promise<string>>();

  /**
   * The password of one database at every target, in the form that rclone takes; it follows from the recovery key. Each has its
   * own: rclone does not tie content to a name, so files of one database could be put in the place of another's.
   */
  function passwordOf(key: string, database: string): Promise<string> {
    const word = Buffer.from(hkdfSync("sha256", key, "", `database at a target v1 ${database}`, 32)).toString("hex");
    const known = obscured.get(word);
    if (known !== undefined) return known;
    const said = rclone.run({ words: ["obscure", "-"], env: {}, timeoutMs: limits.askMs, from: word });
    const text = said.then((one) => one.trim());
    obscured.set(word, text);
    text.catch(() => obscured.delete(word));
    return text;
  }

  const isOf = (kinds: readonly string[]) => (target: StoredTarget) => kinds.includes(readTarget(target.url).kind);

  /** The target with that name; without one the first that keeps single files. Fails `conflict` where there is none. */
  function targetOf(wanted: string | undefined): StoredTarget {
    const targets = records.targets();
    const target =
      wanted === undefined
        ? (targets.find(isOf(["folder", "s3"])) ?? targets.find(isOf(["sftp"])))
        : targets.find(({ name }) => name === wanted);
    if (target !== undefined) return target;
    if (wanted !== undefined) throw new Failure("conflict", `there is no target "${wanted}": berth backup target list`);
    throw new Failure(
      "conflict",
      "there is no target that is a folder, S3 or SFTP, which alone can hold WAL: berth backup target add NAME WHERE (/FOLDER, s3://HOST/BUCKET/PATH or sftp://USER@HOST/PATH)",
    );
  }

  async function remoteOf({ scope, name }: { scope: string; name: string }, target: StoredTarget): Promise<Remote> {
    const { installation, text } = readRecoveryKey(records.key() ?? "");
    const ssh = isOf(["sftp"])(target) ? await rclone.ssh(target.url) : {};
    const env = remoteEnvironment(target.url, {
      ...{ ssh, installation, credentials: target.credentials, password: await passwordOf(text, `${scope}/${name}`) },
    });
    return createRemote(rclone, { env, folder: `${scope}/${name}`, limits, signal });
  }

  return { targetOf, remoteOf };
}
