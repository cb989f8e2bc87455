import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./ports.ts";

export interface Registry {
  /** `127.0.0.1:<port>`; Docker speaks plain HTTP to loopback. */
  host: string;
  close(): Promise<void>;
}

/** Debian's docker-registry on a free loopback port, everything in a temporary folder. With `users`, it wants one of them. */
export async function startRegistry(users: Record<string, string> = {}): Promise<Registry> {
  const folder = mkdtempSync(join(tmpdir(), "registry-"));
  const host = `127.0.0.1:${await freePort()}`;
  mkdirSync(join(folder, "data"));
  const passwords = join(folder, "htpasswd");
  const rows = Object.entries(users).map(([user, password]) => `${user}:${bcrypt(password)}\n`);
  writeFileSync(passwords, rows.join(""));
  const auth = rows.length === 0 ? "" : `auth:\n  htpasswd:\n    realm: test\n    path: ${passwords}\n`;
  const config = join(folder, "config.yml");
  writeFileSync(config, `${settings(host, join(folder, "data"))}${auth}`);
  chmodSync(config, 0o600);

  const process = Bun.spawn(["docker-registry", "serve", config], { stdout: "ignore", stderr: "ignore" });
  await answers(`http://${host}/v2/`, process);
  return {
    host,
    close: async () => {
      process.kill("SIGKILL");
      await process.exited;
      rmSync(folder, { recursive: true });
    },
  };
}

function settings(host: string, folder: string): string {
  return [
    "version: 0.1",
    "log:\n  level: error",
    `storage:\n  filesystem:\n    rootdirectory: ${folder}\n  delete:\n    enabled: true`,
    `http:\n  addr: ${host}\n`,
  ].join("\n");
}

/** The registry takes bcrypt only, and only with the prefix of the reference tool. */
function bcrypt(password: string): string {
  return Bun.password.hashSync(password, { algorithm: "bcrypt", cost: 4 }).replace(/^\$2b\$/, "$2y$");
}

async function answers(url: string, process: Bun.Subprocess): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (process.exitCode !== null) throw new Error(`docker-registry ended with ${process.exitCode}`);
    const response = await fetch(url).catch(() => undefined);
    if (response !== undefined) return;
    await Bun.sleep(50);
  }
  throw new Error(`docker-registry does not answer on ${url}`);
}
