import type { CertificateView } from "../../../ingress/api/certificates.ts";
import type { JobRun } from "../../../orchestration/api/jobs.ts";
import { keyText } from "../../../orchestration/api/manifest-key.ts";
import type { AppProblem } from "../../api/app-model.ts";
import { shortened } from "./problems.ts";

/** What is known of the server as a whole. */
interface ServerFacts {
  engine: { up: boolean; since: number; error: string | undefined };
  proxy: { state: string; problem?: string } | undefined;
  certificates: readonly CertificateView[];
  /** Newest first. */
  runs: readonly JobRun[];
  disk: { used_bytes: number; total_bytes: number } | undefined;
  /** Set after a restore, until it is confirmed. */
  collectionHeld: boolean;
  held?: string | undefined;
  /** Whether containers reach each other, as it was tried. */
  forwarding?: { state: string; detail: string } | undefined;
  disks?: readonly { path: string; read_only?: boolean | undefined }[] | undefined;
  /** Apps that are not well, by name: what is wrong with the machine may be why. */
  hit?: readonly string[];
}

const hitShown = 5;

/** Names the apps that a fault of the machine may explain. */
function hits(cause: string, { hit = [] }: ServerFacts): string {
  if (hit.length === 0) return cause;
  const more = hit.length > hitShown ? ` and ${hit.length - hitShown} more` : "";
  return `${cause}; this may be why ${hit.slice(0, hitShown).join(", ")}${more} ${hit.length === 1 ? "is" : "are"} not well`;
}

const dayMs = 86_400_000;
const expirySoonMs = 7 * dayMs;
const diskFullShare = 0.95;
const diskLowShare = 0.85;

/** What needs attention about the server, its certificates and its jobs. */
export function serverProblems(facts: ServerFacts, now: number): AppProblem[] {
  return [
    ...engineProblem(facts),
    ...proxyProblem(facts),
    ...forwardingProblem(facts),
    ...readOnlyProblem(facts),
    ...diskProblem(facts),
    ...holdProblem(facts),
    ...facts.certificates.flatMap((certificate) => expiryProblem(certificate, now)),
    ...runProblems(facts.runs),
  ].map(shortened);
}

function engineProblem({ engine }: ServerFacts): AppProblem[] {
  if (engine.up) return [];
  return [
    {
      id: "engine",
      severity: "critical",
      type: "engine",
      title: "the container engine cannot be reached",
      cause: engine.error ?? "the reason is not known",
      command: "berth doctor",
      since: new Date(engine.since).toISOString(),
    },
  ];
}

function proxyProblem({ proxy }: ServerFacts): AppProblem[] {
  if (proxy === undefined || !["failing", "stopped", "unavailable"].includes(proxy.state)) return [];
  return [
    {
      id: "ingress",
      severity: "critical",
      type: "ingress",
      title: proxy.state === "stopped" ? "the ingress was stopped" : "the ingress does not serve what is stored",
      cause: proxy.problem ?? `it is ${proxy.state}`,
      command: proxy.state === "stopped" ? "berth ingress reload" : "berth ingress status",
    },
  ];
}

function forwardingProblem(facts: ServerFacts): AppProblem[] {
  const { forwarding } = facts;
  if (forwarding?.state !== "blocked") return [];
  return [
    {
      id: "machine/forwarding",
      severity: "critical",
      type: "network",
      title: "containers of this machine do not reach each other",
      cause: hits(forwarding.detail, facts),
      command: "berth doctor",
    },
  ];
}

function readOnlyProblem(facts: ServerFacts): AppProblem[] {
  const broken = (facts.disks ?? []).filter(({ read_only: isReadOnly }) => isReadOnly === true);
  return broken.map(({ path }) => ({
    id: `machine/disk/${path}`,
    severity: "critical",
    type: "disk",
    title: `the disk of ${path} takes no writes`,
    cause: hits("it was mounted read-only, as a disk with errors is", facts),
    command: "berth doctor",
  }));
}

function diskProblem(facts: ServerFacts): AppProblem[] {
  const { disk } = facts;
  if (disk === undefined || disk.total_bytes === 0) return [];
  const share = disk.used_bytes / disk.total_bytes;
  if (share < diskLowShare) return [];
  return [
    {
      id: "disk",
      severity: share >= diskFullShare ? "critical" : "warning",
      type: "disk",
      title: `the disk is ${Math.floor(share * 100)} % full`,
      cause: hits(`${gigabytes(disk.total_bytes - disk.used_bytes)} GB are free`, facts),
      command: "berth doctor",
    },
  ];
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(1);
}

function holdProblem({ collectionHeld, held }: ServerFacts): AppProblem[] {
  if (!collectionHeld) {
    if (held === undefined) return [];
    const title = "cron jobs, webhooks, mails and backups of this server wait";
    return [{ id: "held", severity: "notice", type: "restore", title, cause: held, command: "berth backup take-over" }];
  }
  return [
    {
      id: "restore",
      severity: "notice",
      type: "restore",
      title: "this server was restored from a backup and is not confirmed",
      cause: "containers and volumes without a manifest are kept until then",
      command: "berth restore --confirm",
    },
  ];
}

/** A renewal that fails is seen long before; this is the last call. */
function expiryProblem({ names, state, not_after, error }: CertificateView, now: number): AppProblem[] {
  const [host = "?"] = names;
  const left = not_after === undefined ? Number.POSITIVE_INFINITY : Date.parse(not_after) - now;
  if (state !== "valid" || left > expirySoonMs || left < 0) return [];
  const days = Math.floor(left / dayMs);
  return [
    {
      id: `certificate_expiry/${host}`,
      severity: "warning",
      type: "certificate",
      title: `the certificate of ${host} expires in ${days === 1 ? "1 day" : `${days} days`}`,
      cause: error ?? "it was not renewed in time",
      command: `berth certs renew ${host}`,
    },
  ];
}

/** The newest run of each job that ended, where it failed. */
function runProblems(runs: readonly JobRun[]): AppProblem[] {
  const ended = runs.filter(({ status }) => !["scheduled", "running", "skipped", "cancelled"].includes(status));
  const newest = [...Map.groupBy(ended, keyText).values()];
  return newest.flatMap(([run]) => (run === undefined || run.status === "succeeded" ? [] : [runProblem(run)]));
}

function runProblem(run: JobRun): AppProblem {
  const { kind, scope, name, status, error, exit_code, tail } = run;
  const who = `${scope}/${name}`;
  const words = { failed: "failed", timed_out: "took too long", missed: "was missed" };
  const what = words[status as keyof typeof words] ?? status;
  const code = exit_code === undefined ? what : `exit code ${exit_code}`;
  const at = run.ended_at ?? run.started_at ?? run.instant;
  return {
    id: `run/${kind}/${who}`,
    severity: "warning",
    type: status === "missed" ? "missed_run" : "failed_run",
    title: `the last run of ${who} ${what}`,
    cause: error ?? [code, tail.at(-1)].filter((part) => part !== undefined).join(": "),
    command: `berth why ${who}`,
    since: at,
    app: { kind, scope, name },
  };
}
