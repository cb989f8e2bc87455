import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Flag, Text } from "../../base/wire/query.ts";

const target = {
  scope: Text("scope (required)"),
  name: Text("app inside the scope; without it the scope level"),
};

export const getConfig = endpoint({
  method: "GET",
  path: "/config",
  summary: "A config bucket, or one key of it, in clear",
  query: Type.Object({
    ...target,
    key: Text("one key: the answer is {KEY: VALUE}; 404 when not set"),
    merge: Flag("scope level overlaid with app level (default true)"),
  }),
  /** `{vars: {KEY: VALUE}}`, or `{KEY: VALUE}` with `key`. */
  data: Type.Record(Type.String(), Type.Unknown()),
});

/** Names what changed and what restarts because of it; never a value. */
export const ConfigChange = Type.Object({
  changed: Type.Array(Type.String()),
  restarting: Type.Array(Type.String(), { description: "kind/scope/name" }),
  notes: Type.Optional(
    Type.Array(Type.String(), { description: "what becomes of failed releases, and keys that a manifest sets too" }),
  ),
});
export type ConfigChange = Static<typeof ConfigChange>;

export const setConfig = endpoint({
  method: "POST",
  path: "/config",
  scope: "actions",
  once: true,
  summary: "Set keys of a bucket; an empty value unsets, except of the keys that `empty` names",
  query: Type.Object({
    ...target,
    empty: Text("keys of the body, separated by commas, that are set to the empty string instead of unset"),
    restart: Flag("roll the containers that read it (default true)"),
    dry_run: Flag("answer what would change and restart, and store nothing (default false)"),
  }),
  body: Type.Record(Type.String(), Type.String()),
  data: ConfigChange,
});

export const unsetConfig = endpoint({
  method: "DELETE",
  path: "/config",
  once: true,
  summary: "Unset one key",
  query: Type.Object({
    ...target,
    key: Text("key (required)"),
    restart: Flag("roll the containers that read it (default true)"),
    dry_run: Flag("answer what would change and restart, and store nothing (default false)"),
  }),
  data: ConfigChange,
});
