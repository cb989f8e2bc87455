import { Failure } from "../base/wire/failure.ts";
import { totalmem } from "node:os";
import { type AccessOptions, accessOptions } from "./access.ts";
import { type ClientFlags, readClientOptions } from "./client-options.ts";
import { type Environment, givenVariables } from "./environment.ts";
import { contextLimits } from "./context-limits.ts";
import { diskLimits } from "./disk-limits.ts";
import { pluginLimits } from "./plugin-limits.ts";
import { podLimits } from "./pod-limits.ts";
import { previewLimits } from "./preview-limits.ts";
import { ingressLimits } from "./ingress-limits.ts";
import { type IngressOptions, ingressOptions } from "./ingress-options.ts";
import { type ObservabilityOptions, observabilityOptions } from "./observability-options.ts";
import {
  allowanceOf,
  baseUrlOf,
  logLevelOf,
  parseInterval,
  portOf,
  prefixOf,
  releasesUrl,
  valueOrOff,
} from "./values.ts";
import { sleepLimits } from "./sleep-limits.ts";
import type { ProxyVariables } from "../base/pure/proxy-choice.ts";
import { passedToPlugins, proxiesOf, variablesOf } from "./passed-on.ts";
import type { LogLevel } from "../base/words/log.ts";
import { checkMailServer } from "../base/deliver/mail-server.ts";

export { clientLimits } from "./client-limits.ts";
export { identityLimits } from "./identity-limits.ts";

/**
 * The only reader of the environment, and the home of every limit. Flags win over the environment, the environment
 * over the defaults.
 */
export const limits = {
  /** Largest request body (docs/contract/orchestration.md, 1.3). One byte more is a 413. */
  bodyBytesMax: 1024 * 1024,
  /** Largest request head; more is a 431. */
  headBytesMax: 16 * 1024,
  headersMax: 100,
  /** How long the rest of a refused body is read, so that the client gets to the answer. */
  drainMs: 2_000,
  /** A request head, and a body of a non-streaming route, must be complete within these. */
  headReadMs: 5_000,
  bodyReadMs: 30_000,
  /** A kept-alive connection without a request is closed after this long. */
  idleMs: 75_000,
  /** Connections on the orchestration listener at one time; one more is answered 503. */
  connectionsMax: 1_024,
  /** Connections of clients that were not let in and still read why; those of more are cut off. */
  refusedConnectionsMax: 64,
  /** How long the process behind one connection is searched for. */
  peerSearchMs: 4_000,
  /** Where it is looked for first: around what is remembered of clients, and below the newest process id. */
  peerQuickLook: { recentMax: 8, descriptorsAround: 3, newestMax: 48, linksMax: 256 },
  /** Nesting of a JSON body. */
  jsonDepthMax: 64,
  manifestsPerApplyMax: 1_000,
  /** Characters of the message about a release. */
  messageCharactersMax: 500,
  replicasMax: 1_000,
  envEntriesMax: 2_000,
  startAfterMax: 32,
  /** The field `backup`: how often at most, the entries of each of its lists, and a pattern, as long as a path can be. */
  backup: { everyMinMs: 60_000, wordsMax: 64, patternCharactersMax: 4_096 },
  configKeysMax: 2_000,
  configValueBytesMax: 256 * 1024,
  assetBytesMax: 8 * 1024 * 1024,
  containerNameMax: 200,
  problemsShownMax: 50,
  /** How long what the reconciler writes about its work waits for a commit that is synced to disk anyway, milliseconds. */
  gatherMs: 2,
  eventsKept: 100_000,
  eventsPageMax: 1_000,
  /** Changes of what is wanted, and the most bytes of their specs: `berth history`. */
  historyKept: 10_000,
  historyBytesKept: 32 * 1024 * 1024,
  imagePinsKept: 10,
  operationsKept: 10_000,
  /** Requests with an `Idempotency-Key`: how many, for how long, and the largest answer that is kept. */
  keyedRequestsKept: 500,
  keyedRequestsKeptMs: 24 * 3_600_000,
  keyedAnswerBytesMax: 256 * 1024,
  atomicKept: 100,
  /** Per resource. */
  releasesKept: 10,
  buildsKept: 20,
  deathsKept: 20,
  deathsKeptMs: 30 * 24 * 3_600_000,
  /** Webhook calls in all. */
  deliveriesKept: 1_000,
  /** Runs of plugins in all. */
  pluginRunsKept: 1_000,
  /** Resources reconciled at the same time, and container starts at the same time over all of them. */
  reconcileWorkers: 8,
  engineCallsMax: 16,
  resyncMs: 30_000,
  /** How long a failed release of a database waits for the backup before it goes back. */
  returnCopyMs: 10 * 60_000,
  /**
   * How often the engine is asked for a sign of life, and how long it may take. A ping needs no lock and no disk of the
   * engine: a busy one answers within a second or three, so ten seconds without an answer are a hang.
   */
  enginePingMs: 5_000,
  engineSilenceMs: 10_000,
  /** How often a restored server looks whether it is confirmed. */
  gateLookMs: 1_000,
  /** How often the requests of a guarded release are looked at. */
  guardLookMs: 1_000,
  /** How much of the time of a canary step a server that is killed may lose. */
  canarySaveMs: 5_000,
  /** How long the first start of an app waits for the apps of its `start_after`, and how often it looks. */
  startAfterMs: 5 * 60_000,
  startAfterLookMs: 1_000,
  /** When the server first tries whether containers reach each other, and how often after that. */
  forwardingFirstMs: 30_000,
  forwardingLookMs: 300_000,
  /** How long a start waits for the engine to list what runs, before it serves. */
  firstLookMs: 3_000,
  /** How often the autoscaler looks at CPU use. */
  autoscaleMs: 15_000,
  ...sleepLimits,
  backoffFirstMs: 1_000,
  backoffMaxMs: 60_000,
  /** A labelled container without a manifest and without a delete mark is left alone this long. */
  orphanGraceMs: 60_000,
  /** Free space below which nothing is pulled. */
  diskFloorBytes: 1024 * 1024 * 1024,
  /** Images that are built at the same time; more would starve what runs. */
  buildsAtOnceMax: 1,
  buildMs: 60 * 60_000,
  /** Longest silence of the engine during a build: a step that computes may print nothing. */
  buildIdleMs: 30 * 60_000,
  /** Memory of each build step: half of what the machine has, so that a build never takes the memory of what runs. */
  buildMemoryBytes: Math.floor(totalmem() / 2),
  /** Weight of a build step against other containers, which have 1024. */
  buildCpuShares: 256,
  /** The last part of what a build printed is kept. */
  buildLogBytesMax: 256 * 1024,
  /** How long a built image that nothing uses stays: it may be about to be applied. */
  builtImageGraceMs: 60 * 60_000,
  ...podLimits,
  buildContexts: contextLimits,
  disk: diskLimits,
  previews: previewLimits,
  /** Ended exec sessions whose exit code is remembered. */
  execResultsKept: 1_000,
  /** Commands in containers of their own (`berth run APP -- COMMAND`) at the same time. */
  appRunsMax: 50,
  /** Bytes of a client's input that wait for the command in a pod; more makes the client wait. */
  execInputBytesMax: 256 * 1024,
  /** Body of one webhook call. */
  webhookBodyBytesMax: 256 * 1024,
  /** Pauses between the attempts at a webhook call: one more attempt than there are pauses. */
  webhookPausesMs: [1_000, 5_000],
  /** Time limit of one attempt. */
  webhookTimeoutMs: 10_000,
  /** An answer to a webhook call is read this far. */
  webhookResponseBytesMax: 64 * 1024,
  webhooksInFlightMax: 8,
  /** How long a delete with prune waits for containers before it answers and finishes on its own. */
  pruneWaitMs: 60_000,
  /** Runs of one job or cron job under way at the same time. */
  runsAtOnceMax: 100,
  /** Containers of ended runs that stay for their output, per job, as far as its history limits let their records stay. */
  runContainersKept: 20,
  ...pluginLimits,
  ingress: ingressLimits.spec,
} as const;

export interface ServeOptions extends AccessOptions, IngressOptions, ObservabilityOptions {
  /** Folder of all state. */
  root: string;
  identityAddr: string;
  /** Where browsers reach the identity service, without a slash at the end: what providers send them back to. */
  identityBaseUrl: string;
  /** Providers and webhooks of the identity service may live inside the machine and its networks. */
  identityAllowPrivate: boolean;
  /** Mail server as `smtp://user:password@host:587`; empty: mails are kept. */
  smtpUrl: string;
  /** Sender of mails; only with a mail server. */
  mailFrom: string;
  /** Addresses and networks whose `X-Forwarded-For` is believed. */
  identityTrustedProxies: readonly string[];
  /** `unix:///path` or `tcp://host:port`. */
  dockerHost: string;
  prefix: string;
  /** Webhooks may go to addresses inside the machine and its networks. */
  allowPrivateWebhooks: boolean;
  logLevel: LogLevel;
  /** Between two readings of what the pods use; 0 turns the collector off. */
  statsIntervalMs: number;
  /** On the platform network's own address, for containers of plugins' blocks; undefined turns that listener off. */
  callbackPort: number | undefined;
  /** There too, for OpenTelemetry of apps that ask for it; undefined turns that listener off. */
  telemetryPort: number | undefined;
  /** Where releases of plugins are, the public host or a mirror of the same paths; no slash at the end. */
  pluginReleases: string;
}

/** The same as an operator writes them. */
export type ServeFlags = Partial<Record<keyof ServeOptions, string>>;

/** Fails `invalid` for a prefix, a switch or a log level that cannot be. Addresses are read where they are bound. */
export function serveOptions(flags: ServeFlags, environment: Environment = process.env): ServeOptions {
  const env = givenVariables(environment);
  return {
    root: flags.root ?? env.BERTH_ROOT ?? "/opt/berth",
    ...accessOptions({
      addr: valueOrOff(flags.addr ?? env.BERTH_ADDR ?? "127.0.0.1:8686"),
      addrInsecure: flags.addrInsecure ?? env.BERTH_ADDR_INSECURE ?? "false",
      allowedHosts: flags.allowedHosts ?? env.BERTH_ALLOWED_HOSTS ?? "",
    }),
    ...observabilityOptions(flags, env),
    ...ingressOptions(flags, env),
    ...identityOptions(flags, env),
    dockerHost: flags.dockerHost ?? env.DOCKER_HOST ?? "unix:///var/run/docker.sock",
    prefix: prefixOf(flags.prefix ?? env.BERTH_PREFIX ?? "berth"),
    allowPrivateWebhooks: allowanceOf(
      "allow private hooks",
      flags.allowPrivateWebhooks ?? env.BERTH_ALLOW_PRIVATE_HOOKS ?? "false",
    ),
    logLevel: logLevelOf(flags.logLevel ?? env.BERTH_LOG_LEVEL ?? "info"),
    statsIntervalMs: parseInterval(flags.statsIntervalMs ?? env.BERTH_STATS_INTERVAL ?? "15s"),
    callbackPort: portOf(flags.callbackPort ?? env.BERTH_CALLBACK_PORT ?? "8689"),
    telemetryPort: portOf(flags.telemetryPort ?? env.BERTH_TELEMETRY_PORT ?? "4318"),
    pluginReleases: releasesUrl(flags.pluginReleases ?? env.BERTH_PLUGIN_RELEASES ?? "https://github.com"),
  };
}

type IdentityOption =
  "identityAddr" | "identityBaseUrl" | "identityAllowPrivate" | "identityTrustedProxies" | "smtpUrl" | "mailFrom";

function identityOptions(flags: ServeFlags, env: Environment): Pick<ServeOptions, IdentityOption> {
  const identityAddr = valueOrOff(flags.identityAddr ?? env.BERTH_IDENTITY_ADDR ?? "127.0.0.1:8688");
  const allowance = flags.identityAllowPrivate ?? env.BERTH_IDENTITY_ALLOW_PRIVATE_ENDPOINTS ?? "false";
  const proxies = valueOrOff(flags.identityTrustedProxies ?? env.BERTH_IDENTITY_TRUSTED_PROXIES ?? "");
  return {
    identityAddr,
    identityBaseUrl: baseUrlOf(flags.identityBaseUrl ?? env.BERTH_IDENTITY_BASE_URL ?? "", identityAddr),
    identityAllowPrivate: allowanceOf("identity allow private endpoints", allowance),
    identityTrustedProxies: proxies.split(",").flatMap((text) => text.trim() || []),
    ...mailOptions(flags, env),
  };
}

/** A mail without a sender would be refused by every server: better told at the start. */
function mailOptions(flags: ServeFlags, env: Environment): Pick<ServeOptions, "smtpUrl" | "mailFrom"> {
  const smtpUrl = valueOrOff(flags.smtpUrl ?? env.BERTH_SMTP_URL ?? "");
  const mailFrom = flags.mailFrom ?? env.BERTH_MAIL_FROM ?? "";
  if (smtpUrl !== "") checkMailServer(smtpUrl);
  if (smtpUrl !== "" && !/^[^\r\n]*@[^\r\n]+$/.test(mailFrom)) {
    throw new Failure("invalid", 'the sender of mails is missing: set --mail-from "Shop <no-reply@shop.example>"');
  }
  return { smtpUrl, mailFrom };
}

export function clientOptions(flags: ClientFlags, terminal: boolean, env: Environment = process.env) {
  return readClientOptions(flags, terminal, env);
}

/** What plugins get of the server's own environment: it may hold secrets of others. */
export function pluginEnvironment(env: Environment = process.env): Record<string, string> {
  return passedToPlugins(env);
}

/** The proxies that the environment names: for what leaves the machine, and for what the server starts. */
export function proxyVariables(env: Environment = process.env): ProxyVariables {
  return proxiesOf(env);
}

/** Variables that a plugin was granted. */
export function serverVariables(names: readonly string[], env: Environment = process.env): Record<string, string> {
  return variablesOf(env, names);
}

/** `<PREFIX>_PLUGIN_DEFAULT_REPO_<KIND>`: where the plugin of a block kind is installed from when the block does not say. */
export function pluginDefaultRepo(kind: string, envPrefix: string, env: Environment = process.env): string | undefined {
  return env[`${envPrefix}_PLUGIN_DEFAULT_REPO_${kind.toUpperCase().replaceAll("-", "_")}`] || undefined;
}

/** What `${NAME}` in a manifest file is replaced from. */
export function shellVariables(env: Environment = process.env): Readonly<Record<string, string | undefined>> {
  return env;
}
