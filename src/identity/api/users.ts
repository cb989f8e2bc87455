import { Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { ListQuery } from "./paging.ts";
import { UserResource } from "./resources.ts";

export const listUsers = endpoint({
  method: "GET",
  path: "/api/v1/users",
  summary: "Users of the instance, newest first",
  query: ListQuery,
  data: Type.Array(UserResource),
  flat: true,
});

export const getUser = endpoint({
  method: "GET",
  path: "/api/v1/users/:id",
  summary: "One user",
  data: UserResource,
  flat: true,
});

export const deleteUser = endpoint({
  method: "DELETE",
  path: "/api/v1/users/:id",
  summary: "Delete a user with everything of theirs, for ever",
  data: Type.Object({ deleted: Type.Boolean(), id: Type.String() }),
  flat: true,
});
