import { type Call, PluginError } from "../kit.ts";

/** A block as `expand` gets it. */
export interface Block {
  kind: string;
  scope: string;
  name: string;
  spec: Record<string, unknown>;
  /** Config of scope and app together, as it was before this apply. */
  config: Readonly<Record<string, string>>;
}

/** Dots separate the parts of an asset reference, and the names of pods and volumes add to this one. */
const namePattern = /^[a-z0-9]([a-z0-9-]{0,47}[a-z0-9])?$/;

export function readBlock({ input }: Pick<Call, "input">): Block {
  const { kind, scope, name } = input;
  if (text(kind) === "" || text(name) === "") {
    throw new PluginError("standard input is not a block: it needs kind, scope, name and spec");
  }
  const block = { kind: text(kind), scope: text(scope), name: text(name) };
  if (block.scope === "")
    throw new PluginError(`a ${block.kind} block needs a scope: its password is kept in the scope's config`);
  if (!namePattern.test(block.name)) {
    throw new PluginError(
      `name: "${block.name.slice(0, 80)}" is not a name for a ${block.kind}; use up to 49 lower-case letters, digits and "-"`,
    );
  }
  return { ...block, spec: objectOf(input.spec), config: textsOf(objectOf(input.config)) };
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function textsOf(values: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, text(value)]));
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
