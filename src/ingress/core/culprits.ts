import type { Assignment } from "./change.ts";

/** What HAProxy refuses of a configuration. */
export interface Culprits {
  /** Site or TCP site → what HAProxy said of its section. */
  sites: Map<string, string>;
  /** Certificate → what HAProxy said of its file. */
  certificates: Map<string, string>;
}

const sectionHead = /^(?:backend|frontend|userlist) (\S+)/;

/**
 * Reads which sites and certificates the complaint of HAProxy is about: by the lines and names of sections, and by the
 * files of certificates. A complaint about anything else names none.
 */
export function culpritsOf(complaint: string, config: string, { backends }: Assignment): Culprits {
  const found: Culprits = { sites: new Map(), certificates: new Map() };
  const siteOf = new Map(Object.entries(backends).map(([site, backend]) => [backend, site]));
  const sections = sectionsOf(config);
  for (const part of complaint.split("; ")) {
    const certificate = /\/certs\/([A-Za-z0-9._-]+)\.pem/.exec(part)?.[1];
    if (certificate !== undefined) {
      found.certificates.set(certificate, part);
      continue;
    }
    const line = /haproxy\.cfg:(\d+)\]/.exec(part)?.[1];
    const named = /(?:proxy|backend|frontend|userlist) '([^']+)'/i.exec(part)?.[1];
    const section = line === undefined ? named : sections[Number(line) - 1];
    const site = siteOf.get((section ?? "").replace(/^(?:in_|users_)/, ""));
    // What comes first is the cause of what follows.
    if (site !== undefined && !found.sites.has(site))
      found.sites.set(site, part.replace(/^.*haproxy\.cfg:\d+\]\s*:\s*/, ""));
  }
  return found;
}

/** The section of each line. */
function sectionsOf(config: string): string[] {
  let current = "";
  return config.split("\n").map((line) => {
    current = sectionHead.exec(line)?.[1] ?? (/^\S/.test(line) ? "" : current);
    return current;
  });
}
