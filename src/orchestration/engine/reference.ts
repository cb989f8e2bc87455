/** An image reference taken apart. `name` is as written, registry host included. */
interface ImageReference {
  name: string;
  /** `docker.io` when none was written. */
  registry: string;
  /** Path inside the registry; `library/` is filled in for the short names of docker.io. */
  repository: string;
  /** `latest` when neither tag nor digest was written. */
  tag: string | undefined;
  digest: string | undefined;
}

const component = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const host = "(?:localhost|[a-zA-Z0-9-]+(?:\\.[a-zA-Z0-9-]+)+|[a-zA-Z0-9-]+(?=:)|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?";
const reference = new RegExp(
  `^(?<name>(?:(?<host>${host})/)?(?<path>${component}(?:/${component})*))` +
    "(?::(?<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(?<digest>[a-z0-9]+:[0-9a-f]{32,}))?$",
);
const nameCharactersMax = 255;

/** `[host[:port]/]path[:tag][@digest]`, the grammar of the distribution project; undefined for anything else. */
export function parseReference(text: string): ImageReference | undefined {
  const { name, host: registry, path, tag, digest } = reference.exec(text)?.groups ?? {};
  if (name === undefined || path === undefined || name.length > nameCharactersMax) return undefined;
  const short = registry === undefined && !path.includes("/");
  return {
    name,
    registry: registry ?? "docker.io",
    repository: short ? `library/${path}` : path,
    tag: tag ?? (digest === undefined ? "latest" : undefined),
    digest,
  };
}

/** One spelling for all that mean the same image; the digest wins over a tag beside it. Undefined when malformed. */
export function canonicalReference(text: string): string | undefined {
  const parsed = parseReference(text);
  if (parsed === undefined) return undefined;
  const suffix = parsed.digest === undefined ? `:${parsed.tag}` : `@${parsed.digest}`;
  return `${parsed.registry}/${parsed.repository}${suffix}`;
}

/** `sha256:…`, or the bare hex of one. */
export function isImageId(text: string): boolean {
  return /^(?:sha256:)?[0-9a-f]{64}$/.test(text);
}
