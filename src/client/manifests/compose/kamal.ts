import { isFields } from "../../../base/pure/fields.ts";
import { addOptions } from "./docker-run.ts";
import type { Lose } from "./lose.ts";
import { isScalar, nameFrom } from "./text.ts";

type Fields = Record<string, unknown>;

interface Kamal {
  top: Fields;
  /** The app that the proxy leads to, and what its manifest has beyond the service. */
  app: { name: string; spec: Fields } | undefined;
}

const readFields = [
  ...["service", "image", "servers", "proxy", "registry", "builder", "env", "volumes", "accessories", "labels"],
  // Settings of machines and of the tool itself: nothing here depends on them.
  ...["ssh", "sshkit", "boot", "asset_path", "deploy_timeout", "drain_timeout", "readiness_delay", "retain_containers"],
  ...[
    "minimum_version",
    "primary_role",
    "allow_empty_roles",
    "hooks_path",
    "aliases",
    "require_destination",
    "secrets_path",
  ],
  ...["logging", "error_pages_path"],
];

/** A `deploy.yml` of Kamal as a Compose file: a service for each role and accessory. The web role is the app with a host. */
export function composeOfKamal(config: Fields, lose: Lose): Kamal {
  for (const field of Object.keys(config)) {
    if (!readFields.includes(field) && !field.startsWith("x-")) lose(field, "has no counterpart");
  }
  const service = nameFrom(String(config.service ?? "app"));
  const roles = rolesOf(config.servers);
  const primary = String(config.primary_role ?? "web");
  tellUnused(config, lose);
  const common = { build: buildOf(config.builder, lose), volumes: listOf(config.volumes) };
  const services = roles.map(([role, fields]): [string, Fields] => {
    const name = role === primary ? service : `${service}-${nameFrom(role)}`;
    const env = { ...envOf(config.env), ...envOf(fields.env) };
    if (role !== primary && fields.proxy !== undefined && fields.proxy !== false)
      lose(`servers.${role}.proxy`, "has no counterpart: make it an app with a host of its own");
    return [
      name,
      withoutEmpty({
        ...common,
        command: fields.cmd,
        environment: env,
        labels: { ...fieldsIn(config.labels), ...fieldsIn(fields.labels) },
        restart: "unless-stopped",
        logging: fields.logging ?? config.logging,
        ...optionsOf(fields, lose),
      }),
    ];
  });
  const accessories = Object.entries(isFields(config.accessories) ? config.accessories : {}).map(([name, fields]) => {
    return accessoryOf(nameFrom(name), service, isFields(fields) ? fields : {}, lose);
  });
  const hasPrimary = roles.some(([role]) => role === primary);
  return {
    top: { services: Object.fromEntries([...services, ...accessories]) },
    app: hasPrimary && config.proxy !== false ? { name: service, spec: proxyOf(config.proxy, lose) } : undefined,
  };
}

/** Roles with their settings; servers without a role are of `web`. */
function rolesOf(servers: unknown): [string, Fields][] {
  if (!isFields(servers)) return [["web", {}]];
  return Object.entries(servers).map(([role, fields]) => [role, isFields(fields) ? fields : {}]);
}

/** Servers of all roles. */
function serversOf(servers: unknown): unknown[] {
  if (!isFields(servers)) return listOf(servers);
  return Object.values(servers).flatMap((role) => listOf(isFields(role) ? role.hosts : role));
}

function buildOf(builder: unknown, lose: Lose): Fields {
  const { context = ".", dockerfile, target, args, secrets, ssh, pack } = isFields(builder) ? builder : {};
  for (const name of listOf(secrets))
    lose("builder.secrets", `"${name}" is not carried over: add it to build.secrets, and set it with berth config set`);
  if (ssh !== undefined) lose("builder.ssh", "has no counterpart: use a secret of the build");
  if (pack !== undefined) lose("builder.pack", "has no counterpart: without a Dockerfile, berth generates one");
  return withoutEmpty({ context, dockerfile, target, args });
}

/** What Kamal does with an app, and berth does in another way or not at all. */
function tellUnused(config: Fields, lose: Lose): void {
  if (isFields(config.env) && config.env.tags !== undefined)
    lose("env.tags", "has no counterpart: there is one server");
  if (config.asset_path !== undefined)
    lose(
      "asset_path",
      "files of earlier versions are not kept: a page that is open asks for those of the new one",
      "note",
    );
  const count = new Set(serversOf(config.servers).map((one) => (isFields(one) ? Object.keys(one)[0] : one))).size;
  if (count > 1) lose("servers", `"${count}" servers become one: set replicas where one container is too few`, "note");
}

/** Plain values as they are, and secrets as variables. */
function envOf(env: unknown): Fields {
  if (!isFields(env)) return {};
  const { clear, secret, tags: _, ...plain } = env;
  const secrets = listOf(secret)
    .filter(isScalar)
    .map((entry): [string, string] => {
      const [name = "", source = name] = String(entry).split(":");
      return [name, `\${${source}}`];
    });
  const values = Object.entries(isFields(clear) ? clear : plain).map(([key, value]) => [key, escaped(value)]);
  return { ...Object.fromEntries(values), ...Object.fromEntries(secrets) };
}

/** A dollar sign means nothing in a file of Kamal. */
function escaped(value: unknown): unknown {
  return typeof value === "string" ? value.replaceAll("$", "$$$$") : value;
}

function optionsOf({ options }: Fields, lose: Lose): Fields {
  const service: Fields = {};
  addOptions(fieldsIn(options), service, lose);
  return service;
}

function accessoryOf(accessory: string, app: string, fields: Fields, lose: Lose): [string, Fields] {
  const name = `${app}-${accessory}`;
  const { image, cmd, port, env, labels, files, directories, volumes, service, proxy } = fields;
  if (image === undefined) lose(`accessories.${name}`, "has no image");
  if (proxy !== undefined && proxy !== false)
    lose(`accessories.${name}.proxy`, "has no counterpart: make it an app with a host of its own");
  const mounts = [
    ...listOf(files).map((file) => `./${mountText(file).replace(/^\.\//, "")}`),
    ...listOf(directories).map((folder) => folderMount(accessory, mountText(folder))),
    ...listOf(volumes),
  ];
  const { ports = [], volumes: more = [], ...options } = optionsOf(fields, lose);
  return [
    typeof service === "string" ? service : name,
    withoutEmpty({
      image,
      command: cmd,
      ports: [...(port === undefined ? [] : [published(String(port))]), ...listOf(ports)],
      environment: envOf(env),
      labels,
      volumes: [...mounts, ...listOf(more)],
      restart: "unless-stopped",
      ...options,
    }),
  ];
}

/** Kamal publishes a port without an address as itself. */
function published(port: string): string {
  return port.includes(":") ? port : `${port}:${port.replace(/\/.*$/, "")}`;
}

/** A folder without a leading slash is the accessory's own: another one can have a folder of the same name. */
function folderMount(accessory: string, text: string): string {
  const [local = "", ...rest] = text.split(":");
  return local.startsWith("/") ? text : [`${accessory}-${local.replaceAll("/", "-")}`, ...rest].join(":");
}

/** `local:remote:options`, also where it is written as a map. */
function mountText(item: unknown): string {
  if (!isFields(item)) return String(item);
  return [item.local, item.remote, item.options].filter((part) => part !== undefined).join(":");
}

function fieldsIn(value: unknown): Fields {
  return isFields(value) ? value : {};
}

function proxyOf(proxy: unknown, lose: Lose): Fields {
  const {
    host,
    hosts,
    ssl,
    app_port: port = 80,
    healthcheck,
    ssl_redirect: redirects,
    response_timeout: wait,
    buffering,
    ...more
  } = isFields(proxy) ? proxy : {};
  for (const field of Object.keys(more)) {
    if (!["forward_headers", "logging", "run"].includes(field)) lose(`proxy.${field}`, "has no counterpart");
  }
  if (isFields(ssl))
    lose("proxy.ssl", "names a certificate: see berth certs, or leave tls empty for one of Let's Encrypt");
  const { path = "/up", interval, timeout } = isFields(healthcheck) ? healthcheck : {};
  const probe = { http_get: { path, port }, ...duration("period", interval), ...duration("timeout", timeout) };
  return withoutEmpty({
    ports: [String(port)],
    host: typeof host === "string" ? host : undefined,
    hosts: Array.isArray(hosts) ? hosts : undefined,
    tls: ssl === undefined || ssl === false ? undefined : {},
    https_redirect: redirects === false ? false : undefined,
    limits: { ...duration("timeout", wait), ...bodyLimit(buffering) },
    probes: { readiness: probe },
  });
}

/** The proxy of Kamal limits only requests that it buffers, and takes 0 as unlimited. */
function bodyLimit(buffering: unknown): Fields {
  const { requests = true, max_request_body: bytes } = isFields(buffering) ? buffering : {};
  return requests === true && Number(bytes) > 0 ? { body: String(bytes) } : {};
}

/** Kamal counts seconds. */
function duration(field: string, value: unknown): Fields {
  return isScalar(value) ? { [field]: /^\d+$/.test(String(value)) ? `${value}s` : String(value) } : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

function withoutEmpty(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => {
      if (value === undefined || value === null) return false;
      if (Array.isArray(value)) return value.length > 0;
      return name === "tls" || !isFields(value) || Object.keys(value).length > 0;
    }),
  );
}
