import { isFields } from "../../../base/pure/fields.ts";
import type { Files, Machine } from "./machine-paths.ts";
import { aliasOptions, hasName, namesOne, otherNames, searchOptions, tellOtherNames } from "./names.ts";
import { type ReadService, type Sorted, sortOnce, startsAfter } from "./once.ts";
import { specOf } from "./service.ts";
import { fileOf } from "../kept.ts";
import { tellFillers } from "./fillers.ts";
import { tellInternal } from "./networks.ts";
import type { Lose } from "./lose.ts";
import { nameFrom } from "./text.ts";
import { composeText, type Known, withDefaults } from "./variables.ts";

type Fields = Record<string, unknown>;

interface ImportSetup {
  /** Scope of all manifests; default: the name in the file, else `folder`. */
  scope: string | undefined;
  folder: string;
  machine: Machine;
  known: Known;
  /** Last label of the names that the server gives. */
  suffix: string;
  /** Services of other profiles start with no replicas. */
  profiles: readonly string[];
  /** Services whose settings others of their file take over. */
  shared?: ReadonlySet<string>;
  /** A lone service looks up names too: others of its scope come from other files. */
  looksUp?: boolean | undefined;
  lose: Lose;
}

const assetName = "files";

/** The manifests that a Compose file stands for, with marks in place of variables (`kept.ts`). */
export function importCompose(top: Fields, setup: ImportSetup): Fields[] {
  const { lose } = setup;
  const project = projectName(top.name, setup);
  const values = { COMPOSE_PROJECT_NAME: project, ...setup.known.values };
  const known = { ...setup.known, values };
  const marked = withMarks(top, "", (text, path) => composeText(text, { known, path, lose }));
  return manifestsOf(marked as Fields, { ...setup, known, scope: setup.scope ?? project });
}

/** As Compose calls the project, which files can name as a variable. */
function projectName(written: unknown, { known, folder }: ImportSetup): string {
  const own = known.shell.COMPOSE_PROJECT_NAME ?? known.values.COMPOSE_PROJECT_NAME;
  const named = typeof written === "string" ? composeText(written, { known, path: "name", lose: () => {} }) : "";
  return nameFrom([own, withDefaults(named), folder].find((text) => text !== undefined && text !== "") ?? "");
}

function withMarks(value: unknown, path: string, of: (text: string, path: string) => string): unknown {
  if (typeof value === "string") return value.includes("$") ? of(value, path) : value;
  if (Array.isArray(value)) return value.map((item, index) => withMarks(item, `${path}[${index}]`, of));
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withMarks(item, path === "" ? key : `${path}.${key}`, of)]),
  );
}

/** Fields at the top that are read, or that mean nothing to a server. */
const topFields = ["services", "volumes", "networks", "secrets", "configs", "name", "version", "include"];

function manifestsOf(top: Fields, setup: ImportSetup & { scope: string }): Fields[] {
  const { lose, machine, scope } = setup;
  for (const field of Object.keys(top)) {
    if (!field.startsWith("x-") && !topFields.includes(field)) lose(field, "has no counterpart");
  }
  const map = (field: string): Fields => {
    const { [field]: value } = top;
    return isFields(value) ? value : {};
  };
  const volumes = map("volumes");
  const files: Files = { ...machine, scope, asset: {}, modes: {}, assetName, volumes, made: new Map() };
  const services = map("services");
  const shared = {
    files,
    networks: map("networks"),
    secrets: map("secrets"),
    configs: map("configs"),
    known: setup.known,
    lose,
  };
  const others = otherNames(services);
  const built = withBuilds(services);
  const ownNames = (service: string) => [service, ...others.map(({ name }) => name)];
  // A lone service may get one of its own names in a setting, as brokers do.
  const looksUp = (service: string, fields: Fields) =>
    setup.looksUp === true || Object.keys(services).length > 1 || namesOne(ownNames(service), fields);
  const read = Object.entries(built).flatMap(([service, fields]): ReadService[] => {
    const path = `services.${service}`;
    if (setup.shared?.has(service) === true && isTemplate(service, services)) {
      lose(path, `"${service}" only holds settings of other services: left out`, "note");
      return [];
    }
    if (!isFields(fields)) {
      lose(path, "is not a service: left out");
      return [];
    }
    const name = nameFrom(service, /[^a-z0-9._-]/g);
    const options = looksUp(service, fields) ? searchOptions(fields, `${scope}.${setup.suffix}`) : [];
    const spec = specOf(fields, path, { ...shared, name, options, isOff: isOff(fields, setup.profiles) });
    return [{ service, name, fields, spec }];
  });
  const texts = mountedTexts(files);
  tellOtherNames({ services, names: others, files: texts, lose });
  tellFillers(
    services,
    texts.map(([, text]) => text),
    lose,
  );
  tellInternal(services, map("networks"), lose);
  const sorted = sortOnce(read, { scope, lose });
  const { kept, jobs } = sorted;
  setStartAfter(sorted);
  tellOff(kept, setup);
  for (const { service, fields, spec } of kept) {
    const isNamed =
      !looksUp(service, fields) && ownNames(service).some((name) => texts.some(([, text]) => hasName(name, text)));
    if (isNamed) addOptions(spec, searchOptions(fields, `${scope}.${setup.suffix}`));
    if (isNamed || looksUp(service, fields)) addOptions(spec, aliasOptions(service, others, fields));
  }
  const asset = { kind: "asset", scope, name: assetName, spec: assetSpec(files) };
  return [
    ...(Object.keys(files.asset).length === 0 ? [] : [asset]),
    ...kept.map(({ name, spec }) => ({ kind: "deployment", scope, name, spec })),
    ...jobs.map(({ name, spec }) => ({ kind: "job", scope, name, spec })),
  ];
}

function mountedTexts(files: Files): [path: string, text: string][] {
  return Object.values(files.asset).flatMap((content): [string, string][] => {
    const path = fileOf(content);
    const text = path === undefined ? undefined : files.text(path);
    return path === undefined || text === undefined ? [] : [[path, text]];
  });
}

function assetSpec({ asset: files, modes }: Files): Fields {
  return Object.keys(modes).length === 0 ? { files } : { files, modes };
}

function addOptions(spec: Fields, more: readonly string[]): void {
  const options = Array.isArray(spec.docker_options) ? spec.docker_options : [];
  if (more.length > 0) spec.docker_options = [...options, ...more];
}

/** A service that uses the image which another one builds has the same build here. */
function withBuilds(services: Fields): Fields {
  const builds = new Map<unknown, unknown>();
  for (const fields of Object.values(services)) {
    if (isFields(fields) && fields.build !== undefined && fields.image !== undefined)
      builds.set(fields.image, fields.build);
  }
  return Object.fromEntries(
    Object.entries(services).map(([name, fields]) => {
      const build = isFields(fields) && fields.build === undefined ? builds.get(fields.image) : undefined;
      return [name, build === undefined ? fields : { ...(fields as Fields), build }];
    }),
  );
}

/** Whether a service whose settings others take over is there for that alone: its name says so, and no other service needs it. */
function isTemplate(service: string, services: Fields): boolean {
  const { [service]: own, ...others } = services;
  if (!isFields(own) || !service.split(/[-_.]/).some((word) => templateWord.test(word))) return false;
  const runs = [own.command, own.entrypoint, own.ports].some((value) => value !== undefined && value !== null);
  const isNeeded = Object.values(others).some((fields) => {
    return isFields(fields) && (startsAfter(fields, service) || namesOne([service], fields));
  });
  return !runs && !isNeeded;
}

const templateWord = /^(?:base|common|template|defaults?|shared|abstract)$/i;

function isOff(fields: Fields, profiles: readonly string[]): boolean {
  const own = Array.isArray(fields.profiles) ? fields.profiles : [];
  return own.length > 0 && !profiles.includes("*") && !own.some((name) => profiles.includes(String(name)));
}

function tellOff(services: readonly ReadService[], { profiles, lose }: ImportSetup): void {
  const off = services.filter(({ fields }) => isOff(fields, profiles));
  const [first] = off;
  if (first === undefined) return;
  const names = [...new Set(off.flatMap(({ fields }) => fields.profiles as unknown[]))].map(
    (name) => `--profile ${String(name)}`,
  );
  const message = `has replicas 0, as its profile is not asked for: import with ${names.join(" ")}`;
  for (const { service } of off) lose(`services.${service}.profiles`, message, "note");
}

/** Keeps the order of `depends_on` for the first start of each deployment. Jobs are left out. */
function setStartAfter({ kept, inits }: Pick<Sorted, "kept" | "inits">): void {
  const awaited = new Map<ReadService, Map<ReadService, "ready" | "started">>(kept.map((one) => [one, new Map()]));
  for (const one of kept) {
    // An init runs in front of its service, so that service waits for what the init waits for.
    const own = [one, ...[...inits].filter(([, host]) => host === one).map(([init]) => init)];
    for (const other of [...kept, ...inits.keys()]) {
      const conditions = own.filter(({ fields }) => startsAfter(fields, other.service)).map((it) => awaits(it, other));
      const host = inits.get(other) ?? other;
      if (conditions.length === 0 || host === one || leadsTo(awaited, host, one)) continue;
      const isReady = conditions.includes("ready") || awaited.get(one)?.get(host) === "ready";
      awaited.get(one)?.set(host, isReady && host === other ? "ready" : "started");
    }
  }
  for (const [one, others] of awaited) {
    const names = [...others].map(([{ name }, until]) => (until === "ready" ? name : `${name}:started`));
    if (names.length > 0) one.spec.start_after = names;
  }
}

function awaits({ fields: { depends_on: depends } }: ReadService, { service }: ReadService): "ready" | "started" {
  const entry = isFields(depends) ? depends[service] : undefined;
  return isFields(entry) && entry.condition === "service_healthy" ? "ready" : "started";
}

/** Inits may move a wait to a service that waits itself: no two may wait for each other. */
function leadsTo(
  awaited: ReadonlyMap<ReadService, ReadonlyMap<ReadService, unknown>>,
  from: ReadService,
  to: ReadService,
) {
  const found = new Set([from]);
  for (const one of found) for (const next of awaited.get(one)?.keys() ?? []) found.add(next);
  return found.has(to);
}
