import { isFields } from "../../base/pure/fields.ts";
import { Failure } from "../../base/wire/failure.ts";

interface Source {
  scope: string;
  /** Text of the Procfile. */
  text: string;
  /** Text of `app.json`, where that client keeps the routes of a Procfile. */
  app: string | undefined;
}

const firstPort = 5000;

/**
 * The manifests of a Procfile: a job for `release`, a deployment for every other process, each with a port of its own in
 * PORT, and the routes of `app.json`. All are built from the folder `tree`.
 */
export function procfileManifests({ scope, text, app }: Source): object[] {
  const routes = routesOf(app);
  const processes = readLines(text);
  if (processes.length === 0) throw new Failure("invalid", "the Procfile names no process");
  const unknown = Object.keys(routes).find((type) => !processes.some((process) => process.type === type));
  if (unknown !== undefined)
    throw new Failure("invalid", `app.json: ingress.${unknown}: the Procfile has no such process`);
  let next = firstPort;
  return processes.flatMap(({ type, command }) => {
    const made = { command: ["/bin/sh", "-c", command], build: { context: "tree" } };
    if (type === "release") return [{ kind: "job", scope, name: type, spec: made }];
    const route = routes[type];
    const declared = Number(route?.port ?? 0);
    const port = declared > 0 ? declared : next++;
    const spec = { ...made, replicas: 1, env: { PORT: String(port) }, ports: [String(port)], restart: "on-failure" };
    const deployment = { kind: "deployment", scope, name: type, spec };
    return route === undefined
      ? [deployment]
      : [deployment, { kind: "ingress", scope, name: type, spec: ingress(route, type) }];
  });
}

function readLines(text: string): { type: string; command: string }[] {
  const found = new Map<string, { type: string; command: string }>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [, type = "", command = ""] = /^\s*([A-Za-z][A-Za-z0-9_-]*)\s*:\s*(\S.*?)\s*$/.exec(line) ?? [];
    if (type === "") throw new Failure("invalid", `Procfile:${index + 1}: expected TYPE: COMMAND`);
    const name = type.toLowerCase().replaceAll("_", "-");
    if (found.has(name)) throw new Failure("invalid", `Procfile:${index + 1}: "${type}" is there twice`);
    found.set(name, { type: name, command });
  }
  return [...found.values()];
}

type Route = Record<string, unknown>;

function routesOf(app: string | undefined): Record<string, Route> {
  if (app === undefined) return {};
  let read: unknown;
  try {
    read = JSON.parse(app);
  } catch (error) {
    throw new Failure("invalid", `app.json: ${error instanceof Error ? error.message : "is not JSON"}`);
  }
  const routes = isFields(read) && isFields(read.ingress) ? read.ingress : {};
  return Object.fromEntries(
    Object.entries(routes).map(([type, route]) => {
      if (!isFields(route) || typeof route.host !== "string" || route.host === "")
        throw new Failure("invalid", `app.json: ingress.${type}.host is missing`);
      return [type.toLowerCase().replaceAll("_", "-"), { ...route }];
    }),
  );
}

function ingress({ host, service, port, tls, lb, location, locations }: Route, type: string): object {
  const places = [locations, location].flat().filter(isFields).map(place);
  return {
    host,
    service: service ?? type,
    ...(port === undefined ? {} : { port }),
    ...(tls === undefined ? {} : { tls }),
    ...(lb === undefined ? {} : { lb }),
    ...(places.length === 0 ? {} : { locations: places }),
  };
}

function place({ strip_prefix: alias, strip = alias, path }: Readonly<Record<string, unknown>>): object {
  return { path, ...(strip === undefined ? {} : { strip }) };
}
