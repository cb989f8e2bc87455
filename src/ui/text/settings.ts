import type { SettingForm } from "../../observability/api/identity.ts";
import type { ServerReport } from "../../observability/api/disk.ts";
import type { Tone } from "./states.ts";

interface Finding {
  name: string;
  tone: Tone;
  text: string;
  /** What to type to change it. */
  mend?: string;
}

type Facts = Pick<ServerReport, "engine" | "forwarding" | "proxy" | "store" | "held" | "settings">;

/** What can be seen from inside the server; `berth doctor` looks at the rest of the machine too. */
export function findings({ engine, forwarding, proxy, store, held, settings }: Facts): Finding[] {
  const settingOf = (flag: string) => settings.find((setting) => setting.flag === flag)?.value ?? "";
  return [
    engineFinding(engine),
    ...(engine.live_restore === undefined ? [] : [liveRestore(engine.live_restore)]),
    ...(engine.cgroup_version === undefined
      ? []
      : [{ name: "Control groups", tone: "good" as const, text: `version ${engine.cgroup_version}` }]),
    ...(forwarding === undefined ? [] : [forwardingFinding(forwarding)]),
    ...(proxy === undefined ? [] : [proxyFinding(proxy)]),
    planeFinding(settingOf("--observability-addr"), settingOf("--observability-tls")),
    ...(store.collection_held
      ? [
          {
            name: "Backup",
            tone: "warn" as const,
            text: "restored and not confirmed: nothing is collected",
            mend: "berth restore --confirm",
          },
        ]
      : []),
    ...(held !== undefined && !store.collection_held
      ? [{ name: "Backup", tone: "warn" as const, text: held, mend: "berth backup take-over" }]
      : []),
  ];
}

function engineFinding({ up, version, error, host }: ServerReport["engine"]): Finding {
  if (up) return { name: "Docker", tone: "good", text: `version ${version ?? "unknown"} at ${host}` };
  return { name: "Docker", tone: "bad", text: error ?? `no answer at ${host}`, mend: "systemctl start docker" };
}

function liveRestore(isOn: boolean): Finding {
  const name = "Live restore";
  if (isOn) return { name, tone: "good", text: "containers outlive a restart of the Docker daemon" };
  const text = 'off: put "live-restore": true into /etc/docker/daemon.json';
  return { name, tone: "warn", text, mend: "systemctl reload docker" };
}

function forwardingFinding({ state, detail }: { state: string; detail: string }): Finding {
  const tone = state === "open" ? "good" : state === "blocked" ? "bad" : "idle";
  return { name: "Network between containers", tone, text: `${state}: ${detail}` };
}

function proxyFinding({ state, version, problem, listen }: NonNullable<ServerReport["proxy"]>): Finding {
  const isWell = state === "running" && problem === undefined;
  const places = listen.length === 0 ? "" : ` at ${listen.join(", ")}`;
  const text = problem ?? `${state}${version === undefined ? "" : `, version ${version}`}${places}`;
  const tone = isWell ? "good" : /^(?:off|waiting|starting)$/.test(state) ? "idle" : "warn";
  return { name: "HAProxy", tone, text, ...(isWell || tone === "idle" ? {} : { mend: "berth ingress" }) };
}

/** Whether someone on the way can read tokens. */
function planeFinding(address: string, tls: string): Finding {
  const name = "TLS of this page";
  if (address === "off") return { name, tone: "idle", text: "the plane is off" };
  if (/^(?:127\.|localhost|\[::1\])/.test(address)) {
    return { name, tone: "good", text: `only this machine reaches ${address}` };
  }
  if (tls !== "off") return { name, tone: "good", text: `${tls} at ${address}` };
  const text = `other machines reach ${address} without TLS: everyone on the way can read tokens`;
  return { name, tone: "warn", text, mend: "systemctl edit berth" };
}

/** What is not shown whole gets an example: passwords are in it. */
const examples: Record<string, string> = {
  BERTH_SMTP_URL: 'Environment="BERTH_SMTP_URL=smtps://USER:PASSWORD@HOST:465" "BERTH_MAIL_FROM=Shop <no-reply@HOST>"',
};

/** The line that `systemctl edit berth` needs; the server starts with it as it is. systemd reads `%` and quotes itself. */
export function changeText({ variable, value }: { variable: string; value: string }): string {
  const example = examples[variable];
  if (example !== undefined) return example;
  if (/["\\\p{Cc}]/u.test(value)) return `Environment=${variable}=VALUE`;
  const text = `${variable}=${value.replaceAll("%", "%%")}`;
  return /\s/.test(text) ? `Environment="${text}"` : `Environment=${text}`;
}

/** A value as a form shows it. */
export function settingText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return Array.isArray(value) ? value.join("\n") : String(value);
}

/** What was written, as the server takes it; null puts the setting back to its default. */
export function settingValue({ kind }: Pick<SettingForm, "kind">, text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  if (kind === "list") return trimmed.split(/\s*\n\s*/);
  if (kind === "flag") return trimmed === "true";
  // What is not a number goes as it is: the server says what is wrong with it.
  return kind === "number" && /^-?\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
}
