import { isLocalHost } from "../../base/pure/hosts.ts";
import { type Findings, noteText } from "./look.ts";
import { needsMark } from "../../orchestration/core/build/evidence/needs.ts";
import type { Process } from "../../orchestration/core/build/procfile.ts";
import { withSignals } from "../../orchestration/core/build/with-signals.ts";

/** What the operator decided. */
export interface Choices {
  scope: string;
  name: string;
  host: string | undefined;
  port: number | undefined;
  /** In place of a build from the folder. */
  image: string | undefined;
  /** The app's part of the folder. */
  path?: string | undefined;
}

/** A process, and the file that names it; without one, the Procfile. */
type Hinted = Process & { from?: string };

/**
 * A first manifest with comments, in YAML: an app, and a deployment for every other process of a Procfile. A Procfile
 * of other processes alone has no app.
 */
export function firstManifest(choices: Choices, findings: Findings): string {
  const { scope } = choices;
  const web = findings.processes.find(({ type }) => type === "web");
  const release = findings.processes.find(({ type }) => type === "release");
  const others = findings.processes.filter((process) => process !== web && process !== release);
  const app = [
    "# berth up builds this folder, deploys it and says how to open it.",
    "# All fields: berth explain app",
    ...head("app", scope, choices.name),
    ...imageLines(choices, findings),
    ...(web === undefined ? [] : commandLines(web)),
    ...(release === undefined ? [] : releaseLines(release)),
    replicasLine(findings, web?.type ?? "web"),
    ...portLines(choices.port, findings),
    ...hostLines(choices.host),
    ...envLines(choices, findings, web),
    '  # resources: { limits: { cpu: "1", memory: 512Mi } }',
  ];
  const hasApp = web !== undefined || others.length === 0;
  const deployments = others.map((process, index) => {
    const first = !hasApp && index === 0;
    return deployment(choices, { process, release: first ? release : undefined, hasApp, findings });
  });
  const documents = [...(hasApp ? [app] : []), ...deployments].map((lines) => lines.join("\n"));
  return `${documents.join("\n---\n")}\n${databaseLines(choices, findings).join("")}`;
}

/** Databases that berth runs itself, ready to be written without their "#". */
function databaseLines({ scope, name, image }: Choices, { notes }: Findings): string[] {
  const kinds = [["postgres", "db", "DATABASE_URL"] as const, ["redis", "cache", "REDIS_URL"] as const];
  const needed = kinds.filter(([kind]) =>
    notes.some((note) => note.startsWith(needsMark) && note.includes(`kind: ${kind}`)),
  );
  if (image !== undefined) return [];
  return needed.flatMap(([kind, place, variable]) => [
    `# To run it on this server, take the "# " out of these lines; links sets ${variable} for the app.\n`,
    ...[
      "---",
      `kind: ${kind}`,
      `scope: ${text(scope)}`,
      `name: ${place}`,
      `spec: { links: [${text(`${scope}/${name}`)}] }`,
    ].map((line) => `# ${line}\n`),
  ]);
}

function head(kind: string, scope: string, name: string): string[] {
  return [`kind: ${kind}`, `scope: ${text(scope)}`, `name: ${text(name)}`, "spec:"];
}

interface Other {
  process: Hinted;
  release: Hinted | undefined;
  findings: Findings;
  hasApp: boolean;
}

function deployment(choices: Choices, { process, release, hasApp, findings }: Other): string[] {
  return [
    `# ${hasApp ? "Another" : "A"} process of ${fileOf(process)}.`,
    ...head("deployment", choices.scope, otherName(choices.name, process)),
    ...(choices.image === undefined ? [buildOf(choices, findings.place)] : [`  image: ${text(choices.image)}`]),
    ...commandLines(process),
    ...(release === undefined ? [] : releaseLines(release)),
    replicasLine(findings, process.type),
    ...(hasApp ? ["  # Reads the config of the app too.", `  env_from: [${text(choices.name)}]`] : []),
  ];
}

/** None is no more than a process that is off for now; app.json calls it so. */
function replicasLine({ counts }: Findings, type: string): string {
  return `  replicas: ${counts?.value[type] ?? 1}`;
}

/** `worker` beside `web`, `api-worker` beside `api`. A name of a resource has at most 63 characters. */
function otherName(app: string, { type }: Process): string {
  if (app === "web") return type;
  return `${app.slice(0, 62 - type.length)}-${type}`.slice(-63);
}

function buildOf({ path }: Choices, place: Findings["place"]): string {
  if (place !== undefined && "context" in place) return `  build: { context: ${text(place.context)} }`;
  const part = path ?? place?.path;
  return part === undefined ? "  build: {}" : `  build: { path: ${text(part)} }`;
}

function fileOf({ from }: Hinted): string {
  return from === undefined || from === "Procfile" ? "the Procfile" : from;
}

function imageLines(choices: Choices, { source, notes, place }: Findings): string[] {
  if (choices.image !== undefined) return [`  image: ${text(choices.image)}`];
  return [
    `  # The image is built from this folder: ${source}. See berth build --print`,
    ...notes.map((note) => `  # ${noteText(note).replace(/^./, (first) => first.toUpperCase())}`),
    buildOf(choices, place),
  ];
}

function commandLines(process: Hinted): string[] {
  const { type, command } = process;
  return [`  # ${type} of ${fileOf(process)}`, `  command: ["sh", "-c", ${text(withSignals(command))}]`];
}

function releaseLines(process: Hinted): string[] {
  const { command } = process;
  return [
    `  # release of ${fileOf(process)}: runs before the new version does`,
    `  release: { command: ["sh", "-c", ${text(withSignals(command))}] }`,
  ];
}

function portLines(port: number | undefined, { health }: Findings): string[] {
  if (port === undefined) {
    return ["  # The port that the program listens on, inside of its container:", '  # ports: ["8080"]'];
  }
  return [
    "  # The port that the program listens on, inside of its container.",
    `  ports: ["${port}"]`,
    ...(health === undefined ? waitsForPort(port) : waitsForPage(port, health)),
  ];
}

function waitsForPage(port: number, { path, from }: { path: string; from: string }): string[] {
  return [
    `  # A new version gets requests once this page answers, as ${from} has it.`,
    "  probes:",
    `    readiness: { http_get: { path: ${text(path)}, port: ${port} } }`,
  ];
}

function waitsForPort(port: number): string[] {
  return [
    "  # A new version gets requests once it takes connections. If it has a page for that, write:",
    `  # readiness: { http_get: { path: /health, port: ${port} } }`,
    "  probes:",
    `    readiness: { tcp_socket: { port: ${port} } }`,
  ];
}

function hostLines(host: string | undefined): string[] {
  if (host === undefined) {
    return [
      "  # With a domain whose DNS record leads to the server, the app is on the web, with a certificate:",
      "  # host: app.example.com",
      "  # tls: {}",
    ];
  }
  if (isLocalHost(host)) {
    return [
      `  host: ${text(host)}`,
      "  # A certificate of the server itself: see berth ca",
      "  tls: { provider: internal }",
    ];
  }
  return [
    "  # Its DNS record leads to the server. The certificate comes from Let's Encrypt.",
    `  host: ${text(host)}`,
    "  tls: {}",
  ];
}

const keysShownMax = 12;

function envLines({ scope, name, port }: Choices, findings: Findings, web: Process | undefined): string[] {
  const { env, values, tellsPort = false } = findings;
  // A web process of a Procfile finds its port there, in its command or in its code.
  const isTold = web !== undefined || tellsPort;
  const set = [
    ...(isTold && port !== undefined ? [`    PORT: "${port}"`] : []),
    ...(values === undefined ? [] : [`    # From ${values.from}; check that they are right here.`]),
    ...Object.entries(values?.values ?? {}).map(([key, value]) => `    ${key}: ${quoted(value)}`),
  ];
  const variables = set.length === 0 ? [] : ["  env:", ...set];
  if (env === undefined) return [`  # Secrets: berth config set ${scope}/${name} KEY=-`, ...variables];
  const shown = env.keys.slice(0, keysShownMax).join(", ");
  const more = env.keys.length > keysShownMax ? " …" : "";
  return [
    `  # ${env.file} names ${shown}${more}.`,
    `  # Set them from a file with their values: berth env import ${scope}/${name} .env`,
    ...variables,
  ];
}

/** Always quoted: a variable is text. */
function quoted(value: string): string {
  return JSON.stringify(value.replaceAll("$", "$$$$"));
}

/** As a value of YAML: quoted where it could mean something else; `$$` is a dollar sign of a manifest. */
function text(value: string): string {
  const isPlain = /^[a-z][a-z0-9./:-]*[a-z0-9]$/i.test(value) && !/^(?:true|false|null|yes|no|on|off)$/i.test(value);
  return isPlain ? value : JSON.stringify(value.replaceAll("$", "$$$$"));
}
