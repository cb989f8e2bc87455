import type { ServeFlags, ServeOptions } from "./config.ts";

/** One setting of the server as it runs: for people who look, without secrets. */
interface ShownSetting {
  /** Flag of `berth serve`. */
  flag: string;
  /** Variable of the environment. */
  variable: string;
  value: string;
}

const isOn = (value: boolean) => (value ? "on" : "off");
const listed = (values: readonly string[]) => (values.length === 0 ? "none" : values.join(", "));
const address = (value: string) => (value === "" ? "off" : value);

/** What the server was started with. The mail server is shown without its password. */
export function shownSettings(options: ServeOptions): ShownSetting[] {
  const { observabilityTls: tls } = options;
  const rows: [flag: string, variable: string, value: string][] = [
    ["root", "ROOT", options.root],
    ["prefix", "PREFIX", options.prefix],
    ["addr", "ADDR", address(options.addr)],
    ["addr-insecure", "ADDR_INSECURE", isOn(options.addrInsecure)],
    ["observability-addr", "OBSERVABILITY_ADDR", address(options.observabilityAddr)],
    ["observability-tls", "OBSERVABILITY_TLS", tls.kind === "files" ? `${tls.certificate},${tls.key}` : tls.kind],
    ["identity-addr", "IDENTITY_ADDR", address(options.identityAddr)],
    ["identity-base-url", "IDENTITY_BASE_URL", options.identityBaseUrl],
    ["identity-trusted-proxies", "IDENTITY_TRUSTED_PROXIES", listed(options.identityTrustedProxies)],
    ["ingress-http-addr", "INGRESS_HTTP_ADDR", address(options.ingressHttpAddr)],
    ["ingress-https-addr", "INGRESS_HTTPS_ADDR", address(options.ingressHttpsAddr)],
    ["ingress-image", "INGRESS_IMAGE", address(options.ingressImage)],
    ["ingress-plugin", "INGRESS_PLUGIN", options.ingressPlugin || "none"],
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

/** Those that `berth doctor` goes by, as flags of `berth serve` again. */
export function settingFlags(shown: readonly Pick<ShownSetting, "flag" | "value">[]): ServeFlags {
  const shownAs = (flag: string) => shown.find((setting) => setting.flag === `--${flag}`)?.value;
  const addressOf = (flag: string) => {
    const value = shownAs(flag);
    return value === "off" ? "" : value;
  };
  const insecure = shownAs("addr-insecure");
  return {
    root: shownAs("root"),
    prefix: shownAs("prefix"),
    addr: addressOf("addr"),
    addrInsecure: insecure === undefined ? undefined : String(insecure === "on"),
    observabilityAddr: addressOf("observability-addr"),
    observabilityTls: shownAs("observability-tls"),
    identityAddr: addressOf("identity-addr"),
    identityBaseUrl: shownAs("identity-base-url"),
    ingressHttpAddr: addressOf("ingress-http-addr"),
    ingressHttpsAddr: addressOf("ingress-https-addr"),
    ingressImage: addressOf("ingress-image"),
    dockerHost: shownAs("docker-host"),
  };
}

/** The host alone: names of users may be secrets too. */
function mailServer(url: string): string {
  if (url === "") return "none: mails are kept";
  return URL.canParse(url) ? new URL(url).host : "set";
}
