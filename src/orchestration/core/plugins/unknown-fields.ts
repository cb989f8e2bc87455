import { withoutPath } from "../../../base/pure/path.ts";
import { isFields } from "../../../base/pure/fields.ts";
import type { Problem } from "../../../base/wire/failure.ts";
import { type Decoded, decodeManifests } from "../validate.ts";
import { specSchemas } from "../../api/kinds/schemas.ts";
import type { ValidationLimits } from "../rules/rule.ts";

interface LenientlyDecoded {
  decoded: Decoded;
  /** What was left out: `spec.lb.weight of ingress/shop/web`. */
  leftOut: string[];
}

/** A field inside of one that is unknown shows only when the outer one is known: the deepest is this far in. */
const roundsMax = 8;

/**
 * Manifests that a plugin hands on. It may be older or newer than this server, or of another one: a field that nothing
 * here knows is left out, unless it is a known one misspelled or closes something. Whatever else is wrong with a manifest is a problem, as in an apply.
 */
export function decodeHandedOn(manifests: unknown, limits: ValidationLimits): LenientlyDecoded {
  const leftOut: string[] = [];
  const given = Array.isArray(manifests) ? manifests : [manifests];
  const known = given.map((manifest) => {
    let left = manifest;
    for (let round = 0; round < roundsMax; round++) {
      const { problems } = decodeManifests(left, { limits });
      const unknown = problems.filter(isForeign);
      if (unknown.length === 0) break;
      for (const { path } of unknown) {
        left = withoutPath(left, path);
        leftOut.push(`${path} of ${refOf(manifest)}`);
      }
    }
    return left;
  });
  return { decoded: decodeManifests(known, { limits }), leftOut };
}

/** Words of fields that shut somebody out or hold a container in: without such a field, more would be open than was meant. */
const closing =
  /allow|deny|white_?list|black_?list|auth|client_?ca|read_?only|cap_|secur|pids|intern|privat|restrict|isolat|acl/i;

/**
 * One that is almost the name of a known field, or a field of another kind, is a slip: leaving it out would hide it. One
 * that closes something is never left out.
 */
function isForeign({ reason, path, message }: Problem): boolean {
  if (reason !== "UnknownField" || path === "" || message.includes("did you mean")) return false;
  const field = /^spec\.([A-Za-z0-9_]+)$/.exec(path)?.[1];
  const isOfAnother = field !== undefined && Object.values(specSchemas).some(({ properties }) => field in properties);
  return !isOfAnother && !closing.test(path);
}

function refOf(manifest: unknown): string {
  const { kind, scope, name } = isFields(manifest) ? manifest : {};
  return [kind, scope, name]
    .filter((part) => typeof part === "string" && part !== "")
    .join("/")
    .toLowerCase();
}

/** What to tell of them. */
export function leftOutTexts(plugin: string, leftOut: readonly string[]): string[] {
  return leftOut.map((field) => `plugin "${plugin}" hands on ${field}, which this server does not know and leaves out`);
}
