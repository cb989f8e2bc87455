import { canonicalJson } from "../base/pure/digest.ts";
import { isFields, own } from "../base/pure/fields.ts";
import { fieldsWithin } from "../orchestration/api/kinds/container.ts";
import type { CoreKind, Spec } from "../orchestration/api/manifest.ts";
import { parseDockerOptions } from "../orchestration/core/docker-options.ts";
import { parsePort, portTexts } from "../orchestration/core/ports.ts";
import { parseVolume } from "../orchestration/core/volumes.ts";

/** Something of a manifest that reaches the machine itself. */
export interface Reach {
  path: string;
  /** The same in two specs where the same value is at the same path; the place in a list does not count. */
  mark: string;
  value: string;
  what: string;
  /** An option of the engine that holds the container in: setting it needs no rights, leaving it out may. */
  confines?: boolean;
}

interface Owner {
  kind: CoreKind;
  spec: Spec;
}

/**
 * Fields of what makes containers that reach nothing outside of them; those of the container itself say so where they are
 * declared. Those that `judges` does not have either reach the machine.
 */
export const innerFields: readonly string[] = [
  ...fieldsWithin("app", "container"),
  ...["replicas", "restart", "rollout", "health_check", "probes", "on_probe", "autoscale", "wake", "idle_after"],
  ...["start_after", "backup", "release", "on_deploy", "keep_releases", "volume_claims", "timeout", "backoff_limit"],
  ...["successful_history_limit", "failed_history_limit"],
];

/** Like `innerFields`, for an ingress. */
export const innerRouting: readonly string[] = [
  ...["host", "hosts", "shared", "locations", "lb", "protocol", "sticky", "https_redirect", "hsts", "redirects"],
  ...["headers", "compress", "basic_auth", "rate_limit", "maintenance", "hold", "access_log", "error_pages"],
  ...["proxy_protocol", "allow", "deny", "limits", "ordinal", "port"],
];

/** Like `innerRouting`, for its `tls`. */
export const innerTls: readonly string[] = ["enabled", "email", "skip_checks"];

/** What each of the other fields of a cron job is. */
export const innerSchedule: readonly string[] = [
  ...["schedule", "timezone", "suspend", "concurrency_policy", "starting_deadline"],
  ...["successful_history_limit", "failed_history_limit"],
];

type Judge = (value: unknown, path: string) => Reach[];

/** Fields whose value decides. */
export const judges: Readonly<Record<string, Judge>> = {
  volumes: eachText((text) =>
    isInnerVolume(text) ? undefined : "mounts what is outside of the scopes of this server",
  ),
  network: eachText(besideOwn),
  networks: eachText(besideOwn),
  network_mode: (value, path) =>
    value === "host"
      ? [reach(path, value, "is the network of the machine")]
      : otherThan(["", "bridge", "none"])(value, path),
  cap_add: eachText(() => "is a capability beyond those of every container"),
  ports: eachText((text) => (isInnerPort(text) ? undefined : "takes a port of the machine")),
  docker_options: options,
  post_deploy: eachText(() => "is a line for the shell of the machine"),
  inits: (value, path) => lists(value).flatMap((init, index) => initReach(init, `${path}[${index}]`)),
};

const initFields: readonly string[] = ["name", "image", "command", "timeout", "retries", "resources", "ulimits"];

/** Those of an ingress. */
export const routingJudges: Readonly<Record<string, Judge>> = {
  service: (value, path) =>
    typeof value === "string" && value.startsWith("@") ? [reach(path, value, "is a part of the server itself")] : [],
  tls: (value, path) => fields(value, path, { inner: innerTls, judges: tlsJudges }),
};

export const tlsJudges: Readonly<Record<string, Judge>> = {
  provider: otherThan(["letsencrypt", "letsencrypt_staging", "internal"]),
};

/** All of a manifest that reaches the machine, regardless of who wrote it. */
export function reachOf({ kind, spec }: Owner): Reach[] {
  switch (kind) {
    case "deployment":
    case "statefulset":
    case "job":
      return fields(spec, "spec", { inner: innerFields, judges });
    case "cronjob": {
      const { job, ...schedule } = spec;
      return [
        ...fields(schedule, "spec", { inner: innerSchedule, judges: {} }),
        ...fields(job, "spec.job", { inner: innerFields, judges }),
      ];
    }
    case "ingress":
      return fields(spec, "spec", { inner: innerRouting, judges: routingJudges });
    case "asset":
      return fetched(spec);
    case "registry":
      return [reach("spec", canonicalJson(spec), "is a login for the images of all scopes")];
  }
}

function fields(value: unknown, path: string, known: { inner: readonly string[]; judges: typeof judges }): Reach[] {
  if (!isFields(value)) return [];
  return Object.entries(value).flatMap(([field, entry]) => {
    if (isNothing(entry) || known.inner.includes(field)) return [];
    const judge = own(known.judges, field);
    return (judge ?? whole)(entry, `${path}.${field}`);
  });
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === "" || value === false;
}

function whole(value: unknown, path: string): Reach[] {
  return [reach(path, value, "reaches beyond the containers")];
}

function reach(path: string, value: unknown, what: string, key = ""): Reach {
  const text = typeof value === "string" ? value : canonicalJson(value);
  return { path, mark: `${path.replace(/\[\d+\]$/, "[]")}${key} ${canonicalJson(value)}`, value: text, what };
}

function eachText(what: (text: string) => string | undefined): Judge {
  return (value, path) =>
    lists(value).flatMap((entry, index) => {
      const found = typeof entry === "string" ? what(entry) : "cannot be read";
      return found === undefined ? [] : [reach(`${path}[${index}]`, entry, found)];
    });
}

/** What a client wrote as one value is a list of one. */
function lists(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

function otherThan(harmless: readonly unknown[]): Judge {
  return (value, path) => (harmless.includes(value) ? [] : whole(value, path));
}

/** Such a network can hold containers of others, or be the network that the machine itself is in. */
function besideOwn(): string {
  return "is a network beside the platform's own";
}

/** A volume of some scope, or one file of an asset. */
function isInnerVolume(text: string): boolean {
  const mount = parseVolume(text);
  if (!mount.ok) return false;
  if (mount.value.type === "bind") return mount.value.source.startsWith("${asset.");
  return mount.value.external !== true;
}

/** A port of the container alone: the engine publishes it on a free port of loopback. */
function isInnerPort(text: string): boolean {
  return portTexts(text).every((one) => {
    const port = parsePort(one);
    return port.ok && port.value.hostPort === undefined && port.value.hostIp === "127.0.0.1";
  });
}

/** Options of the engine that change nothing outside of the container. */
const harmlessOptions: readonly string[] = ["entrypoint", "shmSizeBytes"];

/** Those that take something from the container. */
const confiningOptions: readonly string[] = ["user", "capDrop", "securityOpt", "readonlyRootfs", "pidsLimit"];

/** By what the flags mean together: one flag may be an entry of its own, and its value the next. */
function options(value: unknown, path: string): Reach[] {
  const texts = lists(value).map(String);
  const read = parseDockerOptions(texts, path);
  if (read.problems.length > 0)
    return [reach(path, texts.join(" "), "holds options of the engine that cannot be read")];
  return Object.entries(read.options).flatMap(([option, setting]) => {
    if (harmlessOptions.includes(option) || isNothing(setting)) return [];
    const single = isFields(setting) ? Object.entries(setting) : lists(setting);
    return single.map((one) => ({
      ...reach(path, one, "is an option of the engine", `.${option}`),
      value: `${option} ${canonicalJson(one)}`,
      ...(confiningOptions.includes(option) ? { confines: true } : {}),
    }));
  });
}

function initReach(init: unknown, path: string): Reach[] {
  return fields(init, path, { inner: initFields, judges: { docker_options: options } });
}

/** The server fetches them, from wherever it reaches. */
function fetched({ files, modes: _, ...others }: Spec): Reach[] {
  const own = Object.entries(isFields(files) ? files : {}).flatMap(([key, file]) => {
    if (!isFields(file) || file._source === "file") return [];
    const at = `spec.files.${key}`;
    return [reach(at, file.url ?? file, "is an address that the server itself would fetch")];
  });
  return [...own, ...fields(others, "spec", { inner: [], judges: {} })];
}

/** Words by which plugins hand on what an operator wrote into a block, see `permissionProblems` of a plugin's grant. */
const handedOn: readonly string[] = ["volumes", "networks", "network_mode", "cap_add", "docker_options", "post_deploy"];

/** All of a block, at whatever depth, that would reach the machine in a container. */
export function reachOfBlock(spec: Spec, path = "spec"): Reach[] {
  return Object.entries(spec).flatMap(([field, value]) => {
    const at = `${path}.${field}`;
    const own = handedOn.includes(field) && !isFields(value) ? (judges[field]?.(value, at) ?? []) : [];
    return [
      ...own,
      ...lists(value).flatMap((inner, index) => inside(inner, Array.isArray(value) ? `${at}[${index}]` : at)),
    ];
  });
}

function inside(value: unknown, path: string): Reach[] {
  if (Array.isArray(value)) return value.flatMap((inner, index) => inside(inner, `${path}[${index}]`));
  return isFields(value) ? reachOfBlock(value, path) : [];
}
