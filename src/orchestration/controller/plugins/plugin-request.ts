import { Failure } from "../../../base/wire/failure.ts";
import { digestPattern } from "../../api/plugins.ts";
import { type ActionType, actionTypes } from "../../api/plugins/action.ts";
import type { PluginPermissions } from "../../api/plugins/plugin-yml.ts";
import type { Fields } from "../../core/plugins/fields.ts";
import { isFields } from "../../../base/pure/fields.ts";
import type { InstallRequest, UpdateRequest } from "../../plugins/plugin.ts";

/** Body of POST /plugins/install. */
export function readInstall(body: unknown): { request: InstallRequest; preview: boolean } {
  if (!isFields(body)) throw new Failure("invalid", 'expected an object such as {"source": "owner/repo"}');
  const { source, version, link, replace } = body;
  if (typeof source !== "string" || source.trim() === "") throw new Failure("invalid", "source is required");
  if (version !== undefined && version !== null && typeof version !== "string") {
    throw new Failure("invalid", "version: expected string; put it in quotes");
  }
  requireFlags({ link, replace });
  const { preview, expected } = readLook(body);
  const request = {
    source: source.trim(),
    ...(version ? { version } : {}),
    link: link === true,
    replace: replace === true,
  };
  return { request: { ...request, ...expected }, preview };
}

/** Body of POST /plugins/{name}/update; undefined where there is none. */
export function readUpdate(body: unknown, version: string | undefined): { request: UpdateRequest; preview: boolean } {
  const fields = body ?? {};
  if (!isFields(fields)) throw new Failure("invalid", 'expected an object such as {"preview": true}, or no body');
  const { preview, expected } = readLook(fields);
  const grant = fields.grant ?? undefined;
  if (preview && grant !== undefined) throw new Failure("invalid", `grant: ${lookOnly}`);
  const request = {
    ...(version === undefined ? {} : { version }),
    ...expected,
    ...(grant === undefined ? {} : { grant: readGrant(grant) }),
  };
  return { request, preview };
}

/** Body of POST /plugins/{name}/accept: the digest that the operator looked at. */
export function readAccept(body: unknown): string {
  const { expect } = isFields(body) ? body : {};
  if (typeof expect === "string" && new RegExp(digestPattern).test(expect)) return expect;
  throw new Failure(
    "invalid",
    "expect: expected the digest of the changes, 64 hex digits; see GET /plugins/{name}/changes",
  );
}

const lookOnly = "a preview changes nothing; leave it out";

function readLook(fields: Fields): { preview: boolean; expected: { expect?: string } } {
  const { preview, expect } = fields;
  requireFlags({ preview });
  if (expect === undefined || expect === null) return { preview: preview === true, expected: {} };
  if (typeof expect !== "string" || !new RegExp(digestPattern).test(expect)) {
    throw new Failure("invalid", "expect: expected the digest of a preview, 64 hex digits");
  }
  if (preview === true) throw new Failure("invalid", `expect: ${lookOnly}`);
  return { preview: false, expected: { expect } };
}

function requireFlags(flags: Fields): void {
  for (const [name, flag] of Object.entries(flags)) {
    if (flag !== undefined && typeof flag !== "boolean") throw new Failure("invalid", `${name}: expected boolean`);
  }
}

/** More than there are, or than anybody names. */
const scopesMax = 200;

function readGrant(value: unknown): PluginPermissions {
  if (!isFields(value)) throw new Failure("invalid", "grant: expected an object with actions, scopes and docker");
  const { actions, scopes, docker, root, backup, server_env: names } = value;
  if (!isTexts(scopes) || scopes.length > scopesMax) {
    throw new Failure("invalid", `grant.scopes: expected a list of at most ${scopesMax} texts`);
  }
  if (typeof docker !== "boolean") throw new Failure("invalid", "grant.docker: expected boolean");
  if (root !== undefined && typeof root !== "boolean") throw new Failure("invalid", "grant.root: expected boolean");
  if (backup !== undefined && typeof backup !== "boolean")
    throw new Failure("invalid", "grant.backup: expected boolean");
  if (names !== undefined && (!isTexts(names) || names.length > scopesMax)) {
    throw new Failure("invalid", `grant.server_env: expected a list of at most ${scopesMax} texts`);
  }
  const optional = {
    ...(names === undefined ? {} : { server_env: names }),
    ...(backup === undefined ? {} : { backup }),
  };
  return { actions: readActions(actions), scopes, docker, root: root ?? false, ...optional };
}

function readActions(value: unknown): ActionType[] {
  if (!isTexts(value)) throw new Failure("invalid", "grant.actions: expected a list of texts");
  return value.map((word) => {
    const known = actionTypes.find((type) => type === word);
    if (known !== undefined) return known;
    throw new Failure("invalid", `grant.actions: unknown action "${word}"; known are ${actionTypes.join(", ")}`);
  });
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
