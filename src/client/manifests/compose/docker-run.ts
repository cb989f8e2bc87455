import { isFields, own } from "../../../base/pure/fields.ts";
import { usageFailure } from "../../basics/failures.ts";
import type { Lose } from "./lose.ts";
import { counterparts } from "./options.ts";
import { nameFrom, shellWords } from "./text.ts";

type Fields = Record<string, unknown>;

/** What a flag of `docker run` adds to a service of Compose. */
type Flag = (value: string, service: Fields, lose: Lose) => void;

/** One that always has a counterpart. */
type Plain = (value: string, service: Fields) => void;

const one =
  (field: string): Plain =>
  (value, service) => {
    service[field] = value;
  };
const many =
  (field: string): Plain =>
  (value, service) => {
    service[field] = [...((service[field] as string[] | undefined) ?? []), value];
  };
const on =
  (field: string): Plain =>
  (value, service) => {
    service[field] = value !== "false";
  };
const within =
  (field: string, key: string): Plain =>
  (value, service) => {
    service[field] = { ...((service[field] as Fields | undefined) ?? {}), [key]: value };
  };
const none: Plain = () => undefined;

/** Flags that are keys of a service under another name. */
const known = (isSwitch: boolean): Record<string, Flag> =>
  Object.fromEntries(
    counterparts
      .filter(({ form }) => (form === "switch" || form === "choice") === isSwitch)
      .map(({ key, flag, form }) => [
        flag,
        isSwitch ? on(key) : (["words", "pairs", "hosts"].includes(form) ? many : one)(key),
      ]),
  );

/** Flags with a value. */
const valued: Record<string, Flag> = {
  ...known(false),
  ...{ publish: many("ports"), volume: many("volumes"), env: many("environment"), "env-file": many("env_file") },
  ...{ name: one("container_name"), restart: one("restart"), label: many("labels") },
  ...{
    memory: one("mem_limit"),
    cpus: one("cpus"),
    pull: one("pull_policy"),
    gpus: one("gpus"),
    runtime: one("runtime"),
  },
  ...{ platform: none, expose: none, cidfile: none, attach: none, "detach-keys": none },
  "health-cmd": within("healthcheck", "test"),
  "health-interval": within("healthcheck", "interval"),
  "health-timeout": within("healthcheck", "timeout"),
  "health-retries": within("healthcheck", "retries"),
  "health-start-period": none,
  "health-start-interval": none,
  "log-driver": (value, service) => {
    service.logging = { ...((service.logging as Fields | undefined) ?? {}), driver: value };
  },
  "network-alias"(value, service) {
    const { default: known } = (service.aliases ?? {}) as { default?: { aliases: string[] } };
    service.aliases = { default: { aliases: [...(known?.aliases ?? []), value] } };
  },
  link(value, service, lose) {
    service.linked = true;
    const [target = "", name = target] = value.split(":");
    if (name !== target)
      lose(
        "--link",
        `"${name}" is reached as "${target}" here: give that app docker_options: ["--network-alias=${name}"]`,
      );
  },
  entrypoint: (value, service) => {
    service.entrypoint = [value];
  },
  "stop-timeout": (value, service) => {
    service.stop_grace_period = `${value}s`;
  },
  ulimit(value, service) {
    const [name = "", limit = ""] = value.split("=");
    const [soft = "", hard = soft] = limit.split(":");
    within("ulimits", name)({ soft, hard } as never, service);
  },
  "log-opt"(value, service) {
    const [key = "", text = ""] = value.split("=");
    const logging = (service.logging ?? {}) as { options?: Fields };
    service.logging = { ...logging, options: { ...logging.options, [key]: text } };
  },
  network(value, service) {
    if (value === "host" || value === "none" || value === "bridge") service.network_mode = value;
    else if (value.startsWith("container:")) service.network_mode = value;
    else many("networks")(value, service);
  },
  mount(value, service) {
    const pairs = value.split(",").map((part): [string, string] => {
      const equals = part.indexOf("=");
      return equals === -1 ? [part, "true"] : [part.slice(0, equals), part.slice(equals + 1)];
    });
    const fields = Object.fromEntries(pairs);
    const read = fields.readonly ?? fields.ro;
    const mount = {
      type: fields.type ?? "volume",
      source: fields.source ?? fields.src,
      target: fields.target ?? fields.destination ?? fields.dst,
      ...(read === undefined ? {} : { read_only: read !== "false" }),
    };
    many("volumes")(mount as never, service);
  },
};

const switches: Record<string, Flag> = {
  ...{ interactive: none, tty: none, "sig-proxy": none, quiet: none, "publish-all": none, "oom-kill-disable": none },
  ...{ detach: on("detach"), rm: on("rm") },
  ...known(true),
  "no-healthcheck": none,
};

const short: Record<string, string> = {
  ...{
    p: "publish",
    v: "volume",
    e: "env",
    u: "user",
    w: "workdir",
    h: "hostname",
    l: "label",
    m: "memory",
    c: "cpu-shares",
  },
  ...{ a: "attach", d: "detach", i: "interactive", t: "tty", q: "quiet", P: "publish-all" },
};
const long: Record<string, string> = { net: "network", "dns-opt": "dns-option" };

interface Run {
  top: Fields;
  /** Docker let it find others by their names. */
  looksUp: boolean;
}

/** A command line of `docker run` as a Compose file of one service. Throws usage failures. */
export function composeOfRun(text: string, lose: Lose): Run {
  const words = shellWords(plainText(text));
  const start = words.findIndex((word) => word === "run" || word === "create");
  const service: Fields = {};
  const rest = words.slice(start + 1);
  while (rest[0]?.startsWith("-") === true && rest[0] !== "-") readFlag(rest.shift() ?? "", { rest, service, lose });
  const [image, ...command] = rest;
  if (start === -1 || image === undefined)
    throw usageFailure('say a whole command: berth import docker-run "docker run -d -p 80:80 nginx:1"');
  service.image = image;
  if (command.length > 0) service.command = command;
  const { container_name: named, detach, rm, aliases, linked, ...fields } = service;
  // What runs in front of somebody and leaves nothing is done once.
  if (rm === true && detach !== true && command.length > 0) fields.restart = "no";
  const written =
    typeof named === "string"
      ? named
      : (image
          .replace(/[:@].*$/, "")
          .split("/")
          .at(-1) ?? "");
  const name = nameFrom(written, /[^a-z0-9._-]/g);
  const networks = (service.networks ?? []) as string[];
  if (isFields(aliases))
    fields.networks = { ...aliases, ...Object.fromEntries(networks.map((network) => [network, {}])) };
  const top = {
    services: { [name]: fields },
    networks: Object.fromEntries(networks.map((network) => [network, { external: true }])),
  };
  return { top, looksUp: linked === true || isFields(fields.networks) || networks.length > 0 };
}

/** Lines that go on, the folder of the shell, and dollar signs that a shell leaves alone. */
function plainText(text: string): string {
  const plain = text.replaceAll(/\\\r?\n/g, " ").replaceAll(/\$\(pwd\)|`pwd`|\$\{PWD\}|\$PWD\b/g, ".");
  const command = /\$\([^)]*\)|`[^`]*`/.exec(plain.replaceAll(/'[^']*'/g, ""))?.[0];
  if (command !== undefined) throw usageFailure(`${command} is a command for the shell: write its value instead`);
  return plain.replaceAll(/'[^']*'/g, (quoted) => quoted.replaceAll("$", "$$$$"));
}

/** Flags by their names, as other tools hand them on to `docker run`. */
export function addOptions(options: Fields, service: Fields, lose: Lose): void {
  for (const [name, value] of Object.entries(options)) {
    const flag = own(valued, long[name] ?? name) ?? own(switches, name);
    if (flag === undefined) lose(`options.${name}`, "has no counterpart");
    else for (const one of Array.isArray(value) ? value : [value]) flag(String(one), service, lose);
  }
}

interface Reading {
  rest: string[];
  service: Fields;
  lose: Lose;
}

function readFlag(word: string, reading: Reading): void {
  if (!word.startsWith("--")) {
    readShort(word.slice(1), reading);
    return;
  }
  const equals = word.indexOf("=");
  const written = equals === -1 ? word.slice(2) : word.slice(2, equals);
  const name = long[written] ?? written;
  const value = equals === -1 ? undefined : word.slice(equals + 1);
  if (Object.hasOwn(switches, name)) switches[name]?.(value ?? "true", reading.service, reading.lose);
  else if (Object.hasOwn(valued, name))
    valued[name]?.(value ?? reading.rest.shift() ?? "", reading.service, reading.lose);
  else {
    reading.lose(`--${written}`, "has no counterpart");
    if (value === undefined && reading.rest[0]?.startsWith("-") === false && reading.rest.length > 1)
      reading.rest.shift();
  }
}

/** `-dp 80:80`, `-p80:80`: switches one after the other, and at most one flag with a value behind them. */
function readShort(letters: string, reading: Reading): void {
  for (let at = 0; at < letters.length; at += 1) {
    const name = short[letters.charAt(at)];
    if (name === undefined) reading.lose(`-${letters.charAt(at)}`, "has no counterpart");
    else if (Object.hasOwn(switches, name)) switches[name]?.("true", reading.service, reading.lose);
    else {
      const value = letters.slice(at + 1).replace(/^=/, "");
      valued[name]?.(value === "" ? (reading.rest.shift() ?? "") : value, reading.service, reading.lose);
      return;
    }
  }
}
