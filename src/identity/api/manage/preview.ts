import { Type } from "@sinclair/typebox";
import { endpoint } from "../../../base/wire/endpoint.ts";
import { Text } from "../../../base/wire/query.ts";

/** What a hosted page can look like. */
export const previewStates = ["sign-in", "wrong", "signed-in", "sign-up"] as const;

const previewQuery = Type.Object({
  state: Text("sign-in (default), wrong: after a wrong password, signed-in: the browser has a session, sign-up"),
  title: Text("title to try; a blank one shows the stored one"),
  accent: Text("colour to try, such as #2f6fed"),
  logo_url: Text("https address of a logo to try"),
  language: Text("en or de (default: that of the instance, else en)"),
});

export const previewIdentityPage = endpoint({
  method: "GET",
  path: "/identity/instances/:instance/preview",
  summary:
    "A hosted page as browsers would see it, with other branding settings. It has no script, and its forms go nowhere",
  query: previewQuery,
  stream: "text/html; charset=utf-8",
});
