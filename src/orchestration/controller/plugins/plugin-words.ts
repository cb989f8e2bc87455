import { Failure } from "../../../base/wire/failure.ts";
import { isFields } from "../../../base/pure/fields.ts";
import { makerOf } from "../../core/plugins/maker.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import type { Context } from "../state/context.ts";
import { isAmong, isOfPlugin, placeText } from "./own-places.ts";
import type { Place } from "../state/plugin-room.ts";

/** `args` of a body. Fails `invalid` for what is not a list of words, or more than a program can be started with. */
export function argsOf(context: Context, body: unknown): string[] {
  if (body === undefined || body === null) return [];
  if (!isFields(body)) throw new Failure("invalid", 'expected an object such as {"args": ["data/main"]}');
  const args = body.args ?? [];
  if (!Array.isArray(args) || !args.every((arg) => typeof arg === "string" && !arg.includes("\0"))) {
    throw new Failure("invalid", "args: expected a list of strings without NUL characters");
  }
  const most = context.limits.pluginArgsMax;
  if (args.length > most) throw new Failure("invalid", `args: ${args.length} words; at most ${most} are allowed`);
  requireSmall(args, context.limits);
  return args;
}

/** The kernel starts no program with more. */
function requireSmall(args: readonly string[], limits: Context["limits"]): void {
  const { pluginArgBytesMax: most, pluginArgsBytesMax: mostOfAll } = limits;
  const sizes = args.map((arg) => Buffer.byteLength(arg));
  const at = sizes.findIndex((size) => size > most);
  const hint = "hand it over in a file or in the config";
  if (at >= 0) throw new Failure("invalid", `args[${at}]: ${sizes[at]} bytes; at most ${most} are allowed, ${hint}`);
  const all = sizes.reduce((sum, size) => sum + size, 0);
  if (all > mostOfAll) {
    throw new Failure("invalid", `args: ${all} bytes in all; at most ${mostOfAll} are allowed, ${hint}`);
  }
}

/** A pod does not name other blocks of its plugin to it. Fails `forbidden`. */
export function refuseOthers(
  context: Context,
  plugin: Plugin,
  { args, only }: { args: string[]; only: readonly Place[] },
) {
  for (const word of args.flatMap((arg) => [arg, arg.slice(arg.indexOf("=") + 1)])) {
    const [scope, name] = word.includes("/") ? word.split("/") : ["", word];
    if (scope === undefined || name === undefined || isAmong(only, { scope, name })) continue;
    if (!isOfPlugin(context, makerOf(plugin), { scope, name })) continue;
    throw new Failure("forbidden", `${placeText({ scope, name })} is of another block than the pod that asks`);
  }
}

/** `env` of a body. Fails `invalid`. */
export function envOf(body: unknown): Record<string, string> {
  const env = isFields(body) ? (body.env ?? {}) : {};
  const isRight =
    isFields(env) && Object.entries(env).every(([key, value]) => /^[A-Za-z_]\w*$/.test(key) && isPlain(value));
  if (!isRight) throw new Failure("invalid", "env: expected an object of variable names to strings");
  return Object.fromEntries(Object.entries(env).map(([key, value]) => [key, String(value)]));
}

function isPlain(value: unknown): boolean {
  return typeof value === "string" && !value.includes("\0");
}
