import { isFields, own } from "../../../base/pure/fields.ts";
import { deployOf, limit } from "./deploy.ts";
import { readinessOf } from "./health.ts";
import { optionReaders } from "./options.ts";
import { portsOf } from "./ports.ts";
import type { Lose } from "./lose.ts";
import { isScalar, pairsOf, shellWords, sizeText, textsOf } from "./text.ts";
import { grantedMounts } from "./granted.ts";
import type { Files } from "./machine-paths.ts";
import { fileValues, readVariables } from "./project-variables.ts";
import { composeText, handedOn, type Known, withDefaults } from "./variables.ts";
import { volumesOf } from "./volumes.ts";

type Fields = Record<string, unknown>;

/** A service on its way to a deployment. */
interface Service {
  spec: Fields;
  /** Its name here. */
  name: string;
  /** Entries of `docker_options`. */
  options: string[];
  files: Files;
  /** Networks, secrets and configs at the top of the file. */
  networks: Fields;
  secrets: Fields;
  configs: Fields;
  /** Its profile is not asked for. */
  isOff: boolean;
  /** Variables of its env files whose values hold variables. */
  fromFiles: Record<string, string>;
  /** Its ports are published, or are those of the machine. */
  hasPorts: boolean;
  /** Folder that the image is built from. */
  context: string | undefined;
  known: Known;
  lose: Lose;
}

type Reader = (value: unknown, path: string, service: Service) => void;

/** Sets one field of the spec. */
const set = (field: string, of: (value: unknown, path: string, lose: Lose) => unknown = (value) => value): Reader => {
  return (value, path, { spec, lose }) => {
    spec[field] = of(value, path, lose);
  };
};

const readers: Record<string, Reader> = {
  image: set("image"),
  build: readBuild,
  command: (value, path, service) => words("command", value, path, service),
  entrypoint: (value, path, service) => words("entrypoint", value, path, service),
  environment(value, path, { spec, known, lose }) {
    spec.env = valuesOf(value, path, known, lose);
  },
  env_file: readEnvFiles,
  ports: set("ports", portsOf),
  expose: readExposed,
  volumes(value, path, { spec, options, name, context, files, lose }) {
    const { mounts, tmpfs } = volumesOf(value, path, { service: name, context, files, lose });
    addMounts(spec, mounts);
    options.push(...tmpfs.map((target) => `--tmpfs=${target}`));
  },
  healthcheck(value, path, { spec, lose }) {
    const readiness = readinessOf(value, path, lose);
    if (readiness !== undefined) spec.probes = { readiness };
  },
  restart: set("restart", (value) => (value === false ? "no" : String(value))),
  deploy: (value, path, service) => deployOf(value, path, service),
  scale: set("replicas"),
  cpus: (value, _, { spec }) => limit(spec, "cpu", String(value)),
  mem_limit(value, path, { spec, lose }) {
    const size = sizeText(value);
    if (size === undefined) lose(path, "is not a size: left out");
    else limit(spec, "memory", size);
  },
  ulimits: readUlimits,
  network_mode(value, path, { spec, lose }) {
    const mode = withDefaults(String(value));
    if (mode === "host" || mode === "none" || mode === "bridge") spec.network_mode = value;
    else lose(path, `"${mode}" has no counterpart: publish its ports itself, and reach others by their names`);
  },
  networks: readNetworks,
  stop_grace_period: set("stop_grace", String),
  pull_policy(value, path, { spec, lose }) {
    const policy = withDefaults(String(value));
    if (policy === "always" || policy === "missing") spec.pull = value;
    else if (policy !== "if_not_present" && policy !== "build") lose(path, `"${policy}" has no counterpart`);
  },
  logging: readLogging,
  labels: readLabels,
  secrets: (value, path, service) => granted("secrets", value, path, service),
  configs: (value, path, service) => granted("configs", value, path, service),
  ...Object.fromEntries(unneeded().map((field) => [field, () => undefined])),
};

/** Keys that need no counterpart: names, order and terminals are the platform's, or only matter while somebody develops. */
function unneeded(): string[] {
  return [
    ...["depends_on", "links", "container_name", "profiles", "tty", "stdin_open", "platform", "develop"],
    ...["attach", "annotations", "cpu_percent", "mem_swappiness"],
  ];
}

/** Names and values; a name without a value is a variable that is handed on. */
function valuesOf(value: unknown, path: string, known: Known, lose: Lose): Record<string, string> {
  const pairs = pairsOf(value, path, lose).flatMap(([key, written]): [string, string][] => {
    const text = written ?? handedOn(key, known);
    return text === undefined ? [] : [[key, text]];
  });
  return Object.fromEntries(pairs);
}

function addMounts(spec: Fields, mounts: readonly string[]): void {
  if (mounts.length > 0) spec.volumes = [...(Array.isArray(spec.volumes) ? spec.volumes : []), ...mounts];
}

function granted(field: "secrets" | "configs", value: unknown, path: string, service: Service): void {
  const { spec, files, lose } = service;
  addMounts(spec, grantedMounts(field, value, path, { declared: service[field], files, lose }));
}

const advice: Record<string, string> = {
  gpus: "has no counterpart: containers get no GPU",
  runtime: "has no counterpart: the engine's own runtime is used",
  volumes_from: "has no counterpart: name the volumes in both services",
};

/** Order in which the fields of a deployment are written. */
const order = ["image", "build", "pull", "replicas", "entrypoint", "command", "env", "env_file", "ports", "volumes"];

/** The spec of the deployment that a service becomes. What does not carry over is reported. */
export function specOf(
  fields: Fields,
  path: string,
  setup: Omit<Service, "spec" | "context" | "hasPorts" | "fromFiles">,
): Fields {
  const { ports, network_mode: mode } = fields;
  const hasPorts = (Array.isArray(ports) && ports.length > 0) || mode === "host" || mode === "none";
  const service: Service = { ...setup, spec: {}, fromFiles: {}, hasPorts, context: contextOf(fields.build) };
  for (const [name, value] of Object.entries(fields)) {
    const at = `${path}.${name}`;
    if (name.startsWith("x-") || value === null || value === undefined) continue;
    const read = own(readers, name) ?? own(optionReaders, name);
    if (read === undefined) setup.lose(at, own(advice, name) ?? "has no counterpart");
    else read(value, at, service);
  }
  const { spec, options, fromFiles } = service;
  if (Object.keys(fromFiles).length > 0) spec.env = { ...fromFiles, ...(isFields(spec.env) ? spec.env : {}) };
  // The platform names what it builds.
  if (spec.build !== undefined) delete spec.image;
  if (setup.isOff) spec.replicas = 0;
  if (options.length > 0) spec.docker_options = options;
  const rest = Object.keys(spec).filter((name) => !order.includes(name));
  return Object.fromEntries([...order, ...rest].filter((name) => name in spec).map((name) => [name, spec[name]]));
}

function words(field: "command" | "entrypoint", value: unknown, path: string, { spec, lose }: Service): void {
  const list = typeof value === "string" ? shellWords(value) : textsOf(value, path, lose);
  if (list.length > 0) spec[field] = list;
  else lose(path, "an empty one does not clear that of the image");
}

function contextOf(build: unknown): string | undefined {
  const context = isFields(build) ? (build.context ?? ".") : build;
  if (typeof context !== "string") return undefined;
  // A folder is known by its dot, also where it is written without one: `backend`.
  return /^[\w-][\w./-]*$/.test(context) ? `./${context}` : context;
}

/** What matters to where and how Compose builds, and not to what. */
const buildDetails = [
  ...["cache_from", "cache_to", "labels", "network", "no_cache", "pull", "tags", "platforms", "shm_size", "provenance"],
  ...["sbom", "extra_hosts", "isolation", "ulimits", "privileged", "entitlements"],
];

function readBuild(value: unknown, path: string, { spec, known, lose }: Service): void {
  if (isScalar(value)) {
    spec.build = { context: String(value) };
    return;
  }
  if (!isFields(value)) {
    lose(path, "is not a build: left out");
    return;
  }
  const { context = ".", dockerfile, target, args, secrets, ...more } = value;
  for (const name of secrets === undefined ? [] : textsOf(secrets, `${path}.secrets`, lose))
    lose(`${path}.secrets`, `"${name}" is not carried over: add it to build.secrets, and set it with berth config set`);
  for (const field of Object.keys(more)) {
    if (!buildDetails.includes(field) && !field.startsWith("x-")) lose(`${path}.${field}`, "has no counterpart");
  }
  const given = args === undefined ? {} : valuesOf(args, `${path}.args`, known, lose);
  spec.build = {
    context,
    ...(dockerfile === undefined ? {} : { dockerfile }),
    ...(target === undefined ? {} : { target }),
    ...(Object.keys(given).length === 0 ? {} : { args: given }),
  };
}

/** Without published ports, the exposed ones are those of the manifest: an ingress leads to the first of them. */
function readExposed(value: unknown, path: string, { spec, hasPorts, lose }: Service): void {
  if (hasPorts) return;
  const ports = portsOf(value, path, lose);
  if (ports.length > 0) spec.ports = [...new Set(ports)];
}

/** The values of an env file that hold variables, as Compose fills them in. What a later file writes plainly wins. */
function fillIn(text: string, path: string, { fromFiles, known, lose }: Service): void {
  const { variables, verbatim } = readVariables(text);
  const values = { ...known.values, ...fileValues(text, known) };
  for (const [name, value] of Object.entries(variables)) {
    delete fromFiles[name];
    if (!value.includes("$") || verbatim.has(name)) continue;
    fromFiles[name] = composeText(value, { known: { ...known, values, complete: true }, path, lose });
  }
}

function readEnvFiles(value: unknown, path: string, service: Service): void {
  const { spec, files, lose } = service;
  const list = Array.isArray(value) ? value : [value];
  const found = list.flatMap((item, index) => {
    const at = Array.isArray(value) ? `${path}[${index}]` : path;
    const { path: file, required = true } = isFields(item) ? item : { path: item, required: true };
    if (!isScalar(file)) {
      lose(at, "is not a file: left out");
      return [];
    }
    const isThere = files.look(String(file)) === "file";
    if (!isThere && required === false) return [];
    const text = isThere && !(isFields(item) && item.format === "raw") ? files.text(String(file)) : undefined;
    if (text !== undefined) fillIn(text, at, service);
    if (!isThere && !String(file).includes("\uE000")) {
      lose(at, `"${file}" does not exist: create it before berth apply`, "note");
    }
    return [String(file)];
  });
  if (found.length > 0) spec.env_file = found;
}

function readUlimits(value: unknown, path: string, { spec, lose }: Service): void {
  if (!isFields(value)) {
    lose(path, "is not a map: left out");
    return;
  }
  const limits = Object.entries(value).flatMap(([name, item]): [string, string][] => {
    if (isScalar(item)) return [[name, String(item)]];
    if (isFields(item) && isScalar(item.soft) && isScalar(item.hard)) return [[name, `${item.soft}:${item.hard}`]];
    lose(`${path}.${name}`, "is not a limit: left out");
    return [];
  });
  spec.ulimits = Object.fromEntries(limits);
}

/** Apps of one server reach each other without them; a network that others use too is joined. */
function readNetworks(value: unknown, path: string, { spec, networks, lose }: Service): void {
  const names = isFields(value) ? Object.keys(value) : textsOf(value, path, lose);
  const joined = names.flatMap((name) => {
    const top = isFields(networks[name]) ? networks[name] : {};
    if (top.external !== true && !isFields(top.external)) return [];
    const named = isFields(top.external) ? top.external.name : top.name;
    return [typeof named === "string" ? named : name];
  });
  if (joined.length > 0) spec.networks = joined;
  for (const [name, settings] of Object.entries(isFields(value) ? value : {})) {
    if (!isFields(settings)) continue;
    for (const field of ["ipv4_address", "ipv6_address"]) {
      if (settings[field] !== undefined)
        lose(`${path}.${name}.${field}`, "has no counterpart: use the name of the service");
    }
  }
}

function readLogging(value: unknown, path: string, { spec, lose }: Service): void {
  if (!isFields(value)) {
    lose(path, "is not a map: left out");
    return;
  }
  const { driver = "json-file", options } = value;
  if (driver !== "json-file" && driver !== "local" && driver !== "none")
    lose(`${path}.driver`, "berth keeps the logs itself: it does not send them there", "note");
  const { "max-size": size, "max-file": files } = isFields(options) ? options : {};
  const count = Number(files);
  const logs = {
    ...(isScalar(size) ? { max_size: String(size) } : {}),
    ...(files !== undefined && Number.isInteger(count) ? { max_files: count } : {}),
  };
  if (Object.keys(logs).length > 0) spec.logs = logs;
}

function readLabels(value: unknown, path: string, { options, lose }: Service): void {
  const pairs = pairsOf(value, path, lose);
  const routes = pairs.filter(([key]) => /^(?:traefik|caddy)\b/.test(key));
  if (routes.length > 0)
    lose(path, "the labels of a proxy are kept: berth's own ingress needs an ingress, or host in an app", "note");
  for (const [key, text] of pairs) options.push(`--label=${key}=${text ?? ""}`);
}
