import { homedir, hostname } from "node:os";
import { join } from "node:path";
import type { ClientOptions } from "../client/entry/context.ts";
import type { Environment } from "./environment.ts";

export interface ClientFlags {
  endpoint?: string;
  remote?: string;
}

export function readClientOptions(flags: ClientFlags, terminal: boolean, env: Environment): ClientOptions {
  const home = env.HOME || homedir();
  const { BERTH_SSH_CONFIG: configFile = "", BERTH_SSH_IDENTITY: identity = "" } = env;
  return {
    named: namedServer(flags, env),
    ownEndpoint: `http://${env.BERTH_ADDR || "127.0.0.1:8686"}`,
    remotesFile: env.BERTH_REMOTES || join(env.XDG_CONFIG_HOME || join(home, ".config"), "berth/remotes.json"),
    tunnelsFolder: env.BERTH_TUNNELS || tunnelsFolder(env.XDG_RUNTIME_DIR, home),
    ssh: { ...(configFile === "" ? {} : { configFile }), ...(identity === "" ? {} : { identity }) },
    actor: `${env.SUDO_USER || env.USER || "operator"}@${env.HOSTNAME || hostname()}`,
    autoApprove: /^(?:1|true|yes)$/i.test(env.BERTH_AUTO_APPROVE ?? ""),
    color: terminal && !env.NO_COLOR && env.TERM !== "dumb",
  };
}

/** A flag wins over both variables. */
function namedServer({ endpoint, remote }: ClientFlags, env: Environment): ClientOptions["named"] {
  const byFlag = endpoint !== undefined || remote !== undefined;
  const named = byFlag
    ? { endpoint, remote }
    : { endpoint: env.BERTH_ENDPOINT || undefined, remote: env.BERTH_REMOTE || undefined };
  return {
    ...(named.endpoint === undefined ? {} : { endpoint: named.endpoint }),
    ...(named.remote === undefined ? {} : { remote: named.remote }),
  };
}

function tunnelsFolder(runtime: string | undefined, home: string): string {
  return runtime ? join(runtime, "berth") : join(home, ".berth/tunnels");
}
