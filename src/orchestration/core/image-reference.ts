/** An image reference, taken apart and normalised the way the engine does. */
export interface ImageReference {
  /** As written, registry host included. */
  name: string;
  /** `docker.io` when none was written. */
  registry: string;
  /** Without the registry: `library/nginx`. */
  repository: string;
  /** `latest` when neither tag nor digest was written. */
  tag: string | undefined;
  /** `sha256:…` */
  digest: string | undefined;
}

const hostPattern =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9a-fA-F:]+\])(?::\d{1,5})?$/;
const componentPattern = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const digestPattern = /^[a-z0-9]+(?:[+._-][a-z0-9]+)*:[0-9a-f]{32,128}$/;
const nameLengthMax = 255;
const referenceLengthMax = 512;

/** `[host[:port]/]path[:tag][@digest]`, the grammar of the distribution project; undefined for anything else. */
export function parseImageReference(text: string): ImageReference | undefined {
  if (text.length > referenceLengthMax) return undefined;
  const at = text.indexOf("@");
  const digest = at < 0 ? undefined : text.slice(at + 1);
  const named = at < 0 ? text : text.slice(0, at);
  const colon = named.lastIndexOf(":");
  const hasTag = colon > named.lastIndexOf("/");
  const tag = hasTag ? named.slice(colon + 1) : undefined;
  const name = hasTag ? named.slice(0, colon) : named;
  const place = name.length > nameLengthMax ? undefined : splitRegistry(name);
  if (place === undefined) return undefined;
  if (tag !== undefined && !tagPattern.test(tag)) return undefined;
  if (digest !== undefined && !digestPattern.test(digest)) return undefined;
  return { name, ...place, tag: tag ?? (digest === undefined ? "latest" : undefined), digest };
}

/** One spelling for all that mean the same image; the digest wins over a tag beside it. Undefined when malformed. */
export function canonicalReference(text: string): string | undefined {
  const parsed = parseImageReference(text);
  if (parsed === undefined) return undefined;
  const suffix = parsed.digest === undefined ? `:${parsed.tag}` : `@${parsed.digest}`;
  return `${parsed.registry}/${parsed.repository}${suffix}`;
}

/** `sha256:…`, or the bare hex of one. */
export function isImageId(text: string): boolean {
  return /^(?:sha256:)?[0-9a-f]{64}$/.test(text);
}

function splitRegistry(path: string): { registry: string; repository: string } | undefined {
  const slash = path.indexOf("/");
  const first = path.slice(0, Math.max(slash, 0));
  const isHost = first === "localhost" || /[.:A-Z]/.test(first);
  const written = isHost ? first : "docker.io";
  const registry = written === "index.docker.io" ? "docker.io" : written;
  const rest = isHost ? path.slice(slash + 1) : path;
  if (!hostPattern.test(registry)) return undefined;
  if (!rest.split("/").every((component) => componentPattern.test(component))) return undefined;
  const official = registry === "docker.io" && !rest.includes("/");
  return { registry, repository: official ? `library/${rest}` : rest };
}

/** Host of a registry address as written by people: scheme and path go, docker.io has one spelling. */
export function registryHost(url: string): string | undefined {
  const host = url
    .replace(/^https?:\/\//i, "")
    .replace(/\/.*$/s, "")
    .toLowerCase();
  if (!hostPattern.test(host)) return undefined;
  return host === "index.docker.io" || host === "registry-1.docker.io" ? "docker.io" : host;
}
