import { isFields } from "../../base/pure/fields.ts";
import { formatKey, type Spec } from "../api/manifest.ts";
import { decodeSpec } from "./spec/decode.ts";

interface Ingress {
  kind: string;
  scope: string;
  name: string;
  spec: Spec;
}

/** One path of one host, as an ingress serves it. */
interface Way {
  ref: string;
  host: string;
  path: string;
  strips: boolean;
  /** What the ingress demands of clients. */
  rules: readonly string[];
}

const accessFields = ["basic_auth", "allow", "deny"] as const;

/**
 * Where a path with rules of access lies beside another way to the same app that lacks them, and what that means: by
 * ingress, for both of the two.
 */
export function openBeside(ingresses: readonly Ingress[]): Map<string, string[]> {
  const notes = new Map<string, string[]>();
  const note = (ref: string, text: string) => notes.set(ref, [...(notes.get(ref) ?? []), text]);
  for (const ways of byApp(ingresses).values()) {
    for (const closed of ways) {
      for (const open of ways.filter(({ host }) => host === closed.host)) {
        const text = gapText(closed, open);
        if (text === undefined) continue;
        note(closed.ref, text);
        note(open.ref, text);
      }
    }
  }
  return notes;
}

/** Scope and service → the ways to it. What a plugin routes has none of the rules, and TCP has no paths. */
function byApp(ingresses: readonly Ingress[]): Map<string, Way[]> {
  const apps = new Map<string, Way[]>();
  for (const ingress of ingresses) {
    const { hosts, paths, service, tcp, plugin } = decodeSpec("ingress", ingress.spec);
    if (tcp !== undefined || plugin !== undefined) continue;
    const app = `${ingress.scope}/${service ?? ingress.name}`;
    const rules = accessFields.filter((field) => Object.keys(Object(ingress.spec[field])).length > 0);
    const ways = hosts.flatMap((host) =>
      paths.map((path): Way => ({
        ref: formatKey(ingress),
        host,
        path,
        strips: stripsPath(ingress.spec, path),
        rules,
      })),
    );
    apps.set(app, [...(apps.get(app) ?? []), ...ways]);
  }
  return apps;
}

function stripsPath({ locations }: Spec, path: string): boolean {
  const written: unknown[] = Array.isArray(locations) ? locations : [];
  return written.some((one) => isFields(one) && one.strip === true && `${String(one.path)}/`.startsWith(`${path}/`));
}

function gapText(closed: Way, open: Way): string | undefined {
  const missing = closed.rules.filter((field) => !open.rules.includes(field));
  if (closed.ref === open.ref || closed.path === "/" || missing.length === 0) return undefined;
  const what = missing.join(" and ");
  const pair = `"${closed.host}${closed.path}" has ${what}, and "${open.host}${open.path}" of ${open.ref} leads to the same app without it`;
  if (open.strips) {
    return `${pair}: with strip it reaches every path of the app. Write the same rules there, or leave strip out`;
  }
  const isAbove = open.path === "/" || closed.path.startsWith(`${open.path}/`);
  if (!isAbove) return undefined;
  const other = otherCase(closed.path);
  return other === closed.path
    ? pair
    : `${pair}. Upper and lower case are different paths: an app that reads ${other} as ${closed.path} answers it without ${what}`;
}

/** The path with its first letter in the other case, outside of escaped signs. */
function otherCase(path: string): string {
  return path.replace(/%[0-9A-Fa-f]{2}|[a-z]|[A-Z]/, (sign) => {
    if (sign.length > 1) return sign;
    return sign === sign.toLowerCase() ? sign.toUpperCase() : sign.toLowerCase();
  });
}
