import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { waitFor } from "./wait.ts";

/** Debian's caddy as a certificate authority that speaks ACME, with a root of its own. */
export interface CaddyCa {
  directory: string;
  /** PEM of its root. */
  root: string;
  stop(): Promise<void>;
}

export interface CaddyCaOptions {
  /** Of the test's own; what the CA keeps is in `caddy/`. */
  folder: string;
  /** Loopback address that the CA listens on, and that it believes the names to have. */
  address: string;
  names: readonly string[];
}

/** Starts one. Needs root: it sees an /etc/hosts of its own, in which the names lead to `address`. */
export async function startCaddyCa({ folder, address, names }: CaddyCaOptions): Promise<CaddyCa> {
  const home = join(folder, "caddy");
  mkdirSync(home, { recursive: true });
  const hosts = join(folder, "hosts");
  writeFileSync(hosts, `127.0.0.1 localhost\n${address} ${names.join(" ")}\n`);
  writeFileSync(
    join(folder, "Caddyfile"),
    `{
  admin off
  skip_install_trust
  auto_https disable_redirects
  storage file_system ${home}
}
https://${address}:9443 {
  bind ${address}
  tls internal
  acme_server
}
`,
  );
  const run = `mount --bind ${hosts} /etc/hosts && exec caddy run --adapter caddyfile --config ${folder}/Caddyfile`;
  const child = Bun.spawn(["unshare", "--mount", "sh", "-c", run], {
    env: { ...process.env, HOME: home, XDG_DATA_HOME: home },
    stdout: Bun.file(join(folder, "caddy.log")),
    stderr: Bun.file(join(folder, "caddy.log")),
  });
  const directory = `https://${address}:9443/acme/local/directory`;
  const root = await waitFor("caddy to answer", async () => {
    if (child.exitCode !== null) throw new Error(readFileSync(join(folder, "caddy.log"), "utf8"));
    const ca = readFileSync(join(home, "pki/authorities/local/root.crt"), "utf8");
    const answer = await fetch(directory, { tls: { ca } });
    return answer.ok ? ca : undefined;
  });
  return {
    directory,
    root,
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}
