import { keptReference } from "../kept.ts";
import { isFields } from "../../../base/pure/fields.ts";
import { deployOf, limit } from "./deploy.ts";
import { readinessOf } from "./health.ts";
import { optionReaders } from "./options.ts";
import { portsOf } from "./ports.ts";
import { isScalar, type Lose, pairsOf, shellWords, sizeText, textsOf } from "./text.ts";
import { own } from "./own.ts";
import { type Files, volumesOf } from "./volumes.ts";

type Fields = Record<string, unknown>;

/** A service on its way to a deployment. */
interface Service {
  spec: Fields;
  /** Entries of `docker_options`. */
  options: string[];
  files: Files;
  /** Networks at the top of the file. */
  networks: Fields;
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
  environment(value, path, { spec, lose }) {
    const pairs = pairsOf(value, path, lose);
    spec.env = Object.fromEntries(pairs.map(([key, text]) => [key, text ?? keptReference(key)]));
  },
  env_file: readEnvFiles,
  ports: set("ports", portsOf),
  volumes(value, path, { spec, options, files, lose }) {
    const { mounts, tmpfs } = volumesOf(value, path, files, lose);
    if (mounts.length > 0) spec.volumes = mounts;
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
  cap_add: set("cap_add", textsOf),
  extra_hosts(value, path, { spec, lose }) {
    const pairs = isFields(value) ? pairsOf(value, path, lose) : textsOf(value, path, lose).map(hostPair);
    spec.extra_hosts = pairs.map(([name, address]) => `${name}:${address ?? ""}`);
  },
  ulimits: readUlimits,
  network_mode(value, path, { spec, lose }) {
    if (value === "host" || value === "none" || value === "bridge") spec.network_mode = value;
    else lose(path, `"${String(value)}" has no counterpart`);
  },
  networks: readNetworks,
  stop_grace_period: set("stop_grace", String),
  stop_signal: set("stop_signal", String),
  pull_policy(value, path, { spec, lose }) {
    if (value === "always" || value === "missing") spec.pull = value;
    else if (value !== "if_not_present" && value !== "build") lose(path, `"${String(value)}" has no counterpart`);
  },
  logging: readLogging,
  profiles(_, path, { spec, lose }) {
    spec.replicas = 0;
    lose(path, "there are no profiles: it is imported with replicas 0, and berth scale starts it");
  },
  depends_on: (value, path, { lose }) => {
    const names = isFields(value) ? Object.keys(value) : textsOf(value, path, lose);
    if (names.length > 0)
      lose(path, `there is no start order: ${names.join(", ")} may be ready later; an init can wait for it`);
  },
  expose: (_, path, { lose }) => lose(path, "is not needed: apps reach every port of each other"),
  links: (_, path, { lose }) => lose(path, "is not needed: apps reach each other as NAME.SCOPE"),
  container_name: (_, path, { lose }) => lose(path, "has no counterpart: the platform names containers"),
  labels: readLabels,
};

const advice: Record<string, string> = {
  extends: "is not read: import the output of docker compose config",
  secrets: "has no counterpart: set the values with berth config, or mount an asset",
  configs: "has no counterpart: mount an asset",
  tty: "has no counterpart: berth exec -it opens a terminal",
  stdin_open: "has no counterpart",
  platform: "has no counterpart: images are those of the server's machine",
};

/** Order in which the fields of a deployment are written. */
const order = ["image", "build", "pull", "replicas", "entrypoint", "command", "env", "env_file", "ports", "volumes"];

/** The spec of the deployment that a service becomes. What does not carry over is told. */
export function specOf(fields: Fields, path: string, setup: Pick<Service, "files" | "networks" | "lose">): Fields {
  const service: Service = { spec: {}, options: [], ...setup };
  for (const [name, value] of Object.entries(fields)) {
    const at = `${path}.${name}`;
    if (name.startsWith("x-") || value === null) continue;
    const read = own(readers, name) ?? own(optionReaders, name);
    if (read === undefined) setup.lose(at, own(advice, name) ?? "has no counterpart");
    else read(value, at, service);
  }
  const { spec, options } = service;
  if (spec.build !== undefined && spec.image !== undefined) {
    setup.lose(`${path}.image`, "is left out beside build: the platform names what it builds");
    delete spec.image;
  }
  if (spec.restart === undefined) {
    setup.lose(path, 'has no restart, and Compose lets it end: here it is restarted; restart: "no" keeps it as it was');
  }
  if (options.length > 0) spec.docker_options = options;
  const rest = Object.keys(spec).filter((name) => !order.includes(name));
  return Object.fromEntries([...order, ...rest].filter((name) => name in spec).map((name) => [name, spec[name]]));
}

function words(field: "command" | "entrypoint", value: unknown, path: string, { spec, lose }: Service): void {
  const list = typeof value === "string" ? shellWords(value) : textsOf(value, path, lose);
  if (list.length > 0) spec[field] = list;
  else lose(path, "an empty one does not clear that of the image");
}

function readBuild(value: unknown, path: string, { spec, lose }: Service): void {
  if (isScalar(value)) {
    spec.build = { context: String(value) };
    return;
  }
  if (!isFields(value)) {
    lose(path, "is not a build: left out");
    return;
  }
  const { context = ".", dockerfile, target, args, ...more } = value;
  for (const field of Object.keys(more)) lose(`${path}.${field}`, "has no counterpart");
  const pairs = args === undefined ? [] : pairsOf(args, `${path}.args`, lose);
  spec.build = {
    context,
    ...(dockerfile === undefined ? {} : { dockerfile }),
    ...(target === undefined ? {} : { target }),
    ...(pairs.length === 0
      ? {}
      : { args: Object.fromEntries(pairs.map(([key, text]) => [key, text ?? keptReference(key)])) }),
  };
}

function readEnvFiles(value: unknown, path: string, { spec, lose }: Service): void {
  const list = Array.isArray(value) ? value : [value];
  spec.env_file = list.flatMap((item, index) => {
    const at = `${path}[${index}]`;
    if (isScalar(item)) return [String(item)];
    if (!isFields(item) || typeof item.path !== "string") {
      lose(at, "is not a file: left out");
      return [];
    }
    if (item.required === false) lose(`${at}.required`, "the file must be there");
    if (item.format !== undefined) lose(`${at}.format`, "has no counterpart");
    return [item.path];
  });
}

function hostPair(text: string): [string, string] {
  const [, name = text, address = ""] = /^([^:=]+)[:=](.*)$/.exec(text) ?? [];
  return [name, address.replace(/^\[(.*)\]$/, "$1")];
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
    if (top.external !== true) return [];
    return [typeof top.name === "string" ? top.name : name];
  });
  if (joined.length > 0) spec.networks = joined;
  const own = names.filter((name) => !(isFields(networks[name]) && networks[name].external === true));
  if (own.length > 0)
    lose(path, `${own.join(", ")}: not needed, the apps of a server reach each other; it separates none`);
  if (!isFields(value)) return;
  for (const [name, settings] of Object.entries(value)) {
    if (isFields(settings))
      for (const field of Object.keys(settings)) lose(`${path}.${name}.${field}`, "has no counterpart");
  }
}

function readLogging(value: unknown, path: string, { spec, lose }: Service): void {
  if (!isFields(value)) {
    lose(path, "is not a map: left out");
    return;
  }
  const { driver = "json-file", options, ...more } = value;
  for (const field of Object.keys(more)) lose(`${path}.${field}`, "has no counterpart");
  if (driver !== "json-file" && driver !== "local")
    lose(`${path}.driver`, "berth reads the logs that Docker keeps: left out");
  const { "max-size": size, "max-file": files, ...others } = isFields(options) ? options : {};
  for (const field of Object.keys(others)) lose(`${path}.options.${field}`, "has no counterpart");
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
    lose(path, `labels of a proxy (${routes.length}) are not read: write an ingress, or host in an app`);
  for (const [key, text] of pairs)
    if (!routes.some(([route]) => route === key)) options.push(`--label=${key}=${text ?? ""}`);
}
