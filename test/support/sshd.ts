import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./ports.ts";
import { waitFor } from "./wait.ts";

/** A real ssh server on loopback that lets the user of the test in, and a configuration of `ssh` that knows it. */
export interface Sshd extends AsyncDisposable {
  port: number;
  /** Private folder, for more files. */
  folder: string;
  /** `ssh -F` */
  clientConfig: string;
  /** A private key that the server knows. */
  key: string;
  knownHosts: string;
  log(): string;
  /** How many are open. */
  connections(): number;
  /** Breaks the connections that are open; it goes on listening. */
  cut(): void;
  /** Also the connections that are open. */
  stop(): Promise<void>;
  /** Starts it again on the same port. */
  again(): Promise<void>;
}

/** `lines` are added to its configuration. Needs root. */
export async function startSshd(lines: readonly string[] = []): Promise<Sshd> {
  // Sockets of tunnels lie in here: their paths must be short.
  const folder = mkdtempSync(join(tmpdir(), "ssh-"));
  const at = (name: string) => join(folder, name);
  mkdirSync("/run/sshd", { recursive: true });
  for (const name of ["host", "key"]) await run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at(name)]);
  writeFileSync(at("authorized_keys"), readFileSync(at("key.pub")), { mode: 0o600 });
  chmodSync(folder, 0o755);
  const port = await freePort();
  const settings = [
    `Port ${port}`,
    "ListenAddress 127.0.0.1",
    `HostKey ${at("host")}`,
    `AuthorizedKeysFile ${at("authorized_keys")}`,
    "StrictModes no",
    "PidFile none",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    "UsePAM no",
    "PermitRootLogin yes",
    "MaxStartups 100",
    ...lines,
  ];
  writeFileSync(at("sshd_config"), `${settings.join("\n")}\n`);
  writeFileSync(at("known_hosts"), `[127.0.0.1]:${port} ${readFileSync(at("host.pub"), "utf8")}`);
  writeFileSync(
    at("ssh_config"),
    `UserKnownHostsFile ${at("known_hosts")}\nGlobalKnownHostsFile none\nIdentityFile ${at("key")}\n`,
  );
  const log = () => (existsSync(at("log")) ? readFileSync(at("log"), "utf8") : "");
  let child: Bun.Subprocess;
  const again = async () => {
    rmSync(at("log"), { force: true });
    child = Bun.spawn([Bun.which("sshd") ?? "/usr/sbin/sshd", "-D", "-E", at("log"), "-f", at("sshd_config")], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    });
    await waitFor("sshd to listen", () => log().includes("Server listening"));
  };
  const cut = () => {
    for (const pid of childrenOf(child.pid)) process.kill(pid, "SIGKILL");
  };
  const stop = async () => {
    cut();
    child.kill();
    await child.exited;
  };
  await again();
  return {
    port,
    folder,
    clientConfig: at("ssh_config"),
    key: at("key"),
    knownHosts: at("known_hosts"),
    log,
    connections: () => childrenOf(child.pid).length,
    cut,
    stop,
    again,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One process for each connection. */
function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.split(" ").flatMap((word) => (word === "" ? [] : [Number(word)]));
}

async function run(argv: string[]): Promise<void> {
  const child = Bun.spawn(argv, { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  if ((await child.exited) !== 0) throw new Error(`${argv.join(" ")}: ${await child.stderr.text()}`);
}
