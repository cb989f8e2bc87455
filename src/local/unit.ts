import { parseArgs } from "node:util";

/** What the service manager is told. Paths are absolute. */
export interface UnitOptions {
  executable: string;
  /** Flags of `berth serve`: name without dashes → value. */
  flags: Record<string, string>;
  /** Further flags, without a value. */
  switches?: readonly string[];
}

/**
 * The systemd unit of a server; the only copy of its text. The installer writes what `berth server unit` prints.
 * Needs systemd 240 (`Type=exec`).
 */
export function serverUnit({ executable, flags, switches = [] }: UnitOptions): string {
  const valued = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const command = [executable, "serve", ...valued, ...switches.map((name) => `--${name}`)];
  return `[Unit]
Description=berth: this server as a platform
Wants=network-online.target
After=network-online.target docker.service
# Starting again is always right: it finds its containers by their labels.
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=${command.map(unitWord).join(" ")}
Restart=always
RestartSec=1
TimeoutStopSec=90
# Only the server itself is stopped: what proxies requests to the apps keeps running through restarts and upgrades.
KillMode=process
UMask=0077
LimitNOFILE=65536
OOMScoreAdjust=-500

[Install]
WantedBy=multi-user.target
`;
}

/** One word of ExecStart as systemd reads it back: `%` and `$` are its own, quotes hold spaces together. */
export function unitWord(text: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("$", "$$$$");
  return /^[\w@%+=:,./$-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}

const flagNames = [
  "root",
  "addr",
  "allowed-hosts",
  "observability-addr",
  "ingress-http-addr",
  "ingress-https-addr",
  "identity-addr",
  "docker-host",
  "prefix",
] as const;

const usage = `usage: berth server unit [--executable FILE] [${flagNames.map((name) => `--${name} VALUE`).join("] [")}] [--addr-insecure]
Prints the systemd unit that runs \`berth serve\` with these flags.`;

/** `berth server unit`: prints the unit. Answers with the exit code: 0, or 2 for a wrong command line. */
export async function serverCommand([verb, ...args]: string[]): Promise<number> {
  const string = { type: "string" } as const;
  try {
    if (verb === "--help" || verb === "-h") args.push("--help");
    else if (verb !== "unit") throw new Error(`unknown command "server ${verb ?? ""}"`);
    const { values } = parseArgs({
      args,
      options: {
        executable: string,
        root: string,
        addr: string,
        "addr-insecure": { type: "boolean" },
        "allowed-hosts": string,
        "observability-addr": string,
        "ingress-http-addr": string,
        "ingress-https-addr": string,
        "identity-addr": string,
        "docker-host": string,
        prefix: string,
        help: { type: "boolean", short: "h" },
      },
    });
    if (values.help === true) {
      console.log(usage);
      return 0;
    }
    const given = flagNames.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]]));
    const switches = values["addr-insecure"] === true ? ["addr-insecure"] : [];
    const { executable = process.execPath } = values;
    process.stdout.write(serverUnit({ executable, flags: Object.fromEntries(given), switches }));
    return 0;
  } catch (error) {
    console.error(`error: ${error instanceof Error ? error.message : String(error)}\n${usage}`);
    return 2;
  }
}
