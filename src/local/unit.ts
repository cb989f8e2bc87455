import { layoutOf } from "../base/disk/layout.ts";

/** Settings for the service manager. Paths are absolute. */
interface UnitOptions {
  executable: string;
  /** Flags of `berth serve` and their values. */
  words: readonly string[];
  environment?: Record<string, string>;
}

/**
 * The systemd unit of a server; the only copy of its text. The installer writes what `berth server unit` prints.
 * Needs systemd 240 (`Type=exec`).
 */
export function serverUnit({ executable, words, environment = {} }: UnitOptions): string {
  const command = [executable, "serve", ...words];
  const settings = Object.entries(environment).map(([name, value]) => `Environment=${unitWord(`${name}=${value}`)}\n`);
  return `[Unit]
Description=berth: this server as a platform
Wants=network-online.target
After=network-online.target docker.service
# Starting again is always right: it finds its containers by their labels.
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=${command.map(unitWord).join(" ")}
${settings.join("")}Restart=always
RestartSec=1
TimeoutStopSec=90
# Only the server itself is stopped: what proxies requests to the apps keeps running through restarts and upgrades.
KillMode=process
UMask=0077
LimitNOFILE=65536
OOMScoreAdjust=-500
# The server has Docker, and so the rights of root. What follows is what neither it nor the hooks of plugins need.
NoNewPrivileges=yes
ProtectClock=yes
# Not ProtectHostname: restic runs with a host name of its own, so that its locks name this server.
ProtectKernelLogs=yes
ProtectKernelModules=yes
LockPersonality=yes
RestrictRealtime=yes
SystemCallArchitectures=native

[Install]
WantedBy=multi-user.target
`;
}

/** One word of ExecStart as systemd reads it back: `%` and `$` are its own, quotes hold spaces together. */
export function unitWord(text: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("$", "$$$$");
  return /^[\w@%+=:,./$-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}

interface IngressUnitOptions {
  /** Path of HAProxy. */
  haproxy: string;
  root: string;
}

/**
 * The unit of HAProxy, which so outlives the server. The server starts it once there is something to serve, and changes
 * what it serves over its socket.
 */
export function ingressUnit({ haproxy, root }: IngressUnitOptions): string {
  const { ingress, ingressMaster, ingressPid, logs, run, sockets } = layoutOf(root);
  const socket = `${ingressMaster},mode,600`;
  const command = [haproxy, "-W", "-S", socket, "-p", ingressPid, "-f", `${ingress}/haproxy.cfg`];
  const logFile = `${logs}/haproxy.log`.replaceAll("%", "%%");
  return `[Unit]
Description=berth: HAProxy of the ingresses
Documentation=man:haproxy(1)
After=network-online.target

[Service]
Type=exec
ExecStart=${command.map(unitWord).join(" ")}
ExecReload=/bin/kill -USR2 $MAINPID
StandardOutput=append:${logFile}
StandardError=append:${logFile}
KillMode=mixed
Restart=on-failure
RestartSec=1
SuccessExitStatus=143
TimeoutStopSec=30
UMask=0077
LimitNOFILE=65536
OOMScoreAdjust=-500
NoNewPrivileges=yes
CapabilityBoundingSet=CAP_NET_BIND_SERVICE CAP_SETUID CAP_SETGID CAP_KILL CAP_CHOWN CAP_FOWNER CAP_DAC_OVERRIDE CAP_SYS_RESOURCE
LockPersonality=yes
PrivateDevices=yes
PrivateTmp=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectSystem=strict
ReadWritePaths=${[root, ...(sockets === run ? [] : [sockets])].map(unitWord).join(" ")}
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
`;
}

/** The words of `berth serve` in a unit of ours, without the program; undefined for the text of another unit. */
export function serveWords(unit: string): string[] | undefined {
  const [, line] = /^ExecStart=(.+)$/m.exec(unit) ?? [];
  const words = [...(line ?? "").matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, quoted, bare]) =>
    readWord(quoted ?? bare ?? ""),
  );
  return words[1] === "serve" ? words.slice(2) : undefined;
}

function readWord(text: string): string {
  return text.replaceAll("%%", "%").replaceAll("$$", "$").replaceAll(/\\(.)/g, "$1");
}
