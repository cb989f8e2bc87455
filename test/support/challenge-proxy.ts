import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ChallengeAnswers } from "../../src/ingress/certs/acme/reachable.ts";
import { waitFor } from "./wait.ts";

/** A HAProxy that answers challenges from a map, and serves certificates where it has some. */
export interface TestProxy {
  challenge: ChallengeAnswers;
  stop(): Promise<void>;
}

export interface TestProxyOptions {
  folder: string;
  address: string;
  /** Folder of PEM files: then it serves them on port 8443, and nothing on port 80. */
  certificates?: string;
}

export async function startTestProxy({ folder, address, certificates }: TestProxyOptions): Promise<TestProxy> {
  const name = join(folder, certificates === undefined ? "plain" : "secure");
  const map = `${name}.map`;
  const found = `%[path,field(4,/),map(${map})]`;
  writeFileSync(map, "");
  writeFileSync(
    `${name}.cfg`,
    `global
  stats socket ${name}.sock mode 600 level admin
defaults
  mode http
  timeout client 10s
  timeout server 10s
  timeout connect 1s
frontend web
  bind ${certificates === undefined ? `${address}:80` : `${address}:8443 ssl crt ${certificates}`}
  acl challenge path_beg /.well-known/acme-challenge/
  http-request return status 200 content-type text/plain lf-string ${found} if challenge { path,field(4,/),map(${map}) -m found }
  http-request return status ${certificates === undefined ? 404 : 200} content-type text/plain string served
`,
  );
  rmSync(`${name}.sock`, { force: true });
  const child = Bun.spawn(["haproxy", "-db", "-f", `${name}.cfg`], { stdout: "ignore", stderr: "inherit" });
  await waitFor("haproxy", () => existsSync(`${name}.sock`));
  const tell = async (command: string) => {
    const answer = await ask(`${name}.sock`, `${command}\n`);
    if (answer.trim() !== "") throw new Error(`haproxy answers "${answer.trim()}" to: ${command}`);
  };
  return {
    challenge: {
      set: (token, text) => tell(`add map ${map} ${token} ${text}`),
      clear: (token) => tell(`del map ${map} ${token}`),
    },
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

function ask(unix: string, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    Bun.connect({
      unix,
      socket: {
        open: (socket) => void socket.write(command),
        data: (_, bytes) => {
          answer += bytes.toString();
        },
        close: () => resolve(answer),
        error: (_, error) => reject(error),
      },
    }).catch(reject);
  });
}
