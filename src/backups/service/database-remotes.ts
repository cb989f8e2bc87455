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
  let obscured: { key: string; text: Promise<string> } | undefined;

  /** The password of the databases at every target, in the form that rclone takes; it follows from the recovery key. */
  function passwordOf(key: string): Promise<string> {
    if (obscured?.key !== key) {
      const word = Buffer.from(hkdfSync("sha256", key, "", "databases at a target v1", 32)).toString("hex");
      const text = rclone.run({ words: ["obscure", "-"], env: {}, timeoutMs: limits.askMs, from: word });
      obscured = { key, text: text.then((said) => said.trim()) };
      obscured.text.catch(() => {
        obscured = undefined;
      });
    }
    return obscured.text;
  }

  const keepsFiles = ({ url }: StoredTarget) => ["folder", "s3"].includes(readTarget(url).kind);

  /** The target with that name; without one the first that keeps single files. Fails `conflict` where there is none. */
  function targetOf(wanted: string | undefined): StoredTarget {
    const target = records.targets().find((one) => (wanted === undefined ? keepsFiles(one) : one.name === wanted));
    if (target !== undefined) return target;
    if (wanted !== undefined) throw new Failure("conflict", `there is no target "${wanted}": berth backup target list`);
    throw new Failure("conflict", "there is no target that is a folder or S3: berth backup target add NAME URL");
  }

  async function remoteOf({ scope, name }: { scope: string; name: string }, target: StoredTarget): Promise<Remote> {
    const { installation, text } = readRecoveryKey(records.key() ?? "");
    const env = remoteEnvironment(target.url, {
      ...{ installation, credentials: target.credentials, password: await passwordOf(text) },
    });
    return createRemote(rclone, { env, folder: `${scope}/${name}`, limits, signal });
  }

  return { targetOf, remoteOf };
}
