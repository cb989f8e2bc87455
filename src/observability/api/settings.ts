import { type Static, Type } from "@sinclair/typebox";
import { Flag } from "../../base/wire/query.ts";
import { OneOf } from "../../base/wire/shape.ts";
import { aliasOf, planeEndpoint } from "./plane-endpoint.ts";
import { Failure } from "../../base/wire/failure.ts";
import { ConfigChange, setConfig } from "../../orchestration/api/config.ts";

/** A key of a config bucket; its value is never in a list. */
export const ConfigKey = Type.Object({
  key: Type.String(),
  length: Type.Integer({ description: "of the value, in characters" }),
  origin: OneOf(["scope", "app"], "app wins over scope"),
  overrides: Type.Optional(Type.Boolean({ description: "the scope has the key too, and the app's value counts" })),
});
export type ConfigKey = Static<typeof ConfigKey>;

const ConfigKeys = Type.Object({
  scope: Type.String(),
  name: Type.Optional(Type.String()),
  keys: Type.Array(ConfigKey),
});

export const ConfigPatch = Type.Object(
  {
    set: Type.Optional(Type.Record(Type.String(), Type.String({ minLength: 1 }))),
    unset: Type.Optional(Type.Array(Type.String())),
  },
  { additionalProperties: false },
);
export type ConfigPatch = Static<typeof ConfigPatch>;

/** What operators do with one of two requests. */
const change = {
  method: "PATCH" as const,
  query: Type.Object({ restart: Flag("roll the containers that read it (default true)") }),
  body: ConfigPatch,
  given({ set = {}, unset = [] }: ConfigPatch) {
    const both = unset.find((key) => Object.hasOwn(set, key));
    if (both !== undefined) throw new Failure("invalid", `unset: "${both}" is in set as well`);
    return { ...set, ...Object.fromEntries(unset.map((key) => [key, ""])) };
  },
  onRecord: (body: Record<string, string>) => ({ keys: Object.keys(body).join(",") }),
  data: Type.Required(ConfigChange),
  shown: ({ notes = [], ...more }: ConfigChange) => ({ ...more, notes }),
  once: undefined,
};

const Revealed = Type.Object({ vars: Type.Record(Type.String(), Type.String()) });
const Keys = Type.Object({ keys: Type.Array(Type.String(), { minItems: 1 }) }, { additionalProperties: false });

export const getScopeConfig = planeEndpoint({
  method: "GET",
  path: "/config/:scope",
  scope: "read",
  summary: "Keys of the config of a scope, without values",
  data: ConfigKeys,
});

export const getAppConfig = planeEndpoint({
  method: "GET",
  path: "/config/:scope/:name",
  scope: "read",
  summary: "Keys that an app reads, without values: those of the scope and its own",
  data: ConfigKeys,
});

export const changeScopeConfig = aliasOf(setConfig, {
  path: "/config/:scope",
  summary: "Set and unset keys of a scope in one step",
  ...change,
});

export const changeAppConfig = aliasOf(setConfig, {
  path: "/config/:scope/:name",
  summary: "Set and unset keys of an app in one step",
  ...change,
});

export const revealScopeConfig = planeEndpoint({
  method: "POST",
  path: "/config/:scope/reveal",
  scope: "config:reveal",
  summary: "Values of keys of a scope; each use is audited",
  body: Keys,
  data: Revealed,
});

export const revealAppConfig = planeEndpoint({
  method: "POST",
  path: "/config/:scope/:name/reveal",
  scope: "config:reveal",
  summary: "Values of keys that an app reads; each use is audited",
  body: Keys,
  data: Revealed,
});
