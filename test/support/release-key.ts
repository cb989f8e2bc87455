import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A key for releases, made by the real program. */
export interface ReleaseKey {
  /** The private key, as BERTH_RELEASE_KEY names it. */
  file: string;
  /** The public one, as BERTH_RELEASE_PUBLIC_KEY names it. */
  publicFile: string;
  publicText: string;
  /** What `ssh-keygen -Y sign` writes. */
  sign(text: string, namespace?: string): string;
}

/** Below `folder`, which is made. */
export function releaseKey(folder: string, ...options: string[]): ReleaseKey {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `key-${crypto.randomUUID()}`);
  must(["ssh-keygen", "-q", "-t", "ed25519", ...options, "-N", "", "-C", "test", "-f", file]);
  const publicFile = `${file}.pub`;
  return {
    ...{ file, publicFile, publicText: readFileSync(publicFile, "utf8") },
    sign(text, namespace = "berth-release") {
      const signed = join(folder, `text-${crypto.randomUUID()}`);
      writeFileSync(signed, text);
      must(["ssh-keygen", "-Y", "sign", "-q", "-n", namespace, "-f", file, signed]);
      const signature = readFileSync(`${signed}.sig`, "utf8");
      for (const path of [signed, `${signed}.sig`]) rmSync(path);
      return signature;
    },
  };
}

function must(command: string[]): void {
  const run = Bun.spawnSync(command, { stdout: "pipe", stderr: "pipe" });
  if (run.exitCode !== 0) throw new Error(`${command.join(" ")}: ${run.stderr}`);
}
