import { parseArgs } from "node:util";
import { type ServeFlags, type ServeOptions, serveOptions } from "../config/config.ts";
import { type Daemon, startDaemon } from "../daemon/start.ts";
import { gatherLines } from "../base/words/gather-lines.ts";
import { createLog, type Log } from "../base/words/log.ts";
import { codeBytes, createDropCode } from "../base/machine/own-code.ts";
import { followLoad } from "../base/words/follow-load.ts";
import { serverLimits } from "../config/server-limits.ts";
import { stayParked } from "./parked.ts";
import { tellOpen } from "./open-handles.ts";
import { restorePending } from "./pending-restore.ts";
import { sayNow } from "../client/basics/output.ts";

export const serveUsage = `usage: berth serve [flags]; an address of "" turns its service off

  --root DIR                  folder of all state (BERTH_ROOT, /opt/berth)
  --addr HOST:PORT            orchestration plane (BERTH_ADDR, 127.0.0.1:8686) or ""
  --addr-insecure             the port lets everybody in who reaches it, also from other machines:
                              they are root here (BERTH_ADDR_INSECURE)
  --allowed-hosts NAME,…      names of proxies in front of it, for Host and Origin
                              (BERTH_ALLOWED_HOSTS)
  --observability-addr ADDR   observability plane (BERTH_OBSERVABILITY_ADDR, 0.0.0.0:8687) or ""
  --observability-tls HOW     its TLS: off, self-signed, or CERTIFICATE.pem,KEY.pem
                              (BERTH_OBSERVABILITY_TLS, off)
  --ingress-http-addr ADDR    where visitors reach the apps (BERTH_INGRESS_HTTP_ADDR, :80) or ""
  --ingress-https-addr ADDR   the same with TLS (BERTH_INGRESS_HTTPS_ADDR, :443) or ""
  --ingress-trusted-proxies CIDR,…
                              a CDN in front, whose X-Forwarded-For is believed
                              (BERTH_INGRESS_TRUSTED_PROXIES)
  --ingress-proxy-protocol CIDR,…
                              who begins connections with a PROXY header
                              (BERTH_INGRESS_PROXY_PROTOCOL)
  --ingress-unit NAME         service that runs HAProxy, else the server (BERTH_INGRESS_UNIT)
  --ingress-image REF         runs HAProxy where it is not installed (BERTH_INGRESS_IMAGE,
                              haproxy:2.6); "" is never
  --ingress-plugin NAME       plugin that routes every ingress which names none
                              (BERTH_INGRESS_PLUGIN); where the server has no address for
                              visitors, the only plugin that can
  --identity-addr HOST:PORT   identity service (BERTH_IDENTITY_ADDR, 127.0.0.1:8688) or ""
  --identity-base-url URL     where browsers reach it (BERTH_IDENTITY_BASE_URL); https or loopback
  --identity-allow-private-endpoints
                              its providers and webhooks may live on private addresses and be http
                              (BERTH_IDENTITY_ALLOW_PRIVATE_ENDPOINTS)
  --identity-trusted-proxies CIDR,…
                              other proxies whose X-Forwarded-For is believed, such as a Caddy
                              on this machine: 127.0.0.1 (BERTH_IDENTITY_TRUSTED_PROXIES)
  --smtp-url URL              mail server as smtp://USER:PASSWORD@HOST:587 or smtps://…
                              (BERTH_SMTP_URL, which hides the password from ps); without one,
                              mails are kept: berth identity mail list
  --mail-from ADDRESS         sender of mails, such as "Shop <no-reply@shop.example>"
                              (BERTH_MAIL_FROM)
  --docker-host URL           unix:///path or tcp://host:port
                              (DOCKER_HOST, unix:///var/run/docker.sock)
  --prefix WORD               names everything in Docker (BERTH_PREFIX, berth)
  --callback-port PORT        for containers of plugins, on the platform network
                              (BERTH_CALLBACK_PORT, 8689); or off
  --telemetry-port PORT       for OpenTelemetry of apps, on the platform network
                              (BERTH_TELEMETRY_PORT, 4318); or off
  --stats-interval TIME       between two readings of what pods use (BERTH_STATS_INTERVAL,
                              15s); 0 turns it off
  --plugin-releases URL       where owner/repo plugins come from
                              (BERTH_PLUGIN_RELEASES, https://github.com)
  --allow-private-hooks       webhooks may go to private addresses (BERTH_ALLOW_PRIVATE_HOOKS)
  --log-level LEVEL           debug, info, warn or error (BERTH_LOG_LEVEL, info)`;

const flags = {
  root: { type: "string" },
  addr: { type: "string" },
  "addr-insecure": { type: "boolean" },
  "allowed-hosts": { type: "string" },
  "observability-addr": { type: "string" },
  "observability-tls": { type: "string" },
  "ingress-http-addr": { type: "string" },
  "ingress-https-addr": { type: "string" },
  "ingress-trusted-proxies": { type: "string" },
  "ingress-proxy-protocol": { type: "string" },
  "ingress-unit": { type: "string" },
  "ingress-image": { type: "string" },
  "ingress-plugin": { type: "string" },
  "identity-addr": { type: "string" },
  "identity-base-url": { type: "string" },
  "identity-allow-private-endpoints": { type: "boolean" },
  "identity-trusted-proxies": { type: "string" },
  "smtp-url": { type: "string" },
  "mail-from": { type: "string" },
  "docker-host": { type: "string" },
  prefix: { type: "string" },
  "callback-port": { type: "string" },
  "telemetry-port": { type: "string" },
  "stats-interval": { type: "string" },
  "plugin-releases": { type: "string" },
  "allow-private-hooks": { type: "boolean" },
  "log-level": { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

/**
 * `berth serve`: runs until SIGTERM or SIGINT. Logs are JSON lines on stderr; the one with message `ready` says where
 * it listens. SIGHUP takes up a restore that `berth restore` has laid ready.
 */
export async function serveCommand(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: flags, strict: true, allowPositionals: false });
  if (values.help) {
    sayNow(serveUsage);
    return 0;
  }
  const options = serveOptions(withoutUndefined(values));
  const lines = gatherLines(writeLines);
  process.once("exit", lines.flush);
  const log = createLog(lines.add, options.logLevel);
  const signals = followSignals();
  let code = 1;
  try {
    while (await serveOnce(options, log, signals)) await restorePending(options.root, log);
    code = 0;
    return code;
  } finally {
    endSoon(log, { flush: lines.flush, code });
  }
}

/** Logs that cannot be written are lost: a full disk, or a reader that is gone, does not end the server. */
function writeLines(text: string): void {
  if (process.stderr.listenerCount("error") === 0) process.stderr.on("error", () => undefined);
  try {
    process.stderr.write(text);
  } catch {
    return;
  }
}

type Values = { [K in keyof typeof flags]?: string | boolean | undefined };

function withoutUndefined(values: Values): ServeFlags {
  const text = (name: keyof Values) => {
    const value = values[name];
    return typeof value === "string" ? value : undefined;
  };
  const given = {
    root: text("root"),
    addr: text("addr"),
    addrInsecure: values["addr-insecure"] === true ? "true" : undefined,
    allowedHosts: text("allowed-hosts"),
    observabilityAddr: text("observability-addr"),
    observabilityTls: text("observability-tls"),
    ingressHttpAddr: text("ingress-http-addr"),
    ingressHttpsAddr: text("ingress-https-addr"),
    ingressTrustedProxies: text("ingress-trusted-proxies"),
    ingressProxyProtocol: text("ingress-proxy-protocol"),
    ingressUnit: text("ingress-unit"),
    ingressImage: text("ingress-image"),
    ingressPlugin: text("ingress-plugin"),
    identityAddr: text("identity-addr"),
    identityBaseUrl: text("identity-base-url"),
    identityAllowPrivate: values["identity-allow-private-endpoints"] === true ? "true" : undefined,
    identityTrustedProxies: text("identity-trusted-proxies"),
    smtpUrl: text("smtp-url"),
    mailFrom: text("mail-from"),
    dockerHost: text("docker-host"),
    prefix: text("prefix"),
    allowPrivateWebhooks: values["allow-private-hooks"] === true ? "true" : undefined,
    logLevel: text("log-level"),
    callbackPort: text("callback-port"),
    telemetryPort: text("telemetry-port"),
    statsIntervalMs: text("stats-interval"),
    pluginReleases: text("plugin-releases"),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

const dropCode = createDropCode();

/** One life of the daemon; true when it is to live again. */
async function serveOnce(options: ServeOptions, log: Log, signals: Signals): Promise<boolean> {
  const daemon = await started(options, log, signals);
  if (daemon === undefined) return false;
  // Where code cannot be dropped, it stays.
  const load = followLoad({ codeBytes, dropCode: () => void dropCode().catch(() => undefined) });
  log.info("ready", {
    addresses: daemon.addresses,
    root: options.root,
    docker_host: options.dockerHost,
    prefix: options.prefix,
    pid: process.pid,
  });
  const signal = await signals.next();
  log.info("stopping", { signal });
  load.stop();
  await daemon.stop();
  log.info("stopped");
  return signal === "SIGHUP";
}

/** Undefined where a signal has ended the start. */
async function started(options: ServeOptions, log: Log, { ending }: Signals): Promise<Daemon | undefined> {
  try {
    const mayAct = await stayParked(options.root, { log, ending });
    return mayAct ? await startDaemon(options, log, { signal: ending }) : undefined;
  } catch (error) {
    // A step may have failed by itself at the same moment.
    if (!ending.aborted || error !== ending.reason) throw error;
    log.info("stopped before it was ready", { signal: ending.reason });
    return undefined;
  }
}

/**
 * The process ends by itself once nothing is open. What keeps it is a fault of ours: it is named in the log, and cut
 * off, since a service manager waits.
 */
function endSoon(log: Log, { flush, code }: { flush: () => void; code: number }): void {
  const guard = setTimeout(() => {
    tellOpen(log);
    flush();
    process.exit(code);
  }, serverLimits.endMs);
  guard.unref();
}

interface Signals {
  /** Aborts with the first signal that ends the server, for a start under way. */
  ending: AbortSignal;
  next(): Promise<NodeJS.Signals>;
}

/** Handlers stay for the life of the process, so that no signal falls between two lives of the daemon. */
function followSignals(): Signals {
  const waiting: NodeJS.Signals[] = [];
  let wake: (() => void) | undefined;
  const ending = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(signal, () => {
      waiting.push(signal);
      if (signal !== "SIGHUP") ending.abort(signal);
      wake?.();
    });
  }
  return {
    ending: ending.signal,
    async next() {
      for (;;) {
        const signal = waiting.shift();
        if (signal !== undefined) return signal;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
