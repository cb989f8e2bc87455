import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../../base/wire/endpoint.ts";
import { Shape } from "../../../base/wire/shape.ts";

/** An app has instances: one for production, one for development, one for each customer. */
export const IdentityApp = Type.Object({
  /** `app_…`: the claim `app_id`. */
  id: Type.String(),
  name: Type.String(),
  instances: Type.Integer(),
  created_at: Type.String(),
});
export type IdentityApp = Static<typeof IdentityApp>;

export const AppName = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "name, shown on the hosted pages unless the instance has a title",
});

export const listIdentityApps = endpoint({
  method: "GET",
  path: "/identity/apps",
  summary: "Apps whose users the identity service signs in",
  data: Type.Object({ apps: Type.Array(IdentityApp) }),
});

export const createIdentityApp = endpoint({
  method: "POST",
  path: "/identity/apps",
  summary: "Makes an app; 409 where the name is taken",
  body: Shape({ name: Type.Optional(AppName) }, "without a name it gets one that is free"),
  data: IdentityApp,
});

export const deleteIdentityApp = endpoint({
  method: "DELETE",
  path: "/identity/apps/:app",
  summary: "Deletes an app by id or name; 409 while it has instances",
  data: Type.Object({ id: Type.String(), deleted: Type.Literal(true) }),
});
