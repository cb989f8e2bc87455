import { isFields } from "../../../base/pure/fields.ts";
import type { Lose } from "./lose.ts";
import { namesOne } from "./names.ts";

type Fields = Record<string, unknown>;

/** A service that was read: its fields in the Compose file, and the spec that they make. */
export interface ReadService {
  /** As the Compose file calls it. */
  service: string;
  name: string;
  fields: Fields;
  spec: Fields;
}

export interface Sorted {
  /** Deployments, those with inits included. */
  kept: ReadService[];
  jobs: ReadService[];
  /** The service in which each of the inits runs. */
  inits: ReadonlyMap<ReadService, ReadService>;
}

/** Tries of an init after the first: what it waits for may start beside it. */
const initRetries = 5;

/**
 * Services that end when they are done. Each becomes an init of the first service that waits for it, where it can run as one;
 * any other becomes a job.
 */
export function sortOnce(services: readonly ReadService[], { scope, lose }: { scope: string; lose: Lose }): Sorted {
  const once = services.filter((one) => isOnce(one, services));
  const kept = services.filter((one) => !once.includes(one));
  const jobs: ReadService[] = [];
  const inits = new Map<ReadService, ReadService>();
  for (const one of inOrder(once)) {
    const first = waiting(one, services, kept).find((other) => becomeInit(one, other));
    if (first !== undefined) {
      inits.set(one, first);
      lose(
        `services.${one.service}`,
        `"${one.service}" runs before each start of "${first.service}", as an init`,
        "note",
      );
      continue;
    }
    jobs.push({ ...one, spec: jobSpec(one.spec) });
    const start = `berth run ${scope}/${one.name}`;
    if (isOff(one)) lose(`services.${one.service}`, `is a job here: "${start}" starts it`, "note");
    else lose(`services.${one.service}`, `is a job here, as it ends when it is done: start it with "${start}"`);
  }
  return { kept, jobs, inits };
}

/**
 * Whether it ends when it is done: others wait for that, or it says that it is not restarted, or its name says what it does.
 * A service that others reach runs on, even where it is not restarted.
 */
function isOnce(one: ReadService, services: readonly ReadService[]): boolean {
  if (services.some((other) => awaitsEnd(other, one.service))) return true;
  const { deploy, ports, expose, command, entrypoint } = one.fields;
  // Services that end have no count.
  if (isFields(deploy) && deploy.replicas !== undefined) return false;
  const serves = [ports, expose].some((value) => value !== undefined && value !== null);
  if (serves || (command ?? entrypoint ?? undefined) === undefined) return false;
  const policy = policyOf(one.fields);
  const isNever = ["no", "false", "none"].includes(policy);
  if (isTask(one.service)) return (isNever || /^$|^on-failure/.test(policy)) && !runsOn(one.fields);
  return isNever && !isChecked(one.fields) && !services.some((other) => dependsOn(other, one.service));
}

/** When it is restarted; empty where nothing is written. */
function policyOf({ restart, deploy }: Fields): string {
  const written = isFields(deploy) && isFields(deploy.restart_policy) ? deploy.restart_policy.condition : undefined;
  return String(restart ?? written ?? "");
}

/** Whether its name says that it prepares others. */
function isTask(service: string): boolean {
  return service.split(/[-_.]/).some((word) => taskWord.test(word));
}

const taskWord =
  /^(?:init|initdb|initiali[sz]er?|setup|bootstrap|prestart|migrat(?:e|es|or|ion|ions)|seed|seeder|create\w*|provision\w*|permissions?|chown|ownership)$/i;

/** A task can have a health check, for what starts as soon as the first part of it is done. */
function isChecked({ healthcheck }: Fields): boolean {
  if (!isFields(healthcheck)) return healthcheck !== undefined && healthcheck !== null;
  const { disable, test } = healthcheck;
  return disable !== true && !(Array.isArray(test) ? test[0] === "NONE" : test === "NONE");
}

/** Whether its last command never ends: it is there so that others see it run. */
function runsOn({ command, entrypoint }: Fields): boolean {
  return /\bsleep[",\s]+inf|\btail[",\s]+-[fF]|\bwhile\s+(?:true|:)/.test(JSON.stringify([entrypoint, command]));
}

/** Its profile is not asked for. */
function isOff({ spec }: ReadService): boolean {
  return spec.replicas === 0;
}

function awaitsEnd({ fields }: ReadService, service: string): boolean {
  const { depends_on: depends } = fields;
  const entry = isFields(depends) ? depends[service] : undefined;
  return isFields(entry) && entry.condition === "service_completed_successfully";
}

function dependsOn({ fields }: ReadService, service: string): boolean {
  return startsAfter(fields, service);
}

/** Whether a service is in the `depends_on` of another. */
export function startsAfter({ depends_on: depends }: Fields, service: string): boolean {
  return Array.isArray(depends) ? depends.includes(service) : isFields(depends) && Object.hasOwn(depends, service);
}

/** A service that starts after one that ends can also start after its end, unless that one reaches it. */
function awaits(other: ReadService, one: ReadService): boolean {
  if (awaitsEnd(other, one.service)) return true;
  return dependsOn(other, one.service) && !isOff(one) && !namesOne([other.service], one.fields);
}

/** Those that others of them wait for come first. */
function inOrder(once: readonly ReadService[]): ReadService[] {
  const done: ReadService[] = [];
  const add = (one: ReadService, around: readonly ReadService[]): void => {
    if (done.includes(one) || around.includes(one)) return;
    for (const before of once) if (awaits(one, before)) add(before, [...around, one]);
    done.push(one);
  };
  for (const one of once) add(one, []);
  return done;
}

/** Services that run on and wait for it, themselves or by another one that is done once; those that start at all first. */
function waiting(one: ReadService, services: readonly ReadService[], kept: readonly ReadService[]): ReadService[] {
  const found = new Set<ReadService>([one]);
  for (const item of found) {
    if (!kept.includes(item)) for (const other of services) if (awaits(other, item)) found.add(other);
  }
  const running = kept.filter((item) => found.has(item));
  const before = (item: ReadService) => running.filter((other) => dependsOn(item, other.service)).length;
  return running.toSorted(
    (a, b) => Number(a.spec.replicas === 0) - Number(b.spec.replicas === 0) || before(a) - before(b),
  );
}

/** Whether it can run as an init there; then it does. */
function becomeInit({ name, spec: own }: ReadService, { spec }: ReadService): boolean {
  const [program, ...words] = Array.isArray(own.entrypoint) ? own.entrypoint.map(String) : [];
  const command = [...words, ...(Array.isArray(own.command) ? own.command : [])];
  const sameBuild = own.build !== undefined && same(own.build, spec.build);
  if (command.length === 0 || (own.build !== undefined && !sameBuild)) return false;
  const [main, other] = [isFields(spec.env) ? spec.env : {}, isFields(own.env) ? own.env : {}];
  const env = { ...other, ...main };
  const changed = Object.entries(other).filter(([key, value]) => env[key] !== value);
  const volumes = joinedMounts(spec.volumes, own.volumes);
  const files = filesTogether(spec.env_file, own.env_file);
  // Values of its own need a program that is known: then env sets them.
  if ((changed.length > 0 && program === undefined) || volumes === undefined || files === undefined) return false;
  const options = [
    ...(Array.isArray(own.docker_options) ? own.docker_options : []),
    ...(program === undefined ? [] : [`--entrypoint=${changed.length > 0 ? "env" : program}`]),
  ];
  const set = changed.length > 0 ? [...changed.map(([key, value]) => `${key}=${value}`), program] : [];
  const init = {
    name: name.replaceAll(/[._]/g, "-"),
    ...(own.image === undefined || own.image === spec.image ? {} : { image: own.image }),
    command: [...set, ...command],
    retries: initRetries,
    ...(own.resources === undefined ? {} : { resources: own.resources }),
    ...(own.ulimits === undefined ? {} : { ulimits: own.ulimits }),
    docker_options: options,
  };
  Object.assign(spec, fieldsWith({ env, env_file: files, volumes }));
  spec.inits = [...(Array.isArray(spec.inits) ? spec.inits : []), init];
  return true;
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function filesTogether(main: unknown, other: unknown): unknown[] | undefined {
  const [own, more] = [Array.isArray(main) ? main : [], Array.isArray(other) ? other : []];
  return more.every((file) => own.includes(file)) ? own : own.length === 0 ? more : undefined;
}

/** Two lists of mounts as one; undefined where they have different things at one place. */
function joinedMounts(main: unknown, other: unknown): unknown[] | undefined {
  const own = Array.isArray(main) ? main.map(String) : [];
  const more = (Array.isArray(other) ? other.map(String) : []).filter((mount) => !own.includes(mount));
  const taken = own.map(targetOf);
  return more.some((mount) => taken.includes(targetOf(mount))) ? undefined : [...own, ...more];
}

function targetOf(mount: string): string {
  return mount.replaceAll(/\uE000[^\uE001]*\uE001/g, "$").split(":")[1] ?? mount;
}

function fieldsWith(fields: Record<string, Fields | unknown[]>): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => Object.keys(value).length > 0));
}

/** Without what only an app has that runs on. */
function jobSpec(spec: Fields): Fields {
  const { ports: _, restart: __, replicas: ___, probes: ____, rollout: _____, ...rest } = spec;
  return rest;
}
