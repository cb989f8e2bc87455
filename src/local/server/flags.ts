/** Flags of `berth serve` that the unit can carry; everything else is set with `systemctl edit berth`. */
const unitFlags = [
  "root",
  "addr",
  "allowed-hosts",
  "observability-addr",
  "observability-tls",
  "ingress-http-addr",
  "ingress-https-addr",
  "identity-addr",
  "docker-host",
  "prefix",
] as const;

const string = { type: "string" } as const;

/** For `parseArgs`. */
export const unitOptions = {
  root: string,
  addr: string,
  "addr-insecure": { type: "boolean" },
  "allowed-hosts": string,
  "observability-addr": string,
  "observability-tls": string,
  "ingress-http-addr": string,
  "ingress-https-addr": string,
  "identity-addr": string,
  "docker-host": string,
  prefix: string,
} as const;

/** What was given of them. */
export function givenFlags(values: Record<string, string | boolean | undefined>): Record<string, string | true> {
  const given: Record<string, string | true> = {};
  for (const name of [...unitFlags, "addr-insecure"]) {
    const value = values[name];
    if (typeof value === "string" || value === true) given[name] = value;
  }
  return given;
}

/** For usage texts, three to a line. */
export const unitFlagsUsage = [...unitFlags.map((name) => `[--${name} VALUE]`), "[--addr-insecure]"]
  .reduce<string[]>((lines, word, index) => {
    if (index % 3 === 0) lines.push(word);
    else lines[lines.length - 1] += ` ${word}`;
    return lines;
  }, [])
  .join("\n         ");
