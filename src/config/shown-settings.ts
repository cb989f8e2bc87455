import type { ServeOptions } from "./config.ts";

/** One setting of the server as it runs: for people who look, without secrets. */
interface ShownSetting {
  /** Of `berth serve`. */
  flag: string;
  /** Of the environment. */
  variable: string;
  value: string;
}

const isOn = (value: boolean) => (value ? "on" : "off");
const listed = (values: readonly string[]) => (values.length === 0 ? "none" : values.join(", "));
const address = (value: string) => (value === "" ? "off" : value);

/** What the server was started with. The mail server is told without its password. */
export function shownSettings(options: ServeOptions): ShownSetting[] {
  const { observabilityTls: tls } = options;
  const rows: [flag: string, variable: string, value: string][] = [
    ["root", "ROOT", options.root],
    ["prefix", "PREFIX", options.prefix],
    ["addr", "ADDR", address(options.addr)],
    ["observability-addr", "OBSERVABILITY_ADDR", address(options.observabilityAddr)],
    ["observability-tls", "OBSERVABILITY_TLS", tls.kind],
    ["identity-addr", "IDENTITY_ADDR", address(options.identityAddr)],
    ["identity-base-url", "IDENTITY_BASE_URL", options.identityBaseUrl],
    ["identity-trusted-proxies", "IDENTITY_TRUSTED_PROXIES", listed(options.identityTrustedProxies)],
    ["smtp-url", "SMTP_URL", mailServer(options.smtpUrl)],
    ["allow-private-hooks", "ALLOW_PRIVATE_HOOKS", isOn(options.allowPrivateWebhooks)],
    ["stats-interval", "STATS_INTERVAL", options.statsIntervalMs === 0 ? "off" : `${options.statsIntervalMs / 1_000}s`],
    ["callback-port", "CALLBACK_PORT", String(options.callbackPort ?? "off")],
    ["telemetry-port", "TELEMETRY_PORT", String(options.telemetryPort ?? "off")],
    ["plugin-releases", "PLUGIN_RELEASES", options.pluginReleases],
    ["log-level", "LOG_LEVEL", options.logLevel],
  ];
  return [
    ...rows.map(([flag, variable, value]) => ({ flag: `--${flag}`, variable: `BERTH_${variable}`, value })),
    { flag: "--docker-host", variable: "DOCKER_HOST", value: options.dockerHost },
  ];
}

/** The host alone: names of users may be secrets too. */
function mailServer(url: string): string {
  if (url === "") return "none: mails are kept";
  return URL.canParse(url) ? new URL(url).host : "set";
}
